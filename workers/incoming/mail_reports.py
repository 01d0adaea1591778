"""Reports: what became of a mail, line by line, stored until the letter about it is written."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, func, select, update

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.store.schema import mails
from service.text.languages import Said
from service.timing import HOUR

OTHER_LETTER = -1  # the entry `mails.answers` of a mail that answers a letter to another seat
Outcome = Literal["done", "refused", "later", "confirm", "status", "help", "hint", "pause", "talk", "said"]


class ReportLine(Struct, frozen=True, omit_defaults=True):
    """One line of a mail: the move it was taken for, the entry it made, or why it made none and by which paragraph.

    `meant` is a move that a misspelt line may have meant while the table had `length` entries, `hint` the number of
    a hint that was asked for.
    """

    said: str
    outcome: Outcome
    move: str = ""
    seq: int | None = None
    why: Said = Said()
    rule: str = ""
    meant: str = ""
    length: int = 0
    hint: int | None = None


class MailReport(Struct, frozen=True, omit_defaults=True):
    """What became of a whole mail."""

    lines: tuple[ReportLine, ...] = ()

    def has(self, *outcomes: Outcome) -> bool:
        return any(line.outcome in outcomes for line in self.lines)

    def count(self, outcome: Outcome) -> int:
        return sum(line.outcome == outcome for line in self.lines)


def refused(said: str, why: Refused) -> ReportLine:
    """A line that fits nothing, and why."""
    return ReportLine(said, "refused", why=Said.of(why), rule=why.rule)


def keep(connection: Connection, mail: int, report: MailReport, at: int, counts: bool) -> None:
    """Note what became of a mail, and whether its answer counts as one that a machine may have caused."""
    row = {"read_at": at, "report": msgspec.json.encode(report).decode(), "answered_at": at if counts else None}
    connection.execute(update(mails).where(mails.c.id == mail).values(**row))


def find(connection: Connection, mail: int) -> tuple[Row[tuple[object, ...]], MailReport] | None:
    """A mail and what became of it."""
    row = connection.execute(select(mails).where(mails.c.id == mail)).one_or_none()
    return (row, make_decoder(MailReport).decode(row.report)) if row is not None and row.report else None


def before(connection: Connection, mail: Row[Any]) -> tuple[tuple[str, ...], MailReport] | None:
    """The mail of this seat before this one: its lines, and what became of it."""
    own = (mails.c.table == mail.table, mails.c.seat == mail.seat, mails.c.id < mail.id, mails.c.report != "")
    row = connection.execute(select(mails).where(*own).order_by(mails.c.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    return make_decoder(tuple[str, ...]).decode(row.lines), make_decoder(MailReport).decode(row.report)


def is_repeated(connection: Connection, mail: Row[Any], report: MailReport) -> bool:
    """Whether this sender's same text was refused for the same reasons before; a program may have sent both.

    Words without a move are not answered twice, whatever they answer. A line that was taken for a move a person may
    well write again: it is refused again, but not within an hour in answer to the same letter.
    """
    same = [mails.c.person == mail.person, mails.c.lines == mail.lines, mails.c.id < mail.id]
    if not report.has("talk"):
        same += [mails.c.table == mail.table, mails.c.seat == mail.seat, mails.c.at > mail.at - HOUR]
        same += [mails.c.answers.is_not_distinct_from(mail.answers)]
    wanted = select(mails.c.id).where(*same, mails.c.report == msgspec.json.encode(report).decode())
    return report.has("refused") and connection.execute(wanted.limit(1)).first() is not None


def is_answered_too_often(connection: Connection, mail: Row[Any], an_hour: int) -> bool:
    """Whether we answered this sender so often within an hour that it may be a machine after all."""
    answers = (mails.c.person == mail.person, mails.c.answered_at > mail.at - HOUR)
    return connection.execute(select(func.count()).where(*answers)).scalar_one() >= an_hour
