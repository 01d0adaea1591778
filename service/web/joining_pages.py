"""An open table: a form for guests with its link, and a button that fills it with bots for its organiser."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.people import register
from service.store import queries
from service.tables import access
from service.tables import joining as seats
from service.tables.access import Place, Unknown
from service.tables.opening import Invited
from service.tables.snapshots import Snapshot
from service.text.drawing import players
from service.text.languages import in_game
from service.web.rendering import get_app, language, page

joining = Blueprint("joining", __name__)


@joining.get("/join/<token>")
def show(token: str) -> Response:
    """Who plays so far, and the form."""
    return _page(token, None, 200)


@joining.post("/join/<token>")
def join(token: str) -> Reply:
    """Sit down, and go to one's seat."""
    form = request.form
    guest = Invited(form.get("name", ""), form.get("address", ""), form.get("nonce", ""))
    try:
        link = seats.join(get_app(), token, guest, language())
    except Unknown:
        raise
    except Refused as refused:
        return _page(token, refused, 422)
    return redirect(url_for("table.show", link=link), 303)


@joining.post("/t/<link>/fill")
def fill(link: str) -> Reply:
    """Bots take the seats that are still free."""
    seats.fill(get_app(), access.find(get_app(), link))
    return redirect(url_for("table.show", link=link), 303)


def waiting(place: Place, look: Snapshot) -> dict[str, Any]:
    """What a table waits for besides moves: an address to be confirmed, and players for its free seats."""
    own = place.seat is not None and place.seat == queries.organiser(look.seats)
    free = look.table.phase == "gathering" and any(seat.status == seats.FREE for seat in look.seats)
    token = get_app().links.join(look.row.id)
    return {
        "awaited": register.unproven(get_app(), None if place.seat is None else look.seats[place.seat].person),
        "held": bool(look.row.held) and own,
        "join": get_app().settings.address + url_for("joining.show", token=token) if own and free else "",
    }


def _page(token: str, error: Refused | None, status: int) -> Response:
    look = seats.opened(get_app(), token)
    return page(
        "join.html",
        status,
        meta=look.game.META,
        title=in_game(language(), look.game.META.name, look.game.META.title),
        row=look.row,
        seats=look.seats,
        players=players(look.names),
        options=look.table.options,
        clock=look.clock,
        public=look.table.beacon is not None,
        me=None,
        form=request.form,
        error=error,
    )
