"""Branches of *What if*: private copies of a table on which one player tries out moves for all seats.

A branch is a position as its seat knew it, with everything hidden dealt again from the branch's own seed, and the moves
made from there. It is played again for every page that shows it. Nothing of it reaches the table or another player.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update

from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.menu import Move
from engine.record import Table
from engine.refusal import Refused
from service.app import App
from service.store.schema import branches
from service.tables import snapshots, standing_orders
from service.tables.access import Place, Unknown, require_seat
from service.tables.judging import at_table
from service.tables.locked_table import LockedTable
from service.tables.snapshots import Snapshot
from service.tables.standing_orders import Condition, VisibleMoves
from service.text import words

MAX_BRANCHES = 20
MAX_MOVES = 500
MAX_NAME_CHARS = 40
Moves = tuple[tuple[int, str], ...]
PlannedMove = tuple[str, Condition]
"""An own move of a branch, and when it is made."""


class Branch(Struct, frozen=True):
    """A stored branch: it leaves the game after entry `seq`, with what its player knew at the time `at`."""

    id: int
    table: str
    seat: int
    name: str
    seq: int
    seed: bytes
    moves: Moves
    at: int


class PlayedBranch(Struct, frozen=True):
    """A branch played out: its first position, the position after each move, and the events of each move."""

    states: tuple[Any, ...]
    events: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.events)


def list_branches(db: Connection, place: Place) -> list[Branch]:
    """Return the branches of this seat, the newest first."""
    own = select(branches).where(branches.c.table == place.table, branches.c.seat == require_seat(place))
    return [_parse(row) for row in db.execute(own.order_by(branches.c.id.desc()))]


def find(db: Connection, place: Place, number: int) -> Branch:
    """Return the branch of this seat with that number; raise Unknown if there is none."""
    own = select(branches).where(
        branches.c.id == number, branches.c.table == place.table, branches.c.seat == require_seat(place)
    )
    row = db.execute(own).one_or_none()
    if row is None:
        raise Unknown("There is no such branch; it may have been deleted.")
    return _parse(row)


def play_out(app: App, db: Connection, table: Snapshot, branch: Branch) -> PlayedBranch:
    """Play the moves of a branch, as far as they are legal."""
    then = snapshots.load_past(app, db, table, branch.seq)
    return play_moves(table.game, make_first_position(table, then, branch), branch)


def make_first_position(table: Snapshot, then: Table, branch: Branch) -> Any:
    """Return the first position of a branch, with everything hidden dealt again unless the game was over by then."""
    if knows_all(table, branch.at):
        return then.state
    return table.game.redeal(then.state, branch.seat, chances.make_sealed(branch.seed, 0))


def knows_all(table: Snapshot, at: int) -> bool:
    """Return whether the game was over at that moment, so that nothing was hidden."""
    return table.row.ended_at is not None and at > table.row.ended_at


def play_moves(game: Game, state: Any, branch: Branch) -> PlayedBranch:
    """Play the moves of a branch up to the first illegal one; chance comes from the branch's seed."""
    states, events = [state], []
    for number, (seat, text) in enumerate(branch.moves, 1):
        try:
            state, happened = games.play(game, state, seat, Move.parse(text), chances.make_sealed(branch.seed, number))
        except Refused:
            break
        states.append(state)
        events.append(happened)
    return PlayedBranch(tuple(states), tuple(events))


def begin(app: App, place: Place, seq: int) -> int:
    """Begin a branch after entry `seq` and return its number; an existing empty one is used again."""
    seat, at = require_seat(place), app.now()
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, place.table)
        seq = min(seq, table.row.length - 1)
        if snapshots.load_past(app, db, table, seq).state is None:
            raise Refused("There is nothing to try out yet; the game has not begun.")
        own = list_branches(db, place)
    for branch in own:
        is_same_kind = knows_all(table, branch.at) == knows_all(table, at)
        if is_same_kind and branch.seq == seq and not branch.moves and not branch.name:
            return branch.id
    return _store(app, Branch(0, place.table, seat, "", seq, secrets.token_bytes(32), (), at))


def play(app: App, place: Place, number: int, step: int, seat: int, text: str) -> tuple[int, int]:
    """Make a move for any seat after so many moves of a branch; return the branch and the step that it leads to.

    A move that the branch has at this step already changes nothing; another move begins a new branch.
    """
    with app.store.reading() as db:
        table, branch = snapshots.load_table(app, db, place.table), find(db, place, number)
        line = play_out(app, db, table, branch)
    step = min(step, len(line))
    move = _parse_move(table.game, line.states[step], seat, text)
    if branch.moves[step : step + 1] == ((seat, move),):
        return number, step + 1
    moves = (*branch.moves[:step], (seat, move))
    if len(moves) > MAX_MOVES:
        raise Refused("A branch has at most {most} moves; take some back, or begin another one.", most=MAX_MOVES)
    longer = replace(branch, moves=moves)
    if len(play_moves(table.game, line.states[0], longer)) < len(moves):
        raise Refused("“{move}” is not possible here.", move=move)
    if step < len(line):
        return _store(app, replace(longer, name="")), step + 1
    _change(app, place, number, moves=_dump_moves(moves))
    return number, step + 1


def _parse_move(game: Game, state: Any, seat: int, text: str) -> str:
    seats = len(game.standing(state))
    menu = game.menu(state, seat) if 0 <= seat < seats else ()
    if not menu:
        raise Refused("This seat has nothing to do here; play for another seat, or go back a step.")
    return str(menus.parse_move(menu, text, words.make_vocabulary(game, ())))


def cut(db: Connection, place: Place, number: int, step: int) -> None:
    """Delete the moves of a branch after the first `step`."""
    branch = find(db, place, number)
    _update(db, branch, moves=_dump_moves(branch.moves[:step]))


def fork(db: Connection, place: Place, number: int, step: int) -> int:
    """Copy the branch with its first `step` moves and the same chance; return the number of the copy."""
    branch = find(db, place, number)
    return store_branch(db, replace(branch, name="", moves=branch.moves[:step]))


def rename(db: Connection, place: Place, number: int, name: str) -> None:
    """Name a branch; an empty name removes it."""
    name = " ".join(name.split())
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise Refused("A branch has a name of at most {most} plain letters.", most=MAX_NAME_CHARS)
    _update(db, find(db, place, number), name=name)


def remove(db: Connection, place: Place, number: int) -> None:
    """Delete a branch; orders that were made from it remain."""
    db.execute(delete(branches).where(branches.c.id == find(db, place, number).id))


def deal(app: App, place: Place, number: int) -> int:
    """Deal hidden things and chance again; return how many moves became illegal and were cut."""
    with app.store.reading() as db:
        table, branch = snapshots.load_table(app, db, place.table), find(db, place, number)
        other = replace(branch, seed=secrets.token_bytes(32))
        legal = len(play_out(app, db, table, other))
    _change(app, place, number, seed=other.seed, moves=_dump_moves(branch.moves[:legal]))
    return len(branch.moves) - legal


def take_out(db: Connection, place: Place, number: int, step: int) -> None:
    """Delete one move of a branch, the first being step 1; later moves that are no longer possible are left out."""
    branch = find(db, place, number)
    _update(db, branch, moves=_dump_moves((*branch.moves[: step - 1], *branch.moves[step:])))


def move_sooner(app: App, place: Place, number: int, step: int) -> None:
    """Exchange a move with the previous move of the same seat; raise Refused if that is not possible."""
    with app.store.reading() as db:
        table, branch = snapshots.load_table(app, db, place.table), find(db, place, number)
        line = play_out(app, db, table, branch)
    moves, last = list(branch.moves), min(step, len(line)) - 1
    before = find_previous_step(branch.moves, last + 1) - 1
    if before < 0:
        raise Refused("This is the first move of its player in the branch.")
    moves[before], moves[last] = moves[last], moves[before]
    if len(play_moves(table.game, line.states[0], replace(branch, moves=tuple(moves)))) < len(line):
        raise Refused("In this order the moves are not possible.")
    _change(app, place, number, moves=_dump_moves(moves))


def find_previous_step(moves: Moves, step: int) -> int:
    """Return the step at which the seat of this step moves before it; 0 if there is none. Steps begin with 1."""
    if not 0 < step <= len(moves):
        return 0
    return next((earlier for earlier in range(step - 1, 0, -1) if moves[earlier - 1][0] == moves[step - 1][0]), 0)


def _parse(row: Any) -> Branch:
    moves: Moves = make_decoder(Moves).decode(row.moves)
    return Branch(row.id, row.table, row.seat, row.name, row.seq, bytes(row.seed), moves, row.at)


def _dump_moves(moves: Sequence[tuple[int, str]]) -> str:
    return msgspec.json.encode(moves).decode()


def _store(app: App, branch: Branch) -> int:
    with app.store.writing() as db:
        return store_branch(db, branch)


def store_branch(db: Connection, branch: Branch) -> int:
    """Store a new branch and return its number."""
    own = select(branches.c.id).where(branches.c.table == branch.table, branches.c.seat == branch.seat)
    row = msgspec.structs.asdict(branch) | {"moves": _dump_moves(branch.moves)}
    del row["id"]
    if len(db.execute(own).all()) >= MAX_BRANCHES:
        raise Refused("You keep {most} branches already; delete one that you no longer need.", most=MAX_BRANCHES)
    return int(db.execute(insert(branches).returning(branches.c.id), row).scalar_one())


def _change(app: App, place: Place, number: int, **values: Any) -> None:
    with app.store.writing() as db:
        _update(db, find(db, place, number), **values)


def _update(db: Connection, branch: Branch, **values: Any) -> None:
    db.execute(update(branches).where(branches.c.id == branch.id).values(**values))


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


def order_branch(app: App, place: Place, number: int, *, always: bool = False) -> int:
    """Turn this seat's own moves of a branch into standing orders; return how many they are.

    They hold as long as the game goes as in the branch, or `always`: after any moves of the others.
    """
    with app.store.reading() as db:
        table, branch = snapshots.load_table(app, db, place.table), find(db, place, number)
        if table.position.phase != "playing":
            raise Refused("The game is over; there is nothing left to order.")
        then, line = snapshots.load_past(app, db, table, branch.seq), play_out(app, db, table, branch)
    planned = list(list_conditional_moves(table.game, then, branch, line))
    with at_table(app, place.table) as work:
        coming = _list_coming_orders(work.locked, branch, planned, always=always)
        if not coming:
            raise Refused("No move of your own is still to come in this branch; make one first.")
        work.locked = standing_orders.follow(_add_orders(work.locked, branch, coming, always))
    return len(coming)


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


def move_order(app: App, place: Place, order: int, number: int) -> None:
    """Move an ordered move to the end of another branch; moves that are no longer possible are left out.

    If the seat is not to move there, it is exchanged with the last own move of that branch.
    """
    with app.store.reading() as db:
        table, row = snapshots.load_table(app, db, place.table), _find_conditional_order(db, place, order)
        pair = find(db, place, row.branch), find(db, place, number)
        thens = [snapshots.load_past(app, db, table, branch.seq) for branch in pair]
    firsts = [make_first_position(table, then, branch) for then, branch in zip(thens, pair, strict=True)]
    condition = standing_orders.parse_condition(row.after)
    changed = _exchange(table.game, firsts, *pair, len(condition.moves) if condition else 0)
    with at_table(app, place.table) as work:
        rows = sorted(zip(pair, changed, thens, firsts, strict=True), key=lambda row: row[0].id)
        for branch, other, then, first in rows:
            _replace_moves(work.locked.flush(), place, branch, other.moves)
            line = play_moves(table.game, first, other)
            planned = list(list_conditional_moves(table.game, then, other, line))
            coming = _list_coming_orders(work.locked, other, planned, always=False)
            work.locked = standing_orders.replace_branch_orders(work.locked, other.seat, other.id, coming)
        work.locked = standing_orders.follow(work.locked)


def _replace_moves(db: Connection, place: Place, branch: Branch, moves: Moves) -> None:
    """Replace the moves of a branch; raise Refused if it is not any more as it was loaded."""
    if find(db, place, branch.id) != branch:
        raise Refused("This branch has changed meanwhile; please look at it and try again.")
    _update(db, branch, moves=_dump_moves(moves))


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


def delete_orders(app: App, place: Place, number: int) -> None:
    """Delete the orders of a branch, even if the branch is deleted already."""
    with at_table(app, place.table) as work:
        standing_orders.delete_branch_orders(work.locked, require_seat(place), number)


def list_orders(db: Connection, place: Place, orders: Sequence[Any]) -> list[OrdersOfBranch]:
    """Return the orders of a seat that come from branches, branch by branch, the oldest first."""
    planned = [(row, condition) for row in orders if (condition := standing_orders.parse_condition(row.after))]
    by_number = {branch.id: branch for branch in list_branches(db, place)} if planned else {}
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
