"""Boards: as one picture for letters, taken apart for pages, and as text; all drawn from the templates of a game."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import jinja2
from msgspec import Struct

from engine import catalogue
from engine.menu import Menu
from service.lru import LRU
from service.text import templates
from service.text.narration import Narrator, join_lines

SPOT = re.compile(r'id="([^"]+)" class="spot"')
VIEW_BOX = re.compile(r'viewBox="([^"]+)"')

# Okabe and Ito's colours, which colour-blind people can tell apart, each with an ink that is readable on it.
PALETTE = (
    ("#0072b2", "#ffffff", "circle"),
    ("#e69f00", "#1f1300", "square"),
    ("#009e73", "#ffffff", "triangle"),
    ("#cc79a7", "#1f0a16", "diamond"),
    ("#d55e00", "#ffffff", "hexagon"),
    ("#56b4e9", "#04121c", "star"),
    ("#f0e442", "#1c1a00", "cross"),
    ("#3a3a44", "#ffffff", "pentagon"),
)

T = TypeVar("T")


class Player(Struct, frozen=True):
    """The name, colour and shape of a seat; the shape is always shown with the colour."""

    name: str
    colour: str
    ink: str
    shape: str


class Scene(Struct, frozen=True):
    """The view and menu that one reader has of a game: a player, or a spectator (`me` is None).

    `seats_to_move` are known on the page and in the letters of a table; it may not be the turn of any of them.
    `planned` are the words of moves that the reader plans; the page tells where their places are.
    """

    game: Any
    view: Any
    players: tuple[Player, ...]
    me: int | None = None
    menu: Menu = ()
    language: str = "en"
    seats_to_move: tuple[int, ...] = ()
    planned: tuple[str, ...] = ()


class Stage(Struct, frozen=True):
    """A board taken apart for a page: the world, small facts, the tray, a mat for each seat, and the rest.

    `stock` is what the page of things that may still come up is called; empty in a game that has none.
    """

    world: str
    facts: str
    tray: str
    mats: tuple[str, ...]
    more: str
    stock: str = ""


class DrawnBoard(Struct, frozen=True):
    """A board as a picture, as text, and described in one sentence."""

    svg: str
    text: str
    alt: str


class StagedBoard(Struct, frozen=True):
    """A board taken apart for a page, as text, and described in one sentence."""

    stage: Stage
    text: str
    alt: str


def list_players(names: Sequence[str]) -> tuple[Player, ...]:
    """Give each name, in the order of the seats, its colour and shape."""
    return tuple(Player(name, *PALETTE[seat % len(PALETTE)]) for seat, name in enumerate(names))


def draw_board(cache: LRU[DrawnBoard], position: Hashable, scene: Scene, narrator: Narrator) -> DrawnBoard:
    """Draw the board as one picture, or take it from the cache; `position` identifies the table and its last entry."""
    return _draw_once(
        cache,
        position,
        scene,
        lambda: DrawnBoard(draw_board_svg(scene), draw_board_text(scene), narrator.describe_board(scene.view)),
    )


def draw_staged_board(cache: LRU[StagedBoard], position: Hashable, scene: Scene, narrator: Narrator) -> StagedBoard:
    """Draw the board in its parts, or take it from the cache; `position` identifies the table and its last entry."""
    return _draw_once(
        cache,
        position,
        scene,
        lambda: StagedBoard(draw_stage(scene), draw_board_text(scene), narrator.describe_board(scene.view)),
    )


def _draw_once(cache: LRU[T], position: Hashable, scene: Scene, draw: Callable[[], T]) -> T:
    """Return the cached board of this position and reader; call `draw` only if there is none."""
    names = tuple(player.name for player in scene.players)
    key = (position, scene.me, names, bool(scene.menu), scene.language, scene.planned)
    board = cache.get(key)
    if board is None:
        board = draw()
        cache.put(key, board)
    return board


def draw_board_svg(scene: Scene) -> str:
    """Draw the board as one picture, for letters."""
    return _render_board(scene, "board.svg")


def draw_board_text(scene: Scene) -> str:
    """Draw the board in characters, at most eighty columns wide."""
    lines = (line.rstrip() for line in _render_board(scene, "board.txt").strip("\n").split("\n"))
    return "\n".join(lines) + "\n"


def draw_stage(scene: Scene) -> Stage:
    """Draw the board taken apart, for pages; a game that has one picture only has that picture as its world."""
    game = scene.game.META.name
    environment, words = templates.get_environment(scene.language, game), _list_words(scene)
    if not _has_world(environment, game):
        return Stage(_make_world(draw_board_svg(scene)), "", "", ("",) * len(scene.players), "")
    mats: Any = environment.get_template("games/mats.html").make_module(words)
    return Stage(
        world=environment.get_template("games/stage.svg").render(words),
        facts=join_lines(mats.part("facts")),
        tray=mats.part("tray").strip(),
        mats=tuple(mats.part(seat).strip() for seat in range(len(scene.players))),
        more=mats.part("more").strip(),
        stock=mats.part("stock_word").strip(),
    )


def draw_stock(scene: Scene) -> str:
    """Draw what may still come up, as far as this reader may know it; empty in a game where nothing can."""
    game = scene.game.META.name
    environment = templates.get_environment(scene.language, game)
    if not _has_world(environment, game):
        return ""
    mats: Any = environment.get_template("games/mats.html").make_module(_list_words(scene))
    return str(mats.part("stock")).strip()


def draw_part(scene: Scene, box: Sequence[float] | None, whole: bool) -> str:
    """Draw the world of a board, or the `whole` picture of a letter, for a rule book; a `box` crops it."""
    game = scene.game.META.name
    environment = templates.get_environment(scene.language, game)
    if whole or not _has_world(environment, game):
        picture = draw_board_svg(scene)
    else:
        picture = environment.get_template("games/part.svg").render(_list_words(scene))
    return VIEW_BOX.sub(f'viewBox="{" ".join(map(str, box))}"', picture, count=1) if box else picture


def _has_world(environment: jinja2.Environment, game: str) -> bool:
    try:
        environment.get_template(f"games/{game}/world.svg")
    except jinja2.TemplateNotFound:
        return False
    return True


def _make_world(picture: str) -> str:
    """Turn a whole picture into a world that can be zoomed, and whose elements with an id can be touched."""
    touchable = SPOT.sub(r'data-token="\1" class="spot"', picture)
    return VIEW_BOX.sub(r'\g<0> data-box="\1" data-stage=""', touchable, count=1)


def _render_board(scene: Scene, name: str) -> str:
    game = scene.game.META.name
    environment = templates.get_environment(scene.language, game)
    return environment.get_template(f"games/{game}/{name}").render(_list_words(scene))


def _list_words(scene: Scene) -> dict[str, Any]:
    """List the values that the templates of a board can use."""
    names = [player.name for player in scene.players]
    return {
        "game": scene.game.META.name,
        "view": scene.view,
        "board": catalogue.find_board(scene.game),
        "players": scene.players,
        "me": scene.me,
        "menu": scene.menu,
        "seats_to_move": scene.seats_to_move,
        "planned": scene.planned,
        "names": names,
        "name": names.__getitem__,
    }
