"""The post: sends every owed letter at least once, and marks it after the mail server has accepted it."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Sequence
from contextlib import suppress
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote, urlsplit

import structlog
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Row, func, select, update
from sqlalchemy.exc import OperationalError

from engine.catalogue import NotInstalled
from service import timing
from service.accounts import bounces
from service.app import App
from service.people import letter_settings, vacations
from service.people.letter_settings import LetterSettings
from service.store import queries
from service.store.schema import letters, people, seats
from service.timing import HOUR, Calendar
from workers import process_pool
from workers.incoming import bounce_reports
from workers.jobs import log_missing_game, run_job
from workers.outgoing import digest, letter_kinds, personal_letters
from workers.outgoing.envelopes import LetterOrder
from workers.outgoing.letter_kinds import Fate, LetterKind
from workers.outgoing.letters import write

log = structlog.get_logger()

Due = Row[Any]
BATCH = 25
UNPROVEN = ("invitation",)
WAIT = 30.0  # seconds for each word of the mail server
TRIES = 24  # three to four days
DEADLY = 6  # writers that one letter may end before it is given up
NOT_ASCII = "the address has letters that mail servers do not take"  # earlier versions took such addresses
IN_HAND = "in hand "
RETURNED = "X-Depesche-Return"
TELL_ALL = [name for name, kind in letter_kinds.SORTS.items() if kind.tells_all]
LONGER = 5  # times the lease of other letters, for one that tells all
OWED = (
    select(letters.c.id, letters.c.outcome, letters.c.kind)
    .where(letters.c.sent_at.is_(None))
    .order_by(letters.c.kind.in_(TELL_ALL), letters.c.due_at, letters.c.id)
    .limit(BATCH)
    .with_for_update(skip_locked=True)
)


class LetterInHand(Struct, frozen=True):
    """A letter to be sent: its row with the reader, what he wants of its kind, and when he rests."""

    row: Due
    kind: LetterKind
    wanted: LetterSettings
    calendar: Calendar

    @property
    def fate(self) -> Fate:
        return self.kind.fate(self.wanted.letters)


def run() -> None:
    """Send everything that is owed now."""
    run_job("post", deliver_some)


def deliver_some(app: App) -> bool:
    """Send some of the letters that are owed, if there are any."""
    batch = claim(app)
    try:
        send(app, batch)
    except (OperationalError, SystemExit):  # not the letters' fault, which would be given up in the end
        with suppress(OperationalError):
            _back_in_line(app, [letter.row for letter in batch])
        raise
    return bool(batch)


def claim(app: App) -> Sequence[LetterInHand]:
    """Lease some letters: other processes leave them alone until the lease ends, and send them if we die."""
    with app.store.writing() as connection:
        owed = _together(connection.execute(OWED.where(letters.c.due_at <= app.now())).all())
        if not owed:
            return []
        wanted, times = [row.id for row in owed], _in_hand(owed[0]) + 1
        leased = app.settings.lease * (LONGER if owed[0].kind in TELL_ALL else 1)
        lease = {"due_at": app.now() + leased, "tries": letters.c.tries + 1}
        lease["outcome"] = f"{IN_HAND}{times}"  # it stays if our process ends while it writes the letter
        connection.execute(update(letters).where(letters.c.id.in_(wanted)).values(**lease))
        rows = _addressed(connection, wanted)
        away = vacations.of_all(connection, [row.person for row in rows])
    return [_in_full(row, away.get(row.person, ())) for row in rows]


def _in_full(row: Due, away: tuple[vacations.Span, ...]) -> LetterInHand:
    wanted = letter_settings.at_table(row.wishes or "", row.otherwise or "")
    return LetterInHand(row, letter_kinds.of(row.kind), wanted, timing.calendar(row.calendar or "", away))


def _together(owed: Sequence[Any]) -> Sequence[Any]:
    """The letters to lease together; one that takes long, or may have ended a process before, is leased alone."""
    alone = (place for place, row in enumerate(owed) if _in_hand(row) or row.kind in TELL_ALL)
    return owed[: next(alone, len(owed)) or 1]


def _in_hand(row: Any) -> int:
    """How often in a row this letter was leased and neither sent nor put off."""
    return int(row.outcome.removeprefix(IN_HAND)) if row.outcome.startswith(IN_HAND) else 0


def _addressed(connection: Connection, wanted: Sequence[int]) -> Sequence[Due]:
    """These letters with their readers: the player in the seat, or the person whom the letter is for."""
    seat = (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
    reader = people.c.id == func.coalesce(letters.c.person, seats.c.person)
    joined = letters.outerjoin(seats, seat).outerjoin(people, reader)
    columns = (
        *(column for column in letters.c if column.name != "person"),
        *(people.c.id.label("person"), people.c.address, people.c.language, people.c.chose),
        *(people.c.calendar, people.c.wishes, people.c.bounced_at, people.c.confirmed_at),
        *(func.coalesce(seats.c.name, people.c.name).label("name"), seats.c.due_at.label("deadline")),
        seats.c.wishes.label("otherwise"),
    )
    return connection.execute(
        select(*columns).select_from(joined).where(letters.c.id.in_(wanted)).order_by(letters.c.id)
    ).all()


def send(app: App, batch: Sequence[LetterInHand]) -> None:
    """Write and send these letters over one connection."""
    leaving = [letter for letter in batch if _leaves(app, letter)]
    ready = [(letter.row, message) for letter in leaving if (message := _written(app, letter)) is not None]
    if not ready:
        return
    try:
        server = connect(app.relay)
    except OSError as error:
        log.warning("mail server not reached", error=str(error))
        for row, _ in ready:
            _later(app, row, str(error))
        return
    with suppress(smtplib.SMTPException), server:  # an error at the goodbye comes after all letters are marked
        for place, (row, message) in enumerate(ready):
            if not _post(app, server, row, message):
                _back_in_line(app, [left for left, _ in ready[place:]])
                return


def _leaves(app: App, letter: LetterInHand) -> bool:
    """Whether a letter is sent now; if not, note what happens to it instead."""
    row, outcome = letter.row, _unsent(letter)
    if _in_hand(row) > DEADLY:
        outcome = "given up: its writer ended several times"
        log.error("letter given up", letter=row.id, kind=row.kind, why=outcome)
    if outcome:
        _done(app, row, outcome)
    elif not row.address.isascii():
        _dead(app, row, NOT_ASCII, NOT_ASCII)
    elif _unproven(app, row):
        _hold(app, row)
    elif letter.fate == "gathered":
        _gather(app, letter)
    elif letter.kind.waits and (until := _until(app, letter)):
        _wait(app, row, until)
    else:
        return True
    return False


def _unsent(letter: LetterInHand) -> str:
    """Why this letter is never sent; empty if it may be."""
    if letter.row.person is None:
        return "nobody there"
    if letter.row.bounced_at is not None and letter.kind is not letter_kinds.ANSWER:
        return "address bounced"
    return "not wanted" if letter.fate == "unwanted" else ""


def _unproven(app: App, row: Due) -> bool:
    """Whether the reader has not confirmed his address yet; until then he gets invitations only."""
    return bool(row.table) and row.kind not in UNPROVEN and app.settings.confirms and row.confirmed_at is None


def _gather(app: App, letter: LetterInHand) -> None:
    """Leave a letter to the digest, and owe the digest."""
    with app.store.writing() as connection:
        digest.owe(connection, letter.row.person, letter.wanted.hour, letter.calendar, app.now())
        _mark(connection, letter.row, app.now(), digest.GATHERED)


def _until(app: App, letter: LetterInHand) -> int | None:
    """When the quiet hours of the reader end; None outside them, or if his deadline comes first."""
    now, deadline = app.now(), letter.row.deadline
    until = timing.awake(now, letter.calendar)
    late = deadline is not None and deadline <= until
    return until if until > now and not late else None


def _wait(app: App, row: Due, until: int) -> None:
    with app.store.writing() as connection:
        same = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(same.values(due_at=until, tries=row.tries - 1, outcome=""))


def _written(app: App, letter: LetterInHand) -> EmailMessage | None:
    row = letter.row
    order = LetterOrder(
        row.table or "", row.seq or 0, row.seat or 0, row.kind, row.address, row.name, row.language, row.said
    )
    order = replace(order, person=row.person, plain=letter.wanted.plain, calendar=row.calendar, chose=row.chose)
    try:
        message = process_pool.run_when_started(write if row.table else personal_letters.write, app, order)
    except OperationalError:
        raise
    except NotInstalled as missing:  # its table waits for its game, and so does the letter
        log_missing_game(row.table or "", str(missing))
        _wait(app, row, app.now() + HOUR)
        return None
    except Exception as error:
        log.exception("letter not written", letter=row.id)
        _later(app, row, f"not written: {error}")
        return None
    if message is None:
        _done(app, row, "overtaken")
    return message


def _post(app: App, server: smtplib.SMTP, row: Due, message: EmailMessage) -> bool:
    """Send one letter; False if the connection is lost or our lease has ended, so that we must stop."""
    if app.now() >= row.due_at:
        return False
    try:
        server.send_message(message, _returned_to(app, row, message), [row.address])
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError) as error:
        _refused(app, row, error)
    except OSError as error:  # smtplib's own are among these
        log.warning("mail server lost", letter=row.id, error=str(error))
        _later(app, row, str(error))
        return False
    except Exception as error:
        log.exception("letter not sent", letter=row.id)
        _later(app, row, f"not sent: {error}")
    else:
        _done(app, row, "sent")
    return True


def _returned_to(app: App, row: Due, message: EmailMessage) -> str:
    """Where a letter comes back to; an ordinary mailbox has no addresses for that, so the letter itself says which."""
    address = f"{app.links.bounce(row.id)}@{app.settings.mail_host}"
    if app.settings.answered_at == "play":
        return address
    del message[RETURNED]
    message[RETURNED] = address
    return app.settings.sender_address


def _refused(app: App, row: Due, error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> None:
    if not _permanent(error):
        _later(app, row, str(error))
        return
    _dead(app, row, str(error), _gone(error))


def _dead(app: App, row: Due, why: str, gone: str) -> None:
    """The letter never arrives; where its address is gone, nothing more is sent there, and the tables are told."""
    log.warning("letter refused for good", letter=row.id, error=why)
    with app.store.writing() as connection:
        _mark(connection, row, app.now(), f"refused: {why}")
        app.metrics.count("letters", "refused")
        if gone:
            bounces.note(connection, row.person, gone, app.now())


def _gone(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> str:
    """What the server said of a dead address; empty if it refused the letter for another reason."""
    if isinstance(error, smtplib.SMTPDataError):
        return ""
    said = [(code, text.decode("utf-8", "replace")) for code, text in error.recipients.values()]
    return " ".join(f"{code} {text}" for code, text in said if bounce_reports.gone(code, text))


def _permanent(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> bool:
    if isinstance(error, smtplib.SMTPDataError):
        return error.smtp_code >= 500
    return all(code >= 500 for code, _ in error.recipients.values())


def _done(app: App, row: Due, outcome: str) -> None:
    """Mark a letter as done. A mark lost in a power cut sends it again, with the same Message-ID."""
    with app.store.writing(durable=False) as connection:
        _mark(connection, row, app.now(), outcome)
    app.metrics.count("letters", outcome.partition(":")[0])


def _mark(connection: Connection, row: Due, at: int, outcome: str) -> None:
    same = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
    connection.execute(same.values(sent_at=at, outcome=outcome, said=""))


def _hold(app: App, row: Due) -> None:
    """Hold a letter until its reader confirms his address."""
    with app.store.writing() as connection:
        waits = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(waits.values(due_at=queries.HELD, tries=row.tries - 1, outcome=""))


def _later(app: App, row: Due, why: str) -> None:
    """Try again after a pause that doubles up to six hours; after the last try give up and note why."""
    if row.tries >= TRIES:
        _done(app, row, f"given up: {why}")
        return
    pause = min(2**row.tries * 5, 6 * 3600)
    with app.store.writing() as connection:
        again = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(again.values(due_at=app.now() + pause, outcome=why[:500]))


def _back_in_line(app: App, rows: Sequence[Due]) -> None:
    """Give untried letters back, so that the next process may send them at once; tried ones have a new due time."""
    with app.store.writing() as connection:
        for row in rows:
            ours = update(letters).where(
                letters.c.id == row.id, letters.c.due_at == row.due_at, letters.c.sent_at.is_(None)
            )
            connection.execute(ours.values(due_at=app.now(), tries=row.tries - 1, outcome=""))


def connect(url: str) -> smtplib.SMTP:
    """The mail server at `smtp://`, `smtps://` or `smtp+tls://` [user:password@]host[:port], with TLS verified."""
    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port
    verified = None if parts.scheme == "smtp" else ssl.create_default_context()  # reads all certificates there are
    match parts.scheme:
        case "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port or 465, timeout=WAIT, context=verified)
        case "smtp" | "smtp+tls":
            server = smtplib.SMTP(host, port or 25, timeout=WAIT)
        case unknown:
            raise smtplib.SMTPNotSupportedError(f"DEPESCHE_SMTP begins with smtp, smtps or smtp+tls, not {unknown}")
    try:
        if parts.scheme == "smtp+tls":
            server.starttls(context=verified)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        server.close()
        raise
    return server
