"""Boards, text boards and prose: everything of a game that is drawn from its templates."""

from __future__ import annotations

import functools
import math
import re
import sys
import threading
from collections.abc import Hashable, Sequence
from datetime import UTC, datetime
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup
from msgspec import Struct

from engine.game import Game
from engine.menu import Menu
from engine.table_events import TABLE_EVENTS
from service.text import elision, languages, places
from service.text.template_files import Templates

SPOT = re.compile(r'id="([^"]+)" class="spot"')
VIEW_BOX = re.compile(r'viewBox="([^"]+)"')
SPRITE = '<svg class="sprite"%s x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s">'
PIXEL = 1000 / 760  # how much of a drawing that is a thousand wide lies on one pixel of a letter's picture
SPACE = re.compile(r"[ \n]+")  # but not the one that French keeps before a colon

# Okabe and Ito's colours, which stay apart for the colour-blind, each with the ink that is readable on it.
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


class Player(Struct, frozen=True):
    """How a seat is shown: a name, and a colour that never stands alone but with a shape."""

    name: str
    colour: str
    ink: str
    shape: str


class Scene(Struct, frozen=True):
    """What one reader is shown of a table: the view and menu of a seat, or of a spectator."""

    game: Any
    view: Any
    players: tuple[Player, ...]
    me: int | None = None
    menu: Menu = ()
    language: str = "en"


class Stage(Struct, frozen=True):
    """A board taken apart for the page: the world, small facts, the tray, a mat for each seat, and the rest."""

    world: str
    facts: str
    tray: str
    mats: tuple[str, ...]
    more: str


def players(names: Sequence[str]) -> tuple[Player, ...]:
    """The seats of a table with their colours and shapes, in order."""
    return tuple(Player(name, *PALETTE[seat % len(PALETTE)]) for seat, name in enumerate(names))


class Compiled(jinja2.BytecodeCache):
    """Templates are compiled once for all languages; only the words they find differ."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


COMPILED, COMPILING = Compiled(), threading.Lock()


class Environment(jinja2.Environment):
    """Compiles one template at a time: Python 3.11 fails at times where threads build syntax trees at once."""

    def compile(self, *given: Any, **words: Any) -> Any:
        with COMPILING:
            return super().compile(*given, **words)


@functools.cache
def environment(language: str = "en", domain: str = languages.COMMON) -> jinja2.Environment:
    """The templates in one language; those of a game find its own words in the domain of its name."""
    found = Environment(
        loader=Templates(),
        bytecode_cache=COMPILED,
        autoescape=jinja2.select_autoescape(("html", "svg")),
        extensions=["jinja2.ext.i18n", "jinja2.ext.do", "jinja2.ext.loopcontrols"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = languages.translations(language, domain)
    found.install_gettext_translations(words, newstyle=True)  # type: ignore[attr-defined]  # the extension adds it
    if language == elision.FRENCH:
        elision.install(found, words)
    found.globals |= {
        "colon": elision.COLON.get(language, ":"),
        "canvas": Canvas,
        "once": Once(),
        "sprite": sprite,
        "laid": laid,
        "spot": places.plain,
        "language": language,
        "languages": languages.LANGUAGES,
        "in_game": functools.partial(languages.in_game, language),
    }
    found.filters |= {
        "when": functools.partial(languages.moment, language),
        "weekday": functools.partial(languages.weekday, language),
        "instant": lambda at: datetime.fromtimestamp(at, UTC).isoformat(),
        "day": functools.partial(languages.day, language),
        "say": functools.partial(languages.say, language),
        "brief": brief,
        "linked": places.linked,
        "unmarked": places.unmarked,
    }
    return found


def brief(name: str, most: int) -> str:
    """A name in so many letters at most; what stands in brackets behind it goes first, as a bot's level."""
    front, _, _ = name.rpartition(" (")
    short = front if front and len(name) > most else name
    return short if len(short) <= most else short[: most - 1] + "…"


def board_svg(scene: Scene) -> str:
    """The board as one picture, for letters."""
    return _draw(scene, "board.svg")


def part(scene: Scene, box: Sequence[float] | None, whole: bool) -> str:
    """A piece of the board for a book: the world alone, or the whole picture of a letter; without a box all of it."""
    game = environment(scene.language, scene.game.META.name)
    if whole or not _has_world(game, scene.game.META.name):
        drawn = board_svg(scene)
    else:
        drawn = game.get_template("games/part.svg").render(_words(scene))
    return VIEW_BOX.sub(f'viewBox="{" ".join(map(str, box))}"', drawn, count=1) if box else drawn


def board_text(scene: Scene) -> str:
    """The board in letters, at most eighty columns wide."""
    lines = (line.rstrip() for line in _draw(scene, "board.txt").strip("\n").split("\n"))
    return "\n".join(lines) + "\n"


def stage(scene: Scene) -> Stage:
    """The same board for a page that zooms the world and lays the mats beside it; without mats it is all world."""
    game = environment(scene.language, scene.game.META.name)
    words = _words(scene)
    if not _has_world(game, scene.game.META.name):
        return Stage(_as_world(board_svg(scene)), "", "", ("",) * len(scene.players), "")
    mats: Any = game.get_template("games/mats.html").make_module(words)
    return Stage(
        world=game.get_template("games/stage.svg").render(words),
        facts=_line(mats.part("facts")),
        tray=mats.part("tray").strip(),
        mats=tuple(mats.part(seat).strip() for seat in range(len(scene.players))),
        more=mats.part("more").strip(),
    )


def _has_world(templates: jinja2.Environment, game: str) -> bool:
    try:
        templates.get_template(f"games/{game}/world.svg")
    except jinja2.TemplateNotFound:
        return False
    return True


def _as_world(picture: str) -> str:
    """A whole picture as a world that can be zoomed; what it names by its id can be touched."""
    touched = SPOT.sub(r'data-token="\1" class="spot"', picture)
    return VIEW_BOX.sub(r'\g<0> data-box="\1" data-stage=""', touched, count=1)


def _draw(scene: Scene, name: str) -> str:
    game = scene.game.META.name
    return environment(scene.language, game).get_template(f"games/{game}/{name}").render(_words(scene))


def _words(scene: Scene) -> dict[str, Any]:
    names = [player.name for player in scene.players]
    return {
        "game": scene.game.META.name,
        "view": scene.view,
        "board": sys.modules.get(f"{scene.game.__name__}.board"),
        "players": scene.players,
        "me": scene.me,
        "menu": scene.menu,
        "names": names,
        "name": names.__getitem__,
    }


class Narrator:
    """Turns events into sentences for one reader, with the places on the board marked up for a page.

    With the reader's view of the board, places are described by their surroundings.
    """

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        language: str = "en",
        me: int | None = None,
        *,
        marked: bool = False,
        view: Any = None,
    ) -> None:
        board = sys.modules.get(f"{game.__name__}.board")
        spot = places.marked if marked else places.plain
        seen = {"board": board, "view": view, "spot": spot}
        context = {"name": lambda seat: names[seat], "names": names, "me": me, **seen}
        own = environment(language, game.META.name)
        self.colon = str(own.globals["colon"])
        self._table: Any = environment(language).get_template("table/told.txt").make_module(context)
        self._game: Any = own.get_template(f"games/{game.META.name}/told.txt").make_module(context)

    def describe(self, event: Any) -> str:
        """One sentence about an event; empty if there is nothing to say."""
        macros = self._table if type(event) in TABLE_EVENTS else self._game
        return _line(getattr(macros, type(event).__name__)(event))

    def verb(self, verb: str) -> str:
        """The label of a button for this verb."""
        command = getattr(self._table, f"command_{verb}", None)
        return places.unmarked(_line(command() if command else self._game.verb_label(verb)))

    def token(self, verb: str, token: str) -> str:
        """A token in words."""
        return places.unmarked(_line(self._game.token_label(verb, token)))

    def source(self, source: str) -> str:
        """A source of points in a word or two."""
        return places.unmarked(_line(self._game.source_word(source)))

    def score_word(self) -> str:
        """What the score counts, where a game says so because its number would not explain itself."""
        return _line(self._game.score_word()) if hasattr(self._game, "score_word") else ""

    def alt(self, view: Any) -> str:
        """The position in a few sentences, for readers who cannot see the picture."""
        return places.unmarked(_line(self._game.alt(view)))


def _line(text: str) -> str:
    return SPACE.sub(" ", text).strip()


class Once:
    """Pieces of a drawing that are the same on every board, such as a tile; each is drawn one time in a language."""

    def __init__(self) -> None:
        self._drawn: dict[Hashable, Any] = {}

    def __call__(self, name: Hashable, macro: Any, *words: Any) -> Any:
        """What the macro draws from these words; the name stands for all of them."""
        if name not in self._drawn:
            self._drawn[name] = macro(*words)
        return self._drawn[name]


def sprite(
    x: float,
    y: float,
    reach: Sequence[float],
    drawn: str,
    pixel: float = PIXEL,
    unit: float | None = None,
    token: str = "",
) -> Markup:
    """A piece that looks the same on many boards, laid on whole pixels of a letter's picture: it is painted once.

    `reach` is how far it goes from its middle, to the left, up, right and down; what is beyond is cut off. A pixel is
    so much of the piece's measure, and a `unit` of the board's. In a lesson it can be touched by its token.
    """
    left, top = math.floor(reach[0] / pixel), math.floor(reach[1] / pixel)
    wide, high = math.ceil(reach[2] / pixel) - left, math.ceil(reach[3] / pixel) - top
    at = (round(x / pixel) + left, round(y / pixel) + top, wide, high)
    place = (round(pixels * (unit or pixel), 4) for pixels in at)
    shown = (round(pixels * pixel, 4) for pixels in (left, top, wide, high))
    named = f' data-token="{token}"' if token else ""
    return Markup(f"{SPRITE % (named, *place, *shown)}{drawn}</svg>")  # noqa: S704 - drawn by our templates


def laid(
    letter: bool, x: float, y: float, reach: Sequence[float], drawn: str, piece: str = "", token: str = ""
) -> Markup:
    """A piece of a board: a sprite of a letter, or on a page a group whose name says what glides."""
    if letter:
        return sprite(x, y, reach, drawn, token=token)
    named = f' class="piece" data-piece="{piece}"' if piece else ""
    return Markup(f'<g{named} transform="translate({x} {y})">{drawn}</g>')  # noqa: S704 - drawn by our templates


class Canvas:
    """A sheet of characters to draw a text board on."""

    def __init__(self, width: int, height: int) -> None:
        self.sheet = [[" "] * width for _ in range(height)]

    def put(self, x: float, y: float, text: object) -> str:
        """Write a text that begins at this column and row; what does not fit on the sheet is cut off."""
        column, row = round(x), round(y)
        if 0 <= row < len(self.sheet):
            for place, letter in enumerate(str(text), column):
                if 0 <= place < len(self.sheet[row]):
                    self.sheet[row][place] = letter
        return ""

    def line(self, x1: float, y1: float, x2: float, y2: float, letter: str) -> str:
        """A straight row of letters from one place to another."""
        steps = max(abs(round(x2) - round(x1)), abs(round(y2) - round(y1)), 1)
        for step in range(steps + 1):
            self.put(x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps, letter)
        return ""

    def rows(self) -> list[str]:
        """The sheet, row by row."""
        return ["".join(row).rstrip() for row in self.sheet]
