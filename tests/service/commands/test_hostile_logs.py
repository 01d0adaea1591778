"""Logs made to hurt: every command answers in a second and a bounded memory, and never with a traceback."""

import contextlib
import copy
import io
import json
import multiprocessing
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service import cli
from tests.engine.mutants import reseal

GOLDEN = Path(__file__).parents[2] / "golden"
MAX_CPU_S = 5.0  # of processor time for one log; an idle machine takes one second
MEMORY_BYTES = 512 * 2**20  # more than this process has
COMMANDS = ("replay", "audit", "import")
HUGE = 10**9
LEAVES: tuple[Any, ...] = (
    HUGE, -1, 2**63, 10**40, True, None, "", "x" * 100_000, "\x1b[2J\x00", "\ud800", 1.5, [], {}, [[]], [HUGE] * 3,
)  # fmt: skip
Plain = dict[str, Any]


@pytest.mark.parametrize(
    "step", [pytest.param(4, marks=pytest.mark.release), pytest.param(1, marks=pytest.mark.soak)], ids=["some", "all"]
)
def test_no_hostile_log_costs_time_memory_or_a_traceback(tmp_path: Path, step: int) -> None:
    """In a process of its own, for its memory is bounded; the places of an entry in turn, and only in a soak all."""
    process = multiprocessing.get_context("fork").Process(target=_attack, args=(tmp_path, step))
    process.start()
    process.join(100)
    process.kill()
    process.join(10)
    faults = (tmp_path / "faults").read_text() if (tmp_path / "faults").exists() else "nothing was tried"
    assert (process.exitcode, faults) == (0, "")


def _attack(folder: Path, step: int) -> None:
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY_BYTES, size + MEMORY_BYTES))
    os.environ["DEPESCHE_FOLDER"] = str(folder / "app")
    with (folder / "faults").open("w", buffering=1) as faults:
        for name, content in hostile(step):
            faults.writelines(f"{fault}\n" for fault in _find_faults(folder, name, content))


def _find_faults(folder: Path, name: str, content: bytes) -> Iterator[str]:
    file = folder / "log.json"
    file.write_bytes(content)
    for command in COMMANDS:
        began, out, err = time.process_time(), io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                cli.main([command, str(file)])
        except BaseException as fault:
            yield f"{command} {name}: {fault!r}"
        spent, output = time.process_time() - began, out.getvalue() + err.getvalue()
        if (
            "MemoryError" in output
            or "Traceback" in output
            or "fault of ours" in output
            or "\x1b" in output
            or len(err.getvalue()) > 2_000
        ):
            yield f"{command} {name}: {output[:300]!r}"
        if spent > MAX_CPU_S:
            yield f"{command} {name}: {spent:.1f} s"


def hostile(step: int) -> Iterator[tuple[str, bytes]]:
    """Yield a short game with each value of its first entries changed, sealed again or not, and near-JSON."""
    plain: Plain = msgspec.json.decode((GOLDEN / "kaiser" / "two_adjacent.json").read_bytes())
    yield from _list_oversized(plain)
    for number, way in list(enumerate(_ways(plain)))[::step]:
        value = LEAVES[number % len(LEAVES)]
        changed = _replace_value(plain, way, copy.deepcopy(value))
        if way[0] == "entries":
            with contextlib.suppress(Exception):  # a log that cannot be sealed again is tried as it is
                reseal(changed)
        yield f"{way} = {value!r:.40}", _json(changed)
    yield from (
        ("deep lists", b"[" * 200_000),
        ("deep structs", b'{"entries":' * 100_000),
        ("deep inside", _json(plain).replace(b'"draws":[]', b'"draws":' + b"[" * 50_000 + b"]" * 50_000, 1)),
        ("a number of a million digits", _json(plain).replace(b'"seq":0', b'"seq":' + b"9" * 1_000_000, 1)),
        ("NaN", _json(plain).replace(b'"seq":0', b'"seq":NaN', 1)),
        ("1e999", _json(plain).replace(b'"seq":0', b'"seq":1e999', 1)),
        ("a key twice", _json(plain).replace(b'"seq":0', b'"seq":0,"seq":1', 1)),
        ("no UTF-8", _json(plain).replace(b"kaiser", b"\xff\xfe", 1)),
        ("nothing", b""),
        ("many entries", _json({**plain, "entries": plain["entries"][:1] * 20_000})),
    )


def _list_oversized(plain: Plain) -> Iterator[tuple[str, bytes]]:
    """Numbers that would fill memory where they were believed."""
    opened, started = ("entries", 0, "entry"), ("entries", 3, "entry")
    move = plain["entries"][0]["entry"]["move"]
    for way, value in (
        ((*opened, "events", 0, "seats"), HUGE),
        ((*opened, "move"), move.replace("open kaiser 2", f"open kaiser {HUGE}")),
        ((*opened, "events", 0, "options", "rounds"), HUGE),
        (("entries", 1, "entry", "events", 0, "seat"), HUGE),
        ((*started, "draws"), [["start player", HUGE, HUGE - 1]]),
        ((*started, "draws"), [["start player", 2, 1]] * 100_000),
        ((*started, "events"), [{"type": "table.Started"}] * 100_000),
        ((*opened, "edition"), HUGE),
    ):
        changed = _replace_value(plain, way, value)
        reseal(changed)
        yield f"{way} beyond measure", _json(changed)


def _ways(plain: Plain) -> list[tuple[Any, ...]]:
    """Every place of the head, and of the first entries that differ in kind."""
    shown = {**plain, "entries": plain["entries"][:5]}
    return [way for way in _places(shown) if way != ()]


def _places(value: Any) -> Iterator[tuple[Any, ...]]:
    yield ()
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inside:
        yield from ((name, *way) for way in _places(part))


def _replace_value(plain: Plain, way: tuple[Any, ...], value: Any) -> Plain:
    changed = copy.deepcopy(plain)
    place: Any = changed
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = value
    return changed


def _json(plain: Any) -> bytes:
    """Encode as Python does, with halves of characters."""
    return json.dumps(plain).encode()
