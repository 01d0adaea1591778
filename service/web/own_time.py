"""A seat's own time: its standing orders, which the board shows as a plan, and the way to its player's settings."""

from __future__ import annotations

from typing import Any

from flask import url_for
from msgspec import Struct
from sqlalchemy import Connection

from service.people.proof import SignedIn
from service.settings import EMBEDDED
from service.store.rows import SeatRow
from service.tables import branches, standing_orders
from service.tables.access import Place
from service.tables.branches import OrdersOfBranch
from service.tables.snapshots import Snapshot
from service.text.drawing import Scene
from service.text.narration import Narrator
from service.web.plan_view import Fields, OrderPlanner, PlanStep
from service.web.rendering import get_app

Orders = tuple[list[Any], list[OrdersOfBranch]]  # all rows, and those from branches


class StandingOrder(Struct, frozen=True):
    """A standing order of the reader's seat."""

    id: int
    move: str


class OwnTime(Struct, frozen=True):
    """The reader's own time: standing orders, and the way to the settings of letters and vacations."""

    can_order: bool
    orders: tuple[StandingOrder, ...]
    intentions: tuple[OrdersOfBranch, ...]
    settings: str  # address; empty if the reader has to sign in first
    has_settings: bool
    plan: tuple[PlanStep, ...]  # the orders, as the board shows them


def load_orders(db: Connection, place: Place, table: Snapshot) -> Orders:
    """The standing orders of the reader's seat in a running game."""
    if place.seat is None or table.position.phase == "over" or table.seats[place.seat].status != "taken":
        return [], []
    rows = standing_orders.list_orders(db, place.table, place.seat)
    return rows, branches.list_orders(db, place, rows)


def list_planned_words(orders: Orders) -> tuple[str, ...]:
    """List the words of the moves that are ordered, each once."""
    return tuple(dict.fromkeys(word for row in orders[0] for word in row.move.split()))


def plan_orders(place: Place, scene: Scene, narrator: Narrator, hidden: Fields, orders: Orders) -> tuple[PlanStep, ...]:
    """List the orders as steps of a plan; none for a reader without any."""
    if place.seat is None or not orders[0]:
        return ()
    return OrderPlanner(place.link, scene.players, place.seat, narrator, hidden).list_steps(*orders)


def make_own_time(
    place: Place, table: Snapshot, visitor: Any, orders: Orders, plan: tuple[PlanStep, ...]
) -> OwnTime | None:
    """The reader's own time; None for spectators, after the game, and for a player who has left."""
    if place.seat is None or table.position.phase == "over":
        return None
    seat = table.seats[place.seat]
    if seat.status not in ("taken", "bot"):
        return None
    return OwnTime(
        can_order=seat.status == "taken",
        orders=tuple(StandingOrder(row.id, row.move) for row in orders[0] if not row.after),
        intentions=tuple(orders[1]),
        settings=_find_settings_address(seat, visitor) if seat.person is not None else "",
        has_settings=seat.person is not None,
        plan=plan,
    )


def _find_settings_address(seat: SeatRow, visitor: SignedIn | None) -> str:
    """The address of this person's settings; empty if another may have taken the seat with the person's address.

    On this device the person must have signed in, or the server sends no letters, so that nothing could be proven.
    """
    app = get_app()
    if app.settings.smtp != EMBEDDED and (visitor is None or visitor.id != seat.person):
        return ""
    token = app.links.make_preferences_token(seat.person or 0, seat.settings_number or 0)
    return url_for("preferences.show", token=token, table=seat.table)
