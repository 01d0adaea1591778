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
from service.tables import snapshots, standing_orders
from service.tables.access import Place, player
from service.tables.judging import at_table
from service.tables.standing_orders import Condition, KnownMoves


class BranchOrder(Struct, frozen=True):
    """An order made from a branch: the moves of others that it waits for, and its own move."""

    id: int
    given: KnownMoves
    move: str


class OrdersOfBranch(Struct, frozen=True):
    """The orders of one branch, which may be deleted meanwhile; `left`: the game took another course."""

    number: int
    branch: Branch | None
    intended: tuple[BranchOrder, ...]
    left: bool


def order_branch(app: App, place: Place, number: int) -> int:
    """Turn this seat's own moves of a branch into standing orders; return how many they are."""
    with app.store.reading() as db:
        table, branch = snapshots.load_table(app, db, place.table), branches.find(db, place, number)
        if table.table.phase != "playing":
            raise Refused("The game is over; there is nothing left to order.")
        then, line = snapshots.load_past(app, db, table, branch.seq), branches.play_out(app, db, table, branch)
    with at_table(app, place.table) as work:
        planned = list(_list_conditional_moves(table.game, then, branch, line))
        statuses = standing_orders.compute_statuses(work.locked, branch.seat, planned)
        if "left" in statuses:
            raise Refused("The game has gone another way than this branch; begin one from the position as it is now.")
        coming = [one for one, status in zip(planned, statuses, strict=True) if status != "done"]
        if not coming:
            raise Refused("No move of your own is still to come in this branch; make one first.")
        after = standing_orders.replace_branch_orders(work.locked, branch.seat, branch.id, coming)
        work.locked = standing_orders.follow(after)
    return len(coming)


def _list_conditional_moves(
    game: Game, then: Table, branch: Branch, line: PlayedBranch
) -> Iterator[tuple[str, Condition]]:
    """Yield the own moves of a branch with their conditions; `then` is the table where the branch begins."""
    own, since, moves = branch.seat, then.last.seq if then.last else -1, list[tuple[int, str | None]]()
    for (seat, text), state, events in zip(branch.moves, line.states, line.events, strict=False):
        if seat == own:
            yield text, Condition(since, tuple(moves), standing_orders.digest_view(game, state, own))
        moves.append(standing_orders.redact_move(game, seat, text, events, own))


def delete_orders(app: App, place: Place, number: int) -> None:
    """Delete the orders of a branch, even if the branch is deleted already."""
    with at_table(app, place.table) as work:
        standing_orders.delete_branch_orders(work.locked, player(place), number)


def list_orders(db: Connection, place: Place, orders: Sequence[Any]) -> list[OrdersOfBranch]:
    """Return the orders of a seat that come from branches, branch by branch, the oldest first."""
    planned = [(row, condition) for row in orders if (condition := standing_orders.parse_condition(row.after))]
    by_number = {branch.id: branch for branch in branches.list_branches(db, place)} if planned else {}
    orders_of_branches = []
    for number in dict.fromkeys(row.branch for row, _ in planned):
        own = [(row, condition) for row, condition in planned if row.branch == number]
        one = tuple(BranchOrder(row.id, _list_last_moves(condition, place.seat), row.move) for row, condition in own)
        orders_of_branches.append(OrdersOfBranch(number, by_number.get(number), one, own[0][1].left))
    return orders_of_branches


def _list_last_moves(condition: Condition, seat: int | None) -> KnownMoves:
    """Return the moves of others between the previous own move and this one."""
    moves = condition.moves
    first = next((place for place in range(len(moves), 0, -1) if moves[place - 1][0] == seat), 0)
    return moves[first:]
