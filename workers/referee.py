"""The referee: claims submissions of many tables in one transaction and has each of them judged once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any

import structlog
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Row, select, tuple_, update
from sqlalchemy.exc import OperationalError

from engine.refusal import Refused
from service.app import App
from service.store import queries
from service.store.queries import Verdict
from service.store.schema import submissions, tables
from service.tables import clerk, judging, submitting
from service.tables.clerk import LockedTable
from service.tables.judging import SeatCommand
from service.tables.submitting import ToldVerdict
from service.text.languages import Said
from workers.jobs import After, answer, take_next

Submission = Row[Any]  # with the columns of its table
log = structlog.get_logger()
FAULT = Refused("This move met a fault of ours. Nothing was changed; the host has been told.")
DEADLY = Refused("Our referee stopped several times over this move. Nothing was changed; please make another one.")
SUSPECT = 10  # seconds; a submission that waits longer may have ended the process that judged it
TRIES = 3
MOST = 50  # judged in one transaction

WAITING = select(submissions.c.id).where(submissions.c.accepted.is_(None))
OWN = (column for column in submissions.c if column.name != "id")
# The table is claimed with its submission: one that somebody else holds is passed over, and holds no other table up.
# It is locked first, so that a submission that is passed over here stays free for the next referee.
NEXT = (
    select(submissions.c.id.label("number"), *OWN, *tables.c)
    .join(tables, tables.c.id == submissions.c.table)
    .where(submissions.c.accepted.is_(None))
    .order_by(submissions.c.id)
    .limit(MOST)
    .with_for_update(skip_locked=True, key_share=True, of=[tables, submissions])
)


class Judgement(Struct, frozen=True):
    """What came of one transaction: the verdicts, and the tables as they are now."""

    verdicts: Mapping[int, ToldVerdict]
    tables: Sequence[LockedTable]


def run() -> None:
    """Judge everything that waits for a verdict; a table that cannot be judged now is passed over."""
    passed: set[str] = set()
    answer("referee", lambda app: hear_some(app, passed), waits)


def waits(app: App) -> bool:
    """Whether something waits; where nothing could be claimed, somebody else is at its table."""
    with app.store.reading() as connection:
        return connection.execute(WAITING.limit(1)).first() is not None


def hear_some(app: App, passed: set[str] | None = None) -> bool:
    """Judge some of what waits, if anything does at a table that nobody holds and that is not passed over."""
    return take_next(app, NEXT, set() if passed is None else passed, _hear, _failed)


def _hear(app: App, connection: Connection, claimed: Sequence[Submission]) -> After:
    """Judge submissions; where one may have ended a process before, that they are tried again is stored first."""
    found = _together(claimed)
    if not any(one.tries or one.at <= app.now() - SUSPECT for one in found):
        heard = _heard(app, connection, found)
        return lambda: _tell(app, heard)
    connection.execute(update(submissions).where(_are(found)).values(tries=submissions.c.tries + 1))
    return lambda: _retry(app, found)


def _together(claimed: Sequence[Submission]) -> Sequence[Submission]:
    """The first of these that can be judged together; one that was tried before is judged alone."""
    return list(takewhile(lambda one: not one.tries, claimed)) or claimed[:1]


def _retry(app: App, found: Sequence[Submission]) -> None:
    """Judge submissions whose try was counted, but for those where another referee was quicker."""
    with app.store.writing() as connection:
        same = connection.execute(NEXT.where(_are(found))).all()
        if not same:
            return
        heard = _heard(app, connection, same)
    _tell(app, heard)


def _failed(app: App, found: Sequence[Submission], error: Exception) -> None:
    """That the database did not let them be judged is no try; what fails alone for another reason is refused.

    What was judged by then, by us or by another referee, stays as it was told.
    """
    with suppress(OperationalError), app.store.writing() as connection:
        if isinstance(error, OperationalError):
            for one in found:
                connection.execute(update(submissions).where(_are([one])).values(tries=one.tries))
        elif len(found) == 1:
            for one in connection.execute(NEXT.where(_are(found))).all():
                queries.judge(connection, [(one.table, one.number, Verdict(False, Said.of(FAULT)))])


def _are(found: Sequence[Submission]) -> ColumnElement[bool]:
    own = tuple_(submissions.c.table, submissions.c.id)
    return own.in_([(one.table, one.number) for one in found])


def _tell(app: App, heard: Judgement) -> None:
    submitting.tell(app, heard.verdicts)
    judging.settle(app, heard.tables)


def _heard(app: App, connection: Connection, found: Sequence[Submission]) -> Judgement:
    """Judge these in their order, each at the table as the one before left it."""
    if len(found) > 1:
        app.store.hurry(connection)
    read, after, verdicts = clerk.reader(app, connection, found), dict[str, LockedTable](), dict[int, ToldVerdict]()
    for one in found:
        try:
            _refuse_deadly(one)
            verdict, after[one.table] = judging.judge(after.get(one.table) or read(one), _command(one))
        except OperationalError:
            raise  # the database's fault, not the submission's: it stays in line
        except Exception as error:
            verdict = _refused(one, error)
        verdicts[one.number] = ToldVerdict(one.table, verdict)
        app.metrics.count("moves", "accepted" if verdict.accepted else "refused")
    queries.judge(connection, [(told.table, number, told.verdict) for number, told in verdicts.items()])
    return Judgement(verdicts, list(after.values()))


def _command(one: Submission) -> SeatCommand:
    return SeatCommand(one.seat, one.move, seen=one.seen, by_bot=one.source == "bot")


def _refuse_deadly(one: Submission) -> None:
    if one.tries > TRIES:
        log.error("submission given up", submission=one.number, table=one.table)
        raise DEADLY


def _refused(one: Submission, error: Exception) -> Verdict:
    """What a player is told whose move could not be judged."""
    if not isinstance(error, Refused):
        log.error("submission not judged", submission=one.number, table=one.table, exc_info=error)
        error = FAULT
    return Verdict(False, Said.of(error))
