"""Build both languages with Zensical, Material's successor, and count the pages: make canary

Zensical runs no hooks and no mkdocs-jupyter, so the notebook page is not among them; CONTRIBUTING.md has what else would change.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from shown import ROOT

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "site", "dist", "*cache*", "*.egg-info")
CONFIGS = {"en": "mkdocs.yml", "zh": "mkdocs.zh.yml"}


def main() -> None:
    zensical = Path(sys.executable).with_name("zensical")
    if not zensical.exists():
        sys.exit("Zensical is not installed here. Run: make canary")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(ROOT, Path(folder, "copy"), ignore=LEFT_OUT))
        for language, config in CONFIGS.items():
            subprocess.run([zensical, "build", "-f", config], cwd=copy, check=True)
            built = {
                path.parent.relative_to(copy / "site" / language)
                for path in copy.glob(f"site/{language}/**/index.html")
            }
            pages = {
                page.relative_to(ROOT / "docs" / language) for page in ROOT.glob(f"docs/{language}/**/*.md")
            }
            wanted = {page.parent if page.stem == "index" else page.with_suffix("") for page in pages}
            if missing := wanted - built:
                sys.exit(f"Zensical left out {', '.join(sorted(map(str, missing)))}")
            print(f"{config}: {len(built)} pages")


if __name__ == "__main__":
    main()
