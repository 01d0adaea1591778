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
    """The orders that were made from one branch; `branch` is None if it was deleted meanwhile.

    They no longer `can_hold` once the game took another course than the branch.
    """

    number: int
    branch: Branch | None
    orders: tuple[BranchOrder, ...]
    can_hold: bool


def order_branch(locked: LockedTable, place: Place, number: int, *, always: bool = False) -> tuple[LockedTable, int]:
    """Turn this seat's own moves of a branch into standing orders; return the table, and how many they are.

    They hold as long as the game goes as in the branch, or `always`: after any moves of the others.
    """
    app = locked.app
    db = locked.flush()
    table = locked.snapshot
    branch = branches.find(db, place, number)
    if table.position.phase != "playing":
        raise Refused("The game is over; there is nothing left to order.")
    start = snapshots.load_past(app, db, table, branch.seq)
    played = branches.play_out(app, db, table, branch)
    planned = list(list_conditional_moves(table.game, start, branch, played))
    coming = _list_coming_orders(locked, branch, planned, always=always)
    if not coming:
        raise Refused("No move of your own is still to come in this branch; make one first.")
    return standing_orders.follow(_add_orders(locked, branch, coming, always=always)), len(coming)


def _list_coming_orders(
    locked: LockedTable, branch: Branch, planned: list[PlannedMove], *, always: bool
) -> list[PlannedMove]:
    """Return the moves of a branch that are still to come.

    Raise Refused if the game has left the branch, unless they are ordered `always`, which is without conditions.
    """
    statuses = standing_orders.compute_statuses(locked, branch.seat, planned)
    if "never" in statuses and not always:
        raise Refused("The game has gone another way than this branch; begin one from the position as it is now.")
    return [move for move, status in zip(planned, statuses, strict=True) if status != "done"]


def _add_orders(locked: LockedTable, branch: Branch, coming: list[PlannedMove], *, always: bool) -> LockedTable:
    """Order these moves with their conditions, instead of the earlier orders of the branch.

    With `always` they are added as orders without conditions, and the earlier orders stay.
    """
    if not always:
        return standing_orders.replace_branch_orders(locked, branch.seat, branch.id, coming)
    for move, _ in coming:
        locked = standing_orders.add_order(locked, branch.seat, move)
    return locked


def list_conditional_moves(game: Game, start: Table, branch: Branch, played: PlayedBranch) -> Iterator[PlannedMove]:
    """Yield the own moves of a branch with their conditions; `start` is the table where the branch begins.

    Each waits for all moves that the branch makes before it, and for the view that its player had there.
    """
    own = branch.seat
    since = start.last.seq if start.last else -1  # the last move before the branch; -1 if there is none
    earlier = list[tuple[int, str | None]]()
    for number, events in enumerate(played.events):
        seat, text = branch.moves[number]
        if seat == own:
            view_digest = standing_orders.digest_view(game, played.states[number], own)
            yield text, Condition(since, tuple(earlier), view_digest)
        earlier.append(standing_orders.redact_move(game, seat, text, events, own))


class _LoadedBranch(Struct, frozen=True):
    """A branch, the table where it begins, and its first position."""

    branch: Branch
    start: Table
    first_position: Any


def move_order(locked: LockedTable, place: Place, order: int, number: int) -> LockedTable:
    """Move an ordered move to the end of another branch; moves that are no longer possible are left out.

    If it is not possible there, it is exchanged with the last own move of that branch.
    """
    source_number, at = _find_ordered_move(locked.flush(), place, order)
    source, target = _load_branch(locked, place, source_number), _load_branch(locked, place, number)
    new_source, new_target = _exchange(locked.game, source, target, at)
    changed = (replace(source, branch=new_source), replace(target, branch=new_target))
    # Orders are tried as they were stored: those of the older branch come first.
    for loaded in sorted(changed, key=lambda loaded: loaded.branch.id):
        locked = _store_moves(locked, loaded)
    return standing_orders.follow(locked)


def _load_branch(locked: LockedTable, place: Place, number: int) -> _LoadedBranch:
    """Load a branch, which no other transaction changes before this one ends."""
    db = locked.flush()
    table = locked.snapshot
    branch = branches.find(db, place, number, lock=True)
    start = snapshots.load_past(locked.app, db, table, branch.seq)
    return _LoadedBranch(branch, start, branches.make_first_position(table, start, branch))


def _store_moves(locked: LockedTable, loaded: _LoadedBranch) -> LockedTable:
    """Store the new moves of a branch, and order its own moves again; raise Refused if the game has left the branch."""
    branch = loaded.branch
    branches.replace_moves(locked.flush(), branch, branch.moves)
    played = play_moves(locked.game, loaded.first_position, branch)
    planned = list(list_conditional_moves(locked.game, loaded.start, branch, played))
    coming = _list_coming_orders(locked, branch, planned, always=False)  # with their conditions
    return standing_orders.replace_branch_orders(locked, branch.seat, branch.id, coming)


def _find_ordered_move(db: Connection, place: Place, order: int) -> tuple[int, int]:
    """Return the branch that an order was made from, and the index of its move there."""
    for row in standing_orders.list_orders(db, place.table, require_seat(place)):
        condition = standing_orders.parse_condition(row.after)
        if row.id == order and condition is not None:
            return row.branch, len(condition.moves)  # it waits for all moves before its own
    raise Refused("There is no such order; it may have been done already.")


def _exchange(game: Game, source: _LoadedBranch, target: _LoadedBranch, at: int) -> tuple[Branch, Branch]:
    """Return both branches after move `at` of the source has gone to the target.

    The move is added at the end of the target. Where it is not possible there, it takes the place of the target's last
    own move, which goes to the source in return.
    """
    moves = source.branch.moves
    move, earlier, later = moves[at], moves[:at], moves[at + 1 :]
    _, text = move
    longer = (*target.branch.moves, move)
    new_target = _make_branch(game, target, longer)
    is_possible_at_end = len(new_target.moves) == len(longer)  # else it was cut off
    if is_possible_at_end:
        return _make_branch(game, source, (*earlier, *later)), new_target
    own_places = [place for place, (seat, _) in enumerate(target.branch.moves) if seat == target.branch.seat]
    if own_places:
        last = own_places[-1]
        targets_move = target.branch.moves[last]
        new_source = _make_branch(game, source, (*earlier, targets_move, *later))
        new_target = _make_branch(game, target, (*target.branch.moves[:last], move, *target.branch.moves[last + 1 :]))
        # `_make_branch` has cut each branch at its first impossible move.
        are_both_possible = len(new_source.moves) > at and len(new_target.moves) > last
        if are_both_possible:
            return new_source, new_target
    raise Refused("“{move}” is not possible in that branch.", move=text)


def _make_branch(game: Game, loaded: _LoadedBranch, moves: Moves) -> Branch:
    """Return the branch with other moves, up to the first impossible one."""
    changed = replace(loaded.branch, moves=moves)
    possible_count = len(play_moves(game, loaded.first_position, changed))
    return replace(changed, moves=moves[:possible_count])


def list_orders(db: Connection, place: Place, orders: Sequence[Any]) -> list[OrdersOfBranch]:
    """Return those of a seat's stored `orders` that were made from branches, branch by branch, as they are tried."""
    by_branch = dict[int, list[tuple[Any, Condition]]]()
    for row in orders:
        condition = standing_orders.parse_condition(row.after)
        if condition is not None:
            by_branch.setdefault(row.branch, []).append((row, condition))
    if not by_branch:
        return []
    stored = {branch.id: branch for branch in branches.list_branches(db, place)}
    seat = require_seat(place)
    return [_describe_orders(number, stored.get(number), rows, seat) for number, rows in by_branch.items()]


def _describe_orders(
    number: int, branch: Branch | None, rows: list[tuple[Any, Condition]], seat: int
) -> OrdersOfBranch:
    """Describe the orders that this seat made from one branch; `branch` is None if it was deleted meanwhile."""
    orders = tuple(BranchOrder(row.id, _list_last_moves(condition, seat), row.move) for row, condition in rows)
    _, first = rows[0]  # it waits for the fewest moves: if it can never hold, none of the others can
    return OrdersOfBranch(number, branch, orders, can_hold=not first.never_holds)


def _list_last_moves(condition: Condition, seat: int) -> VisibleMoves:
    """Return the moves of others that an order of this seat waits for after the seat's previous move."""
    own_places = [place for place, (mover, _) in enumerate(condition.moves) if mover == seat]
    first = own_places[-1] + 1 if own_places else 0
    return condition.moves[first:]
