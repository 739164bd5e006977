"""Let Lighthouse judge the built site, and write docs/recordings/lighthouse.md: python tools/lighthouse.py

It needs Node.js, and fetches Lighthouse from npm. Scores go from 0 to 100 and differ from run to run. Nothing is asked of another
host while it runs. A site that mkdocs makes of one page with Material's defaults, without web fonts, is judged beside ours.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import SWITCHES, needed, serving
from sealed import write_sealed
from shown import ROOT

LIGHTHOUSE = "lighthouse@12.8.2"
PAGES = {
    "home": "en/",
    "learn/backward": "en/learn/backward/",
    "conv2d/trace": "en/conv2d/trace/",
    "reference/node_names": "en/reference/node_names/",
}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
DEFAULT = """\
site_name: Default
theme: {name: material, font: false}
"""


def main() -> None:
    if not shutil.which("npx"):
        sys.exit("Found no npx. Lighthouse needs Node.js.")
    chromium = needed()
    site = ROOT / "site"
    if not (site / "index.html").exists():
        sys.exit("There is no site. Build it: make site")
    environment = os.environ | {"CHROME_PATH": chromium}
    rows = []
    with tempfile.TemporaryDirectory() as folder, serving(site) as port:
        for name, path in PAGES.items():
            rows.append(row(name, f"http://127.0.0.1:{port}/{path}", environment))
        with serving(default_site(Path(folder))) as port:
            rows.append(row("a default Material site", f"http://127.0.0.1:{port}/", environment))
    version = subprocess.run(
        [chromium, "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    write_sealed(
        "lighthouse.md",
        "\n".join(
            [
                "| page | performance | accessibility | best practices | SEO | performance, mobile |",
                "|---|---:|---:|---:|---:|---:|",
                *rows,
                "",
                f"{LIGHTHOUSE}, {version}, {datetime.date.today()}",
                "",
            ]
        ),
    )


def default_site(folder: Path) -> Path:
    """One page of ours, with nothing of our theme."""
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "README.md", folder / "docs/index.md")
    (folder / "mkdocs.yml").write_text(DEFAULT, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet"], cwd=folder, check=True)
    return folder / "site"


def row(name: str, address: str, environment: dict[str, str]) -> str:
    print(f"{name} ...", flush=True)
    desktop = scores(address, ["--preset=desktop"], environment)
    mobile = scores(address, [], environment)
    cells = [*(str(desktop[category]) for category in CATEGORIES), str(mobile["performance"])]
    return f"| {name} | {' | '.join(cells)} |"


def scores(address: str, options: list[str], environment: dict[str, str]) -> dict[str, int]:
    command = [
        "npx",
        "--yes",
        LIGHTHOUSE,
        address,
        *options,
        "--quiet",
        "--output=json",
        f"--chrome-flags={' '.join(['--headless', *SWITCHES])}",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"Lighthouse failed:\n{done.stderr}")
    categories = json.loads(done.stdout)["categories"]
    return {name: round(100 * categories[name]["score"]) for name in CATEGORIES}


if __name__ == "__main__":
    main()
