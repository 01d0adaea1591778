"""Owed notices: their kinds, and the decisions that hold for all channels.

A notice is a row of `letters` with its reader. The post sends it by mail, and `channel_deliveries` by the others. Both
ask here for its reader and language, and whether it waits for a proof of the address, or for the end of quiet hours.
When it is written, `table_letters.is_overtaken` decides whether it is still true.

Answers to something that a player did, and invitations, are always sent. A turn is sent at once, or goes into the daily
digest, or is left to reminders. News of a table are sent unless the player wants no letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import Connection

from service import timing
from service.app import App
from service.people import letter_settings
from service.people.letter_settings import LetterSettings, Mode, TableLetterSettings
from service.store.channel_queries import LETTERS_WITH_READERS
from service.store.schema import letters
from service.timing import Calendar
from workers.outgoing.letter import LetterRequest

UNCONFIRMED_KINDS = ("invitation",)  # sent although the seat is not proven

Treatment = Literal["send", "digest", "drop"]
Topic = Literal["account", "answer", "end", "invitation", "news", "question", "reminder", "seat", "talk", "turn"]


class LetterKind(Struct, frozen=True):
    """How letters of a kind are treated in each mode of the letter settings.

    `waits` is whether they wait for the end of quiet hours, `can_unsubscribe` whether a mail program may offer that.
    A kind that `is_slow` takes long to write: it is sent after all others, alone. Strangers can cause letters of a kind
    that `is_limited`, so each mailbox gets only some of them. `group` is the row of the settings by which a player
    chooses the channels of this kind; a kind without a group goes by mail alone. The sender's name shows the `topic`.
    """

    turn: Treatment = "send"
    digest: Treatment = "send"
    reminders: Treatment = "send"
    none: Treatment = "drop"
    waits: bool = False
    can_unsubscribe: bool = True
    is_slow: bool = False
    is_limited: bool = False
    group: str = ""
    topic: Topic = "news"

    def treat(self, mode: Mode) -> Treatment:
        """Return what happens to a letter of this kind if its reader chose this mode."""
        treatment: Treatment = getattr(self, mode)  # each mode has a field of its name
        return treatment


ACCOUNT = LetterKind(none="send", can_unsubscribe=False, topic="account")
CONFIRMATION = LetterKind(none="send", can_unsubscribe=False, is_limited=True, topic="account")
ANSWER = LetterKind(none="send", can_unsubscribe=False, topic="answer")
INVITATION = LetterKind(none="send", group="invitation", is_limited=True, topic="invitation")
SEAT = LetterKind(none="send", group="invitation", is_limited=True, topic="seat")
WELCOME = LetterKind(none="send", group="invitation", topic="seat")
TURN = LetterKind(digest="digest", reminders="drop", waits=True, group="turn", topic="turn")
REMINDER = LetterKind(waits=True, group="reminder", topic="reminder")
NEWS = LetterKind(group="news")
QUESTION = LetterKind(group="news", topic="question")
FAREWELL = LetterKind(can_unsubscribe=False, group="news", topic="seat")  # the last letter of its table
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


class OwedNotice(Struct, frozen=True):
    """A row of `letters`, what it asks to write, and its reader's settings; without a reader the person is 0.

    `deadline` is that of the reader's turn, `at_table` are the reader's settings of the table alone, `treatment` is
    what they ask of a letter, and `link_number` is that of the seat's link. A notice of a table `needs_proof` that its
    reader holds the seat, if the server asks for proofs; only an invitation does not.
    """

    letter: int
    request: LetterRequest
    kind: LetterKind
    settings: LetterSettings
    at_table: TableLetterSettings
    treatment: Treatment
    calendar: Calendar
    deadline: int | None
    link_number: int | None
    is_bounced: bool
    needs_proof: bool
    has_digest_channel: bool  # beside mail


def load_owed(db: Connection, numbers: Sequence[int]) -> list[OwedNotice]:
    """Load these letters with their readers, in order; deleted letters are left out."""
    query = LETTERS_WITH_READERS.where(letters.c.id.in_(numbers))
    rows = {row.id: row for row in db.execute(query)}
    absences = letter_settings.list_vacations_by_person(db, [row.person for row in rows.values()])
    return [_parse_row(rows[number], absences.get(rows[number].person, ())) for number in sorted(rows)]


def _parse_row(row: Any, absences: tuple[letter_settings.Span, ...]) -> OwedNotice:
    """Return the notice of a row, with what the settings of its reader ask for."""
    settings, at_table = letter_settings.parse_both(row.letter_settings or "", row.seat_letter_settings or "")
    kind = find_kind(row.kind)
    request = LetterRequest(
        table=row.table or "",
        seq=row.seq or 0,
        seat=row.seat or 0,
        kind=row.kind,
        address=row.address or "",
        name=row.name or "",
        language=row.language or "",
        sentence=row.sentence,
        person=row.person or 0,
        plain=settings.plain,
        calendar=row.calendar or "",
        has_chosen_language=bool(row.chose),
        settings_number=row.settings_number or 0,
    )
    return OwedNotice(
        letter=row.id,
        request=request,
        kind=kind,
        settings=settings,
        at_table=at_table,
        treatment=_find_treatment(kind, settings),
        calendar=timing.parse_calendar(request.calendar, absences),
        deadline=row.deadline,
        link_number=row.link_number,
        is_bounced=row.bounced_at is not None,
        needs_proof=bool(row.table) and not row.proven and row.kind not in UNCONFIRMED_KINDS,
        has_digest_channel=bool(row.has_digest_channel),
    )


def _find_treatment(kind: LetterKind, settings: LetterSettings) -> Treatment:
    """Return what happens to a letter; remarks that its reader wants by another channel alone are dropped."""
    if kind is TALK and not settings.talk:
        return "drop"
    return kind.treat(settings.letters)


def find_end_of_quiet_hours(app: App, owed: OwedNotice) -> int | None:
    """Return when the reader's quiet hours end; None outside of them, or if the reader's deadline comes first."""
    now = app.now()
    deadline = owed.deadline
    until = timing.find_next_letter_time(now, owed.calendar)
    if until <= now:
        return None
    if deadline is not None and deadline <= until:
        return None
    return until
