"""The time at which each player was last at the table, for the others there; a player can keep it private."""

from __future__ import annotations

from service.app import App
from service.people import letter_settings
from service.settings import DAY_S
from service.store import queries
from service.store.rows import SeatRow
from service.tables import access
from service.timing import HOUR_S

HERE_S = 600  # how long a player counts as being here
WRITE_PAUSE_S = 300  # between two notes about one seat


def is_shown(seat: SeatRow) -> bool:
    """Whether the others may know when this player was here."""
    return seat.status == "taken" and letter_settings.merge_settings(seat.player_wishes or "", seat.wishes).presence


def store_presence(app: App, link: str) -> None:
    """Store that the player of this link is here, at most once in five minutes and only if the others may know it.

    Pages call this every minute, so only the call that writes begins a transaction that locks.
    """
    with app.store.reading() as db:
        place = access.find_place(db, link)
        if place.seat is None:
            return
        seat = queries.list_seats(db, place.table)[place.seat]
    if is_shown(seat) and (seat.seen_at is None or app.now() - seat.seen_at >= WRITE_PAUSE_S):
        with app.store.writing() as db:
            queries.change_seat(db, place.table, place.seat, seen_at=app.now())


def find_age(app: App, seat: SeatRow) -> int | None:
    """Return how many seconds ago this player was here; None if it is not known or not shown."""
    return max(0, app.now() - seat.seen_at) if seat.seen_at is not None and is_shown(seat) else None


def find_next_change(age: int) -> int:
    """Return in how many seconds a page says another time: in steps of minutes, hours and days."""
    for step in (HERE_S, HOUR_S):
        if age < step:
            return step - age
    step = HOUR_S if age < DAY_S else DAY_S
    return step - age % step
