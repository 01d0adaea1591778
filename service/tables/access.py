"""Access to a table: where a link or a reply address leads, the links of a seat, and the public gallery.

It also notes when a player was last there, for the others; a player can keep that private.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, select, update
from sqlalchemy.exc import SQLAlchemyError

from engine import catalogue
from engine.refusal import Refused
from service import links
from service.app import App
from service.links import hash_token
from service.people import letter_settings, proof
from service.settings import DAY_S
from service.store import queries
from service.store.rows import SeatRow, TableRow
from service.store.schema import former_links, seats, tables
from service.timing import HOUR_S

HERE_S = 600  # how long a player counts as being here
PRESENCE_PAUSE_S = 300  # between two notes about one seat


class Unknown(Refused):
    """A link or a table that does not exist."""


class TransferredAway(Refused):
    """The table was transferred to another server, which knows the same link; `link` is empty where none was used."""

    def __init__(self, sentence: str, /, *, server: str, link: str) -> None:
        super().__init__(sentence, address=f"{server}/t/{link}" if link else server)
        self.server = server
        self.link = link


def make_transfer_refusal(server: str, link: str = "") -> TransferredAway:
    """Make the refusal that names the server to which a table was transferred, and leads to `link` there if given."""
    return TransferredAway("This game is played on at {address} now.", server=server, link=link)


class Place(Struct, frozen=True):
    """The place that a link leads to: a seat at a table, or a spectator's place (seat None)."""

    table: str
    seat: int | None
    link: str


SEAT_BY_LINK: Select[Any] = (
    select(seats.c.table, seats.c.seat, tables.c.moved_to)
    .select_from(seats.join(tables))
    .where(seats.c.link == bindparam("key_link", ""))
)
SEAT_BY_FORMER_LINK: Select[Any] = (
    select(former_links.c.table, former_links.c.seat, tables.c.moved_to)
    .select_from(former_links.join(tables))
    .where(former_links.c.link == bindparam("key_link", ""))
)


def find(app: App, link: str) -> Place:
    """Find the place of a link, as `find_place` does; for a seat at this server with one quick SELECT."""
    with suppress(SQLAlchemyError), app.store.peeking() as db:  # after an error it is tried again below
        for table, seat, moved_to in queries.fetch(db, SEAT_BY_LINK, {"key_link": hash_token(link)}):
            if not moved_to:
                return Place(table, seat, link)
    with app.store.reading() as db:
        return find_place(db, link)


@contextmanager
def writing_at(app: App, link: str) -> Iterator[tuple[Connection, Place]]:
    """Begin a transaction, and yield it with the place of a link, so that the caller can change what belongs to it."""
    check_link(app, link)
    with app.store.writing() as db:
        yield db, find_place(db, link)


def check_link(app: App, link: str) -> None:
    """Raise Unknown if this link leads nowhere.

    Called before a transaction that writes, it keeps strangers who guess links from holding up writers. It reads the
    database only for a link that is new to this process.
    """
    if app.caches.links.get(hash_token(link)) is None:
        find(app, link)
        note_link(app, link)


def note_link(app: App, link: str) -> None:
    """Let `check_link` accept this link from now on; where it leads is looked up each time."""
    app.caches.links.put(hash_token(link), True)


def find_place(db: Connection, link: str) -> Place:
    """Find the place of a link; raise Unknown if it has none, TransferredAway if another server has the table."""
    values = {"key_link": hash_token(link)}
    row = db.execute(SEAT_BY_LINK, values).one_or_none() or db.execute(SEAT_BY_FORMER_LINK, values).one_or_none()
    if row:
        if row.moved_to:
            raise make_transfer_refusal(row.moved_to, link)
        return Place(row.table, row.seat, link)
    table = _find_gallery_table(db, link) or _find_watched_table(db, link)
    if table:
        return Place(table, seat=None, link=link)
    if link.startswith(GALLERY_PREFIX):
        raise Unknown("This game is not shown in the gallery any more; please choose another one there.")
    raise Unknown("This link leads nowhere; please use the newest letter you have from this table.")


def _find_watched_table(connection: Connection, link: str) -> str | None:
    """Return the table of a spectators’ link; None for any other link. Raise Unknown if it allows no spectators."""
    query = select(tables.c.id, tables.c.allows_spectators, tables.c.moved_to)
    row = connection.execute(query.where(tables.c.spectator_link == hash_token(link))).one_or_none()
    if row and row.moved_to:
        raise make_transfer_refusal(row.moved_to, link)
    if row and not row.allows_spectators:
        raise Unknown("Spectators are not allowed at this table; ask one of its players how it goes.")
    return row.id if row else None


def require_seat(place: Place) -> int:
    """Return the seat of this place; raise Refused for a spectator."""
    if place.seat is None:
        raise Refused("This link is for looking on; only players can do this.")
    return place.seat


def find_by_reply_address(app: App, db: Connection, token: str) -> Place:
    """Return the seat that a reply address belongs to; raise Unknown if there is none.

    The token is `table.seat.proof`, which mail programs may capitalise.
    """
    token = token.lower()
    table, number = links.parse_token(token, 2)
    for seat in queries.list_seats(db, table):
        if str(seat.seat) == number and app.links.is_answer_token(token, table, seat.seat, seat.link_number):
            return Place(table, seat.seat, make_seat_link(app, seat))
    raise Unknown("This address belongs to no seat; please answer the newest letter you have from the table.")


def make_seat_link(app: App, seat: Any) -> str:
    """Make the link of a seat from any row that has its table, its number and the number of its link."""
    return app.links.make_seat_token(seat.table, seat.seat, seat.link_number)


def set_language(db: Connection, place: Place, language: str) -> None:
    """Set the language of the letters to this player; change nothing for a spectator, or an unproven address."""
    if place.seat is None:
        return
    seat = queries.list_seats(db, place.table)[place.seat]
    holder = proof.find_holder(seat)
    if holder is not None:
        letter_settings.set_language(db, holder, language)


GALLERY_PAGE_TABLES = 20
GALLERY_PREFIX = "gallery."


def make_gallery_link(table: str) -> str:
    """Return the public link of a game in the gallery; it leads nowhere once the game is taken down."""
    return GALLERY_PREFIX + table


def _find_gallery_table(db: Connection, link: str) -> str | None:
    """Return the table of a public link; None for any other link, or if the gallery does not show the game."""
    if not link.startswith(GALLERY_PREFIX):
        return None
    query = select(tables.c.id).where(tables.c.id == link.removeprefix(GALLERY_PREFIX), _is_in_gallery())
    return db.execute(query).scalar_one_or_none()


def list_gallery_tables(db: Connection, page: int) -> tuple[list[str], bool]:
    """Return the tables on one page of the gallery (the first is 0), and whether there are more; newest games first."""
    is_installed = tables.c.game.in_(catalogue.find_all())
    newest = select(tables.c.id).where(_is_in_gallery() & is_installed).order_by(tables.c.ended_at.desc(), tables.c.id)
    names = db.execute(newest.offset(page * GALLERY_PAGE_TABLES).limit(GALLERY_PAGE_TABLES + 1)).scalars().all()
    return list(names[:GALLERY_PAGE_TABLES]), len(names) > GALLERY_PAGE_TABLES


def _is_in_gallery() -> ColumnElement[bool]:
    """The condition that a game is over and every player has released it.

    A seat of a deleted player counts as released, but one player with an address has to be left who released the game.
    """
    tables_with_consent = select(seats.c.table).where(seats.c.released, seats.c.person.is_not(None))
    has_objection = exists().where(seats.c.table == tables.c.id, seats.c.status != "bot", ~seats.c.released)
    return tables.c.id.in_(tables_with_consent) & (tables.c.phase == "over") & ~has_objection


def set_released(db: Connection, table: TableRow, seat: int, agreed: bool) -> None:
    """Store whether this seat's player agrees to show the game in the gallery.

    Raise Refused if the game is not over, or the player's address is not proven.
    """
    if table.phase != "over":
        raise Refused("The game is not over yet; it can be shown in the gallery when it is.")
    proof.require_holder(queries.list_seats(db, table.id)[seat])
    own = update(seats).where(seats.c.table == table.id, seats.c.seat == seat)
    db.execute(own.values(released=agreed))


def shows_presence(seat: SeatRow) -> bool:
    """Whether the others may know when this player was here."""
    settings = letter_settings.merge_settings(seat.player_letter_settings or "", seat.letter_settings)
    return seat.status == "taken" and settings.presence


def store_presence(app: App, link: str) -> None:
    """Store that the player of this link is here, at most once in five minutes and only if the others may know it.

    Pages call this every minute, so only the call that writes begins a transaction that locks.
    """
    with app.store.reading() as db:
        place = find_place(db, link)
        if place.seat is None:
            return
        seat = queries.list_seats(db, place.table)[place.seat]
    if shows_presence(seat) and (seat.seen_at is None or app.now() - seat.seen_at >= PRESENCE_PAUSE_S):
        with app.store.writing() as db:
            queries.change_seat(db, place.table, place.seat, seen_at=app.now())


def find_seen_ago(app: App, seat: SeatRow) -> int | None:
    """Return how many seconds ago this player was here; None if it is not known or not shown."""
    if seat.seen_at is None or not shows_presence(seat):
        return None
    return max(0, app.now() - seat.seen_at)


def find_next_presence_change(age: int) -> int:
    """Return after how many seconds a page has to say something else about a player seen `age` seconds ago.

    It says “here now”, then “less than an hour ago”, and then counts hours, and later days.
    """
    if age < HERE_S:
        return HERE_S - age
    if age < HOUR_S:
        return HOUR_S - age
    step = HOUR_S if age < DAY_S else DAY_S
    return step - age % step
