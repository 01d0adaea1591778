"""Public luck: which round of a beacon an entry has to wait for, and whether a log kept to that.

A beacon signs the number of a round every few seconds, and nobody knows a signature before it is there. The engine
fetches nothing: a round is a value that is handed in, and a function that knows the curve says whether it is signed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from engine.log import Export, opening
from engine.refusal import Refused

KEY = re.compile("[0-9a-f]{192}")
SIGNATURE = re.compile("[0-9a-f]{96}")
NUMBER = re.compile("0|[1-9][0-9]{0,14}")
OF_ROUNDS = frozenset(f"table.{name}" for name in ("RoundNamed", "RoundDrawn", "SealAsked", "SealAgreed", "WentSealed"))
AHEAD = 2  # rounds: the next one may exist already where a clock is a little slow
Signed = Callable[[str, int, str], bool]


class Beacon(Struct, frozen=True):
    """A chain of rounds: its public key, when the first round came, and how many seconds lie between two."""

    key: str
    genesis: int
    period: int

    def named(self, at: int) -> int:
        """The round for a command taken in at that moment; it comes one to two periods later."""
        return max(1, (at - self.genesis) // self.period + 1 + AHEAD)

    def due(self, round: int) -> int:  # noqa: A002  # the beacon's own word
        """When that round comes."""
        return self.genesis + (round - 1) * self.period


def read(told: Mapping[str, str]) -> Beacon | None:
    """The beacon that a table was opened with; None where its draws are sealed."""
    if not told:
        return None
    key, genesis, period = (told.get(name, "") for name in ("key", "genesis", "period"))
    whole = len(told) == 3 and KEY.fullmatch(key) and NUMBER.fullmatch(genesis) and NUMBER.fullmatch(period)
    if not whole or period == "0":
        raise Refused("A beacon is told by beacon.key=, beacon.genesis= and beacon.period=, each once.")
    return Beacon(key, int(genesis), int(period))


def words(beacon: Beacon) -> dict[str, str]:
    """The beacon as the opening of a table tells it."""
    return {"key": beacon.key, "genesis": str(beacon.genesis), "period": str(beacon.period)}


class Off(NamedTuple):
    """An entry that did not keep to its round."""

    seq: int
    sentence: str


def broken(export: Export, signed: Signed | None) -> Iterator[Off]:
    """The entries that name another round than they have to, draw by another than was named, or by none."""
    try:
        beacon = read(opening(export).get("beacon", {}))
    except (Refused, AttributeError, TypeError):
        yield Off(0, "The table was opened with a beacon that is not told right.")
        return
    awaited: int | None = None
    for seq, link in enumerate(export.entries):
        events = link.entry["events"]
        if not beacon and (not events or events[0]["type"] not in OF_ROUNDS):
            continue  # most entries of most logs
        kinds = {str(event["type"]): event for event in events}
        if named := kinds.get("table.RoundNamed"):
            if why := _misnamed(beacon, awaited, named, link.entry):
                yield Off(seq, f"Entry {seq} {why}.")
            awaited = named.get("round")
        elif drawn := kinds.get("table.RoundDrawn"):
            if why := _misdrawn(beacon, awaited, drawn, signed):
                yield Off(seq, f"Entry {seq} {why}.")
            awaited = None
        elif "table.WentSealed" in kinds:
            if beacon is None or awaited is None:
                yield Off(seq, f"Entry {seq} goes on sealed, though no round is waited for.")
            beacon = awaited = None
        elif beacon and any(map(_is_luck, link.entry["draws"])):
            yield Off(seq, f"Entry {seq} draws without a round of the beacon, though its table draws in public.")


def _is_luck(draw: Any) -> bool:
    """Whether a draw had more than one face; one that is no draw at all is found elsewhere."""
    match draw:
        case [_, int(size), _]:
            return size > 1
    return False


def _misnamed(beacon: Beacon | None, awaited: int | None, named: dict[str, Any], entry: dict[str, Any]) -> str:
    if beacon is None:
        return "names a round, though its table knows no beacon"
    if awaited is not None:
        return "names a round while another one is waited for"
    if entry["draws"] or len(entry["events"]) > 1:
        return "names a round, and yet more happens"
    due = beacon.named(entry["at"])
    return "" if named.get("round") == due else f"names round {named.get('round')}, and its time asks for {due}"


def _misdrawn(beacon: Beacon | None, awaited: int | None, drawn: dict[str, Any], signed: Signed | None) -> str:
    number, signature = drawn.get("round"), drawn.get("signature")
    if beacon is None or awaited is None:
        return "draws by a round that no entry named"
    if number != awaited:
        return f"draws by round {number}, and round {awaited} was named"
    if not isinstance(signature, str) or not SIGNATURE.fullmatch(signature):
        return "has no signature of 96 small hexadecimal digits"
    if signed and not signed(beacon.key, awaited, signature):
        return f"draws by a signature that is not the beacon's for round {number}"
    return ""


def rounds(export: Export) -> int:
    """How many rounds of a beacon this log draws by."""
    if "beacon" not in opening(export):
        return 0
    events = (event for link in export.entries for event in link.entry["events"])
    return sum(event["type"] == "table.RoundDrawn" for event in events)
