"""Letters that belong to a person and to no seat: the link to sign in, and the question whether an address is right."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Row, select

from engine import catalogue
from service.drawing import environment
from service.house import House
from service.languages import in_game
from service.store import book
from service.store.schema import people
from service.timing import HOUR
from workers import envelopes
from workers.envelopes import Order, Paper


class Sheet(Struct, frozen=True):
    """Everything the templates of such a letter may speak of."""

    kind: str
    name: str
    wishes: str
    link: str = ""
    until: datetime | None = None
    title: str = ""
    players: tuple[str, ...] = ()
    joined: bool = False


def write(here: House, order: Order) -> EmailMessage | None:
    """The letter as it is right now; None where it would come too late."""
    kind, _, rest = order.kind.partition("/")
    with here.store.reading() as connection:
        person = connection.execute(select(people).where(people.c.id == order.person)).one()
        sheet = WRITERS[kind](here, connection, order, person, rest)
    return _message(here, order, sheet) if sheet is not None else None


def _enter(here: House, _: Connection, __: Order, person: Row[Any], at: str) -> Sheet | None:
    """The link to sign in, good for an hour."""
    until = int(at) + HOUR
    if here.now() >= until:
        return None
    link = f"{here.settings.address}/enter/{here.links.enter(person.id, person.sessions, int(at))}"
    return Sheet("enter", person.name, envelopes.wishes(here, person.id), link, datetime.fromtimestamp(until, UTC))


def _confirm(here: House, connection: Connection, order: Order, person: Row[Any], table: str) -> Sheet | None:
    """Whether an address is right, asked before letters go to others; named is the table they would invite to."""
    if person.confirmed_at is not None:
        return None
    link = f"{here.settings.address}/confirm/{here.links.confirm(person.id, person.address)}"
    sheet = Sheet("confirm", person.name, envelopes.wishes(here, person.id), link)
    table = table.partition("/")[0]
    row = book.find(connection, table) if table else None
    if row is None:
        return sheet
    game = catalogue.find(row.game).META
    sitting = [seat for seat in book.seats_of(connection, table) if seat.person is not None]
    names = tuple(seat.name for seat in sitting if seat.person != person.id)
    joined = bool(sitting) and sitting[0].person != person.id
    return replace(sheet, title=in_game(order.language, game.name, game.title), players=names, joined=joined)


WRITERS = {"enter": _enter, "confirm": _confirm}


def _message(here: House, order: Order, sheet: Sheet) -> EmailMessage:
    env = environment(order.language)
    words: Any = env.get_template("mail/personal.txt").module
    paper = Paper(
        subject=" ".join(str(words.subject(sheet)).split()),
        id=f"<{order.person}.{order.kind.replace('/', '.')}@{here.settings.mail_host}>",
        text=env.get_template("mail/person.txt").render(sheet=sheet),
        html="" if order.plain else env.get_template("mail/person.html").render(sheet=sheet),
        title=sheet.title,
    )
    return envelopes.message(here, order, paper)
