"""Kinds of letters: which of them a player gets, by that player's letter settings, and when.

Answers to something that a player did, and invitations, are always sent. A turn is sent at once, or goes into the daily
digest, or is left to reminders. News of a table are sent unless the player wants no letters.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.people.letter_settings import Mode

Treatment = Literal["send", "digest", "drop"]


class LetterKind(Struct, frozen=True):
    """How letters of a kind are treated in each mode of the letter settings.

    `waits` is whether they wait for the end of quiet hours, `stops` whether a mail program may offer to unsubscribe.
    A kind that `is_slow` takes long to write: it is sent after all others, alone.
    """

    turn: Treatment = "send"
    digest: Treatment = "send"
    reminders: Treatment = "send"
    none: Treatment = "drop"
    waits: bool = False
    stops: bool = True
    is_slow: bool = False

    def treat(self, mode: Mode) -> Treatment:
        """Return what happens to a letter of this kind if its reader chose this mode."""
        treatment: Treatment = getattr(self, mode)
        return treatment


ANSWER = LetterKind(none="send", stops=False)
WELCOME = LetterKind(none="send")
TURN = LetterKind(digest="digest", reminders="drop", waits=True)
REMINDER = LetterKind(waits=True)
NEWS = LetterKind()
FAREWELL = LetterKind(stops=False)  # the last letter of its table
END = LetterKind(is_slow=True)
DIGEST = LetterKind(none="send", waits=True)  # written only of tables whose turns go into the digest

LETTER_KINDS = {
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


def find_kind(name: str) -> LetterKind:
    """Return the kind of a letter by its name. A part after a slash only tells letters of one kind apart."""
    return LETTER_KINDS.get(name.partition("/")[0], NEWS)


class LetterRequest(Struct, frozen=True):
    """A letter to be written: about which seat of which table, or to which person, and how its reader wants it.

    `seq` is the entry that the letter follows. A letter to a person about no single seat has an empty `table`.
    `sentence` is a stored sentence to put into the letter, `calendar` the stored calendar of the reader, and `chose`
    whether the reader chose the language.
    """

    table: str
    seq: int
    seat: int
    kind: str
    address: str
    name: str
    language: str = "en"
    sentence: str = ""
    person: int = 0
    plain: bool = False
    calendar: str = ""
    chose: bool = True

    @property
    def kind_name(self) -> str:
        """The kind without the part after the slash."""
        return self.kind.partition("/")[0]

    @property
    def kind_detail(self) -> str:
        """The part after the slash: the number of a seat or mail, or a day."""
        return self.kind.partition("/")[2]
