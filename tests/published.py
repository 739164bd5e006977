"""Where the built site is published, and what has to be in it."""

from __future__ import annotations

import socket
from pathlib import Path

ROOT = Path(__file__).parent.parent

with socket.create_server(("127.0.0.1", 0)) as probe:
    # A port that is free now. Instant navigation works only where the site says it is.
    PORT = probe.getsockname()[1]
SITE_URL = f"http://127.0.0.1:{PORT}/"
REPOSITORY_URL = "https://repository.example/grad"

SOURCES = {
    f"{path.relative_to(ROOT / 'docs').with_suffix('').as_posix().removesuffix('/index')}/": path
    for language in ("en", "zh")
    for path in sorted((ROOT / "docs" / language).rglob("*"))
    if path.suffix in {".md", ".ipynb"}
}
"""The address of each page below SITE_URL, ``en/learn/leaf_tensors/`` for example, and its file."""
