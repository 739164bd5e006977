// A prediction: the reader picks an answer, then sees what the run printed. The right answer is the one that occurs in the
// output, so no page says which one it is.
(() => {
  const words = JSON.parse(document.getElementById("words").textContent)

  function make(tag, className, text) {
    const element = document.createElement(tag)
    element.className = className
    element.textContent = text
    return element
  }

  function ask(question, output) {
    const printed = output.textContent
    const bar = make("div", "predict-bar", words.pick)
    const show = make("button", "", words.show)
    const buttons = []
    show.type = "button"
    bar.setAttribute("aria-live", "polite")
    bar.append(show)
    output.classList.add("predicted")
    output.prepend(bar)

    function reveal(message) {
      bar.textContent = message
      output.classList.add("shown")
      for (const button of buttons) {
        button.setAttribute("aria-disabled", "true")
        button.classList.toggle("right", printed.includes(button.textContent.trim()))
      }
    }

    for (const answer of question.querySelectorAll("li")) {
      const button = make("button", "", "")
      button.type = "button"
      button.setAttribute("aria-pressed", "false")
      button.append(...(answer.querySelector(":scope > p") ?? answer).childNodes)
      answer.replaceChildren(button)
      buttons.push(button)
      button.addEventListener("click", () => {
        if (output.classList.contains("shown")) return
        button.setAttribute("aria-pressed", "true")
        reveal(printed.includes(button.textContent.trim()) ? words.right : words.wrong)
      })
    }

    show.addEventListener("click", () => {
      reveal("")
      output.tabIndex = -1
      output.focus()
    })
  }

  document$.subscribe(() => {
    let question
    for (const element of document.querySelectorAll(".predict, .language-output")) {
      if (element.matches(".predict")) question = element
      else if (question) {
        ask(question, element)
        question = undefined
      }
    }
  })
})()
