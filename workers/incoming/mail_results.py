"""The results of mails from players, line by line, stored until the letters about them are written."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import structlog
from msgspec import Struct
from sqlalchemy import Connection, Row, delete, func, select, update

from engine import table as tables
from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.app import App
from service.store import queries
from service.store.batch import OwedLetter
from service.store.rows import SeatRow
from service.store.schema import letters, mails
from service.text.languages import Sentence
from service.timing import HOUR_S
from workers.incoming.mail_commands import REMATCH

log = structlog.get_logger()

# In the column `answers`, instead of the entry of a turn, if a mail answers a letter to another seat, or a digest.
OTHER_LETTER, DIGEST = -1, -2
# "later": not tried after a refusal; "confirm": to be confirmed by a second word; "pause": the table cannot pause now;
# "talk": shown to no other player; "said": shown to the table.
Outcome = Literal["done", "refused", "later", "confirm", "status", "help", "hint", "pause", "talk", "said"]
MAX_QUOTED_LINES = 3  # of a mail without a move; enough for its sender to recognise it
NO_LINE = Refused("There is no line of its own in this mail.")
NO_MOVE = Refused(
    "There is no move in this mail, and the other players have not seen it. To tell it to the table, answer with one "
    "word: say"
)


class LineResult(Struct, frozen=True, omit_defaults=True):
    """The result of one line: the move it was taken for, the entry it made, or the reason and rule why it made none.

    `text` is the line as it was written. `guess` is a move that a misspelt line may have meant while the table had
    `length` entries. `hint` is the number of a hint that was asked for.
    """

    text: str
    outcome: Outcome
    move: str = ""
    seq: int | None = None
    why: Sentence = Sentence()
    rule: str = ""
    guess: str = ""
    length: int = 0
    hint: int | None = None


class MailResult(Struct, frozen=True, omit_defaults=True):
    """The results of all lines of a mail."""

    lines: tuple[LineResult, ...] = ()

    def has(self, *outcomes: Outcome) -> bool:
        return any(line.outcome in outcomes for line in self.lines)


class PlayedMail(Struct, frozen=True):
    """A mail that was played: its Message-ID, its lines, and its result."""

    message_id: str
    lines: tuple[str, ...]
    result: MailResult


def make_refused_line(line: str, why: Refused) -> LineResult:
    """The result of a line that was refused, with the reason; the line is empty if the whole mail was refused."""
    return LineResult(line, "refused", why=Sentence.from_refusal(why), rule=why.rule)


def store_result(app: App, db: Connection, mail: Row[Any], result: MailResult, seat: SeatRow, length: int) -> None:
    """Store the result of a mail, and owe its sender a letter if one is needed and there were not too many.

    `seat` is the sender's, and `length` the number of entries, both after the mail.
    """
    needs_letter = is_letter_needed(result, mail, seat.open_since) and not is_repeated(db, mail, result)
    is_counted = needs_letter and not result.has("done")  # answers to mails that played something do not count
    if is_counted and is_answered_too_often(db, mail, app.settings.answers_per_hour):
        log.info("mail not answered", mail=mail.id, why="This sender was answered too often within an hour.")
        needs_letter = False
        is_counted = False
    now = app.now()
    report = msgspec.json.encode(result).decode()
    row = {"read_at": now, "report": report, "answered_at": now if is_counted else None}
    db.execute(update(mails).where(mails.c.id == mail.id).values(**row))
    if needs_letter:
        kind = "refused" if result.has("refused") else "accepted"
        last = length - 1
        seq = last if seat.open_since is None else seat.open_since  # the letter is about the turn, if there is one
        queries.owe_letter(db, mail.table, seq, OwedLetter(mail.seat, f"{kind}/{mail.id}", now))
        cancel_turn_letter(db, mail, seat.open_since)


def load(db: Connection, mail: int) -> PlayedMail | None:
    """Load a mail and its result; None if the mail was not played yet."""
    row = db.execute(select(mails).where(mails.c.id == mail, mails.c.report != "")).one_or_none()
    return _parse_row(row) if row is not None else None


def load_previous(db: Connection, mail: Row[Any]) -> PlayedMail | None:
    """Load this seat's mail before this one, and its result; None if it is the first."""
    own = (mails.c.table == mail.table, mails.c.seat == mail.seat, mails.c.id < mail.id, mails.c.report != "")
    row = db.execute(select(mails).where(*own).order_by(mails.c.id.desc()).limit(1)).one_or_none()
    return _parse_row(row) if row is not None else None


def _parse_row(row: Row[Any]) -> PlayedMail:
    """Make a played mail from its row, whose lines and report are JSON."""
    lines = make_decoder(tuple[str, ...]).decode(row.lines)
    return PlayedMail(row.message_id, lines, make_decoder(MailResult).decode(row.report))


def is_repeated(db: Connection, mail: Row[Any], result: MailResult) -> bool:
    """Return whether this sender's same text was refused for the same reasons before: a program may have sent it.

    Words without a move are answered only once. A line that was taken for a move may well be written again by a
    person: it is answered again, but not within an hour and to the same letter.
    """
    if not result.has("refused"):
        return False
    same = [mails.c.person == mail.person, mails.c.lines == mail.lines, mails.c.id < mail.id]
    if not result.has("talk"):  # so a line was taken for a move
        same += [mails.c.table == mail.table, mails.c.seat == mail.seat, mails.c.at > mail.at - HOUR_S]
        same += [mails.c.answers.is_not_distinct_from(mail.answers)]
    earlier = select(mails.c.id).where(*same, mails.c.report == msgspec.json.encode(result).decode())
    return db.execute(earlier.limit(1)).first() is not None


def is_answered_too_often(db: Connection, mail: Row[Any], max_per_hour: int) -> bool:
    """Return whether this sender was answered so often within an hour that it may be a program."""
    answers = (mails.c.person == mail.person, mails.c.answered_at > mail.at - HOUR_S)
    return db.execute(select(func.count()).where(*answers)).scalar_one() >= max_per_hour


def make_no_move_lines(lines: tuple[str, ...]) -> tuple[LineResult, ...]:
    """The result of a mail without a move: its first lines, and how its sender can show them to the table."""
    quoted = (LineResult(line, "talk") for line in lines[:MAX_QUOTED_LINES])
    why = NO_MOVE if lines else NO_LINE
    return (*quoted, make_refused_line(line="", why=why))


def shorten_refusal(why: Refused) -> Refused:
    """The same refusal without its list of all moves: the letter lists them below, in the words of its reader."""
    if {"said", "moves"} <= why.words.keys():
        return Refused("“{said}” is not one of your moves; see below what you can do.", said=why.words["said"])
    return why


def is_letter_needed(result: MailResult, mail: Row[Any], open_since: int | None) -> bool:
    """Return whether a mail needs a letter. One plain move that ends the turn needs none: the next letter shows it.

    A question needs one, and so does a command to the table, such as one for a rematch.
    `open_since` is the entry that began the turn that the seat has after the mail; None if it has none.
    """
    tried = [line for line in result.lines if line.outcome not in ("talk", "said")]
    is_plain = len(tried) == 1 and tried[0].outcome == "done"
    remarks = {line.text for line in result.lines if line.outcome == "said"}
    has_question = any("?" in line and line not in remarks for line in msgspec.json.decode(mail.lines))
    verbs = {line.move.split()[0] for line in result.lines if line.outcome == "done"}
    has_table_verb = bool(verbs & {*tables.RESERVED_VERBS, REMATCH.verb})
    return not is_plain or has_question or has_table_verb or open_since is not None


def cancel_turn_letter(db: Connection, mail: Row[Any], open_since: int | None) -> None:
    """Cancel the letter about the turn, unless it is being sent: the letter about the mail has the same menu.

    `open_since` is the entry that began the turn; None if the seat has none, and so no letter about it.
    """
    of_turn = (letters.c.table == mail.table, letters.c.seat == mail.seat, letters.c.seq == open_since)
    untried = (letters.c.sent_at.is_(None), letters.c.tries == 0)
    db.execute(delete(letters).where(*of_turn, letters.c.kind == "turn", *untried))
