"""Where the built site is published, and what has to be in it."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Instant navigation works only where the site says it is. A browser takes a name that ends like this for a safe place, and
# is told at which port it is.
HOST = "site.localhost"
SITE_URL = f"http://{HOST}/"
# The browser tests can look at the edition that needs no server: OFFLINE_SITE is its folder.
OFFLINE_SITE = os.environ.get("OFFLINE_SITE")
if OFFLINE_SITE:
    SITE_URL = f"{Path(OFFLINE_SITE).resolve().as_uri()}/"
REPOSITORY_URL = "https://repository.example/grad"

SOURCES = {
    f"{path.relative_to(ROOT / 'docs').with_suffix('').as_posix().removesuffix('/index')}/": path
    for language in ("en", "zh")
    for path in sorted((ROOT / "docs" / language).rglob("*"))
    if path.suffix in {".md", ".ipynb"}
}
"""The address of each page below SITE_URL, ``en/learn/leaf_tensors/`` for example, and its file."""

PATIENCE = 20_000
"""How long a test waits for the browser, in milliseconds: enough for a busy machine, and waited for only where it fails."""


def at(page: str) -> str:
    """The address of a page below SITE_URL: a folder's where there is a server, a file's where there is none."""
    if not OFFLINE_SITE:
        return page
    path = page.removesuffix("/")
    return f"{path}/index.html".lstrip("/") if path in ("", "en", "zh") else f"{path}.html"
