"""Plays the mails that wait, line by line, and owes their senders a letter about the result where they need one.

A mail is played in one transaction: its moves, their verdicts and the letter are stored together or not at all. So a
mail that arrives twice, or whose process is killed, plays nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Row, delete, insert, select
from sqlalchemy.exc import OperationalError

from engine import menu as menus
from engine import table as tables
from engine.canonical_json import make_decoder
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused
from service.app import App
from service.people import register
from service.store import queries
from service.store.batch import Batch, OwedLetter
from service.store.queries import Verdict
from service.store.schema import letters, mails, submissions
from service.store.schema import tables as table_rows
from service.tables import hints, judging, opening, rematch, seat_commands, snapshots, standing_orders, talk
from service.tables.judging import SeatCommand
from service.tables.locked_table import LockedTable, lock_table
from service.text import words
from service.text.languages import Said
from service.text.words import Vocabulary
from workers.incoming import mail_commands, mail_reports
from workers.incoming.mail_reports import MailReport, ReportLine
from workers.incoming.move_parser import TALK, Guess, Meaning, TalkLine, bits, length_of, understand, verb_of
from workers.jobs import AfterCommit, process_claimed, run_job

log = structlog.get_logger()

Mail = Row[Any]
QUOTED_BACK = 3  # lines of a mail without a move; more than its sender needs to know it again
SHORT = 5  # words of an answer to an invitation; a longer line is talk
MOST_MOVES = 20
AGAIN, SIT = Move("again"), Move("sit")
CONFIRMED = Move("resign", ("yes",))
RESIGN = Choice("resign", ((), ("yes",)))
NEXT = (
    select(mails)
    .join(table_rows, table_rows.c.id == mails.c.table)
    .where(mails.c.read_at.is_(None))
    .order_by(mails.c.id)
    .limit(1)
    .with_for_update(skip_locked=True, key_share=True, of=[table_rows, mails])
)
OTHER_TABLE = Refused(
    "This mail answers a letter of another table, so nothing was played at this one. To move here, answer this letter."
)
LAID = Said("The same table is laid again, for the same players; the letters of the new game follow.")
SEATED = Said("You have sat down already.")
NO_LINE = Refused("There is no line of its own in this mail.")
NO_MOVE = Refused(
    "There is no move in this mail, and nobody else has seen it. To tell it to the table, answer with one word: say"
)
FAULT = Refused("This mail met a fault of ours. Nothing of it was played; the host has been told.")


class Reading(Struct, frozen=True):
    """A mail being read: the table as its moves leave it, what became of each line, whether it stopped; new tables."""

    locked: LockedTable
    lines: tuple[ReportLine, ...] = ()
    stopped: bool = False
    laid: tuple[LockedTable, ...] = ()

    def after(self, line: ReportLine, locked: LockedTable | None = None, laid: LockedTable | None = None) -> Reading:
        stopped = self.stopped or line.outcome == "refused"
        return Reading(locked or self.locked, (*self.lines, line), stopped, (*self.laid, laid) if laid else self.laid)


def run() -> None:
    """Read every mail that waits."""
    passed: set[str] = set()
    run_job("inbox", lambda app: hear_one(app, passed), _waits)


def _waits(app: App) -> bool:
    """Whether a mail waits; where none could be claimed, somebody else is at its table."""
    with app.store.reading() as connection:
        return connection.execute(select(mails.c.id).where(mails.c.read_at.is_(None)).limit(1)).first() is not None


def hear_one(app: App, passed: set[str] | None = None) -> bool:
    """Read one mail, if any waits at a table that nobody holds and that is not passed over."""
    return process_claimed(app, claim_mail, set() if passed is None else passed, _hear)


def claim_mail(db: Connection, skipped: Sequence[str], table: str | None = None) -> Sequence[Mail]:
    """Lock the next mail with its table, but none of skipped tables."""
    statement = NEXT.where(table_rows.c.id.not_in(skipped))
    return db.execute(statement if table is None else statement.where(table_rows.c.id == table)).all()


def _hear(app: App, db: Connection, found: Sequence[Mail]) -> AfterCommit:
    (mail,) = found
    batch = Batch(db)
    reading = _read_whole(lock_table(app, batch, mail.table), mail)
    _finish(app, batch.flush(), mail, reading)
    return lambda: _settle(app, reading)


def _settle(app: App, reading: Reading) -> None:
    judging.after_commit(app, [reading.locked, *reading.laid])
    app.wakeups.wake("post")
    if reading.laid:
        opening.ring(app)


def _read_whole(locked: LockedTable, mail: Mail) -> Reading:
    """The mail read to its end; after a fault of ours as if it had not been."""
    try:
        with locked.batch.savepoint():
            return read(locked, mail)
    except OperationalError:
        raise  # the database's trouble, not the mail's: it stays in line
    except Exception:
        log.exception("mail not played", mail=mail.id, table=mail.table)
        return Reading(locked, (mail_reports.refused("", FAULT),), True)


def _finish(app: App, connection: Connection, mail: Mail, read: Reading) -> None:
    report = MailReport(read.lines)
    seat = next(seat for seat in read.locked.seats if seat.seat == mail.seat)
    needed = wants_letter(report, mail, seat.open_since) and not mail_reports.is_repeated(connection, mail, report)
    counts = needed and not report.has("done")
    if counts and mail_reports.is_answered_too_often(connection, mail, app.settings.answers_per_hour):
        log.info("mail not answered", mail=mail.id, why="This sender was answered too often within an hour.")
        needed = counts = False
    mail_reports.keep(connection, mail.id, report, app.now(), counts)
    if needed:
        kind = "refused" if report.has("refused") else "accepted"
        seq = read.locked.table.length - 1 if seat.open_since is None else seat.open_since
        queries.owe_letter(connection, mail.table, seq, OwedLetter(mail.seat, f"{kind}/{mail.id}", app.now()))
        _forget_turn(connection, mail, seat.open_since)


def _forget_turn(connection: Connection, mail: Mail, open_since: int | None) -> None:
    """A turn that the letter about the mail tells needs no other: one menu, one letter. One in hand leaves, too."""
    same = (letters.c.table == mail.table, letters.c.seat == mail.seat, letters.c.seq == open_since)
    new = (letters.c.sent_at.is_(None), letters.c.tries == 0)
    connection.execute(delete(letters).where(*same, letters.c.kind == "turn", *new))


def wants_letter(report: MailReport, mail: Mail, open_since: int | None) -> bool:
    """One plain move that ends the turn needs no letter: the next one tells it. Everything else does."""
    plain = report.count("done") == len([line for line in report.lines if line.outcome not in ("talk", "said")]) == 1
    told = {line.said for line in report.lines if line.outcome == "said"}
    asked = any("?" in line and line not in told for line in msgspec.json.decode(mail.lines))
    done = {line.move.split()[0] for line in report.lines if line.outcome == "done"}
    table_verb = bool(done & {*tables.RESERVED_VERBS, AGAIN.verb})
    return not plain or asked or table_verb or open_since is not None


def read(locked: LockedTable, mail: Mail) -> Reading:
    """Play what the mail says, in order, up to the first line that fails."""
    if mail.answers == mail_reports.OTHER_LETTER:
        return Reading(locked, (mail_reports.refused("", OTHER_TABLE),), True)
    reading, lines = Reading(locked), make_decoder(tuple[str, ...]).decode(mail.lines)
    names = tuple(seat.name for seat in queries.list_seats(locked.flush(), mail.table))
    spoken = words.of(locked.game, names)
    signed = {names[mail.seat].casefold(), names[mail.seat].split()[0].casefold()}
    for place, line in enumerate(lines):
        if place and " ".join(bits(line)).casefold() in signed:
            continue
        meaning = _meaning(reading.locked, mail, line, spoken)
        if meaning != TALK:
            misfit = isinstance(meaning, Refused | Guess)
            why = _waiting(reading.locked, mail.seat, line, spoken) if misfit else None
            reading = _done(reading, mail, line, why or meaning)
    return reading if reading.lines else Reading(locked, (*_nothing(lines),), True)


def _nothing(lines: tuple[str, ...]) -> Iterator[ReportLine]:
    """The report of a mail without a move: its first lines, and how its sender can tell them to the table."""
    yield from (ReportLine(line, "talk") for line in lines[:QUOTED_BACK])
    yield mail_reports.refused("", NO_MOVE if lines else NO_LINE)


def _meaning(locked: LockedTable, mail: Mail, line: str, spoken: Vocabulary) -> Meaning:
    if locked.table.phase == "over" and _asks_for_another(line, spoken):
        return AGAIN
    if locked.table.phase == "gathering" and (answer := _to_the_invitation(line, spoken)):
        return answer
    may = offered(locked, mail.seat)
    meaning = (
        mail_commands.asked(line, may, spoken)
        or _guessed(locked, mail, line, may, spoken)
        or understand(line, may, spoken)
    )
    if meaning == TALK and locked.table.phase == "playing" and locked.table.last is None:
        answer = _to_the_invitation(line, spoken)  # of a player who was quicker by another way
        return SIT if answer and answer.verb == SIT.verb else TALK
    return meaning


def _to_the_invitation(line: str, spoken: Vocabulary) -> Move | None:
    """Whether a short line takes the seat or gives it back."""
    said = bits(line)
    if len(said) > SHORT:
        return None
    for candidate in (said, [bit for bit in said if bit.casefold() not in spoken.small]):
        verb = verb_of(candidate, ("sit", "agree", "refuse"), spoken)
        if verb == "refuse":
            return Move("refuse")
        if verb and spoken.table.never.isdisjoint(bit.casefold() for bit in said):
            return Move(SIT.verb, tuple(said[1:2]) if said[0].casefold() == SIT.verb else ())
    return None


def _asks_for_another(line: str, spoken: Vocabulary) -> bool:
    """Whether a line says nothing but that the game should be played again."""
    said = bits(line)
    if not verb_of(said, (AGAIN.verb,), spoken):
        return False
    rest = said[length_of(said, AGAIN.verb, spoken) :]
    return all(bit.casefold() in spoken.small for bit in rest)


def _guessed(locked: LockedTable, mail: Mail, line: str, may: Menu, spoken: Vocabulary) -> Move | None:
    """The move that the last letter offered as a guess, where this line agrees to it and nothing happened since."""
    said = [bit for bit in bits(line) if bit.casefold() not in spoken.small]
    if menus.allows(may, Move("agree")) or len(said) != 1 or verb_of(said, ("agree",), spoken) is None:
        return None
    found = mail_reports.before(locked.flush(), mail)
    meant = [line.meant for line in found[1].lines if line.length == locked.table.length] if found else []
    return Move.parse(meant[-1]) if meant and meant[-1] else None


def offered(locked: LockedTable, seat: int) -> Menu:
    """What may be written in a mail: the seat's menu and the table's commands; resigning takes a second word."""
    game = tables.menu(locked.game, locked.table, seat)
    commands = tables.list_commands(locked.table, seat)
    return (*game, *(RESIGN if entry.verb == "resign" else entry for entry in commands))


def _done(reading: Reading, mail: Mail, line: str, meaning: Move | Refused | Guess | TalkLine) -> Reading:
    """What becomes of one line that means something."""
    if reading.stopped or len(reading.lines) >= MOST_MOVES:
        return reading.after(ReportLine(line, "later"))
    if isinstance(meaning, Refused):
        return reading.after(mail_reports.refused(line, _below(meaning)))
    if isinstance(meaning, Guess):
        refused = mail_reports.refused(line, _below(meaning.why))
        return reading.after(replace(refused, meant=str(meaning.move), length=reading.locked.table.length))
    if isinstance(meaning, TalkLine):
        return _said(reading, mail, line, meaning)
    if meaning.verb in ("status", "help", "hint"):
        return reading.after(_to_server(reading.locked, mail, line, meaning.verb))
    if meaning == AGAIN:
        return _again(reading, mail, line)
    if meaning == SIT and reading.locked.table.phase == "playing":
        return reading.after(ReportLine(line, "done", SIT.verb, why=SEATED))
    if meaning.verb == "pause" and not menus.allows(tables.list_commands(reading.locked.table, mail.seat), meaning):
        return reading.after(ReportLine(line, "pause"))
    if meaning == Move("resign"):
        return reading.after(ReportLine(line, "confirm"))
    return _play(reading, mail, line, Move("resign") if meaning == CONFIRMED else meaning)


def _below(why: Refused) -> Refused:
    """The same without a list of all moves: in a letter they stand below, in the words of its reader."""
    if {"said", "moves"} <= why.words.keys():
        return Refused("“{said}” is not one of your moves; what you can do stands below.", said=why.words["said"])
    return why


def _to_server(locked: LockedTable, mail: Mail, line: str, verb: str) -> ReportLine:
    """A question to the house; how things stand includes what was ordered."""
    if verb == "help":
        return ReportLine(line, "help")
    if verb == "hint":
        return _hint(locked, mail, line)
    known = standing_orders.of(locked.flush(), locked.row.id, mail.seat)
    listed = "; ".join(f"{order.id}: {order.move}" for order in known)
    return ReportLine(line, "status", why=Said("Your orders: {orders}", {"orders": listed}) if known else Said())


def _hint(locked: LockedTable, mail: Mail, line: str) -> ReportLine:
    """A good move is looked for; the letter about this mail tells it."""
    try:
        number = hints.note(locked.flush(), locked, mail.seat, locked.now)
    except Refused as refused:
        return mail_reports.refused(line, refused)
    return ReportLine(line, "hint", hint=number)


def _said(reading: Reading, mail: Mail, line: str, remark: TalkLine) -> Reading:
    text = remark.text
    if not text and (found := mail_reports.before(reading.locked.flush(), mail)) and found[1].has("talk"):
        text = "\n".join(found[0])
    try:
        talk.note(reading.locked.flush(), mail.table, mail.seat, text, reading.locked.now)
    except Refused as refused:
        return reading.after(mail_reports.refused(line, refused))
    return reading.after(ReportLine(line, "said"))


def _again(reading: Reading, mail: Mail, line: str) -> Reading:
    """Lay the table of a finished game again, or find it laid; the player who asks sits down there."""
    locked = reading.locked
    look = snapshots.look(locked.app, mail.table)
    person = register.find(locked.flush(), str(mail.person))
    try:
        new = rematch.asked(locked.app, look, mail.seat, person.language)
        table = opening.open_within(locked.app, locked.batch, new)
        laid = lock_table(locked.app, locked.batch, table)
        laid = rematch.seated(laid, rematch.seat_of(laid, look.names[mail.seat], look.seats[mail.seat].person))
    except Refused as refused:
        return reading.after(mail_reports.refused(line, refused))
    return reading.after(ReportLine(line, "done", AGAIN.verb, why=LAID), laid=laid)


def _waiting(locked: LockedTable, seat: int, line: str, spoken: Vocabulary) -> Refused | None:
    """Why nothing at all could be moved now, where that is so."""
    try:
        seat_commands.refuse_closed(locked)
    except Refused as refused:
        return refused
    if tables.menu(locked.game, locked.table, seat) or verb_of(bits(line), tuple(spoken.table.verbs), spoken):
        return None
    return Refused("It is not your turn; somebody else has to move first.")


def _play(reading: Reading, mail: Mail, line: str, move: Move) -> Reading:
    """Judge a move; its submission is stored with the verdict, under a key of its own."""
    verdict, after = judging.judge(reading.locked, _command(reading, mail, move))
    _note(reading, mail, move, verdict)
    if not verdict.accepted:
        return reading.after(ReportLine(line, "refused", why=verdict.why, rule=verdict.rule))
    told = mail_commands.told(move, _last_order(after, mail))
    return reading.after(ReportLine(line, "done", str(move), verdict.seq, told), after)


def _command(reading: Reading, mail: Mail, move: Move) -> SeatCommand:
    """The move as a command; only the first move of a mail can be too late for the letter it answers."""
    if move == SIT:
        move = Move(SIT.verb, (mail.key[-40:],))
    first = not any(line.outcome == "done" for line in reading.lines)
    return SeatCommand(mail.seat, str(move), answers=mail.answers if first else None)


def _last_order(locked: LockedTable, mail: Mail) -> int | None:
    known = standing_orders.of(locked.flush(), locked.row.id, mail.seat)
    return int(known[-1].id) if known else None


def _note(reading: Reading, mail: Mail, move: Move, verdict: Verdict) -> None:
    key = f"{mail.key}/{len(reading.lines)}"
    row = {"source": "mail", "key": key, "table": mail.table, "seat": mail.seat, "move": str(move)}
    said = queries.verdict_values(verdict)
    reading.locked.flush().execute(insert(submissions), {**row, **said, "by_mail": True, "at": reading.locked.now})
