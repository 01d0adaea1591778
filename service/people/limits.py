"""Rate limits for letters: nobody can fill another's mailbox with forms. Where no letter leaves, nothing is counted."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, or_, select

from engine.refusal import Refused
from service.people import register
from service.settings import DAY, EMBEDDED, Settings
from service.store import queries
from service.store.schema import letters, seats, tables
from service.timing import HOUR

UNCONFIRMED = 3
ENTRIES = 3
WELCOMES = ("invitation", "seat")


def refuse(
    connection: Connection, settings: Settings, organiser: int | None, guests: Sequence[int], at: int, proven: bool
) -> None:
    """Refuse another table where its letters would be too many for one of the players.

    `proven` says that the organiser himself asks; in the name of another few tables may be opened.
    """
    if settings.smtp == EMBEDDED or organiser is None:
        return
    if settings.confirms and not proven:
        waiting, asked = register.held(connection, organiser), _asked(connection, organiser, at - DAY)
        if max(len(waiting), asked) >= UNCONFIRMED:
            raise Refused("Please confirm your address first; the link is in the letter that we sent you.")
    elif _opened(connection, organiser, at - HOUR) >= settings.opens_per_hour:
        raise Refused("That was a little too much at once; please wait a while and try again.")
    for guest in guests:
        if guest != organiser:
            refuse_invitation(connection, settings, guest, at)


def refuse_invitation(connection: Connection, settings: Settings, guest: int, at: int) -> None:
    """Refuse an invitation above the daily limit of this guest."""
    if settings.smtp == EMBEDDED:
        return
    if _invited(connection, guest, at - DAY) >= settings.invitations_per_day:
        raise Refused("One of these players has been invited very often today; please try again tomorrow.")


def may_be_written(connection: Connection, person: int, at: int) -> bool:
    """Whether the hourly limit allows another sign-in letter."""
    recent = (letters.c.person == person, letters.c.kind > f"enter/{at - HOUR}", letters.c.kind < "enter/a")
    written = select(func.count()).select_from(letters).where(*recent)
    return int(connection.execute(written).scalar_one()) < ENTRIES


def _opened(connection: Connection, person: int, since: int) -> int:
    """How many tables this person has opened since then."""
    own = (seats.c.person == person, seats.c.seat == queries.organiser_of(seats.c.table), tables.c.opened_at > since)
    counted = select(func.count()).select_from(seats.join(tables)).where(*own)
    return int(connection.execute(counted).scalar_one())


def _invited(connection: Connection, person: int, since: int) -> int:
    """How many letters other people caused to this person, including those that still wait for a proof of address."""
    own = (letters.c.table == seats.c.table) & (letters.c.seat == seats.c.seat) & letters.c.kind.in_(WELCOMES)
    joined = seats.join(tables).join(letters, own)
    recent = (seats.c.person == person, or_(tables.c.moved_at > since, tables.c.held), letters.c.due_at > since)
    counted = select(func.count()).select_from(joined).where(*recent)
    return int(connection.execute(counted).scalar_one()) + _asked(connection, person, since)


def _asked(connection: Connection, person: int, since: int) -> int:
    """How often this person was asked to prove the address."""
    asked = (letters.c.person == person, letters.c.kind.startswith("confirm/"), letters.c.due_at > since)
    return int(connection.execute(select(func.count()).select_from(letters).where(*asked)).scalar_one())
