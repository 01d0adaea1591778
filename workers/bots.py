"""Bots: they think without holding anything up, and hand their moves in like everybody else.

They find hints for players too, and tell where finished games turned.
"""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection, select
from sqlalchemy.exc import OperationalError

from engine import table as tables
from engine.menu import Move
from service.app import App
from service.store.schema import seats, submissions
from service.tables import hints, snapshots, submitting
from service.tables.access import Place
from service.tables.history import game_story
from service.tables.locked_table import BOT_STATUSES
from service.tables.snapshots import Snapshot
from workers import process_pool
from workers.jobs import begin, is_stopping, log_database_error, try_table


def run() -> None:
    """Submit a move for every seat of a bot that may act; the RQ job `bots`."""
    app = begin("bots")
    try:
        answer_hints(app)
        for table, seat in list_waiting_seats(app):
            if is_stopping():
                return
            try_table(table, partial(_move, app, Place(table, seat, "")), "bot did not move", seat=seat)
            answer_hints(app)
        work_out_stories(app)
    except OperationalError as error:  # the clock wakes us again when the database is back
        log_database_error(error, "bots did not move")


def answer_hints(app: App) -> None:
    """Find the hints that players wait for: a person comes before the next bot."""
    for number, table in hints.list_unanswered(app):
        try_table(table, partial(hints.answer, app, number, process_pool.run), "hint not found", hint=number)


def work_out_stories(app: App) -> None:
    """Work out the stories of finished games; this takes seconds, so hints come first."""
    for table in game_story.list_requested(app):
        if is_stopping():
            return
        if not try_table(table, partial(game_story.answer, app, table, process_pool.run), "story not told"):
            game_story.forget(app, table)
        answer_hints(app)


def list_waiting_seats(app: App) -> list[tuple[str, int]]:
    """The seats that may act and are played by a bot."""
    open_seats = select(seats.c.table, seats.c.seat).where(
        seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES)
    )
    with app.store.reading() as db:
        return [(row.table, row.seat) for row in db.execute(open_seats)]


def _move(app: App, place: Place) -> None:
    """Submit a move for this seat, once for each position, and another one if that was refused."""
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, place.table)
        refused = _load_refused_moves(app, db, place, snapshot.table.length)
    assert place.seat is not None
    if refused is not None and tables.menu(snapshot.game, snapshot.table, place.seat):
        move = choose(app, snapshot, place.seat, refused)
        submitting.submit(app, place, str(move), str(snapshot.table.length), source="bot")


def _load_refused_moves(app: App, db: Connection, place: Place, length: int) -> frozenset[Move] | None:
    """The moves that were refused at this position; None while one waits, and for a pause after each refusal."""
    own = (submissions.c.table == place.table, submissions.c.seat == place.seat, submissions.c.source == "bot")
    rows = db.execute(select(submissions).where(*own, submissions.c.key.startswith(f"{length}/"))).all()
    pause = min(2 ** min(len(rows), 12), 3_600)
    if any(row.accepted is not False or row.at + pause > app.now() for row in rows):
        return None
    return frozenset(Move.parse(row.move) for row in rows)


def choose(app: App, snapshot: Snapshot, seat: int, but: frozenset[Move] = frozenset()) -> Move:
    """Choose a move, but none of these, with a bot of this seat's level; its seed can be checked after the game."""
    meta, name = snapshot.game.META, snapshot.seats[seat].level or "normal"
    level = hints.find_level(name, app.settings)
    seed = hints.make_seed(b"depesche bot 1", snapshot.row.seed, b"%d/%d" % (snapshot.table.length, seat))
    with app.metrics.measure_time("thinking_seconds", name):
        return process_pool.run(hints.think, meta.name, meta.edition, snapshot.table.state, seat, level, seed, but)
