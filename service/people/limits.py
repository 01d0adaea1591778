"""Against floods: nobody's mailbox is filled by others' forms; where no letter leaves, nothing is counted."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, or_, select

from engine.refusal import Refused
from service.people import register
from service.settings import DAY, EMBEDDED, Settings
from service.store.schema import letters, seats, tables
from service.timing import HOUR

UNCONFIRMED = 3
ENTRIES = 3
WELCOMES = ("invitation", "seat")


def refuse(connection: Connection, settings: Settings, organiser: int | None, guests: Sequence[int], at: int) -> None:
    """Refuse one table more where it would be too many letters for somebody."""
    if settings.smtp == EMBEDDED or organiser is None:
        return
    if settings.confirms and not register.is_confirmed(connection, organiser):
        waiting, asked = register.held(connection, organiser), _asked(connection, organiser, at - DAY)
        if max(len(waiting), asked) >= UNCONFIRMED:
            raise Refused("Please confirm your address first; the link is in the letter that we sent you.")
    elif _opened(connection, organiser, at - HOUR) >= settings.opens_per_hour:
        raise Refused("That was a little too much at once; please wait a while and try again.")
    for guest in guests:
        if guest != organiser:
            refuse_invitation(connection, settings, guest, at)


def refuse_invitation(connection: Connection, settings: Settings, guest: int, at: int) -> None:
    """Refuse one invitation more than anybody would want in a day."""
    if settings.smtp == EMBEDDED:
        return
    if _invited(connection, guest, at - DAY) >= settings.invitations_per_day:
        raise Refused("One of these players has been invited very often today; please try again tomorrow.")


def may_be_written(connection: Connection, person: int, at: int) -> bool:
    """Whether one letter more to sign in is not too many for this hour."""
    recent = (letters.c.person == person, letters.c.kind > f"enter/{at - HOUR}", letters.c.kind < "enter/a")
    written = select(func.count()).select_from(letters).where(*recent)
    return int(connection.execute(written).scalar_one()) < ENTRIES


def _opened(connection: Connection, person: int, since: int) -> int:
    """How many tables this person has opened: those where nobody with an address sits before him."""
    own = (seats.c.person == person, seats.c.seat == register.organiser(seats.c.table), tables.c.opened_at > since)
    counted = select(func.count()).select_from(seats.join(tables)).where(*own)
    return int(connection.execute(counted).scalar_one())


def _invited(connection: Connection, person: int, since: int) -> int:
    """How many letters of late others made us write to this person, or will once their own address is proven."""
    own = (letters.c.table == seats.c.table) & (letters.c.seat == seats.c.seat) & letters.c.kind.in_(WELCOMES)
    joined = seats.join(tables).join(letters, own)
    recent = (seats.c.person == person, or_(tables.c.moved_at > since, tables.c.held), letters.c.due_at > since)
    counted = select(func.count()).select_from(joined).where(*recent)
    return int(connection.execute(counted).scalar_one()) + _asked(connection, person, since)


def _asked(connection: Connection, person: int, since: int) -> int:
    """How often of late this person was asked whether his address is right."""
    asked = (letters.c.person == person, letters.c.kind.startswith("confirm/"), letters.c.due_at > since)
    return int(connection.execute(select(func.count()).select_from(letters).where(*asked)).scalar_one())
