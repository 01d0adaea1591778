"""A what-if branch turned into standing orders, and the state of these orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from engine.game import Game
from engine.record import Table
from engine.refusal import Refused
from service.app import App
from service.plans import branches
from service.plans.branches import Branch, PlayedBranch
from service.tables import order_conditions, snapshots, standing_orders
from service.tables.access import Place, player
from service.tables.judging import at_table
from service.tables.order_conditions import Condition


class BranchOrder(Struct, frozen=True):
    """An order made from a branch: the moves of others that it waits for, and its own move."""

    id: int
    given: tuple[tuple[int, str | None], ...]
    move: str


class OrdersOfBranch(Struct, frozen=True):
    """The orders of one branch, which may be deleted meanwhile; `left`: the game took another course."""

    number: int
    branch: Branch | None
    intended: tuple[BranchOrder, ...]
    left: bool


def keep(app: App, place: Place, number: int) -> int:
    """Turn this seat's own moves of a branch into standing orders; the result is their number."""
    look = snapshots.look(app, place.table)
    with app.store.reading() as db:
        branch = branches.find(db, place, number)
    if look.table.phase != "playing":
        raise Refused("The game is over; there is nothing left to order.")
    then, line = snapshots.past(app, look, branch.seq), branches.line(app, look, branch)
    with at_table(app, place.table) as work:
        planned = list(drawn(look.game, then, branch, line))
        stand = standing_orders.statuses(work.locked, branch.seat, planned)
        if "left" in stand:
            raise Refused("The game has gone another way than this branch; begin one from the position as it is now.")
        coming = [one for one, status in zip(planned, stand, strict=True) if status != "done"]
        if not coming:
            raise Refused("No move of your own is still to come in this branch; make one first.")
        work.locked = standing_orders.follow(standing_orders.plan(work.locked, branch.seat, branch.id, coming))
    return len(coming)


def drawn(game: Game, then: Table, branch: Branch, line: PlayedBranch) -> Iterator[tuple[str, Condition]]:
    """The own moves of a branch, each with its condition; `then` is the table where the branch begins."""
    me, since, heard = branch.seat, then.last.seq if then.last else -1, list[tuple[int, str | None]]()
    for (seat, text), state, events in zip(branch.moves, line.states, line.events, strict=False):
        if seat == me:
            yield text, Condition(since, tuple(heard), order_conditions.sight(game, state, me))
        heard.append(order_conditions.as_heard(game, seat, text, events, me))


def forget(app: App, place: Place, number: int) -> None:
    """Delete the orders of a branch, even if the branch is deleted already."""
    with at_table(app, place.table) as work:
        standing_orders.forget(work.locked, player(place), number)


def list_intentions(db: Connection, place: Place, orders: Sequence[Any]) -> list[OrdersOfBranch]:
    """The orders of a seat that come from branches, branch by branch, the oldest first."""
    planned = [(row, condition) for row in orders if (condition := order_conditions.read(row.after))]
    by_number = {branch.id: branch for branch in branches.list_branches(db, place)} if planned else {}
    intentions = []
    for number in dict.fromkeys(row.branch for row, _ in planned):
        own = [(row, condition) for row, condition in planned if row.branch == number]
        orders_of_branch = tuple(BranchOrder(row.id, _given(one, place.seat), row.move) for row, one in own)
        intentions.append(OrdersOfBranch(number, by_number.get(number), orders_of_branch, own[0][1].left))
    return intentions


def _given(plan: Condition, seat: int | None) -> tuple[tuple[int, str | None], ...]:
    """The moves of others between the previous own move and this one."""
    since = next((place for place in range(len(plan.heard), 0, -1) if plan.heard[place - 1][0] == seat), 0)
    return plan.heard[since:]
