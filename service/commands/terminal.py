"""Helpers of all commands: parsers, reading and writing of files, printing, errors, and results of checks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

from msgspec import Struct

from engine.refusal import is_printable
from service.numbers import parse_int

MAX_SENTENCE_CHARS = 1_000
SENTENCE_HEAD_CHARS, SENTENCE_TAIL_CHARS = 900, 90  # that remain of a longer one
FINE, WRONG, MISUSE = 0, 1, 2
INTERRUPT = 130  # 128 and the number of the signal, as in shells
Verdict = Literal["ok", "warning", "FAILED", "look"]


class Misuse(Exception):
    """The command cannot be run as given; the text is the sentence to print."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, with an example of the command and a suggestion."""

    example = ""

    def error(self, message: str) -> NoReturn:
        """Raise Misuse with argparse's message, an example and where to read more."""
        example = f" For instance: {self.example}" if self.example else ""
        full_stop = "" if message.endswith(("?", ".")) else "."
        raise Misuse(f"{message}{full_stop}{example}; see: {self.prog} --help")

    def refuse_unknown(self, words: Sequence[str]) -> NoReturn:
        """Raise Misuse for words that this command does not know."""
        options = [word.partition("=")[0] for word in words if word.startswith("-") and word != "-"]
        if not options:
            self.error(f"“{' '.join(words)}” is more than {self.prog} takes")
        self.error(f"{self.prog} has no option {options[0]}{suggest(options[0], self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check a choice as argparse does, and suggest another."""
        if action.choices is None or value in action.choices:
            return
        choices = list(map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"There is no command “{value}”{suggest(value, choices)}")
        named = "/".join(action.option_strings) or action.metavar or action.dest
        self.error(f"{named} is one of {', '.join(choices)}, not “{value}”{suggest(value, choices)}")


def suggest(word: str, choices: Iterable[str]) -> str:
    """Return the choice most like a word, as the end of a sentence; empty if none is."""
    import difflib  # imported late, because it slows the start

    close = difflib.get_close_matches(word, list(choices), n=1)
    return f"; did you mean {close[0]}?" if close else ""


Subparsers = argparse._SubParsersAction  # the only name this type has
Run = Callable[[argparse.Namespace], int]


def add_command(subparsers: Subparsers[Parser], name: str, run: Run, about: str, *examples: str) -> Parser:
    """Add a subcommand with a sentence about it and examples of its use."""
    parser = subparsers.add_parser(
        name,
        help=about,
        description=about,
        epilog="\n".join(("example:" if len(examples) == 1 else "examples:", *(f"  {line}" for line in examples))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser)
    parser.example = examples[0] if examples else ""
    return parser


def add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def add_database(parser: Parser) -> None:
    parser.add_argument("--database", metavar="URL", help="the service's database, if not the one from its settings")


MAX_NUMBER = 999_999_999


def parse_positive(text: str) -> int:
    """Parse a whole number from 1."""
    number = parse_int(text, MAX_NUMBER)
    if not number:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number from 1 to {MAX_NUMBER}")
    return number


def parse_count(text: str) -> int:
    """Parse a whole number from 0."""
    number = parse_int(text, MAX_NUMBER)
    if number is None:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number from 0 to {MAX_NUMBER}")
    return number


def read_file(path: str) -> bytes:
    """Return the content of a file, or of standard input if its name is `-`."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise Misuse(f"{path} cannot be read: {_find_reason(error)}.") from error


def write_file(path: str, content: bytes) -> None:
    """Write this content to a file, and replace an earlier one."""
    try:
        Path(path).write_bytes(content)
    except (OSError, ValueError) as error:
        raise Misuse(f"{path} cannot be written: {_find_reason(error)}.") from error


def _find_reason(error: Exception) -> str:
    """Return why something failed; for a file the words of the system alone."""
    reason = error.strerror if isinstance(error, OSError) else ""
    return reason or str(error)


def format_json(value: Any) -> bytes:
    """Format a value as JSON with indentation."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def print_json(value: Any) -> None:
    print(format_json(value).decode(), end="")


def print_line(text: str) -> None:
    """Print text that may contain words of players, without characters that control the terminal."""
    print(clean_text(text), flush=True)


def clean_text(text: str) -> str:
    """Replace every invisible character except line ends and no-break spaces by a mark."""
    return "".join(one if is_printable(one) or one == "\n" else "\ufffd" for one in text)


def print_error(sentence: str) -> None:
    """Print a sentence to standard error."""
    print(f"depesche: {clean_text(shorten(sentence))}", file=sys.stderr)


def shorten(sentence: str) -> str:
    """Cut the middle of a very long sentence, which may quote a file."""
    if len(sentence) <= MAX_SENTENCE_CHARS:
        return sentence
    return f"{sentence[:SENTENCE_HEAD_CHARS]} … {sentence[-SENTENCE_TAIL_CHARS:]}"


def show_progress(done: int, total: int, what: str) -> None:
    """Show the progress of a long command on a terminal; programs and files do not get it."""
    if total > 1 and sys.stderr.isatty():
        print(f"\r{done} of {total} {what}", end="" if done < total else "\n", file=sys.stderr, flush=True)


def end_progress() -> None:
    """End an incomplete line of progress."""
    if sys.stderr.isatty():
        print(file=sys.stderr)


EXTRAS = {"psycopg": "prod"}  # the extra of Depesche that brings a package


def describe_error(error: Exception) -> str | None:
    """Describe an error that the host can correct, without passwords; None for any other, which needs its traceback."""
    from alembic.util import CommandError
    from redis import RedisError
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    from service.monitoring import find_first_line

    match error:
        case ModuleNotFoundError(name=str(name)) if name.partition(".")[0] in EXTRAS:
            extra = EXTRAS[name.partition(".")[0]]
            return f"This needs the package {name}; install Depesche with its extra: pip install depesche[{extra}]"
        case ArgumentError():
            return "DEPESCHE_DATABASE cannot be read; it looks like postgresql+psycopg://depesche@db/depesche"
        case SQLAlchemyError():
            return f"The database failed: {find_first_line(error)}; see DEPESCHE_DATABASE."
        case CommandError():
            why = find_first_line(error)
            return f"The database was made by another version of Depesche ({why}); install that version."
        case RedisError():
            return f"Redis failed: {find_first_line(error)}; see DEPESCHE_REDIS."
        case OSError(filename=str(name), strerror=str(why)):
            return f"{name}: {why}."
        case OSError(strerror=str(why)):
            return f"The machine refused: {why}."
    return None


class CheckResult(Struct, frozen=True):
    """One line of the doctor; the verdict `look` asks the host to look at something."""

    verdict: Verdict
    about: str  # the part of the service that was checked, such as “dns”
    what: str
    mend: str = ""  # what the host can do about it


def make_success(about: str, what: str) -> CheckResult:
    return CheckResult("ok", about, what)


def make_warning(about: str, what: str, mend: str) -> CheckResult:
    return CheckResult("warning", about, what, mend)


def make_failure(about: str, what: str, mend: str) -> CheckResult:
    return CheckResult("FAILED", about, what, mend)


def try_check(about: str, name: str, mend: str, check: Callable[[], Iterable[CheckResult]]) -> Iterator[CheckResult]:
    """Run a check of a part of the service (`about`); yield its results, and a failure if it raises an error.

    The failure says that `name` has failed, and `mend` what the host can do.
    """
    try:
        yield from check()
    except Exception as error:
        first_line, *_advice = str(error).split("\n")  # drivers add advice of their own
        yield make_failure(about, f"{name}: {first_line}", mend)
