"""The gallery: finished games whose players show them to everybody."""

from __future__ import annotations

import functools

from flask import Blueprint, Response, make_response, redirect, request, url_for
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from service import numbers
from service.tables import access, snapshots
from service.tables import gallery as hanging
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, Scene, board_svg, players
from service.text.languages import LANGUAGES, SOURCE, in_game
from service.web.rendering import get_app, language, page
from service.web.replica import from_replica

gallery = Blueprint("gallery", __name__, url_prefix="/gallery")


class GalleryPicture(Struct, frozen=True):
    """A game as it hangs in the gallery: who played it, and in which places they ended."""

    table: str
    title: str
    ended_at: int
    length: int
    ranks: tuple[tuple[int, Player], ...]


@gallery.get("")
@from_replica
def hall() -> Response:
    """The games that ended last, some on a page."""
    text = request.args.get("page", "")
    number = max(numbers.read(text, 99_999) or 1, 1)
    with get_app().store.reading() as connection:
        found, more = hanging.hung(connection, number - 1)
    pictures = [_picture(snapshots.look(get_app(), table)) for table in found]
    return page("gallery.html", pictures=pictures, number=number, more=more)


@gallery.get("/<table>")
def game(table: str) -> Reply:
    """The game, move by move, by a link that holds no secret."""
    access.find(get_app(), hanging.link(table))
    return redirect(url_for("replay.show", link=hanging.link(table)))


@gallery.get("/<table>.svg")
@from_replica
def board(table: str) -> Response:
    """The board as the game left it."""
    spoken = request.args.get("in", SOURCE)
    access.find(get_app(), hanging.link(table))
    names = snapshots.look(get_app(), table).names
    response = make_response(_drawn(table, names, spoken if spoken in LANGUAGES else SOURCE))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "private, max-age=3600"
    return response


@functools.lru_cache(maxsize=200)
def _drawn(table: str, names: tuple[str, ...], spoken: str) -> str:
    look = snapshots.look(get_app(), table)
    view = look.game.view(look.table.state, None)
    return board_svg(Scene(look.game, view, players(names), language=spoken))


def _picture(look: Snapshot) -> GalleryPicture:
    seated = players(look.names)
    ranks = sorted((place, seat) for seat, place in enumerate(look.table.places))
    return GalleryPicture(
        table=look.row.id,
        title=in_game(language(), look.game.META.name, look.game.META.title),
        ended_at=look.row.ended_at or 0,
        length=look.row.length,
        ranks=tuple((place, seated[seat]) for place, seat in ranks),
    )
