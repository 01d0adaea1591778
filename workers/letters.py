"""Writing letters: what a seat is told by mail, as text, as HTML with the board as a picture, and as one thread."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

import css_inline
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select

from engine import table as tables
from engine.menu import Menu
from service import chronicle, substitutes, timing
from service.desk import Look
from service.drawing import Player, Scene, Voice, board_svg, board_text, environment, players
from service.house import House
from service.languages import Said, in_game
from service.store.schema import people
from service.timing import Calendar, Clock
from workers import hints, pictures, reports, sifting
from workers.hints import Hint
from workers.reports import Report

ANSWERS = ("accepted", "refused")
KINDS = (
    "invitation",
    "turn",
    "reminder",
    "asked",
    "timeout",
    "relieved",
    "forfeited",
    "pausing",
    "paused",
    "resumed",
    "over",
)


class Order(Struct, frozen=True):
    """A letter that is owed: to whom, about what."""

    table: str
    seq: int
    seat: int
    kind: str
    address: str
    name: str
    language: str = "en"
    said: str = ""


class Sheet(Struct, frozen=True):
    """Everything a letter's templates may speak of."""

    kind: str
    me: int
    name: str
    title: str
    players: tuple[Player, ...]
    organiser: str
    seats: tuple[Any, ...]
    to_move: tuple[str, ...]
    chapters: tuple[chronicle.Chapter, ...]
    hints: tuple[Hint, ...]
    example: str
    commands: tuple[str, ...]
    places: tuple[tuple[int, str], ...]
    board: str
    alt: str
    due: datetime | None
    zone: str
    about: str
    clock: Clock
    link: str
    answer: str
    free: tuple[tuple[str, str], ...]
    replay: str
    said: Said
    receipt: str
    length: int
    seed: str
    started: bool
    report: tuple[reports.Told, ...] = ()
    scores: tuple[tuple[str, int], ...] = ()


def write(here: House, order: Order) -> EmailMessage | None:
    """The letter as it is right now; None where it has been overtaken and would only confuse."""
    look = here.desk.look(order.table)
    if overtaken(look, order):
        return None
    game, voice = look.game, Voice(look.game, look.names, order.language, order.seat)
    playing = look.table.phase in ("playing", "over")
    menu = tables.menu(game, look.table, order.seat)
    scene = (
        Scene(game, game.view(look.table.state, order.seat), players(look.names), order.seat, menu, order.language)
        if playing
        else None
    )
    sheet = _sheet(here, look, order, voice, scene, menu)
    mail, report = _answered(here, order)
    if report:
        told = reports.told(here, look, report, voice, order.seat)
        sheet = replace(sheet, report=told, scores=_scores(look) if report.has("status") else sheet.scores)
    return _message(here, order, sheet, scene, mail)


def _answered(here: House, order: Order) -> tuple[str, Report | None]:
    """The mail that a letter answers: its own id, and what became of it."""
    kind, _, number = order.kind.partition("/")
    if kind not in ANSWERS or not number.isdecimal():
        return "", None
    with here.store.reading() as connection:
        found = reports.find(connection, int(number))
    return (str(found[0].message_id), found[1]) if found else ("", None)


def _scores(look: Look) -> tuple[tuple[str, int], ...]:
    standing = look.game.standing(look.table.state) if look.table.phase in ("playing", "over") else ()
    return tuple((name, own.score) for name, own in zip(look.names, standing, strict=False))


def overtaken(look: Look, order: Order) -> bool:
    """Whether the moment this letter speaks of has passed."""
    seat = look.seats[order.seat]
    match order.kind.partition("/")[0]:
        case "turn" | "reminder":
            return bool(seat.open_since != order.seq)
        case "asked":
            return look.table.asked is None or order.seat not in look.table.asked.waiting
        case "pausing":
            return look.table.pausing is None or order.seat not in look.table.pausing.waiting
        case "paused":
            return not look.table.paused
        case "resumed":
            return look.table.paused or seat.open_since is None
        case "offer":
            return not any(chair.offered for chair in look.table.seats) or look.table.phase == "over"
        case "offered":
            return not look.table.seats[order.seat].offered
        case "relieved":
            return look.table.seats[order.seat].status != "bot"
        case "invitation":
            return look.table.seats[order.seat].status != "empty" and look.table.phase == "over"
    return False


def _sheet(here: House, look: Look, order: Order, voice: Voice, scene: Scene | None, menu: Menu) -> Sheet:
    seat = look.seats[order.seat]
    calendar, box = _calendar(here, seat.person), look.game.META
    entries = chronicle.since_own_move(here.desk.entries(look), order.seat)
    link = f"{here.settings.address}/t/{here.desk.link_of(seat)}"
    return Sheet(
        kind=order.kind.partition("/")[0],
        me=order.seat,
        name=seat.name,
        title=in_game(order.language, box.name, box.title),
        players=players(look.names),
        organiser=look.names[0],
        seats=look.seats,
        to_move=tuple(one.name for one in look.seats if one.open_since is not None),
        chapters=tuple(chronicle.chapters(look.game, entries, voice, order.seat))[-60:],
        hints=hints.of(look.game, menu, look.names, voice, order.language),
        example=hints.example(look.game, menu, look.names, order.language),
        commands=hints.commands(look.table, order.seat, look.game, order.language),
        places=tuple(sorted((place, look.names[number]) for number, place in enumerate(look.table.places))),
        board=board_text(scene) if scene else "",
        alt=voice.alt(scene.view) if scene else "",
        due=datetime.fromtimestamp(seat.due_at, calendar.here) if seat.due_at else None,
        zone=calendar.zone.replace("_", " "),
        about=in_game(order.language, box.name, box.about),
        clock=look.clock,
        link=link,
        answer=here.desk.address_of(seat),
        free=_free(here, look),
        replay=f"{link}/replay",
        said=Said.read(order.said),
        receipt=look.row.head,
        length=look.row.length,
        seed=look.row.seed.hex() if look.table.phase == "over" else "",
        started=scene is not None,
        scores=_scores(look) if look.table.phase == "over" else (),
    )


def _calendar(here: House, person: int | None) -> Calendar:
    """The time that the reader lives by."""
    with here.store.reading() as connection:
        found = connection.execute(select(people.c.calendar).where(people.c.id == person)).scalar_one_or_none()
    return timing.calendar(found or "")


def _free(here: House, look: Look) -> tuple[tuple[str, str], ...]:
    """Whose seats are offered, and where to take them."""
    free = [seat for seat in look.seats if look.table.seats[seat.seat].offered]
    return tuple((seat.name, f"{here.settings.address}/offer/{substitutes.link(here.desk, seat)}") for seat in free)


def _message(here: House, order: Order, sheet: Sheet, scene: Scene | None, mail: str = "") -> EmailMessage:
    message = EmailMessage()
    message["From"] = Address("Depesche", addr_spec=here.settings.sender)
    message["To"] = Address(order.name, addr_spec=order.address)
    message["Reply-To"] = sheet.answer
    message["Subject"] = subject(sheet, order)
    message["Date"] = format_datetime(datetime.fromtimestamp(here.now(), UTC))
    _thread(here, order, message, mail)
    message[sifting.MARK] = order.table
    message["Auto-Submitted"] = "auto-generated"
    message["List-Id"] = f"{sheet.title} <{order.table}.{here.settings.mail_host}>"
    env = environment(order.language)
    message.set_content(env.get_template("mail/letter.txt").render(sheet=sheet))
    picture = f"{order.table}.{order.seq}.{order.seat}.board@{here.settings.mail_host}" if scene else ""
    html = env.get_template("mail/letter.html").render(sheet=sheet, picture=picture)
    message.add_alternative(_inliner().inline(html), subtype="html")
    if scene:
        part: Any = message.get_payload()[1]  # type: ignore[index]  # the HTML, just added
        part.add_related(pictures.png(board_svg(scene)), "image", "png", cid=f"<{picture}>", filename="board.png")
    message["Content-Language"] = order.language  # last, for whatever makes parts moves such headers into them
    return message


def subject(sheet: Sheet, order: Order) -> str:
    """The same for every letter of a table, so that mail programs keep them together."""
    names = ", ".join(player.name for player in sheet.players)
    return f"{sheet.title}: {names} [{order.table[:6]}]"


def _thread(here: House, order: Order, message: EmailMessage, mail: str) -> None:
    """A letter's id derives from what it is about: sent twice it is recognisable, and all follow the first.

    A letter that answers a mail follows that mail.
    """
    host = here.settings.mail_host
    root = f"<{order.table}.{order.seat}.table@{host}>"
    if order.kind == "invitation":
        message["Message-ID"] = root
        return
    message["Message-ID"] = f"<{order.table}.{order.seq}.{order.seat}.{order.kind.replace('/', '.')}@{host}>"
    message["In-Reply-To"] = mail or root
    message["References"] = f"{root} {mail}".strip()


@functools.cache
def _inliner() -> css_inline.CSSInliner:
    return css_inline.CSSInliner(load_remote_stylesheets=False, keep_style_tags=True, keep_at_rules=True)
