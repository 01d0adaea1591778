"""Bots: they think without holding anything up, and hand their moves in like everybody else."""

from __future__ import annotations

from random import SystemRandom

import structlog
from sqlalchemy import select

from engine import bots as players
from engine import catalogue
from engine import table as tables
from engine.game import Game
from engine.menu import Move
from service.house import House
from service.store.schema import seats, submissions
from service.tables import snapshots, submitting
from service.tables.access import Place
from service.tables.clerk import BOT_STATUSES
from workers import process_pool
from workers.jobs import house

log = structlog.get_logger()


def move() -> None:
    """Move once for every seat that a bot holds and that may act; the referee rings again while there is more."""
    here = house()
    here.bells.answered("bots")
    for table, seat in waiting(here):
        try:
            _move(here, Place(table, seat, ""))
        except Exception:  # one table's trouble must not stop the other bots
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
        chosen = choose(here, look.game, look.table.state, place.seat)
        submitting.submit(here, place, str(chosen), str(look.table.length), source="bot")


def _may_try(here: House, place: Place, length: int) -> bool:
    """Whether no move of the bot waits here; after a refusal it rests twice as long each time, up to an hour."""
    own = (submissions.c.table == place.table, submissions.c.seat == place.seat, submissions.c.source == "bot")
    tried = select(submissions.c.accepted, submissions.c.at).where(*own, submissions.c.key.startswith(f"{length}/"))
    with here.store.reading() as connection:
        found = connection.execute(tried).all()
    rest = min(2 ** min(len(found), 12), 3_600)
    return all(one.accepted is False and one.at + rest <= here.now() for one in found)


def choose(here: House, game: Game, state: object, seat: int) -> Move:
    """A fair move within the time this house lets its bots think."""
    return process_pool.do(think, game.META.name, game.META.edition, state, seat, here.settings.thinking)


def think(game: str, edition: int, state: object, seat: int, seconds: float) -> Move:
    """A move found by trying moves out."""
    return players.monte_carlo(SystemRandom(), seconds)(catalogue.find(game, edition), state, seat)
