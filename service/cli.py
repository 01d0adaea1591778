"""The command `depesche`: combines the parsers of all commands, and turns results into exit statuses."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

from engine.refusal import Refused
from service.commands.terminal import FINE, INTERRUPT, MISUSE, Misuse, Parser, describe_error, print_error

# In the order of the help page, by name: commands that start workers live with them, and `service` imports none.
FOR_HOSTS = (
    "workers.commands.run",
    "workers.commands.doctor",
    "service.commands.host",
    "service.commands.transfer_commands",
)
FOR_AUTHORS = (
    "service.commands.games",
    "service.commands.playout",
    "service.commands.scenario",
    "service.commands.replay",
    "service.commands.audit",
    "service.commands.logs",
    "service.commands.new_game",
    "workers.commands.dev",
    "service.commands.bench",
    "service.commands.completion",
)

DESCRIPTION = "Depesche, a play-by-email service for board games."
STATUSES = "Every command has its own --help. Exit status: 0 fine, 1 something was found wrong, 2 misuse."


class Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str = "") -> None:  # noqa: A002  # argparse's word
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print the version and end; the package's metadata are read only then."""
        from importlib import metadata

        print(f"depesche {metadata.version('depesche')}")
        parser.exit()


def make_parser(command: str = "") -> Parser:
    """Return the parser of all commands, or of those up to a given one: to import the others takes 20 ms."""
    root = Parser(prog="depesche", description=DESCRIPTION, epilog=STATUSES, allow_abbrev=False)
    root.add_argument("--version", action=Version, help="print the version")
    subparsers = root.add_subparsers(metavar="COMMAND", title="commands")
    for module in (*FOR_HOSTS, *FOR_AUTHORS):
        importlib.import_module(module).add(subparsers)
        if command in subparsers.choices:
            break
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 shows escapes, and no error
    try:
        status = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes as it ends
        return FINE
    except KeyboardInterrupt:
        return INTERRUPT
    return status


def _run(argv: Sequence[str] | None) -> int:
    """Run a command; print a sentence for misuse, a refusal, or an error that the host can correct."""
    words = sys.argv[1:] if argv is None else argv
    root = make_parser(words[0] if words else "")
    try:
        return _run_command(root, words)
    except SystemExit as left:  # argparse has printed help
        return int(left.code or FINE)
    except (Misuse, Refused) as refused:
        print_error(str(refused))
        return MISUSE
    except BrokenPipeError:  # no error to describe: `main` ends quietly
        raise
    except Exception as error:
        sentence = describe_error(error)
        if sentence is None:
            raise
        print_error(sentence)
        return MISUSE


def _run_command(root: Parser, words: Sequence[str]) -> int:
    """Run the command that the words name and return its exit status; print the help if they name none."""
    args, unknown = root.parse_known_args(words)
    if unknown:
        getattr(args, "parser", root).refuse_unknown(unknown)
    if "run" not in args:
        root.print_help(sys.stderr)
        return MISUSE
    _allow_packages()
    return int(args.run(args))


def _allow_packages() -> None:
    """Allow the installed games that DEPESCHE_GAMES names; raise Refused if one is not installed.

    Without that setting nothing is imported for it, so that the command starts faster.
    """
    variables = {name: os.environ.get(name, "") for name in ("DEPESCHE_GAMES", "DEPESCHE_GAMES_FILE")}
    if not any(variables.values()):
        return
    from engine import catalogue
    from service import settings

    texts = settings.read_setting_files(variables, settings.VARIABLES)
    names = settings.parse_package_names(texts.get("DEPESCHE_GAMES", ""))
    catalogue.allow(names)
    catalogue.refuse_missing(name for name in names if catalogue.NAME.fullmatch(name))  # `load_settings` refuses others


if __name__ == "__main__":
    sys.exit(main())
