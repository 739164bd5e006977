// The box that finds the entry of a pasted error message. The page lists all messages, and the ranking is that of
// gradfn_tutorial/errors/__init__.py: change both.
(() => {
  const words = JSON.parse(document.getElementById("words").textContent)
  const ENOUGH = 0.5
  const RARE = 1000
  const UNKNOWN = 500
  const NOISE = /\[[\d;]+m|\\[nrt]/g
  const HEAD = /\b[\w.]*(?:Error|Warning|Exception):[ \t\r\n\xa0]/
  const WORD = /[a-z_]{2,}/g

  // Sorts as Python does tuples: by the first place that differs.
  const compare = (one, other) => one.map((value, place) => value - other[place]).find((difference) => difference) ?? 0

  function cut(text) {
    const found = text.split("\0").map((part) => part.toLowerCase().match(WORD) ?? [])
    const pairs = found.flatMap((list) => list.slice(1).map((word, place) => `${list[place]} ${word}`))
    return new Set([...found.flat(), ...pairs])
  }

  function ranking(entries) {
    const counts = new Map()
    for (const { messages } of entries)
      for (const piece of new Set(messages.flatMap((message) => [...message])))
        counts.set(piece, (counts.get(piece) ?? 0) + 1)

    function weight(pieces) {
      let sum = 0
      for (const piece of pieces) sum += counts.has(piece) ? Math.floor(RARE / counts.get(piece)) : UNKNOWN
      return sum
    }

    function rank(text) {
      const given = cut(text)
      const whole = weight(given)
      const score = (message) => {
        const own = weight(message)
        const shared = weight([...message].filter((piece) => given.has(piece)))
        return [shared / Math.max(RARE, Math.min(own, whole)), shared / own, own]
      }
      return entries
        .map((entry) => ({ entry, score: entry.messages.map(score).sort(compare).at(-1) }))
        .sort((one, other) => compare(other.score, one.score))
    }

    return (text) =>
      text.replace(NOISE, " ").split(HEAD).reverse().map(rank)
        .reduce((best, other) => (other[0].score[0] > best[0].score[0] ? other : best))
  }

  function readEntries() {
    const entries = new Map()
    for (const { dataset, lastChild } of document.querySelectorAll("[data-error]")) {
      const id = dataset.error
      const { textContent: title, href } = document.getElementById(id)
      if (!entries.has(id)) entries.set(id, { title, href, messages: [] })
      // What varies stands in a tag of its own.
      const parts = [...lastChild.childNodes].map((node) => node.data ?? (node.dataset.varies === "number" ? " " : "\0"))
      const message = parts.join("")
      entries.get(id).messages.push(cut(message.slice(message.indexOf(": ") + 2)))
    }
    return [...entries.values()]
  }

  function link({ entry }) {
    const item = document.createElement("li")
    const anchor = document.createElement("a")
    const code = document.createElement("code")
    anchor.href = entry.href
    code.textContent = entry.title
    anchor.append(code)
    item.append(anchor)
    return item
  }

  // The way back from an entry builds the page anew.
  let pasted = ""

  document$.subscribe(() => {
    const place = document.querySelector(".find-error")
    if (!place) return
    const rank = ranking(readEntries())
    const label = document.createElement("label")
    const box = document.createElement("textarea")
    const result = document.createElement("div")
    label.textContent = words.error_box
    label.append(box)
    box.rows = 4
    box.spellcheck = false
    result.setAttribute("aria-live", "polite")
    place.replaceChildren(label, result)

    function show() {
      pasted = box.value
      result.replaceChildren()
      if (!pasted.trim()) return
      const ranked = rank(pasted)
      const found = ranked.filter(({ score }) => score[0] >= ENOUGH)
      const list = document.createElement("ol")
      list.append(...(found.length ? found : ranked).slice(0, 3).map(link))
      result.className = found.length ? "found" : ""
      result.append(found.length ? words.error_found : words.error_none, list)
    }

    box.value = pasted
    show()
    box.addEventListener("input", show)
    // Back from a page that was loaded anew: the browser fills the box afterwards.
    addEventListener("pageshow", show, { once: true })
    box.addEventListener("keydown", (event) => {
      const best = result.querySelector(".found a")
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || !best) return
      event.preventDefault()
      best.click()
    })
  })
})()
