"""The findings of `depesche doctor`: the part that was checked, the verdict, and how to correct it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

LINE_END = "\n"  # after it drivers add advice of their own
Verdict = Literal["well", "odd", "ILL", "look"]


class Finding(Struct, frozen=True):
    """One line of the doctor; the verdict `look` asks the host to look at something."""

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


def try_check(about: str, name: str, mend: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Run a check; a check that fails is a finding itself."""
    try:
        yield from check()
    except Exception as error:
        yield ill(about, f"{name}: {str(error).partition(LINE_END)[0]}", mend)
