"""Bots: they think without holding anything up, and hand their moves in like everybody else.

They find hints for players too, and tell where finished games turned.
"""

from __future__ import annotations

from functools import partial

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from engine import table as tables
from engine.menu import Move
from service.app import App
from service.store.schema import seats, submissions
from service.tables import hints, snapshots, stories, submitting, thinking
from service.tables.access import Place
from service.tables.locked_table import BOT_STATUSES
from service.tables.snapshots import Snapshot
from workers import process_pool
from workers.jobs import begin, is_stopping, log_database_error, try_table


def run() -> None:
    """Move once for every seat that a bot holds and that may act; the referee rings again while there is more."""
    app = begin("bots")
    try:
        answer_hints(app)
        for table, seat in waiting(app):
            if is_stopping():
                return
            try_table(table, partial(_move, app, Place(table, seat, "")), "bot did not move", seat=seat)
            answer_hints(app)
        tell_stories(app)
    except OperationalError as error:  # the database's trouble: the clock rings again when it is over
        log_database_error(error, "bots did not move")


def answer_hints(app: App) -> None:
    """Find the hints that players wait for: a person goes before the next bot."""
    for number, table in hints.waiting(app):
        try_table(table, partial(hints.answer, app, number, process_pool.run), "hint not found", hint=number)


def tell_stories(app: App) -> None:
    """Tell how games went that are over; it takes seconds, so whoever waits for a move goes before."""
    for table in stories.waiting(app):
        if is_stopping():
            return
        if not try_table(table, partial(stories.answer, app, table, process_pool.run), "story not told"):
            stories.forget(app, table)
        answer_hints(app)


def waiting(app: App) -> list[tuple[str, int]]:
    """The seats whose menu is open and whom no person holds."""
    wanted = select(seats.c.table, seats.c.seat).where(
        seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES)
    )
    with app.store.reading() as connection:
        return [(row.table, row.seat) for row in connection.execute(wanted)]


def _move(app: App, place: Place) -> None:
    """Hand in a move for this seat, once for each position; another one where it was refused."""
    look = snapshots.look(app, place.table)
    assert place.seat is not None
    if not tables.menu(look.game, look.table, place.seat):
        return
    refused = _refused(app, place, look.table.length)
    if refused is not None:
        chosen = choose(app, look, place.seat, refused)
        submitting.submit(app, place, str(chosen), str(look.table.length), source="bot")


def _refused(app: App, place: Place, length: int) -> frozenset[Move] | None:
    """The moves that were refused here. None while one waits, and after a refusal: twice as long each time."""
    own = (submissions.c.table == place.table, submissions.c.seat == place.seat, submissions.c.source == "bot")
    tried = select(submissions).where(*own, submissions.c.key.startswith(f"{length}/"))
    with app.store.reading() as connection:
        found = connection.execute(tried).all()
    rest = min(2 ** min(len(found), 12), 3_600)
    if any(one.accepted is not False or one.at + rest > app.now() for one in found):
        return None
    return frozenset(Move.parse(one.move) for one in found)


def choose(app: App, look: Snapshot, seat: int, but: frozenset[Move] = frozenset()) -> Move:
    """The move of a bot of this seat's level, or of a normal one; after the game its seed can be worked out again."""
    meta, name = look.game.META, look.seats[seat].level or "normal"
    level = thinking.level(name, app.settings)
    seed = thinking.seed(b"depesche bot 1", look.row.seed, b"%d/%d" % (look.table.length, seat))
    with app.metrics.timed("thinking_seconds", name):
        return process_pool.run(thinking.think, meta.name, meta.edition, look.table.state, seat, level, seed, but)
