"""The clock: deadlines, reminders, and a bell for every row whose time has come, so that nothing waits for ever."""

from __future__ import annotations

from functools import partial
from typing import Any

import structlog
from sqlalchemy import Connection, Select, delete, exists, func, insert, literal, or_, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from engine import menu as menus
from engine import table as engine_table
from engine.menu import Move
from service import timing
from service.app import App
from service.settings import DAY
from service.store.schema import hints, letters, mails, people, seats, stories, submissions, tables
from service.tables import judging, snapshots
from service.tables.locked_table import BOT_STATUSES, LockedTable, append_command, lock_free_table
from service.tables.snapshots import Snapshot
from workers import bots
from workers.jobs import log_database_error, try_table

KEPT = 60 * DAY  # so long the words of a mail
SWEPT = 100
log = structlog.get_logger()


def tick(app: App) -> None:
    """Look at everything that time alone sets in motion; what fails is told, and holds nothing else up."""
    for look in (ring, remind, expire, sweep):
        try:
            look(app)
        except OperationalError as error:  # the database's trouble: the next tick tries again
            log_database_error(error, "tick not finished", at=look.__name__)
        except Exception:
            log.exception("tick not finished", at=look.__name__)


def sweep(app: App) -> None:
    """Forget the mails that were answered weeks ago, with their players' words; the oldest are looked at first.

    The newest always stays: its number must not be given again, for letters are called after the mails they answer.
    """
    oldest = select(mails.c.id, mails.c.read_at).order_by(mails.c.id).limit(SWEPT).subquery()
    past = select(oldest.c.id).where(oldest.c.read_at < app.now() - KEPT)
    newest = select(func.max(mails.c.id)).scalar_subquery()
    found = SWEPT
    while found == SWEPT:
        with app.store.reading() as connection:
            wanted = connection.execute(past.where(oldest.c.id < newest)).scalars().all()
        found = len(wanted)
        if found:
            with app.store.writing() as connection:
                connection.execute(delete(mails).where(mails.c.id.in_(wanted)))


def remind(app: App) -> None:
    """Owe a reminder, once for each time a seat comes on turn, to whoever is running late."""
    wanted = select(seats, people.c.calendar).select_from(seats.outerjoin(people, people.c.id == seats.c.person))
    with app.store.reading() as connection:
        late = connection.execute(wanted.where(seats.c.remind_at <= app.now())).all()
    for seat in late:
        with app.store.writing() as connection:
            _remind(app, connection, seat)


def _remind(app: App, connection: Connection, seat: Any) -> None:
    """The first reminder of a turn is a letter of its own, and so is each one after it."""
    same = (seats.c.table == seat.table, seats.c.seat == seat.seat, seats.c.remind_at == seat.remind_at)
    ahead = timing.leads(seat.clock_left, timing.calendar(seat.calendar or ""), app.settings.reminder)
    if connection.execute(select(seats.c.seat).where(*same).with_for_update(skip_locked=True)).first() is None:
        return  # somebody moves there just now, or another clock was quicker
    following = timing.reminder(seat.due_at, ahead, app.now())
    connection.execute(update(seats).where(*same).values(remind_at=following))
    number = sum(seat.due_at - lead < seat.remind_at for lead in ahead)
    kind = f"reminder/{number}" if number else "reminder"
    letter = {"table": seat.table, "seq": seat.open_since, "seat": seat.seat, "kind": kind}
    once = ~exists().where(*(letters.c[name] == value for name, value in letter.items()))
    if connection.execute(select(1).where(once)).one_or_none():
        connection.execute(insert(letters), {**letter, "due_at": app.now()})


def expire(app: App) -> None:
    """Let every seat that is late bear what its table agreed on."""
    wanted = select(seats.c.table, seats.c.seat).where(seats.c.late_at <= app.now())
    with app.store.reading() as connection:
        late = connection.execute(wanted).all()
    for seat in late:
        try_table(seat.table, partial(_expire, app, seat.table, seat.seat), "deadline not kept", seat=seat.seat)


def _expire(app: App, table: str, seat: int) -> None:
    look = snapshots.look(app, table)
    if not engine_table.menu(look.game, look.table, seat):
        return
    command = consequence(app, look, seat)
    try:
        with judging.at_table(app, table, lock_free_table) as work:
            late_at = work.locked.seats[seat].late_at
            if work.locked.table.length != look.table.length:
                return  # a player moved in the meantime
            if late_at is None or late_at > app.now():
                return  # a calendar was changed in the meantime
            expired = _offered(append_command(work.locked, None, command), seat)
            work.locked = judging.follow_orders(work.locked, expired)
    except IntegrityError:
        return  # another clock was quicker


def consequence(app: App, look: Snapshot, seat: int) -> Move:
    """What befalls a seat that is late at this table."""
    match look.clock.late:
        case "seat":
            return Move("miss", (str(seat), "relieve"))
        case "resign":
            return Move("miss", (str(seat), "resign"))
    menu = engine_table.menu(look.game, look.table, seat)
    skips = map(Move, look.game.META.skips if look.clock.late == "skip" else ())
    harmless = [move for move in skips if menus.allows(menu, move)]
    move = harmless[0] if harmless else bots.choose(app, look, seat)
    return Move("expire", (str(seat), move.verb, *move.args))


def _offered(locked: LockedTable, seat: int) -> LockedTable:
    """Another person may take the seat of a player who was late too often."""
    row, chair, often = locked.seats[seat], locked.table.seats[seat], locked.clock.offer_after
    lost = row.misses >= often or chair.status == "resigned"
    if not often or not lost or chair.offered or locked.table.phase != "playing":
        return locked
    return append_command(locked, None, Move("offer", (str(seat),)))


def ring(app: App) -> None:
    """Ring for whatever waits: a bell may have been lost."""
    moves = exists().where(seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES))
    thoughts = or_(moves, exists().where(hints.c.move == ""), exists().where(stories.c.body == ""))
    waiting: dict[str, Select[Any]] = {
        "referee": select(submissions.c.id).where(submissions.c.accepted.is_(None)),
        "inbox": select(mails.c.id).where(mails.c.read_at.is_(None)),
        "post": select(letters.c.id).where(letters.c.sent_at.is_(None), letters.c.due_at <= app.now()),
        "rounds": select(tables.c.id).where(tables.c.draws_at <= app.now()),
        "bots": select(literal(1)).where(thoughts),
    }
    with app.store.reading() as connection:
        due = [queue for queue, wanted in waiting.items() if connection.execute(wanted.limit(1)).first()]
    for queue in due:
        if app.wakeups.wake(queue):
            app.metrics.count("wakeups", queue)
    app.metrics.hand_over()
