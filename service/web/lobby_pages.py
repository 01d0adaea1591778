"""The lobby with tables to join and to watch, and the pages on which a seat is taken."""

from __future__ import annotations

import functools
import itertools
from random import Random

from flask import Blueprint, Response, make_response, redirect, request, url_for
from markupsafe import Markup
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine import catalogue
from engine.game import Game, Meta, objection
from engine.refusal import Refused
from service.tables import joining, lobby
from service.tables.access import Unknown
from service.tables.opening import Invitee
from service.tables.snapshots import Snapshot
from service.text import lessons
from service.text.drawing import Player, Scene, draw_board_svg, draw_stage, list_players
from service.text.narration import Narrator
from service.timing import Clock
from service.web.current_request import find_picture_language, get_app, get_language
from service.web.page_cache import cache_page
from service.web.rendering import join_names, render, translate_title
from service.web.signed_in import find_visit_key
from service.web.table_frame import AboutTable, SeatLine, describe_table, list_seat_lines

lobby_page = Blueprint("lobby", __name__)
PICTURED_MOVES = 16  # played before the board is drawn
# Always the same draws and moves, and so the same picture.
PICTURE_SEED, PICTURE_MOVES_SEED = b"lobby".ljust(32), 7


class GameCard(Struct, frozen=True):
    """A game of the catalogue, and for how many players it is."""

    game: Meta
    title: str
    least: int  # players
    most: int  # players
    has_lessons: bool


class OpenTable(Struct, frozen=True):
    """A table with free seats, and the token of the page to join it."""

    token: str
    game: str
    title: str
    names: str  # of the players who sit there
    clock: Clock
    free: int  # how many seats are free


class WatchedTable(Struct, frozen=True):
    """A game to watch, and the link for its spectators."""

    link: str
    title: str
    scores: str  # with the players' names
    waiting_for: str


class LobbyPage(Struct, frozen=True):
    """Everything `lobby.html` shows."""

    games: tuple[GameCard, ...]
    open_tables: tuple[OpenTable, ...]
    watched_tables: tuple[WatchedTable, ...]


@lobby_page.get("/")
def show_lobby() -> Response:
    """Show the games, the tables with free seats and the games to watch."""
    app = get_app()
    with app.store.reading() as db:
        cache_page(db, lobby.LobbyParts(app))
        open_tables = tuple(map(_describe_open, lobby.list_open(app, db)))
        watched_tables = tuple(map(_describe_watched, lobby.list_watched(app, db)))
    games = tuple(_make_game_card(game.META) for game in catalogue.find_all().values())
    return render("lobby.html", LobbyPage(games, open_tables, watched_tables))


@lobby_page.get("/picture/<name>.svg")
def send_picture(name: str) -> Response:
    """Send a picture of a game's board."""
    response = make_response(draw_board(name, find_picture_language()))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


@functools.cache
def draw_board(name: str, in_language: str) -> str:
    """Draw the board of a game for as many players as it allows, after its first moves, as spectators see it."""
    game = find_game(name)
    options = game.META.options()
    player_count = max(seats for seats in game.META.seats if not objection(game, options, seats))
    sample = lessons.start_sample(game, player_count, PICTURE_SEED)
    moves = lessons.play_randomly(sample, Random(PICTURE_MOVES_SEED))  # noqa: S311 - a picture, not dice
    for _ in itertools.islice(moves, PICTURED_MOVES):
        pass  # each step has made one move
    players = list_players(["" for _ in sample.table.seats])
    view = game.view(sample.table.state, None)
    stage = draw_stage(Scene(game, view, players, language=in_language))
    return stage.world_picture


def find_game(name: str) -> Game:
    """Return the game of that name; raise Unknown if there is none."""
    if name not in catalogue.find_all():
        raise Unknown("There is no game “{name}” here; please choose one of those in the lobby.", name=name)
    return catalogue.find(name)


def _make_game_card(game: Meta) -> GameCard:
    return GameCard(game, translate_title(game), min(game.seats), max(game.seats), lessons.has_lessons(game.name))


def _describe_open(table: Snapshot) -> OpenTable:
    """Describe a table with free seats; only players who have sat down are named."""
    names = [seat.name for seat in table.seats if seat.status not in ("open", "invited")]
    return OpenTable(
        token=get_app().links.make_join_token(table.row.id),
        game=table.game.META.name,
        title=translate_title(table.game.META),
        names=join_names(names),
        clock=table.clock,
        free=sum(seat.status == "open" for seat in table.seats),
    )


def _describe_watched(table: Snapshot) -> WatchedTable:
    """Describe a game to watch, with its scores."""
    standing = table.game.standing(table.position.state)
    scores = [f"{name} {one.score}" for name, one in zip(table.names, standing, strict=True)]
    return WatchedTable(
        link=get_app().links.make_watch_token(table.row.id),
        title=translate_title(table.game.META),
        scores=" · ".join(scores),
        waiting_for=join_names(seat.name for seat in table.seats if seat.open_since is not None),
    )


joining_pages = Blueprint("joining", __name__)


class JoinPage(Struct, frozen=True):
    """Everything `join.html` shows: an open table, and the form to sit down there."""

    token: str
    title: str
    error: Refused | None
    name: str
    address: str
    nonce: str
    clock: Clock
    has_beacon: bool  # whether the dice come from a public beacon
    seats: tuple[SeatLine, ...]
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


@joining_pages.get("/join/<token>")
def show(token: str) -> Response:
    """Show who plays so far at an open table, and the form to sit down there."""
    return _render_open_table(token)


@joining_pages.post("/join/<token>")
def join(token: str) -> Reply:
    """Sit down at an open table, and go to one's seat; show the form again with the reason if that is refused."""
    form = request.form
    guest = Invitee(form.get("name", ""), form.get("address", ""), nonce=form.get("nonce", ""))
    try:
        link = joining.join(get_app(), token, guest, get_language(), find_visit_key())
    except Unknown:
        raise  # there is no form to show again: the table is gone
    except Refused as refused:
        return _render_open_table(token, refused)
    return redirect(url_for("table.show", link=link), 303)


@joining_pages.post("/t/<link>/fill")
def fill_with_bots(link: str) -> Reply:
    """Give the free seats to bots, which only the organiser may do."""
    joining.fill_with_bots(get_app(), link)
    return redirect(url_for("table.show", link=link), 303)


@joining_pages.get("/offer/<token>")
def show_offer(token: str) -> Response:
    """Show an offered seat, the board as spectators see it, and the form to take the seat."""
    return _render_offer(token)


@joining_pages.post("/offer/<token>")
def take_seat(token: str) -> Reply:
    """Take an offered seat, and go to it; show the form again with the reason if that is refused."""
    guest = Invitee(request.form.get("name", ""), request.form.get("address", ""))
    try:
        link = joining.take_offered_seat(get_app(), token, guest, get_language(), find_visit_key())
    except Unknown:
        raise  # there is no form to show again: the offer is gone
    except Refused as refused:
        return _render_offer(token, refused)
    return redirect(url_for("table.show", link=link), 303)


def _render_open_table(token: str, error: Refused | None = None) -> Response:
    """Render the form to join, filled in as it was sent; raise Unknown if no seat is free any more."""
    table = joining.find_open_table(get_app(), token)
    form = request.form
    page = JoinPage(
        token=token,
        title=translate_title(table.game.META),
        error=error,
        name=form.get("name", ""),
        address=form.get("address", ""),
        nonce=form.get("nonce", ""),
        clock=table.clock,
        has_beacon=table.position.beacon is not None,
        seats=list_seat_lines(table),
        about=describe_table(table),
    )
    return render("join.html", page, 422 if error else 200)


def _render_offer(token: str, error: Refused | None = None) -> Response:
    """Render the form for an offered seat, filled in as it was sent; raise Unknown if the seat is offered no more."""
    table, seat = joining.find_offered_seat(get_app(), token)
    view, players = table.game.view(table.position.state, None), list_players(table.names)
    standing = table.game.standing(table.position.state)
    scene = Scene(table.game, view, players, language=get_language())
    page = OfferPage(
        title=translate_title(table.game.META),
        error=error,
        name=request.form.get("name", ""),
        address=request.form.get("address", ""),
        replaced=table.names[seat],
        players=tuple(
            OfferedPlayer(players[number], stand.score, is_free=number == seat) for number, stand in enumerate(standing)
        ),
        board=Markup(draw_board_svg(scene)),  # noqa: S704 - our own template
        description=Narrator(table.game, table.names, get_language()).describe_board(view),
        about=describe_table(table),
    )
    return render("offer.html", page, 422 if error else 200)
