"""What the doctor finds: what it is about, whether it is well, and how to mend it where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

LINE_END = "\n"  # behind it drivers give advice of their own
Verdict = Literal["well", "odd", "ILL", "look"]


class Finding(Struct, frozen=True):
    """One line of the doctor's; `look` is for what only the host can see."""

    verdict: Verdict
    about: str
    what: str
    mend: str = ""


def well(about: str, what: str) -> Finding:
    return Finding("well", about, what)


def odd(about: str, what: str, mend: str) -> Finding:
    return Finding("odd", about, what, mend)


def ill(about: str, what: str, mend: str) -> Finding:
    return Finding("ILL", about, what, mend)


def tried(about: str, name: str, mend: str, work: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """What this work finds; ill where it cannot be done at all."""
    try:
        yield from work()
    except Exception as error:
        yield ill(about, f"{name}: {str(error).partition(LINE_END)[0]}", mend)
