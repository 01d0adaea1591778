"""The clock: reminders, what a late seat costs, and a wake-up for every due row whose wake-up was lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import structlog
from msgspec import Struct, structs
from sqlalchemy import BigInteger, Connection, bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from engine import menu as menus
from engine import table as engine_table
from engine.menu import Move
from service import timing
from service.app import App
from service.notify import followers
from service.settings import DAY_S
from service.store import channel_queries, queries
from service.store.schema import deliveries, hints, letters, mails, people, seats, stories, submissions, tables
from service.store.schema import followers as follower_table
from service.tables import judging, snapshots
from service.tables.locked_table import BOT_STATUSES, LockedTable, append_command, lock_free_table
from service.tables.snapshots import Snapshot
from service.wakeups import JOBS_OF_QUEUES
from workers import bots
from workers.jobs import log_database_error, try_table

LOOK_AFTER_S = 600  # after a look that found nothing, if nothing was written since and nothing is known to be due
MAX_QUIET_WAIT_S = 15  # until what another process has written is seen, such as a command of the host
MAIL_KEEP_S = 60 * DAY_S  # how long the words of an answered mail are kept
DELIVERY_KEEP_S = 30 * DAY_S
DELETE_BATCH = 100
log = structlog.get_logger()
Result = TypeVar("Result")
NOW = bindparam("now", type_=BigInteger)
IS_BOTS_TURN = exists().where(seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES))
# A batch of mails that were answered weeks ago. The newest mail stays, so that its number is not given again:
# Message-IDs of letters hold the number of the mail that they answer.
OLDEST_MAILS = select(mails.c.id, mails.c.read_at).order_by(mails.c.id).limit(DELETE_BATCH).subquery()
OLD_MAILS = select(OLDEST_MAILS.c.id).where(
    OLDEST_MAILS.c.read_at < NOW - MAIL_KEEP_S,
    OLDEST_MAILS.c.id < select(func.max(mails.c.id)).scalar_subquery(),
)
# Work that the clock finds: a condition here, a field of DueWork, and its next time below if it is known.
IS_DUE = select(
    exists().where(submissions.c.accepted.is_(None)).label("referee"),
    exists().where(mails.c.read_at.is_(None)).label("inbox"),
    exists().where(letters.c.sent_at.is_(None), letters.c.due_at <= NOW).label("post"),
    exists().where(tables.c.draws_at <= NOW).label("rounds"),
    or_(channel_queries.HAS_DUE, channel_queries.HAS_FRESH).label("deliveries"),
    followers.has_due(NOW).label("followers"),
    or_(IS_BOTS_TURN, exists().where(hints.c.move == ""), exists().where(stories.c.body == "")).label("bots"),
    exists().where(seats.c.remind_at <= NOW).label("reminders"),
    exists().where(seats.c.late_at <= NOW).label("late"),
    exists(OLD_MAILS).label("old_mails"),
    exists().where(deliveries.c.ended_at < NOW - DELIVERY_KEEP_S).label("old_deliveries"),
)
NEXT_TIMES = select(
    select(func.min(letters.c.due_at)).where(letters.c.sent_at.is_(None), letters.c.due_at > NOW).scalar_subquery(),
    select(func.min(deliveries.c.due_at)).where(deliveries.c.ended_at.is_(None)).scalar_subquery(),
    select(func.min(tables.c.draws_at)).scalar_subquery(),
    select(func.min(seats.c.remind_at)).scalar_subquery(),
    select(func.min(seats.c.late_at)).scalar_subquery(),
    select(func.min(follower_table.c.due_at)).where(follower_table.c.due_at > NOW).scalar_subquery(),
)
DUE_REMINDERS = (
    select(seats, people.c.calendar)
    .select_from(seats.outerjoin(people, queries.IS_OWN_PERSON))
    .where(seats.c.remind_at <= NOW)
)
LATE_SEATS = select(seats.c.table, seats.c.seat).where(seats.c.late_at <= NOW)


class DueWork(Struct, frozen=True):
    """Work that is due at this moment.

    The queues with due rows, the seats whose players are reminded, the seats that are late, a batch of mails to delete,
    and whether there are deliveries to delete.
    """

    queues: Sequence[str] = ()
    reminders: Sequence[Any] = ()
    late: Sequence[Any] = ()
    old_mails: Sequence[int] = ()
    has_old_deliveries: bool = False


class Ticker:
    """Ticks, and looks into the database only if something may be due there.

    Where a database tells that nothing was written, nothing can be due before the times that the last look found. Until
    then the server is quiet, and waits instead of ticking.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._quiet_until = 0.0  # 0 while something may be due
        self._quiet_version: int | None = None  # of the database when nothing was due

    def tick(self) -> None:
        """Do what is due, if anything may be."""
        self._app.store.written.clear()  # first: a write from here on ends the next wait
        version = _try("find_version", self._app.store.find_version)  # None if the database cannot tell
        if self._app.now() < self._quiet_until and version == self._quiet_version:
            return
        self._quiet_until = 0.0
        was_due = tick(self._app)
        if version is not None and not was_due:
            self._quiet_until = _try("find_next_look", self._find_next_look) or 0.0
            self._quiet_version = version

    def wait_while_quiet(self) -> bool:
        """Wait while the server is quiet, at most MAX_QUIET_WAIT_S, and return True.

        Return False at once if the server is not quiet, or as soon as it writes something.
        """
        if not self._quiet_until:
            return False
        seconds = max(0.0, min(MAX_QUIET_WAIT_S, self._quiet_until - self._app.now()))
        was_written = self._app.store.written.wait(seconds)
        return not was_written

    def _find_next_look(self) -> float:
        """Return when the database is looked into again at the latest."""
        now = self._app.now()
        with self._app.store.reading() as db:
            times: Sequence[int | None] = tuple(db.execute(NEXT_TIMES, {"now": now}).one())
        return min([now + LOOK_AFTER_S, *(at for at in times if at is not None)])


def tick(app: App) -> bool:
    """Do everything that time alone sets in motion; a part that fails is logged, and the others go on.

    Return False if nothing was due. If the search for due work fails, return True, since there may be some.
    """
    due = _try("find_due", partial(_load_due_work, app))
    if due is None:
        return True
    for step in (wake_workers, remind, expire, delete_old_mails, delete_old_deliveries):
        _try(step.__name__, partial(step, app, due))
    app.metrics.flush()
    return any(structs.astuple(due))  # whether a field is neither empty nor False


def _try(step: str, work: Callable[[], Result]) -> Result | None:
    """Do a part of a tick and return its result; if it fails, log that and return None: the next tick tries again."""
    try:
        return work()
    except OperationalError as error:
        log_database_error(error, "tick not finished", at=step)
    except Exception:
        log.exception("tick not finished", at=step)
    return None


def _load_due_work(app: App) -> DueWork:
    with app.store.reading() as db:
        return find_due(app, db)


def find_due(app: App, db: Connection) -> DueWork:
    """Find all work that is due; usually there is none, which one statement says."""
    now = app.now()
    is_due = db.execute(IS_DUE, {"now": now, "confirms": app.settings.confirms}).one()._mapping
    return DueWork(
        queues=[queue for queue in JOBS_OF_QUEUES if is_due[queue]],
        reminders=db.execute(DUE_REMINDERS, {"now": now}).all() if is_due["reminders"] else (),
        late=db.execute(LATE_SEATS, {"now": now}).all() if is_due["late"] else (),
        old_mails=db.execute(OLD_MAILS, {"now": now}).scalars().all() if is_due["old_mails"] else (),
        has_old_deliveries=bool(is_due["old_deliveries"]),
    )


def wake_workers(app: App, due: DueWork) -> None:
    """Wake the workers of queues with due work, in case its wake-up was lost."""
    for queue in due.queues:
        if app.wakeups.wake(queue):
            app.metrics.count("wakeups", queue)
        else:  # the last wake-up is still there: maybe its job has died
            app.wakeups.start_job(JOBS_OF_QUEUES[queue])


def remind(app: App, due: DueWork) -> None:
    """Owe a reminder to each player whose time to be reminded has come."""
    for seat in due.reminders:
        with app.store.writing() as db:
            _owe_reminder(app, db, seat)


def _owe_reminder(app: App, db: Connection, seat: Any) -> None:
    """Owe a reminder and set the time of the next one.

    Each reminder of a turn is a letter of its own: the kind of a later one has the number of those before it.
    """
    still_due = (seats.c.table == seat.table, seats.c.seat == seat.seat, seats.c.remind_at == seat.remind_at)
    calendar = timing.parse_calendar(seat.calendar or "")
    leads = timing.list_reminder_leads(seat.clock_left, calendar, app.settings.reminder)  # seconds before the deadline
    if db.execute(select(seats.c.seat).where(*still_due).with_for_update(skip_locked=True)).first() is None:
        return  # a move is being judged there, or another process was quicker
    next_at = timing.find_next_reminder(seat.due_at, leads, app.now())
    db.execute(update(seats).where(*still_due).values(remind_at=next_at))
    times_of_turn = [seat.due_at - lead for lead in leads]
    earlier_times = [time for time in times_of_turn if time < seat.remind_at]
    kind = f"reminder/{len(earlier_times)}" if earlier_times else "reminder"
    letter = {"table": seat.table, "seq": seat.open_since, "seat": seat.seat, "kind": kind}
    is_same_letter = (letters.c[name] == value for name, value in letter.items())
    # A player who has chosen fewer reminders since the last one may have the letter of this number already.
    if db.execute(select(letters.c.id).where(*is_same_letter)).first() is None:
        db.execute(insert(letters), {**letter, "due_at": app.now()})


def expire(app: App, due: DueWork) -> None:
    """Apply to every seat that is late what its table agreed on."""
    for seat in due.late:
        try_table(seat.table, partial(_expire, app, seat.table, seat.seat), "deadline not kept", seat=seat.seat)


def _expire(app: App, table: str, seat: int) -> None:
    """Carry out the consequence for a late seat, unless its player has moved or got more time meanwhile."""
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, table)
    if not engine_table.menu(snapshot.game, snapshot.position, seat):
        return
    command = choose_consequence(app, snapshot, seat)
    try:
        with judging.at_table(app, table, lock_free_table) as work:
            late_at = work.locked.seats[seat].late_at
            if work.locked.position.length != snapshot.position.length:
                return  # a player moved in the meantime
            if late_at is None or late_at > app.now():
                return  # a calendar was changed in the meantime
            after = append_command(work.locked, seat=None, move=command)  # of the server
            after = _offer_lost_seat(after, seat)
            work.locked = judging.follow_orders(work.locked, after)
    except IntegrityError:
        return  # another process was quicker


def choose_consequence(app: App, snapshot: Snapshot, seat: int) -> Move:
    """Return the command of the server for a late seat, as its table agreed: a bot takes the seat, or a move is made.

    The move is a skip if the table agreed on skips and one is legal; otherwise a bot chooses it.
    """
    match snapshot.clock.late:
        case "seat":
            return Move("miss", (str(seat), "relieve"))
        case "resign":
            return Move("miss", (str(seat), "resign"))
    menu = engine_table.menu(snapshot.game, snapshot.position, seat)
    skips = [Move(verb) for verb in snapshot.game.META.skips] if snapshot.clock.late == "skip" else []
    legal_skips = [skip for skip in skips if menus.allows(menu, skip)]
    move = legal_skips[0] if legal_skips else bots.choose(app, snapshot, seat)
    return Move("expire", (str(seat), move.verb, *move.args))


def _offer_lost_seat(locked: LockedTable, seat: int) -> LockedTable:
    """Offer the seat to a substitute if its player resigned, or missed as many deadlines as the table allows."""
    offer_after = locked.clock.offer_after  # missed deadlines; 0 for never
    current = locked.position.seats[seat]
    if offer_after == 0 or current.offered or locked.position.phase != "playing":
        return locked
    if locked.seats[seat].misses >= offer_after or current.status == "resigned":
        return append_command(locked, seat=None, move=Move("offer", (str(seat),)))  # of the server
    return locked


def delete_old_mails(app: App, due: DueWork) -> None:
    """Delete mails that were answered weeks ago, with their players' words, a batch at a time."""
    numbers = due.old_mails
    while numbers:
        with app.store.writing() as db:
            db.execute(delete(mails).where(mails.c.id.in_(numbers)))
            numbers = db.execute(OLD_MAILS, {"now": app.now()}).scalars().all()


def delete_old_deliveries(app: App, due: DueWork) -> None:
    """Delete deliveries that ended weeks ago; the host's page counts the newer ones."""
    if due.has_old_deliveries:
        with app.store.writing() as db:
            channel_queries.delete_old_deliveries(db, app.now() - DELIVERY_KEEP_S)
