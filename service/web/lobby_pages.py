"""The lobby: the games, tables with free seats, and games to watch."""

from __future__ import annotations

import functools
import itertools
from random import Random

from flask import Blueprint, Response, make_response, request
from msgspec import Struct

from engine import catalogue
from engine.game import Game, Meta, objection
from service.tables import lobby as listing
from service.tables.access import Unknown
from service.tables.snapshots import Snapshot
from service.text import lessons, samples
from service.text.drawing import Scene, draw_stage, list_players
from service.text.languages import LANGUAGES, SOURCE
from service.timing import Clock
from service.web.rendering import game_title, get_app, render

lobby = Blueprint("lobby", __name__)
PICTURED_MOVES = 16  # played before the board is drawn


class GameCard(Struct, frozen=True):
    """A game of the catalogue, and for how many players it is."""

    game: Meta
    title: str
    least: int
    most: int
    has_lessons: bool


class OpenTable(Struct, frozen=True):
    """A table with free seats, and the token of the page to join it."""

    token: str
    game: str
    title: str
    names: str  # of the players who sit there
    clock: Clock
    free: int


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


@lobby.get("/")
def welcome() -> Response:
    """Show the games, the tables with free seats and the games to watch."""
    app = get_app()
    with app.store.reading() as db:
        open_tables = tuple(map(_describe_open, listing.list_open(app, db)))
        watched_tables = tuple(map(_describe_watched, listing.list_watched(app, db)))
    games = tuple(_game_card(game.META) for game in catalogue.find_all().values())
    return render("lobby.html", LobbyPage(games, open_tables, watched_tables))


@lobby.get("/picture/<name>.svg")
def picture(name: str) -> Response:
    """Send a picture of a game's board."""
    in_language = request.args.get("in", SOURCE)
    response = make_response(draw_board(name, in_language if in_language in LANGUAGES else SOURCE))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


@functools.cache
def draw_board(name: str, in_language: str) -> str:
    """Draw the board of a game after its first moves, as spectators see it."""
    game = find_game(name)
    most = max(seats for seats in game.META.seats if not objection(game, game.META.options(), seats))
    sample = samples.start_sample(game, most, b"lobby".ljust(32))
    for _ in itertools.islice(samples.play_randomly(sample, Random(7)), PICTURED_MOVES):  # noqa: S311 - a picture, not dice
        pass
    seats = list_players(["" for _ in sample.table.seats])
    world = draw_stage(Scene(game, game.view(sample.table.state, None), seats, language=in_language)).world
    return world.partition("</svg>")[0] + "</svg>"


def find_game(name: str) -> Game:
    """Return the game of that name; raise Unknown if there is none."""
    if name not in catalogue.find_all():
        raise Unknown("There is no game “{name}” here; please choose one of those in the lobby.", name=name)
    return catalogue.find(name)


def _game_card(game: Meta) -> GameCard:
    return GameCard(game, game_title(game), min(game.seats), max(game.seats), lessons.has_lessons(game.name))


def _describe_open(table: Snapshot) -> OpenTable:
    names = [seat.name for seat in table.seats if seat.status not in ("open", "invited")]
    return OpenTable(
        token=get_app().links.join(table.row.id),
        game=table.game.META.name,
        title=game_title(table.game.META),
        names=", ".join(names),
        clock=table.clock,
        free=sum(seat.status == "open" for seat in table.seats),
    )


def _describe_watched(table: Snapshot) -> WatchedTable:
    standing = table.game.standing(table.table.state)
    scores = [f"{name} {one.score}" for name, one in zip(table.names, standing, strict=True)]
    return WatchedTable(
        link=get_app().links.watch(table.row.id),
        title=game_title(table.game.META),
        scores=" · ".join(scores),
        waiting_for=", ".join(seat.name for seat in table.seats if seat.open_since is not None),
    )
