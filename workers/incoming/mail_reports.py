"""Reports: what became of a mail, line by line, kept until the letter that tells it is written."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, select, update

from engine.refusal import Refused
from service.house import House
from service.store.schema import mails
from service.tables import snapshots
from service.tables.snapshots import Snapshot
from service.text import chronicle
from service.text.drawing import Voice
from service.text.languages import Said

Outcome = Literal["done", "refused", "later", "confirm", "status", "help", "pause", "talk", "said"]


class ReportLine(Struct, frozen=True, omit_defaults=True):
    """One line of a mail: the move it was taken for, the entry it made, or why it made none and by which paragraph."""

    said: str
    outcome: Outcome
    move: str = ""
    seq: int | None = None
    why: Said = Said()
    rule: str = ""


class MailReport(Struct, frozen=True, omit_defaults=True):
    """What became of a whole mail."""

    lines: tuple[ReportLine, ...] = ()

    def has(self, *outcomes: Outcome) -> bool:
        return any(line.outcome in outcomes for line in self.lines)

    def count(self, outcome: Outcome) -> int:
        return sum(line.outcome == outcome for line in self.lines)


class ToldLine(Struct, frozen=True):
    """A line as the letter shows it: what was written, what became of it, what that did, and where the rule stands."""

    said: str
    outcome: Outcome
    why: Said
    sentences: tuple[str, ...]
    rule: str = ""
    address: str = ""


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
    return (row, msgspec.json.decode(row.report, type=MailReport)) if row is not None and row.report else None


def told(here: House, look: Snapshot, report: MailReport, voice: Voice, seat: int) -> tuple[ToldLine, ...]:
    """Every line of a mail as its sender is to be told of it."""
    rules = f"{here.settings.address}/rules/{look.row.game}#"
    return tuple(
        ToldLine(
            line.said, line.outcome, line.why, _sentences(here, look, line, voice, seat), line.rule, rules + line.rule
        )
        for line in report.lines
    )


def _sentences(here: House, look: Snapshot, line: ReportLine, voice: Voice, seat: int) -> tuple[str, ...]:
    if line.seq is None:
        return ()
    entries = snapshots.entries(here, look, line.seq, line.seq + 1)
    return tuple(
        sentence for chapter in chronicle.chapters(look.game, entries, voice, seat) for sentence in chapter.sentences
    )
