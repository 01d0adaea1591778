"""`depesche scenario`: worked examples of the rules, checked."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from service.commands import terminal
from service.commands.terminal import FINE, MISUSED, WRONG, Misuse, Parser, Subparsers, add_command, add_json

if TYPE_CHECKING:
    from engine.scenario import Scenario

Verdict = Literal["holds", "fails", "unusable"]
STATUS: dict[Verdict, int] = {"holds": FINE, "fails": WRONG, "unusable": MISUSED}


class Outcome(Struct, frozen=True):
    """What became of one file; the sentence says why where it does not hold."""

    file: str
    title: str
    verdict: Verdict
    sentence: str = ""


def add(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "scenario",
        scenario,
        "Play worked examples of the rules (TOML or JSON) and check what they say.",
        "depesche scenario baikal_bar.toml",
        "depesche scenario --json examples/*.toml",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a scenario file; its format is in engine/README.md")
    add_json(parser)


def scenario(args: Namespace) -> int:
    outcomes = [outcome(file) for file in args.files]
    if args.json:
        terminal.print_json(outcomes)
    for found in outcomes:
        if found.verdict == "unusable":
            terminal.complain(found.sentence)
        elif not args.json:
            print(_line(found))
    if len(outcomes) > 1 and not args.json:
        counts = Counter(found.verdict for found in outcomes)
        told = (f"{counts[verdict]} {verdict}" for verdict in STATUS if counts[verdict])
        print(f"{len(outcomes)} scenarios: {', '.join(told)}")
    return max(STATUS[found.verdict] for found in outcomes)


def outcome(file: str) -> Outcome:
    """Load and run one file."""
    from engine import scenario as scenarios

    try:
        found = _loaded(file)
    except Misuse as misuse:
        return Outcome(file, "", "unusable", str(misuse))
    try:
        scenarios.run(found)
    except scenarios.Invalid as misfit:
        return Outcome(file, found.title, "unusable", f"{file} is not a scenario: {misfit}")
    except scenarios.Failed as failed:
        return Outcome(file, found.title, "fails", str(failed))
    except Exception as fault:
        return Outcome(file, found.title, "fails", f"the rules broke down: {type(fault).__name__}: {fault}")
    return Outcome(file, found.title, "holds")


def _loaded(file: str) -> Scenario:
    from engine import scenario as scenarios

    try:
        return scenarios.load(Path(file), terminal.read(file).decode())
    except scenarios.Failed as failed:
        raise Misuse(f"{failed}.") from failed
    except (UnicodeDecodeError, RecursionError) as error:
        raise Misuse(f"{file} is not a scenario: it is no readable text.") from error


def _line(found: Outcome) -> str:
    named = f"{found.file}: {found.title}" if found.title else found.file
    return f"ok     {named}" if found.verdict == "holds" else f"FAILED {named}: {found.sentence}"
