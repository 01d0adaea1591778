"""`depesche scenario`: worked examples of the rules, checked."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from service.commands import terminal
from service.commands.terminal import FINE, MISUSE, WRONG, Misuse, Parser, Subparsers, add_command, add_json

if TYPE_CHECKING:
    from engine.scenario import Scenario

Verdict = Literal["holds", "fails", "unusable"]
STATUS: dict[Verdict, int] = {"holds": FINE, "fails": WRONG, "unusable": MISUSE}


class ScenarioResult(Struct, frozen=True):
    """The outcome of one file; the sentence is the reason if it does not hold."""

    file: str
    title: str
    verdict: Verdict
    sentence: str = ""


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `scenario`."""
    parser = add_command(
        subparsers,
        "scenario",
        run_scenarios,
        "Play worked examples of the rules (TOML or JSON) and check what they say.",
        "depesche scenario baikal_bar.toml",
        "depesche scenario --json examples/*.toml",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a scenario file; its format is in engine/README.md")
    add_json(parser)


def run_scenarios(args: Namespace) -> int:
    """Check each file and print its result; the exit status is that of the worst."""
    outcomes = [check_file(file) for file in args.files]
    if args.json:
        terminal.print_json(outcomes)
    for outcome in outcomes:
        if outcome.verdict == "unusable":
            terminal.print_error(outcome.sentence)
        elif not args.json:
            print(_format_outcome(outcome))
    if len(outcomes) > 1 and not args.json:
        counts = Counter(outcome.verdict for outcome in outcomes)
        parts = (f"{counts[verdict]} {verdict}" for verdict in STATUS if counts[verdict])
        print(f"{len(outcomes)} scenarios: {', '.join(parts)}")
    return max(STATUS[outcome.verdict] for outcome in outcomes)


def check_file(file: str) -> ScenarioResult:
    """Load and run one scenario file."""
    from engine import scenario as scenarios

    try:
        scenario = _load(file)
    except Misuse as misuse:
        return ScenarioResult(file, title="", verdict="unusable", sentence=str(misuse))
    try:
        scenarios.run(scenario)
    except scenarios.Invalid as misfit:
        return ScenarioResult(file, scenario.title, "unusable", f"{file} is not a scenario: {misfit}")
    except scenarios.Failed as failed:
        return ScenarioResult(file, scenario.title, "fails", str(failed))
    except Exception as fault:
        return ScenarioResult(file, scenario.title, "fails", f"the rules broke down: {type(fault).__name__}: {fault}")
    return ScenarioResult(file, scenario.title, "holds")


def _load(file: str) -> Scenario:
    """Load a scenario from a file; raise Misuse if it is none."""
    from engine import scenario as scenarios

    try:
        return scenarios.load(Path(file), terminal.read_file(file).decode())
    except scenarios.Failed as failed:
        raise Misuse(f"{failed}.") from failed
    except (UnicodeDecodeError, RecursionError) as error:
        raise Misuse(f"{file} is not a scenario: it is no readable text.") from error


def _format_outcome(outcome: ScenarioResult) -> str:
    """Write on one line whether a scenario holds, and if not, why."""
    name = f"{outcome.file}: {outcome.title}" if outcome.title else outcome.file
    return f"ok     {name}" if outcome.verdict == "holds" else f"FAILED {name}: {outcome.sentence}"
