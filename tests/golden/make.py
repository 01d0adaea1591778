"""Makes golden logs: exported finished games that are stored, so that no later change can alter the past.

    python -m tests.golden.make GAME [NAME ...]

writes `tests/golden/GAME/NAME.json` for every plan of the game, or for those named. The file
`tests/golden/GAME/plans.toml` has the plans; a game without it gets one for each number of seats. An existing golden
log is never replaced: delete it first, and say in the commit why the past had to change.
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
from tests.engine.ledger import Ledger, abandon, play_eventfully, start_table

FOLDER = Path(__file__).parent
MAX_FILE_BYTES = 300_000


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """A table: its seats, options and clock, and the number of random moves before all players leave.

    `restless` is the rate of events of time, `public` says that its draws wait for a beacon.
    """

    name: str
    seats: int
    options: dict[str, str] = {}
    clock: dict[str, str] = {}
    moves: int = 1_000_000
    restless: float = 0.0
    public: bool = False


def load_plans(game: Any) -> tuple[Plan, ...]:
    """Load the plans of a game, or make one for each number of seats."""
    path = FOLDER / game.META.name / "plans.toml"
    if not path.exists():
        return tuple(Plan(f"{seats}_seats", seats) for seats in game.META.seats)
    return msgspec.convert(tomllib.loads(path.read_text("utf-8"))["plan"], tuple[Plan, ...])


def play(game: Any, plan: Plan) -> Ledger:
    """Play the whole table of a plan; the result is the same every time."""
    name = f"{game.META.name} {plan.name}"
    seed, beacon = name.encode().ljust(32, b".")[:32], BEACON if plan.public else None
    ledger = start_table(game, plan.seats, plan.options.items(), seed, plan.clock, beacon)
    return abandon(play_eventfully(ledger, Random(name), plan.moves, plan.restless))


def load(game: str, name: str) -> Export:
    """Load a golden log."""
    return load_file(FOLDER / game / f"{name}.json")


def load_file(path: Path) -> Export:
    """Load an exported log without a check."""
    return msgspec.json.decode(path.read_bytes(), type=Export)


def format_file(ledger: Ledger) -> bytes:
    """Return the export as a file: small, but with one entry in each line."""
    return msgspec.json.encode(ledger.export()).replace(b'{"digest"', b'\n{"digest"') + b"\n"


def main(name: str, *names: str) -> None:
    game, folder = catalogue.find(name), FOLDER / name
    folder.mkdir(exist_ok=True)
    for plan in load_plans(game):
        path = folder / f"{plan.name}.json"
        if path.exists() or (names and plan.name not in names):
            continue
        content = format_file(play(game, plan))
        if len(content) > MAX_FILE_BYTES:
            raise SystemExit(f"{path.name} would be {len(content)} bytes; give the plan fewer moves")
        path.write_bytes(content)
        print(f"{path.relative_to(FOLDER)}: {len(content)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
