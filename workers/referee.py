"""The referee: judges every submission, one at a time for each table, and starts the game when all have sat down."""

from __future__ import annotations

import structlog
from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import OperationalError

from engine import menu as menus
from engine import table as tables
from engine.menu import Move
from engine.refusal import Refused
from service import clerk, words
from service.clerk import STAND_INS, Desktop
from service.house import House
from service.languages import Said
from service.store import book
from service.store.book import Verdict
from service.store.schema import submissions
from workers import answer

Submission = Row[tuple[object, ...]]
log = structlog.get_logger()
FAULT = Said("This move met a fault of ours. Nothing was changed; the host has been told.")

NEXT = (
    select(submissions)
    .where(submissions.c.accepted.is_(None))
    .order_by(submissions.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)


def hear() -> None:
    """Judge everything that waits for a verdict."""
    answer("referee", hear_one)


def hear_one(here: House) -> bool:
    """Judge one submission, if any waits."""
    with here.store.writing() as connection:
        submission = connection.execute(NEXT).one_or_none()
        if submission is None:
            return False
        verdict, desktop = _judged(here, connection, submission)
        book.judge(connection, submission.id, verdict)
    here.bells.wake(submission.id)
    if desktop is not None:
        settled(here, desktop)
    return True


def settled(here: House, desktop: Desktop) -> None:
    """What follows once an entry is in the book for good."""
    here.shelf.put(desktop.row.id, desktop.table)
    here.bells.ring("post")
    if any(seat.open_since is not None and seat.status in STAND_INS for seat in desktop.seats):
        here.bells.ring("bots")


def _judged(here: House, connection: Connection, submission: Submission) -> tuple[Verdict, Desktop | None]:
    desktop = clerk.take(connection, here.shelf, submission.table)
    assert desktop
    try:
        with connection.begin_nested():
            seq = desktop.table.length
            return Verdict(True, seq=seq), _entered(here, desktop, submission)
    except Refused as refused:
        return Verdict(False, Said.of(refused), refused.rule), None
    except OperationalError:
        raise  # the database's trouble, not the submission's: it stays in line
    except Exception:
        log.exception("submission not judged", submission=submission.id, table=submission.table)
        return Verdict(False, FAULT), None


def _entered(here: House, desktop: Desktop, submission: Submission) -> Desktop:
    seat, said = submission.seat, submission.move.split()
    if said[0].casefold() == "sit":
        return sat(here, desktop, seat, said[1:])
    if submission.seen is not None:
        _refuse_stale(desktop, seat, submission.seen)
    refuse_closed(desktop)
    move = _read(desktop, seat, submission.move)
    return clerk.enter(desktop, seat, move, here.now(), here.settings)


def _read(desktop: Desktop, seat: int, text: str) -> Move:
    """The move or command these words mean for that seat."""
    menu = tables.menu(desktop.game, desktop.table, seat)
    try:
        return menus.from_text(menu + tables.commands(desktop.table, seat), text, words.of(desktop.game, ()))
    except Refused:
        if menu:
            raise
        raise Refused("It is not your turn; somebody else has to move first.") from None


def refuse_closed(desktop: Desktop) -> None:
    """Before the game and after it nothing can be moved."""
    if desktop.table.phase == "over":
        raise Refused("The game is over; nothing can be moved any more.")
    if desktop.table.phase != "playing":
        raise Refused("The game has not begun yet; somebody still has to sit down.")


def _refuse_stale(desktop: Desktop, seat: int, seen: int) -> None:
    """A page is stale only if what this seat sees, or may do, is not what it saw then."""
    game, now = desktop.game, desktop.table
    if seen >= now.length - 1 or now.phase != "playing":
        return
    then = desktop.before(seen + 1)
    same = (
        then.phase == now.phase
        and game.view(then.state, seat) == game.view(now.state, seat)
        and game.menu(then.state, seat) == game.menu(now.state, seat)
    )
    if not same:
        raise Refused("The table has changed since your page was drawn; look at it again before you move.")


def sat(here: House, desktop: Desktop, seat: int, said: list[str]) -> Desktop:
    """Somebody took a seat; when it was the last one, the game begins."""
    if desktop.table.phase != "gathering" or desktop.table.seats[seat].status != "empty":
        raise Refused("You have sat down already.")
    nonce = said[0] if said else ""
    desktop = clerk.enter(desktop, None, Move("sit", (str(seat), nonce)), here.now(), here.settings)
    if all(chair.status != "empty" for chair in desktop.table.seats):
        desktop = clerk.enter(desktop, None, Move("start"), here.now(), here.settings)
    return desktop
