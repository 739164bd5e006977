// Beside a link to a program, a button that copies the whole of it. Where a file cannot be fetched, from a folder on disk for
// example, the button does what the link does.
(() => {
  const { translations } = JSON.parse(document.getElementById("__config").textContent)

  document$.subscribe(() => {
    for (const link of document.querySelectorAll("a[data-copy]")) {
      const button = document.createElement("button")
      const said = document.createElement("span")
      button.type = "button"
      button.className = "copy"
      button.textContent = translations["clipboard.copy"]
      button.setAttribute("aria-label", `${button.textContent}: ${link.textContent}`)
      said.setAttribute("role", "status")
      button.addEventListener("click", async () => {
        try {
          const answer = await fetch(link.href)
          if (!answer.ok) throw new Error(answer.statusText)
          await navigator.clipboard.writeText(await answer.text())
          said.textContent = translations["clipboard.copied"]
        } catch {
          link.click()
        }
      })
      link.after(" ", button, " ", said)
    }
  })
})()
