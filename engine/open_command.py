"""The command that opens a table: a line of words for seats, commitment, options, clock, name and beacon."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from engine import beacon as beacons
from engine import chance as chances
from engine import game as games
from engine.beacon import Beacon
from engine.game import Game
from engine.menu import Move
from engine.options import parse as parse_options
from engine.refusal import Refused
from engine.table_events import Opened

COMMITMENT = re.compile("[0-9a-f]{64}")
CLOCK_WORD = re.compile("[a-z_]{1,20}=[a-z0-9_]{1,20}")
TABLE_NAME = re.compile("[0-9A-Za-z_-]{1,40}")
NO_CLOCK: Mapping[str, str] = MappingProxyType({})


def make_open_command(
    game: Game,
    seats: int,
    seed: bytes,
    chosen: Mapping[str, Any],
    clock: Mapping[str, str] = NO_CLOCK,
    name: str = "",
    beacon: Beacon | None = None,
) -> Move:
    """Return the command that opens a table with these options; options that are not chosen have their defaults."""
    options = msgspec.to_builtins(parse_options(game.META.options, chosen))
    beacon_words = beacons.make_words(beacon) if beacon else {}
    commitment = chances.commit(seed)
    opened = Opened(game.META.name, game.META.edition, seats, commitment, options, dict(clock), name, beacon_words)
    return Move("open", tuple(list_words(opened)))


def list_words(opened: Opened) -> list[str]:
    """Return the arguments of the command that leads to this event."""
    words = [opened.game, str(opened.seats), opened.commitment]
    words += [f"{name}={_format_option(value)}" for name, value in opened.options.items()]
    words += [f"clock.{name}={value}" for name, value in opened.clock.items()]
    words += [f"table.name={opened.table}"] if opened.table else []
    return words + [f"beacon.{name}={value}" for name, value in opened.beacon.items()]


def _format_option(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def parse_open_command(game: Game, number: str, commitment: str, chosen: Sequence[str]) -> Opened:
    """Return the event that these words lead to; raise Refused if they do not open a table."""
    if not COMMITMENT.fullmatch(commitment):
        raise Refused("A table is opened with the commitment to its seed, 64 hexadecimal digits.")
    seats = int(number) if re.fullmatch("[0-9]{1,3}", number) else 0
    rest, clock_words = _split_prefix("clock.", chosen)
    rest, name_words = _split_prefix("table.", rest)
    rest, beacon_words = _split_prefix("beacon.", rest)
    if not all(map(CLOCK_WORD.fullmatch, clock_words)):
        raise Refused("A table’s clock is told in plain words, such as clock.pace=86400.")
    options = parse_options(game.META.options, dict(map(_split_pair, rest)))
    refusal = games.objection(game, options, seats)
    if refusal:
        raise refusal
    clock, beacon = dict(map(_split_pair, clock_words)), dict(map(_split_pair, beacon_words))
    beacons.parse(beacon)
    name, plain = _parse_name(name_words), msgspec.to_builtins(options)
    return Opened(game.META.name, game.META.edition, seats, commitment, plain, clock, name, beacon)


def _split_prefix(prefix: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words without this prefix, and those with it, from which it is removed."""
    with_prefix = [word.removeprefix(prefix) for word in words if word.startswith(prefix)]
    return [word for word in words if not word.startswith(prefix)], with_prefix


def _parse_name(words: Sequence[str]) -> str:
    """Return the name of the table; empty if it is not given."""
    match [_split_pair(word) for word in words]:
        case []:
            return ""
        case [("name", name)] if TABLE_NAME.fullmatch(name):
            return name
    raise Refused("A table’s name is told once and in plain letters and digits, such as table.name=1f3a.")


def _split_pair(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value
