"""Owed notices: a row of `letters` with its reader, and the decisions that hold for all channels.

The post sends a notice by mail, and `deliveries` by the other channels. Both ask here for its reader and language.
They also ask here whether it waits for a proof of the address, or for the end of quiet hours. When it is written,
`table_letters.is_overtaken` decides whether it is still true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from service import timing
from service.app import App
from service.people import letter_settings
from service.people.letter_settings import LetterSettings, TableLetterSettings
from service.store.channel_queries import LETTERS_WITH_READERS
from service.store.schema import letters
from service.timing import Calendar
from workers.outgoing.letter import LetterRequest
from workers.outgoing.letter_kinds import LetterKind, find_kind

UNCONFIRMED_KINDS = ("invitation",)  # sent although the seat is not proven


class OwedNotice(Struct, frozen=True):
    """A row of `letters`, what it asks to write, and its reader's settings; without a reader the person is 0.

    `deadline` is that of the reader's turn, `at_table` are the reader's settings of the table alone, and `link_number`
    is that of the seat's link.
    """

    letter: int
    request: LetterRequest
    kind: LetterKind
    settings: LetterSettings
    at_table: TableLetterSettings
    calendar: Calendar
    deadline: int | None
    link_number: int | None
    is_bounced: bool
    is_proven: bool
    has_digest_channel: bool  # beside mail


def load_owed(db: Connection, numbers: Sequence[int]) -> list[OwedNotice]:
    """Load these letters with their readers, in order; deleted letters are left out."""
    query = LETTERS_WITH_READERS.where(letters.c.id.in_(numbers))
    rows = {row.id: row for row in db.execute(query)}
    absences = letter_settings.list_vacations_by_person(db, [row.person for row in rows.values()])
    return [_parse_row(rows[number], absences.get(rows[number].person, ())) for number in sorted(rows)]


def _parse_row(row: Any, absences: tuple[letter_settings.Span, ...]) -> OwedNotice:
    settings, at_table = letter_settings.parse_both(row.wishes or "", row.seat_wishes or "")
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
        chose=bool(row.chose),
        settings_number=row.settings_number or 0,
    )
    return OwedNotice(
        letter=row.id,
        request=request,
        kind=find_kind(row.kind),
        settings=settings,
        at_table=at_table,
        calendar=timing.parse_calendar(request.calendar, absences),
        deadline=row.deadline,
        link_number=row.link_number,
        is_bounced=row.bounced_at is not None,
        is_proven=bool(row.proven),
        has_digest_channel=bool(row.has_digest_channel),
    )


def waits_for_confirmation(app: App, owed: OwedNotice) -> bool:
    """Return whether a notice waits until its reader has proven to hold the seat; only invitations do not."""
    is_exempt = not owed.request.table or owed.request.kind in UNCONFIRMED_KINDS
    return app.settings.confirms and not owed.is_proven and not is_exempt


def find_end_of_quiet_hours(app: App, owed: OwedNotice) -> int | None:
    """Return when the reader's quiet hours end; None outside of them, or if the reader's deadline comes first."""
    now, deadline = app.now(), owed.deadline
    until = timing.find_next_letter_time(now, owed.calendar)
    too_late = deadline is not None and deadline <= until
    return until if until > now and not too_late else None
