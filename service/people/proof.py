"""Proof that a person acts, and not only another who typed the address.

Only the functions here make a `ProvenPerson`, and each checks a link that was mailed, a mail, or a session. How
long mailed links live is said here, too. What changes more than one table takes a `ProvenPerson`, so that an address
alone cannot change it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, exists, func, or_, select, update

from engine.refusal import Refused
from service import links
from service.links import Links, hash_token
from service.numbers import parse_int
from service.people import register
from service.settings import DAY_S, Settings
from service.store import queries
from service.store.rows import SeatRow
from service.store.schema import letters, people, seats, tables, visits
from service.timing import HOUR_S

CONFIRM_AGE_S = 30 * DAY_S  # of the link in a letter that asks whether an address is right
SIGN_IN_AGE_S = HOUR_S  # of the link in a sign-in letter


class ProvenPerson(Struct, frozen=True):
    """A person who has opened a link that was mailed to the address, or is signed in."""

    id: int


class SignedIn(Struct, frozen=True):
    """The person who is signed in on a device."""

    proof: ProvenPerson
    name: str
    address: str
    settings_number: int

    @property
    def id(self) -> int:
        return self.proof.id


def find_holder(seat: SeatRow) -> ProvenPerson | None:
    """Return the person who has proven to hold this seat; None if the address was only typed."""
    return ProvenPerson(seat.person) if seat.proven and seat.person is not None else None


def require_holder(seat: SeatRow) -> ProvenPerson:
    """Return the person who has proven to hold this seat; raise Refused if the address was only typed."""
    holder = find_holder(seat)
    if holder is None:
        raise Refused("Please confirm your address first; the link is in the letter that we sent you.")
    return holder


def require_reader(settings: Settings, seat: SeatRow) -> ProvenPerson:
    """Return the person to whom notices of this seat go; raise Refused if the address was only typed.

    Where the server confirms no addresses, every typed one is good.
    """
    if seat.person is not None and not settings.confirms:
        return ProvenPerson(seat.person)
    return require_holder(seat)


def check_settings_link(app_links: Links, row: Any, token: str) -> ProvenPerson | None:
    """Return the person of this row; None if there is none, or if the token does not open this person's settings."""
    if row is None or register.is_deleted(row):
        return None
    newest = app_links.make_preferences_token(row.id, row.settings_number)
    return ProvenPerson(row.id) if links.is_same_secret(newest, token.lower()) else None


def check_confirm_link(app_links: Links, db: Connection, row: Any, token: str, now: int) -> ProvenPerson | None:
    """Return the person of this row; None if there is none, or if the token does not prove this person's address.

    A token proves nothing any more when the last letter with it is old.
    """
    if row is None or not links.is_same_secret(app_links.make_confirm_token(row.id, row.address), token):
        return None
    own = (letters.c.person == row.id, letters.c.kind.startswith("confirm/"), letters.c.due_at > now - CONFIRM_AGE_S)
    return ProvenPerson(row.id) if db.execute(select(exists().where(*own))).scalar_one() else None


def check_sign_in_link(app_links: Links, row: Any, token: str, now: int) -> ProvenPerson | None:
    """Return the person of this row; None if there is none, or if the token is wrong, used or expired.

    A token is used if the person has signed in since it was made. It is wrong if all sessions were ended since: the
    person's number `sessions` has then grown.
    """
    _, written = links.parse_token(token, 2)
    made_at = parse_int(written) or 0
    if row is None or not links.is_same_secret(app_links.make_sign_in_token(row.id, row.sessions, made_at), token):
        return None
    is_used = row.signed_at is not None and row.signed_at >= made_at
    return ProvenPerson(row.id) if made_at <= now < made_at + SIGN_IN_AGE_S and not is_used else None


def find_signed_in(db: Connection, key: str) -> SignedIn | None:
    """Return the person who is signed in on the device whose cookie holds this key; None if the visit has ended."""
    own = select(people).select_from(visits.join(people)).where(visits.c.key == hash_token(key))
    row = db.execute(own).one_or_none()
    return None if row is None else SignedIn(ProvenPerson(row.id), row.name, row.address, row.settings_number)


def check_mail(db: Connection, table: str, seat: int, person: int) -> ProvenPerson | None:
    """Return the person who wrote to the reply address of a seat; None if another person has the seat now.

    Only letters to this person have that address, so it proves who wrote.
    """
    own = select(seats.c.person).where(seats.c.table == table, seats.c.seat == seat, seats.c.person == person)
    return None if db.execute(own).first() is None else ProvenPerson(person)


def check_invitation(settings: Settings, sitting: list[SeatRow], seat: int) -> ProvenPerson | None:
    """Return the person who opens the link of a seat that is invited; only the letter to this person has the link.

    Return None if the link proves nothing: that of the organiser is shown on a page, and a seat that is taken may have
    been taken with any address. Return None, too, where this server confirms no addresses, or if the seat has none.
    """
    row = sitting[seat]
    if not settings.confirms or seat == queries.find_organiser(sitting) or row.status != "invited":
        return None
    return None if row.person is None else ProvenPerson(row.person)


def prove_seat(db: Connection, person: ProvenPerson, table: str, seat: int, at: int) -> bool:
    """Record that this person holds a seat, and make its waiting letters due; return False if it is recorded already.

    If it is the organiser's seat, the waiting letters of all players at the table become due. It also proves the
    person's address and ends a bounce. No other seat of this person changes.
    """
    is_doubtful = or_(people.c.confirmed_at.is_(None), people.c.bounced_at.is_not(None))
    confirmed = {"confirmed_at": func.coalesce(people.c.confirmed_at, at), "bounced_at": None, "bounce": ""}
    db.execute(update(people).where(people.c.id == person.id, is_doubtful).values(**confirmed))
    own = (seats.c.table == table, seats.c.seat == seat, seats.c.person == person.id)
    if not db.execute(update(seats).where(*own, ~seats.c.proven).values(proven=True)).rowcount:
        return False
    if seat == queries.find_organiser(queries.list_seats(db, table)):
        queries.cancel_own_invitation(db, table)
        queries.release_letters(db, table, at)
    else:
        queries.release_seat_letters(db, table, seat, at)
    return True


class SeatClaim(Struct, frozen=True):
    """A seat that was taken with a person's address, without proof; `opened` is whether a table was opened with it.

    `plays_already` is whether the person has proven to hold another seat at the table.
    """

    table: str
    seat: int
    game: str
    organiser: str
    others: tuple[str, ...]
    at: int
    opened: bool
    plays_already: bool


def list_claims(db: Connection, person: int) -> tuple[SeatClaim, ...]:
    """Return the seats that were taken with this person's address without proof, the oldest table first."""
    own = (seats.c.person == person, ~seats.c.proven, tables.c.moved_to == "")
    # The organiser of a table that is not confirmed has opened it with the address, and may still be invited.
    taken = or_(seats.c.status != "invited", tables.c.awaits_confirmation & is_organisers_seat())
    columns = (
        seats.c.table,
        seats.c.seat,
        seats.c.person,
        seats.c.link_number,
        tables.c.game,
        tables.c.opened_at,
        tables.c.awaits_confirmation,
    )
    query = select(*columns).select_from(seats.join(tables))
    rows = db.execute(query.where(*own, taken).order_by(tables.c.opened_at, seats.c.table, seats.c.seat)).all()
    return tuple(_describe_claim(db, row) for row in rows)


def is_organisers_seat() -> ColumnElement[bool]:
    """The condition that a seat is the one of the organiser."""
    return seats.c.seat == queries.select_organiser(seats.c.table)


def _describe_claim(db: Connection, row: Any) -> SeatClaim:
    """Describe the seat of this row with the names at its table, so that the person can recognise the game."""
    sitting = queries.list_seats(db, row.table)
    organiser_seat = queries.find_organiser(sitting)
    others = tuple(one.name for one in sitting if one.seat != row.seat and one.name)
    organiser = sitting[organiser_seat].name if organiser_seat is not None else ""
    has_first_link = row.link_number == 0  # a substitute has a later one
    # A table that awaits no confirmation was opened without this address, which was added later.
    opened = row.awaits_confirmation and organiser_seat == row.seat and has_first_link
    plays_already = any(one.person == row.person and one.proven for one in sitting)
    return SeatClaim(
        row.table,
        row.seat,
        row.game,
        organiser,
        others,
        at=row.opened_at,
        opened=opened,
        plays_already=plays_already,
    )
