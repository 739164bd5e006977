// The header stays in place when a link is followed without loading a page, so its language links have to follow.
// A reader who switches language stays on the page and at the heading.
(() => {
  const home = new URL(JSON.parse(document.getElementById("__config").textContent).base + "/", location)

  function followPage() {
    if (!location.href.startsWith(home)) return
    const page = location.href.slice(home.href.length)
    for (const link of document.querySelectorAll(".md-select__link[hreflang]"))
      link.href = new URL(`../${link.hreflang}/${page}`, home)
  }

  document$.subscribe(followPage)
  // A heading in the address changes without a sign, so look again before a click takes effect.
  for (const click of ["click", "auxclick"]) addEventListener(click, followPage, true)
})()
