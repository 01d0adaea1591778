"""The command that opens a table, word by word: seats, commitment, options, clock, name, beacon."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from engine import beacon as beacons
from engine import game as games
from engine import options as choices
from engine.game import Game
from engine.refusal import Refused
from engine.table_events import Opened

COMMITMENT = re.compile("[0-9a-f]{64}")
CLOCK_WORD = re.compile("[a-z_]{1,20}=[a-z0-9_]{1,20}")
NAME = re.compile("[0-9A-Za-z_-]{1,40}")


def opened(game: Game, number: str, commitment: str, chosen: Sequence[str]) -> Opened:
    """The table that these words open; refused where they open none."""
    if not COMMITMENT.fullmatch(commitment):
        raise Refused("A table is opened with the commitment to its seed, 64 hexadecimal digits.")
    seats = int(number) if re.fullmatch("[0-9]{1,3}", number) else 0
    rest, ticking = _under("clock.", chosen)
    rest, named = _under("table.", rest)
    rest, lit = _under("beacon.", rest)
    if not all(map(CLOCK_WORD.fullmatch, ticking)):
        raise Refused("A table’s clock is told in plain words, such as clock.pace=86400.")
    options = choices.read(game.META.options, dict(map(_pair, rest)))
    why = games.objection(game, options, seats)
    if why:
        raise why
    plain, clock, beacon = msgspec.to_builtins(options), dict(map(_pair, ticking)), dict(map(_pair, lit))
    beacons.read(beacon)
    return Opened(game.META.name, game.META.edition, seats, commitment, plain, clock, _name(named), beacon)


def _under(prefix: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The other words, and those that begin so, without their beginning."""
    under = [word.removeprefix(prefix) for word in words if word.startswith(prefix)]
    return [word for word in words if not word.startswith(prefix)], under


def _name(words: Sequence[str]) -> str:
    """What the table is called, if that is said."""
    match [_pair(word) for word in words]:
        case []:
            return ""
        case [("name", name)] if NAME.fullmatch(name):
            return name
    raise Refused("A table’s name is told once and in plain letters and digits, such as table.name=1f3a.")


def _pair(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value
