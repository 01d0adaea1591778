"""Foresight: a branch of what if turned into standing orders, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from engine.game import Game
from engine.record import Table
from engine.refusal import Refused
from service.plans import branches
from service.plans.branches import Branch, Line
from service.tables import clerk, order_conditions, standing_orders
from service.tables.desk import Desk, Place
from service.tables.order_conditions import Plan


class Intended(Struct, frozen=True):
    """An order of a branch: what the others have to do before it holds, and the move."""

    id: int
    given: tuple[tuple[int, str | None], ...]
    move: str


class Intention(Struct, frozen=True):
    """What a seat wants done in one branch, if that is still there; `left` where the game has gone another way."""

    number: int
    branch: Branch | None
    intended: tuple[Intended, ...]
    left: bool


def keep(desk: Desk, place: Place, number: int) -> int:
    """Make this seat's own moves of a branch its standing orders; the result is how many there are."""
    look, branch = desk.look(place.table), branches.find(desk, place, number)
    if look.table.phase != "playing":
        raise Refused("The game is over; there is nothing left to order.")
    then, line = desk.past(look, branch.seq), branches.line(desk, look, branch)
    with desk.store.writing() as connection:
        desktop = clerk.take(connection, desk.shelf, place.table)
        assert desktop
        planned = list(drawn(look.game, then, branch, line))
        stand = standing_orders.statuses(desktop, branch.seat, planned)
        if "left" in stand:
            raise Refused("The game has gone another way than this branch; begin one from the position as it is now.")
        coming = [one for one, status in zip(planned, stand, strict=True) if status != "done"]
        if not coming:
            raise Refused("No move of your own is still to come in this branch; make one first.")
        desktop = standing_orders.plan(desktop, branch.seat, branch.id, coming, desk.now())
        desktop = standing_orders.follow(desktop, desk.now(), desk.settings)
    desk.shelf.put(place.table, desktop.table)
    for bell in ("post", "bots"):
        desk.bells.ring(bell)
    return len(coming)


def drawn(game: Game, then: Table, branch: Branch, line: Line) -> Iterator[tuple[str, Plan]]:
    """The own moves of a branch, each with the plan it belongs to; `then` is the table where the branch begins."""
    me, since, heard = branch.seat, then.last.seq if then.last else -1, list[tuple[int, str | None]]()
    for (seat, text), state, events in zip(branch.moves, line.states, line.events, strict=False):
        if seat == me:
            yield text, Plan(since, tuple(heard), order_conditions.sight(game, state, me))
        heard.append(order_conditions.as_heard(game, seat, text, events, me))


def forget(desk: Desk, place: Place, number: int) -> None:
    """Drop the orders of a branch, whether or not it is still there."""
    if place.seat is None:
        raise Refused("This link is for looking on; only players have orders.")
    with desk.store.writing() as connection:
        desktop = clerk.take(connection, desk.shelf, place.table)
        assert desktop
        standing_orders.forget(desktop, place.seat, number)


def intentions(desk: Desk, place: Place) -> list[Intention]:
    """What this seat wants done branch by branch, in the order in which it was wanted."""
    planned = [(row, plan) for row in desk.orders(place) if (plan := order_conditions.read(row.after))]
    known = {branch.id: branch for branch in branches.of(desk, place)} if planned else {}
    found = []
    for number in dict.fromkeys(row.branch for row, _ in planned):
        own = [(row, plan) for row, plan in planned if row.branch == number]
        intended = tuple(Intended(row.id, _given(plan, place.seat), row.move) for row, plan in own)
        found.append(Intention(number, known.get(number), intended, own[0][1].left))
    return found


def _given(plan: Plan, seat: int | None) -> tuple[tuple[int, str | None], ...]:
    """What the others do between the own move before and this one."""
    since = next((place for place in range(len(plan.heard), 0, -1) if plan.heard[place - 1][0] == seat), 0)
    return plan.heard[since:]
