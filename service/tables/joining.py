"""Joining a table by a link that is not one seat's own, and opening a rematch for the same players.

Anyone with the link of an open table may take a free seat. The seat of an absent player is offered by a link of its own
to a substitute, who plays on from there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, cast

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from engine.menu import Move
from engine.refusal import Refused
from service import links
from service.app import App
from service.links import hash_token
from service.numbers import parse_int
from service.people import proof, register
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.batch import Batch, OwedLetter
from service.store.rows import SeatRow
from service.store.schema import people, seats
from service.tables import access, opening, seat_commands, snapshots
from service.tables.access import Unknown
from service.tables.judging import SeatCommand, at_table, carry_out, publish_changes
from service.tables.locked_table import LockedTable, append_command, change_seat, lock_table
from service.tables.opening import Invitee, NewTable, Strength
from service.tables.snapshots import Snapshot
from service.text.languages import SOURCE

FREE = "open"  # the status of a free seat


def find_open_table(app: App, token: str) -> Snapshot:
    """Return the open table of this link; raise Unknown if the link is wrong or no seat is free."""
    name = _parse_join_token(app, token)
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, name)
    if not any(seat.status == FREE for seat in table.seats):
        raise Unknown("All seats at this table are taken.")
    return table


def _parse_join_token(app: App, token: str) -> str:
    """Return the id of the table that this token opens; raise Unknown if it is wrong."""
    (name,) = links.parse_token(token, 1)
    if not links.is_same_secret(app.links.make_join_token(name), token):
        raise Unknown("This link leads to no open table; please ask its sender for the newest one.")
    return name


def join(app: App, token: str, guest: Invitee, language: str = SOURCE, visit: str = "") -> str:
    """Take the next free seat of an open table; return the seat's link.

    `visit` is the key in the device's cookie. Unless the person of this address is signed in by it, the seat gets no
    letters until the address is proven. A guest without an address can add one later.
    """
    table, name = _parse_join_token(app, token), register.clean_name(guest.name)
    address = register.clean_address(guest.address) if guest.address.strip() else ""
    register.refuse_reserved(name, app.settings.sender_name)
    with at_table(app, table) as work:
        db = work.locked.flush()
        seat = _find_free_seat(work.locked)
        person = register.find_or_create_person(db, address, name, app.now(), language) if address else None
        proven = person is not None and is_proven(app, db, person, visit)
        seat_commands.refuse_second_seat(work.locked, seat.seat, person if proven else None, name)
        locked = change_seat(work.locked, seat.seat, person=person, proven=proven, name=name, status="invited")
        nonce = register.clean_nonce(guest.nonce, otherwise=secrets.token_hex(8))  # the word for the dice
        work.locked = seat_commands.sit(locked, seat.seat, nonce)
        if person is not None:
            owe_first_letter(work.locked, seat.seat, person)
    return access.make_seat_link(app, seat)  # the seat had this link before it was taken


def _find_free_seat(locked: LockedTable) -> SeatRow:
    """Return the first free seat; raise Unknown if there is none any more."""
    for seat in locked.seats:
        if seat.status == FREE:
            return seat
    raise Unknown("Another player was quicker; all seats at this table are taken.")


def is_proven(app: App, db: Connection, person: int, visit: str) -> bool:
    """Return whether this person's address needs no proof by letter; `visit` is the key in the device's cookie."""
    if not app.settings.confirms:
        return True
    signed_in = proof.find_signed_in(db, visit) if visit else None
    return signed_in is not None and signed_in.id == person


def owe_first_letter(locked: LockedTable, seat: int, person: int) -> None:
    """Owe a letter with the link; an unproven address gets only a question whether it is right."""
    if locked.seats[seat].proven:
        invitation = OwedLetter(seat, "invitation", due_at=locked.now)
        queries.owe_letter(locked.flush(), locked.row.id, seq=0, letter=invitation)  # entry 0 opened the table
    else:
        queries.owe_personal_letter(locked.flush(), person, f"confirm/{locked.row.id}", locked.now)


def fill_with_bots(app: App, link: str) -> None:
    """Let bots take the seats that are still free; raise Refused unless this is the organiser's link."""
    access.check_link(app, link)
    with at_table(app, link, _lock_as_organiser) as work:
        for seat in [one for one in work.locked.seats if one.status == FREE]:
            name = _find_bot_name(work.locked.seats)
            locked = change_seat(work.locked, seat.seat, name=name, status="bot")
            work.locked = seat_commands.seat_bot(locked, seat.seat, nonce="bot")


def _lock_as_organiser(app: App, batch: Batch, link: str) -> LockedTable:
    """Lock the table of a link; raise Refused unless it is the link of its organiser."""
    place = access.find_place(batch.flush(), link)
    locked = lock_table(app, batch, place.table)
    if place.seat is None or place.seat != queries.find_organiser(locked.seats):
        raise Refused("Only the player who opened the table can let bots take its free seats.")
    return locked


def _find_bot_name(sitting: Iterable[SeatRow]) -> str:
    """Return a name for a bot that no player at the table has."""
    taken = {seat.name.casefold() for seat in sitting}
    number = 1
    while f"Bot {number}".casefold() in taken:
        number += 1
    return f"Bot {number}"


def make_offer_token(app: App, seat: Any) -> str:
    """Return the token of the link that offers this seat to a substitute."""
    return app.links.make_offer_token(seat.table, seat.seat, seat.link_number)


def find_offered_seat(app: App, token: str) -> tuple[Snapshot, int]:
    """Return the table and the seat that this token offers; raise Unknown if it does not, or no longer."""
    name, number = links.parse_token(token, 2)
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, name)
    seat = parse_int(number, len(table.seats) - 1)
    if seat is None or not links.is_same_secret(make_offer_token(app, table.seats[seat]), token):
        raise Unknown("This seat has been taken, or was never offered.")
    if table.position.phase != "playing" or not table.position.seats[seat].offered:
        raise Unknown("This seat is no longer offered.")
    return table, seat


def take_offered_seat(app: App, token: str, guest: Invitee, language: str = SOURCE, visit: str = "") -> str:
    """Take an offered seat; return its new link, which replaces the old one.

    `visit` is the key in the device's cookie: it may show that the guest is signed in, and so needs no proof by letter.
    """
    table, seat = find_offered_seat(app, token)
    name, address = register.clean_name(guest.name), register.clean_address(guest.address)
    register.refuse_reserved(name, app.settings.sender_name)
    with at_table(app, table.row.id) as work:
        db = work.locked.flush()
        if not work.locked.position.seats[seat].offered:
            raise Unknown("Another player was quicker; this seat has been taken.")
        row = work.locked.seats[seat]
        if row.link_number != table.seats[seat].link_number:
            raise Unknown("This seat is no longer offered.")
        person = register.find_or_create_person(db, address, name, app.now(), language)
        proven = is_proven(app, db, person, visit)
        seat_commands.refuse_second_seat(work.locked, seat, person if proven else None, name)
        locked = _replace_player(work.locked, row, person, name, proven=proven)
        locked = append_command(locked, None, Move("substitute", (str(seat),)))
        work.locked = seat_commands.announce_vacations(locked, seat)
        if not proven:
            queries.owe_personal_letter(db, person, f"confirm/{table.row.id}", app.now())
    return access.make_seat_link(app, work.locked.seats[seat])


def _replace_player(locked: LockedTable, former: SeatRow, person: int, name: str, *, proven: bool) -> LockedTable:
    """Give a seat, whose row was `former`, to another person with a new link; delete what the last player stored there.

    The last player is owed a letter about it, if the address was proven.
    """
    number = former.link_number + 1
    queries.clear_seat(locked.flush(), former.table, former.seat)
    if former.proven and former.person is not None and former.person != person:
        kind = f"replaced/{former.table}/{former.seat}/{number}"
        queries.owe_personal_letter(locked.flush(), former.person, kind, locked.now)
    link = hash_token(locked.app.links.make_seat_token(former.table, former.seat, number))
    return change_seat(locked, former.seat, person=person, proven=proven, name=name, link=link, link_number=number)


def open_rematch(app: App, link: str, language: str = SOURCE) -> str:
    """Open the rematch, invite all players, and seat the player of this link; return the link of the new seat."""
    try:
        own = _open_rematch_once(app, link, language)
    except IntegrityError:  # another player has opened it at the same moment
        own = _open_rematch_once(app, link, language)
    opening.wake_workers(app)
    return access.make_seat_link(app, own)


def _open_rematch_once(app: App, link: str, language: str) -> SeatRow:
    """Open the rematch unless it is open, and seat the player of this link, in one transaction; return the seat."""
    with access.writing_at(app, link) as (db, place):
        batch = Batch(db)
        table = snapshots.load_table(app, db, place.table)
        if place.seat is None or table.position.phase != "over":
            raise Refused("Only players of a finished game can open a rematch; please open a new table.")
        opened, own = open_rematch_within(app, batch, table, place.seat, language)
        batch.flush()
    publish_changes(app, [opened])
    return own


def open_rematch_within(
    app: App, batch: Batch, table: Snapshot, seat: int, language: str
) -> tuple[LockedTable, SeatRow]:
    """Open the rematch in the transaction of a batch, unless it is open, and seat this player; return table and seat.

    After the commit call `publish_changes` and `opening.wake_workers`.
    """
    own = table.seats[seat]
    # The organiser is the first player with an address, if there is one: this player could not be the organiser.
    if own.person is None and any(one.person is not None for one in table.seats):
        raise Refused("You play without an e-mail address; please ask another player to open the next game.")
    holder = None if own.person is None else proof.require_holder(own)
    new = make_new_table(app, batch.flush(), table, seat, language)
    opened = lock_table(app, batch, opening.open_within(app, batch, new))
    new_seat = find_seat(opened, own.name, own.person)
    return seat_player(opened, new_seat, holder), new_seat


def find_seat(locked: LockedTable, name: str, person: int | None) -> SeatRow:
    """Return this player's seat at the new table; raise Refused if the player has declined it."""
    for seat in locked.seats:
        if (seat.name, seat.person) == (name, person):
            return seat
    raise Refused("A new game was opened, but you have given up your seat there.")


def seat_player(locked: LockedTable, seat: SeatRow, holder: ProvenPerson | None) -> LockedTable:
    """Seat this player at the new table; change nothing if the player sits there already.

    `holder` is the person of the seat, whose address is proven; None if the player gave no address.
    """
    if seat.status != "invited":
        return locked
    if holder is not None:
        locked = change_seat(locked, seat.seat, proven=True)
    nonce = secrets.token_hex(8)  # a word for the dice, as the player typed none
    return carry_out(locked, SeatCommand(seat.seat, f"sit {nonce}"))


def make_new_table(app: App, db: Connection, table: Snapshot, seat: int, language: str) -> NewTable:
    """Return a new table with the game, options, clock and players of this one, opened by this player.

    A player whose address is proven counts as signed in.
    """
    return NewTable(
        game=table.game.META.name,
        chosen=table.position.options,
        guests=tuple(_list_guests(db, table, seat)),
        clock=table.clock,
        language=language,
        key=app.links.make_rematch_key(table.row.id),
        watched=table.row.allows_spectators,
        signed_in=proof.find_holder(table.seats[seat]),
        visitor=table.row.visitor,
    )


def _list_guests(db: Connection, table: Snapshot, own: int) -> list[Invitee]:
    """Return the players in the order of their seats, beginning with this one."""
    addresses = _load_addresses(db, table.row.id)
    others = [*table.seats[own + 1 :], *table.seats[:own]]
    mine = Invitee(table.names[own], addresses.get(own, ""), nonce=secrets.token_hex(8), who="person")
    return [mine, *(_invite_again(seat, addresses.get(seat.seat, "")) for seat in others)]


def _invite_again(seat: SeatRow, address: str) -> Invitee:
    """Return this player as a guest; a player without an address cannot be invited, and leaves a free seat."""
    if seat.status != "bot" and not address:
        return Invitee(name="", who="anybody")
    return Invitee(seat.name, address, level=cast(Strength, seat.level))


def _load_addresses(db: Connection, table: str) -> dict[int, str]:
    """Load the e-mail addresses by seat; bots and deleted players have none."""
    joined = seats.join(people, people.c.id == seats.c.person)
    query = select(seats.c.seat, people.c.address).select_from(joined).where(seats.c.table == table)
    return {int(seat): str(address) for seat, address in db.execute(query)}
