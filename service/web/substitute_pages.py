"""An offered seat: the board as a spectator sees it, and a form to take the seat."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.tables import substitutes as seats
from service.tables.access import Unknown
from service.tables.opening import Invited
from service.text.drawing import Scene, Voice, board_svg, players
from service.web.rendering import get_app, language, page

substitutes = Blueprint("substitutes", __name__, url_prefix="/offer/<token>")


@substitutes.get("")
def show(token: str) -> Response:
    """The seat, the board as all may see it, and the form."""
    return _page(token, None, 200)


@substitutes.post("")
def take(token: str) -> Reply:
    """Sit down, and go to one's seat."""
    guest = Invited(request.form.get("name", ""), request.form.get("address", ""))
    try:
        return redirect(url_for("table.show", link=seats.take(get_app(), token, guest, language())), 303)
    except Unknown:
        raise
    except Refused as refused:
        return _page(token, refused, 422)


def _page(token: str, error: Refused | None, status: int) -> Response:
    look, seat = seats.offered(get_app(), token)
    view = look.game.view(look.table.state, None)
    shown = players(look.names)
    return page(
        "offer.html",
        status,
        meta=look.game.META,
        row=look.row,
        seat=seat,
        players=shown,
        options=look.table.options,
        clock=look.clock,
        public=look.table.beacon is not None,
        me=None,
        form=request.form,
        error=error,
        svg=Markup(board_svg(Scene(look.game, view, shown, None, (), language()))),  # noqa: S704 - our own template
        alt=Voice(look.game, look.names, language(), None).alt(view),
        standing=look.game.standing(look.table.state),
    )
