"""What all commands share: how they are described, how they refuse, how they print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from service.text import numbers

LONGEST = 1_000  # characters of a sentence
FINE, WRONG, MISUSED = 0, 1, 2
INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


class Misuse(Exception):
    """The command cannot be carried out as given; the text is the sentence to print."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, with an example of the very command, and guesses what was meant."""

    example = ""

    def error(self, message: str) -> NoReturn:
        example = f" For instance: {self.example}" if self.example else ""
        ends = "" if message.endswith(("?", ".")) else "."
        raise Misuse(f"{message}{ends}{example}; see: {self.prog} --help")

    def refuse_unknown(self, words: Sequence[str]) -> NoReturn:
        """Words that this command does not know."""
        options = [word.partition("=")[0] for word in words if word.startswith("-") and word != "-"]
        if not options:
            self.error(f"“{' '.join(words)}” is more than {self.prog} takes")
        self.error(f"{self.prog} has no option {options[0]}{meant(options[0], self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """The same as argparse's, with a guess."""
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"There is no command “{value}”{meant(value, known)}")
        named = "/".join(action.option_strings) or action.metavar or action.dest
        self.error(f"{named} is one of {', '.join(known)}, not “{value}”{meant(value, known)}")


def meant(word: str, known: Iterable[str]) -> str:
    """The word that was probably meant, as the end of a sentence."""
    import difflib  # only who mistypes pays for it

    close = difflib.get_close_matches(word, list(known), 1, 0.6)
    return f"; did you mean {close[0]}?" if close else ""


Subparsers = argparse._SubParsersAction  # the only name this type has
Run = Callable[[argparse.Namespace], int]


def add_command(subparsers: Subparsers[Parser], name: str, run: Run, about: str, *examples: str) -> Parser:
    """A subcommand with one sentence about it and examples of its use."""
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


LARGEST = 999_999_999


def positive(text: str) -> int:
    """A whole number from 1 on."""
    number = numbers.parse_int(text, LARGEST)
    if not number:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number from 1 to {LARGEST}")
    return number


def counted(text: str) -> int:
    """A whole number from 0 on."""
    number = numbers.parse_int(text, LARGEST)
    if number is None:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number from 0 to {LARGEST}")
    return number


def read(path: str) -> bytes:
    """The content of a file, or of what is piped in where it is called `-`."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise Misuse(f"{path} cannot be read: {_reason(error)}.") from error


def write(path: str, content: bytes) -> None:
    """Put this content into a file, whatever it held before."""
    try:
        Path(path).write_bytes(content)
    except (OSError, ValueError) as error:
        raise Misuse(f"{path} cannot be written: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def json_bytes(value: Any) -> bytes:
    """The value as JSON that people can read too."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def print_json(value: Any) -> None:
    print(json_bytes(value).decode(), end="")


def tell(text: str) -> None:
    """Print what may hold somebody else's words: none of them steers the terminal."""
    print(harmless(text), flush=True)


def harmless(text: str) -> str:
    """The same text, line by line, with a mark for every character that cannot be seen."""
    return "\n".join("".join(one if one.isprintable() else "\ufffd" for one in line) for line in text.split("\n"))


def complain(sentence: str) -> None:
    """Write a sentence to standard error, apart from what is printed for the next program."""
    print(f"depesche: {harmless(shortened(sentence))}", file=sys.stderr)


def shortened(sentence: str) -> str:
    """Its beginning and its end, where words of a strange file make it very long."""
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 100]} … {sentence[-90:]}"


def progress(done: int, total: int, what: str) -> None:
    """How far a long command is, for who watches; programs and files get none of it."""
    if total > 1 and sys.stderr.isatty():
        print(f"\r{done} of {total} {what}", end="" if done < total else "\n", file=sys.stderr, flush=True)


def end_progress() -> None:
    """What follows a line of progress that was broken off begins on a line of its own."""
    if sys.stderr.isatty():
        print(file=sys.stderr)
