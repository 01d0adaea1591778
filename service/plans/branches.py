"""What if: private copies of a table on which one player tries out, for all seats, how it could go on.

A branch is a position as its seat knew it, with everything hidden dealt anew from the branch's own seed, and the moves
made from there. Whenever somebody looks, it is played again; nothing of it ever reaches the table or anybody else.
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
from service.tables.access import Place, Unknown, player
from service.tables.snapshots import Snapshot
from service.text import words

MOST = 20
LONGEST = 500
NAME_LENGTH = 40
Moves = tuple[tuple[int, str], ...]


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
    """The branches of this seat, the newest first."""
    own = select(branches).where(branches.c.table == place.table, branches.c.seat == player(place))
    return [_read(row) for row in db.execute(own.order_by(branches.c.id.desc()))]


def find(db: Connection, place: Place, number: int) -> Branch:
    """The branch of this seat with that number; raise Unknown if there is none."""
    return _own(db, place, number)


def _load(app: App, place: Place, number: int) -> Branch:
    with app.store.reading() as db:
        return find(db, place, number)


def play_out(app: App, db: Connection, look: Snapshot, branch: Branch) -> PlayedBranch:
    """Play the moves of a branch, as far as they are legal."""
    then = snapshots.load_past(app, db, look, branch.seq)
    return played(look.game, origin(look, then, branch), branch)


def line(app: App, look: Snapshot, branch: Branch) -> PlayedBranch:
    """`play_out` in a transaction of its own."""
    with app.store.reading() as db:
        return play_out(app, db, look, branch)


def origin(look: Snapshot, then: Table, branch: Branch) -> Any:
    """The first position of a branch, with everything hidden dealt anew unless the game was over when it began."""
    if knows_all(look, branch.at):
        return then.state
    return look.game.redeal(then.state, branch.seat, chances.make_sealed(branch.seed, 0))


def knows_all(look: Snapshot, at: int) -> bool:
    """Whether the game was over at that moment, so that nothing was hidden."""
    return look.row.ended_at is not None and at > look.row.ended_at


def played(game: Game, state: Any, branch: Branch) -> PlayedBranch:
    """The moves of a branch from that position on, up to the first illegal one; chance comes from the branch's seed."""
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
    """A branch that leaves the game after entry `seq`; an existing empty one is used again."""
    seat, look = player(place), snapshots.look(app, place.table)
    seq, at = min(seq, look.row.length - 1), app.now()
    if snapshots.past(app, look, seq).state is None:
        raise Refused("There is nothing to try out yet; the game has not begun.")
    with app.store.reading() as db:
        own = list_branches(db, place)
    for branch in own:
        as_good = knows_all(look, branch.at) == knows_all(look, at)
        if as_good and branch.seq == seq and not branch.moves and not branch.name:
            return branch.id
    return _added(app, Branch(0, place.table, seat, "", seq, secrets.token_bytes(32), (), at))


def play(app: App, place: Place, number: int, step: int, seat: int, text: str) -> tuple[int, int]:
    """Make a move for any seat after so many moves of a branch; the result is the branch and step it leads to.

    The move that stands there already is only gone along with; another one begins a branch of its own.
    """
    look, branch = snapshots.look(app, place.table), _load(app, place, number)
    out = line(app, look, branch)
    step = min(step, len(out))
    move = _meant(look.game, out.states[step], seat, text)
    if branch.moves[step : step + 1] == ((seat, move),):
        return number, step + 1
    moves = (*branch.moves[:step], (seat, move))
    if len(moves) > LONGEST:
        raise Refused("A branch has at most {most} moves; take some back, or begin another one.", most=LONGEST)
    longer = replace(branch, moves=moves)
    if len(played(look.game, out.states[0], longer)) < len(moves):
        raise Refused("“{move}” is not possible here.", move=move)
    if step < len(out):
        return _added(app, replace(longer, name="")), step + 1
    _change(app, place, number, moves=_kept(moves))
    return number, step + 1


def _meant(game: Game, state: Any, seat: int, text: str) -> str:
    seats = len(game.standing(state))
    menu = game.menu(state, seat) if 0 <= seat < seats else ()
    if not menu:
        raise Refused("This seat has nothing to do here; play for somebody else, or go back a step.")
    return str(menus.parse_move(menu, text, words.make_vocabulary(game, ())))


def cut(app: App, place: Place, number: int, step: int) -> None:
    """Delete the moves of a branch after the first `step`."""
    _change(app, place, number, moves=_kept(_load(app, place, number).moves[:step]))


def fork(app: App, place: Place, number: int, step: int) -> int:
    """A copy of the branch with its first `step` moves and the same chance."""
    branch = _load(app, place, number)
    return _added(app, replace(branch, name="", moves=branch.moves[:step]))


def rename(app: App, place: Place, number: int, name: str) -> None:
    """Name a branch; an empty name removes it."""
    name = " ".join(name.split())
    if len(name) > NAME_LENGTH or not name.isprintable():
        raise Refused("A branch has a name of at most {most} plain letters.", most=NAME_LENGTH)
    _change(app, place, number, name=name)


def remove(app: App, place: Place, number: int) -> None:
    """Forget a branch; orders that were made from it stay."""
    with app.store.writing() as connection:
        connection.execute(delete(branches).where(branches.c.id == _own(connection, place, number).id))


def deal(app: App, place: Place, number: int) -> int:
    """Deal hidden things and chance anew; the result is the number of moves that became illegal and were cut."""
    look, branch = snapshots.look(app, place.table), _load(app, place, number)
    other = replace(branch, seed=secrets.token_bytes(32))
    fitting = len(line(app, look, other))
    _change(app, place, number, seed=other.seed, moves=_kept(branch.moves[:fitting]))
    return len(branch.moves) - fitting


def _own(connection: Connection, place: Place, number: int) -> Branch:
    wanted = select(branches).where(
        branches.c.id == number, branches.c.table == place.table, branches.c.seat == player(place)
    )
    row = connection.execute(wanted).one_or_none()
    if row is None:
        raise Unknown("There is no such branch; it may have been deleted.")
    return _read(row)


def _read(row: Any) -> Branch:
    moves: Moves = make_decoder(Moves).decode(row.moves)
    return Branch(row.id, row.table, row.seat, row.name, row.seq, bytes(row.seed), moves, row.at)


def _kept(moves: Sequence[tuple[int, str]]) -> str:
    return msgspec.json.encode(moves).decode()


def _added(app: App, branch: Branch) -> int:
    own = select(branches.c.id).where(branches.c.table == branch.table, branches.c.seat == branch.seat)
    row = msgspec.structs.asdict(branch) | {"moves": _kept(branch.moves)}
    del row["id"]
    with app.store.writing() as connection:
        if len(connection.execute(own).all()) >= MOST:
            raise Refused("You keep {most} branches already; delete one that you no longer need.", most=MOST)
        return int(connection.execute(insert(branches).returning(branches.c.id), row).scalar_one())


def _change(app: App, place: Place, number: int, **values: Any) -> None:
    with app.store.writing() as connection:
        own = _own(connection, place, number)
        connection.execute(update(branches).where(branches.c.id == own.id).values(**values))
