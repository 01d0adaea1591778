"""The clerk: has a command judged, and enters it into the book with everything that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from engine import catalogue, log
from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.menu import Move
from engine.record import (
    Ended,
    Missed,
    Offered,
    Opened,
    PauseAsked,
    Paused,
    Resumed,
    Substituted,
    Table,
    TimedOut,
    UndoAsked,
)
from service import timing
from service.settings import Settings
from service.store import book
from service.store.book import Chair, Found, Owed, Sealed
from service.tables.positions import Shelf
from service.tables.seat_changes import Held, changed
from service.timing import Clock

STAND_INS = ("bot", "resigned")
OWN = Held.__struct_fields__


class Desktop(Struct, frozen=True):
    """A table laid out for work: its row is locked in this transaction, and here is all that stands in it."""

    connection: Connection
    row: Found
    head: str
    seats: tuple[Held, ...]
    table: Table
    shelf: Shelf

    @property
    def clock(self) -> Clock:
        return timing.read(self.table.clock, self.row.pace)

    @property
    def game(self) -> Game:
        return catalogue.find(self.row.game)

    def before(self, seq: int) -> Table:
        return self.shelf.before(self.connection, self.row, seq)


def take(connection: Connection, shelf: Shelf, table: str) -> Desktop | None:
    """Lock a table and lay it out."""
    row = book.lock(connection, table)
    if row is None:
        return None
    held = tuple(Held(*(getattr(seat, name) for name in OWN)) for seat in book.held(connection, table))
    return Desktop(connection, row, row.head, held, shelf.table(connection, row), shelf)


def enter(desktop: Desktop, seat: int | None, move: Move, at: int, settings: Settings) -> Desktop:
    """Judge a command of a seat, or of the house (None), and append the entry; raises Refused and changes nothing."""
    table, game = desktop.table, desktop.game
    chance = tables.draws(table, desktop.row.seed)
    after, events = tables.play(game, table, seat, move, chance, desktop.before)
    entry = Entry(table.length, at, seat, str(move), tuple(chance.draws), events, game.META.edition)
    sealed = seal(desktop.row.seed, desktop.head, entry)
    clock = timing.read(after.clock, desktop.row.pace)
    changing = changed(game, desktop.seats, table, after, entry, clock, settings.reminder)
    chairs = {chair.seat: chair for chair in changing}
    owed = tuple(_owed(desktop, after, chairs.values(), entry, settings.gathers))
    book.append(desktop.connection, desktop.row.id, sealed, after.phase, at, chairs.values(), owed)
    if after.phase == "over":
        book.rank(desktop.connection, desktop.row.id, after.places)
    return replace(desktop, head=sealed.hash, table=after, seats=tuple(_held(seat, chairs) for seat in desktop.seats))


def _held(seat: Held, chairs: Mapping[int, Chair]) -> Held:
    new = chairs.get(seat.seat)
    return replace(seat, **{name: getattr(new, name) for name in book.CHANGING}) if new else seat


def seal(seed: bytes, head: str, entry: Entry[Any]) -> Sealed:
    """The entry's bytes, its digest, and the new head of the chain."""
    body = log.canonical(entry)
    digest = log.digest(seed, entry.seq, body)
    return Sealed(entry.seq, body.decode(), digest, log.link(head, digest))


def _owed(desktop: Desktop, after: Table, chairs: Iterable[Chair], entry: Entry[Any], pause: int) -> Iterator[Owed]:
    """The letters this entry makes necessary: turns after a pause, in case they are over by then; none while held."""
    people = [seat.seat for seat in desktop.seats if seat.person is not None]
    at, soon = (book.HELD, book.HELD) if desktop.row.held else (entry.at, entry.at + pause)
    told = (word for event in entry.events for word in _told(event, after, entry, people))
    yield from (Owed(seat, kind, at) for seat, kind in told if seat in people)
    for chair in chairs:
        if chair.open_since == entry.seq and chair.status == "taken" and chair.seat in people:
            yield Owed(chair.seat, "turn", soon)


def _told(event: Any, after: Table, entry: Entry[Any], people: list[int]) -> Iterator[tuple[int, str]]:
    """Who has to hear of this event by letter."""
    match event:
        case Opened():
            yield from ((seat, "invitation") for seat in people)
        case UndoAsked() if after.asked:
            yield from ((seat, "asked") for seat in after.asked.waiting)
        case PauseAsked() if after.pausing:
            yield from ((seat, "pausing") for seat in after.pausing.waiting)
        case Paused():
            yield from ((seat, "paused") for seat in people if seat != entry.seat)
        case Resumed():
            yield from ((seat, "resumed") for seat in people if seat != entry.seat)
        case TimedOut(seat):
            yield seat, "timeout"
        case Missed(seat):
            yield seat, "forfeited" if after.seats[seat].status == "resigned" else "relieved"
        case Offered(seat):
            yield from ((other, "offered" if other == seat else "offer") for other in people)
        case Substituted(seat, False):
            yield seat, "seat"
        case Ended():
            yield from ((seat, "over") for seat in people)
