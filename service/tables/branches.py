"""Branches of *What if*: private copies of a table on which one player tries out moves for all seats.

A branch is a position as its seat knew it, with everything hidden dealt again from the branch's own seed, and the moves
made from there. It is played again for every page that shows it. Nothing of it reaches the table or another player.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
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
from service.tables import snapshots
from service.tables.access import Place, Unknown, require_seat
from service.tables.snapshots import Snapshot
from service.text import move_words

MAX_BRANCHES = 20
MAX_MOVES = 500
MAX_NAME_CHARS = 40
Moves = tuple[tuple[int, str], ...]  # seat and move


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
    """A branch played out: its first position, the position after each move, and the events of each move.

    Its length is the number of its legal moves.
    """

    states: tuple[Any, ...]
    events: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.events)


def list_branches(db: Connection, place: Place) -> list[Branch]:
    """Return the branches of this seat, the newest first."""
    own = select(branches).where(branches.c.table == place.table, branches.c.seat == require_seat(place))
    return [_parse(row) for row in db.execute(own.order_by(branches.c.id.desc()))]


def find(db: Connection, place: Place, number: int, *, lock: bool = False) -> Branch:
    """Return the branch of this seat with that number; raise Unknown if there is none.

    With `lock` no other transaction changes it before this one ends.
    """
    own = select(branches).where(
        branches.c.id == number, branches.c.table == place.table, branches.c.seat == require_seat(place)
    )
    row = db.execute(own.with_for_update() if lock else own).one_or_none()
    if row is None:
        raise Unknown("There is no such branch; it may have been deleted.")
    return _parse(row)


def play_out(app: App, db: Connection, table: Snapshot, branch: Branch) -> PlayedBranch:
    """Play the moves of a branch, as far as they are legal."""
    start = snapshots.load_past(app, db, table, branch.seq)
    return play_moves(table.game, make_first_position(table, start, branch), branch)


def make_first_position(table: Snapshot, start: Table, branch: Branch) -> Any:
    """Return the first position of a branch that begins with this table.

    Everything hidden is dealt again, unless the game was over when the branch was begun.
    """
    if knows_all(table, branch.at):
        return start.state
    return table.game.redeal(start.state, branch.seat, chances.make_sealed(branch.seed, 0))


def knows_all(table: Snapshot, at: int) -> bool:
    """Return whether the game was over at this time, so that nothing was hidden any more."""
    return table.row.ended_at is not None and at > table.row.ended_at


def play_moves(game: Game, state: Any, branch: Branch) -> PlayedBranch:
    """Play the moves of a branch up to the first illegal one.

    Chance comes from the branch's seed and the number of the move from 1; number 0 is the dealing before all moves.
    """
    states, events = [state], []
    for number, (seat, text) in enumerate(branch.moves, 1):
        try:
            state, happened = games.play(game, state, seat, Move.parse(text), chances.make_sealed(branch.seed, number))
        except Refused:
            break
        states.append(state)
        events.append(happened)
    return PlayedBranch(tuple(states), tuple(events))


def begin(app: App, db: Connection, place: Place, seq: int) -> int:
    """Begin a branch after entry `seq`, or after the last one if the log is shorter; return its number.

    An empty branch that begins there is used again, if the player knew as much of the hidden things then as now.
    """
    seat, at = require_seat(place), app.now()
    table = snapshots.load_table(app, db, place.table)
    seq = min(seq, table.row.length - 1)
    if snapshots.load_past(app, db, table, seq).state is None:
        raise Refused("There is nothing to try out yet; the game has not begun.")
    for branch in list_branches(db, place):
        is_empty = not branch.moves and not branch.name
        knows_the_same = knows_all(table, branch.at) == knows_all(table, at)
        if branch.seq == seq and is_empty and knows_the_same:
            return branch.id
    seed = secrets.token_bytes(32)
    return store_branch(db, Branch(id=0, table=place.table, seat=seat, name="", seq=seq, seed=seed, moves=(), at=at))


def play(app: App, db: Connection, place: Place, number: int, step: int, seat: int, text: str) -> tuple[int, int]:
    """Make a move for any seat after `step` moves of a branch; return the branch and the step that it leads to.

    At the end of the branch the move is added to it. Before that, a move that the branch has at this step already
    changes nothing, and another move begins a new branch without a name. Raise Refused if the move is not possible.
    """
    table, branch = snapshots.load_table(app, db, place.table), find(db, place, number, lock=True)
    played = play_out(app, db, table, branch)
    step = min(step, len(played))
    move = _parse_move(table.game, played.states[step], seat, text)
    moves = (*branch.moves[:step], (seat, move))
    if branch.moves[: step + 1] == moves:
        return number, step + 1
    if len(moves) > MAX_MOVES:
        raise Refused("A branch has at most {most} moves; take some back, or begin another one.", most=MAX_MOVES)
    changed = replace(branch, moves=moves)
    if len(play_moves(table.game, played.states[0], changed)) < len(moves):
        raise Refused("“{move}” is not possible here.", move=move)
    if step < len(played):
        return store_branch(db, replace(changed, name="")), step + 1
    replace_moves(db, branch, moves)
    return number, step + 1


def _parse_move(game: Game, state: Any, seat: int, text: str) -> str:
    """Return the move of the seat's menu that this text means; raise Refused if there is none."""
    seat_count = len(game.standing(state))
    menu = game.menu(state, seat) if 0 <= seat < seat_count else ()
    if not menu:
        raise Refused("This seat has nothing to do here; play for another seat, or go back a step.")
    return str(menus.parse_move(menu, text, move_words.make_vocabulary(game, ())))


def cut(db: Connection, place: Place, number: int, step: int) -> None:
    """Delete the moves of a branch after the first `step`."""
    branch = find(db, place, number, lock=True)
    replace_moves(db, branch, branch.moves[:step])


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


def deal(app: App, db: Connection, place: Place, number: int) -> int:
    """Deal hidden things and chance again, by a new seed; return how many moves became illegal and were cut."""
    table, branch = snapshots.load_table(app, db, place.table), find(db, place, number, lock=True)
    changed = replace(branch, seed=secrets.token_bytes(32))
    legal_count = len(play_out(app, db, table, changed))
    _update(db, branch, seed=changed.seed, moves=_dump_moves(branch.moves[:legal_count]))
    return len(branch.moves) - legal_count


def take_out(db: Connection, place: Place, number: int, step: int) -> None:
    """Delete one move of a branch, the first being step 1; the rest is played as far as it is still possible."""
    branch = find(db, place, number, lock=True)
    replace_moves(db, branch, (*branch.moves[: step - 1], *branch.moves[step:]))


def move_sooner(app: App, db: Connection, place: Place, number: int, step: int) -> None:
    """Exchange the move at a step, of which the first is 1, with the previous move of the same seat.

    Raise Refused if there is none, or if the moves are not possible in that order.
    """
    table, branch = snapshots.load_table(app, db, place.table), find(db, place, number, lock=True)
    played = play_out(app, db, table, branch)
    step = min(step, len(played))  # of moves that are impossible by now, the last possible one
    previous = find_previous_step(branch.moves, step)
    if not previous:
        raise Refused("This is the first move of its player in the branch.")
    moves = list(branch.moves)
    moves[previous - 1], moves[step - 1] = moves[step - 1], moves[previous - 1]
    if len(play_moves(table.game, played.states[0], replace(branch, moves=tuple(moves)))) < len(played):
        raise Refused("In this order the moves are not possible.")
    replace_moves(db, branch, moves)


def find_previous_step(moves: Moves, step: int) -> int:
    """Return the last step before this one at which the same seat moves; 0 if there is none. Steps begin with 1."""
    if not 0 < step <= len(moves):
        return 0
    seat, _ = moves[step - 1]
    previous = 0
    for earlier, (mover, _) in enumerate(moves[: step - 1], 1):
        if mover == seat:
            previous = earlier
    return previous


def _parse(row: Any) -> Branch:
    """Make a branch from its row, whose moves are JSON."""
    moves: Moves = make_decoder(Moves).decode(row.moves)
    return Branch(row.id, row.table, row.seat, row.name, row.seq, bytes(row.seed), moves, row.at)


def _dump_moves(moves: Sequence[tuple[int, str]]) -> str:
    return msgspec.json.encode(moves).decode()


def store_branch(db: Connection, branch: Branch) -> int:
    """Store a new branch, and return the number that the database gives it; raise Refused if the seat has too many."""
    own = select(branches.c.id).where(branches.c.table == branch.table, branches.c.seat == branch.seat)
    row = msgspec.structs.asdict(branch) | {"moves": _dump_moves(branch.moves)}
    del row["id"]
    if len(db.execute(own).all()) >= MAX_BRANCHES:
        raise Refused("You keep {most} branches already; delete one that you no longer need.", most=MAX_BRANCHES)
    return int(db.execute(insert(branches).returning(branches.c.id), row).scalar_one())


def replace_moves(db: Connection, branch: Branch, moves: Sequence[tuple[int, str]]) -> None:
    """Replace the moves of a branch."""
    _update(db, branch, moves=_dump_moves(moves))


def _update(db: Connection, branch: Branch, **values: Any) -> None:
    db.execute(update(branches).where(branches.c.id == branch.id).values(**values))
