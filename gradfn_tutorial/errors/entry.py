"""What is known of an error message."""

from __future__ import annotations

from string import Formatter
from typing import NamedTuple


class Repair(NamedTuple):
    """A program without the error, and when to repair it so."""

    code: str
    en: str
    zh: str


class Error(NamedTuple):
    """A message of torch.

    Attributes:
        id: stays the same for ever.
        message: as Python prints it, the exception's or the warning's class in front. What varies stands in braces.
        code: a program whose last statement raises it.
        en: what it means on the graph.
        zh: the same in Chinese.
        repairs: two programs without it.
        page: the section of the site that explains it, ``learn/backward#scalar``.
        also: the message on other supported versions of torch.
        since: the first supported version that raises it.
        until: the last one, None where all do.
    """

    id: str
    message: str
    code: str
    en: str
    zh: str
    repairs: tuple[Repair, Repair]
    page: str
    also: tuple[str, ...] = ()
    since: str = "2.6"
    until: str | None = None

    @property
    def messages(self) -> tuple[str, ...]:
        return (self.message, *self.also)


def shown(message: str) -> str:
    """The message with an ellipsis for each part that varies."""
    return "".join(fixed + ("…" if name else "") for fixed, name in parts(message))


def parts(message: str) -> list[tuple[str, str | None]]:
    """The message cut at what varies: each fixed part, and the name of what stands behind it, None at the end."""
    return [(fixed, name) for fixed, name, _, _ in Formatter().parse(message)]
