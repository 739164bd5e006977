// KaTeX is fetched by pages that have a formula, and by no other.
const folder = new URL("../vendor/katex/", import.meta.url)
let loading

const load = (tag, attributes) => new Promise((resolve, reject) => {
  const element = document.createElement(tag)
  document.head.append(Object.assign(element, attributes, { onload: resolve, onerror: reject }))
})

const loadKatex = () => Promise.all([
  load("link", { rel: "stylesheet", href: new URL("katex.min.css", folder) }),
  load("script", { src: new URL("katex.min.js", folder) }),
])

document$.subscribe(async () => {
  const formulas = document.querySelectorAll(".arithmatex")
  if (!formulas.length) return
  await (loading ??= loadKatex())
  for (const formula of formulas) {
    // It is written \(in a line\) or \[on lines of its own\].
    const source = formula.textContent.trim()
    katex.render(source.slice(2, -2), formula, { displayMode: source.startsWith("\\[") })
  }
})
