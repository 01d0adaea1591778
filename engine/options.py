"""Options: choices made when a table is opened, and the command that records them in its log."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import Struct, inspect

from engine import beacon as beacons
from engine import chance as chances
from engine import game as games
from engine.beacon import Beacon
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.menu import Move
from engine.refusal import Refused
from engine.table_events import Opened

CITATION = re.compile(r"§\s?(\d+(?:\.\d+)?)")


class Option(Struct, frozen=True):
    """An option to choose before a game begins; `rule` is the paragraph of the book that its description cites.

    `title` is its name for players, if that differs from its name in plain words.
    """

    name: str
    kind: Literal["switch", "word", "number"]
    default: Any
    values: tuple[str, ...]
    about: str
    least: int | None = None
    most: int | None = None
    rule: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """The title, or the name in plain words."""
        return self.title or self.name.replace("_", " ")


@functools.lru_cache
def describe(options: type[Struct]) -> tuple[Option, ...]:
    """Return every option of a game, in order."""
    info = inspect.type_info(options)
    assert isinstance(info, inspect.StructType)
    return tuple(_describe_field(field) for field in info.fields)


def _describe_field(field: inspect.Field) -> Option:
    """Return the option of one field, by its type: a switch, one of some words, or a number with bounds."""
    kind = field.type
    about = ""
    title = ""
    if isinstance(kind, inspect.Metadata):
        schema = kind.extra_json_schema or {}
        about, title = str(schema.get("description", "")), str(schema.get("title", ""))
        kind = kind.type
    citation = CITATION.search(about)
    rule = citation[1] if citation else ""
    default = field.default_factory() if callable(field.default_factory) else field.default
    match kind:
        case inspect.BoolType():
            return Option(field.name, "switch", default, ("on", "off"), about, rule=rule, title=title)
        case inspect.LiteralType(values=values):
            order = (default, *(value for value in values if value != default))
            return Option(field.name, "word", default, tuple(map(str, order)), about, rule=rule, title=title)
        case inspect.IntType(ge=int(least), le=int(most)):
            numbers = tuple(map(str, range(least, most + 1)))
            return Option(field.name, "number", default, numbers, about, least=least, most=most, rule=rule, title=title)
    raise TypeError(f"option {field.name} is neither a switch, nor one of some words, nor a number with bounds")


SWITCH_WORDS = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}


def parse(options: type[Struct], chosen: Mapping[str, Any]) -> Any:
    """Return the options struct for these choices, which are texts or plain values; the others have their defaults.

    Raise Refused for an unknown option or a value that is not allowed.
    """
    by_name = {option.name: option for option in describe(options)}
    for name in chosen:
        if name not in by_name:
            if not by_name:
                raise Refused("There is no option “{name}”; this game has none.", name=name)
            raise Refused("There is no option “{name}”; the options are: {names}.", name=name, names=", ".join(by_name))
    values = {name: _parse_value(by_name[name], value) for name, value in chosen.items()}
    return make_decoder(options).decode(msgspec.json.encode(values))


def _parse_value(option: Option, value: Any) -> Any:
    """Return the value of an option in its type; raise Refused if it is not allowed."""
    word = str(value).strip().casefold()
    if option.kind == "switch" and word in SWITCH_WORDS:
        return SWITCH_WORDS[word]
    if option.kind != "switch" and word in option.values:
        return type(option.default)(word)  # a text or a number
    raise _explain_wrong_value(option, value)


def _explain_wrong_value(option: Option, value: Any) -> Refused:
    """Return the refusal of a value, with the values that the option can have."""
    words = {"name": option.name, "value": value}
    match option.kind:
        case "switch":
            return Refused("The option “{name}” can be on or off, not “{value}”.", **words)
        case "word":
            allowed = " / ".join(option.values)
            return Refused("The option “{name}” can be {allowed}, not “{value}”.", allowed=allowed, **words)
        case "number":
            return Refused(
                "The option “{name}” can be {least} to {most}, not “{value}”.",
                least=option.least,
                most=option.most,
                **words,
            )


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
    options = msgspec.to_builtins(parse(game.META.options, chosen))
    beacon_words = beacons.make_words(beacon) if beacon else {}
    commitment = chances.commit(seed)
    opened = Opened(
        game.META.name,
        game.META.edition,
        seats,
        commitment,
        options=options,
        clock=dict(clock),
        table=name,
        beacon=beacon_words,
    )
    return Move("open", tuple(list_open_words(opened)))


def list_open_words(opened: Opened) -> list[str]:
    """Return the words after `open` in the command that leads to this event."""
    words = [opened.game, str(opened.seats), opened.commitment]
    words += [f"{name}={format_value(value)}" for name, value in opened.options.items()]
    words += [f"clock.{name}={value}" for name, value in opened.clock.items()]
    words += [f"table.name={opened.table}"] if opened.table else []
    return words + [f"beacon.{name}={value}" for name, value in opened.beacon.items()]


def format_value(value: Any) -> str:
    """Return the value of an option as a word that `parse` understands."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def parse_open_command(game: Game, seat_count: str, commitment: str, words: Sequence[str]) -> Opened:
    """Return the event that a command leads to; `words` are its options, clock, name and beacon, in any order.

    Raise Refused if they do not open a table.
    """
    if not COMMITMENT.fullmatch(commitment):
        raise Refused("A table is opened with the commitment to its seed, 64 hexadecimal digits.")
    seats = int(seat_count) if re.fullmatch("[0-9]{1,3}", seat_count) else 0  # 0 is refused below
    words, clock_words = _split_prefix("clock.", words)
    words, name_words = _split_prefix("table.", words)
    option_words, beacon_words = _split_prefix("beacon.", words)
    if not all(map(CLOCK_WORD.fullmatch, clock_words)):
        raise Refused("Give the table’s clock in plain words, such as clock.pace=86400.")
    options = parse(game.META.options, dict(map(_split_pair, option_words)))
    if refusal := games.objection(game, options, seats):
        raise refusal
    clock, beacon = dict(map(_split_pair, clock_words)), dict(map(_split_pair, beacon_words))
    beacons.parse(beacon)  # raises Refused if they are not the words of a beacon
    return Opened(
        game.META.name,
        game.META.edition,
        seats,
        commitment,
        options=msgspec.to_builtins(options),
        clock=clock,
        table=_parse_name(name_words),
        beacon=beacon,
    )


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
    raise Refused("Give the table’s name once, in plain letters and digits, such as table.name=1f3a.")


def _split_pair(word: str) -> tuple[str, str]:
    """Split `name=value`; the value is empty if there is no “=”."""
    name, _, value = word.partition("=")
    return name, value
