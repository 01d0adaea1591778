"""Submitting a command: it is stored as a row, the referee is woken, and its verdict is waited for.

`submit` stores one command of a seat that is known. The intake stores moves by the links of their seats. Those that
arrive while others are being stored are stored next, together, with one wake-up of the referee. One statement of
PostgreSQL finds their seats and stores them, in a third of the time of two.
"""

from __future__ import annotations

import functools
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Literal

import msgspec
import structlog
from msgspec import Struct
from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Insert,
    Select,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal,
    select,
)
from structlog.contextvars import bind_contextvars, clear_contextvars

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.app import App
from service.links import hash_token
from service.store import queries
from service.store.batch import Verdict
from service.store.queries import NOT_DURABLE, insert_into
from service.store.rows import SubmissionRow
from service.store.schema import seats, submissions, tables
from service.tables.access import Place, require_seat
from service.text.languages import Sentence

Source = Literal["player", "sit", "bot", "mail", "server"]
MoveText = tuple[str, str, int | None]
"""A move in a request: its text, its key, and the last entry that its player saw."""
MAX_MOVE_LENGTH = 2_000
MAX_KEY_CHARS = 80
MAX_BATCH = 100  # moves that are stored together
log = structlog.get_logger()


class StoredSubmission(Struct, frozen=True):
    """A stored submission: its table, its number, and whether it is the first with its key.

    `was_listening` is whether this process received verdicts already when the submission was stored.
    """

    table: str
    number: int
    new: bool = True
    was_listening: bool = True


class VerdictMessage(Struct, frozen=True):
    """A verdict as it is published; the table tells it from one of another database with the same numbers."""

    table: str
    verdict: Verdict


VERDICT_MESSAGE = make_decoder(VerdictMessage)


def submit(
    app: App, place: Place, text: str, key: str = "", seen: int | None = None, source: Source = "player"
) -> StoredSubmission:
    """Store a command for the referee; without a key it is a new submission. `seen` is the last entry on the page.

    The same key again from the same source is the submission that is stored already. After a refusal a player's page
    needs a new key; from any other source the same key is then judged again. The commit does not wait for the disk: the
    commit of the verdict, which comes later, does.
    """
    seat = require_seat(place)
    command = {"key": make_key(key), "move": clean_move(text), "seen": seen, "at": app.now()}
    submitted = _store(app, {"source": source, "table": place.table, "seat": seat, **command})
    app.wakeups.wake("referee")
    return submitted


def clean_move(text: str) -> str:
    """Return a move with single spaces; raise Refused if it is none that could be read."""
    if len(text) > MAX_MOVE_LENGTH:
        raise Refused("A move is a few words; this is {length} characters long.", length=len(text))
    words = text.split()  # also at no-break spaces, which a copied move may have
    if not words or not "".join(words).isprintable():
        raise Refused("Please write a move in plain words.")
    return " ".join(words)


def make_key(key: str) -> str:
    """Return the key of a submission, or a new one if it has none."""
    return key[:MAX_KEY_CHARS] or secrets.token_hex(16)


def sit(app: App, place: Place, nonce: str) -> StoredSubmission:
    """Submit that a player sits down with this word for the dice; from one link that is one submission."""
    return submit(app, place, f"sit {nonce}", hash_token(place.link), source="sit")


def _store(app: App, row: dict[str, Any]) -> StoredSubmission:
    """Store the submission, or find the earlier submission with this key."""
    if row["source"] != "player":
        row = {**row, "key": _make_key_of_try(app, row)}
    is_listening = app.verdicts.is_listening  # before the write: a verdict may come at once after it
    # `durable` is given twice: to the transaction for SQLite, and to the statement for PostgreSQL.
    with app.store.writing(durable=False, autocommit=True) as db:
        number = queries.insert_new(db, submissions, row, durable=False)
    if number is not None:
        return StoredSubmission(row["table"], int(number), was_listening=is_listening)
    with app.store.reading() as db:  # the key is known already
        same = select(submissions.c.id).where(*_match_source(row), submissions.c.key == row["key"])
        return StoredSubmission(row["table"], int(db.execute(same).scalar_one()), new=False)


def _make_key_of_try(app: App, row: dict[str, Any]) -> str:
    """Return the key with the number of its refusals, so that after a refusal the same can be submitted again.

    A player's page chooses a new key for that itself.
    """
    with app.store.reading() as db:
        return f"{row['key']}/{_count_refused(db, row)}"


def count_refused(app: App, place: Place, key: str) -> int:
    """Return how many commands from a page of a seat with this key were refused so far."""
    with app.store.reading() as db:
        return _count_refused(db, {"table": place.table, "seat": place.seat, "source": "player", "key": key})


def _count_refused(db: Connection, row: dict[str, Any]) -> int:
    """Count how often a submission with this key was refused so far; each try has the key, a slash and a number."""
    is_same_key = submissions.c.key.startswith(f"{row['key']}/", autoescape=True)
    refused = (*_match_source(row), is_same_key, submissions.c.accepted.is_(False))
    return int(db.execute(select(func.count()).where(*refused)).scalar_one())


def _match_source(row: dict[str, Any]) -> list[ColumnElement[bool]]:
    """Return the conditions that a submission is of the same seat and the same source."""
    return [submissions.c[name] == row[name] for name in ("table", "seat", "source")]


def wait_for_verdict(app: App, submitted: StoredSubmission, seconds: float | None = None) -> Verdict | None:
    """Wait for the referee's verdict, for `seconds` or as long as the host has set; return None if there is none yet.

    None means that the submission is on the disk, and will be judged later: `load_verdict` sees to it. Raise Refused if
    its row is gone: a database that crashed before it wrote to the disk forgets the last rows.
    """
    seconds = app.settings.verdict_wait if seconds is None else seconds
    began = time.perf_counter()
    app.verdicts.listen()
    # If the verdict was published before this process listened, only the database has it.
    may_be_judged = not submitted.new or not submitted.was_listening
    verdict = _load_verdict_now(app, submitted) if may_be_judged else None
    if verdict is None:
        message = app.verdicts.wait(submitted.number, seconds)
        verdict = decode_verdict(message, submitted) or load_verdict(app, submitted)
    app.metrics.add_duration("verdict_seconds", "page", time.perf_counter() - began)
    return verdict


def load_verdict(app: App, submitted: StoredSubmission) -> Verdict | None:
    """Load the verdict that did not come in time.

    Return None if there is still none: the submission, whose commit did not wait for the disk, is then on the disk, and
    will be judged later. Raise Refused if its row is gone.
    """
    verdict = _load_verdict_now(app, submitted)
    if verdict is not None:
        return verdict
    app.store.sync()
    with app.store.reading() as db:
        row = _find(db, submitted.table, submitted.number)
    if row is None:
        raise Refused("Your move was lost when the server had a fault; please send it again.")
    return _get_verdict(row)


def _load_verdict_now(app: App, submitted: StoredSubmission) -> Verdict | None:
    """Load the verdict; return None if there is none yet."""
    with app.store.reading() as db:
        row = _find(db, submitted.table, submitted.number)
    return None if row is None else _get_verdict(row)


def decode_verdict(message: bytes | None, submitted: StoredSubmission) -> Verdict | None:
    """Decode a published verdict; None if there is no message, or if it is from another database.

    There a submission with the same number is at another table.
    """
    with suppress(msgspec.MsgspecError):
        decoded = VERDICT_MESSAGE.decode(message or b"")
        return decoded.verdict if decoded.table == submitted.table else None
    return None


def publish_verdicts(app: App, verdicts: Mapping[int, VerdictMessage]) -> None:
    """Publish stored verdicts to those who wait for them."""
    app.verdicts.publish({number: msgspec.json.encode(message) for number, message in verdicts.items()})


def find_verdict(db: Connection, place: Place, number: int) -> Verdict | Literal["waiting"] | None:
    """Find the verdict on a submission of this seat, which is “waiting” before it is judged.

    Return None if the seat has no submission with this number.
    """
    row = _find(db, place.table, number)
    if row is None or row.seat != place.seat:
        return None
    return _get_verdict(row) or "waiting"


def _find(db: Connection, table: str, number: int) -> SubmissionRow | None:
    """Find a submission by its table and number; None if there is none."""
    query = select(submissions).where(submissions.c.table == table, submissions.c.id == number)
    row = db.execute(query).one_or_none()
    return SubmissionRow(*row) if row else None


def _get_verdict(row: SubmissionRow) -> Verdict | None:
    """Return the verdict in a row; None if it is not judged yet."""
    return None if row.accepted is None else Verdict(row.accepted, Sentence.load(row.sentence), row.rule, row.seq)


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
"""An exception: storing the move failed. None: its link belongs to no seat that plays here, or its key is known."""
Receive = Callable[[Outcome], object]

COLUMNS = ("source", "table", "seat", "key", "move", "seen", "at")
SEATS_WITH_TABLES = seats.join(tables)
IS_PLAYED_HERE = tables.c.moved_to == ""


def _make_insert_one() -> Insert:
    """Make the statement of SQLite that stores one move."""
    given = [bindparam(name, type_=submissions.c[name].type) for name in ("key", "move", "seen", "at")]
    new_row = (
        select(literal("player"), seats.c.table, seats.c.seat, *given)
        .select_from(SEATS_WITH_TABLES)
        .where(seats.c.link == bindparam("link"), IS_PLAYED_HERE)
    )
    stored = insert_into("sqlite", submissions).from_select(COLUMNS, new_row).on_conflict_do_nothing()
    statement: Insert = stored.returning(submissions.c.table, submissions.c.id)
    return statement


@functools.cache
def _make_insert_all() -> Select[Any]:
    """Make the statement of PostgreSQL that stores all moves of a parameter in JSON, and returns their places there."""
    typed = [
        column("place", submissions.c.seat.type),
        column("link", Text),
        *(column(name, submissions.c[name].type) for name in ("key", "move", "seen")),
    ]
    json = cast(bindparam("moves", type_=Text), JSON)
    moves = func.json_to_recordset(json).table_valued(*typed).render_derived(name="moves", with_types=True)
    arrivals = (
        select(moves.c.place, seats.c.table, seats.c.seat, moves.c.key, moves.c.move, moves.c.seen)
        .select_from(SEATS_WITH_TABLES.join(moves, moves.c.link == seats.c.link))
        .where(IS_PLAYED_HERE)
        .order_by(moves.c.place)
        .cte("arrivals")
    )
    at = bindparam("at", type_=submissions.c.at.type)
    copied = (arrivals.c[name] for name in ("table", "seat", "key", "move", "seen"))
    stored = (
        insert_into("postgresql", submissions)
        .from_select(COLUMNS, select(literal("player"), *copied, at))
        .on_conflict_do_nothing()
        .returning(submissions.c.table, submissions.c.seat, submissions.c.key, submissions.c.id)
        .cte("stored")
    )
    # The insert returns no places, so a join finds them; a move that was stored before has no row here.
    is_same = (
        (stored.c.table == arrivals.c.table) & (stored.c.seat == arrivals.c.seat) & (stored.c.key == arrivals.c.key)
    )
    # NOT_DURABLE is selected for its effect alone: computing this column sets the option for the transaction.
    return select(arrivals.c.place, stored.c.table, stored.c.id, NOT_DURABLE).select_from(
        arrivals.join(stored, is_same)
    )


INSERT_ONE = _make_insert_one()


def store_moves(app: App, moves: Sequence[LinkedMove]) -> Sequence[StoredSubmission | None]:
    """Store moves as `submit` does, without waiting for the disk; return None for those that were not stored."""
    if app.store.engine.dialect.name == "postgresql":
        return _store_in_postgresql(app, moves)
    with app.store.writing(durable=False) as db:
        return [_store_in_sqlite(db, move, app.now()) for move in moves]


def _store_in_sqlite(db: Connection, move: LinkedMove, at: int) -> StoredSubmission | None:
    """Store one move; return None if its key is stored already, or its link leads to no seat of a table here."""
    row = db.execute(INSERT_ONE, {**_make_row(move), "at": at}).one_or_none()
    return None if row is None else StoredSubmission(row.table, row.id)


def _store_in_postgresql(app: App, moves: Sequence[LinkedMove]) -> Sequence[StoredSubmission | None]:
    """Store all moves by one statement; each row that it returns tells the place of its move in `moves`."""
    rows = [{"place": place, **_make_row(move)} for place, move in enumerate(moves)]
    with app.store.peeking() as db:
        stored = queries.fetch(db, _make_insert_all(), {"moves": msgspec.json.encode(rows).decode(), "at": app.now()})
    # The last column, NOT_DURABLE, has done its work in the database.
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
        """Store a move soon, and call `receive` with the outcome, in the thread of the intake."""
        self._waiting.put((move, receive))
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        """Start the thread, unless another thread has done so meanwhile."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        """Store moves as they come, and call their functions with the outcomes; without end."""
        while True:
            batch = self._take_batch()
            outcomes = self._store([move for move, _ in batch])
            for (_, receive), outcome in zip(batch, outcomes, strict=True):
                receive(outcome)

    def _take_batch(self) -> list[tuple[LinkedMove, Receive]]:
        """Wait for a move, and take it with those that have come since the last call, up to MAX_BATCH."""
        batch = [self._waiting.get()]
        with suppress(Empty):
            while len(batch) < MAX_BATCH:
                batch.append(self._waiting.get_nowait())
        return batch

    def _store(self, moves: Sequence[LinkedMove]) -> Sequence[Outcome]:
        """Store moves and wake the referee; a failure is the outcome of all of them."""
        clear_contextvars()
        bind_contextvars(request=moves[0].request)  # log lines name one of the requests
        self._app.verdicts.listen()  # before the referee can publish the first verdict
        try:
            stored = store_moves(self._app, moves)
        except Exception as error:
            return [error] * len(moves)
        if any(submission is not None for submission in stored):
            self._app.wakeups.wake("referee")
        return stored
