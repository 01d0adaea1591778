"""The referee: claims submissions to many tables, judges each once, and stores the verdicts, all in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, func, select, tuple_, update
from sqlalchemy.exc import OperationalError

from engine.refusal import Refused
from service.app import App
from service.store import queries
from service.store.batch import Batch, StoredVerdict, Verdict
from service.store.rows import SubmissionRow, TableRow
from service.store.schema import submissions, tables
from service.tables import judging, locked_table, submitting
from service.tables.judging import SeatCommand
from service.tables.locked_table import LockedTable
from service.tables.submitting import VerdictMessage
from service.text.languages import Sentence
from workers.jobs import AfterCommit, StepResult, empty_queue, process_claimed

log = structlog.get_logger()
FAULT = Refused("This move met a fault of ours. Nothing was changed; the host has been told.")
DEADLY = Refused("Our referee stopped several times over this move. Nothing was changed; please make another one.")
SUSPECT_AFTER_S = 10  # a submission that waits longer may have ended the process that judged it
MAX_TRIES = 3
BATCH_SIZE = 50
SHORT_LOCK_TIMEOUT = "100ms"  # a batch holds many tables that others may want, so it hardly waits for other locks

PENDING_SUBMISSIONS = select(submissions.c.id).where(submissions.c.accepted.is_(None))
NEXT_SUBMISSIONS = PENDING_SUBMISSIONS.limit(BATCH_SIZE + 1).subquery()
PENDING_COUNT = select(func.count()).select_from(NEXT_SUBMISSIONS).scalar_subquery().label("pending")
# The table is claimed with its submission: a table that another transaction holds is passed over.
# It is locked first, so that a submission that is passed over stays free for the next referee.
CLAIM = (
    select(*submissions.c, *tables.c, PENDING_COUNT)
    .join(tables, tables.c.id == submissions.c.table)
    .where(submissions.c.accepted.is_(None))
    .order_by(submissions.c.id)
    .limit(BATCH_SIZE)
    .with_for_update(skip_locked=True, key_share=True, of=[tables, submissions])
)
SUBMISSION_COLUMNS = len(submissions.c)


class ClaimedSubmission(Struct, frozen=True):
    """A submission that this referee has locked together with its table."""

    submission: SubmissionRow
    table_row: TableRow
    pending: int  # how many submissions waited, counted up to one more than a batch

    @property
    def table(self) -> str:
        return self.submission.table


class Judgement(Struct, frozen=True):
    """The result of one transaction: the verdicts by submission, and the tables as they are now."""

    verdicts: Mapping[int, VerdictMessage]
    tables: Sequence[LockedTable]


def run() -> None:
    """Judge submissions until none waits."""
    skipped: set[str] = set()
    empty_queue("referee", lambda app: judge_batch(app, skipped), is_waiting)


def is_waiting(app: App) -> bool:
    """Return whether a submission waits, also one at a table that another transaction holds."""
    with app.store.reading() as db:
        return db.execute(PENDING_SUBMISSIONS.limit(1)).first() is not None


def judge_batch(app: App, skipped: set[str] | None = None) -> StepResult:
    """Judge up to BATCH_SIZE submissions in one transaction, except those to skipped tables.

    A table whose submission failed alone is added to `skipped`.
    """
    skipped = set() if skipped is None else skipped
    claims = process_claimed(
        app, claim_submissions, skipped, _judge_claimed, _handle_failure, lock_timeout=SHORT_LOCK_TIMEOUT
    )
    if not claims:
        return StepResult.NONE
    has_all = len(claims) == claims[0].pending
    has_retry = any(claim.submission.tries > 0 for claim in claims)  # which is judged alone, so others may be left
    return StepResult.ALL if has_all and not has_retry else StepResult.SOME


def claim_submissions(db: Connection, skipped: Sequence[str] = (), table: str | None = None) -> list[ClaimedSubmission]:
    """Lock the next submissions and their tables, except skipped tables; with `table`, only its first submission."""
    statement = CLAIM.where(tables.c.id.not_in(skipped)) if skipped else CLAIM
    if table is not None:
        statement = statement.where(tables.c.id == table).limit(1)
    return _load_claims(db, statement)


def _load_claims(db: Connection, statement: Select[Any]) -> list[ClaimedSubmission]:
    """Lock and load submissions by a form of CLAIM: their columns, then those of their tables, then the count."""
    claims: list[ClaimedSubmission] = []
    for *columns, pending in db.execute(statement):
        submission, table = columns[:SUBMISSION_COLUMNS], columns[SUBMISSION_COLUMNS:]
        claims.append(ClaimedSubmission(SubmissionRow(*submission), TableRow(*table), pending))
    return claims


def _judge_claimed(app: App, db: Connection, claims: Sequence[ClaimedSubmission]) -> AfterCommit:
    """Judge submissions; if one may have ended an earlier referee, only count the try, and judge after the commit.

    So the count outlives this process, if that submission ends it, too.
    """
    claims = _keep_first_or_untried(claims)
    if not any(_is_suspect(app, claim.submission) for claim in claims):
        judgement = judge_all(app, Batch(db), claims)
        return lambda: _announce(app, judgement)
    db.execute(update(submissions).where(_is_among(claims)).values(tries=submissions.c.tries + 1))
    return lambda: _judge_suspects(app, claims)


def _keep_first_or_untried(claims: Sequence[ClaimedSubmission]) -> Sequence[ClaimedSubmission]:
    """Return the first claim alone if it was tried before; otherwise the claims before the first that was."""
    untried: list[ClaimedSubmission] = []
    for claim in claims:
        if claim.submission.tries > 0:
            break
        untried.append(claim)
    return untried or claims[:1]


def _is_suspect(app: App, submission: SubmissionRow) -> bool:
    """Return whether a submission may have ended the process that judged it."""
    return submission.tries > 0 or submission.at <= app.now() - SUSPECT_AFTER_S


def _judge_suspects(app: App, claims: Sequence[ClaimedSubmission]) -> None:
    """Judge submissions whose try was counted, unless another referee was quicker."""
    with app.store.writing() as db:
        again = _load_claims(db, CLAIM.where(_is_among(claims)))
        if not again:
            return
        judgement = judge_all(app, Batch(db), again)
    _announce(app, judgement)


def _handle_failure(app: App, claims: Sequence[ClaimedSubmission], error: Exception) -> None:
    """Refuse a submission that failed alone; if the database failed, restore the number of tries instead.

    Several that failed together are left as they are, because each is judged alone next. After a failure that came
    behind the commit, the verdicts are stored already, and stay.
    """
    with suppress(OperationalError), app.store.writing() as db:
        if isinstance(error, OperationalError):
            _restore_tries(db, claims)
        elif len(claims) == 1:
            _store_fault(db, claims)


def _restore_tries(db: Connection, claims: Sequence[ClaimedSubmission]) -> None:
    """Store the number of tries that each submission had when it was claimed: the failed try does not count."""
    for claim in claims:
        db.execute(update(submissions).where(_is_among([claim])).values(tries=claim.submission.tries))


def _store_fault(db: Connection, claims: Sequence[ClaimedSubmission]) -> None:
    """Refuse submissions with FAULT, except those that have a verdict by now."""
    refused = Verdict(accepted=False, why=Sentence.from_refusal(FAULT))
    again = _load_claims(db, CLAIM.where(_is_among(claims)))
    if again:
        queries.store_verdicts(db, [StoredVerdict(claim.table, claim.submission.id, refused) for claim in again])


def _is_among(claims: Sequence[ClaimedSubmission]) -> ColumnElement[bool]:
    """Return the condition that a row is one of these submissions."""
    keys = [(claim.table, claim.submission.id) for claim in claims]
    return tuple_(submissions.c.table, submissions.c.id).in_(keys)


def _announce(app: App, judgement: Judgement) -> None:
    """After the commit: publish the verdicts, and what follows from the moves."""
    submitting.publish_verdicts(app, judgement.verdicts)
    judging.publish_changes(app, judgement.tables)


def judge_all(app: App, batch: Batch, claims: Sequence[ClaimedSubmission]) -> Judgement:
    """Judge submissions in their order, each at the table as the one before left it, and write everything."""
    load = locked_table.make_table_loader(app, batch, [claim.table_row for claim in claims])
    changed, verdicts = dict[str, LockedTable](), dict[int, VerdictMessage]()
    for claim in claims:
        submission = claim.submission
        try:
            _refuse_deadly(submission)
            locked = changed.get(claim.table) or load(claim.table_row)
            verdict, after = judging.judge(locked, _make_command(submission))
            changed[claim.table] = after
        except OperationalError:
            raise  # the database failed, not the submission: it stays in line
        except Exception as error:
            verdict = _make_refusal(submission, error)
        verdicts[submission.id] = VerdictMessage(claim.table, verdict)
        app.metrics.count("moves", "accepted" if verdict.accepted else "refused")
    for number, message in verdicts.items():
        batch.store_verdict(StoredVerdict(message.table, number, message.verdict))
    batch.flush()
    return Judgement(verdicts, list(changed.values()))


def _make_command(submission: SubmissionRow) -> SeatCommand:
    return SeatCommand(submission.seat, submission.move, seen=submission.seen, by_bot=submission.source == "bot")


def _refuse_deadly(submission: SubmissionRow) -> None:
    """Raise DEADLY for a submission that was tried too often."""
    if submission.tries > MAX_TRIES:
        log.error("submission given up", submission=submission.id, table=submission.table)
        raise DEADLY


def _make_refusal(submission: SubmissionRow, error: Exception) -> Verdict:
    """The verdict on a submission that could not be judged."""
    if not isinstance(error, Refused):
        log.error("submission not judged", submission=submission.id, table=submission.table, exc_info=error)
        error = FAULT
    return Verdict(accepted=False, why=Sentence.from_refusal(error))
