"""Letter settings: the letters that a player wants, for all tables and for single ones."""

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
    """The letters a player gets: one for every turn, one a day at `hour`, only reminders, or none.

    `plain` letters have neither HTML nor picture; with `at_once` a page makes a move without asking again.
    """

    letters: Mode = "turn"
    hour: Hour = 8
    plain: bool = False
    at_once: bool = False


class TableLetterSettings(Struct, frozen=True, omit_defaults=True):
    """Settings of one table; UNSET means the person's general setting."""

    letters: Mode | UnsetType = UNSET
    plain: bool | UnsetType = UNSET
    at_once: bool | UnsetType = UNSET


def parse_settings(text: str) -> LetterSettings:
    """Parse the stored settings of a person."""
    settings: LetterSettings = make_decoder(LetterSettings).decode(text) if text else LetterSettings()
    return settings


def parse_table_settings(text: str) -> TableLetterSettings:
    """Parse the stored settings of one table."""
    settings: TableLetterSettings = make_decoder(TableLetterSettings).decode(text) if text else TableLetterSettings()
    return settings


def merge_settings(person: str, seat: str) -> LetterSettings:
    """Return the settings for one table: its own, and those of the person for the rest."""
    own = msgspec.structs.asdict(parse_table_settings(seat))
    return replace(parse_settings(person), **{name: value for name, value in own.items() if value is not UNSET})


def dump_settings(settings: LetterSettings | TableLetterSettings) -> str:
    """Return the text to store for these settings."""
    return msgspec.json.encode(settings).decode()


def choose_mode(connection: Connection, table: str, person: int, mode: Mode) -> None:
    """Set the letters of one table; store nothing if the person's general setting is the same."""
    joined = seats.join(people, people.c.id == seats.c.person)
    query = select(seats.c.wishes, people.c.wishes.label("everywhere")).select_from(joined)
    row = connection.execute(query.where(seats.c.table == table, people.c.id == person)).first()
    assert row
    other = UNSET if mode == parse_settings(row.everywhere).letters else mode
    store_table_settings(connection, table, person, replace(parse_table_settings(row.wishes), letters=other))


def store_table_settings(connection: Connection, table: str, person: int, otherwise: TableLetterSettings) -> None:
    """Store a person's settings of one table."""
    text = "" if otherwise == TableLetterSettings() else dump_settings(otherwise)
    own = (seats.c.table == table, seats.c.person == person)
    connection.execute(update(seats).where(*own).values(wishes=text))
