"""Kinds of letters: which are sent, by the settings of their reader, and which wait for his quiet hours to end.

This is the whole of it, kind by kind. What answers something its reader did, and what invites him, leaves always and at
once. A turn leaves, or is gathered for the one letter of the day, or is left to reminders. News of a table leave at
once unless no letters at all are wanted.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.people.letter_settings import Mode

Fate = Literal["leaves", "gathered", "unwanted"]


class LetterKind(Struct, frozen=True):
    """What happens to letters of a kind in each mode; whether they wait for quiet hours to end, and can be stopped.

    One that tells a whole game takes long to write: it goes after all others, alone.
    """

    turn: Fate = "leaves"
    digest: Fate = "leaves"
    reminders: Fate = "leaves"
    none: Fate = "unwanted"
    waits: bool = False
    stops: bool = True
    tells_all: bool = False

    def fate(self, mode: Mode) -> Fate:
        """What happens to such a letter if its reader has chosen this mode."""
        found: Fate = getattr(self, mode)
        return found


ANSWER = LetterKind(none="leaves", stops=False)
WELCOME = LetterKind(none="leaves")
TURN = LetterKind(digest="gathered", reminders="unwanted", waits=True)
REMINDER = LetterKind(waits=True)
NEWS = LetterKind()
FAREWELL = LetterKind(stops=False)  # the last of its table
END = LetterKind(tells_all=True)
DIGEST = LetterKind(none="leaves", waits=True)  # written only of tables where its reader wants one

SORTS = {
    "enter": ANSWER,
    "confirm": ANSWER,
    "accepted": ANSWER,
    "refused": ANSWER,
    "invitation": WELCOME,
    "seat": WELCOME,
    "rehoused": WELCOME,
    "turn": TURN,
    "resumed": TURN,
    "reminder": REMINDER,
    "digest": DIGEST,
    "asked": NEWS,
    "pausing": NEWS,
    "paused": NEWS,
    "sealing": NEWS,
    "unlit": NEWS,
    "timeout": NEWS,
    "relieved": NEWS,
    "forfeited": NEWS,
    "offer": NEWS,
    "offered": NEWS,
    "replaced": FAREWELL,
    "unreachable": NEWS,
    "declined": NEWS,
    "stranger": ANSWER,
    "over": END,
}


def of(kind: str) -> LetterKind:
    """The kind of a letter by its name; what follows a slash in the name only numbers letters of one kind."""
    return SORTS.get(kind.partition("/")[0], NEWS)
