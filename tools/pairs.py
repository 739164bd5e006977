"""Keep the languages together: docs/pairs.toml holds, for each page, the versions of its prose that were read side by side.

    python tools/pairs.py                    show what has changed since, word by word
    python tools/pairs.py --read PAGE ...    record that both languages of a page were read again (learn/backward)

Outputs, figures, code and the foot are no prose: to record them anew is no change.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import re
import subprocess
import sys

import tomllib
from shown import FRONT_MATTER, ROOT

PAIRS = ROOT / "docs" / "pairs.toml"
LANGUAGES = ("en", "zh")
FENCE = re.compile(r"^( *)(```+).*?^\1\2$\n?", re.MULTILINE | re.DOTALL)
# A word, a Chinese character, or a mark.
WORD = re.compile(r"[\w`.*/#()\[\]-]*[A-Za-z0-9_`][\w`.*/#()\[\]-]*|\S", re.ASCII)
CONTEXT = 4


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--read", nargs="+", metavar="PAGE", help="pages whose languages say the same; all: every page"
    )
    options = parser.parse_args()
    if options.read:
        record(names() if options.read == ["all"] else options.read)
        return 0
    apart = [name for name in names() if read_pairs().get(name) != versions(name)]
    for name in apart:
        print(told(name))
    return bool(apart)


def names() -> list[str]:
    """The pages by their paths below a language: ``learn/backward`` and so on."""
    english = ROOT / "docs" / "en"
    return sorted(path.relative_to(english).with_suffix("").as_posix() for path in english.rglob("*.md"))


def prose(text: str) -> str:
    return FENCE.sub("", FRONT_MATTER.sub("", text))


def version(text: str) -> str:
    return hashlib.sha256(prose(text).encode()).hexdigest()[:12]


def versions(name: str) -> dict[str, str]:
    return {language: version(read(name, language)) for language in LANGUAGES}


def read(name: str, language: str) -> str:
    return (ROOT / "docs" / language / f"{name}.md").read_text(encoding="utf-8")


def read_pairs() -> dict[str, dict[str, str]]:
    return tomllib.loads(PAIRS.read_text(encoding="utf-8"))


def record(pages: list[str]) -> None:
    if unknown := set(pages) - set(names()):
        sys.exit(
            f"There is no page {', '.join(sorted(unknown))} below docs/en. A page is learn/backward, for example."
        )
    pairs = {name: pair for name, pair in read_pairs().items() if name in names()}
    pairs |= {name: versions(name) for name in pages}
    lines = [
        f'"{name}" = {{ {", ".join(f"{key} = {value!r}" for key, value in pair.items())} }}\n'.replace(
            "'", '"'
        )
        for name, pair in sorted(pairs.items())
    ]
    head = PAIRS.read_text(encoding="utf-8").partition('\n"')[0].rstrip("\n")
    PAIRS.write_text(f"{head}\n\n{''.join(lines)}", encoding="utf-8")


def told(name: str) -> str:
    """What has changed in each language of a page, and what to do."""
    recorded, now = read_pairs().get(name, {}), versions(name)
    lines = [f"{name}:"]
    for language in LANGUAGES:
        if recorded.get(language) == now[language]:
            lines.append(f"  {language}: as it was read")
        else:
            old = text_of(name, language, recorded.get(language))
            lines.append(
                f"  {language}: {changed(old, read(name, language)) if old else 'new, or never committed'}"
            )
    lines.append(f"  Read both, make them say the same, then: python tools/pairs.py --read {name}")
    return "\n".join(lines)


def text_of(name: str, language: str, wanted: str | None) -> str | None:
    """The page as it was in the newest commit whose prose has this version."""
    path = f"docs/{language}/{name}.md"
    for commit in git("log", "--format=%H", "--", path).split():
        text = git("show", f"{commit}:{path}")
        if version(text) == wanted:
            return text
    return None


def git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )
    return done.stdout


def changed(old: str, new: str) -> str:
    """The words that differ, each change with a few words before and after it."""
    before, after = WORD.findall(prose(old)), WORD.findall(prose(new))
    parts = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            old_words, new_words = " ".join(before[a:b]), " ".join(after[c:d])
            marked = f"[-{old_words}-]" * (a < b) + f"{{+{new_words}+}}" * (c < d)
            parts.append(
                " ".join(["...", *after[max(0, c - CONTEXT) : c], marked, *after[d : d + CONTEXT], "..."])
            )
    return "\n      ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
