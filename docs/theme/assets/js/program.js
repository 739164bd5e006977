// Each block of code leads to the whole program that it is a part of. The foot of the page has the address.
(() => {
  document$.subscribe(() => {
    const program = document.querySelector("a[data-program]")
    if (!program) return
    const label = JSON.parse(document.getElementById("words").textContent)
      .whole_program.replace("{path}", program.textContent)
    for (const block of document.querySelectorAll(".language-python.highlight")) {
      const link = document.createElement("a")
      link.className = "program"
      link.href = program.href
      link.textContent = program.textContent.split("/").pop()
      link.title = label
      block.append(link)
    }
  })
})()
