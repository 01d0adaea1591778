"""The referee: claims submissions one at a time and has each of them judged once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Connection, Row, Update, select, update
from sqlalchemy.exc import OperationalError

from engine.catalogue import NotInstalled
from service.house import House
from service.store import book
from service.store.book import Verdict
from service.store.schema import submissions, tables
from service.tables import judging
from service.tables.clerk import LockedTable
from service.tables.judging import SeatCommand
from service.text.languages import Said
from workers.jobs import After, answer, take_next

Submission = Row[Any]
log = structlog.get_logger()
FAULT = Said("This move met a fault of ours. Nothing was changed; the host has been told.")
DEADLY = Said("Our referee stopped several times over this move. Nothing was changed; please make another one.")
SUSPECT = 10  # seconds; a submission that waits longer may have ended the process that judged it
TRIES = 3

WAITING = select(submissions.c.id).where(submissions.c.accepted.is_(None))
# The table is claimed with its submission: one that somebody else holds is passed over, and holds no other table up.
# It is locked first, so that a submission that is passed over here stays free for the next referee.
NEXT = (
    select(submissions)
    .join(tables, tables.c.id == submissions.c.table)
    .where(submissions.c.accepted.is_(None))
    .order_by(submissions.c.id)
    .limit(1)
    .with_for_update(skip_locked=True, key_share=True, of=[tables, submissions])
)


def hear() -> None:
    """Judge everything that waits for a verdict; a table that cannot be judged now is passed over."""
    passed: set[str] = set()
    answer("referee", lambda here: hear_one(here, passed), waits)


def waits(here: House) -> bool:
    """Whether something waits; where nothing could be claimed, somebody else is at its table."""
    with here.store.reading() as connection:
        return connection.execute(WAITING.limit(1)).first() is not None


def hear_one(here: House, passed: set[str] | None = None) -> bool:
    """Judge one submission, if any waits at a table that nobody holds and that is not passed over."""
    return take_next(here, NEXT, set() if passed is None else passed, _hear, _count_no_try)


def _hear(here: House, connection: Connection, submission: Submission) -> After:
    """Judge a submission; where it may have ended a process before, that it is tried again is stored first."""
    if submission.at > here.now() - SUSPECT:
        locked = _heard(here, connection, submission)
        return lambda: _tell(here, submission, locked)
    connection.execute(_tried(submission, submission.tries + 1))
    return lambda: _tell(here, submission, _retried(here, submission))


def _tell(here: House, submission: Submission, locked: LockedTable | None) -> None:
    here.bells.wake(submission.id)
    if locked is not None:
        judging.settle(locked)


def _retried(here: House, submission: Submission) -> LockedTable | None:
    """Judge a submission whose try was counted; None where another referee was quicker."""
    with here.store.writing() as connection:
        same = connection.execute(NEXT.where(_is(submission))).one_or_none()
        return None if same is None else _heard(here, connection, same)


def _count_no_try(here: House, submission: Submission) -> None:
    """That the database did not let it be judged is no try."""
    with suppress(OperationalError), here.store.writing() as connection:
        connection.execute(_tried(submission, submission.tries))


def _tried(submission: Submission, tries: int) -> Update:
    return update(submissions).where(_is(submission)).values(tries=tries)


def _is(submission: Submission) -> ColumnElement[bool]:
    return submissions.c.id == int(submission.id)


def _heard(here: House, connection: Connection, submission: Submission) -> LockedTable | None:
    verdict, locked = _judged(here, connection, submission)
    book.judge(connection, submission.id, verdict)
    here.meters.count("moves", "accepted" if verdict.accepted else "refused")
    return locked


def _judged(here: House, connection: Connection, submission: Submission) -> tuple[Verdict, LockedTable | None]:
    if submission.tries > TRIES:
        log.error("submission given up", submission=submission.id, table=submission.table)
        return Verdict(False, DEADLY), None
    try:
        locked = judging.lock(here, connection, submission.table)
    except NotInstalled as missing:
        return Verdict(False, Said.of(missing)), None
    command = SeatCommand(submission.seat, submission.move, seen=submission.seen, by_bot=submission.source == "bot")
    try:
        return judging.judge(locked, command)
    except OperationalError:
        raise  # the database's fault, not the submission's: it stays in line
    except Exception:
        log.exception("submission not judged", submission=submission.id, table=submission.table)
        return Verdict(False, FAULT), None
