// What Material leaves without a name, and what scrolls sideways, for readers who use a keyboard or a screen reader.
(() => {
  const search = document.querySelector('[data-md-component="search"]')
  search.setAttribute("aria-label", search.querySelector("input").placeholder)

  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
      else target.removeAttribute("tabindex")
    }
  })

  document$.subscribe(() => {
    sized.disconnect()
    for (const element of document.querySelectorAll(".graph > div, .md-typeset__scrollwrap, div.arithmatex"))
      sized.observe(element)
    for (const bar of document.querySelectorAll(".md-code__nav")) bar.setAttribute("role", "presentation")
  })

  // Material makes the marks of code annotations late, each a link without text.
  new MutationObserver(() => {
    for (const mark of document.querySelectorAll(".md-annotation__index:not([aria-label])"))
      mark.setAttribute("aria-label", mark.firstElementChild.dataset.mdAnnotationId)
  }).observe(document.body, { childList: true, subtree: true })
})()
