"""Public draws: which round of a beacon an entry waits for, and whether a log keeps to those rounds.

A beacon publishes a signature of each round's number every few seconds; it cannot be known before its time. The engine
fetches nothing: rounds are values, and a function that the caller passes verifies their signatures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from engine.log import Export
from engine.refusal import Refused

KEY = re.compile("[0-9a-f]{192}")
SIGNATURE = re.compile("[0-9a-f]{96}")
NUMBER = re.compile("0|[1-9][0-9]{0,14}")
ROUND_EVENTS = frozenset(
    f"table.{name}" for name in ("RoundNamed", "RoundDrawn", "SealAsked", "SealAgreed", "WentSealed")
)
AHEAD_ROUNDS = 2  # the next round may be published already if a clock is a little slow

VerifySignature = Callable[[str, int, str], bool]
"""Whether a signature is that of the beacon with this public key for the round of this number."""


class Beacon(Struct, frozen=True):
    """A chain of rounds: its public key, the time of the first round, and the seconds between two rounds."""

    key: str
    genesis: int
    period: int

    def find_next_round(self, at: int) -> int:
        """Return the round for a command that is accepted at this time; it comes one to two periods later.

        Rounds are counted from 1: long before the first one, this is round 1.
        """
        present_round = (at - self.genesis) // self.period + 1
        return max(1, present_round + AHEAD_ROUNDS)

    def time_of(self, round: int) -> int:  # noqa: A002  # the beacon's own word
        """Return the time of a round."""
        return self.genesis + (round - 1) * self.period


def parse(words: Mapping[str, str]) -> Beacon | None:
    """Return the beacon that an opening names, or None if the table's draws are sealed."""
    if not words:
        return None
    key, genesis, period = (words.get(name, "") for name in ("key", "genesis", "period"))
    valid = len(words) == 3 and KEY.fullmatch(key) and NUMBER.fullmatch(genesis) and NUMBER.fullmatch(period)
    if not valid or period == "0":
        raise Refused("Write a beacon as beacon.key=, beacon.genesis= and beacon.period=, each once.")
    return Beacon(key, int(genesis), int(period))


def make_words(beacon: Beacon) -> dict[str, str]:
    """Return the words by which an opening names the beacon."""
    return {"key": beacon.key, "genesis": str(beacon.genesis), "period": str(beacon.period)}


class RoundFault(NamedTuple):
    """An entry that does not keep to its round, and why, in a sentence."""

    seq: int
    sentence: str


def find_faults(export: Export, verify_signature: VerifySignature | None) -> Iterator[RoundFault]:
    """Yield the entries that name the wrong round, draw by another round than was named, or draw by none.

    Without `verify_signature`, no signature is checked. `expected` is the round that was named and is not drawn yet.
    """
    try:
        beacon = parse(export.opening.get("beacon", {}))
    except (Refused, AttributeError, TypeError):  # a log from outside may have anything there
        yield RoundFault(0, "The table was opened with a beacon that is not told right.")
        return
    expected: int | None = None
    for seq, exported in enumerate(export.entries):
        events = exported.entry["events"]
        begins_with_round = bool(events) and events[0]["type"] in ROUND_EVENTS
        if beacon is None and not begins_with_round:
            continue  # most entries of most logs
        events_by_type = {str(event["type"]): event for event in events}
        if named := events_by_type.get("table.RoundNamed"):
            if why := _find_wrong_naming(beacon, expected, named, exported.entry):
                yield RoundFault(seq, f"Entry {seq} {why}.")
            expected = named.get("round")
        elif drawn := events_by_type.get("table.RoundDrawn"):
            if why := _find_wrong_round(beacon, expected, drawn, verify_signature):
                yield RoundFault(seq, f"Entry {seq} {why}.")
            expected = None
        elif "table.WentSealed" in events_by_type:
            if beacon is None or expected is None:
                yield RoundFault(seq, f"Entry {seq} goes on sealed, though no round is waited for.")
            beacon = expected = None
        elif beacon and any(map(_is_uncertain, exported.entry["draws"])):
            yield RoundFault(seq, f"Entry {seq} draws without a round of the beacon, though its table draws in public.")


def _is_uncertain(draw: Any) -> bool:
    """Whether a draw has more than one possible result; other checks find a value that is no draw."""
    match draw:
        case [_, int(size), _]:
            return size > 1
    return False


def _find_wrong_naming(
    beacon: Beacon | None, expected: int | None, named: dict[str, Any], entry: dict[str, Any]
) -> str:
    """Return what is wrong with an entry that names a round; empty if nothing is."""
    if beacon is None:
        return "names a round, though its table knows no beacon"
    if expected is not None:
        return "names a round while another one is waited for"
    if entry["draws"] or len(entry["events"]) > 1:
        return "names a round, and yet more happens"
    due = beacon.find_next_round(entry["at"])
    return "" if named.get("round") == due else f"names round {named.get('round')}, and its time asks for {due}"


def _find_wrong_round(
    beacon: Beacon | None, expected: int | None, drawn: dict[str, Any], verify_signature: VerifySignature | None
) -> str:
    """Return what is wrong with the round that an entry draws by; empty if nothing is."""
    number, signature = drawn.get("round"), drawn.get("signature")
    if beacon is None or expected is None:
        return "draws by a round that no entry named"
    if number != expected:
        return f"draws by round {number}, and round {expected} was named"
    if not isinstance(signature, str) or not SIGNATURE.fullmatch(signature):
        return "has no signature of 96 small hexadecimal digits"
    if verify_signature and not verify_signature(beacon.key, expected, signature):
        return f"draws by a signature that is not the beacon's for round {number}"
    return ""


def count_rounds(export: Export) -> int:
    """Return how many rounds of a beacon the log draws by."""
    if "beacon" not in export.opening:
        return 0
    events = (event for exported in export.entries for event in exported.entry["events"])
    return sum(event["type"] == "table.RoundDrawn" for event in events)
