"""The clock: deadlines, reminders, and a bell for every row whose time has come, so that nothing waits for ever."""

from __future__ import annotations

import structlog
from sqlalchemy import exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from engine import table as tables
from engine.menu import Move
from service import clerk
from service.house import House
from service.store.schema import letters, mails, seats, submissions
from workers import bots, referee

log = structlog.get_logger()


def tick(here: House) -> None:
    """Look at everything that time alone sets in motion."""
    remind(here)
    ring(here)
    expire(here)


def remind(here: House) -> None:
    """Owe a reminder, once for each time a seat comes on turn, to whoever is running late."""
    wanted = select(seats).where(seats.c.remind_at <= here.now())
    with here.store.reading() as connection:
        late = connection.execute(wanted).all()
    for seat in late:
        with here.store.writing() as connection:
            same = (seats.c.table == seat.table, seats.c.seat == seat.seat, seats.c.remind_at == seat.remind_at)
            if not connection.execute(update(seats).where(*same).values(remind_at=None)).rowcount:
                continue
            letter = {"table": seat.table, "seq": seat.open_since, "seat": seat.seat, "kind": "reminder"}
            once = ~exists().where(*(letters.c[name] == value for name, value in letter.items()))
            if connection.execute(select(1).where(once)).one_or_none():
                connection.execute(insert(letters), {**letter, "due_at": here.now()})


def expire(here: House) -> None:
    """Let a bot make the move of every seat whose deadline has passed."""
    wanted = select(seats.c.table, seats.c.seat).where(seats.c.due_at <= here.now())
    with here.store.reading() as connection:
        late = connection.execute(wanted).all()
    for seat in late:
        try:
            _expire(here, seat.table, seat.seat)
        except Exception:  # one table's trouble must not stop the others' clocks
            log.exception("deadline not kept", table=seat.table, seat=seat.seat)


def _expire(here: House, table: str, seat: int) -> None:
    look = here.desk.look(table)
    if not tables.menu(look.game, look.table, seat):
        return
    move = bots.choose(here, look.game, look.table.state, seat)
    try:
        with here.store.writing() as connection:
            desktop = clerk.take(connection, here.shelf, table)
            if desktop is None or desktop.table.length != look.table.length:
                return  # somebody moved in the meantime
            command = Move("expire", (str(seat), move.verb, *move.args))
            desktop = clerk.enter(desktop, None, command, here.now(), here.settings)
    except IntegrityError:
        return  # another clock was quicker
    referee.settled(here, desktop)


def ring(here: House) -> None:
    """Ring for whatever waits: a bell may have been lost."""
    waiting = {
        "referee": select(submissions.c.id).where(submissions.c.accepted.is_(None)),
        "inbox": select(mails.c.id).where(mails.c.read_at.is_(None)),
        "post": select(letters.c.id).where(letters.c.sent_at.is_(None), letters.c.due_at <= here.now()),
        "bots": select(seats.c.seat).where(seats.c.open_since.is_not(None), seats.c.status.in_(clerk.STAND_INS)),
    }
    with here.store.reading() as connection:
        due = [bell for bell, wanted in waiting.items() if connection.execute(wanted.limit(1)).first()]
    for bell in due:
        here.bells.ring(bell)
