"""Build the whole site: both languages, the page that picks one of them, and the snippet files.

It is built beside the old one, which it replaces only when every step has succeeded.
SITE_URL is the address that it will be published at, http://127.0.0.1:8000/ if not given.
"""

from __future__ import annotations

import argparse
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

ROOT = Path(__file__).parent.parent
SECTION_MARK = re.compile(r"^ *# --8<-- \[\w+:[\w-]+\]\n", re.MULTILINE)
OUTPUT = re.compile(r"^( *)```output\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ABOUT_THE_ARCHIVE = """\
Programs that show what PyTorch's autograd does. recipes/ has one program for each task, the other folders the program of each
page. Each file runs by itself: python recipes/gradient_of_an_activation.py. It needs torch, and where it imports
gradfn_tutorial, the helper package. The .txt file beside a page's program is what it prints, without paths and addresses.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="default: site")
    out = parser.parse_args().out.resolve()
    if out.exists() and not (out / ".nojekyll").exists():
        sys.exit(f"{out} exists, but is no site of this tool. Remove it or choose another --out.")

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder:
        new, old = Path(folder, "new"), Path(folder, "old")
        step("1/2 pages in English and Chinese", lambda: build_both(new))
        step("2/2 root page and snippets", lambda: add_shared_files(new))
        if out.exists():
            out.rename(old)
        new.rename(out)
    print(f"The site is in {out}")


def step(title: str, action: Callable[[], None]) -> None:
    print(f"[{title}] ...", end=" ", flush=True)
    start = time.monotonic()
    action()
    print(f"{time.monotonic() - start:.1f} s", flush=True)


def build_both(site: Path) -> None:
    with ThreadPoolExecutor() as languages:
        list(languages.map(mkdocs, ["mkdocs.yml", "mkdocs.zh.yml"], [site / "en", site / "zh"]))


def mkdocs(config: str, out: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", str(out)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        # Material prints a notice about its own future on every run.
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"failed\n\n{' '.join(command)}\n\n{done.stdout}\nThe site was not built.")


def add_shared_files(site: Path) -> None:
    shutil.copytree(ROOT / "docs/theme/root", site, dirs_exist_ok=True)
    # A host looks for the error page at the top only.
    shutil.copy(site / "en/404.html", site / "404.html")
    add_programs(site)
    # Without this file GitHub Pages leaves out files whose names begin with an underscore.
    (site / ".nojekyll").touch()


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
            file = site / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            # Without the date of the build, every build makes the same archive.
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nStopped. The old site, if there was one, is as it was.")
