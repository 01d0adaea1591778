"""Standing orders: what a seat wants done as soon as it may, and moves that leave no choice.

They are rows, not entries: what somebody intends is nobody else's business. What they bring about is a move like any
other, judged by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import structlog
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import OperationalError

from engine import automatic
from engine import menu as menus
from engine import table as tables
from engine.menu import Move
from engine.refusal import Refused
from service.settings import Settings
from service.store.schema import orders, seats
from service.tables import clerk, order_conditions
from service.tables.clerk import Desktop
from service.tables.order_conditions import Plan
from service.tables.positions import entries
from service.text import words

MOST = 5
MOST_PLANNED = 20
LONGEST = 100
AT_ONCE = 100  # so many moves in a row, and then somebody has to look at the table again
log = structlog.get_logger()


def of(connection: Connection, table: str, seat: int) -> list[Any]:
    """The orders of a seat, the oldest first; among them those that hold no more, until they are forgotten."""
    wanted = select(orders).where(orders.c.table == table, orders.c.seat == seat).order_by(orders.c.id)
    return list(connection.execute(wanted))


def holds(order: Any) -> bool:
    """Whether an order can still be carried out: it belongs to no plan, or to one that the game has not left."""
    plan = order_conditions.read(order.after)
    return plan is None or not plan.left


def give(desktop: Desktop, seat: int, text: str, at: int) -> Desktop:
    """Note an order."""
    known = [order for order in of(desktop.connection, desktop.row.id, seat) if not order.after]
    if not text or len(text) > LONGEST:
        raise Refused("Write the move after the word order, such as: order pass")
    _refuse_stand_ins(desktop, seat)
    if any(order.move.casefold() == text.casefold() for order in known):
        raise Refused("You have ordered “{move}” already.", move=text)
    if len(known) >= MOST:
        raise Refused("You can have {most} orders at a time; cancel one first.", most=MOST)
    row = {"table": desktop.row.id, "seat": seat, "move": text, "at": at}
    desktop.connection.execute(insert(orders), row)
    return _counted(desktop, seat)


def plan(desktop: Desktop, seat: int, branch: int, planned: list[tuple[str, Plan]], at: int) -> Desktop:
    """Note what a seat wants done as long as the game goes the way of a branch, in place of all it planned there."""
    _refuse_stand_ins(desktop, seat)
    forget(desktop, seat, branch)
    known = [order for order in of(desktop.connection, desktop.row.id, seat) if order.after and holds(order)]
    if len(known) + len(planned) > MOST_PLANNED:
        raise Refused("You can have {most} orders from branches at a time; cancel some first.", most=MOST_PLANNED)
    common = {"table": desktop.row.id, "seat": seat, "branch": branch, "at": at}
    rows = [{**common, "move": move, "after": order_conditions.kept(one)} for move, one in planned]
    desktop.connection.execute(insert(orders), rows)
    return _counted(desktop, seat)


def _refuse_stand_ins(desktop: Desktop, seat: int) -> None:
    if desktop.table.seats[seat].status != "taken":
        raise Refused("Only whoever plays in this seat can leave orders.")


def forget(desktop: Desktop, seat: int, branch: int) -> Desktop:
    """Drop what was planned in a branch, and everything that the game has left."""
    for order in of(desktop.connection, desktop.row.id, seat):
        if order.branch == branch or not holds(order):
            _delete(desktop, order)
    return _counted(desktop, seat)


def cancel(desktop: Desktop, seat: int, said: list[str]) -> Desktop:
    """Forget the order of that number, or without a number all of them."""
    wanted = delete(orders).where(orders.c.table == desktop.row.id, orders.c.seat == seat)
    if said:
        number = int(said[0]) if said[0].isdecimal() and len(said[0]) < 19 else 0
        wanted = wanted.where(orders.c.id == number)
    if not desktop.connection.execute(wanted).rowcount:
        raise Refused("There is no such order; it may have been done already.")
    return _counted(desktop, seat)


def follow(desktop: Desktop, at: int, settings: Settings) -> Desktop:
    """Do what was ordered, and what leaves no choice, as long as there is any of it; not while the table pauses."""
    for _ in range(AT_ONCE):
        desktop = _weeded(desktop)
        after = None if desktop.table.paused else _step(desktop, at, settings)
        if after is None:
            return desktop
        desktop = after
    log.warning("many moves without anybody", table=desktop.row.id)
    return desktop


def _step(desktop: Desktop, at: int, settings: Settings) -> Desktop | None:
    for seat in desktop.seats:
        if seat.open_since is None or desktop.table.seats[seat.seat].status != "taken":
            continue
        for order, move in _legal(desktop, seat.seat) if seat.orders else ():
            _delete(desktop, order)
            desktop = _counted(desktop, seat.seat)
            after = _entered(desktop, seat.seat, move, at, settings)
            if after is not None:
                return after
        if desktop.clock.automatic:
            only = automatic.only_move(desktop.game, desktop.table, seat.seat, desktop.row.seed)
            after = _entered(desktop, seat.seat, only, at, settings) if only else None
            if after is not None:
                return after
    return None


def _weeded(desktop: Desktop) -> Desktop:
    """The desktop without planned orders whose moment has passed; those that the game has left hold no more."""
    for seat in desktop.seats:
        for order, plan, status in _planned(desktop, seat.seat) if seat.orders else ():
            if status == "done":
                _delete(desktop, order)
            elif status == "left":
                marked = update(orders).where(orders.c.id == order.id)
                desktop.connection.execute(marked.values(after=order_conditions.kept(replace(plan, left=True))))
            if status in ("done", "left"):
                desktop = _counted(desktop, seat.seat)
    return desktop


def _planned(desktop: Desktop, seat: int) -> Iterator[tuple[Any, Plan, order_conditions.Status]]:
    """The orders of a seat that belong to a plan which still holds, and how it stands with them."""
    known = [(order, order_conditions.read(order.after)) for order in of(desktop.connection, desktop.row.id, seat)]
    held = [(order, plan) for order, plan in known if plan is not None and not plan.left]
    judged = statuses(desktop, seat, [(order.move, plan) for order, plan in held])
    for (order, plan), status in zip(held, judged, strict=True):
        yield order, plan, status


def statuses(desktop: Desktop, seat: int, planned: Sequence[tuple[str, Plan]]) -> list[order_conditions.Status]:
    """How it stands with planned moves of a seat, as the table is now."""
    if not planned:
        return []
    game, table = desktop.game, desktop.table
    now, so_far = order_conditions.sight(game, table.state, seat), dict[int, order_conditions.Heard | None]()
    for since in {plan.since for _, plan in planned}:
        later = entries(desktop.connection, game, desktop.row.id, since + 1, table.length)
        so_far[since] = order_conditions.heard(game, table, later, since, seat)
    return [order_conditions.status(plan, seat, move, so_far[plan.since], now) for move, plan in planned]


def _legal(desktop: Desktop, seat: int) -> Iterator[tuple[Any, Move]]:
    """The orders that mean a move which is possible now."""
    own = tables.menu(desktop.game, desktop.table, seat)
    spoken = words.of(desktop.game, ())
    ready = {order.id for order, _, status in _planned(desktop, seat) if status == "now"}
    for order in of(desktop.connection, desktop.row.id, seat):
        if order.after and order.id not in ready:
            continue
        try:
            yield order, menus.from_text(own, order.move, spoken)
        except Refused:
            continue


def _entered(desktop: Desktop, seat: int, move: Move, at: int, settings: Settings) -> Desktop | None:
    """The table after this move; None, and all as before, where the game fails over it."""
    try:
        with desktop.connection.begin_nested():
            return clerk.enter(desktop, seat, move, at, settings)
    except OperationalError:
        raise  # the database's trouble, and the caller's
    except Exception:
        log.exception("order not done", table=desktop.row.id, seat=seat)
        return None


def _delete(desktop: Desktop, order: Any) -> None:
    desktop.connection.execute(delete(orders).where(orders.c.id == order.id))


def _counted(desktop: Desktop, seat: int) -> Desktop:
    """The desktop, which knows how many orders that seat has."""
    count = sum(map(holds, of(desktop.connection, desktop.row.id, seat)))
    own = update(seats).where(seats.c.table == desktop.row.id, seats.c.seat == seat)
    desktop.connection.execute(own.values(orders=count))
    held = (replace(one, orders=count) if one.seat == seat else one for one in desktop.seats)
    return replace(desktop, seats=tuple(held))
