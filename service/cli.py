"""The command `depesche`: puts the parsers of all commands together and turns their verdicts into exit statuses."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

from engine.refusal import Refused
from service.commands import troubles
from service.commands.terminal import FINE, INTERRUPTED, MISUSED, Misuse, Parser, complain

# In the order of the help page, by name: commands that start workers live with them, and `service` imports none.
FOR_HOSTS = (
    "workers.commands.run",
    "workers.commands.doctor",
    "service.commands.host_link",
    "service.commands.backup",
    "service.commands.partition",
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
    "service.commands.rulebooks",
    "workers.commands.dev",
    "service.commands.bench",
    "service.commands.completion",
)

ABOUT = "Depesche, a play-by-email service for board games."
STATUSES = "Every command has its own --help. Exit status: 0 fine, 1 something was found wrong, 2 misuse."


class Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str = "") -> None:  # noqa: A002  # argparse's word
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib import metadata

        print(f"depesche {metadata.version('depesche')}")
        parser.exit()


def parser() -> Parser:
    """Everything the command line understands."""
    root = Parser(prog="depesche", description=ABOUT, epilog=STATUSES, allow_abbrev=False)
    root.add_argument("--version", action=Version, help="print the version")
    subparsers = root.add_subparsers(metavar="COMMAND", title="commands")
    for module in (*FOR_HOSTS, *FOR_AUTHORS):
        importlib.import_module(module).add(subparsers)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Carry one command out; the result is the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _run(argv: Sequence[str] | None) -> int:
    root = parser()
    try:
        args, unknown = root.parse_known_args(argv)
        if unknown:
            getattr(args, "parser", root).refuse_unknown(unknown)
        if "run" in args:
            _allow_packages()
            return int(args.run(args))
    except SystemExit as left:  # argparse has printed help
        return int(left.code or FINE)
    except (Misuse, Refused) as refused:
        complain(str(refused))
        return MISUSED
    except BrokenPipeError:
        raise
    except Exception as error:
        sentence = troubles.sentence(error)
        if sentence is None:
            raise
        complain(sentence)
        return MISUSED
    root.print_help(sys.stderr)
    return MISUSED


def _allow_packages() -> None:
    """Games that are packages are known to every command; without any, a command starts sooner."""
    named = {name: text for name, text in os.environ.items() if name.startswith("DEPESCHE_GAMES")}
    if any(named.values()):
        from engine import catalogue
        from service import settings

        words = settings.read_setting_files(named, settings.VARIABLES)
        catalogue.allow(settings.parse_package_names(words.get("DEPESCHE_GAMES", "")))


if __name__ == "__main__":
    sys.exit(main())
