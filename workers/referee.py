"""The referee: judges every submission, one at a time for each table, and starts the game when all have sat down."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Connection, Row, select, update
from sqlalchemy.exc import OperationalError

from engine import menu as menus
from engine import table as tables
from engine.menu import Move
from engine.record import Table
from engine.refusal import Refused
from service.house import House
from service.store import book
from service.store.book import Verdict
from service.store.schema import submissions
from service.tables import clerk, sitting, standing_orders
from service.tables.clerk import STAND_INS, Desktop
from service.text import words
from service.text.languages import Said
from workers import answer, errands

ERRANDS = {"vacation": errands.vacation, "home": errands.home, "order": errands.order, "cancel": errands.cancel}
BACK = Move("back")
Submission = Row[Any]
log = structlog.get_logger()
FAULT = Said("This move met a fault of ours. Nothing was changed; the host has been told.")
DEADLY = Said("Our referee stopped several times over this move. Nothing was changed; please make another one.")
SUSPECT = 10  # seconds; a submission that waits longer may be what ends its referees
TRIES = 3

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
        if old := submission.at <= here.now() - SUSPECT:
            connection.execute(update(submissions).where(_is(submission)).values(tries=submission.tries + 1))
        else:
            desktop = _heard(here, connection, submission)
    if old:
        desktop = _tried(here, submission)
    here.bells.wake(submission.id)
    if desktop is not None:
        settled(here, desktop)
    return True


def _tried(here: House, submission: Submission) -> Desktop | None:
    """Judge a submission that may have ended whoever began with it before: that it was begun is noted already."""
    with here.store.writing() as connection:
        same = connection.execute(NEXT.where(_is(submission))).one_or_none()
        return None if same is None else _heard(here, connection, same)


def _is(submission: Submission) -> ColumnElement[bool]:
    return submissions.c.id == int(submission.id)


def _heard(here: House, connection: Connection, submission: Submission) -> Desktop | None:
    verdict, desktop = _judged(here, connection, submission)
    book.judge(connection, submission.id, verdict)
    return desktop


def settled(here: House, desktop: Desktop) -> None:
    """What follows once an entry is in the book for good."""
    here.shelf.put(desktop.row.id, desktop.table)
    here.bells.ring("post")
    if any(seat.open_since is not None and seat.status in STAND_INS for seat in desktop.seats):
        here.bells.ring("bots")


def _judged(here: House, connection: Connection, submission: Submission) -> tuple[Verdict, Desktop | None]:
    if submission.tries > TRIES:
        log.error("submission given up", submission=submission.id, table=submission.table)
        return Verdict(False, DEADLY), None
    desktop = clerk.take(connection, here.shelf, submission.table)
    assert desktop
    try:
        with connection.begin_nested():
            seq, entered = desktop.table.length, _done(here, desktop, submission)
            return Verdict(True, seq=seq if entered.table.length > seq else None), entered
    except Refused as refused:
        return Verdict(False, Said.of(refused), refused.rule), None
    except OperationalError:
        raise  # the database's trouble, not the submission's: it stays in line
    except Exception:
        log.exception("submission not judged", submission=submission.id, table=submission.table)
        return Verdict(False, FAULT), None


def _done(here: House, desktop: Desktop, submission: Submission) -> Desktop:
    """The submission done, and what others had ordered for this moment."""
    before, after = desktop.table, _entered(here, desktop, submission)
    if submission.move.casefold().startswith("order"):
        return standing_orders.follow(after, here.now(), here.settings)
    return followed(here, before, after)


def followed(here: House, before: Table, after: Desktop) -> Desktop:
    """What was ordered for this moment is done, where the game went on."""
    return standing_orders.follow(after, here.now(), here.settings) if _goes_on(before, after.table) else after


def _goes_on(before: Table, after: Table) -> bool:
    """Whether the game went on; where a move was taken back, or is asked back, nothing happens by itself."""
    if after.state is not before.state:
        return (after.last.seq if after.last else -1) >= (before.last.seq if before.last else -1)
    return before.paused != after.paused or before.seats != after.seats


def _entered(here: House, desktop: Desktop, submission: Submission) -> Desktop:
    seat, said = submission.seat, submission.move.split()
    errand = said[0].casefold()
    if errand == "sit":
        return sat(here, desktop, seat, said[1:])
    if errand in ERRANDS:
        refuse_closed(desktop)
        return ERRANDS[errand](here, desktop, seat, said[1:])
    if submission.seen is not None:
        _refuse_stale(desktop, seat, submission.seen)
    refuse_closed(desktop)
    move = _meant(desktop, seat, submission.move)
    if submission.seen is not None and move.verb in ("agree", "refuse"):
        _refuse_unasked(desktop, submission.seen)
    if not submission.key.startswith(f"{submission.table}/{seat}/bot/"):
        desktop = present(here, desktop, seat, move)
    return clerk.enter(desktop, seat, move, here.now(), here.settings)


def _meant(desktop: Desktop, seat: int, text: str) -> Move:
    """What the game offers goes before what the table does, so that short words stay short."""
    own, common = tables.menu(desktop.game, desktop.table, seat), tables.commands(desktop.table, seat)
    spoken = words.of(desktop.game, ())
    with suppress(Refused):
        return menus.from_text(own, text, spoken)
    try:
        return menus.from_text(own + common, text, spoken)
    except Refused:
        if own:
            raise
        raise Refused("It is not your turn; somebody else has to move first.") from None


def present(here: House, desktop: Desktop, seat: int, move: Move) -> Desktop:
    """Whoever moves is back; only who has resigned stays away."""
    chair = desktop.table.seats[seat]
    if chair.status == "resigned":
        raise Refused("This seat was given up; a bot plays on in it.")
    if move.verb not in tables.RESERVED and menus.allows(tables.commands(desktop.table, seat), BACK):
        return clerk.enter(desktop, seat, BACK, here.now(), here.settings)
    return desktop


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


def _refuse_unasked(desktop: Desktop, seen: int) -> None:
    """An answer is for what its page showed, not for what somebody asked since."""
    then = desktop.before(min(seen + 1, desktop.table.length))
    if _wish(then) != _wish(desktop.table):
        raise Refused("Something else is asked by now; look at the table again before you answer.")


def _wish(table: Table) -> tuple[object, ...]:
    wish = table.asked or table.pausing
    return (type(wish), wish.seat) if wish else ()


def sat(here: House, desktop: Desktop, seat: int, said: list[str]) -> Desktop:
    """Somebody took a seat, with a word for the dice."""
    return sitting.sat(desktop, seat, said[0] if said else "", here.now(), here.settings)
