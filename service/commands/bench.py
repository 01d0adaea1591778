"""`depesche bench`: measured speeds beside their budgets."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from service.commands import terminal
from service.commands.terminal import FINE, WRONG, Misuse, Parser, Subparsers, add_command, add_json

if TYPE_CHECKING:
    from service.commands.benches import Measure


MAX_LOAD = 0.75  # of each core; above it other processes disturb the figures


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `bench`."""
    parser = add_command(
        subparsers,
        "bench",
        run_bench,
        "Measure what has a budget: a ratio below 1 misses it, with exit status 1. A busy machine is not judged.",
        "depesche bench",
        "depesche bench rebuild audit --json",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these (all unless given)")
    parser.add_argument("--list", action="store_true", help="list the measurements")
    add_json(parser)


def run_bench(args: Namespace) -> int:
    """Measure and print; the exit status tells of a missed budget, unless the machine was too busy to judge."""
    from service.commands import benches
    from service.commands.benches import Measure

    functions = benches.find_benches()
    for name in args.names:
        if name not in functions:
            raise Misuse(f"There is no bench “{name}”; the benches are: {', '.join(functions)}.")
    chosen = {name: functions[name] for name in args.names or functions}
    if args.list:
        print("\n".join(f"{name}: {function.__doc__}" for name, function in chosen.items()))
        return FINE
    load = measure_load()
    measures = list[Measure]()
    for function in chosen.values():
        for measure in function():
            measures.append(measure)
            if not args.json:
                print(_format_line(measure), flush=True)
    if args.json:
        terminal.print_json([_describe(measure) for measure in measures])
    meets_budget = all(measure.meets_budget for measure in measures)
    if load >= MAX_LOAD:
        terminal.print_error(
            f"Not judged: when this began, {load:.1f} processes wanted each core. Measure again when it is quiet."
        )
        return FINE
    return FINE if meets_budget else WRONG


def measure_load() -> float:
    """Return how many processes wanted each core in the last minute, on average."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _describe(measure: Measure) -> dict[str, Any]:
    """Return a measure as the JSON that the command prints."""
    return {
        "what": measure.what,
        "value": measure.value,
        "unit": measure.unit,
        measure.source: measure.budget,  # “budget” or “peer”
        "at_most": measure.at_most,
        "ratio": measure.ratio,
        "kept": measure.meets_budget,
    }


def _format_line(measure: Measure) -> str:
    """Write a measure on one line, with what it is compared to, and whether it misses its budget."""
    line = f"{measure.what:<42}{_format_number(measure.value):>12} {measure.unit:<10}"
    budget, ratio = measure.budget, measure.ratio
    if budget is None or ratio is None:  # without a budget there is no ratio
        return line.rstrip()
    reference = measure.source
    if measure.source == "budget":
        reference = "at most" if measure.at_most else "at least"
    missed = "" if measure.meets_budget else "  MISSED"
    return f"{line}{reference:>9} {_format_number(budget):>10}   ratio {ratio:6.2f}{missed}"


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.2f}"
