"""What a page shows: code in the place of an include, and output without what differs from run to run."""

from __future__ import annotations

import datetime
import re
from importlib.metadata import version
from pathlib import Path

import markdown

ROOT = Path(__file__).parent.parent
FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
MASKS = (
    # Bold letters on a terminal.
    (re.compile(r"\x1b\[[\d;]*m"), ""),
    (re.compile(r" \(Triggered internally at [^)]*\)"), " (Triggered internally at …)"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r'File "[^"]*", line \d+'), 'File "…", line …'),
    (re.compile(r"(?<![\w.:/])/(?:[\w.+-]+/)+[\w.+-]+"), "…"),
)
# A warning as Python writes it to stderr: the place, the warning, and the line of code.
WARNING = re.compile(r"^.+?:\d+: (\w*Warning: .*)\n(?:  .*\n)?", re.MULTILINE)
# What a recording adds to the front matter.
STAMP = re.compile(r"^recorded:\n(?:  .*\n)+", re.MULTILINE)
RUNNING = version("torch").partition("+")[0]
PINNED = re.search(r"^torch==(.*)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
TORCH = f'torch: "{RUNNING}"'
# What tools/versions.py adds to that.
DIFFERS = re.compile(r"^  differs: .*\n", re.MULTILINE)
INCLUDES = markdown.Markdown(
    extensions=["pymdownx.snippets"],
    extension_configs={
        "pymdownx.snippets": {
            "base_path": [str(ROOT / name) for name in ("snippets", "docs/recordings", "gradfn_tutorial")],
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


def stamped(front_matter: str) -> str:
    """Front matter that says which torch wrote the page's outputs, and when."""
    kept = STAMP.sub("", front_matter)
    differs = "".join(DIFFERS.findall(front_matter))
    return f'{kept}recorded:\n  {TORCH}\n  date: "{datetime.date.today()}"\n{differs}'


def recorded(path: Path, text: str) -> str:
    """A page that a tool has made, with the stamp of the file that is there, or a new one where anything has changed."""
    new = FRONT_MATTER.sub(lambda front: f"---\n{stamped(front[1])}---\n", text)
    old = read_if_there(path)
    if old is not None and TORCH in old and FRONT_MATTER.sub("", old) == FRONT_MATTER.sub("", new):
        stamp = STAMP.search(old)
        return STAMP.sub(lambda _: stamp[0], new, count=1) if stamp else new
    return new


def read_if_there(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def write(pages: dict[Path, str]) -> None:
    """Write what a tool has made, and say which files have changed."""
    for path, text in pages.items():
        if read_if_there(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"Written: {path.relative_to(ROOT)}")
