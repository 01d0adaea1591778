"""The post: sends every letter that is owed, at least once, and marks it after the mail server has taken it."""

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

from service import timing
from service.accounts import bounces
from service.house import House
from service.people import letter_settings, vacations
from service.people.letter_settings import LetterSettings
from service.store import book
from service.store.schema import letters, people, seats
from service.timing import Calendar
from workers.incoming import bounce_reports
from workers.jobs import answer
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
IN_HAND = "in hand "
RETURNED = "X-Depesche-Return"
OWED = (
    select(letters.c.id, letters.c.outcome)
    .where(letters.c.sent_at.is_(None))
    .order_by(letters.c.due_at, letters.c.id)
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


def deliver() -> None:
    """Send everything that is owed now."""
    answer("post", deliver_some)


def deliver_some(here: House) -> bool:
    """Send some of the letters that are owed, if there are any."""
    batch = claim(here)
    try:
        send(here, batch)
    except OperationalError:  # not the letters' fault, which would be given up in the end
        with suppress(OperationalError):
            _back_in_line(here, [letter.row for letter in batch])
        raise
    return bool(batch)


def claim(here: House) -> Sequence[LetterInHand]:
    """Take some letters in hand: for a while nobody else will, and should we die, somebody else does afterwards."""
    with here.store.writing() as connection:
        owed = _together(connection.execute(OWED.where(letters.c.due_at <= here.now())).all())
        if not owed:
            return []
        wanted, times = [row.id for row in owed], _in_hand(owed[0]) + 1
        lease = {"due_at": here.now() + here.settings.lease, "tries": letters.c.tries + 1}
        lease["outcome"] = f"{IN_HAND}{times}"  # it stays where nothing becomes of it, because its writer ended
        connection.execute(update(letters).where(letters.c.id.in_(wanted)).values(**lease))
        rows = _addressed(connection, wanted)
        away = vacations.of_all(connection, [row.person for row in rows])
    return [_in_full(row, away.get(row.person, ())) for row in rows]


def _in_full(row: Due, away: tuple[vacations.Span, ...]) -> LetterInHand:
    wanted = letter_settings.at_table(row.wishes or "", row.otherwise or "")
    return LetterInHand(row, letter_kinds.of(row.kind), wanted, timing.calendar(row.calendar or "", away))


def _together(owed: Sequence[Any]) -> Sequence[Any]:
    """The letters that are taken in hand at once; one that may have ended its writer is taken alone."""
    suspect = next((place for place, row in enumerate(owed) if _in_hand(row)), len(owed))
    return owed[: suspect or 1]


def _in_hand(row: Any) -> int:
    """How often in a row a letter was taken in hand and nothing became of it."""
    return int(row.outcome.removeprefix(IN_HAND)) if row.outcome.startswith(IN_HAND) else 0


def _addressed(connection: Connection, wanted: Sequence[int]) -> Sequence[Due]:
    """These letters, each with whom it goes to: the holder of a seat, or the person whom it belongs to."""
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


def send(here: House, batch: Sequence[LetterInHand]) -> None:
    """Write and send these letters over one connection."""
    leaving = [letter for letter in batch if _leaves(here, letter)]
    ready = [(letter.row, message) for letter in leaving if (message := _written(here, letter)) is not None]
    if not ready:
        return
    try:
        server = connect(here.relay)
    except OSError as error:
        log.warning("mail server not reached", error=str(error))
        for row, _ in ready:
            _later(here, row, str(error))
        return
    with suppress(smtplib.SMTPException), server:  # by the time it refuses our goodbye, all letters are marked
        for place, (row, message) in enumerate(ready):
            if not _post(here, server, row, message):
                _back_in_line(here, [left for left, _ in ready[place:]])
                return


def _leaves(here: House, letter: LetterInHand) -> bool:
    """Whether a letter is for sending now; otherwise what becomes of it is noted."""
    row, outcome = letter.row, _unsent(letter)
    if _in_hand(row) > DEADLY:
        outcome = "given up: its writer ended several times"
        log.error("letter given up", letter=row.id, kind=row.kind, why=outcome)
    if outcome:
        _done(here, row, outcome)
    elif _unproven(here, row):
        _hold(here, row)
    elif letter.fate == "gathered":
        _gather(here, letter)
    elif letter.kind.waits and (until := _until(here, letter)):
        _wait(here, row, until)
    else:
        return True
    return False


def _unsent(letter: LetterInHand) -> str:
    """Why a letter is never sent; empty where it is."""
    if letter.row.person is None:
        return "nobody there"
    if letter.row.bounced_at is not None and letter.kind is not letter_kinds.ANSWER:
        return "address bounced"
    return "not wanted" if letter.fate == "unwanted" else ""


def _unproven(here: House, row: Due) -> bool:
    """Whether it is not known yet that this reader's address is right; then no more than an invitation leaves."""
    return bool(row.table) and row.kind not in UNPROVEN and here.settings.confirms and row.confirmed_at is None


def _gather(here: House, letter: LetterInHand) -> None:
    """Set a letter aside for the one letter of the day, which is owed with it."""
    with here.store.writing() as connection:
        digest.owe(connection, letter.row.person, letter.wanted.hour, letter.calendar, here.now())
        _mark(connection, letter.row, here.now(), digest.GATHERED)


def _until(here: House, letter: LetterInHand) -> int | None:
    """When the reader of a letter is up again; None where he is, or where his time would be over by then."""
    now, deadline = here.now(), letter.row.deadline
    until = timing.awake(now, letter.calendar)
    late = deadline is not None and deadline <= until
    return until if until > now and not late else None


def _wait(here: House, row: Due, until: int) -> None:
    with here.store.writing() as connection:
        same = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(same.values(due_at=until, tries=row.tries - 1, outcome=""))


def _written(here: House, letter: LetterInHand) -> EmailMessage | None:
    row = letter.row
    order = LetterOrder(
        row.table or "", row.seq or 0, row.seat or 0, row.kind, row.address, row.name, row.language, row.said
    )
    order = replace(order, person=row.person, plain=letter.wanted.plain, calendar=row.calendar, chose=row.chose)
    try:
        message = write(here, order) if row.table else personal_letters.write(here, order)
    except OperationalError:
        raise
    except Exception as error:
        log.exception("letter not written", letter=row.id)
        _later(here, row, f"not written: {error}")
        return None
    if message is None:
        _done(here, row, "overtaken")
    return message


def _post(here: House, server: smtplib.SMTP, row: Due, message: EmailMessage) -> bool:
    """Hand one letter to the server; False where neither it nor our lease is good for another."""
    if here.now() >= row.due_at:
        return False
    try:
        server.send_message(message, _returned_to(here, row, message), [row.address])
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError) as error:
        _refused(here, row, error)
    except OSError as error:  # smtplib's own are among these
        log.warning("mail server lost", letter=row.id, error=str(error))
        _later(here, row, str(error))
        return False
    except Exception as error:
        log.exception("letter not sent", letter=row.id)
        _later(here, row, f"not sent: {error}")
    else:
        _done(here, row, "sent")
    return True


def _returned_to(here: House, row: Due, message: EmailMessage) -> str:
    """Where a letter comes back to; an ordinary mailbox has no addresses for that, so the letter itself says which."""
    address = f"{here.links.bounce(row.id)}@{here.settings.mail_host}"
    if here.settings.answered_at == "play":
        return address
    del message[RETURNED]
    message[RETURNED] = address
    return here.settings.sender_address


def _refused(here: House, row: Due, error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> None:
    if not _permanent(error):
        _later(here, row, str(error))
        return
    log.warning("letter refused for good", letter=row.id, error=str(error))
    with here.store.writing() as connection:
        _mark(connection, row, here.now(), f"refused: {error}")
        here.meters.count("letters", "refused")
        if why := _gone(error):
            bounces.note(connection, row.person, why, here.now())


def _gone(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> str:
    """What the server said of an address that will never take a letter; empty where something else displeased it."""
    if isinstance(error, smtplib.SMTPDataError):
        return ""
    said = [(code, text.decode("utf-8", "replace")) for code, text in error.recipients.values()]
    return " ".join(f"{code} {text}" for code, text in said if bounce_reports.gone(code, text))


def _permanent(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> bool:
    if isinstance(error, smtplib.SMTPDataError):
        return error.smtp_code >= 500
    return all(code >= 500 for code, _ in error.recipients.values())


def _done(here: House, row: Due, outcome: str) -> None:
    """Mark a letter; a mark that the power takes away sends it again, and it is recognised."""
    with here.store.noting() as connection:
        _mark(connection, row, here.now(), outcome)
    here.meters.count("letters", outcome.partition(":")[0])


def _mark(connection: Connection, row: Due, at: int, outcome: str) -> None:
    same = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
    connection.execute(same.values(sent_at=at, outcome=outcome, said=""))


def _hold(here: House, row: Due) -> None:
    """Nobody has proven yet that this address is right; until then no more than an invitation leaves."""
    with here.store.writing() as connection:
        waits = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(waits.values(due_at=book.HELD, tries=row.tries - 1, outcome=""))


def _later(here: House, row: Due, why: str) -> None:
    """Try again after a pause that doubles, up to six hours; in the end give up and say so."""
    if row.tries >= TRIES:
        _done(here, row, f"given up: {why}")
        return
    pause = min(2**row.tries * 5, 6 * 3600)
    with here.store.writing() as connection:
        again = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(again.values(due_at=here.now() + pause, outcome=why[:500]))


def _back_in_line(here: House, rows: Sequence[Due]) -> None:
    """These were in hand but not tried; whoever is next may have them at once. What was tried has another due time."""
    with here.store.writing() as connection:
        for row in rows:
            ours = update(letters).where(letters.c.id == row.id, letters.c.due_at == row.due_at)
            connection.execute(ours.values(due_at=here.now(), tries=row.tries - 1, outcome=""))


def connect(url: str) -> smtplib.SMTP:
    """The mail server at `smtp://`, `smtps://` or `smtp+tls://` [user:password@]host[:port], with TLS verified."""
    parts, verified = urlsplit(url), ssl.create_default_context()
    host, port = parts.hostname or "127.0.0.1", parts.port
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
