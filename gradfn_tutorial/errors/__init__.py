"""Error messages of torch, what they mean on the graph, and how to repair what raised them."""

from __future__ import annotations

import re
from collections import Counter
from operator import itemgetter

from gradfn_tutorial.errors import backward, functions, in_place, leaves, modes
from gradfn_tutorial.errors.entry import Error, parts

KINDS: dict[str, tuple[Error, ...]] = {
    "backward": backward.ERRORS,
    "leaves": leaves.ERRORS,
    "in-place": in_place.ERRORS,
    "modes": modes.ERRORS,
    "functions": functions.ERRORS,
}
ERRORS: tuple[Error, ...] = tuple(error for errors in KINDS.values() for error in errors)

# What follows is done once more in docs/theme/assets/js/errors.js, for the box on the page. Change both.
ENOUGH = 0.5
# The weight of a word that one message has, and what a text has to weigh to be told from others.
RARE = 1000
# The weight of a word that no message has: often a name.
UNKNOWN = 500
# The colours of a terminal, and line ends that a log has spelled out.
NOISE = re.compile(r"\[[\d;]+m|\\[nrt]")
HEAD = re.compile(r"\b[\w.]*(?:Error|Warning|Exception):[ \t\r\n\xa0]", re.ASCII)
WORD = re.compile(r"[a-z_]{2,}")


def find(text: str, limit: int = 5) -> list[Error]:
    """The errors whose message is in ``text``, be it a message or a whole traceback, best first. Often one or none."""
    return [error for score, error in rank(text) if score >= ENOUGH][:limit]


def rank(text: str) -> list[tuple[float, Error]]:
    """All errors, best first, each with how much of its message is in ``text``, or of ``text`` in its message."""
    text = NOISE.sub(" ", text)
    # Each exception of a chain by itself: the best counts, and of several the last, which is the one that nobody caught.
    rankings = [_rank(part) for part in reversed(HEAD.split(text))]
    return max(rankings, key=lambda ranking: ranking[0][0])


def _rank(text: str) -> list[tuple[float, Error]]:
    given = _pieces(text)
    whole = sum(map(_weight, given))

    def score(message: list[str]) -> tuple[float, float, int]:
        own = sum(map(_weight, message))
        shared = sum(_weight(piece) for piece in message if piece in given)
        return shared / max(RARE, min(own, whole)), shared / own, own

    scored = [(max(map(score, messages)), error) for messages, error in zip(_PIECES, ERRORS)]
    scored.sort(key=itemgetter(0), reverse=True)
    return [(best[0], error) for best, error in scored]


def _pieces(text: str) -> dict[str, None]:
    """The words and the pairs of neighbours: no numbers, paths or signs. Nothing pairs across a NUL."""
    cut = [WORD.findall(part.lower()) for part in text.split("\0")]
    pairs = [f"{one} {other}" for words in cut for one, other in zip(words, words[1:])]
    return dict.fromkeys([*(word for words in cut for word in words), *pairs])


def _weight(piece: str) -> int:
    """Much for what few messages have. A whole number, so that Python and a browser come to the same."""
    count = _COUNTS[piece]
    return RARE // count if count else UNKNOWN


def _fixed(message: str) -> str:
    """The message without its class, where texts are cut, and with a NUL for each part that varies.

    A number has no words: what stands round it are neighbours in a text too.
    """
    text = "".join(fixed + {None: "", "number": " "}.get(name, "\0") for fixed, name in parts(message))
    return text.partition(": ")[2]


_PIECES = [[list(_pieces(_fixed(message))) for message in error.messages] for error in ERRORS]
_COUNTS = Counter(piece for messages in _PIECES for piece in {p for pieces in messages for p in pieces})
