"""Makes golden logs: finished games as they would be exported, kept so that no later change can alter the past.

    python -m tests.golden.make GAME [NAME ...]

writes `tests/golden/GAME/NAME.json` for every plan of the game, or for those named. Plans stand in
`tests/golden/GAME/plans.toml`; a game without that file gets one for each number of seats. A golden log that exists is
never made anew by accident: delete it first, and say in the commit why the past had to change.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from engine import catalogue
from engine.log import Export
from tests.beacons import BEACON
from tests.engine.ledger import Ledger, abandon, live_on, started

FOLDER = Path(__file__).parent
LARGEST = 300_000


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """A table to be played: its seats, options and clock, how many random moves it gets before everybody leaves, how
    often time brings something, and whether its draws wait for a public beacon."""

    name: str
    seats: int
    options: dict[str, str] = {}
    clock: dict[str, str] = {}
    moves: int = 1_000_000
    restless: float = 0.0
    public: bool = False


def plans(game: Any) -> tuple[Plan, ...]:
    """The plans of a game, or one for each number of seats."""
    path = FOLDER / game.META.name / "plans.toml"
    if not path.exists():
        return tuple(Plan(f"{seats}_seats", seats) for seats in game.META.seats)
    return msgspec.convert(tomllib.loads(path.read_text("utf-8"))["plan"], tuple[Plan, ...])


def play(game: Any, plan: Plan) -> Ledger:
    """The whole table, with everything that happens at one; the same for the same plan every time."""
    name = f"{game.META.name} {plan.name}"
    seed, beacon = name.encode().ljust(32, b".")[:32], BEACON if plan.public else None
    ledger = started(game, plan.seats, plan.options.items(), seed, plan.clock, beacon)
    return abandon(live_on(ledger, Random(name), plan.moves, plan.restless))


def kept(game: str, name: str) -> Export:
    """A golden log as it was written once."""
    return read(FOLDER / game / f"{name}.json")


def read(path: Path) -> Export:
    return msgspec.json.decode(path.read_bytes(), type=Export)


def body(ledger: Ledger) -> bytes:
    """The export as a file: small, yet an entry a line."""
    return msgspec.json.encode(ledger.export()).replace(b'{"digest"', b'\n{"digest"') + b"\n"


def main(name: str, *wanted: str) -> None:
    game, folder = catalogue.find(name), FOLDER / name
    folder.mkdir(exist_ok=True)
    for plan in plans(game):
        path = folder / f"{plan.name}.json"
        if path.exists() or (wanted and plan.name not in wanted):
            continue
        written = body(play(game, plan))
        if len(written) > LARGEST:
            raise SystemExit(f"{path.name} would be {len(written)} bytes; give the plan fewer moves")
        path.write_bytes(written)
        print(f"{path.relative_to(FOLDER)}: {len(written)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
