"""Forms beside the board: talk, a private note, and a player's settings at this table."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response as Reply

from service.tables import access, gallery, talk
from service.tables import seat_settings as settled
from service.tables.access import Place
from service.tables.snapshots import Snapshot
from service.text.drawing import players
from service.text.languages import in_game
from service.web.rendering import get_app, language

seat_forms = Blueprint("seat", __name__, url_prefix="/t/<link>")


@seat_forms.post("/talk")
def say(link: str) -> Reply:
    """Say something to the others at the table."""
    talk.say(get_app(), access.find(get_app(), link), request.form.get("text", ""))
    return _back(link, "talk")


@seat_forms.post("/note")
def note(link: str) -> Reply:
    """Keep a private note."""
    settled.write(get_app(), access.find(get_app(), link), request.form.get("note", ""))
    return _back(link, "note")


@seat_forms.post("/at-once")
def at_once(link: str) -> Reply:
    """Move without being asked again, or be asked again."""
    settled.move_at_once(get_app(), access.find(get_app(), link), _wanted())
    return _back(link, "own")


@seat_forms.post("/watched")
def watched(link: str) -> Reply:
    """Allow or forbid spectators."""
    settled.let_look_on(get_app(), access.find(get_app(), link), _wanted())
    return _back(link, "own")


@seat_forms.post("/released")
def released(link: str) -> Reply:
    """Show the finished game in the gallery, or not any more."""
    settled.release(get_app(), access.find(get_app(), link), _wanted())
    return _back(link, "released")


def heading(place: Place, look: Snapshot) -> dict[str, Any]:
    """The heading of every page of a table: the game, the players, and the seat of the reader."""
    return {
        "link": place.link,
        "me": place.seat,
        "meta": look.game.META,
        "title": in_game(language(), look.game.META.name, look.game.META.title),
        "players": players(look.names),
        "phase": look.table.phase,
    }


def around(place: Place, look: Snapshot) -> dict[str, Any]:
    """Talk, note and settings for the page of a player; empty for spectators."""
    if place.seat is None:
        return {"remarks": (), "spoken": 0, "note": "", "at_once": False, "shown": None}
    with get_app().store.reading() as connection:
        remarks = talk.newest(connection, place.table)
        hangs = look.table.phase == "over" and gallery.table_of(connection, gallery.link(place.table)) is not None
    return {
        "remarks": remarks,
        "spoken": remarks[-1].id if remarks else 0,
        "note": look.seats[place.seat].note,
        "at_once": look.table.phase == "playing" and settled.moves_at_once(get_app(), place, look),
        "shown": gallery.link(place.table) if hangs else None,
    }


def spoken(place: Place) -> int:
    """A number that grows with every remark at the table; 0 for spectators."""
    if place.seat is None:
        return 0
    with get_app().store.reading() as connection:
        return talk.number(connection, place.table)


def _wanted() -> bool:
    return request.form.get("wanted") == "yes"


def _back(link: str, section: str) -> Reply:
    return redirect(url_for("table.show", link=link, _anchor=section), 303)
