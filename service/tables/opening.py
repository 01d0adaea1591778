"""Opening a table: who is invited and who sits there already, once however often it is asked, and not too often."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from engine import catalogue, chance, log
from engine import options as choices
from engine import table as engine_table
from engine.game import objection
from engine.menu import Move
from engine.refusal import Refused
from service import timing
from service.links import hashed
from service.people import limits, register
from service.store import book
from service.store.schema import seats, tables
from service.tables import clerk, sitting
from service.tables.clerk import Desktop
from service.text.languages import SOURCE
from service.timing import Clock

if TYPE_CHECKING:
    from service.tables.desk import Desk

Who = Literal["", "person", "bot", "anybody"]
STATUS = {"person": "invited", "bot": "bot", "anybody": "open"}


class Invited(Struct, frozen=True):
    """Somebody who is to play: a person, a bot, or anybody who comes with the table's link.

    Unless it is said who, an address makes a person and none a bot. With a word for the dice one sits down at once.
    """

    name: str
    address: str = ""
    nonce: str = ""
    who: Who = ""

    @property
    def status(self) -> str:
        return STATUS[self.who or ("person" if self.address else "bot")]


class Opened(Struct, frozen=True):
    """A new table, the link of every seat (empty for a bot), and the token to join it, if it is open."""

    table: str
    links: tuple[str, ...]
    watch: str
    join: str = ""


class Opening(Struct, frozen=True):
    """A table to be opened: what is played, by whom, and how time is kept; the same key again is the same table."""

    game: str
    chosen: Mapping[str, Any]
    guests: tuple[Invited, ...]
    clock: Clock
    language: str = SOURCE
    key: str = ""
    watched: bool = True

    @property
    def once(self) -> str | None:
        """What makes it the same, whoever of them asks first: a key alone could be somebody else's."""
        who = sorted((guest.name, guest.address, guest.status) for guest in self.guests)
        what = [self.key, self.game, dict(self.chosen), who]
        return hashed(msgspec.json.encode(what, order="sorted").decode()) if self.key else None


def open_table(desk: Desk, opening: Opening) -> Opened:
    """Open a table, seat its bots, and owe an invitation to everybody else; the first one opens it."""
    game = catalogue.find(opening.game)
    options = choices.read(game.META.options, opening.chosen)
    why = objection(game, options, len(opening.guests))
    if why:
        raise why
    opening = replace(opening, guests=checked(opening.guests))
    try:
        with desk.store.writing() as connection:
            table = _known(connection, opening.once) or _laid(desk, connection, opening)
    except IntegrityError:  # asked for twice in this very moment
        with desk.store.reading() as connection:
            again = _known(connection, opening.once)
        if again is None:
            raise
        table = again
    desk.bells.ring("post")
    desk.bells.ring("bots")
    return _opened(desk, table)


def checked(invited: Sequence[Invited]) -> tuple[Invited, ...]:
    """The guests with clean names and addresses; nobody twice, and at least one who is no bot."""
    guests = tuple(_clean(one) for one in invited)
    names = [guest.name.casefold() for guest in guests if guest.name]
    if len(set(names)) < len(names):
        raise Refused("Two players have the same name; please tell them apart.")
    persons = [guest for guest in guests if guest.status == "invited"]
    if not persons:
        raise Refused("At least one player needs an e-mail address; the others may be bots.")
    first = next(guest for guest in guests if guest.status != "bot")
    if first.status == "open":
        raise Refused("Whoever opens the table plays; please put your own name before the seats for anybody.")
    if not all(guest.address for guest in persons) and any(guest.status != "bot" for guest in guests if guest != first):
        raise Refused("Without an e-mail address you can play against bots only; please give yours and theirs.")
    return guests


def _clean(guest: Invited) -> Invited:
    if guest.status == "open":
        return Invited("", who="anybody")
    address = register.clean_address(guest.address) if guest.address.strip() and guest.status == "invited" else ""
    who: Who = "person" if guest.status == "invited" else "bot"
    return Invited(register.clean_name(guest.name), address, guest.nonce, who)


def _known(connection: Connection, once: str | None) -> str | None:
    """The table that was opened by this very wish."""
    wanted = select(tables.c.id).where(tables.c.opening == once)
    return connection.execute(wanted).scalar_one_or_none() if once else None


def _laid(desk: Desk, connection: Connection, opening: Opening) -> str:
    """The table with its seats, opened; who can sit down at once does."""
    table, seed, at, guests = secrets.token_hex(8), secrets.token_bytes(32), desk.now(), opening.guests
    owners = _owners(connection, guests, at, opening.language)
    organiser = next((owners[guest.address] for guest in guests if guest.address), None)
    limits.refuse(connection, desk.settings, organiser, list(owners.values()), at)
    held = desk.settings.confirms and organiser is not None and not register.is_confirmed(connection, organiser)
    row = _row(desk, table, seed, opening)
    connection.execute(insert(tables), {**row, "opened_at": at, "moved_at": at, "held": held})
    connection.execute(
        insert(seats),
        [_seat(desk, table, number, guest, owners.get(guest.address)) for number, guest in enumerate(guests)],
    )
    desktop = clerk.take(connection, desk.shelf, table)
    assert desktop
    game = catalogue.find(opening.game)
    move = engine_table.open_move(game, len(guests), seed, opening.chosen, timing.words(opening.clock))
    _seated(clerk.enter(desktop, None, move, at, desk.settings), guests, at, desk)
    if held and organiser is not None:
        book.owe_person(connection, organiser, f"confirm/{table}", at)
    return table


def _seated(desktop: Desktop, guests: Sequence[Invited], at: int, desk: Desk) -> None:
    """Bots sit down, and whoever gave a word for the dice."""
    for number, guest in enumerate(guests):
        if guest.status == "bot":
            move = Move("bot", (str(number), secrets.token_hex(8)))
            desktop = clerk.enter(desktop, None, move, at, desk.settings)
    for number, guest in enumerate(guests):
        if guest.status == "invited" and guest.nonce:
            desktop = sitting.sat(desktop, number, register.clean_nonce(guest.nonce, "word"), at, desk.settings)


def _owners(connection: Connection, guests: Sequence[Invited], at: int, language: str) -> dict[str, int]:
    """The persons behind the addresses; always noted in the same order, so that two openings never wait in a circle."""
    named = sorted((guest.address, guest.name) for guest in guests if guest.address)
    return {address: register.person(connection, address, name, at, language) for address, name in named}


def _row(desk: Desk, table: str, seed: bytes, opening: Opening) -> dict[str, Any]:
    return {
        "id": table,
        "game": opening.game,
        "seats": len(opening.guests),
        "seed": seed,
        "commitment": chance.commitment(seed),
        "phase": "new",
        "length": 0,
        "head": log.GENESIS,
        "pace": opening.clock.pace,
        "watch": hashed(desk.links.watch(table)),
        "opening": opening.once,
        "watched": opening.watched,
    }


def _seat(desk: Desk, table: str, number: int, guest: Invited, owner: int | None) -> dict[str, Any]:
    return {
        "table": table,
        "seat": number,
        "person": owner,
        "name": guest.name,
        "status": guest.status,
        "link": hashed(desk.links.seat(table, number, 0)),
        "link_number": 0,
    }


def _opened(desk: Desk, table: str) -> Opened:
    """The links to the table; where addresses are proven by letters, the others' leave by letter alone."""
    with desk.store.reading() as connection:
        sitting = book.seats_of(connection, table)
    shown = {seat.seat for seat in sitting if seat.status not in ("bot", "open")}
    if desk.settings.confirms:
        shown = {min(shown)}
    links = tuple(desk.link_of(seat) if seat.seat in shown else "" for seat in sitting)
    free = any(seat.status == "open" for seat in sitting)
    return Opened(table, links, desk.links.watch(table), desk.links.join(table) if free else "")
