"""Standing orders: moves that a player wants made as soon as they are legal, and moves that leave no choice.

An order is a row and no entry, because the other players must not see it. The move it makes is an entry like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import structlog
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import OperationalError

from engine import bots
from engine import menu as menus
from engine import table as tables
from engine.menu import Move
from engine.refusal import Refused
from service.app import App
from service.store.schema import orders, seats
from service.tables import order_conditions
from service.tables.access import Place
from service.tables.locked_table import LockedTable, append_command
from service.tables.order_conditions import Condition, Status
from service.tables.positions import load_entries
from service.text import numbers, words

MOST = 5
MOST_PLANNED = 20
LONGEST = 100
AT_ONCE = 100  # moves in a row without a player; the rest waits for the next entry
log = structlog.get_logger()


def of(connection: Connection, table: str, seat: int) -> list[Any]:
    """The orders of a seat, the oldest first, with those that no longer hold until they are forgotten."""
    wanted = select(orders).where(orders.c.table == table, orders.c.seat == seat).order_by(orders.c.id)
    return list(connection.execute(wanted))


def of_seat(app: App, place: Place) -> list[Any]:
    """The orders of the seat at this place; a spectator has none."""
    with app.store.reading() as connection:
        return of(connection, place.table, place.seat) if place.seat is not None else []


def holds(order: Any) -> bool:
    """Whether an order can still be carried out."""
    condition = order_conditions.read(order.after)
    return condition is None or not condition.left


def give(locked: LockedTable, seat: int, text: str) -> LockedTable:
    """Note an order."""
    known = [order for order in of(locked.flush(), locked.row.id, seat) if not order.after]
    if not text or len(text) > LONGEST:
        raise Refused("Write the move after the word order, such as: order pass")
    _refuse_stand_ins(locked, seat)
    if any(order.move.casefold() == text.casefold() for order in known):
        raise Refused("You have ordered “{move}” already.", move=text)
    if len(known) >= MOST:
        raise Refused("You can have {most} orders at a time; cancel one first.", most=MOST)
    row = {"table": locked.row.id, "seat": seat, "move": text, "at": locked.now}
    locked.flush().execute(insert(orders), row)
    return _counted(locked, seat)


def plan(locked: LockedTable, seat: int, branch: int, planned: list[tuple[str, Condition]]) -> LockedTable:
    """Replace what a seat ordered from a branch."""
    _refuse_stand_ins(locked, seat)
    forget(locked, seat, branch)
    known = [order for order in of(locked.flush(), locked.row.id, seat) if order.after and holds(order)]
    if len(known) + len(planned) > MOST_PLANNED:
        raise Refused("You can have {most} orders from branches at a time; cancel some first.", most=MOST_PLANNED)
    common = {"table": locked.row.id, "seat": seat, "branch": branch, "at": locked.now}
    rows = [{**common, "move": move, "after": order_conditions.kept(one)} for move, one in planned]
    locked.flush().execute(insert(orders), rows)
    return _counted(locked, seat)


def _refuse_stand_ins(locked: LockedTable, seat: int) -> None:
    if locked.table.seats[seat].status != "taken":
        raise Refused("Only the player of this seat can leave orders.")


def forget(locked: LockedTable, seat: int, branch: int) -> LockedTable:
    """Drop the orders of a branch, and all orders that no longer hold."""
    for order in of(locked.flush(), locked.row.id, seat):
        if order.branch == branch or not holds(order):
            _delete(locked, order)
    return _counted(locked, seat)


def cancel(locked: LockedTable, seat: int, said: list[str]) -> LockedTable:
    """Forget the order of that number, or without a number all of them."""
    wanted = delete(orders).where(orders.c.table == locked.row.id, orders.c.seat == seat)
    if said:
        wanted = wanted.where(orders.c.id == (numbers.parse_int(said[0]) or 0))
    if not locked.flush().execute(wanted).rowcount:
        raise Refused("There is no such order; it may have been done already.")
    return _counted(locked, seat)


def follow(locked: LockedTable) -> LockedTable:
    """Make the moves that were ordered or leave no choice until there is none left; not while the table pauses."""
    for _ in range(AT_ONCE):
        locked = _weeded(locked)
        after = None if locked.table.paused else _step(locked)
        if after is None:
            return locked
        locked = after
    log.warning("many moves without a player", table=locked.row.id)
    return locked


def _step(locked: LockedTable) -> LockedTable | None:
    for seat in locked.seats:
        if seat.open_since is None or locked.table.seats[seat.seat].status != "taken":
            continue
        for order, move in _legal(locked, seat.seat) if seat.orders else ():
            _delete(locked, order)
            locked = _counted(locked, seat.seat)
            after = _entered(locked, seat.seat, move)
            if after is not None:
                return after
        if locked.clock.automatic:
            only = bots.find_only_move(locked.game, locked.table, seat.seat, locked.row.seed)
            after = _entered(locked, seat.seat, only) if only else None
            if after is not None:
                return after
    return None


def _weeded(locked: LockedTable) -> LockedTable:
    """The table without conditional orders whose moment has passed; those that can never come no longer hold."""
    for seat in locked.seats:
        for order, condition, status in _conditional(locked, seat.seat) if seat.orders else ():
            if status == "done":
                _delete(locked, order)
            elif status == "left":
                marked = update(orders).where(orders.c.id == order.id)
                locked.flush().execute(marked.values(after=order_conditions.kept(replace(condition, left=True))))
            if status in ("done", "left"):
                locked = _counted(locked, seat.seat)
    return locked


def _conditional(locked: LockedTable, seat: int) -> Iterator[tuple[Any, Condition, Status]]:
    """The conditional orders of a seat that still hold, with their status."""
    known = [(order, order_conditions.read(order.after)) for order in of(locked.flush(), locked.row.id, seat)]
    held = [(order, condition) for order, condition in known if condition is not None and not condition.left]
    judged = statuses(locked, seat, [(order.move, condition) for order, condition in held])
    for (order, condition), status in zip(held, judged, strict=True):
        yield order, condition, status


def statuses(locked: LockedTable, seat: int, planned: Sequence[tuple[str, Condition]]) -> list[Status]:
    """The status of conditional moves of a seat, as the table is now."""
    if not planned:
        return []
    game, table = locked.game, locked.table
    now, so_far = order_conditions.sight(game, table.state, seat), dict[int, order_conditions.Heard | None]()
    for since in {condition.since for _, condition in planned}:
        later = load_entries(locked.flush(), game, locked.row.id, since + 1, table.length)
        so_far[since] = order_conditions.heard(game, table, later, since, seat)
    return [order_conditions.status(condition, seat, move, so_far[condition.since], now) for move, condition in planned]


def _legal(locked: LockedTable, seat: int) -> Iterator[tuple[Any, Move]]:
    """The orders whose move is legal now."""
    own = tables.menu(locked.game, locked.table, seat)
    spoken = words.make_vocabulary(locked.game, ())
    ready = {order.id for order, _, status in _conditional(locked, seat) if status == "now"}
    for order in of(locked.flush(), locked.row.id, seat):
        if order.after and order.id not in ready:
            continue
        try:
            yield order, menus.parse_move(own, order.move, spoken)
        except Refused:
            continue


def _entered(locked: LockedTable, seat: int, move: Move) -> LockedTable | None:
    """The table after this move; None, and nothing is changed, where the game raises an error."""
    try:
        with locked.batch.savepoint():
            return append_command(locked, seat, move)
    except OperationalError:
        raise  # the database's trouble, and the caller's
    except Exception:
        log.exception("order not done", table=locked.row.id, seat=seat)
        return None


def _delete(locked: LockedTable, order: Any) -> None:
    locked.flush().execute(delete(orders).where(orders.c.id == order.id))


def _counted(locked: LockedTable, seat: int) -> LockedTable:
    """The table with the number of the seat’s orders counted again."""
    count = sum(map(holds, of(locked.flush(), locked.row.id, seat)))
    own = update(seats).where(seats.c.table == locked.row.id, seats.c.seat == seat)
    locked.flush().execute(own.values(orders=count))
    held = (replace(one, orders=count) if one.seat == seat else one for one in locked.seats)
    return replace(locked, seats=tuple(held))
