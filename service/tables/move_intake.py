"""The intake: stores moves of many requests together, each of the seat that its link belongs to.

Moves that arrive while others are being stored are stored next, by one statement and with one wake-up of the referee.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
import structlog
from msgspec import Struct
from sqlalchemy import JSON, Connection, Insert, Select, Text, bindparam, cast, column, func, literal, select
from structlog.contextvars import bind_contextvars, clear_contextvars

from service.app import App
from service.links import hash_token
from service.store import queries
from service.store.dialects import insert_into
from service.store.queries import NOT_DURABLE
from service.store.schema import seats, submissions, tables
from service.tables.submitting import StoredSubmission

MAX_BATCH = 100
log = structlog.get_logger()


class LinkedMove(Struct, frozen=True):
    """A move of the seat that a link belongs to, the entry that its player saw last, and the request that brought it.

    It is stored once for each key.
    """

    link: str
    move: str
    key: str
    seen: int | None
    request: str = ""


Outcome = StoredSubmission | Exception | None
"""None: the link belongs to no seat that plays here, or the key is known."""
Receive = Callable[[Outcome], object]

COLUMNS = ("source", "key", "table", "seat", "move", "seen", "at")
PLAYED_HERE = seats.join(tables)


def _make_insert_one() -> Insert:
    """A statement of SQLite that stores one move."""
    values = {name: bindparam(name, type_=submissions.c[name].type) for name in ("key", "move", "seen", "at")}
    chosen = (
        select(literal("player"), values["key"], seats.c.table, seats.c.seat, *list(values.values())[1:])
        .select_from(PLAYED_HERE)
        .where(seats.c.link == bindparam("link"), tables.c.moved_to == "")
    )
    stored = insert_into("sqlite", submissions).from_select(COLUMNS, chosen).on_conflict_do_nothing()
    statement: Insert = stored.returning(submissions.c.table, submissions.c.id)
    return statement


@functools.cache
def _make_insert_all() -> Select[Any]:
    """A statement of PostgreSQL that stores all moves of a parameter in JSON, and returns their places there."""
    typed = [
        column("place", submissions.c.seat.type),
        column("link", Text),
        *(column(name, submissions.c[name].type) for name in ("key", "move", "seen")),
    ]
    json = cast(bindparam("moves", type_=Text), JSON)
    moves = func.json_to_recordset(json).table_valued(*typed).render_derived(name="moves", with_types=True)
    arrivals = (
        select(moves.c.place, seats.c.table, seats.c.seat, moves.c.key, moves.c.move, moves.c.seen)
        .select_from(PLAYED_HERE.join(moves, moves.c.link == seats.c.link))
        .where(tables.c.moved_to == "")
        .order_by(moves.c.place)
        .cte("arrivals")
    )
    at = bindparam("at", type_=submissions.c.at.type)
    chosen = select(literal("player"), *(arrivals.c[name] for name in COLUMNS[1:-1]), at)
    stored = (
        insert_into("postgresql", submissions)
        .from_select(COLUMNS, chosen)
        .on_conflict_do_nothing()
        .returning(submissions.c.table, submissions.c.seat, submissions.c.key, submissions.c.id)
        .cte("stored")
    )
    is_same = (
        (stored.c.table == arrivals.c.table) & (stored.c.seat == arrivals.c.seat) & (stored.c.key == arrivals.c.key)
    )
    return select(arrivals.c.place, stored.c.table, stored.c.id, NOT_DURABLE).select_from(
        arrivals.join(stored, is_same)
    )


INSERT_ONE = _make_insert_one()


def store_moves(app: App, moves: Sequence[LinkedMove]) -> Sequence[StoredSubmission | None]:
    """Store moves without waiting for the disk, as `submitting.submit` does; None for those that were not stored."""
    if app.store.engine.dialect.name == "postgresql":
        return _store_all(app, moves)
    with app.store.writing(durable=False) as db:
        return [_store_one(db, move, app.now()) for move in moves]


def _store_one(db: Connection, move: LinkedMove, at: int) -> StoredSubmission | None:
    row = db.execute(INSERT_ONE, {**_make_row(move), "at": at}).one_or_none()
    return None if row is None else StoredSubmission(row.table, row.id)


def _store_all(app: App, moves: Sequence[LinkedMove]) -> Sequence[StoredSubmission | None]:
    rows = [{"place": place, **_make_row(move)} for place, move in enumerate(moves)]
    with app.store.peeking() as db:
        stored = queries.fetch(db, _make_insert_all(), {"moves": msgspec.json.encode(rows).decode(), "at": app.now()})
    submitted = {place: StoredSubmission(table, number) for place, table, number, _ in stored}
    return [submitted.get(place) for place in range(len(moves))]


def _make_row(move: LinkedMove) -> Mapping[str, Any]:
    return {"link": hash_token(move.link), "key": move.key, "move": move.move, "seen": move.seen}


class MoveIntake:
    """Stores moves in a thread of its own, which begins with the first move."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._waiting = SimpleQueue[tuple[LinkedMove, Receive]]()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, move: LinkedMove, receive: Receive) -> None:
        """Store a move soon, and call this function with the outcome."""
        self._waiting.put((move, receive))
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            batch = [self._waiting.get()]
            while len(batch) < MAX_BATCH:
                try:
                    batch.append(self._waiting.get_nowait())
                except Empty:
                    break
            outcomes = self._store([move for move, _ in batch])
            for (_, receive), outcome in zip(batch, outcomes, strict=True):
                receive(outcome)

    def _store(self, moves: Sequence[LinkedMove]) -> Sequence[Outcome]:
        """Store moves and wake the referee; a failure is the outcome of all of them."""
        clear_contextvars()
        bind_contextvars(request=moves[0].request)
        self._app.verdicts.listen()
        try:
            stored = store_moves(self._app, moves)
        except Exception as error:
            return [error] * len(moves)
        if any(stored):
            self._app.wakeups.wake("referee")
        return stored
