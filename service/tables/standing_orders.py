"""Standing orders: moves that a player plans ahead, and moves that leave no choice.

An order is a row and no entry, because the other players must not see it. The move it makes is an entry like any other.
An order made from a branch has a condition: it holds as long as the game goes the way of the branch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import OperationalError

from engine import bots, record
from engine import menu as menus
from engine import table as tables
from engine.canonical_json import make_decoder
from engine.game import Game
from engine.log import Entry, find_mover, hear
from engine.menu import Menu, Move
from engine.record import Table
from engine.refusal import Refused
from engine.table_events import RoundDrawn, RoundNamed, WentSealed
from service.numbers import parse_int
from service.store.schema import orders, seats
from service.tables.locked_table import LockedTable, append_command
from service.tables.snapshots import load_game_entries
from service.text import move_words

MAX_ORDERS = 5
MAX_BRANCH_ORDERS = 20
MAX_ORDER_CHARS = 100
MAX_MOVES_IN_A_ROW = 100  # without a player; the next entry continues
VisibleMoves = tuple[tuple[int, str | None], ...]  # seat and move; None if part of what the move did is hidden
Status = Literal["waits", "now", "done", "never"]  # of an order with a condition: when its move can be made
log = structlog.get_logger()


class Condition(Struct, frozen=True, omit_defaults=True):
    """The moves that must be made after entry `since` before an order holds, and the digest of the view it needs then.

    With `never_holds` the game took another course, so that the order can never hold. Stored conditions have the names
    in quotes.
    """

    since: int
    moves: VisibleMoves = msgspec.field(name="heard")
    view_digest: str = msgspec.field(name="sight")
    never_holds: bool = msgspec.field(name="left", default=False)


def list_orders(db: Connection, table: str, seat: int) -> list[Any]:
    """Return the orders of a seat, the oldest first, including those that can never hold and are not deleted yet."""
    query = select(orders).where(orders.c.table == table, orders.c.seat == seat).order_by(orders.c.id)
    return list(db.execute(query))


def _list_own(locked: LockedTable, seat: int) -> list[Any]:
    """Return the orders of a seat at a locked table, as `list_orders` does."""
    return list_orders(locked.flush(), locked.row.id, seat)


def can_hold(order: Any) -> bool:
    """Return whether an order can still be carried out."""
    condition = parse_condition(order.after)
    return condition is None or not condition.never_holds


def add_order(locked: LockedTable, seat: int, text: str) -> LockedTable:
    """Store an order without a condition; its move is parsed only when it is tried.

    Raise Refused if the text is empty or too long, ordered already, or one order too many, or if a bot has the seat.
    """
    stored = [order for order in _list_own(locked, seat) if not order.after]
    if not text or len(text) > MAX_ORDER_CHARS:
        raise Refused("Write the move after the word order, such as: order pass")
    _refuse_bots(locked, seat)
    if any(order.move.casefold() == text.casefold() for order in stored):
        raise Refused("You have ordered “{move}” already.", move=text)
    if len(stored) >= MAX_ORDERS:
        raise Refused("You can have {most} orders at a time; cancel one first.", most=MAX_ORDERS)
    row = {"table": locked.row.id, "seat": seat, "move": text, "at": locked.now}
    locked.flush().execute(insert(orders), row)
    return _store_order_count(locked, seat)


def replace_branch_orders(
    locked: LockedTable, seat: int, branch: int, planned: list[tuple[str, Condition]]
) -> LockedTable:
    """Replace the orders that a seat has from a branch; raise Refused if the seat would have too many."""
    _refuse_bots(locked, seat)
    locked = delete_branch_orders(locked, seat, branch)
    of_other_branches = [order for order in _list_own(locked, seat) if order.after]
    if len(of_other_branches) + len(planned) > MAX_BRANCH_ORDERS:
        raise Refused("You can have {most} orders from branches at a time; cancel some first.", most=MAX_BRANCH_ORDERS)
    common = {"table": locked.row.id, "seat": seat, "branch": branch, "at": locked.now}
    rows = [{**common, "move": move, "after": dump_condition(condition)} for move, condition in planned]
    if rows:
        locked.flush().execute(insert(orders), rows)
    return _store_order_count(locked, seat)


def _refuse_bots(locked: LockedTable, seat: int) -> None:
    """Raise Refused if a bot has the seat."""
    if locked.position.seats[seat].status != "taken":
        raise Refused("Only the player of this seat can leave orders.")


def delete_branch_orders(locked: LockedTable, seat: int, branch: int) -> LockedTable:
    """Delete the orders of a branch, and all orders that can never hold: until now these were still shown."""
    for order in _list_own(locked, seat):
        if order.branch == branch or not can_hold(order):
            _delete(locked, order)
    return _store_order_count(locked, seat)


def cancel(locked: LockedTable, seat: int, arguments: list[str]) -> LockedTable:
    """Delete the order with this number, or without a number all orders of the seat; raise Refused if there is none."""
    own = delete(orders).where(orders.c.table == locked.row.id, orders.c.seat == seat)
    if arguments:
        own = own.where(orders.c.id == (parse_int(arguments[0]) or 0))  # no order has number 0
    if not locked.flush().execute(own).rowcount:
        raise Refused("There is no such order; it may have been done already.")
    return _store_order_count(locked, seat)


def move_up(db: Connection, table: str, seat: int, number: int) -> None:
    """Exchange an order without a condition with the one before it, so that it is tried first."""
    stored = [order for order in list_orders(db, table, seat) if not order.after]
    for before, order in pairwise(stored):
        if order.id == number:
            # Orders are tried by their ids. So the rows keep these, and each gets the move of the other.
            for row, new in ((order, before), (before, order)):
                db.execute(update(orders).where(orders.c.id == row.id).values(move=new.move, at=new.at))
            return
    raise Refused("There is no such order, or it is the first one already.")


def move_branch_up(db: Connection, table: str, seat: int, branch: int) -> None:
    """Exchange the orders of a branch with those of the branch before it, so that they are tried first."""
    rows = [order for order in list_orders(db, table, seat) if order.after and can_hold(order)]
    by_turn = list(dict.fromkeys(row.branch for row in rows))  # the branches, as they are tried
    if branch not in by_turn[1:]:
        raise Refused("There is no such branch, or it is the first one already.")
    at = by_turn.index(branch)
    by_turn[at - 1], by_turn[at] = by_turn[at], by_turn[at - 1]
    sorted_rows = sorted(rows, key=lambda row: by_turn.index(row.branch))
    # Orders are tried by their ids. So the rows keep these, and each gets the content that is now in its place.
    for row, new in zip(rows, sorted_rows, strict=True):
        values = {"move": new.move, "at": new.at, "branch": new.branch, "after": new.after}
        db.execute(update(orders).where(orders.c.id == row.id).values(**values))


def _delete(locked: LockedTable, order: Any) -> None:
    locked.flush().execute(delete(orders).where(orders.c.id == order.id))


def _store_order_count(locked: LockedTable, seat: int) -> LockedTable:
    """Count the orders of a seat that can hold, and store their number with the seat."""
    count = sum(map(can_hold, _list_own(locked, seat)))
    own = update(seats).where(seats.c.table == locked.row.id, seats.c.seat == seat)
    locked.flush().execute(own.values(orders=count))
    rows = (replace(one, orders=count) if one.seat == seat else one for one in locked.seats)
    return replace(locked, seats=tuple(rows))


# Making the moves


def follow(locked: LockedTable) -> LockedTable:
    """Make the moves that were ordered or leave no choice until there is none left; not while the table pauses."""
    for _ in range(MAX_MOVES_IN_A_ROW):
        locked = _remove_past_orders(locked)
        after = None if locked.position.paused else _make_one_move(locked)
        if after is None:
            return locked
        locked = after
    log.warning("many moves without a player", table=locked.row.id)
    return locked


def _make_one_move(locked: LockedTable) -> LockedTable | None:
    """Make the first move that is ordered or leaves no choice; return None if there is none."""
    for seat in locked.seats:
        if seat.open_since is None or locked.position.seats[seat.seat].status != "taken":
            continue
        after = _make_ordered_move(locked, seat.seat) if seat.orders else None
        if after is None and locked.clock.automatic:
            after = _make_only_move(locked, seat.seat)
        if after is not None:
            return after
    return None


def _make_ordered_move(locked: LockedTable, seat: int) -> LockedTable | None:
    """Make the first ordered move that is legal; return None if there is none.

    Its order is deleted. If the game raises an error, the move changes nothing, and the next one is tried.
    """
    for order, move in _list_legal_orders(locked, seat):
        _delete(locked, order)
        locked = _store_order_count(locked, seat)
        after = _try_move(locked, seat, move)
        if after is not None:
            return after
    return None


def _make_only_move(locked: LockedTable, seat: int) -> LockedTable | None:
    """Make the move of a seat that has only one; return None if it has a choice or the game raises an error.

    Return None, too, if to make it for the player would betray what others may not know (see `find_only_move`).
    """
    only = bots.find_only_move(locked.game, locked.position, seat, locked.row.seed)
    return _try_move(locked, seat, only) if only else None


def _try_move(locked: LockedTable, seat: int, move: Move) -> LockedTable | None:
    """Return the table after this move; if the game raises an error, change nothing and return None."""
    try:
        with locked.batch.savepoint():
            return append_command(locked, seat, move)
    except OperationalError:
        raise  # the database has failed, and not the game
    except Exception:
        log.exception("order not done", table=locked.row.id, seat=seat)
        return None


def _remove_past_orders(locked: LockedTable) -> LockedTable:
    """Delete conditional orders whose moment has passed, and mark those that can never hold."""
    for seat in locked.seats:
        if not seat.orders:
            continue
        statuses = set[Status]()
        for order, condition, status in _list_conditional(locked, seat.seat):
            statuses.add(status)
            if status == "done":
                _delete(locked, order)
            elif status == "never":
                own = update(orders).where(orders.c.id == order.id)
                locked.flush().execute(own.values(after=dump_condition(replace(condition, never_holds=True))))
        if statuses & {"done", "never"}:
            locked = _store_order_count(locked, seat.seat)
    return locked


def _list_conditional(locked: LockedTable, seat: int) -> Iterator[tuple[Any, Condition, Status]]:
    """Yield the conditional orders of a seat that can still hold, with their status."""
    stored = [(order, parse_condition(order.after)) for order in _list_own(locked, seat)]
    possible = [(order, condition) for order, condition in stored if condition and not condition.never_holds]
    statuses = compute_statuses(locked, seat, [(order.move, condition) for order, condition in possible])
    for (order, condition), status in zip(possible, statuses, strict=True):
        yield order, condition, status


def _list_legal_orders(locked: LockedTable, seat: int) -> Iterator[tuple[Any, Move]]:
    """Yield the orders whose move is legal now."""
    menu = tables.menu(locked.game, locked.position, seat)
    vocabulary = move_words.make_vocabulary(locked.game, ())
    ready = {order.id for order, _, status in _list_conditional(locked, seat) if status == "now"}
    for order in _list_own(locked, seat):
        if order.after and order.id not in ready:
            continue
        try:
            yield order, menus.parse_move(menu, order.move, vocabulary)
        except Refused:
            continue


# Conditions


def parse_condition(text: str) -> Condition | None:
    """Parse the condition of an order; None for an order that always holds."""
    condition: Condition | None = make_decoder(Condition).decode(text) if text else None
    return condition


def dump_condition(condition: Condition) -> str:
    """Return a condition as text."""
    return msgspec.json.encode(condition).decode()


def digest_view(game: Game, state: Any, seat: int) -> str:
    """Return a digest of everything that a seat sees and may do."""
    for kind in (game.View, Menu):
        make_decoder(kind)  # analyses the type under a lock: two threads that encode it for the first time would crash
    view = msgspec.json.encode((game.view(state, seat), game.menu(state, seat)), order="deterministic")
    return hashlib.sha256(view).hexdigest()


def compute_statuses(locked: LockedTable, seat: int, planned: Sequence[tuple[str, Condition]]) -> list[Status]:
    """Return the status of conditional moves of a seat in the current position."""
    if not planned:
        return []
    game, table = locked.game, locked.position
    view_digest = digest_view(game, table.state, seat)
    moves_since = dict[int, VisibleMoves | None]()
    for since in {condition.since for _, condition in planned}:
        later = load_game_entries(locked.flush(), game, locked.row.id, since + 1, table.length)
        moves_since[since] = _list_visible_moves(game, table, later, since, seat)
    return [
        _compute_status(condition, seat, move, moves_since[condition.since], view_digest) for move, condition in planned
    ]


def _compute_status(condition: Condition, seat: int, move: str, moves: VisibleMoves | None, view_digest: str) -> Status:
    """Compare a condition with the moves since its entry (None if that was undone) and the digest of the view now."""
    needed = condition.moves
    if moves is None:
        return "never"
    if len(moves) < len(needed):
        return "waits" if moves == needed[: len(moves)] else "never"
    if moves[: len(needed)] != needed:
        return "never"
    if len(moves) == len(needed):
        return "now" if view_digest == condition.view_digest else "never"
    next_move = moves[len(needed)]  # the moment for the order has passed, with this move
    return "done" if next_move == (seat, move) else "never"


def _list_visible_moves(
    game: Game, table: Table, entries: Iterable[Entry[Any]], since: int, seat: int
) -> VisibleMoves | None:
    """Return the moves in `entries`, all those after entry `since`, as this seat sees them; None if `since` was undone.

    `since` is -1 for all moves of the game.
    """
    not_undone = {step.seq for step in record.iter_moves(table)}
    if since != -1 and since not in not_undone:
        return None
    pairs = _pair_with_commands(entries)
    return tuple(_redact_entry(game, entry, command, seat) for entry, command in pairs if entry.seq in not_undone)


def _pair_with_commands(entries: Iterable[Entry[Any]]) -> Iterator[tuple[Entry[Any], Entry[Any]]]:
    """Yield each entry with the entry of its command: mostly itself; an earlier one if its draws awaited a beacon."""
    last_waiting: Entry[Any] | None = None  # the last command that had to wait for a round of the beacon
    for entry in entries:
        if isinstance(entry.events[0], RoundNamed):
            last_waiting = entry
        # WentSealed is the second event: first comes the answer by which all players agreed to do without the beacon.
        was_awaited = any(isinstance(event, RoundDrawn | WentSealed) for event in entry.events[:2])
        if last_waiting and was_awaited:
            yield entry, last_waiting
        else:
            yield entry, entry


def _redact_entry(game: Game, entry: Entry[Any], command: Entry[Any], seat: int) -> tuple[int, str | None]:
    """Return a move of the log as far as this seat knows it: `command` has its words, and `entry` what it did.

    These are one entry, unless the draws of the move awaited a beacon.
    """
    mover = find_mover(entry)
    assert mover is not None
    text = command.move or ""
    if command.seat is None:  # the server wrote `expire SEAT MOVE` after a missed deadline
        text = " ".join(Move.parse(text).args[1:])
    return redact_move(game, mover, text, entry.events, seat)


def redact_move(game: Game, mover: int, text: str, events: Iterable[Any], seat: int) -> tuple[int, str | None]:
    """Return a move as that seat knows it: with None instead of its text if part of what it did is hidden."""
    is_whole = mover == seat or all(hear(game, event, seat) == event for event in events)
    return mover, text if is_whole else None
