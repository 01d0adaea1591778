"""The players on the page of a table: turns, scores, what is known about each seat, and the reader's own time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import url_for
from msgspec import Struct
from sqlalchemy import Connection

from service import timing
from service.people.proof import SignedIn
from service.settings import EMBEDDED
from service.store.rows import SeatRow
from service.tables import access, branch_orders, standing_orders
from service.tables.access import Place
from service.tables.branch_orders import OrdersOfBranch
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, Scene, Stage, list_players
from service.text.narration import Narrator
from service.timing import Calendar
from service.web.current_request import get_app
from service.web.plan_view import Fields, OrderPlanner, PlanStep


class SeatOrders(Struct, frozen=True):
    """The standing orders of a seat."""

    rows: Sequence[Any] = ()  # of the database, for all orders
    of_branches: Sequence[OrdersOfBranch] = ()  # the same for those that were made from branches, with their conditions


class PlayerLine(Struct, frozen=True):
    """A player, the score, and what is to be known about the seat."""

    player: Player
    is_you: bool
    score: int
    mat: str  # HTML: the cards, figures or coins in front of the player; empty if there are none
    is_to_move: bool
    due_at: int | None  # until when; None if the player is not to move, or has no deadline
    is_bot: bool
    level: str  # of a bot: easy, strong, or empty for normal
    has_resigned: bool
    away: tuple[str, str] | None  # the first and last day of the present or next vacation
    is_out: bool  # of the game
    bounces: bool  # whether letters come back
    seen_ago: int | None  # seconds since the player was here; None if the reader may not know it

    @property
    def is_here(self) -> bool:
        """Whether the player is at the table now, or was minutes ago."""
        return self.seen_ago is not None and self.seen_ago < access.HERE_S


def _find_seen_ago(place: Place, table: Snapshot, row: SeatRow) -> int | None:
    """Return how many seconds ago another player was here; None if that is not known, and for the reader's own seat.

    Spectators do not learn it, nor does anybody after the end.
    """
    may_know = place.seat is not None and row.seat != place.seat and table.position.phase != "over"
    return access.find_seen_ago(get_app(), row) if may_know else None


def list_player_lines(place: Place, table: Snapshot, stage: Stage) -> tuple[PlayerLine, ...]:
    """List the players of a table with their scores, in the order of the seats."""
    standing = table.game.standing(table.position.state)
    today = timing.find_local_date(Calendar(), get_app().now()).isoformat()  # in UTC
    return tuple(
        PlayerLine(
            player=player,
            is_you=row.seat == place.seat,
            score=stand.score,
            mat=stage.mats[row.seat],
            is_to_move=row.open_since is not None and table.position.phase != "over",
            due_at=row.due_at if row.open_since is not None else None,
            is_bot=row.status == "bot",
            level=row.level,
            has_resigned=row.status == "resigned",
            away=_find_vacation(table.position.seats[row.seat].vacations, today),
            is_out=bool(stand.out),
            bounces=row.bounced_at is not None,
            seen_ago=_find_seen_ago(place, table, row),
        )
        for player, row, stand in zip(list_players(table.names), table.seats, standing, strict=True)
    )


def _find_vacation(vacations: Sequence[tuple[str, str]], today: str) -> tuple[str, str] | None:
    """Return the first and the last day of the first vacation that is not over; None if there is none.

    Days are written as “2026-12-31”, so that a later one is greater.
    """
    for first, last in vacations:
        if last >= today:
            return first, last
    return None


class StandingOrder(Struct, frozen=True):
    """A standing order of the reader's seat."""

    id: int
    move: str


class OwnOrders(Struct, frozen=True):
    """The reader's standing orders, and with them the way to the settings of letters and vacations."""

    can_order: bool
    unconditional: tuple[StandingOrder, ...]
    of_branches: tuple[OrdersOfBranch, ...]
    settings_address: str  # empty if the reader has none, or has to sign in first
    has_settings: bool
    plan: tuple[PlanStep, ...]  # the orders, as the board shows them


def load_orders(db: Connection, place: Place, table: Snapshot) -> SeatOrders:
    """Load the standing orders of the reader's seat; none for spectators, bots, and after the end."""
    if place.seat is None or table.position.phase == "over" or table.seats[place.seat].status != "taken":
        return SeatOrders()
    rows = standing_orders.list_orders(db, place.table, place.seat)
    return SeatOrders(rows, branch_orders.list_orders(db, place, rows))


def list_planned_words(orders: SeatOrders) -> tuple[str, ...]:
    """List the words of the moves that are ordered, and of the moves for which they wait, each once.

    A move of another player that is partly hidden has no words.
    """
    moves: list[str] = [row.move for row in orders.rows]
    for of_branch in orders.of_branches:
        for order in of_branch.orders:
            moves += [move for _, move in order.given if move is not None]
    return tuple(dict.fromkeys(word for move in moves for word in move.split()))


def make_plan(
    place: Place, scene: Scene, narrator: Narrator, hidden_fields: Fields, orders: SeatOrders
) -> tuple[PlanStep, ...]:
    """List the orders as steps of a plan, whose forms send the hidden fields too; none for a reader without orders."""
    if place.seat is None or not orders.rows:
        return ()
    planner = OrderPlanner(place.link, scene.players, place.seat, narrator, hidden_fields)
    return planner.list_steps(orders.rows, orders.of_branches)


def make_own_orders(
    place: Place, table: Snapshot, signed_in: SignedIn | None, orders: SeatOrders, plan: tuple[PlanStep, ...]
) -> OwnOrders | None:
    """Describe the reader's orders and settings; None for spectators, after the game, and for a player who has left."""
    if place.seat is None or table.position.phase == "over":
        return None
    seat = table.seats[place.seat]
    if seat.status not in ("taken", "bot"):
        return None
    return OwnOrders(
        can_order=seat.status == "taken",
        unconditional=tuple(StandingOrder(row.id, row.move) for row in orders.rows if not row.after),
        of_branches=tuple(orders.of_branches),
        settings_address=_find_settings_address(seat, signed_in),
        has_settings=seat.person is not None,
        plan=plan,
    )


def _find_settings_address(seat: SeatRow, signed_in: SignedIn | None) -> str:
    """Return the address of the settings of this seat's person; empty if the person is not signed in on this device.

    The link of the seat is no proof, because another player may have typed the person's address. A server that sends no
    letters, so that no address can be proven there, always gives the settings.
    """
    app = get_app()
    if seat.person is None:
        return ""
    if signed_in is not None and signed_in.id == seat.person:
        number = signed_in.settings_number
    elif app.settings.smtp == EMBEDDED:
        number = seat.settings_number or 0  # None if the seat is not proven
    else:
        return ""
    token = app.links.make_preferences_token(seat.person, number)
    return url_for("preferences.show", token=token, table=seat.table)


def has_other_player(place: Place, table: Snapshot) -> bool:
    """Return whether a person was invited to another seat by an address, or has taken one."""
    others = [row for row in table.seats if row.seat != place.seat]
    return any(row.person is not None or table.position.seats[row.seat].has_player for row in others)
