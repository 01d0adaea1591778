"""Hints: a good move for a player who asks, found by a strong bot that knows no more than the player may.

A hint is a row: asked for here, found by a worker, and the same for everybody who asks again at this position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, func, select, update

from engine.menu import Move
from engine.refusal import Refused
from service.app import App
from service.store import queries
from service.store.schema import hints
from service.tables import snapshots, thinking
from service.tables.access import Place, player
from service.tables.locked_table import LockedTable
from service.tables.snapshots import Snapshot
from service.timing import HOUR_S

PER_HOUR = 60
STRENGTH = "strong"
OVERTAKEN = "-"  # instead of a move: the table went on before one was found
BETWEEN = "\n"  # the moves of one turn
InPool = Callable[..., tuple[Move, ...]]


class GoodMove(Struct, frozen=True):
    """A hint for the position after so many entries; no move yet means that the bot is thinking.

    `then` are the moves of the same turn that follow from it, such as the figure on the tile.
    """

    number: int
    length: int
    move: Move | None
    then: tuple[Move, ...] = ()

    @property
    def moves(self) -> tuple[Move, ...]:
        """The move and those that follow."""
        return (self.move, *self.then) if self.move else ()


def allowed(look: Snapshot | LockedTable, seat: int) -> bool:
    """Whether the table gives hints: it agreed to them when it was opened, or nobody else sits there but bots."""
    return look.clock.hints or all(one.person is None for one in look.seats if one.seat != seat)


def ask(app: App, place: Place) -> int:
    """Ask for a good move at the position of now; asked again it is the same hint."""
    look = snapshots.look(app, place.table)
    with app.store.writing() as connection:
        number = note(connection, look, player(place), app.now())
    app.wakeups.wake("bots")
    return number


def note(connection: Connection, look: Snapshot | LockedTable, seat: int, at: int) -> int:
    """The number of the hint for this position, which waits to be found; refused where there may be none."""
    if not allowed(look, seat):
        raise Refused("There are no hints at this table: its players did not agree to them when it was opened.")
    if not snapshots.open_menu(look.game, look.table, seat):
        raise Refused("A hint is for your own turn; now there is nothing for you to choose.")
    own = (hints.c.table == look.row.id, hints.c.seat == seat)
    same = select(hints.c.id).where(*own, hints.c.length == look.table.length)
    known = connection.execute(same).scalar_one_or_none()
    if known is None:
        recent = select(func.count()).select_from(hints).where(*own, hints.c.at > at - HOUR_S)
        if connection.execute(recent).scalar_one() >= PER_HOUR:
            raise Refused("That were many hints within an hour; please wait a while before you ask again.")
        row = {"table": look.row.id, "seat": seat, "length": look.table.length, "at": at}
        known = queries.insert_new(connection, hints, row) or connection.execute(same).scalar_one()
    return int(known)


def find(db: Connection, place: Place, number: int) -> GoodMove | None:
    """A hint of this very seat; None once the game went on."""
    own = (hints.c.id == number, hints.c.table == place.table, hints.c.seat == place.seat)
    row = db.execute(select(hints).where(*own)).one_or_none()
    return None if row is None else _read(row)


def _load(app: App, place: Place, number: int) -> GoodMove | None:
    with app.store.reading() as db:
        return find(db, place, number)


def wait(app: App, place: Place, number: int, patience: float | None = None) -> GoodMove | None:
    """The same, waited for a little."""
    hint = _load(app, place, number)
    if hint and hint.move is None:
        app.wakeups.wait(number, app.settings.patience if patience is None else patience, "hint")
        hint = _load(app, place, number)
    return hint


def waiting(app: App) -> list[tuple[int, str]]:
    """The hints that a worker has still to find and their tables, in the order in which they were asked for."""
    wanted = select(hints.c.id, hints.c.table).where(hints.c.move == "").order_by(hints.c.id)
    with app.store.reading() as connection:
        return [(row.id, row.table) for row in connection.execute(wanted)]


def answer(app: App, number: int, in_pool: InPool) -> tuple[Move, ...]:
    """Find this hint, unless the table has gone on since; it takes a second or two, so a process pool finds it."""
    with app.store.reading() as connection:
        row: Any = connection.execute(select(hints).where(hints.c.id == number)).one()
    if row.move:
        known = _read(row)
        return known.moves if known else ()
    look = snapshots.look(app, row.table)
    moves = _thought(app, look, row.seat, in_pool) if look.table.length == row.length else ()
    with app.store.writing() as connection:
        told = BETWEEN.join(map(str, moves)) or OVERTAKEN
        connection.execute(update(hints).where(hints.c.id == number).values(move=told))
    app.wakeups.publish({number: b"found"}, "hint")
    return moves


def _thought(app: App, look: Snapshot, seat: int, in_pool: InPool) -> tuple[Move, ...]:
    """What a strong bot would do here; the seed holds nothing secret, and a hint is the same whenever it is found."""
    meta, level = look.game.META, thinking.level(STRENGTH, app.settings)
    seed = thinking.seed(b"depesche hint 1", look.row.commitment.encode(), b"%d/%d" % (look.table.length, seat))
    return in_pool(thinking.think_ahead, meta.name, meta.edition, look.table.state, seat, level, seed)


def _read(row: Any) -> GoodMove | None:
    if row.move == OVERTAKEN:
        return None
    moves = tuple(map(Move.parse, row.move.split(BETWEEN))) if row.move else ()
    return GoodMove(row.id, row.length, moves[0] if moves else None, moves[1:])
