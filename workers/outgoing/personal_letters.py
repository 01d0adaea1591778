"""Letters to a person, about no single seat: the link to sign in, the question for an address, the digest."""

from __future__ import annotations

from datetime import datetime
from email.message import EmailMessage
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Row, select

from service import timing
from service.app import App
from service.people import names
from service.store.schema import people
from service.tables import snapshots
from service.text.drawing import environment
from service.text.languages import in_game
from service.timing import HOUR
from workers.outgoing import digest, envelopes
from workers.outgoing.digest import DigestTurn
from workers.outgoing.envelopes import LetterContent, LetterOrder


class PersonalLetterContext(Struct, frozen=True):
    """Everything the templates of such a letter may speak of."""

    kind: str
    name: str
    preferences: str
    zone: str
    link: str = ""
    until: datetime | None = None
    title: str = ""
    players: tuple[str, ...] = ()
    joined: bool = False
    turns: tuple[DigestTurn, ...] = ()
    more: int = 0


def write(app: App, order: LetterOrder) -> EmailMessage | None:
    """The letter as of now; None if it would come too late."""
    kind, _, rest = order.kind.partition("/")
    with app.store.reading() as connection:
        person = connection.execute(select(people).where(people.c.id == order.person)).one()
    sheet = WRITERS[kind](app, order, person, rest)
    return _message(app, order, sheet) if sheet is not None else None


def _enter(app: App, _: LetterOrder, person: Row[Any], at: str) -> PersonalLetterContext | None:
    """The link to sign in, good for an hour."""
    until = int(at) + HOUR
    if app.now() >= until:
        return None
    link = f"{app.settings.address}/enter/{app.links.enter(person.id, person.sessions, int(at))}"
    until_there = datetime.fromtimestamp(until, timing.calendar(person.calendar).timezone)
    return replace(_blank(app, person, "enter"), link=link, until=until_there)


def _blank(app: App, person: Row[Any], kind: str) -> PersonalLetterContext:
    """What every such letter says of its reader."""
    zone = timing.calendar(person.calendar).zone.replace("_", " ")
    return PersonalLetterContext(kind, person.name, envelopes.preferences_page(app, person.id), zone)


def _confirm(app: App, order: LetterOrder, person: Row[Any], table: str) -> PersonalLetterContext | None:
    """The question whether an address is right, asked before others are invited; it names their table."""
    look = snapshots.look(app, table.partition("/")[0]) if table else None
    if person.confirmed_at is not None and not (look and look.row.held):
        return None
    link = f"{app.settings.address}/confirm/{app.links.confirm(person.id, person.address)}"
    sheet = replace(_blank(app, person, "confirm"), link=link)
    if look is None:
        return sheet
    title = in_game(order.language, look.game.META.name, look.game.META.title)
    sitting = [seat for seat in look.seats if seat.person is not None]
    others = tuple(seat.name if names.is_name(seat.name) else "?" for seat in sitting if seat.person != person.id)
    joined = bool(sitting) and (sitting[0].person != person.id or sitting[0].link_number > 0)
    return replace(sheet, title=title, players=others, joined=joined)


def _digest(app: App, order: LetterOrder, person: Row[Any], _: str) -> PersonalLetterContext | None:
    """The digest; None if no table waits for its reader any more."""
    waiting = digest.waiting(app, person)
    turns = tuple(turn for seat in waiting[: digest.MOST] if (turn := digest.turn(app, seat, person, order.language)))
    more = max(0, len(waiting) - digest.MOST)
    return replace(_blank(app, person, "digest"), turns=turns, more=more) if turns else None


def _replaced(app: App, order: LetterOrder, person: Row[Any], seat: str) -> PersonalLetterContext | None:
    """The news that another player has taken the reader's seat; None if the reader has it again."""
    table, number = seat.split("/")[:2]
    look = snapshots.look(app, table)
    if look.seats[int(number)].person == person.id:
        return None
    title, taker = in_game(order.language, look.game.META.name, look.game.META.title), look.names[int(number)]
    return replace(_blank(app, person, "replaced"), title=title, players=(taker,))


WRITERS = {"enter": _enter, "confirm": _confirm, "digest": _digest, "replaced": _replaced}


def _message(app: App, order: LetterOrder, sheet: PersonalLetterContext) -> EmailMessage:
    env = environment(order.language)
    words: Any = env.get_template("mail/personal.txt").module
    paper = LetterContent(
        subject=" ".join(str(words.subject(sheet)).split()),
        id=f"<{order.person}.{order.kind.replace('/', '.')}@{app.settings.mail_host}>",
        text=env.get_template("mail/person.txt").render(sheet=sheet),
        html="" if order.plain else env.get_template("mail/person.html").render(sheet=sheet),
        title=sheet.title,
    )
    return envelopes.message(app, order, paper)
