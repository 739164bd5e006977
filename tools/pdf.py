"""Print the site, one PDF for each language, from its offline edition: python tools/pdf.py dist/offline --out dist

Links from page to page stay links. Chromium embeds the fonts, the Chinese ones included where they are installed.
"""

from __future__ import annotations

import argparse
import html
import io
import sys
from pathlib import Path

from chromium import SWITCHES, needed
from playwright.sync_api import Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject

LANGUAGES = {"en": "Contents", "zh": "目录"}
FORMAT = {
    "format": "A4",
    "print_background": True,
    "tagged": True,
    # A page on paper is wider than a phone and narrower than a desk.
    "scale": 0.75,
    "margin": {"top": "16mm", "bottom": "16mm", "left": "14mm", "right": "14mm"},
}
READY = """async () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true
    for (const bar of document.querySelectorAll(".predict-bar button")) bar.click()
    await document.fonts.ready
}"""
CONTENTS = """<!doctype html><meta charset="utf-8"><html lang="{language}"><title>{title}</title>
<style>
  body {{ font: 11pt/1.7 system-ui, "Noto Sans CJK SC", sans-serif }}
  h1 {{ font-size: 18pt }} ol {{ list-style: none; padding: 0 }}
  li {{ display: flex; justify-content: space-between; border-bottom: 1px dotted #999 }}
</style>
<h1>{title}</h1><p>{site}</p><ol>{rows}</ol></html>"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path, help="what tools/site.py --offline has built")
    parser.add_argument("--out", type=Path, required=True, help="the folder for the files")
    options = parser.parse_args()
    if not (options.site / "en" / "index.html").exists():
        sys.exit(f"There is no offline edition in {options.site}. Build it: make offline")
    program = needed()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=SWITCHES)
        tab = browser.new_context(offline=True).new_page()
        for language in LANGUAGES:
            path = options.out / f"grad_fn-and-grad.{language}.pdf"
            path.write_bytes(printed(tab, options.site.resolve(), language))
            print(f"Written: {path}, {len(PdfReader(path).pages)} pages")


def printed(tab: Page, site: Path, language: str) -> bytes:
    tab.goto((site / language / "index.html").as_uri())
    addresses = tab.eval_on_selector_all(
        ".md-nav--primary a.md-nav__link[href]:not([href^='#'])", "links => links.map(link => link.href)"
    )
    addresses = list(dict.fromkeys(address.partition("#")[0] for address in addresses))
    parts: list[tuple[str, str, PdfReader]] = []
    for number, address in enumerate(addresses, 1):
        tab.goto(address, wait_until="networkidle")
        tab.evaluate(READY)
        parts.append((address, tab.locator("h1").inner_text().strip("¶ \n"), pdf(tab)))
        print(f"[{language} {number}/{len(addresses)}] {parts[-1][1]}", flush=True)
    # The list of contents has to be printed to know how long it is.
    site_name = tab.locator(".md-header__topic").first.inner_text()
    length = len(contents(tab, language, site_name, parts, 0).pages)
    return joined(contents(tab, language, site_name, parts, length), parts)


def pdf(tab: Page) -> PdfReader:
    return PdfReader(io.BytesIO(tab.pdf(**FORMAT)))


def contents(
    tab: Page, language: str, site: str, parts: list[tuple[str, str, PdfReader]], before: int
) -> PdfReader:
    rows, page = [], before + 1
    for _, title, part in parts:
        rows.append(f"<li><span>{html.escape(title)}</span><span>{page}</span></li>")
        page += len(part.pages)
    tab.set_content(
        CONTENTS.format(
            language=language, title=LANGUAGES[language], site=html.escape(site), rows="".join(rows)
        )
    )
    return pdf(tab)


def joined(first: PdfReader, parts: list[tuple[str, str, PdfReader]]) -> bytes:
    writer = PdfWriter()
    writer.append(first, import_outline=False)
    start_of: dict[str, int] = {}
    for address, title, part in parts:
        start_of[address] = len(writer.pages)
        writer.append(part, outline_item=title, import_outline=False)
    for page in writer.pages:
        for annotation in page.get("/Annots", ()):
            action = annotation.get_object().get("/A", {})
            target = start_of.get(str(action.get("/URI", "")).partition("#")[0])
            if target is not None:
                there = ArrayObject(
                    [writer.pages[target].indirect_reference, NameObject("/XYZ"), *[NumberObject(0)] * 3]
                )
                annotation.get_object()[NameObject("/A")] = DictionaryObject(
                    {NameObject("/S"): NameObject("/GoTo"), NameObject("/D"): there}
                )
    writer.compress_identical_objects()
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


if __name__ == "__main__":
    main()
