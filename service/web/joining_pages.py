"""Free seats: an open table to join by its link, and a seat that is offered to a substitute."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from markupsafe import Markup
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.tables import access
from service.tables import joining as open_seats
from service.tables.access import Unknown
from service.tables.opening import Invited
from service.text.drawing import Player, Scene, draw_board_svg, list_players
from service.text.languages import translate_in_game
from service.text.narration import Narrator
from service.timing import Clock
from service.web.about_table import AboutTable, Chair, chairs, describe_table
from service.web.rendering import game_title, get_app, language, render

joining = Blueprint("joining", __name__)


class JoinPage(Struct, frozen=True):
    """Everything `join.html` shows: an open table, and the form to sit down there."""

    title: str
    about_game: str
    error: Refused | None
    name: str
    address: str
    nonce: str
    clock: Clock
    public: bool
    chairs: tuple[Chair, ...]
    about: AboutTable


class OfferedPlayer(Struct, frozen=True):
    """A player in the list beside an offered seat."""

    player: Player
    score: int
    is_free: bool


class OfferPage(Struct, frozen=True):
    """Everything `offer.html` shows: an offered seat, and the form to take it."""

    title: str
    error: Refused | None
    name: str
    address: str
    replaced: str  # name of the player who is replaced
    players: tuple[OfferedPlayer, ...]
    board: Markup
    description: str
    about: AboutTable


@joining.get("/join/<token>")
def show(token: str) -> Response:
    """Show who plays so far, and the form."""
    return _join_page(token)


@joining.post("/join/<token>")
def join(token: str) -> Reply:
    """Sit down, and go to one's seat."""
    form = request.form
    guest = Invited(form.get("name", ""), form.get("address", ""), form.get("nonce", ""))
    try:
        link = open_seats.join(get_app(), token, guest, language())
    except Unknown:
        raise
    except Refused as refused:
        return _join_page(token, refused)
    return redirect(url_for("table.show", link=link), 303)


@joining.post("/t/<link>/fill")
def fill(link: str) -> Reply:
    """Give the free seats to bots."""
    open_seats.fill_with_bots(get_app(), access.find(get_app(), link))
    return redirect(url_for("table.show", link=link), 303)


@joining.get("/offer/<token>")
def show_offer(token: str) -> Response:
    """Show the offered seat, the board as spectators see it, and the form."""
    return _offer_page(token)


@joining.post("/offer/<token>")
def take_seat(token: str) -> Reply:
    """Sit down, and go to one's seat."""
    guest = Invited(request.form.get("name", ""), request.form.get("address", ""))
    try:
        link = open_seats.take_offered_seat(get_app(), token, guest, language())
    except Unknown:
        raise
    except Refused as refused:
        return _offer_page(token, refused)
    return redirect(url_for("table.show", link=link), 303)


def _join_page(token: str, error: Refused | None = None) -> Response:
    table, form = open_seats.find_open_table(get_app(), token), request.form
    page = JoinPage(
        title=game_title(table.game.META),
        about_game=translate_in_game(language(), table.game.META.name, table.game.META.about),
        error=error,
        name=form.get("name", ""),
        address=form.get("address", ""),
        nonce=form.get("nonce", ""),
        clock=table.clock,
        public=table.table.beacon is not None,
        chairs=chairs(table),
        about=describe_table(table),
    )
    return render("join.html", page, 422 if error else 200)


def _offer_page(token: str, error: Refused | None = None) -> Response:
    table, seat = open_seats.find_offered_seat(get_app(), token)
    view, shown = table.game.view(table.table.state, None), list_players(table.names)
    standing = table.game.standing(table.table.state)
    page = OfferPage(
        title=game_title(table.game.META),
        error=error,
        name=request.form.get("name", ""),
        address=request.form.get("address", ""),
        replaced=table.names[seat],
        players=tuple(
            OfferedPlayer(player, one.score, number == seat)
            for number, (player, one) in enumerate(zip(shown, standing, strict=True))
        ),
        board=Markup(draw_board_svg(Scene(table.game, view, shown, None, (), language()))),  # noqa: S704 - our own template
        description=Narrator(table.game, table.names, language(), None).describe_board(view),
        about=describe_table(table),
    )
    return render("offer.html", page, 422 if error else 200)
