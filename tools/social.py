"""Draw docs/theme/assets/images/social.png, what a chat or a feed shows beside a link: the graph of the home page."""

from __future__ import annotations

from chromium import SWITCHES, needed
from playwright.sync_api import sync_playwright
from shown import ROOT

PICTURE = ROOT / "docs/theme/assets/images/social.png"
PAGE = """<!doctype html><meta charset="utf-8">
<style>
  body {{ margin: 0; width: 1200px; height: 630px; display: flex; align-items: center; justify-content: space-between;
    background: #fff; color: #1a1a1a; font-family: system-ui, "Noto Sans CJK SC", sans-serif }}
  div {{ padding-left: 80px; width: 620px }}
  h1 {{ font: 700 72px/1.1 "DejaVu Sans Mono", monospace; margin: 0 0 32px }}
  p {{ font-size: 29px; line-height: 1.4; margin: 0 0 12px; color: #444 }}
  svg {{ height: 560px; width: auto; max-width: 420px; margin-right: 60px }}
</style>
<div><h1>grad_fn<br>&amp; .grad</h1><p>PyTorch's autograd graph, shown by runs</p><p lang="zh">PyTorch 的反向计算图，都跑给你看</p></div>
{graph}"""


def main() -> None:
    program = needed()
    graph = (ROOT / "docs/recordings/index/graph.svg").read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=SWITCHES)
        tab = browser.new_page(viewport={"width": 1200, "height": 630})
        tab.set_content(PAGE.format(graph=graph))
        tab.screenshot(path=PICTURE)
    print(f"Written: {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
