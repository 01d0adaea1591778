"""Bots: they think without holding anything up, and hand their moves in like everybody else."""

from __future__ import annotations

import hashlib

import structlog
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from engine import catalogue, search
from engine import table as tables
from engine.catalogue import NotInstalled
from engine.menu import Move
from engine.search import Level
from service.house import House
from service.store.schema import seats, submissions
from service.tables import snapshots, submitting
from service.tables.access import Place
from service.tables.clerk import BOT_STATUSES
from service.tables.snapshots import Snapshot
from workers import process_pool
from workers.jobs import begin, tell, tell_missing

log = structlog.get_logger()


def move() -> None:
    """Move once for every seat that a bot holds and that may act; the referee rings again while there is more."""
    here = begin("bots")
    try:
        for table, seat in waiting(here):
            _tried(here, table, seat)
    except OperationalError as error:  # the database's trouble: the clock rings again when it is over
        tell(error, "bots did not move")


def _tried(here: House, table: str, seat: int) -> None:
    """One table's trouble must not stop the other bots."""
    try:
        _move(here, Place(table, seat, ""))
    except OperationalError:
        raise
    except NotInstalled as missing:
        tell_missing(table, str(missing))
    except Exception:
        log.exception("bot did not move", table=table, seat=seat)


def waiting(here: House) -> list[tuple[str, int]]:
    """The seats whose menu is open and whom no person holds."""
    wanted = select(seats.c.table, seats.c.seat).where(
        seats.c.open_since.is_not(None), seats.c.status.in_(BOT_STATUSES)
    )
    with here.store.reading() as connection:
        return [(row.table, row.seat) for row in connection.execute(wanted)]


def _move(here: House, place: Place) -> None:
    """Hand in a move for this seat, once for each position, and again where it was refused."""
    look = snapshots.look(here, place.table)
    assert place.seat is not None
    if tables.menu(look.game, look.table, place.seat) and _may_try(here, place, look.table.length):
        chosen = choose(here, look, place.seat)
        submitting.submit(here, place, str(chosen), str(look.table.length), source="bot")


def _may_try(here: House, place: Place, length: int) -> bool:
    """Whether no move of the bot waits here; after a refusal it rests twice as long each time, up to an hour."""
    own = (submissions.c.table == place.table, submissions.c.seat == place.seat, submissions.c.source == "bot")
    tried = select(submissions.c.accepted, submissions.c.at).where(*own, submissions.c.key.startswith(f"{length}/"))
    with here.store.reading() as connection:
        found = connection.execute(tried).all()
    rest = min(2 ** min(len(found), 12), 3_600)
    return all(one.accepted is False and one.at + rest <= here.now() for one in found)


def choose(here: House, look: Snapshot, seat: int) -> Move:
    """The move of a bot of this seat's level, or of a normal one; after the game its seed can be worked out again."""
    level, meta = look.seats[seat].level or "normal", look.game.META
    seed = hashlib.sha256(b"depesche bot 1" + look.row.seed + b"%d/%d" % (look.table.length, seat)).digest()
    how = limited(search.LEVELS[level], here.settings.thinking)
    with here.meters.timed("thinking_seconds", level):
        return process_pool.do(think, meta.name, meta.edition, look.table.state, seat, how, seed)


def limited(level: Level, seconds: float) -> Level:
    """This level within the time that the house lets its bots think."""
    return replace(level, seconds=min(level.seconds, seconds))


def think(game: str, edition: int, state: object, seat: int, level: Level, seed: bytes) -> Move:
    """A move found by looking ahead."""
    return search.choose(level, catalogue.find(game, edition), state, seat, int.from_bytes(seed, "big"))
