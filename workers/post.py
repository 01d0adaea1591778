"""The post: sends every letter that is owed, at least once, and marks it after the mail server has taken it."""

from __future__ import annotations

import smtplib
from collections.abc import Sequence
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

import structlog
from sqlalchemy import Connection, Row, select, update

from service.house import House
from service.store.schema import letters, people, seats
from workers import house
from workers.letters import Order, write

log = structlog.get_logger()

BATCH = 25
LEASE = 120
TRIES = 12
OWED = (
    select(letters.c.id)
    .where(letters.c.sent_at.is_(None))
    .order_by(letters.c.due_at, letters.c.id)
    .limit(BATCH)
    .with_for_update(skip_locked=True)
)


def deliver() -> None:
    """Send everything that is owed now."""
    here = house()
    here.bells.answered("post")
    while batch := claim(here):
        send(here, batch)


def claim(here: House) -> list[Row[tuple[object, ...]]]:
    """Take some letters in hand: for a while nobody else will, and should we die, somebody else does afterwards."""
    with here.store.writing() as connection:
        wanted = connection.execute(OWED.where(letters.c.due_at <= here.now())).scalars().all()
        if not wanted:
            return []
        lease = {"due_at": here.now() + LEASE, "tries": letters.c.tries + 1}
        connection.execute(update(letters).where(letters.c.id.in_(wanted)).values(**lease))
        return list(_addressed(connection, wanted))


def _addressed(connection: Connection, wanted: Sequence[int]) -> Sequence[Row[tuple[object, ...]]]:
    joined = letters.join(seats, (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)).join(
        people, people.c.id == seats.c.person
    )
    columns = (*letters.c, seats.c.name, people.c.address, people.c.language)
    return connection.execute(
        select(*columns).select_from(joined).where(letters.c.id.in_(wanted)).order_by(letters.c.id)
    ).all()


def send(here: House, batch: Sequence[Row[tuple[object, ...]]]) -> None:
    """Write and send these letters over one connection."""
    written = [(row, _written(here, row)) for row in batch]
    ready = [(row, message) for row, message in written if message is not None]
    if not ready:
        return
    try:
        with connect(here.relay) as server:
            for row, message in ready:
                _post(here, server, row, message)
    except (OSError, smtplib.SMTPException) as error:
        log.warning("mail server not reached", error=str(error))
        for row, _ in ready:
            _later(here, row, str(error))


def _written(here: House, row: Row[tuple[object, ...]]) -> EmailMessage | None:
    order = Order(row.table, row.seq, row.seat, row.kind, row.address, row.name, row.language)
    try:
        message = write(here, order)
    except Exception as error:
        log.exception("letter not written", letter=row.id)
        _later(here, row, f"not written: {error}")
        return None
    if message is None:
        _done(here, row, "overtaken")
    return message


def _post(here: House, server: smtplib.SMTP, row: Row[tuple[object, ...]], message: EmailMessage) -> None:
    try:
        server.send_message(message, here.settings.sender, [row.address])
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError) as error:
        if _permanent(error):
            log.warning("letter refused for good", letter=row.id, error=str(error))
            _done(here, row, f"refused: {error}")
        else:
            _later(here, row, str(error))
        return
    _done(here, row, "sent")


def _permanent(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> bool:
    if isinstance(error, smtplib.SMTPDataError):
        return error.smtp_code >= 500
    return all(code >= 500 for code, _ in error.recipients.values())


def _done(here: House, row: Row[tuple[object, ...]], outcome: str) -> None:
    with here.store.writing() as connection:
        marked = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(marked.values(sent_at=here.now(), outcome=outcome))


def _later(here: House, row: Row[tuple[object, ...]], why: str) -> None:
    """Try again after a pause that doubles, up to six hours; in the end give up and say so."""
    if row.tries >= TRIES:
        _done(here, row, f"given up: {why}")
        return
    pause = min(2**row.tries * 5, 6 * 3600)
    with here.store.writing() as connection:
        again = update(letters).where(letters.c.id == row.id, letters.c.sent_at.is_(None))
        connection.execute(again.values(due_at=here.now() + pause, outcome=why[:500]))


def connect(url: str) -> smtplib.SMTP:
    """The mail server at `smtp://`, `smtps://` or `smtp+tls://` [user:password@]host[:port]."""
    parts = urlsplit(url)
    host = parts.hostname or "127.0.0.1"
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, parts.port or 465, timeout=30)
    else:
        server = smtplib.SMTP(host, parts.port or 25, timeout=30)
        if parts.scheme == "smtp+tls":
            server.starttls()
    if parts.username:
        server.login(unquote(parts.username), unquote(parts.password or ""))
    return server
