"""The JSON interface, version 1: for bots, and for whoever writes another page."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from flask import Blueprint, Response, make_response, request
from msgspec import Meta, Struct

from engine import catalogue
from engine import menu as menus
from engine import table as tables
from engine.options import describe
from engine.reading import reader
from engine.refusal import Refused
from service import people
from service.desk import Invited, Look, Place
from service.timing import Clock
from service.web.pages import house

api = Blueprint("api", __name__, url_prefix="/api/v1")
Line = Annotated[str, Meta(max_length=2_000)]


class Guest(Struct, forbid_unknown_fields=True):
    name: Line
    address: Line = ""


class Opening(Struct, forbid_unknown_fields=True):
    """A table to be opened; a guest without an address is a bot. A clock says more than a pace, and goes before it.

    Where it is not `watched`, the link for looking on leads nowhere.
    """

    game: Line
    players: Annotated[list[Guest], Meta(min_length=1, max_length=12)]
    options: dict[str, str | int | bool] = {}
    pace: Annotated[int, Meta(ge=0, le=31_536_000)] | None = None
    clock: Clock | None = None
    watched: bool = True


class Command(Struct, forbid_unknown_fields=True):
    """A move in its text form, the entry last seen, and a key that makes sending it twice the same as once."""

    move: Line
    seen: Annotated[int, Meta(ge=0, le=2**31)] | None = None
    key: Annotated[str, Meta(max_length=80)] = ""


class Sitting(Struct, forbid_unknown_fields=True):
    nonce: Line = ""


def _body(kind: Any) -> Any:
    try:
        return reader(kind).decode(request.get_data())
    except msgspec.DecodeError as error:
        raise Refused("This is not the JSON that belongs here: {why}", why=error) from error


def _answer(what: Any, status: int = 200) -> Response:
    response = make_response(msgspec.json.encode(what), status)
    response.headers["Content-Type"] = "application/json"
    response.headers["Cache-Control"] = "no-store"
    return response


@api.get("/games")
def games() -> Response:
    """The games and their options."""
    return _answer(
        [
            {"name": name, "title": game.META.title, "seats": game.META.seats, "options": describe(game.META.options)}
            for name, game in catalogue.games().items()
        ]
    )


@api.post("/tables")
def open_table() -> Response:
    """Open a table; the answer holds the link of every seat, so keep it to yourself."""
    opening: Opening = _body(Opening)
    guests = [Invited(guest.name, guest.address) for guest in opening.players]
    clock = opening.clock or opening.pace
    opened = house().desk.open_table(opening.game, opening.options, guests, clock, watched=opening.watched)
    return _answer(opened, 201)


@api.get("/t/<link>")
def view(link: str) -> Response:
    """What this seat may know and do."""
    place = house().desk.find(link)
    return _answer(_seen(place, house().desk.look(place.table)))


@api.post("/t/<link>/sit")
def sit(link: str) -> Response:
    """Take the seat."""
    place = house().desk.find(link)
    sitting: Sitting = _body(Sitting)
    word = people.clean_nonce(sitting.nonce, place.link[:16])
    return _verdict(house().desk.submit(place, f"sit {word}", f"sit/{link}"))


@api.post("/t/<link>/moves")
def submit(link: str) -> Response:
    """Hand a move in; 200 accepted, 422 refused, 202 still being checked."""
    place = house().desk.find(link)
    command: Command = _body(Command)
    return _verdict(house().desk.submit(place, command.move, command.key, command.seen))


@api.get("/t/<link>/log")
def export(link: str) -> Response:
    """The log as this seat may keep it."""
    return _answer(house().desk.export(house().desk.find(link)))


def _verdict(submission: int) -> Response:
    verdict = house().desk.verdict(submission)
    if verdict is None:
        return _answer({"submission": submission, "accepted": None}, 202)
    if not verdict.accepted:
        return _answer(
            {"submission": submission, "accepted": False, "refused": verdict.said, "rule": verdict.rule}, 422
        )
    return _answer({"submission": submission, "accepted": True, "seq": verdict.seq})


def _seen(place: Place, look: Look) -> dict[str, Any]:
    begun = look.table.phase in ("playing", "over")
    seat = place.seat
    menu = tables.menu(look.game, look.table, seat) if seat is not None else ()
    return {
        "table": place.table,
        "game": look.row.game,
        "seat": seat,
        "phase": look.table.phase,
        "length": look.row.length,
        "receipt": look.row.head,
        "players": look.names,
        "to_move": [one.seat for one in look.seats if one.open_since is not None],
        "due": [one.due_at for one in look.seats],
        "clock": look.clock,
        "places": look.table.places,
        "standing": look.game.standing(look.table.state) if begun else [],
        "view": look.game.view(look.table.state, seat) if begun else None,
        "menu": menu,
        "moves": [str(move) for move in menus.moves(menu)] if menus.count(menu) <= 1_000 else [],
        "commands": [entry.verb for entry in tables.commands(look.table, seat)] if seat is not None else [],
    }
