"""The kinds of letters: which a player gets, by that player's settings, when, and from which sender.

Answers to something that a player did, and invitations, are always sent. A turn is sent at once, or goes into the daily
digest, or is left to reminders. News of a table are sent unless the player wants no letters.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.people.letter_settings import Mode

Treatment = Literal["send", "digest", "drop"]
Topic = Literal["account", "answer", "end", "invitation", "news", "question", "reminder", "seat", "talk", "turn"]


class LetterKind(Struct, frozen=True):
    """How letters of a kind are treated in each mode of the letter settings.

    `waits` is whether they wait for the end of quiet hours, `stops` whether a mail program may offer to unsubscribe.
    A kind that `is_slow` takes long to write: it is sent after all others, alone. Strangers can cause letters of a kind
    that `is_limited`, so each mailbox gets only some of them. `group` is the row of the settings by which a player
    chooses the channels of this kind; a kind without a group goes by mail alone. The sender's name shows the `topic`.
    """

    turn: Treatment = "send"
    digest: Treatment = "send"
    reminders: Treatment = "send"
    none: Treatment = "drop"
    waits: bool = False
    stops: bool = True
    is_slow: bool = False
    is_limited: bool = False
    group: str = ""
    topic: Topic = "news"

    def treat(self, mode: Mode) -> Treatment:
        """Return what happens to a letter of this kind if its reader chose this mode."""
        treatment: Treatment = getattr(self, mode)
        return treatment


ACCOUNT = LetterKind(none="send", stops=False, topic="account")
CONFIRMATION = LetterKind(none="send", stops=False, is_limited=True, topic="account")
ANSWER = LetterKind(none="send", stops=False, topic="answer")
INVITATION = LetterKind(none="send", group="invitation", is_limited=True, topic="invitation")
SEAT = LetterKind(none="send", group="invitation", is_limited=True, topic="seat")
WELCOME = LetterKind(none="send", group="invitation", topic="seat")
TURN = LetterKind(digest="digest", reminders="drop", waits=True, group="turn", topic="turn")
REMINDER = LetterKind(waits=True, group="reminder", topic="reminder")
NEWS = LetterKind(group="news")
QUESTION = LetterKind(group="news", topic="question")
FAREWELL = LetterKind(stops=False, group="news", topic="seat")  # the last letter of its table
TALK = LetterKind(waits=True, group="talk", topic="talk")
END = LetterKind(is_slow=True, group="end", topic="end")
# By mail only of tables whose turns go into the digest.
DIGEST = LetterKind(none="send", waits=True, group="digest", topic="turn")

LETTER_KINDS = {
    "enter": ACCOUNT,
    "confirm": CONFIRMATION,
    "channel": ACCOUNT,
    "added": ACCOUNT,
    "secret": ACCOUNT,
    "follower": ACCOUNT,
    "accepted": ANSWER,
    "refused": ANSWER,
    "stranger": ANSWER,
    "invitation": INVITATION,
    "seat": SEAT,
    "rehoused": WELCOME,
    "turn": TURN,
    "resumed": TURN,
    "reminder": REMINDER,
    "digest": DIGEST,
    "talk": TALK,
    "asked": QUESTION,
    "pausing": QUESTION,
    "sealing": QUESTION,
    "unlit": QUESTION,
    "paused": NEWS,
    "timeout": NEWS,
    "relieved": NEWS,
    "forfeited": NEWS,
    "offer": NEWS,
    "offered": NEWS,
    "unreachable": NEWS,
    "declined": NEWS,
    "replaced": FAREWELL,
    "over": END,
}


def find_kind(name: str) -> LetterKind:
    """Return the kind of a letter by its name. A part after a slash only tells letters of one kind apart."""
    return LETTER_KINDS.get(name.partition("/")[0], NEWS)
