"""Build the whole site: both languages, the page that picks one of them, and what can be downloaded.

It is built beside the old one, which it replaces only when every step has succeeded.
SITE_URL is the address that it will be published at, http://127.0.0.1:8000/ if not given.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

from latex2mathml.converter import convert as latex2mathml
from notebooks import notebook_text
from publish import EDITIONS, as_markdown, llms
from shown import ROOT
from topics import lessons

LANGUAGES = ("en", "zh")
# As pymdownx.arithmatex writes it: \\(in a line\\), or \\[on lines of its own\\].
FORMULA = re.compile(r'(<(?:span|div) class="arithmatex">)\\([(\[])(.*?)\\[)\]](</)', re.DOTALL)
# A script of another type, or one with an address, holds data or is a file.
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# Figures and formulas have styles of their own. A meta element cannot say who may show the site in a frame.
POLICY = {
    "default-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
PROGRAM = re.compile(r'"(?:\.\./)+(snippets(?:/|\.zip))')
SECTION_MARK = re.compile(r"^ *# --8<-- \[\w+:[\w-]+\]\n", re.MULTILINE)
OUTPUT = re.compile(r"^( *)```output\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ABOUT_THE_ARCHIVE = """\
Programs that show what PyTorch's autograd does. recipes/ has one program for each task, the other folders the program of each
page. Each file runs by itself: python recipes/gradient_of_an_activation.py. It needs torch, and where it imports
gradfn_tutorial, the helper package; practice/training_loop.py needs matplotlib and practice/in_place_and_views.py NumPy. The
.txt file beside a page's program is what it prints, without paths and addresses.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="default: site")
    parser.add_argument(
        "--offline", action="store_true", help="for readers who open it from their disk, without a server"
    )
    parser.add_argument(
        "--editions",
        type=Path,
        help="the folder that make offline has filled, to download from the home page",
    )
    options = parser.parse_args()
    editions = [options.editions / name for name in EDITIONS] if options.editions else []
    if missing := [str(path) for path in editions if not path.exists()]:
        sys.exit(f"There is no {', '.join(missing)}. Make them first: make offline")
    out = options.out.resolve()
    if out.exists() and not (out / ".nojekyll").exists():
        sys.exit(f"{out} exists, but is no site of this tool. Remove it or choose another --out.")

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder:
        new, old = Path(folder, "new"), Path(folder, "old")
        step("1/2 pages in English and Chinese", lambda: build_both(new, options.offline, bool(editions)))
        step("2/2 root page, programs and notebooks", lambda: add_shared_files(new, options.offline))
        for path in editions:
            shutil.copy(path, new)
        if out.exists():
            out.rename(old)
        new.rename(out)
    print(f"The site is in {out}")


def step(title: str, action: Callable[[], None]) -> None:
    print(f"[{title}] ...", end=" ", flush=True)
    start = time.monotonic()
    action()
    print(f"{time.monotonic() - start:.1f} s", flush=True)


def build_both(site: Path, offline: bool, editions: bool) -> None:
    environment = os.environ | ({"OFFLINE": "true", "NAVIGATION": "navigation.top"} if offline else {})
    environment |= {"EDITIONS": "true"} if editions else {}
    with ThreadPoolExecutor() as languages:
        configs = {"en": "mkdocs.yml", "zh": "mkdocs.zh.yml"}
        list(languages.map(lambda to: mkdocs(configs[to], site / to, environment), configs))


def mkdocs(config: str, out: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", str(out)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        # Material prints a notice about its own future on every run.
        env=environment | {"NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"failed\n\n{' '.join(command)}\n\n{done.stdout}\nThe site was not built.")


def add_shared_files(site: Path, offline: bool) -> None:
    shutil.copytree(ROOT / "docs/theme/root", site, dirs_exist_ok=True)
    # A host looks for the error page at the top only.
    shutil.copy(site / "en/404.html", site / "404.html")
    add_programs(site)
    repository = os.environ.get("REPOSITORY_URL", "")
    for language in LANGUAGES:
        for lesson in lessons():
            write(site / language / f"{lesson}.ipynb", notebook_text(lesson, language, repository))
        for page in sorted((ROOT / "docs" / language).rglob("*.md")):
            name = page.relative_to(ROOT / "docs")
            write(site / name, with_program_links(as_markdown(page), name))
    write(site / "llms.txt", llms())
    if offline:
        # A file system has no page for a folder.
        root = site / "index.html"
        text = re.sub(r'"(en|zh)/"', r'"\1/index.html"', root.read_text(encoding="utf-8"))
        root.write_text(text.replace('+ "/" +', '+ "/index.html" +'), encoding="utf-8")
    for page in sorted(site.rglob("*.html")):
        text = with_formulas(page.read_text(encoding="utf-8"))
        if offline:
            text = with_program_links(text, page.relative_to(site))
        page.write_text(text if offline else with_policy(text), encoding="utf-8")
    # Without this file GitHub Pages leaves out files whose names begin with an underscore.
    (site / ".nojekyll").touch()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def with_program_links(text: str, name: Path) -> str:
    """Make the pages' own links to programs, which start from a folder for each page, start from the file ``name``."""
    up = "../" * (len(name.parts) - 1)
    return PROGRAM.sub(rf'"{up}\1', text)


def with_formulas(page: str) -> str:
    """The page with its formulas in MathML, which browsers draw by themselves."""

    def drawn(formula: re.Match[str]) -> str:
        display = "block" if formula[2] == "[" else "inline"
        return formula[1] + latex2mathml(html.unescape(formula[3]), display=display) + formula[4]

    return FORMULA.sub(drawn, page)


def with_policy(page: str) -> str:
    """The page with the rule that a browser runs no script but the site's files and the theme's own few lines."""
    hashes = [hashlib.sha256(script.encode()).digest() for script in INLINE_SCRIPT.findall(page)]
    allowed = sorted({f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes})
    policy = {**POLICY, "script-src": " ".join(["'self'", *allowed])}
    content = "; ".join(f"{what} {where}" for what, where in policy.items())
    return page.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{content}">', 1)


def add_programs(site: Path) -> None:
    """Publish the snippets as files, with what each prints beside it, and all of them in one archive."""
    published = {"snippets/README.txt": ABOUT_THE_ARCHIVE}
    for snippet in sorted((ROOT / "snippets").rglob("*.py")):
        name = snippet.relative_to(ROOT)
        # The marks of the sections are for the pages.
        published[name.as_posix()] = SECTION_MARK.sub("", snippet.read_text(encoding="utf-8"))
        page = (ROOT / "docs/en" / name.relative_to("snippets")).with_suffix(".md")
        if page.exists():
            outputs = OUTPUT.findall(page.read_text(encoding="utf-8"))
            published[name.with_suffix(".txt").as_posix()] = "".join(
                re.sub(f"^{indent}", "", text, flags=re.MULTILINE) for indent, text in outputs
            )
    with zipfile.ZipFile(site / "snippets.zip", "w") as archive:
        for name, text in published.items():
            write(site / name, text)
            # Without the date of the build, every build makes the same archive.
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nStopped. The old site, if there was one, is as it was.")
