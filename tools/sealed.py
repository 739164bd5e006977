"""Measurements that no second run repeats, such as times and scores. A digest ends each: a figure typed by hand does not fit it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

RECORDINGS = Path(__file__).parent.parent / "docs" / "recordings"
SEAL = re.compile(r"\n<!-- \w+ -->\n\Z")


def write_sealed(name: str, text: str) -> None:
    """Write ``text`` to a file of docs/recordings, for a page to include."""
    path = RECORDINGS / name
    path.write_text(sealed(text), encoding="utf-8")
    print(f"Written: {path.relative_to(RECORDINGS.parent.parent)}")


def sealed(text: str) -> str:
    return f"{text}\n<!-- {hashlib.sha256(text.encode()).hexdigest()[:16]} -->\n"


def is_sealed(text: str) -> bool:
    return sealed(SEAL.sub("", text)) == text
