"""The one judge: every command of a seat or of the server is carried out here, wherever it comes from.

A caller locks a table, judges commands, flushes the batch, and calls `publish_changes`; `at_table` does the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct

from engine import menu as menus
from engine import table as tables
from engine.menu import Move
from engine.record import Table, explain_waiting
from engine.refusal import Refused
from service.app import App
from service.internet import beacon
from service.people import limits
from service.store.batch import Batch, Verdict
from service.tables import seat_commands, standing_orders
from service.tables.access import Place, make_transfer_refusal, require_seat, writing_at
from service.tables.locked_table import BOT_STATUSES, LockedTable, append_command, lock_table
from service.text import move_words
from service.text.languages import Sentence

BACK_MOVE = Move("back")
# The referee and the inbox skip a table while it is locked, so they look again; the post sends what is owed now.
QUEUES = ("referee", "inbox", "post")


class SeatCommand(Struct, frozen=True):
    """A command of a seat in words, and the position that its player had seen.

    `seen` is the last entry on the player's page; `answers` is the entry that began the turn whose letter is answered.
    With `by_bot` the bot of the seat made the command, and not its player.
    """

    seat: int
    text: str
    seen: int | None = None
    answers: int | None = None
    by_bot: bool = False


class Work:
    """A holder for the table that the caller of `at_table` changes: the caller sets `locked` to its newest state."""

    def __init__(self, locked: LockedTable) -> None:
        self.locked = locked


Lock = Callable[[App, Batch, str], LockedTable]


@contextmanager
def at_table(app: App, table: str, lock: Lock = lock_table) -> Iterator[Work]:
    """Let the caller change one table in one transaction; after the commit cache its position and wake the workers."""
    with app.store.writing() as db:
        batch = Batch(db)
        work = Work(lock(app, batch, table))
        yield work
        batch.flush()
    _publish_work(app, work)


@contextmanager
def at_seat(app: App, link: str) -> Iterator[tuple[Work, Place]]:
    """Find the seat of a link, and let the caller change its table as with `at_table`, in the same transaction."""
    with writing_at(app, link) as (db, place):
        require_seat(place)
        batch = Batch(db)
        work = Work(lock_table(app, batch, place.table))
        yield work, place
        batch.flush()
    _publish_work(app, work)


def _publish_work(app: App, work: Work) -> None:
    """Publish the change of a table after its commit; wake the workers that skip locked tables, and the post."""
    publish_changes(app, [work.locked])
    for queue in QUEUES:
        app.wakeups.wake(queue)


def publish_changes(app: App, changed: Sequence[LockedTable]) -> None:
    """Cache the new positions of changed tables, tell their open pages, and wake the workers that they need."""
    for locked in changed:
        app.caches.positions.put(locked.row.id, locked.position)
    app.wakeups.announce(*(locked.row.id for locked in changed))
    queues = {queue for locked in changed for queue in locked.wakes}
    seats = [seat for locked in changed for seat in locked.seats]
    if any(seat.has_channels for seat in seats):
        queues.add("deliveries")
    if any(seat.is_followed for seat in seats):
        queues.add("followers")
    if any(seat.open_since is not None and seat.status in BOT_STATUSES for seat in seats):
        queues.add("bots")
    for queue in sorted(queues):  # a set has another order in each process
        app.wakeups.wake(queue)


def judge(locked: LockedTable, command: SeatCommand) -> tuple[Verdict, LockedTable]:
    """Carry a command out; if it is refused, the table stays as it was.

    The verdict on an accepted command names the first entry that it appended, if it appended one.
    """
    length = locked.position.length
    try:
        with locked.batch.savepoint():
            after = carry_out(locked, command)
    except Refused as refused:
        return Verdict(accepted=False, why=Sentence.from_refusal(refused), rule=refused.rule), locked
    has_new_entry = after.position.length > length
    return Verdict(accepted=True, seq=length if has_new_entry else None), after


def carry_out(locked: LockedTable, command: SeatCommand) -> LockedTable:
    """Return the table after a command of a seat and the standing orders that follow, or raise Refused."""
    if locked.row.moved_to:
        raise make_transfer_refusal(locked.row.moved_to)
    verb, *args = command.text.split()
    verb = verb.casefold()
    if verb == "sit":
        return follow_orders(locked, seat_commands.sit(locked, command.seat, args[0] if args else ""))
    if verb == "refuse" and locked.position.phase == "gathering" and not locked.position.waiting_command:
        return seat_commands.decline(locked, command.seat)  # an invitation; later the verb answers a question
    if verb not in seat_commands.COMMANDS:
        return follow_orders(locked, _move(locked, command))
    after = seat_commands.carry_out_request(locked, command.seat, verb, args)
    if verb == "order":
        return standing_orders.follow(after)  # the order may be for now, though the game has not gone on
    return follow_orders(locked, after)


def carry_out_for_server(locked: LockedTable, *moves: Move) -> LockedTable:
    """Return the table after commands of the server and the standing orders that follow."""
    after = locked
    for move in moves:
        after = append_command(after, None, move)
    return follow_orders(locked, after)


def follow_orders(before: LockedTable, after: LockedTable) -> LockedTable:
    """Make the moves that were ordered or leave no choice, if the game went on; after an undo none is made."""
    may_move_by_itself = after.clock.automatic or any(seat.orders for seat in after.seats)
    if may_move_by_itself and _has_gone_on(before.position, after.position):
        return standing_orders.follow(after)
    return after


def _has_gone_on(before: Table, after: Table) -> bool:
    """Return whether the game went on: by a move that is no undo, or because a pause or a seat changed."""
    if after.state is before.state:
        return before.paused != after.paused or before.seats != after.seats
    last_move_before = before.last.seq if before.last else -1  # -1: there is no move yet
    last_move_after = after.last.seq if after.last else -1
    is_undo = last_move_after < last_move_before  # the last move is now an earlier one
    return not is_undo


def _move(locked: LockedTable, command: SeatCommand) -> LockedTable:
    """Return the table after a move of the game or a command of the table such as undo."""
    locked.refuse_closed()
    seen = _find_seen_position(locked, command)
    _refuse_old_page(locked, seen, command.seat)
    move = _parse(locked, command)
    _refuse_early_sealing(locked, move)
    _refuse_old_question(locked, seen, move)
    _refuse_old_letter(locked, command, move)
    if not command.by_bot:
        locked = _take_seat_back(locked, command.seat, move)
    after = append_command(locked, command.seat, move)
    _refuse_many_questions(locked, after)
    return after


def _refuse_many_questions(before: LockedTable, after: LockedTable) -> None:
    """Raise Refused if the move asks the other players something, and they were asked too often."""
    requests = (after.position.undo_request, after.position.pause_request, after.position.seal_request)
    earlier_requests = (before.position.undo_request, before.position.pause_request, before.position.seal_request)
    for request, earlier in zip(requests, earlier_requests, strict=True):
        if request is not None and earlier is None:
            limits.refuse_many_questions(before.flush(), before.row.id, request.waiting, before.now)


def _find_seen_position(locked: LockedTable, command: SeatCommand) -> Table:
    """Return the position that the player had seen; the one of now unless the command names an earlier entry."""
    last_entry = locked.position.length - 1
    if command.seen is None or command.seen >= last_entry:
        return locked.position
    return locked.load_position_before(command.seen + 1)


def _parse(locked: LockedTable, command: SeatCommand) -> Move:
    """Parse a move; raise Refused with the reason if it is none that the seat can make now.

    The moves of the game are tried first, by themselves: so a word may be as short as is unique among them, even if a
    command of the table begins with the same letters.
    """
    own = tables.menu(locked.game, locked.position, command.seat)
    vocabulary = move_words.make_vocabulary(locked.game, ())
    with suppress(Refused):
        return menus.parse_move(own, command.text, vocabulary)
    try:
        return menus.parse_move(own + tables.list_commands(locked.position, command.seat), command.text, vocabulary)
    except Refused:
        if own:  # the seat is to move, so the fault is in the text
            raise
        if locked.position.waiting_command:
            raise explain_waiting(locked.position.waiting_command) from None
        raise Refused("It is not your turn; another player has to move first.") from None


def _take_seat_back(locked: LockedTable, seat: int, move: Move) -> LockedTable:
    """Take the seat back from its bot if its player makes a move of the game; raise Refused after a resignation."""
    if locked.position.seats[seat].status == "resigned":
        raise Refused("This seat was given up; a bot plays on in it.")
    if move.verb not in tables.RESERVED_VERBS and tables.can_return(locked.position, seat):
        return append_command(locked, seat, BACK_MOVE)
    return locked


def _refuse_old_page(locked: LockedTable, seen: Table, seat: int) -> None:
    """Refuse a move from a page that shows other things, or another menu, than this seat has now."""
    game, now = locked.game, locked.position
    same = seen is now or (
        seen.phase == now.phase
        and game.view(seen.state, seat) == game.view(now.state, seat)
        and game.menu(seen.state, seat) == game.menu(now.state, seat)
    )
    if not same:
        raise Refused("The table has changed since your page was drawn; look at it again before you move.")


def _refuse_old_question(locked: LockedTable, seen: Table, move: Move) -> None:
    """Refuse an answer if the table now asks another question than the page that the player has seen."""
    if move.verb in ("agree", "refuse") and _find_question(seen) != _find_question(locked.position):
        raise Refused("The question has changed; look at the table again before you answer.")


def _refuse_early_sealing(locked: LockedTable, move: Move) -> None:
    """Refuse the move `sealed`, by which players do without the beacon, while the awaited round is not late."""
    source, waiting = locked.position.beacon, locked.position.waiting_command
    if move.verb != "sealed" or source is None or waiting is None:
        return
    seconds_left = source.time_of(waiting.round) + beacon.LATE_AFTER_S - locked.now
    if seconds_left > 0:
        raise Refused(
            "The public beacon is not late yet; if its round is still missing in {minutes} minutes, ask again.",
            minutes=math.ceil(seconds_left / 60),
        )


def _find_question(table: Table) -> tuple[object, ...]:
    """Return what the players are asked to agree to, as the kind of the request and the seat that made it.

    It is empty if they are asked nothing.
    """
    undo_or_pause = table.undo_request or table.pause_request
    # While a command waits for its draws, only the request to do without the beacon can be answered.
    request = table.seal_request if table.waiting_command else undo_or_pause
    return (type(request), request.seat) if request else ()


def _refuse_old_letter(locked: LockedTable, command: SeatCommand, move: Move) -> None:
    """Refuse a move or an undo that answers the letter of an earlier turn: its player had another position in mind."""
    turn = locked.seats[command.seat].open_since
    if command.answers is None or turn is None or command.answers == turn:
        return
    is_move = move.verb not in tables.RESERVED_VERBS
    if is_move or move.verb == "undo":
        raise Refused("This answers a letter of an earlier turn; please look at the newest one before you move.")
