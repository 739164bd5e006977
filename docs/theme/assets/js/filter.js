// A box and lists of choices that leave, of the items of a page, those that hold every word typed and have every value
// chosen. What is typed and chosen stands in the address, as ?find=…, so that it can be sent, and Back restores it. (Not ?q=:
// with that, Material opens its own search.)
(() => {
  const words = JSON.parse(document.getElementById("words").textContent)
  const TYPED = "find"
  let restore = () => {}
  let leadTo = () => {}

  function make(tag, attributes, ...content) {
    const element = Object.assign(document.createElement(tag), attributes)
    element.append(...content)
    return element
  }

  // An item has a facet's value itself, or its table has it.
  const holder = (item, facet) => item.closest(`[data-${facet}]`)

  function choices(items, facet) {
    const options = new Map()
    for (const item of items) {
      const element = holder(item, facet)
      const value = element?.getAttribute(`data-${facet}`)
      if (value && !options.has(value)) options.set(value, element.getAttribute(`data-${facet}-label`) ?? value)
    }
    const list = make("select", { name: facet }, new Option(words.filter_all, ""))
    for (const [value, label] of options) list.append(new Option(label, value))
    return list
  }

  // A heading, and what stands before the next one of its rank, goes when it had items and none of them is left.
  function hideEmptyGroups(container) {
    const elements = [...container.children]
    const rank = (element) => (/^H[1-6]$/.test(element.tagName) ? Number(element.tagName[1]) : 7)
    const itemsIn = (element) => (element.matches(".item") ? [element] : [...element.querySelectorAll(".item")])
    for (const element of elements) if (!element.matches(".item")) element.hidden = false
    elements.forEach((heading, start) => {
      if (rank(heading) === 7) return
      const next = elements.findIndex((element, place) => place > start && rank(element) <= rank(heading))
      const group = elements.slice(start, next < 0 ? undefined : next)
      const items = group.flatMap(itemsIn)
      if (items.length && items.every((item) => item.hidden)) for (const element of group) element.hidden = true
    })
  }

  function start(form) {
    const container = document.getElementById(form.dataset.for)
    const items = [...container.querySelectorAll(".item")]
    const texts = items.map((item) => item.textContent.toLowerCase())
    const field = make("input", { type: "search", name: TYPED, autocomplete: "off", spellcheck: false })
    const lists = (form.dataset.facets ?? "").split(" ").filter(Boolean).map((facet) => choices(items, facet))
    const count = make("output", {})
    count.setAttribute("aria-live", "polite")
    const reset = make("button", { type: "reset", className: "copy", hidden: true }, words.filter_clear)
    form.setAttribute("role", "search")
    form.setAttribute("aria-label", words.filter)
    form.replaceChildren(
      make("label", {}, make("span", {}, words.filter), field),
      ...lists.map((list) => make("label", {}, make("span", {}, words[`filter_${list.name}`]), list)),
      count,
      reset,
    )

    function show() {
      const typed = field.value.toLowerCase().split(/\s+/).filter(Boolean)
      let shown = 0
      items.forEach((item, place) => {
        const fits =
          typed.every((word) => texts[place].includes(word)) &&
          lists.every(({ name, value }) => !value || holder(item, name)?.getAttribute(`data-${name}`) === value)
        item.hidden = !fits
        shown += fits
      })
      hideEmptyGroups(container)
      const text = words.filter_count.replace("{shown}", shown).replace("{all}", items.length)
      count.textContent = shown ? text : words.filter_none
      reset.hidden = [field, ...lists].every(({ value }) => !value)
    }

    function changed() {
      show()
      const address = new URL(location)
      for (const { name, value } of [field, ...lists]) {
        if (value) address.searchParams.set(name, value)
        else address.searchParams.delete(name)
      }
      history.replaceState(history.state, "", address)
    }

    function clear() {
      for (const control of [field, ...lists]) control.value = ""
      changed()
    }

    restore = () => {
      const { searchParams } = new URL(location)
      for (const control of [field, ...lists]) control.value = searchParams.get(control.name) ?? ""
      // A value that the list does not have leaves it without a choice.
      for (const list of lists) if (list.selectedIndex < 0) list.value = ""
      show()
    }

    // A link to something that is filtered out, from the table of contents for example, shows everything again.
    leadTo = (hash) => {
      const target = document.getElementById(decodeURIComponent(hash.slice(1)))
      if (!target || !container.contains(target) || target.checkVisibility()) return
      clear()
      target.scrollIntoView()
    }

    form.addEventListener("input", changed)
    form.addEventListener("submit", (event) => event.preventDefault())
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear()
    })
    form.addEventListener("reset", (event) => {
      event.preventDefault()
      clear()
      // The button goes, and would take the focus with it.
      field.focus()
    })
    restore()
    leadTo(location.hash)
  }

  document$.subscribe(() => {
    restore = leadTo = () => {}
    const form = document.querySelector("form.filter")
    if (form) start(form)
  })
  // Back and Forward, and a link to a place on this page.
  addEventListener("popstate", () => {
    restore()
    leadTo(location.hash)
  })
})()
