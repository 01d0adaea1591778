"""Standing orders that are made from branches of *What if*: each own move of a branch, and when it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from engine.game import Game
from engine.record import Table
from engine.refusal import Refused
from service.tables import branches, snapshots, standing_orders
from service.tables.access import Place, require_seat
from service.tables.branches import Branch, Moves, PlayedBranch, play_moves
from service.tables.locked_table import LockedTable
from service.tables.standing_orders import Condition, VisibleMoves

PlannedMove = tuple[str, Condition]
"""An own move of a branch, and when it is made."""


class BranchOrder(Struct, frozen=True):
    """An order made from a branch: the moves of others that it waits for, and its own move."""

    id: int
    given: VisibleMoves
    move: str


class OrdersOfBranch(Struct, frozen=True):
    """The orders of one branch, which may be deleted meanwhile; `left`: the game took another course."""

    number: int
    branch: Branch | None
    intended: tuple[BranchOrder, ...]
    left: bool


def order_branch(locked: LockedTable, place: Place, number: int, *, always: bool = False) -> tuple[LockedTable, int]:
    """Turn this seat's own moves of a branch into standing orders; return the table, and how many they are.

    They hold as long as the game goes as in the branch, or `always`: after any moves of the others.
    """
    app, db, table = locked.app, locked.flush(), locked.snapshot
    branch = branches.find(db, place, number)
    if table.position.phase != "playing":
        raise Refused("The game is over; there is nothing left to order.")
    then, line = snapshots.load_past(app, db, table, branch.seq), branches.play_out(app, db, table, branch)
    planned = list(list_conditional_moves(table.game, then, branch, line))
    coming = _list_coming_orders(locked, branch, planned, always=always)
    if not coming:
        raise Refused("No move of your own is still to come in this branch; make one first.")
    return standing_orders.follow(_add_orders(locked, branch, coming, always)), len(coming)


def _list_coming_orders(
    locked: LockedTable, branch: Branch, planned: list[PlannedMove], *, always: bool
) -> list[PlannedMove]:
    """Return the moves of a branch that are still to come; raise Refused if the game has left the branch."""
    statuses = standing_orders.compute_statuses(locked, branch.seat, planned)
    if "left" in statuses and not always:
        raise Refused("The game has gone another way than this branch; begin one from the position as it is now.")
    return [one for one, status in zip(planned, statuses, strict=True) if status != "done"]


def _add_orders(locked: LockedTable, branch: Branch, coming: list[PlannedMove], always: bool) -> LockedTable:
    if not always:
        return standing_orders.replace_branch_orders(locked, branch.seat, branch.id, coming)
    for move, _ in coming:
        locked = standing_orders.add_order(locked, branch.seat, move)
    return locked


def list_conditional_moves(game: Game, then: Table, branch: Branch, line: PlayedBranch) -> Iterator[PlannedMove]:
    """Yield the own moves of a branch with their conditions; `then` is the table where the branch begins."""
    own, since, moves = branch.seat, then.last.seq if then.last else -1, list[tuple[int, str | None]]()
    for (seat, text), state, events in zip(branch.moves, line.states, line.events, strict=False):
        if seat == own:
            yield text, Condition(since, tuple(moves), standing_orders.digest_view(game, state, own))
        moves.append(standing_orders.redact_move(game, seat, text, events, own))


def move_order(locked: LockedTable, place: Place, order: int, number: int) -> LockedTable:
    """Move an ordered move to the end of another branch; moves that are no longer possible are left out.

    If the seat is not to move there, it is exchanged with the last own move of that branch.
    """
    db, table = locked.flush(), locked.snapshot
    row = _find_conditional_order(db, place, order)
    pair = branches.find(db, place, row.branch, lock=True), branches.find(db, place, number, lock=True)
    thens = [snapshots.load_past(locked.app, db, table, branch.seq) for branch in pair]
    firsts = [branches.make_first_position(table, then, branch) for then, branch in zip(thens, pair, strict=True)]
    condition = standing_orders.parse_condition(row.after)
    changed = _exchange(table.game, firsts, *pair, len(condition.moves) if condition else 0)
    for branch, then, first in sorted(zip(changed, thens, firsts, strict=True), key=lambda row: row[0].id):
        branches.replace_moves(locked.flush(), branch, branch.moves)
        line = play_moves(table.game, first, branch)
        planned = list(list_conditional_moves(table.game, then, branch, line))
        coming = _list_coming_orders(locked, branch, planned, always=False)
        locked = standing_orders.replace_branch_orders(locked, branch.seat, branch.id, coming)
    return standing_orders.follow(locked)


def _find_conditional_order(db: Connection, place: Place, order: int) -> Any:
    own = standing_orders.list_orders(db, place.table, require_seat(place))
    row = next((one for one in own if one.id == order and one.after), None)
    if row is None:
        raise Refused("There is no such order; it may have been done already.")
    return row


def _exchange(game: Game, states: Sequence[Any], source: Branch, target: Branch, at: int) -> tuple[Branch, Branch]:
    """Return both branches after move `at` of the source has gone to the target.

    The move is added at the end of the target. Where it is not possible there, it takes the place of the target's last
    own move, which goes to the source in return. `states` are the positions in which the branches begin.
    """
    move, before, after = source.moves[at], source.moves[:at], source.moves[at + 1 :]
    longer = replace(target, moves=(*target.moves, move))
    if len(play_moves(game, states[1], longer)) == len(longer.moves):
        return _shorten(game, states[0], source, (*before, *after)), longer
    own_steps = [step for step, (seat, _) in enumerate(target.moves) if seat == target.seat]
    for last in own_steps[-1:]:
        new_source = _shorten(game, states[0], source, (*before, target.moves[last], *after))
        new_target = _shorten(game, states[1], target, (*target.moves[:last], move, *target.moves[last + 1 :]))
        if len(new_source.moves) > at and len(new_target.moves) > last:
            return new_source, new_target
    raise Refused("“{move}” is not possible in that branch.", move=move[1])


def _shorten(game: Game, state: Any, branch: Branch, moves: Moves) -> Branch:
    """Return a branch with these moves, as far as they are possible."""
    longest = replace(branch, moves=moves)
    return replace(branch, moves=moves[: len(play_moves(game, state, longest))])


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


def _list_last_moves(condition: Condition, seat: int | None) -> VisibleMoves:
    """Return the moves of others between the previous own move and this one."""
    moves = condition.moves
    first = next((place for place in range(len(moves), 0, -1) if moves[place - 1][0] == seat), 0)
    return moves[first:]
