"""Rounds of the public beacon: what waits for one is carried out once it is there.

Nobody holds a worker while a round is awaited: the table has a moment at which to look, and the clock rings then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from engine.beacon import Beacon
from engine.menu import Move
from service import beacon as beacons
from service.app import App
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import tables
from service.tables import judging, sitting, snapshots
from service.tables.locked_table import lock_free_table
from service.tables.snapshots import Snapshot
from workers.jobs import begin, log_database_error, try_table

LONGEST = 300  # seconds between two looks at a beacon that does not answer


class Rounds:
    """The rounds of one look: each is fetched once, and a beacon that does not answer is not asked again."""

    def __init__(self, app: App) -> None:
        self._source = app.settings.beacon_source
        self._found: dict[int, str | None] = {}

    def signature(self, beacon: Beacon, number: int) -> str | None:
        """The signature of that round; None where it cannot be had now, or where our beacon is another one."""
        if beacon != self._source.beacon:
            return None
        if number not in self._found and None not in self._found.values():
            self._found[number] = beacons.fetched(self._source, number)
        return self._found.get(number)


def run() -> None:
    """Look for the round of every table whose time has come."""
    app = begin("rounds")
    try:
        rounds = Rounds(app)
        for table in _waiting(app):
            if not try_table(table, partial(_draw, app, table, rounds), "round not drawn"):
                _later(app, snapshots.look(app, table))
    except OperationalError as error:  # the database's trouble: the clock rings again when it is over
        log_database_error(error, "rounds not drawn")


def _waiting(app: App) -> Sequence[str]:
    due = select(tables.c.id).where(tables.c.draws_at <= app.now()).order_by(tables.c.draws_at)
    with app.store.reading() as connection:
        return connection.execute(due).scalars().all()


def _draw(app: App, table: str, rounds: Rounds) -> None:
    look = snapshots.look(app, table)
    beacon, waiting = look.table.beacon, look.table.waiting_command
    signature = rounds.signature(beacon, waiting.round) if beacon and waiting else None
    if waiting is None or signature is None:
        _later(app, look)
        return
    with judging.at_table(app, table, lock_free_table) as work:
        if work.locked.table.waiting_command == waiting:
            begins = work.locked.table.phase == "gathering"
            work.locked = judging.carry_out_for_server(work.locked, Move("round", (str(waiting.round), signature)))
            work.locked = sitting.begun(work.locked) if begins else work.locked


def _later(app: App, look: Snapshot) -> None:
    """Look again, after twice as long each time; a round that is missing for long is told to the players, once."""
    beacon, waiting = look.table.beacon, look.table.waiting_command
    with app.store.writing() as connection:
        if beacon is None or waiting is None:
            queries.set_draw_time(connection, look.row.id, None)
            return
        late = app.now() - beacon.time_of(waiting.round)
        queries.set_draw_time(connection, look.row.id, app.now() + max(beacon.period, min(late, LONGEST)))
        if late >= beacons.LATE:
            for seat in _players(look):
                queries.owe_letter(connection, look.row.id, waiting.seq, OwedLetter(seat, "unlit", app.now()))
    app.wakeups.wake("post")


def _players(look: Snapshot) -> list[int]:
    """The seats of people, who may agree to go on without the beacon."""
    return [seat.seat for seat in look.seats if seat.person is not None and seat.status == "taken"]
