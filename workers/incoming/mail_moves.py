"""Answers: plays the mails that wait, line by line, and owes a letter to whoever has to know what became of his.

A mail is read in one transaction: every move it makes, the verdicts, and the letter are in the book together or not
at all. So a mail that comes twice, or whose reading is cut short, plays nothing twice.
"""

from __future__ import annotations

from typing import Any

import msgspec
import structlog
from msgspec import Struct
from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.exc import OperationalError

from engine import menu as menus
from engine import table as tables
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused
from service.house import House
from service.store import book
from service.store.book import Owed
from service.store.schema import mails, submissions
from service.tables import clerk, standing_orders, talk
from service.tables.clerk import Desktop
from service.text import words
from service.text.languages import Said
from service.text.words import Words
from workers import answer, errands, referee
from workers.incoming import mail_commands, mail_reports
from workers.incoming.mail_reports import Line, Report
from workers.incoming.move_parser import TALK, Meaning, Remark, bits, understand, verb_of

log = structlog.get_logger()

Mail = Row[Any]
QUOTED_BACK = 3
MOST_MOVES = 20
ERRANDS = {**referee.ERRANDS, "letters": errands.letters}
CONFIRMED = Move("resign", ("yes",))
RESIGN = Choice("resign", ((), ("yes",)))
NEXT = select(mails).where(mails.c.read_at.is_(None)).order_by(mails.c.id).limit(1).with_for_update(skip_locked=True)
FAULT = Refused("This mail met a fault of ours. Nothing of it was played; the host has been told.")


class Reading(Struct, frozen=True):
    """A mail being read: the table as its moves leave it, whether it stopped at a line, and what became of each."""

    desktop: Desktop
    lines: tuple[Line, ...] = ()
    stopped: bool = False

    def after(self, line: Line, desktop: Desktop | None = None) -> Reading:
        return Reading(desktop or self.desktop, (*self.lines, line), self.stopped or line.outcome == "refused")


def hear() -> None:
    """Read every mail that waits."""
    answer("inbox", hear_one)


def hear_one(here: House) -> bool:
    """Read one mail, if any waits."""
    with here.store.writing() as connection:
        mail = connection.execute(NEXT).one_or_none()
        if mail is None:
            return False
        desktop = clerk.take(connection, here.shelf, mail.table)
        assert desktop
        read = _read_whole(here, desktop, mail)
        _finish(here, connection, mail, read)
    if read.desktop is not desktop:
        referee.settled(here, read.desktop)
    here.bells.ring("post")
    return True


def _read_whole(here: House, desktop: Desktop, mail: Mail) -> Reading:
    """The mail read to its end; after a fault of ours as if it had not been."""
    try:
        with desktop.connection.begin_nested():
            return read(here, desktop, mail)
    except OperationalError:
        raise  # the database's trouble, not the mail's: it stays in line
    except Exception:
        log.exception("mail not played", mail=mail.id, table=mail.table)
        return Reading(desktop, (mail_reports.refused("", FAULT),), True)


def _finish(here: House, connection: Connection, mail: Mail, read: Reading) -> None:
    report = Report(read.lines)
    seat = next(seat for seat in read.desktop.seats if seat.seat == mail.seat)
    needed = wants_letter(report, mail, seat.open_since)
    mail_reports.keep(connection, mail.id, report, here.now(), counts=needed and not report.has("done"))
    if needed:
        kind = "refused" if report.has("refused") else "accepted"
        seq = read.desktop.table.length - 1 if seat.open_since is None else seat.open_since
        book.owe(connection, mail.table, seq, Owed(mail.seat, f"{kind}/{mail.id}", here.now()))


def wants_letter(report: Report, mail: Mail, open_since: int | None) -> bool:
    """One plain move that ends the turn needs no letter: the next one tells it. Everything else does."""
    plain = report.count("done") == len([line for line in report.lines if line.outcome not in ("talk", "said")]) == 1
    told = {line.said for line in report.lines if line.outcome == "said"}
    asked = any("?" in line and line not in told for line in msgspec.json.decode(mail.lines))
    table_verb = any(line.outcome == "done" and line.move.split()[0] in tables.RESERVED for line in report.lines)
    return not plain or asked or table_verb or open_since is not None


def read(here: House, desktop: Desktop, mail: Mail) -> Reading:
    """Play what the mail says, in order, up to the first line that fails."""
    reading, lines = Reading(desktop), msgspec.json.decode(mail.lines, type=tuple[str, ...])
    names = tuple(seat.name for seat in book.seats_of(desktop.connection, mail.table))
    spoken = words.of(desktop.game, names)
    signed = {names[mail.seat].casefold(), names[mail.seat].split()[0].casefold()}
    for place, line in enumerate(lines):
        if place and " ".join(bits(line)).casefold() in signed:
            continue
        meaning = _meaning(reading.desktop, mail, line, spoken)
        if meaning != TALK:
            why = _waiting(reading.desktop, mail.seat, line, spoken) if isinstance(meaning, Refused) else None
            reading = _done(here, reading, mail, line, why or meaning)
    if not reading.lines:
        why = (
            Refused("There is no move in this mail.") if lines else Refused("There is no line of its own in this mail.")
        )
        quoted = tuple(Line(line, "talk") for line in lines[:QUOTED_BACK])
        return Reading(desktop, (*quoted, mail_reports.refused("", why)), True)
    return reading


def _meaning(desktop: Desktop, mail: Mail, line: str, spoken: Words) -> Meaning:
    if desktop.table.phase == "gathering":
        said = bits(line)
        if len(said) <= 4 and verb_of(said, ("sit", "agree"), spoken):
            return Move("sit", tuple(said[1:2]) if said[0].casefold() == "sit" else ())
    may = offered(desktop, mail.seat)
    return mail_commands.asked(line, may, spoken) or understand(line, may, spoken)


def offered(desktop: Desktop, seat: int) -> Menu:
    """What may be written in a mail: the seat's menu and the table's commands; resigning takes a second word."""
    game = tables.menu(desktop.game, desktop.table, seat)
    commands = tables.commands(desktop.table, seat)
    return (*game, *(RESIGN if entry.verb == "resign" else entry for entry in commands))


def _done(here: House, reading: Reading, mail: Mail, line: str, meaning: Move | Refused | Remark) -> Reading:
    """What becomes of one line that means something."""
    if reading.stopped or len(reading.lines) >= MOST_MOVES:
        return reading.after(Line(line, "later"))
    if isinstance(meaning, Refused):
        return reading.after(mail_reports.refused(line, _below(meaning)))
    if isinstance(meaning, Remark):
        return _said(here, reading, mail, line, meaning)
    if meaning.verb in ("status", "help"):
        return reading.after(_aside(reading.desktop, mail, line, meaning.verb))
    if meaning.verb == "pause" and not menus.allows(tables.commands(reading.desktop.table, mail.seat), meaning):
        return reading.after(Line(line, "pause"))
    if meaning == Move("resign"):
        return reading.after(Line(line, "confirm"))
    return _play(here, reading, mail, line, Move("resign") if meaning == CONFIRMED else meaning)


def _below(why: Refused) -> Refused:
    """The same without a list of all moves: in a letter they stand below, in the words of its reader."""
    if {"said", "moves"} <= why.words.keys():
        return Refused("“{said}” is not one of your moves; what you can do stands below.", said=why.words["said"])
    return why


def _aside(desktop: Desktop, mail: Mail, line: str, verb: str) -> Line:
    """A question to the house; how things stand includes what was ordered."""
    if verb == "help":
        return Line(line, "help")
    known = standing_orders.of(desktop.connection, desktop.row.id, mail.seat)
    listed = "; ".join(f"{order.id}: {order.move}" for order in known)
    return Line(line, "status", why=Said("Your orders: {orders}", {"orders": listed}) if known else Said())


def _said(here: House, reading: Reading, mail: Mail, line: str, remark: Remark) -> Reading:
    try:
        talk.note(reading.desktop.connection, mail.table, mail.seat, remark.text, here.now())
    except Refused as refused:
        return reading.after(mail_reports.refused(line, refused))
    return reading.after(Line(line, "said"))


def _waiting(desktop: Desktop, seat: int, line: str, spoken: Words) -> Refused | None:
    """Why nothing at all could be moved now, where that is so."""
    try:
        referee.refuse_closed(desktop)
    except Refused as refused:
        return refused
    if tables.menu(desktop.game, desktop.table, seat) or verb_of(bits(line), tuple(spoken.table.verbs), spoken):
        return None
    return Refused("It is not your turn; somebody else has to move first.")


def _play(here: House, reading: Reading, mail: Mail, line: str, move: Move) -> Reading:
    """Judge a move; its submission is noted with the verdict, under a key of its own."""
    desktop, seq = reading.desktop, reading.desktop.table.length
    try:
        with desktop.connection.begin_nested():
            after = _entered(here, reading, mail, move)
    except Refused as refused:
        _note(
            here,
            mail,
            len(reading.lines),
            move,
            {"accepted": False, "said": Said.of(refused).kept(), "rule": refused.rule},
            desktop,
        )
        return reading.after(mail_reports.refused(line, refused))
    entry = seq if after.table.length > seq else None
    _note(here, mail, len(reading.lines), move, {"accepted": True, "seq": entry}, desktop)
    return reading.after(
        Line(line, "done", str(move), entry, mail_commands.told(move, _last_order(after, mail))), after
    )


def _last_order(desktop: Desktop, mail: Mail) -> int | None:
    known = standing_orders.of(desktop.connection, desktop.row.id, mail.seat)
    return int(known[-1].id) if known else None


def _entered(here: House, reading: Reading, mail: Mail, move: Move) -> Desktop:
    desktop = reading.desktop
    if move.verb == "sit":
        return referee.sat(here, desktop, mail.seat, [*move.args, mail.key[-40:]])
    if move.verb in ERRANDS:
        return _errand(here, desktop, mail.seat, move)
    referee.refuse_closed(desktop)
    if not any(line.outcome == "done" for line in reading.lines):
        _refuse_stale(desktop, mail, move)
    desktop = referee.present(here, desktop, mail.seat, move)
    after = clerk.enter(desktop, mail.seat, move, here.now(), here.settings)
    return referee.followed(here, desktop.table, after)


def _errand(here: House, desktop: Desktop, seat: int, move: Move) -> Desktop:
    """What is asked of the house, done; letters may be wished otherwise before the game and after it, too."""
    if move.verb == "letters":
        return errands.letters(here, desktop, seat, list(move.args))
    referee.refuse_closed(desktop)
    after = ERRANDS[move.verb](here, desktop, seat, list(move.args))
    if move.verb == "order":
        return standing_orders.follow(after, here.now(), here.settings)
    return referee.followed(here, desktop.table, after)


def _refuse_stale(desktop: Desktop, mail: Mail, move: Move) -> None:
    """An answer to the letter of an earlier turn was written with another position in mind."""
    since = next(seat.open_since for seat in desktop.seats if seat.seat == mail.seat)
    if mail.answers is None or since is None or mail.answers == since:
        return
    if move.verb == "undo" or move.verb not in tables.RESERVED:
        raise Refused("This answers a letter of an earlier turn; please look at the newest one before you move.")


def _note(here: House, mail: Mail, number: int, move: Move, verdict: dict[str, Any], desktop: Desktop) -> None:
    row = {"key": f"{mail.key}/{number}", "table": mail.table, "seat": mail.seat, "move": str(move), "by_mail": True}
    desktop.connection.execute(insert(submissions), {**row, "at": here.now(), **verdict})
