"""What a page shows: code in the place of an include, and output without what differs from run to run."""

from __future__ import annotations

import re
from pathlib import Path

import markdown

ROOT = Path(__file__).parent.parent
FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
MASKS = (
    (re.compile(r" \(Triggered internally at [^)]*\)"), " (Triggered internally at …)"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r'File "[^"]*", line \d+'), 'File "…", line …'),
    (re.compile(r"(?<![\w.:/])/(?:[\w.+-]+/)+[\w.+-]+"), "…"),
)
# A warning as Python writes it to stderr: the place, the warning, and the line of code.
WARNING = re.compile(r"^.+?:\d+: (\w*Warning: .*)\n(?:  .*\n)?", re.MULTILINE)
INCLUDES = markdown.Markdown(
    extensions=["pymdownx.snippets"],
    extension_configs={
        "pymdownx.snippets": {
            "base_path": [str(ROOT / "snippets"), str(ROOT / "gradfn_tutorial")],
            "check_paths": True,
            "dedent_subsections": True,
        }
    },
).preprocessors["snippet"]


def expand(source: str) -> str:
    """The block as the site shows it: each include replaced by the lines that it names."""
    return "\n".join(INCLUDES.run(source.splitlines())).rstrip("\n") + "\n"


def mask(text: str) -> str:
    """``text`` without what differs from run to run and from machine to machine."""
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return "".join(line.rstrip() + "\n" for line in text.rstrip().splitlines())


def as_shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}\n"


def plain_warnings(stderr: str) -> str:
    """What Python wrote to stderr, with a warning as a page shows it: its kind and its message."""
    return WARNING.sub(r"\1\n", stderr)
