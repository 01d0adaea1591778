"""Draws of the public beacon: a command that waits for a round is carried out once the round is published.

No worker waits for a round: the table has a time at which to ask, and workers/clock.py wakes this job then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from engine.beacon import Beacon
from engine.menu import Move
from service.app import App
from service.internet import beacon as beacons
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import tables
from service.tables import judging, seat_commands, snapshots
from service.tables.locked_table import lock_free_table
from service.tables.snapshots import Snapshot
from workers.jobs import get_app, log_database_error, try_table

MAX_PAUSE_S = 300  # between two requests to a beacon that does not answer


class BeaconRounds:
    """The rounds of one job: each is fetched once, and a beacon that does not answer is not asked again."""

    def __init__(self, app: App) -> None:
        self._source = app.settings.beacon_source
        self._signatures: dict[int, str | None] = {}
        self._has_failed = False

    def find_signature(self, beacon: Beacon, number: int) -> str | None:
        """The signature of a round; None if the beacon does not give it now, or this server uses another beacon."""
        if beacon != self._source.beacon:
            return None
        if number not in self._signatures and not self._has_failed:
            self._signatures[number] = beacons.fetch_round(self._source, number)
            self._has_failed = self._signatures[number] is None
        return self._signatures.get(number)


def run() -> None:
    """Ask for the round of every table whose time has come."""
    app = get_app()
    try:
        rounds = BeaconRounds(app)
        for table in _list_due_tables(app):
            if not try_table(table, partial(_draw, app, table, rounds), "round not drawn"):
                _postpone(app, _load(app, table))
    except OperationalError as error:  # workers/clock.py wakes us when the database is back
        log_database_error(error, "rounds not drawn")


def _list_due_tables(app: App) -> Sequence[str]:
    """The ids of the tables whose time to ask has come, the earliest first."""
    due = select(tables.c.id).where(tables.c.draws_at <= app.now()).order_by(tables.c.draws_at)
    with app.store.reading() as db:
        return db.execute(due).scalars().all()


def _load(app: App, table: str) -> Snapshot:
    with app.store.reading() as db:
        return snapshots.load_table(app, db, table)


def _draw(app: App, table: str, rounds: BeaconRounds) -> None:
    """Give the table its round, or ask again later; if the game begins with it, announce the players' vacations."""
    snapshot = _load(app, table)
    beacon, waiting = snapshot.position.beacon, snapshot.position.waiting_command
    signature = rounds.find_signature(beacon, waiting.round) if beacon and waiting else None
    if waiting is None or signature is None:
        _postpone(app, snapshot)
        return
    with judging.at_table(app, table, lock_free_table) as work:
        if work.locked.position.waiting_command == waiting:  # no other worker was quicker
            game_begins = work.locked.position.phase == "gathering"
            command = Move("round", (str(waiting.round), signature))
            work.locked = judging.carry_out_for_server(work.locked, command)
            if game_begins:
                work.locked = seat_commands.announce_all_vacations(work.locked)


def _postpone(app: App, snapshot: Snapshot) -> None:
    """Ask for the round again after a pause that doubles up to MAX_PAUSE_S; no more if the table waits for none.

    If the round is long overdue, each player gets one letter about it: a letter that is owed already stays as it is.
    """
    beacon, waiting = snapshot.position.beacon, snapshot.position.waiting_command
    with app.store.writing() as db:
        if beacon is None or waiting is None:
            queries.set_draw_time(db, snapshot.row.id, draws_at=None)
            return
        late_s = app.now() - beacon.time_of(waiting.round)
        pause_s = max(beacon.period, min(late_s, MAX_PAUSE_S))  # as long as it is late: so the pauses double
        queries.set_draw_time(db, snapshot.row.id, app.now() + pause_s)
        if late_s >= beacons.LATE_AFTER_S:
            for seat in _list_players(snapshot):
                queries.owe_letter(db, snapshot.row.id, waiting.seq, OwedLetter(seat, "unlit", app.now()))
    app.wakeups.wake("post")


def _list_players(snapshot: Snapshot) -> list[int]:
    """The seats of persons, who may agree to go on without the beacon."""
    return [row.seat for row in snapshot.seats if row.person is not None and row.status == "taken"]
