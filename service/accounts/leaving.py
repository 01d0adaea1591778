"""Exporting a person's data, and deleting the person, while the games of the other players go on."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field
from sqlalchemy import Connection, delete, select, update

from engine.menu import Move
from engine.refusal import Refused
from service import links
from service.accounts import addresses, my_tables
from service.app import App
from service.links import hash_token
from service.notify import channels, followers
from service.people import letter_settings, register
from service.people.proof import ProvenPerson
from service.store.channel_queries import ChannelRow
from service.store.rows import FollowerRow, SeatRow
from service.store.schema import (
    branches,
    letters,
    mailbox,
    mails,
    orders,
    people,
    refused_mails,
    seats,
    submissions,
    tables,
    talk,
    vacations,
    visits,
)
from service.store.schema import followers as follower_table
from service.tables import access, seat_commands, standing_orders
from service.tables.judging import at_table
from service.tables.locked_table import LockedTable, append_command, change_seat


class SeatBelongings(Struct, frozen=True):
    """The data of one seat, as the exported file has them; there the letter settings are called `wishes`."""

    table: str
    game: str
    phase: str
    seat: int
    name: str
    link: str
    log: str
    place: int | None
    letter_settings: str = field(name="wishes")
    note: str
    orders: list[str]
    talk: list[str]
    seen_at: int | None


class ChannelBelongings(Struct, frozen=True):
    """The exported data of a channel beside mail."""

    kind: str
    label: str
    address: str
    secret: str
    groups: str
    table: str
    created_at: int
    disabled_at: int | None


class Belongings(Struct, frozen=True):
    """The data of a person, as the exported file has them; there the letter settings are called `wishes`."""

    address: str
    name: str
    language: str
    since: int
    confirmed_at: int | None
    letter_settings: Any = field(name="wishes")
    calendar: Any
    vacations: list[tuple[str, str]]
    calendar_address: str  # empty if it is closed
    channels: list[ChannelBelongings]
    followers: list[FollowerRow]
    tables: list[SeatBelongings]


def export_person(app: App, person: ProvenPerson) -> Belongings:
    """Return all data of a person, to be downloaded as a file."""
    with app.store.reading() as connection:
        row = connection.execute(select(people).where(people.c.id == person.id)).one()
        # A claim may be a seat of another player, who typed the address.
        own_seats = [seat for seat in _list_seats(connection, person.id) if not _is_claim(seat)]
        return Belongings(
            address=row.address,
            name=row.name,
            language=row.language,
            since=row.since,
            confirmed_at=row.confirmed_at,
            letter_settings=_parse_json(row.letter_settings),
            calendar=_parse_json(row.calendar),
            vacations=letter_settings.list_vacations(connection, person),
            calendar_address=_export_calendar_address(app, connection, person),
            channels=[_export_channel(channel) for channel in channels.list_own(connection, person)],
            followers=followers.list_followers(connection, follower_table.c.person == person.id),
            tables=[_export_seat(app, connection, seat) for seat in own_seats],
        )


def _export_calendar_address(app: App, db: Connection, person: ProvenPerson) -> str:
    """Return the address of the calendar feed; empty if this person has no feeds."""
    token = my_tables.find_token(app, db, person)
    return f"{app.settings.address}/calendar/{token}.ics" if token else ""


def _export_channel(one: ChannelRow) -> ChannelBelongings:
    return ChannelBelongings(**{name: getattr(one, name) for name in ChannelBelongings.__struct_fields__})


def _parse_json(text: str) -> Any:
    return msgspec.json.decode(text) if text else {}


def _list_seats(connection: Connection, person: int) -> list[Any]:
    """List the rows of a person's seats with the game and phase of their tables, the oldest table first."""
    joined = seats.join(tables)
    query = select(*seats.c, tables.c.game, tables.c.phase).select_from(joined).where(seats.c.person == person)
    return list(connection.execute(query.order_by(tables.c.opened_at, seats.c.table, seats.c.seat)))


def _export_seat(app: App, connection: Connection, seat: Any) -> SeatBelongings:
    """Export the data of one seat, which is a row of `_list_seats`."""
    link = f"{app.settings.address}/t/{access.make_seat_link(app, seat)}"
    remarks = select(talk.c.text).where(talk.c.table == seat.table, talk.c.seat == seat.seat).order_by(talk.c.id)
    return SeatBelongings(
        table=seat.table,
        game=seat.game,
        phase=seat.phase,
        seat=seat.seat,
        name=seat.name,
        link=link,
        log=f"{link}/log.json",
        place=seat.place,
        letter_settings=seat.letter_settings,
        note=seat.note,
        orders=[order.move for order in standing_orders.list_orders(connection, seat.table, seat.seat)],
        talk=list(connection.execute(remarks).scalars()),
        seen_at=seat.seen_at,
    )


def delete_person(app: App, person: ProvenPerson, typed: str) -> None:
    """Delete a person: give up the seats in running games; the logs keep moves of seats without names.

    Raise Refused unless the person's address was typed.
    """
    with app.store.reading() as connection:
        row = connection.execute(select(people).where(people.c.id == person.id)).one()
        occupied = _list_seats(connection, person.id)
    if not links.is_same_secret(typed.strip().casefold(), row.address.casefold()):
        raise Refused("This is not your address; nothing has been deleted.")
    while True:  # a player who joins a table meanwhile has another seat to give up
        for seat in occupied:
            if _is_claim(seat):
                addresses.refuse_seat(app, person, seat.table, seat.seat)
            else:
                _give_up(app, person.id, seat.table, seat.seat)
        occupied = _delete_unless_seated(app, person.id, row.address)
        if not occupied:
            break
    app.store.scrub()
    app.wakeups.wake("post")


def _is_claim(seat: Any) -> bool:
    """Return whether a seat was taken with an address that its holder has not proven."""
    return not seat.proven and seat.status != "invited"


def _delete_unless_seated(app: App, person: int, address: str) -> list[Any]:
    """Delete a person; if the person has taken seats in the meantime, delete nothing and return these."""
    with app.store.writing() as connection:
        # Until this transaction ends, the lock keeps other transactions from giving the person a seat.
        connection.execute(select(people.c.id).where(people.c.id == person).with_for_update())
        if occupied := _list_seats(connection, person):
            return occupied
        channels.remove_all(connection, person)
        followers.remove_all(connection, person)
        for table_of_rows in (mails, vacations, visits, letters):
            connection.execute(delete(table_of_rows).where(table_of_rows.c.person == person))
        connection.execute(delete(mailbox).where(mailbox.c.recipient == address))
        _erase_refused_mails(connection, address)
        _erase_name(connection, person)
        register.delete_person(connection, person)
        return []


def _erase_refused_mails(connection: Connection, address: str) -> None:
    """Delete the mails set aside for the host that name this address."""
    rows = connection.execute(select(refused_mails.c.id, refused_mails.c.raw)).all()
    named = [row.id for row in rows if address.casefold().encode() in row.raw.lower()]
    connection.execute(delete(refused_mails).where(refused_mails.c.id.in_(named)))


def _erase_name(connection: Connection, person: int) -> None:
    """Erase the texts of sent letters that name this person."""
    name = connection.execute(select(people.c.name).where(people.c.id == person)).scalar_one()
    if name:
        written = msgspec.json.encode(name).decode()  # as stored sentences have it
        sent = (letters.c.sent_at.is_not(None), letters.c.sentence.contains(written, autoescape=True))
        connection.execute(update(letters).where(*sent).values(sentence=""))


def _give_up(app: App, person: int, table: str, seat: int) -> None:
    """Give up one seat: resign in the log if the game is running, and remove the person from the seat."""
    with at_table(app, table) as work:
        connection = work.locked.flush()
        if work.locked.seats[seat].person != person:
            return  # another player has taken the seat in the meantime
        for table_of_rows in (orders, letters, talk, branches, submissions):
            own = (table_of_rows.c.table == table, table_of_rows.c.seat == seat)
            connection.execute(delete(table_of_rows).where(*own))
        empty_seat = _make_empty_seat(app, work.locked.seats[seat])
        work.locked = _replace_by_bot(change_seat(work.locked, seat, **empty_seat), seat)


def _replace_by_bot(locked: LockedTable, seat: int) -> LockedTable:
    """Let a bot play for this seat from now on; at a running table the seat resigns.

    Change nothing if another server plays this table now, if the game is over, or if a bot has the seat already.
    """
    current = locked.position.seats[seat]
    if locked.row.moved_to:
        return locked  # the other server plays this table now
    if locked.position.phase == "gathering" and current.status in ("empty", "taken"):
        word_for_dice = current.nonce or "bot"  # the word of a player who has sat down stays
        return seat_commands.seat_bot(locked, seat, word_for_dice)
    if locked.position.phase != "playing" or current.status != "taken":
        return locked
    return standing_orders.follow(append_command(locked, seat, Move("resign")))


def _make_empty_seat(app: App, seat: SeatRow) -> dict[str, Any]:
    """Return the columns of a seat whose player is deleted; its old link stops working."""
    number = seat.link_number + 1
    return {
        "person": None,
        "proven": False,
        "name": f"Seat {seat.seat + 1}",
        "link": hash_token(app.links.make_seat_token(seat.table, seat.seat, number)),
        "link_number": number,
        "note": "",
        "letter_settings": "",
        "orders": 0,
        "released": True,  # a player who is deleted cannot hold the game back from the gallery
    }
