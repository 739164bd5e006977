"""Where the built site is published, and what has to be in it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent

# Instant navigation works only where the site says it is. A browser takes a name that ends like this for a safe place, and
# is told at which port it is.
HOST = "site.localhost"
SITE_URL = f"http://{HOST}/"
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
