"""A rematch: a new table for the same players and rules; all who ask for it get the same table and sit down there."""

from __future__ import annotations

import secrets
from typing import cast

from sqlalchemy import select

from engine.refusal import Refused
from service.app import App
from service.store import queries
from service.store.rows import SeatRow
from service.store.schema import people, seats
from service.tables import access, opening, snapshots
from service.tables.access import Place
from service.tables.judging import SeatCommand, at_table, carry_out
from service.tables.locked_table import LockedTable
from service.tables.opening import Invited, NewTable, Strength
from service.tables.snapshots import Snapshot
from service.text.languages import SOURCE


def lay(app: App, place: Place, language: str = SOURCE) -> str:
    """Open the table and invite all players; this one sits down, and the result is the link of his seat there."""
    with app.store.reading() as db:
        look = snapshots.load_table(app, db, place.table)
    if place.seat is None or look.table.phase != "over":
        raise Refused("Only whoever has played a game to its end can lay its table again; please open a new one.")
    own = look.seats[place.seat]
    if app.settings.confirms and own.person is not None and own.confirmed_at is None:
        # the new link would look as if a letter had led the player there
        raise Refused("Please confirm your address first; the link is in the letter that we sent you.")
    opened = opening.open_once(app, asked(app, look, place.seat, language))
    with at_table(app, opened.table) as work:
        seat = seat_of(work.locked, own.name, own.person)
        work.locked = seated(work.locked, seat)
    return access.link_of(app, seat)


def seat_of(locked: LockedTable, name: str, person: int | None) -> SeatRow:
    """This player's seat at the new table."""
    for seat in queries.list_seats(locked.flush(), locked.row.id):
        if (seat.name, seat.person) == (name, person):
            return seat
    raise Refused("The table is laid again, but you have given up your seat there.")


def seated(locked: LockedTable, seat: SeatRow) -> LockedTable:
    """The new table with this player on his seat, whoever of them asked for it first."""
    if seat.status != "invited":
        return locked
    return carry_out(locked, SeatCommand(seat.seat, f"sit {secrets.token_hex(8)}"))


def asked(app: App, look: Snapshot, seat: int, language: str) -> NewTable:
    """The new table as this player asks for it, who sits down at once."""
    return NewTable(
        look.game.META.name,
        look.table.options,
        tuple(_guests(app, look, seat)),
        look.clock,
        language,
        app.links.again(look.row.id),
        look.row.watched,
        look.seats[seat].person,
    )


def _guests(app: App, look: Snapshot, own: int) -> list[Invited]:
    """The players in the order of their seats, beginning with this one."""
    addresses = _addresses(app, look.row.id)
    order = [*look.seats[own:], *look.seats[:own]]
    mine = Invited(look.names[own], addresses.get(own, ""), secrets.token_hex(8), "person")
    return [
        mine,
        *(Invited(seat.name, addresses.get(seat.seat, ""), level=cast(Strength, seat.level)) for seat in order[1:]),
    ]


def _addresses(app: App, table: str) -> dict[int, str]:
    """The e-mail addresses by seat; bots and deleted players have none."""
    joined = seats.join(people, people.c.id == seats.c.person)
    wanted = select(seats.c.seat, people.c.address).select_from(joined).where(seats.c.table == table)
    with app.store.reading() as connection:
        return {int(seat): str(address) for seat, address in connection.execute(wanted)}
