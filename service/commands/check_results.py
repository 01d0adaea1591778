"""Results of the doctor's checks: one line each, with what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

LINE_END = "\n"  # after it drivers add advice of their own
Verdict = Literal["ok", "warning", "FAILED", "look"]


class CheckResult(Struct, frozen=True):
    """One line of the doctor; the verdict `look` asks the host to look at something."""

    verdict: Verdict
    about: str
    what: str
    mend: str = ""


def succeed(about: str, what: str) -> CheckResult:
    return CheckResult("ok", about, what)


def warn(about: str, what: str, mend: str) -> CheckResult:
    return CheckResult("warning", about, what, mend)


def fail(about: str, what: str, mend: str) -> CheckResult:
    return CheckResult("FAILED", about, what, mend)


def try_check(about: str, name: str, mend: str, check: Callable[[], Iterable[CheckResult]]) -> Iterator[CheckResult]:
    """Run a check; a check that raises an error has failed."""
    try:
        yield from check()
    except Exception as error:
        yield fail(about, f"{name}: {str(error).partition(LINE_END)[0]}", mend)
