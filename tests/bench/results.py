"""Run the benches and store their figures: RESULTS.md with machine, date and load, and charts as SVG.

`python -m tests.bench.results` runs those that hold a speed against a reference or a budget, in ten minutes on a quiet
machine; names run these alone, and `all` runs all, which takes an hour. A bench that hangs is broken off.
"""

import inspect
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from service.commands import benches
from service.commands.bench import _describe, _format_line, _format_number
from tests.bench.chart_svg import CHARTS, Chart, Series

FOLDER = Path(__file__).parent
RUNS_FILE, PAGE_FILE, CHARTS_FOLDER = FOLDER / "results.jsonl", FOLDER / "RESULTS.md", FOLDER / "charts"
TABLES = re.compile(r"([\d,]+) tables stored")
LOAD_CHECK_S = 2.0  # how long the load of the machine is measured before each bench
BENCH_MAX_S, CLEAN_UP_S = 240.0, 20.0  # of a bench; then it is broken off
MAX_LOAD = 0.25  # the share of the machine that other processes may take while figures are judged
ALL = "all"
# Run by name, or by `ARGS=all`: they take minutes each, need packages of others, or add curves to figures of others.
LONG_BENCHES = frozenset(
    "cost_by_length events_beside_eventsourcing latency_under_load moves_beside_boardgame_io open_pages stored_tables "
    "thinking throughput_by_workers verdict_beside_bots_embedded verdict_beside_bots_production".split()
)
KEYS = (
    "bench",
    "busy",
    "what",
    "value",
    "unit",
    "at_most",
    "ratio",
    "kept",
)  # keys of a figure; one more names what it is compared with
INTRODUCTION = (
    "# Results of the benches",
    "",
    "Written by `make bench`: the newest figures of each bench, and the ones before. A figure is judged only if other",
    "processes took less than a quarter of the machine just before it was measured. Figures that are *not judged* can",
    "only be compared with others of the same bench.",
)
Run = dict[str, Any]


def measure_load(seconds: float = LOAD_CHECK_S) -> float:
    """Return the share of the processors that other processes take; this one is idle meanwhile."""
    before = _read_ticks()
    time.sleep(seconds)
    idle, whole = (after - earlier for earlier, after in zip(before, _read_ticks(), strict=True))
    return 1 - idle / whole if whole else 0.0


def _read_ticks() -> tuple[int, int]:
    """Return the idle ticks of the processors, and all ticks."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().partition("\n")[0].split()[1:]]
    return ticks[3] + ticks[4], sum(ticks[:8])


def describe_machine() -> dict[str, str]:
    """Describe the machine that the figures are measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} x {model}",
        "memory": f"{memory:.0f} GB",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}",
    }


def read_commit() -> str:
    git = subprocess.run(["git", "-C", str(FOLDER), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return git.stdout.strip() or "unknown"


def run_bench(name: str) -> Iterator[Run]:
    """Run a bench in a process of its own; yield its figures with the load before it, and at the end a failure."""
    busy = measure_load()
    print(f"-- {name} (others take {busy:.0%} of the machine)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures.jsonl")
        failure = run_aside([sys.executable, "-m", __spec__.name, "--aside", name, str(file)], BENCH_MAX_S)
        figures = file.read_text().splitlines() if file.exists() else []
    yield from ({"bench": name, "busy": round(busy, 2), **json.loads(figure)} for figure in figures)
    if failure:  # the other benches go on
        print(f"{name} was broken off: {failure}", flush=True)
        yield {"bench": name, "busy": round(busy, 2), "what": f"broken off: {failure}", "value": None}


def run_aside(command: Sequence[str], seconds: float) -> str:
    """Run a command in a session of its own; return why it failed, or nothing. What it started ends with it."""
    process = subprocess.Popen(command, start_new_session=True, cwd=FOLDER.parents[1])
    try:
        code = process.wait(seconds)
        return f"it ended with {code}" if code else ""
    except subprocess.TimeoutExpired:
        return f"it took more than {seconds:.0f} s"
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # so that it stops its servers
            with suppress(subprocess.TimeoutExpired):
                process.wait(CLEAN_UP_S)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def write_figures(name: str, file: Path) -> None:
    """Run a bench in this process, and write each figure to the file as soon as it is known."""
    for measure in benches.find_benches()[name]():
        print(_format_line(measure), flush=True)
        with file.open("a") as figures:
            figures.write(f"{json.dumps(_describe(measure))}\n")


def format_page(runs: Sequence[Run]) -> str:
    """Format the newest figures of each bench with their machine, and the figure before each."""
    newest = {one["bench"]: run for run in runs for one in run["measures"]}
    lines = [*INTRODUCTION, ""]
    for bench, run in newest.items():
        lines += _section(bench, run, runs[: runs.index(run)])
    charts = sorted(path.stem for path in CHARTS_FOLDER.glob("*.svg"))
    return "\n".join([*lines, "## Curves", "", *(f"![{name}](charts/{name}.svg)\n" for name in charts)])


def _section(bench: str, run: Run, before: Sequence[Run]) -> list[str]:
    measures = [one for one in run["measures"] if one["bench"] == bench]
    busy, function = measures[0]["busy"], benches.find_benches().get(bench)
    judged = "" if busy < MAX_LOAD else "; **not judged**"
    about = (inspect.getdoc(function) or "") if function else "This bench is gone."
    where = ", ".join(run["machine"].values())
    lines = [f"## {bench}", "", about, f"{run['date']} at {run['commit']}; {where}."]
    lines += [f"Others took {busy:.0%} of the machine (load average {run['load']:.1f}){judged}.", ""]
    lines += ["| what | figure | held against | ratio | before |", "|---|---|---|---|---|"]
    return [*lines, *(_row(one, before) for one in measures), ""]


def _row(one: Run, before: Sequence[Run]) -> str:
    if one["value"] is None:
        return f"| {one['what']} | | | | |"
    source = next(key for key in one if key not in KEYS)
    side = ("at most " if one["at_most"] else "at least ") if source == "budget" else f"{source} "
    against = "" if one["ratio"] is None else f"{side}{_format_number(one[source])}"
    missed = " **missed**" if one["busy"] < MAX_LOAD and not one["kept"] else ""
    ratio = "" if one["ratio"] is None else f"{one['ratio']:.2f}{missed}"
    value = f"{_format_number(one['value'])} {one['unit']}"
    return f"| {one['what']} | {value} | {against} | {ratio} | {_previous(one, before)} |"


def _previous(one: Run, runs: Sequence[Run]) -> str:
    """Return the same figure of the last run that has it, and its day."""
    for run in reversed(runs):
        for other in run["measures"]:
            if (other["bench"], other["what"]) == (one["bench"], one["what"]) and other["value"] is not None:
                return f"{_format_number(other['value'])} ({run['date'][:10]})"
    return ""


def store(run: Run) -> None:
    """Store the figures of one bench at once, because a later bench can fail."""
    with RUNS_FILE.open("a") as file:
        file.write(f"{json.dumps(run)}\n")
    CHARTS_FOLDER.mkdir(exist_ok=True)
    stored = [(one["value"], TABLES.search(one["what"])) for one in run["measures"] if one["bench"] == "stored_tables"]
    if points := [(float(match[1].replace(",", "")), value) for value, match in stored if match]:
        CHARTS["stored"] = Chart(
            "Cost of a move against stored tables", "tables", "ms", (Series("", tuple(points)),), True
        )
    for name, chart in CHARTS.items():
        (CHARTS_FOLDER / f"{name}.svg").write_text(chart.svg())
    PAGE_FILE.write_text(format_page([json.loads(line) for line in RUNS_FILE.read_text().splitlines()]))


def main(names: Sequence[str]) -> int:
    all_benches, figures, start = benches.find_benches(), list[Run](), time.monotonic()
    chosen = {"": [name for name in all_benches if name not in LONG_BENCHES], ALL: list(all_benches)}
    names = chosen.get(" ".join(names), names)
    if unknown := [name for name in names if name not in all_benches]:
        print(f"There is no bench {', '.join(unknown)}; the benches are: {', '.join(all_benches)}.", file=sys.stderr)
        return 2
    for name in names:
        run: Run = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "commit": read_commit()}
        run |= {"machine": describe_machine(), "load": os.getloadavg()[0], "measures": list(run_bench(name))}
        store(run)
        figures += run["measures"]
    judged = [one for one in figures if one["busy"] < MAX_LOAD]
    missed = [one["what"] for one in judged if one["value"] is None or not one["kept"]]
    print(f"{PAGE_FILE} has it all; judged: {len(judged)} of {len(figures)} figures")
    print(f"{len(names)} benches took {time.monotonic() - start:.0f} s")
    print("".join(f"MISSED: {one}\n" for one in missed), end="")
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--aside"]:
        write_figures(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
