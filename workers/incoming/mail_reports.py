"""Reports: the result of a mail, line by line, stored until the letter about it is written."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, func, select, update

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.store.schema import mails
from service.text.languages import Sentence
from service.timing import HOUR_S

# The entry `mails.answers` of a mail that answers a letter to another seat, or a digest of several tables.
OTHER_LETTER, DIGEST = -1, -2
Outcome = Literal["done", "refused", "later", "confirm", "status", "help", "hint", "pause", "talk", "said"]


class ReportLine(Struct, frozen=True, omit_defaults=True):
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


class MailReport(Struct, frozen=True, omit_defaults=True):
    """The results of all lines of a mail."""

    lines: tuple[ReportLine, ...] = ()

    def has(self, *outcomes: Outcome) -> bool:
        return any(line.outcome in outcomes for line in self.lines)

    def count(self, outcome: Outcome) -> int:
        return sum(line.outcome == outcome for line in self.lines)


def make_refused_line(line: str, why: Refused) -> ReportLine:
    """The report on a line that was refused, with the reason."""
    return ReportLine(line, "refused", why=Sentence.from_refusal(why), rule=why.rule)


def store(db: Connection, mail: int, report: MailReport, at: int, is_counted: bool) -> None:
    """Store the report on a mail, and whether its answer counts towards the limit of answers an hour."""
    row = {"read_at": at, "report": msgspec.json.encode(report).decode(), "answered_at": at if is_counted else None}
    db.execute(update(mails).where(mails.c.id == mail).values(**row))


def load(db: Connection, mail: int) -> tuple[Row[tuple[object, ...]], MailReport] | None:
    """Load a mail and the report on it; None if the mail was not played yet."""
    row = db.execute(select(mails).where(mails.c.id == mail)).one_or_none()
    return (row, make_decoder(MailReport).decode(row.report)) if row is not None and row.report else None


def load_previous(db: Connection, mail: Row[Any]) -> tuple[tuple[str, ...], MailReport] | None:
    """Load the lines of this seat's mail before this one, and the report on it."""
    own = (mails.c.table == mail.table, mails.c.seat == mail.seat, mails.c.id < mail.id, mails.c.report != "")
    row = db.execute(select(mails).where(*own).order_by(mails.c.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    return make_decoder(tuple[str, ...]).decode(row.lines), make_decoder(MailReport).decode(row.report)


def is_repeated(db: Connection, mail: Row[Any], report: MailReport) -> bool:
    """Return whether the same text of this sender was refused for the same reasons before; a program may send both.

    Words without a move are answered only once. A line that was taken for a move may well be written again by a
    person: it is answered again, but not within an hour and to the same letter.
    """
    same = [mails.c.person == mail.person, mails.c.lines == mail.lines, mails.c.id < mail.id]
    if not report.has("talk"):
        same += [mails.c.table == mail.table, mails.c.seat == mail.seat, mails.c.at > mail.at - HOUR_S]
        same += [mails.c.answers.is_not_distinct_from(mail.answers)]
    earlier = select(mails.c.id).where(*same, mails.c.report == msgspec.json.encode(report).decode())
    return report.has("refused") and db.execute(earlier.limit(1)).first() is not None


def is_answered_too_often(db: Connection, mail: Row[Any], max_per_hour: int) -> bool:
    """Return whether this sender was answered so often within an hour that it may be a program."""
    answers = (mails.c.person == mail.person, mails.c.answered_at > mail.at - HOUR_S)
    return db.execute(select(func.count()).where(*answers)).scalar_one() >= max_per_hour
