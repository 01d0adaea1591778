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


def open_rematch(app: App, place: Place, language: str = SOURCE) -> str:
    """Open the table, invite all players, and seat this one; return the link of the new seat."""
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, place.table)
    if place.seat is None or table.table.phase != "over":
        raise Refused("Only whoever has played a game to its end can lay its table again; please open a new one.")
    own = table.seats[place.seat]
    if app.settings.confirms and own.person is not None and own.confirmed_at is None:
        # the new link would table as if a letter had led the player there
        raise Refused("Please confirm your address first; the link is in the letter that we sent you.")
    opened = opening.open_table(app, make_new_table(app, table, place.seat, language))
    with at_table(app, opened.table) as work:
        seat = find_seat(work.locked, own.name, own.person)
        work.locked = seat_player(work.locked, seat)
    return access.link_of(app, seat)


def find_seat(locked: LockedTable, name: str, person: int | None) -> SeatRow:
    """Return this player's seat at the new table."""
    for seat in queries.list_seats(locked.flush(), locked.row.id):
        if (seat.name, seat.person) == (name, person):
            return seat
    raise Refused("The table is laid again, but you have given up your seat there.")


def seat_player(locked: LockedTable, seat: SeatRow) -> LockedTable:
    """Seat this player at the new table; change nothing if the player sits there already."""
    if seat.status != "invited":
        return locked
    return carry_out(locked, SeatCommand(seat.seat, f"sit {secrets.token_hex(8)}"))


def make_new_table(app: App, table: Snapshot, seat: int, language: str) -> NewTable:
    """Return the new table for this player, who sits down at once."""
    return NewTable(
        game=table.game.META.name,
        chosen=table.table.options,
        guests=tuple(_list_guests(app, table, seat)),
        clock=table.clock,
        language=language,
        key=app.links.again(table.row.id),
        watched=table.row.watched,
        opener=table.seats[seat].person,
    )


def _list_guests(app: App, table: Snapshot, own: int) -> list[Invited]:
    """Return the players in the order of their seats, beginning with this one."""
    addresses = _load_addresses(app, table.row.id)
    order = [*table.seats[own:], *table.seats[:own]]
    mine = Invited(table.names[own], addresses.get(own, ""), secrets.token_hex(8), "person")
    return [
        mine,
        *(Invited(seat.name, addresses.get(seat.seat, ""), level=cast(Strength, seat.level)) for seat in order[1:]),
    ]


def _load_addresses(app: App, table: str) -> dict[int, str]:
    """Load the e-mail addresses by seat; bots and deleted players have none."""
    joined = seats.join(people, people.c.id == seats.c.person)
    wanted = select(seats.c.seat, people.c.address).select_from(joined).where(seats.c.table == table)
    with app.store.reading() as connection:
        return {int(seat): str(address) for seat, address in connection.execute(wanted)}
