"""The post: send every letter that is due at least once, and mark it after the relay has accepted it.

A letter is a row of the table `letters`. While a process has it in hand, `due_at` is the end of that process's lease;
a letter whose process died is due again when the lease ends. Each step below is one transaction.
"""

from __future__ import annotations

import smtplib
import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing, suppress
from email.message import EmailMessage
from typing import Any

import structlog
from msgspec import Struct
from sqlalchemy import Connection, Update, bindparam, select, update
from sqlalchemy.exc import OperationalError

from engine.catalogue import NotInstalled
from service.accounts import addresses
from service.app import App
from service.people import limits
from service.settings import EMBEDDED
from service.store import channel_queries, queries
from service.store.schema import letters
from service.timing import HOUR_S, compute_retry_pause
from workers import process_pool
from workers.jobs import StepResult, empty_queue, log_missing_game
from workers.outgoing import digest, emails, personal_letters, table_letters
from workers.outgoing.emails import Envelope
from workers.outgoing.letter import LetterRequest
from workers.outgoing.owed import LETTER_KINDS, TURN, OwedNotice, find_end_of_quiet_hours, load_owed

log = structlog.get_logger()

BATCH = 25
MIN_MANY, MANY_WITHIN_S = 60, 60.0  # so many letters within this time are many
WRITTEN_AT: deque[float] = deque(maxlen=MIN_MANY)  # the times of the last letters of this process
MAX_TRIES = 24  # three to four days
MAX_STARTS = 6  # processes that a letter may kill before it is given up
SLOW_KINDS = [name for name, kind in LETTER_KINDS.items() if kind.is_slow]
SLOW_LEASES = 5  # how many times the lease of other letters a slow letter has
IN_HAND = "in hand "  # an outcome until the letter is sent or postponed; its number counts the processes that started
MAIL_WAIT_S = 2 * HOUR_S  # of a letter whose notice another channel took, if the reader wishes that
MAX_OUTCOME_CHARS = 500
NOT_ASCII = "the address has letters that mail servers do not take"
RETURN_HEADER = "X-Depesche-Return"
DUE_LETTERS = (
    select(letters.c.id, letters.c.outcome, letters.c.kind, letters.c.tries)
    .where(letters.c.sent_at.is_(None))
    .order_by(letters.c.kind.in_(SLOW_KINDS), letters.c.due_at, letters.c.id)
    .limit(BATCH)
    .with_for_update(skip_locked=True)
)
MARK_LETTER = (
    update(letters)
    .where(letters.c.id == bindparam("key_id"), letters.c.sent_at.is_(None))
    .values(sent_at=bindparam("sent_at"), outcome=bindparam("outcome"), sentence="", recipient=bindparam("recipient"))
)


class ClaimedLetter(Struct, frozen=True):
    """A letter that this process has leased.

    `due_at` is the end of the lease, `tries` counts this one, and `starts` counts the processes that leased the letter
    in a row without sending or postponing it. `pending` is how many were due then, counted up to BATCH.
    """

    owed: OwedNotice
    due_at: int
    tries: int
    starts: int
    pending: int

    @property
    def id(self) -> int:
        return self.owed.letter

    @property
    def request(self) -> LetterRequest:
        return self.owed.request


def run() -> None:
    """Send letters until none is due."""
    empty_queue("post", send_batch, is_waiting)


def is_waiting(app: App) -> bool:
    """Return whether a letter is due."""
    due = select(letters.c.id).where(letters.c.sent_at.is_(None), letters.c.due_at <= app.now())
    with app.store.reading() as db:
        return db.execute(due.limit(1)).first() is not None


def send_batch(app: App) -> StepResult:
    """Claim some letters that are due, write and send them; those that come meanwhile have a wake-up of their own."""
    batch = claim(app)
    try:
        is_complete = send(app, batch)
    except (OperationalError, SystemExit):  # not the letters' fault: the try is not counted
        with suppress(OperationalError):
            release(app, batch)
        raise
    if not batch:
        return StepResult.NONE
    has_all = len(batch) == batch[0].pending and len(batch) < BATCH  # a full batch may have left some
    return StepResult.ALL if is_complete and has_all else StepResult.SOME


def claim(app: App) -> Sequence[ClaimedLetter]:
    """Lease some letters that are due, so that other processes leave them alone; owe them by other channels, too."""
    with app.store.writing() as db:
        due = db.execute(DUE_LETTERS.where(letters.c.due_at <= app.now())).all()
        batch = select_batch(due)
        if not batch:
            return []
        ids = [row.id for row in batch]
        starts = count_starts(batch[0].outcome) + 1  # more than 1 only if the letter is leased alone
        leases = SLOW_LEASES if batch[0].kind in SLOW_KINDS else 1
        due_at = app.now() + leases * app.settings.lease
        lease = {"due_at": due_at, "tries": letters.c.tries + 1, "outcome": f"{IN_HAND}{starts}"}
        db.execute(update(letters).where(letters.c.id.in_(ids)).values(**lease))
        has_channels = db.execute(channel_queries.ANY_CHANNEL).first() is not None
        has_deliveries = has_channels and channel_queries.insert_deliveries(db, app.now(), app.settings.confirms, ids)
        owed = load_owed(db, ids)
    if has_deliveries:
        app.wakeups.wake("deliveries")
    tries = {row.id: row.tries + 1 for row in batch}
    return [ClaimedLetter(one, due_at, tries[one.letter], starts, pending=len(due)) for one in owed]


def select_batch(due: Sequence[Any]) -> Sequence[Any]:
    """Return the letters to lease together: the first ones, or only the first if it is to be leased alone."""
    together: list[Any] = []
    for row in due:
        if row.kind in SLOW_KINDS or count_starts(row.outcome) > 0:  # it is slow, or may have killed a process
            break
        together.append(row)
    return together or due[:1]


def count_starts(outcome: str) -> int:
    """Return how often in a row a letter was leased and neither sent nor postponed."""
    return int(outcome.removeprefix(IN_HAND)) if outcome.startswith(IN_HAND) else 0


def send(app: App, batch: Sequence[ClaimedLetter]) -> bool:
    """Write and send the letters of a batch that may leave now; return whether each was sent, or put off to a new try.

    If the connection is lost, or a lease ends, the letters after that are released, and False is returned.
    """
    sendable = [letter for letter in batch if not settle_unsendable(app, letter)]
    ready: list[tuple[ClaimedLetter, Envelope]] = []
    for letter in sendable:
        envelope = write_or_postpone(app, letter)
        if envelope is not None:
            ready.append((letter, envelope))
    if not ready:
        return True
    try:
        server = emails.connect(app.relay)
    except OSError as error:
        log.warning("mail server not reached", error=str(error))
        for letter, _ in ready:
            retry_later(app, letter, str(error))
        return True
    untried: Sequence[ClaimedLetter] = ()
    with suppress(smtplib.SMTPException), server:  # an error at signing off comes after all letters are marked
        untried = send_over(app, server, ready)
    if untried:
        release(app, untried)
    return not untried


def send_over(
    app: App, server: smtplib.SMTP, ready: Sequence[tuple[ClaimedLetter, Envelope]]
) -> Sequence[ClaimedLetter]:
    """Send letters over one connection and mark each; return those that were not tried.

    Stop if the connection is lost, or if a lease has ended: another process may send that letter then.
    """
    batch = [letter for letter, _ in ready]
    with closing(emails.send_all(server, [envelope for _, envelope in ready])) as results:
        for place, letter in enumerate(batch):
            if app.now() >= letter.due_at:  # the end of its lease
                return batch[place:]
            try:
                refusal = next(results)  # sends this letter
            except OSError as error:  # smtplib's own errors are among these
                log.warning("mail server lost", letter=letter.id, error=str(error))
                retry_later(app, letter, str(error))
                return batch[place + 1 :]
            settle_sent(app, letter, refusal)
    return ()


def settle_sent(app: App, letter: ClaimedLetter, refusal: emails.Refusal | None) -> None:
    """Record that the server has accepted a letter, or what follows from its refusal."""
    if refusal is None:
        close(app, letter, "sent")
    elif emails.is_permanent(refusal):
        close_refused(app, letter, str(refusal), emails.find_dead_address_reply(refusal))
    else:
        retry_later(app, letter, str(refusal))


def settle_unsendable(app: App, letter: ClaimedLetter) -> bool:
    """Record what happens to a letter that is not sent now; return False if it is to be sent."""
    if letter.owed.has_digest_channel and letter.owed.kind is TURN:
        schedule_digest(app, letter)  # for the channel that gets the digest; below, for the letter itself
    outcome = find_obstacle(letter)
    if letter.starts > MAX_STARTS:
        outcome = "given up: the process that wrote it ended several times"
        log.error("letter given up", letter=letter.id, kind=letter.request.kind, why=outcome)
    if outcome:
        close(app, letter, outcome)
    elif not letter.request.address.isascii():
        close_refused(app, letter, why=NOT_ASCII, dead_address_reply=NOT_ASCII)
    elif app.settings.confirms and letter.owed.needs_proof:
        postpone(app, letter, queries.NEVER_DUE)  # until the proof makes it due
    elif letter.owed.treatment == "digest":
        move_to_digest(app, letter)
    elif letter.owed.kind.waits and (until := find_end_of_wait(app, letter)):
        postpone(app, letter, until)
    elif letter.owed.kind.is_limited:
        return settle_over_limit(app, letter)
    else:
        return False
    return True


def settle_over_limit(app: App, letter: ClaimedLetter) -> bool:
    """Postpone a letter behind a day's number of invitations, drop it behind twice that; False if it is to be sent."""
    if app.settings.smtp == EMBEDDED:  # letters stay in the local mailbox
        return False
    most = app.settings.invitations_per_day
    with app.store.reading() as db:
        before = limits.count_letters_ahead(db, letter.request.person, letter.id, app.now())
    if before < most:
        return False
    if before >= 2 * most:
        close(app, letter, "too many invitations")
    else:
        postpone(app, letter, app.now() + HOUR_S)
    return True


def find_end_of_wait(app: App, letter: ClaimedLetter) -> int | None:
    """Return until when a letter waits: for a move if another channel took its notice, or for quiet hours to end.

    Return None if it waits for neither.
    """
    if letter.owed.settings.mail_waits and letter.owed.kind is TURN:
        with app.store.reading() as db:
            since = channel_queries.find_first_delivery_time(db, letter.id)
        if since is not None and since + MAIL_WAIT_S > app.now():
            return since + MAIL_WAIT_S
    return find_end_of_quiet_hours(app, letter.owed)


def find_obstacle(letter: ClaimedLetter) -> str:
    """Return why a letter is never sent; empty if it may be."""
    if not letter.request.person:
        return "nobody there"
    if letter.owed.is_bounced and letter.owed.kind.topic not in ("account", "answer"):
        return "address bounced"
    if letter.owed.treatment == "drop":
        return "not wanted"
    return ""


def write_or_postpone(app: App, letter: ClaimedLetter) -> Envelope | None:
    """Write a letter. Return None if it is overtaken, or has to wait; that is recorded."""
    request = letter.request
    try:
        message = write_here_or_aside(app, request)  # None if the letter is overtaken
        if message is not None:
            return emails.make_envelope(message, set_return_path(app, letter, message), request.address)
    except OperationalError:
        raise
    except NotInstalled as missing:  # the letter waits for the game, as its table does
        log_missing_game(request.table, str(missing))
        postpone(app, letter, app.now() + HOUR_S)
        return None
    except Exception as error:
        log.exception("letter not written", letter=letter.id)
        retry_later(app, letter, f"not written: {error}")
        return None
    close(app, letter, "overtaken")
    return None


def write_here_or_aside(app: App, request: LetterRequest) -> EmailMessage | None:
    """Write a letter in this process, and in the second one while letters come often.

    Few letters delay few verdicts, and the second process needs memory.
    """
    now = time.monotonic()
    are_many = len(WRITTEN_AT) == MIN_MANY and now - WRITTEN_AT[0] < MANY_WITHIN_S  # the oldest is first
    WRITTEN_AT.append(now)
    return process_pool.run_if_started(write, app, request) if are_many else write(app, request)


def write(app: App, request: LetterRequest) -> EmailMessage | None:
    """Write a letter about a table or to a person; None if it is overtaken.

    A digest of one table is a letter from that table, with its board and moves, and can be answered.
    """
    if request.table:
        return table_letters.write(app, request)
    if request.kind_name == "digest":
        only_turn = digest.find_only_turn(app, request)
        if only_turn is not None:
            return table_letters.write(app, only_turn)
    return personal_letters.write(app, request)


def set_return_path(app: App, letter: ClaimedLetter, message: EmailMessage) -> str:
    """Return the address that bounces go to; if all share one mailbox, add a header that names the letter."""
    address = f"{app.links.make_bounce_address(letter.id)}@{app.settings.mail_host}"
    if app.settings.answer_place == "play":  # mail to all addresses of this host comes in
        return address
    message[RETURN_HEADER] = address
    return app.settings.sender_address


def close(app: App, letter: ClaimedLetter, outcome: str) -> None:
    """Mark a letter as done. If a power cut loses the mark, it is sent again with the same Message-ID."""
    with app.store.writing(durable=False) as db:
        store_outcome(db, letter, app.now(), outcome)
    app.metrics.count("letters", outcome.partition(":")[0])


def close_refused(app: App, letter: ClaimedLetter, why: str, dead_address_reply: str) -> None:
    """Mark a letter as refused for good. If its address is dead, send nothing more there and inform the tables."""
    log.warning("letter refused for good", letter=letter.id, error=why)
    with app.store.writing() as db:
        store_outcome(db, letter, app.now(), f"refused: {why}")
        app.metrics.count("letters", "refused")
        if dead_address_reply:
            addresses.record_bounce(db, letter.request.person, dead_address_reply, app.now())
    if dead_address_reply:
        app.wakeups.wake("post")  # for the letters to the tables


def schedule_digest(app: App, letter: ClaimedLetter) -> None:
    """Have the reader's next digest sent."""
    owed = letter.owed
    with app.store.writing() as db:
        digest.schedule_digest(db, owed.request.person, owed.settings.hour, owed.calendar, app.now())


def move_to_digest(app: App, letter: ClaimedLetter) -> None:
    """Leave a letter's news to the reader's next digest, and have that digest sent."""
    schedule_digest(app, letter)
    with app.store.writing() as db:
        store_outcome(db, letter, app.now(), digest.LEFT_TO_DIGEST)


def postpone(app: App, letter: ClaimedLetter, until: int) -> None:
    """Make a letter due at a later moment, without counting a try."""
    with app.store.writing() as db:
        db.execute(update_unsent(letter).values(due_at=until, tries=letter.tries - 1, outcome=""))


def retry_later(app: App, letter: ClaimedLetter, why: str) -> None:
    """Try again after a pause that doubles up to six hours; after the last try, give up."""
    if letter.tries >= MAX_TRIES:
        close(app, letter, f"given up: {why}")
        return
    pause_s = compute_retry_pause(letter.tries - 1)  # the failures before this one
    with app.store.writing() as db:
        db.execute(update_unsent(letter).values(due_at=app.now() + pause_s, outcome=why[:MAX_OUTCOME_CHARS]))


def release(app: App, batch: Sequence[ClaimedLetter]) -> None:
    """End the leases of untried letters, without counting a try, so that another process may send them at once.

    A letter that was tried has another `due_at` by now, and keeps it.
    """
    with app.store.writing() as db:
        for letter in batch:
            untried = update_unsent(letter).where(letters.c.due_at == letter.due_at)
            db.execute(untried.values(due_at=app.now(), tries=letter.tries - 1, outcome=""))


def store_outcome(db: Connection, letter: ClaimedLetter, at: int, outcome: str) -> None:
    """Write the outcome of a letter, which is then no longer due."""
    values = {"key_id": letter.id, "sent_at": at, "outcome": outcome, "recipient": letter.request.person or None}
    db.execute(MARK_LETTER, values)


def update_unsent(letter: ClaimedLetter) -> Update:
    """Return an UPDATE of a letter's row that does nothing if it has an outcome already."""
    return update(letters).where(letters.c.id == letter.id, letters.c.sent_at.is_(None))
