"""Rate limits for letters, so that forms cannot flood a mailbox. A server that sends no letters has no limits."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, or_, select

from engine.refusal import Refused
from service.people import register
from service.settings import DAY_S, EMBEDDED, Settings
from service.store import queries
from service.store.schema import letters, seats, tables
from service.timing import HOUR_S

MAX_UNCONFIRMED_TABLES = 3
MAX_SIGN_IN_LETTERS_PER_HOUR = 3
INVITATION_KINDS = ("invitation", "seat")


def refuse_table(
    connection: Connection, settings: Settings, organiser: int | None, guests: Sequence[int], at: int, proven: bool
) -> None:
    """Raise Refused if the letters of a new table would be too many for one of the players.

    `proven` means that the organiser's address is proven; with an unproven address only a few tables can be opened.
    """
    if settings.smtp == EMBEDDED or organiser is None:
        return
    if settings.confirms and not proven:
        waiting = len(register.list_held_tables(connection, organiser))
        if max(waiting, _count_confirmation_letters(connection, organiser, at - DAY_S)) >= MAX_UNCONFIRMED_TABLES:
            raise Refused("Please confirm your address first; the link is in the letter that we sent you.")
    elif _count_opened_tables(connection, organiser, at - HOUR_S) >= settings.opens_per_hour:
        raise Refused("That was a little too much at once; please wait a while and try again.")
    for guest in guests:
        if guest != organiser:
            refuse_invitation(connection, settings, guest, at)


def refuse_invitation(connection: Connection, settings: Settings, guest: int, at: int) -> None:
    """Raise Refused if this guest has reached the daily limit of invitations."""
    if settings.smtp == EMBEDDED:
        return
    if _count_invitations(connection, guest, at - DAY_S) >= settings.invitations_per_day:
        raise Refused("One of these players has been invited very often today; please try again tomorrow.")


def may_send_sign_in_letter(connection: Connection, person: int, at: int) -> bool:
    """Return whether the hourly limit allows another sign-in letter."""
    recent = (letters.c.person == person, letters.c.kind > f"enter/{at - HOUR_S}", letters.c.kind < "enter/a")
    written = select(func.count()).select_from(letters).where(*recent)
    return int(connection.execute(written).scalar_one()) < MAX_SIGN_IN_LETTERS_PER_HOUR


def _count_opened_tables(connection: Connection, person: int, since: int) -> int:
    """Count the tables that this person has opened since then."""
    own = (seats.c.person == person, seats.c.seat == queries.organiser_of(seats.c.table), tables.c.opened_at > since)
    counted = select(func.count()).select_from(seats.join(tables)).where(*own)
    return int(connection.execute(counted).scalar_one())


def _count_invitations(connection: Connection, person: int, since: int) -> int:
    """Count the invitations to this person since then, including those that wait for a confirmed address."""
    own = (letters.c.table == seats.c.table) & (letters.c.seat == seats.c.seat) & letters.c.kind.in_(INVITATION_KINDS)
    joined = seats.join(tables).join(letters, own)
    recent = (
        seats.c.person == person,
        or_(tables.c.moved_at > since, tables.c.awaits_confirmation),
        letters.c.due_at > since,
    )
    counted = select(func.count()).select_from(joined).where(*recent)
    return int(connection.execute(counted).scalar_one()) + _count_confirmation_letters(connection, person, since)


def _count_confirmation_letters(connection: Connection, person: int, since: int) -> int:
    """Count the letters that asked this person to confirm the address."""
    confirmations = (letters.c.person == person, letters.c.kind.startswith("confirm/"), letters.c.due_at > since)
    return int(connection.execute(select(func.count()).select_from(letters).where(*confirmations)).scalar_one())
