"""Runs the benches and keeps what they found: RESULTS.md with machine, date and load, and curves as SVG beside it."""

import inspect
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from service import benches
from service.commands.bench import _described, _figure, _line
from tests.bench.drawing import DRAWN, Chart, Series

HERE = Path(__file__).parent
KEPT, PAGE, CHARTS = HERE / "results.jsonl", HERE / "RESULTS.md", HERE / "charts"
TABLES = re.compile(r"([\d,]+) tables stored")
LOOK = 2.0  # seconds that the machine is looked at before each bench
LOADED = 0.25  # of the machine's time; what others take then is missing in the figures
WORDS = ("bench", "busy", "what", "value", "unit", "at_most", "ratio", "kept")  # of a figure; one more is its yardstick
ABOUT = (
    "# Results of the benches",
    "",
    "Made by `make bench`: the newest figures of each bench, and beside them the ones before. A figure is judged only",
    "where others took less than a quarter of the machine just before it was measured; where they took more, it says",
    "*not judged*, and is worth something only beside others of the same bench.",
)
Run = dict[str, Any]


def taken(seconds: float = LOOK) -> float:
    """The share of the processors that others take just now: before a bench, when we ourselves do nothing."""
    before = _times()
    time.sleep(seconds)
    idle, whole = (after - earlier for earlier, after in zip(before, _times(), strict=True))
    return 1 - idle / whole if whole else 0.0


def _times() -> tuple[int, int]:
    """Ticks in which the processors had nothing to do, and all."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().partition("\n")[0].split()[1:]]
    return ticks[3] + ticks[4], sum(ticks[:8])


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} x {model}",
        "memory": f"{memory:.0f} GB",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}",
    }


def commit() -> str:
    said = subprocess.run(["git", "-C", str(HERE), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return said.stdout.strip() or "unknown"


def measured(name: str) -> Iterator[Run]:
    """The figures of this bench, with what others took of the machine before it; one that fails says so."""
    busy = taken()
    print(f"-- {name} (others take {busy:.0%} of the machine)", flush=True)
    try:
        for measure in benches.found()[name]():
            print(_line(measure), flush=True)
            yield {"bench": name, "busy": round(busy, 2), **_described(measure)}
    except Exception as error:  # the others are measured all the same
        print(f"{name} was broken off: {error!r}", flush=True)
        yield {"bench": name, "busy": round(busy, 2), "what": f"broken off: {type(error).__name__}", "value": None}


def page(runs: Sequence[Run]) -> str:
    """The newest figures of each bench, with the machine they come from, and beside each the one before it."""
    newest = {one["bench"]: run for run in runs for one in run["measures"]}
    lines = [*ABOUT, ""]
    for bench, run in newest.items():
        lines += _section(bench, run, runs[: runs.index(run)])
    charts = sorted(path.stem for path in CHARTS.glob("*.svg"))
    return "\n".join([*lines, "## Curves", "", *(f"![{name}](charts/{name}.svg)\n" for name in charts)])


def _section(bench: str, run: Run, before: Sequence[Run]) -> list[str]:
    measures = [one for one in run["measures"] if one["bench"] == bench]
    busy, function = measures[0]["busy"], benches.found().get(bench)
    judged = "" if busy < LOADED else "; **not judged**"
    about = (inspect.getdoc(function) or "") if function else "This bench is gone."
    where = ", ".join(run["machine"].values())
    lines = [f"## {bench}", "", about, f"{run['date']} at {run['commit']}; {where}."]
    lines += [f"Others took {busy:.0%} of the machine (load average {run['load']:.1f}){judged}.", ""]
    lines += ["| what | figure | held against | ratio | before |", "|---|---|---|---|---|"]
    return [*lines, *(_row(one, before) for one in measures), ""]


def _row(one: Run, before: Sequence[Run]) -> str:
    if one["value"] is None:
        return f"| {one['what']} | | | | |"
    source = next(key for key in one if key not in WORDS)
    side = ("at most " if one["at_most"] else "at least ") if source == "budget" else f"{source} "
    against = "" if one["ratio"] is None else f"{side}{_figure(one[source])}"
    missed = " **missed**" if one["busy"] < LOADED and not one["kept"] else ""
    ratio = "" if one["ratio"] is None else f"{one['ratio']:.2f}{missed}"
    return f"| {one['what']} | {_figure(one['value'])} {one['unit']} | {against} | {ratio} | {_before(one, before)} |"


def _before(one: Run, runs: Sequence[Run]) -> str:
    """The same figure in the last run that had it, and its day."""
    for run in reversed(runs):
        for other in run["measures"]:
            if (other["bench"], other["what"]) == (one["bench"], one["what"]) and other["value"] is not None:
                return f"{_figure(other['value'])} ({run['date'][:10]})"
    return ""


def keep(run: Run) -> None:
    """Write it down at once: a later bench may be broken off."""
    with KEPT.open("a") as kept:
        kept.write(f"{json.dumps(run)}\n")
    CHARTS.mkdir(exist_ok=True)
    stored = [(one["value"], TABLES.search(one["what"])) for one in run["measures"] if one["bench"] == "stored_tables"]
    if points := [(float(found[1].replace(",", "")), value) for value, found in stored if found]:
        DRAWN["stored"] = Chart(
            "Cost of a move against stored tables", "tables", "ms", (Series("", tuple(points)),), True
        )
    for name, chart in DRAWN.items():
        (CHARTS / f"{name}.svg").write_text(chart.svg())
    PAGE.write_text(page([json.loads(line) for line in KEPT.read_text().splitlines()]))


def main(names: Sequence[str]) -> int:
    known, found = benches.found(), list[Run]()
    if unknown := [name for name in names if name not in known]:
        print(f"There is no bench {', '.join(unknown)}; the benches are: {', '.join(known)}.", file=sys.stderr)
        return 2
    for name in names or list(known):
        run: Run = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "commit": commit()}
        run |= {"machine": machine(), "load": os.getloadavg()[0], "measures": list(measured(name))}
        keep(run)
        found += run["measures"]
    judged = [one for one in found if one["busy"] < LOADED]
    missed = [one["what"] for one in judged if one["value"] is None or not one["kept"]]
    print(f"{PAGE} has it all; judged: {len(judged)} of {len(found)} figures")
    print("".join(f"MISSED: {one}\n" for one in missed), end="")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
