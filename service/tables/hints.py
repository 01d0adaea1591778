"""Hints: a good move for a player who asks, found by a strong bot that knows no more than the player may.

A hint is a row: requested by a player, computed by a worker, and the same for every request at the same position.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, func, select, update

from engine import chance as chances
from engine import game as games
from engine.chance import UnexpectedDraw
from engine.menu import Move
from engine.refusal import Refused
from engine.search import LEVELS, Level, levels
from service.app import App
from service.settings import Settings
from service.store import queries
from service.store.schema import hints, tables
from service.tables import snapshots
from service.tables.access import Place, require_seat
from service.tables.locked_table import LockedTable
from service.tables.snapshots import Snapshot
from service.timing import HOUR_S

MAX_PER_HOUR = 60  # hints for one seat
STRENGTH = "strong"  # the level of the bot
NO_MOVE = "-"  # instead of a move: the game went on before one was found
SEPARATOR = "\n"  # between the moves of one turn
REDEAL_SEED = b"nothing is drawn"  # for dealing again what the seat cannot know
InPool = Callable[..., tuple[Move, ...]]  # calls a function in the process pool, and returns its result


class GoodMove(Struct, frozen=True):
    """A hint for the position after `length` entries; its move is None while the bot is thinking.

    `then` holds the moves that follow in the same turn, such as the figure on the tile.
    """

    number: int
    length: int
    move: Move | None
    then: tuple[Move, ...] = ()

    @property
    def moves(self) -> tuple[Move, ...]:
        """The move and those that follow."""
        return (self.move, *self.then) if self.move else ()


def ask(app: App, db: Connection, place: Place) -> int:
    """Request a hint for the current position and return its number; a second request returns the same hint.

    The caller wakes the bots after the commit.
    """
    return store_request(db, snapshots.load_table(app, db, place.table), require_seat(place), app.now())


def store_request(db: Connection, table: Snapshot | LockedTable, seat: int, at: int) -> int:
    """Store a request for a hint at this position and return its number; raise Refused if hints are not allowed."""
    if not snapshots.can_ask_hint(table.clock, table.seats, seat):
        raise Refused("There are no hints at this table: its players did not agree to them when it was opened.")
    if not snapshots.open_menu(table.game, table.position, seat):
        raise Refused("A hint is for your own turn; now there is nothing for you to choose.")
    own = (hints.c.table == table.row.id, hints.c.seat == seat)
    same = select(hints.c.id).where(*own, hints.c.length == table.position.length)
    number = db.execute(same).scalar_one_or_none()
    if number is None:
        recent = select(func.count()).select_from(hints).where(*own, hints.c.at > at - HOUR_S)
        if db.execute(recent).scalar_one() >= MAX_PER_HOUR:
            raise Refused("You have used many hints within an hour; please wait a while before you ask again.")
        row = {"table": table.row.id, "seat": seat, "length": table.position.length, "at": at}
        # Another request may have stored it in the meantime.
        number = queries.insert_new(db, hints, row) or db.execute(same).scalar_one()
    return int(number)


def find(db: Connection, place: Place, number: int) -> GoodMove | None:
    """Return a hint of this very seat; None if there is none, or the game went on before it was found."""
    own = (hints.c.id == number, hints.c.table == place.table, hints.c.seat == place.seat)
    row = db.execute(select(hints).where(*own)).one_or_none()
    return None if row is None else _parse(row)


def list_unanswered(db: Connection) -> list[tuple[int, str, str]]:
    """Return the hints that have no move yet, the oldest first, each with its table and the visitor who opened that.

    A table that was opened without a visitor's name counts as a visitor of its own.
    """
    unanswered = select(hints.c.id, hints.c.table, tables.c.visitor).join(tables).where(hints.c.move == "")
    return [(row.id, row.table, row.visitor or row.table) for row in db.execute(unanswered.order_by(hints.c.id))]


def answer(app: App, number: int, in_pool: InPool) -> tuple[Move, ...]:
    """Return the moves of a hint; find them in a process pool and store them, unless they are stored already.

    Store and return no moves if the game went on since the request.
    """
    with app.store.reading() as db:
        row: Any = db.execute(select(hints).where(hints.c.id == number)).one()
        if row.move:
            hint = _parse(row)
            return hint.moves if hint else ()
        table = snapshots.load_table(app, db, row.table)
    moves = _compute(app, table, row.seat, in_pool) if table.position.length == row.length else ()
    with app.store.writing() as db:
        text = SEPARATOR.join(map(str, moves)) or NO_MOVE
        db.execute(update(hints).where(hints.c.id == number).values(move=text))
    return moves


def _compute(app: App, table: Snapshot, seat: int, in_pool: InPool) -> tuple[Move, ...]:
    """Return the turn of a strong bot; its seed holds no secret and is the same however often it is computed."""
    meta = table.game.META
    level = find_level(STRENGTH, app.settings)
    seed = make_seed(b"depesche hint 1", table.row.commitment.encode(), b"%d/%d" % (table.position.length, seat))
    return in_pool(levels.think_ahead, meta.name, meta.edition, table.position.state, seat, level, seed)


def _parse(row: Any) -> GoodMove | None:
    """Return the hint in a row; None if the game went on before one was found."""
    if row.move == NO_MOVE:
        return None
    if not row.move:
        return GoodMove(row.id, row.length, move=None)  # still being searched
    first, *following = map(Move.parse, row.move.split(SEPARATOR))
    return GoodMove(row.id, row.length, first, then=tuple(following))


# Thinking: for hints and for bots, in a process of its own


def find_level(name: str, settings: Settings) -> Level:
    """Return a level of bots, with no more time to think than the host allows."""
    level = LEVELS[name]
    return replace(level, seconds=min(level.seconds, settings.thinking))


def make_seed(*parts: bytes) -> bytes:
    """Return the seed of a bot's search; the same parts lead to the same move."""
    return hashlib.sha256(b"".join(parts)).digest()


def imagine_move(table: Snapshot, seat: int, text: str) -> Any:
    """Return the state after a move that is not made yet, as its seat imagines it, so that the next can be added.

    Return None if there is no move in the text, or if the move is illegal, ends the seat's turn, or draws something.
    Return None also while the game is not played, or an undo is asked for.
    """
    if table.position.phase != "playing" or table.position.undo_request or not text.strip():
        return None
    game = table.game
    chance = chances.make_rigged({})  # no result is given, so that a draw raises UnexpectedDraw
    imagined = game.redeal(table.position.state, seat, chances.make_sealed(REDEAL_SEED, entry=0))
    try:
        state = games.play(game, imagined, seat, Move.parse(text), chance).state
    except (Refused, UnexpectedDraw):
        return None
    has_drawn = bool(chance.draws)  # a draw with one possible result raises no UnexpectedDraw
    return None if has_drawn or not game.menu(state, seat) else state
