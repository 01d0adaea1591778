"""What a player settles at his table: a private note, moves without asking, spectators, the gallery."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from sqlalchemy import update

from engine.refusal import Refused
from service.app import App
from service.people import letter_settings, register
from service.store import queries
from service.store.schema import tables
from service.tables import gallery
from service.tables.access import Place, player

LONGEST_NOTE = 4_000


def write(app: App, place: Place, text: str) -> None:
    """Store a note that no other player sees; an empty text deletes it."""
    note = register.clean_text(text)
    if len(note) > LONGEST_NOTE:
        raise Refused(
            "A note can have at most {most} letters; this one has {length}.", most=LONGEST_NOTE, length=len(note)
        )
    _keep(app, place, {"note": note})


def move_at_once(app: App, place: Place, wanted: bool) -> None:
    """Whether moves put together on this table's board are made without asking again."""
    with app.store.reading() as connection:
        kept = letter_settings.parse_table_settings(queries.list_seats(connection, place.table)[player(place)].wishes)
    _keep(app, place, {"wishes": letter_settings.dump_settings(replace(kept, at_once=wanted))})


def let_look_on(app: App, place: Place, allowed: bool) -> None:
    """Allow or forbid spectators."""
    with app.store.writing() as connection:
        if player(place) != queries.find_organiser(queries.list_seats(connection, place.table)):
            raise Refused("Only the player who opened this table can allow or forbid spectators.")
        connection.execute(update(tables).where(tables.c.id == place.table).values(watched=allowed))


def release(app: App, place: Place, agreed: bool) -> None:
    """Agree to show a finished game in the gallery, or take that back."""
    with app.store.writing() as connection:
        row = queries.lock_table(connection, place.table)
        gallery.set_released(connection, row, player(place), agreed)


def _keep(app: App, place: Place, changed: dict[str, Any]) -> None:
    with app.store.writing() as connection:
        queries.change_seat(connection, place.table, player(place), **changed)
