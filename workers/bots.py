"""Bots: they think without holding anything up, and hand their moves in like everybody else.

They find hints for players too, and tell where finished games turned.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct
from redis import Redis, RedisError
from sqlalchemy import Connection, exists, or_, select
from sqlalchemy.exc import OperationalError

from engine import table as engine_table
from engine.menu import Move
from engine.search import levels
from service.app import App
from service.store.schema import seats, submissions, tables
from service.tables import hints, snapshots, submitting
from service.tables.access import Place
from service.tables.history import game_story
from service.tables.locked_table import BOT_STATUSES
from service.tables.snapshots import Snapshot
from workers import process_pool
from workers.jobs import WORK_MAX_S, get_app, is_stopping, log_database_error, try_table

SHARES_S = 600  # shares are counted from 0 again after this time
VISIT_S = 3_600  # after this time without an action of a person, no player waits for the bots
MAX_PAUSE_S = 3_600  # after a refused move


class Shares:
    """The seconds that the workers together have lately thought for each visitor; without Redis, this one alone."""

    def __init__(self, redis: Redis, now: Callable[[], int]) -> None:
        self._redis = redis
        self._now = now
        self._own = defaultdict[str, float](float)

    def load(self) -> Mapping[str, float]:
        """Return the seconds by visitor; those of this worker alone if Redis has none, or is away."""
        shared: Any = {}
        with suppress(RedisError):
            shared = self._redis.hgetall(self._make_key())
        return {visitor.decode(): float(seconds) for visitor, seconds in shared.items()} or self._own

    def add(self, visitor: str, seconds: float) -> None:
        """Count seconds for a visitor, in Redis for all workers, and here for times without Redis."""
        self._own[visitor] += seconds
        key = self._make_key()
        with suppress(RedisError), self._redis.pipeline(transaction=False) as pipeline:
            pipeline.hincrbyfloat(key, visitor, seconds)
            pipeline.expire(key, 2 * SHARES_S)
            pipeline.execute()

    def _make_key(self) -> str:
        return f"thinking:{self._now() // SHARES_S}"


TaskKey = tuple[str, int, int, int]


class BotTask(Struct, frozen=True):
    """A hint that a player waits for, or a seat whose bot may move."""

    table: str
    visitor: str  # a hash of the network that the table was opened from
    hint: int = 0  # its number; 0 for a seat
    seat: int = 0
    since: int = 0  # the entry with which the seat's turn began
    is_awaited: bool = True  # by a person who acted lately

    @property
    def key(self) -> TaskKey:
        """The name of the task, which is the same whether a person waits for it or not."""
        return self.table, self.hint, self.seat, self.since


def run() -> None:
    """Find hints and bots' moves, one after the other, in the order of a fair queue."""
    app = get_app()
    done, spent = set[TaskKey](), Shares(app.redis, app.now)
    until = time.monotonic() + WORK_MAX_S
    try:
        while not is_stopping() and (task := find_next_task(app, done, spent.load())):
            began = time.monotonic()
            if began > until:
                app.wakeups.wake("bots")
                return
            done.add(task.key)
            _carry_out(app, task)
            spent.add(task.visitor, time.monotonic() - began)
        work_out_stories(app)
    except OperationalError as error:  # workers/clock.py wakes us when the database is back
        log_database_error(error, "bots did not move")


def find_next_task(app: App, done: Set[TaskKey], spent: Mapping[str, float]) -> BotTask | None:
    """Return the task to do next; None if all are done.

    Bots for which no person waits come last. Otherwise the visitor for whom the workers thought least is first, so
    that many tables of one visitor do not hold up another's. Of one visitor's tasks, hints are first.
    """
    with app.store.reading() as db:
        tasks = [*_iter_hint_tasks(db), *list_bot_tasks(db, app.now())]
    open_tasks = [task for task in tasks if task.key not in done]
    return min(open_tasks, key=partial(_rank, spent), default=None)


def _rank(spent: Mapping[str, float], task: BotTask) -> tuple[bool, float, bool]:
    """Return what tasks are compared by: the least is next, and False is less than True."""
    can_wait = not task.is_awaited
    is_for_bot = task.hint == 0
    return can_wait, spent.get(task.visitor, 0.0), is_for_bot


def _iter_hint_tasks(db: Connection) -> Iterator[BotTask]:
    """Yield a task for each hint that a player waits for."""
    for number, table, visitor in hints.list_unanswered(db):
        yield BotTask(table, visitor, hint=number)


def list_bot_tasks(db: Connection, now: int) -> list[BotTask]:
    """Return a task for each bot's seat that may act; it is awaited if a person has lately acted at its table.

    A table whose visitor is unknown counts as a visitor of its own.
    """
    has_acted = exists().where(
        submissions.c.table == seats.c.table,
        submissions.c.source.in_(("player", "sit", "mail")),
        submissions.c.at > now - VISIT_S,
    )
    is_awaited = or_(tables.c.opened_at > now - VISIT_S, has_acted).label("is_awaited")
    query = select(seats.c.table, seats.c.seat, seats.c.open_since, tables.c.visitor, is_awaited)
    waiting = query.join(tables).where(seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES))
    return [
        BotTask(
            table=row.table,
            visitor=row.visitor or row.table,
            seat=row.seat,
            since=row.open_since,
            is_awaited=bool(row.is_awaited),
        )
        for row in db.execute(waiting)
    ]


def _carry_out(app: App, task: BotTask) -> None:
    """Find the hint of a task, or let its bot move; an error is logged."""
    if task.hint:
        _answer_hint(app, task.hint, task.table)
    else:
        place = Place(task.table, task.seat, link="")  # a bot needs none
        try_table(task.table, partial(_move, app, place), "bot did not move", seat=task.seat)


def answer_hints(app: App) -> None:
    """Find all hints that players wait for."""
    with app.store.reading() as db:
        unanswered = hints.list_unanswered(db)
    for number, table, _ in unanswered:
        _answer_hint(app, number, table)


def _answer_hint(app: App, number: int, table: str) -> None:
    try_table(table, partial(hints.answer, app, number, process_pool.run), "hint not found", hint=number)


def work_out_stories(app: App) -> None:
    """Work out the stories of finished games; this takes seconds, so hints come first."""
    for table in game_story.list_requested(app):
        if is_stopping():
            return
        if not try_table(table, partial(game_story.answer, app, table, process_pool.run), "story not told"):
            game_story.delete_request(app, table)  # it would fail each time
        answer_hints(app)


def _move(app: App, place: Place) -> None:
    """Submit a move for this seat, once for each position, and another one if that was refused."""
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, place.table)
        refused = _load_refused_moves(app, db, place, snapshot.position.length)
    assert place.seat is not None
    if refused is not None and engine_table.menu(snapshot.game, snapshot.position, place.seat):
        move = choose(app, snapshot, place.seat, refused)
        submitting.submit(app, place, str(move), key=str(snapshot.position.length), source="bot")


def _load_refused_moves(app: App, db: Connection, place: Place, length: int) -> frozenset[Move] | None:
    """The moves that were refused at this position; None while one waits, and during a pause after a refusal.

    The pause doubles with each refusal. `submit` makes the keys of these submissions from the length of the log.
    """
    own = (submissions.c.table == place.table, submissions.c.seat == place.seat, submissions.c.source == "bot")
    rows = db.execute(select(submissions).where(*own, submissions.c.key.startswith(f"{length}/"))).all()
    pause_s = min(2 ** len(rows), MAX_PAUSE_S)
    are_refused = all(row.accepted is False for row in rows)
    is_pausing = any(row.at + pause_s > app.now() for row in rows)
    if is_pausing or not are_refused:
        return None
    return frozenset(Move.parse(row.move) for row in rows)


def choose(app: App, snapshot: Snapshot, seat: int, refused: frozenset[Move] = frozenset()) -> Move:
    """Choose a move that was not refused, with a bot of this seat's level; its seed can be checked after the game."""
    meta = snapshot.game.META
    level_name = snapshot.seats[seat].level or "normal"
    level = hints.find_level(level_name, app.settings)
    seed = hints.make_seed(b"depesche bot 1", snapshot.row.seed, b"%d/%d" % (snapshot.position.length, seat))
    with app.metrics.measure_time("thinking_seconds", level_name):
        state = snapshot.position.state
        return process_pool.run(levels.think, meta.name, meta.edition, state, seat, level, seed, refused)
