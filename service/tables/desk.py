"""The desk: everything people do here. Pages, letters, the command line and the API all come through it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from engine import catalogue, log
from engine.record import Table
from engine.refusal import Refused
from service import timing
from service.bells import Bells
from service.links import Links, hashed
from service.settings import Settings
from service.store import Store, book
from service.store.book import Found, Verdict
from service.store.schema import people as people_table
from service.store.schema import seats, submissions, tables
from service.tables import archive, gallery, opening, standing_orders
from service.tables.opening import Invited as Invited
from service.tables.opening import Opened as Opened
from service.tables.positions import Shelf, entries
from service.text.languages import SOURCE, Said
from service.timing import Clock

MOVE_LENGTH = 2_000


class Place(Struct, frozen=True):
    """Where a link leads: to a seat at a table, or (seat None) behind the players' backs."""

    table: str
    seat: int | None
    link: str


class Look(Struct, frozen=True):
    """A table as it stands: its row, its seats, and the position."""

    row: Any
    seats: tuple[Any, ...]
    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(seat.name for seat in self.seats)

    @property
    def game(self) -> Any:
        return catalogue.find(self.row.game)

    @property
    def clock(self) -> Clock:
        return timing.read(self.table.clock, self.row.pace)


class Desk:
    """The use cases, one method each."""

    def __init__(
        self, settings: Settings, now: Callable[[], int], store: Store, bells: Bells, links: Links, shelf: Shelf
    ) -> None:
        self.settings = settings
        self.now = now
        self.store = store
        self.bells = bells
        self.links = links
        self.shelf = shelf

    def open_table(
        self,
        game_name: str,
        chosen: Mapping[str, Any],
        invited: Sequence[Invited],
        clock: Clock | int | None = None,
        language: str = SOURCE,
        key: str = "",
        watched: bool = True,
    ) -> Opened:
        """Open a table, seat its bots, and owe an invitation to everybody else; the first one opens it.

        A number for its clock is so many seconds for a move, or no limit; None is what this house is used to. Who is
        new here is written to in the language of whoever opens, until he chooses another. The same with the same key
        again is the same table. Where it is not `watched`, nobody looks on.
        """
        asked = opening.Opening(game_name, chosen, tuple(invited), self._clock(clock), language, key, watched)
        return opening.open_table(self, asked)

    def _clock(self, asked: Clock | int | None) -> Clock:
        if isinstance(asked, Clock):
            return timing.checked(asked)
        return Clock(self.settings.pace if asked is None else asked)

    def find(self, link: str) -> Place:
        """Where this link leads."""
        with self.store.reading() as connection:
            seat = connection.execute(select(seats.c.table, seats.c.seat).where(seats.c.link == hashed(link)))
            found = seat.one_or_none()
            if found:
                return Place(found.table, found.seat, link)
            table = gallery.table_of(connection, link) or self._watched(connection, link)
            if table:
                return Place(table, None, link)
        if link.startswith(gallery.PREFIX):
            raise Unknown("This game is not shown in the gallery any more; please choose another one there.")
        raise Unknown("This link leads nowhere; please use the newest letter you have from this table.")

    def _watched(self, connection: Connection, link: str) -> str | None:
        wanted = select(tables.c.id, tables.c.watched).where(tables.c.watch == hashed(link))
        found = connection.execute(wanted).one_or_none()
        if found and not found.watched:
            raise Unknown("Nobody looks on at this table; ask one of its players to tell you how it goes.")
        return found.id if found else None

    def answered(self, token: str) -> Place:
        """The seat whose answers go to this address: `table.seat.proof`."""
        table, _, rest = token.partition(".")
        number, _, _ = rest.partition(".")
        wanted = select(seats).where(
            seats.c.table == table, seats.c.seat == (int(number) if number.isdecimal() else -1)
        )
        with self.store.reading() as connection:
            seat = connection.execute(wanted).one_or_none()
        if seat is None or not hmac.compare_digest(
            self.links.answer(table, seat.seat, seat.link_number), token.lower()
        ):
            raise Unknown("This address belongs to no seat; please answer the newest letter you have from the table.")
        return Place(table, seat.seat, self.link_of(seat))

    def address_of(self, seat: Found) -> str:
        """Where answers for a seat are sent to."""
        return f"play+{self.links.answer(seat.table, seat.seat, seat.link_number)}@{self.settings.mail_host}"

    def owner(self, place: Place) -> str:
        """The e-mail address of whoever holds this seat."""
        joined = seats.join(people_table, people_table.c.id == seats.c.person)
        wanted = select(people_table.c.address).select_from(joined)
        with self.store.reading() as connection:
            own = wanted.where(seats.c.table == place.table, seats.c.seat == place.seat)
            return str(connection.execute(own).scalar_one_or_none() or "")

    def speak(self, place: Place, language: str) -> None:
        """Write to whoever holds this seat in this language from now on."""
        holder = select(seats.c.person).where(seats.c.table == place.table, seats.c.seat == place.seat)
        with self.store.writing() as connection:
            spoken = update(people_table).where(people_table.c.id == holder.scalar_subquery())
            connection.execute(spoken.values(language=language))

    def look(self, table: str) -> Look:
        """The table as it is now."""
        with self.store.reading() as connection:
            row = book.find(connection, table)
            if row is None:
                raise Unknown("There is no such table.")
            return Look(row, tuple(book.seats_of(connection, table)), self.shelf.table(connection, row))

    def past(self, look: Look, seq: int) -> Table:
        """The table as it was after entry `seq`."""
        if seq + 1 >= look.row.length:
            return look.table
        with self.store.reading() as connection:
            return self.shelf.before(connection, look.row, seq + 1)

    def entries(self, look: Look, first: int = 0, end: int | None = None) -> list[log.Entry[Any]]:
        """The entries of a table from `first` up to, not including, `end`."""
        with self.store.reading() as connection:
            return entries(connection, look.game, look.row.id, first, look.row.length if end is None else end)

    def submit(self, place: Place, text: str, key: str = "", seen: int | None = None) -> int:
        """Hand a command in for the referee; the same key again is the same submission."""
        if place.seat is None:
            raise Refused("This link is for looking on; only players can move.")
        if len(text) > MOVE_LENGTH:
            raise Refused("A move is a few words; this is {length} characters long.", length=len(text))
        if not text.strip() or not text.replace("\n", " ").isprintable():
            raise Refused("Please write a move in plain words.")
        row = {
            "key": f"{place.table}/{place.seat}/{key[:80] or secrets.token_hex(16)}",
            "table": place.table,
            "seat": place.seat,
            "move": " ".join(text.split()),
            "seen": seen,
            "at": self.now(),
        }
        number = self._hand_in(row)
        self.bells.ring("referee")
        return number

    def _hand_in(self, row: Mapping[str, Any]) -> int:
        try:
            with self.store.writing() as connection:
                made = connection.execute(insert(submissions).returning(submissions.c.id), row)
                return int(made.scalar_one())
        except IntegrityError:
            with self.store.reading() as connection:
                same = select(submissions.c.id).where(submissions.c.key == row["key"])
                return int(connection.execute(same).scalar_one())

    def verdict(self, submission: int, patience: float | None = None) -> Verdict | None:
        """What the referee said, waiting for it a little; None while he has not looked yet."""
        found = self._verdict(submission)
        if found is None:
            self.bells.wait(submission, self.settings.patience if patience is None else patience)
            found = self._verdict(submission)
        return found

    def _verdict(self, submission: int) -> Verdict | None:
        with self.store.reading() as connection:
            row = connection.execute(select(submissions).where(submissions.c.id == submission)).one_or_none()
        if row is None or row.accepted is None:
            return None
        return _verdict(row)

    def heard(self, place: Place, submission: int) -> Verdict | Literal["waiting"] | None:
        """The verdict on a submission of this very seat, if there is such a one."""
        own = select(submissions).where(
            submissions.c.id == submission, submissions.c.table == place.table, submissions.c.seat == place.seat
        )
        with self.store.reading() as connection:
            row = connection.execute(own).one_or_none()
        if row is None:
            return None
        return "waiting" if row.accepted is None else _verdict(row)

    def orders(self, place: Place) -> list[Any]:
        """What this seat wants done as soon as it may."""
        with self.store.reading() as connection:
            return standing_orders.of(connection, place.table, place.seat) if place.seat is not None else []

    def receipt(self, look: Look, seq: int) -> str:
        """The hash of the chain after entry `seq`."""
        with self.store.reading() as connection:
            return str(book.entries_of(connection, look.row.id, seq, seq + 1)[0].hash)

    def export(self, place: Place) -> log.Export:
        """The log as whoever holds this link may keep it."""
        with self.store.reading() as connection:
            row = book.find(connection, place.table)
            assert row
            return archive.export(connection, row, place.seat)

    def link_of(self, seat: Found) -> str:
        """The link of a seat, made again."""
        return self.links.seat(seat.table, seat.seat, seat.link_number)


def _verdict(row: Found) -> Verdict:
    return Verdict(row.accepted, Said.read(row.said), row.rule, row.seq)


class Unknown(Refused):
    """A link or a table that does not exist."""
