"""The one judge: every command of a seat or of the house is carried out here, wherever it comes from.

A caller locks a table with `lock`, judges commands, and calls `settle` after the commit; `at_table` does both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct
from sqlalchemy import Connection

from engine import menu as menus
from engine import table as tables
from engine.menu import Move
from engine.record import Table
from engine.refusal import Refused
from service import beacon
from service.app import App
from service.store.appending import attempt
from service.store.queries import Verdict
from service.tables import clerk, seat_commands, sitting, standing_orders
from service.tables.access import moved
from service.tables.clerk import BOT_STATUSES, LockedTable
from service.text import words
from service.text.languages import Said

BACK = Move("back")
FREED = ("referee", "inbox", "post")  # bells of those who pass over a table that is held, and of what became owed there


class SeatCommand(Struct, frozen=True):
    """What a seat asks for, in words, and which position its player had before him.

    `seen` is the last entry on his page; `answers` is the entry that began the turn whose letter he answered.
    """

    seat: int
    text: str
    seen: int | None = None
    answers: int | None = None
    by_bot: bool = False


class Work:
    """A locked table that a caller of `at_table` replaces as commands are carried out."""

    def __init__(self, locked: LockedTable) -> None:
        self.locked = locked


Lock = Callable[[App, Connection, str], LockedTable]
lock = clerk.lock


@contextmanager
def at_table(app: App, table: str, take: Lock = clerk.lock) -> Iterator[Work]:
    """One transaction at one table; after its commit the new position is cached and the bells ring."""
    with app.store.writing() as connection:
        work = Work(take(app, connection, table))
        yield work
    settle(app, [work.locked])
    for queue in FREED:
        app.wakeups.wake(queue)


def settle(app: App, found: Sequence[LockedTable]) -> None:
    """What follows a commit: positions are cached, open pages are told, and bells ring for letters and bots."""
    for locked in found:
        app.caches.newest.put(locked.row.id, locked.table)
    app.wakeups.announce(*(locked.row.id for locked in found))
    if any(locked.urgent for locked in found):
        app.wakeups.wake("post")
    if any(seat.open_since is not None and seat.status in BOT_STATUSES for locked in found for seat in locked.seats):
        app.wakeups.wake("bots")


def judge(locked: LockedTable, command: SeatCommand) -> tuple[Verdict, LockedTable]:
    """Carry a command out; one that is refused leaves the table as it was."""
    length = locked.table.length
    try:
        with attempt(locked.connection):
            after = carry_out(locked, command)
    except Refused as refused:
        return Verdict(False, Said.of(refused), refused.rule), locked
    return Verdict(True, seq=length if after.table.length > length else None), after


def carry_out(locked: LockedTable, command: SeatCommand) -> LockedTable:
    """The table after a command of a seat and the standing orders that follow it; raises Refused."""
    if locked.row.moved_to:
        raise moved(locked.row.moved_to)
    verb, *args = command.text.split()
    verb = verb.casefold()
    if verb == "sit":
        return go_on(locked, sitting.sit(locked, command.seat, args[0] if args else ""))
    if verb == "refuse" and locked.table.phase == "gathering" and not locked.table.waiting_command:
        return sitting.decline(locked, command.seat)
    if verb in seat_commands.COMMANDS:
        after = seat_commands.carry_out(locked, command.seat, verb, args)
        return standing_orders.follow(after) if verb == "order" else go_on(locked, after)
    return go_on(locked, _moved(locked, command))


def by_server(locked: LockedTable, *moves: Move) -> LockedTable:
    """The table after commands of the house and the standing orders that follow them."""
    after = locked
    for move in moves:
        after = clerk.enter(after, None, move)
    return go_on(locked, after)


def go_on(before: LockedTable, after: LockedTable) -> LockedTable:
    """Follow standing orders where the game went on; after a move taken back nothing happens by itself."""
    return standing_orders.follow(after) if _went_on(before.table, after.table) else after


def _went_on(before: Table, after: Table) -> bool:
    if after.state is not before.state:
        return (after.last.seq if after.last else -1) >= (before.last.seq if before.last else -1)
    return before.paused != after.paused or before.seats != after.seats


def _moved(locked: LockedTable, command: SeatCommand) -> LockedTable:
    """The table after a move of the game or a command of the table such as undo."""
    seat_commands.refuse_closed(locked)
    then = _on_the_page(locked, command)
    _refuse_old_page(locked, then, command.seat)
    move = _read(locked, command)
    _refuse_early_sealing(locked, move)
    _refuse_old_question(locked, then, move)
    _refuse_old_letter(locked, command, move)
    if not command.by_bot:
        locked = _returned(locked, command.seat, move)
    return clerk.enter(locked, command.seat, move)


def _on_the_page(locked: LockedTable, command: SeatCommand) -> Table:
    """The position that the player had before him."""
    if command.seen is None or command.seen >= locked.table.length - 1:
        return locked.table
    return locked.before(command.seen + 1)


def _read(locked: LockedTable, command: SeatCommand) -> Move:
    """The move these words mean; moves of the game go before commands of the table, so that short words stay short."""
    own = tables.menu(locked.game, locked.table, command.seat)
    spoken = words.of(locked.game, ())
    with suppress(Refused):
        return menus.parse_move(own, command.text, spoken)
    try:
        return menus.parse_move(own + tables.list_commands(locked.table, command.seat), command.text, spoken)
    except Refused:
        if own:
            raise
        if locked.table.waiting_command:
            raise tables.explain_waiting(locked.table.waiting_command) from None
        raise Refused("It is not your turn; somebody else has to move first.") from None


def _returned(locked: LockedTable, seat: int, move: Move) -> LockedTable:
    """A player who moves takes his seat back from the bot, unless he has resigned."""
    if locked.table.seats[seat].status == "resigned":
        raise Refused("This seat was given up; a bot plays on in it.")
    if move.verb not in tables.RESERVED_VERBS and menus.allows(tables.list_commands(locked.table, seat), BACK):
        return clerk.enter(locked, seat, BACK)
    return locked


def _refuse_old_page(locked: LockedTable, then: Table, seat: int) -> None:
    """A page is old only if what this seat sees, or may do, has changed since it was drawn."""
    game, now = locked.game, locked.table
    same = then is now or (
        then.phase == now.phase
        and game.view(then.state, seat) == game.view(now.state, seat)
        and game.menu(then.state, seat) == game.menu(now.state, seat)
    )
    if not same:
        raise Refused("The table has changed since your page was drawn; look at it again before you move.")


def _refuse_old_question(locked: LockedTable, then: Table, move: Move) -> None:
    """An answer is for the question on the page, not for one that was asked since."""
    if move.verb in ("agree", "refuse") and _asked(then) != _asked(locked.table):
        raise Refused("Something else is asked by now; look at the table again before you answer.")


def _refuse_early_sealing(locked: LockedTable, move: Move) -> None:
    """Nobody gives up the beacon that is on time."""
    due = (
        locked.table.beacon.time_of(locked.table.waiting_command.round)
        if locked.table.beacon and locked.table.waiting_command
        else 0
    )
    if move.verb == "sealed" and locked.now < due + beacon.LATE:
        minutes = -(-(due + beacon.LATE - locked.now) // 60)
        raise Refused(
            "The public beacon is not late yet; if its round is still missing in {minutes} minutes, ask again.",
            minutes=minutes,
        )


def _asked(table: Table) -> tuple[object, ...]:
    wish = table.seal_request if table.waiting_command else table.undo_request or table.pause_request
    return (type(wish), wish.seat) if wish else ()


def _refuse_old_letter(locked: LockedTable, command: SeatCommand, move: Move) -> None:
    """An answer to the letter of an earlier turn was written with another position in mind."""
    since = locked.seats[command.seat].open_since
    if command.answers is None or since is None or command.answers == since:
        return
    if move.verb == "undo" or move.verb not in tables.RESERVED_VERBS:
        raise Refused("This answers a letter of an earlier turn; please look at the newest one before you move.")
