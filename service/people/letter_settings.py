"""Which letters a player wants: at all tables, and different ones at single tables."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace
from sqlalchemy import Connection, select, update

from engine.canonical_json import make_decoder
from service.store.schema import people, seats

Mode = Literal["turn", "digest", "reminders", "none"]
Hour = Annotated[int, Meta(ge=0, le=23)]


class LetterSettings(Struct, frozen=True):
    """A letter for every turn, one a day at an hour of the reader's own, reminders alone, or none at all.

    `plain` letters have neither HTML nor picture; with `at_once` a page makes a move without asking again.
    """

    letters: Mode = "turn"
    hour: Hour = 8
    plain: bool = False
    at_once: bool = False


class TableLetterSettings(Struct, frozen=True, omit_defaults=True):
    """Settings that differ at one table."""

    letters: Mode | UnsetType = UNSET
    plain: bool | UnsetType = UNSET
    at_once: bool | UnsetType = UNSET


def read(text: str) -> LetterSettings:
    """The settings of a person, from their stored text."""
    found: LetterSettings = make_decoder(LetterSettings).decode(text) if text else LetterSettings()
    return found


def read_otherwise(text: str) -> TableLetterSettings:
    """The settings of one table, from their stored text."""
    found: TableLetterSettings = make_decoder(TableLetterSettings).decode(text) if text else TableLetterSettings()
    return found


def at_table(person: str, seat: str) -> LetterSettings:
    """The settings that hold at one table: its own, and for the rest those of the person."""
    own = msgspec.structs.asdict(read_otherwise(seat))
    return msgspec.structs.replace(read(person), **{name: wish for name, wish in own.items() if wish is not UNSET})


def kept(wishes: LetterSettings | TableLetterSettings) -> str:
    """Settings as stored text."""
    return msgspec.json.encode(wishes).decode()


def choose(connection: Connection, table: str, person: int, mode: Mode) -> None:
    """Letters of this kind from one table; stored only where it differs from what holds at all tables."""
    joined = seats.join(people, people.c.id == seats.c.person)
    wanted = select(seats.c.wishes, people.c.wishes.label("everywhere")).select_from(joined)
    row = connection.execute(wanted.where(seats.c.table == table, people.c.id == person)).first()
    assert row
    other = UNSET if mode == read(row.everywhere).letters else mode
    keep_at(connection, table, person, replace(read_otherwise(row.wishes), letters=other))


def keep_at(connection: Connection, table: str, person: int, otherwise: TableLetterSettings) -> None:
    """From now on these settings hold at one table."""
    text = "" if otherwise == TableLetterSettings() else kept(otherwise)
    own = (seats.c.table == table, seats.c.person == person)
    connection.execute(update(seats).where(*own).values(wishes=text))
