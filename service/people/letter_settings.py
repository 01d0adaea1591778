"""What letters somebody wants: everywhere, and otherwise at one table."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from engine.reading import reader

Mode = Literal["turn", "digest", "reminders", "none"]
Hour = Annotated[int, Meta(ge=0, le=23)]


class Wishes(Struct, frozen=True):
    """A letter for every turn, one a day at an hour of the reader's own, reminders alone, or none at all.

    `plain` letters have neither HTML nor picture; with `at_once` a page makes a move without asking again.
    """

    letters: Mode = "turn"
    hour: Hour = 8
    plain: bool = False
    at_once: bool = False


class Otherwise(Struct, frozen=True, omit_defaults=True):
    """What somebody wants otherwise at one table."""

    letters: Mode | UnsetType = UNSET
    plain: bool | UnsetType = UNSET
    at_once: bool | UnsetType = UNSET


def read(text: str) -> Wishes:
    """A person's wishes as they are kept."""
    found: Wishes = reader(Wishes).decode(text) if text else Wishes()
    return found


def read_otherwise(text: str) -> Otherwise:
    """What is kept of one table's."""
    found: Otherwise = reader(Otherwise).decode(text) if text else Otherwise()
    return found


def at_table(person: str, seat: str) -> Wishes:
    """What holds at one table: what was wished for there, and for the rest what is wished for everywhere."""
    own = msgspec.structs.asdict(read_otherwise(seat))
    return msgspec.structs.replace(read(person), **{name: wish for name, wish in own.items() if wish is not UNSET})


def kept(wishes: Wishes | Otherwise) -> str:
    """Wishes as text."""
    return msgspec.json.encode(wishes).decode()
