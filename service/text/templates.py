"""Jinja's environment for all templates: where they are, in which language they speak, and what they can call."""

from __future__ import annotations

import functools
import hashlib
import math
import sys
import threading
from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from gettext import NullTranslations
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from jinja2.loaders import split_template_path
from jinja2.runtime import Macro
from markupsafe import Markup

from engine import catalogue
from service.memory import LRU
from service.text import languages

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
GAMES = "games/"
MAX_SENTENCES = 4_000  # without words to be filled in; all languages and games have fewer

SPRITE = '<svg class="sprite"%s x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s">'
PIXEL = 1000 / 760  # units of a drawing, which is 1000 units wide, per pixel of a letter's picture


def get_template_path(name: str) -> Path:
    """Return the file of a template; an installed game keeps `games/<name>/board.svg` in its own `templates`."""
    game, _, rest = name.removeprefix(GAMES).partition("/")
    if name.startswith(GAMES) and game in catalogue.get_package_folders():
        return catalogue.get_package_folders()[game] / "templates" / rest
    return TEMPLATES / name


class TemplateLoader(jinja2.BaseLoader):
    """Loads templates; a plain text can also be loaded with `.html` after its name, and then escapes its values.

    A page or a picture that calls the macros of a plain text loads it in this way: Jinja decides by the name of the
    file that defines a macro whether its values are escaped.
    """

    def get_source(self, _: jinja2.Environment, template: str) -> tuple[str, str, None]:
        """Return the text of a template and its file; None tells Jinja never to load it again, like code."""
        name = "/".join(split_template_path(template))  # refuses to climb out of the folder
        is_text_as_html = name.endswith(".txt.html")  # the file is `….txt`; the name makes Jinja escape its values
        path = get_template_path(name.removesuffix(".html") if is_text_as_html else name)
        if not path.is_file():
            raise jinja2.TemplateNotFound(template)
        return path.read_text("utf-8"), str(path), None

    def list_templates(self) -> list[str]:
        """List the names of all templates, also of those in the folders of installed games."""
        packages = {f"{GAMES}{name}/": home / "templates" for name, home in catalogue.get_package_folders().items()}
        homes = {"": TEMPLATES, **packages}
        return sorted(
            prefix + path.relative_to(home).as_posix()
            for prefix, home in homes.items()
            for path in home.rglob("*")
            if path.is_file()
        )


class BytecodeCache(jinja2.FileSystemBytecodeCache):
    """Compiled templates, shared between the languages, which differ in their translations only.

    They are also stored in `__pycache__`, as Python stores modules: compiling all of them takes a second and 15 MB. The
    names of the files contain a hash of this module, whose settings of Jinja decide what the bytecode is. A process
    holds the code of the templates that it has used.
    """

    def __init__(self, folder: Path) -> None:
        version = hashlib.sha256(Path(__file__).read_bytes() + jinja2.__version__.encode()).hexdigest()[:8]
        super().__init__(str(folder), f"%s.{version}.jinja")  # Jinja fills in the key of a template for %s
        self._codes: dict[tuple[str, str], CodeType] = {}  # by name and source

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give the bucket the code of its template, from memory or else from the file; none if it is in neither."""
        key = bucket.key, bucket.checksum
        if key in self._codes:
            bucket.code = self._codes[key]
            return
        with suppress(OSError):
            super().load_bytecode(bucket)
        if bucket.code is not None:
            self._codes[key] = bucket.code

    def has_stored(self, environment: jinja2.Environment, name: str, source: str, file: str | None) -> bool:
        """Return whether this template is stored for the next process."""
        bucket = Bucket(environment, self.get_cache_key(name, file), self.get_source_checksum(source))
        with suppress(OSError):
            super().load_bytecode(bucket)
        return bucket.code is not None

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template that was just compiled: in memory, and in a file if Python may write bytecode."""
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code
        if not sys.dont_write_bytecode:
            with suppress(OSError):  # the folder cannot be written: templates are compiled again by the next process
                Path(self.directory).mkdir(exist_ok=True)
                super().dump_bytecode(bucket)


BYTECODE, COMPILE_LOCK = BytecodeCache(TEMPLATES / "__pycache__"), threading.Lock()


class Context(jinja2.runtime.Context):
    """Calls what templates call as Jinja does, only faster: a page has 3,000 calls.

    A function marked with `@pass_context`, `@pass_eval_context` or `@pass_environment` gets the named object as its
    first argument. At each call Jinja searches the function and its `__call__` for these marks. A macro or a plain
    function is called here without that search.
    """

    def call(self, called: Any, /, *args: Any, **words: Any) -> Any:
        """Call a macro, or a function without a mark, directly; leave everything else to Jinja."""
        kind = type(called)
        if kind is Macro:
            args = (self.eval_ctx, *args)  # Jinja marks every macro with `@pass_eval_context`
        elif kind not in (FunctionType, MethodType) or hasattr(called, "jinja_pass_arg"):  # the attribute of a mark
            return super().call(called, *args, **words)
        for name in ("_block_vars", "_loop_vars"):  # Jinja adds these, but only for what is marked with `@pass_context`
            words.pop(name, None)
        return called(*args, **words)


class Environment(jinja2.Environment):
    """Compiles one template at a time: Python 3.11 sometimes fails when threads build syntax trees at once.

    All templates share their globals: Jinja would look through two dictionaries at each of a page's 300 imports.
    """

    context_class = Context

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the globals of a template, which has none of its own."""
        assert not d
        return self.globals

    def compile(self, *arguments: Any, **options: Any) -> Any:
        with COMPILE_LOCK:
            return super().compile(*arguments, **options)


def compile_all(environment: jinja2.Environment) -> None:
    """Compile and store the templates that are not stored yet; the others are loaded later, when they are used."""
    assert environment.loader is not None
    for name in environment.list_templates(extensions=("html", "txt", "svg")):
        source, file, _ = environment.loader.get_source(environment, name)
        if not BYTECODE.has_stored(environment, name, source, file):
            environment.get_template(name)


@functools.cache
def get_environment(language: str = "en", domain: str = languages.COMMON) -> jinja2.Environment:
    """Return the environment for one language; the domain of a game adds the translations of that game."""
    environment = Environment(
        loader=TemplateLoader(),
        bytecode_cache=BYTECODE,
        autoescape=jinja2.select_autoescape(("html", "svg")),
        extensions=["jinja2.ext.i18n", "jinja2.ext.do", "jinja2.ext.loopcontrols"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    translations = languages.load_translations(language, domain)
    # `{% trans %}` needs these functions in the new style; the line after replaces them by faster ones.
    environment.install_gettext_translations(translations, newstyle=True)  # type: ignore[attr-defined]  # the extension adds it
    install_sentences(environment, language, translations)
    environment.globals |= {
        "colon": languages.COLONS.get(language, ":"),
        "canvas": Canvas,
        "once": MacroCache(),
        "sprite": draw_sprite,
        "place_piece": place_piece,
        "spot": languages.name_place,
        "language": language,
        "languages": languages.LANGUAGES,
        "in_game": functools.partial(languages.translate_in_game, language),
        "about_game": functools.partial(languages.describe_game, language),
    }
    environment.filters |= {
        "when": functools.partial(languages.format_moment, language),
        "weekday": functools.partial(languages.format_weekday, language),
        "instant": lambda at: datetime.fromtimestamp(at, UTC).isoformat(),
        "day": functools.partial(languages.format_day, language),
        "say": functools.partial(languages.translate, language),
        "brief": shorten_name,
        "join_words": functools.partial(languages.join_words, language),
        "linked": languages.link_places,
        "unmarked": languages.remove_place_marks,
    }
    return environment


def install_sentences(environment: jinja2.Environment, language: str, translations: NullTranslations) -> None:
    """Let `_`, `gettext` and `ngettext` translate the sentences of these templates.

    In French they elide: “le tour d’Anna”, and not “de Anna”. Jinja's own take three times as long.
    """
    elides = language == languages.FRENCH

    def fill(sentence: str, words: Mapping[str, Any], is_markup: bool) -> str:
        form = languages.elide(sentence, words) if elides else sentence
        return (Markup(form) if is_markup else form) % words  # noqa: S704 - our own catalogues

    @functools.lru_cache(MAX_SENTENCES)
    def translate_alone(sentence: str, is_markup: bool) -> str:
        """Translate a sentence without words to be filled in."""
        return fill(translations.gettext(sentence), {}, is_markup)

    @jinja2.pass_context
    def gettext(context: jinja2.runtime.Context, sentence: str, /, **words: Any) -> str:
        is_markup = bool(context.eval_ctx.autoescape)
        if not words:
            return translate_alone(sentence, is_markup)  # mostly from its cache
        return fill(translations.gettext(sentence), words, is_markup)

    @jinja2.pass_context
    def ngettext(context: jinja2.runtime.Context, one: str, many: str, count: int, /, **words: Any) -> str:
        sentence = translations.ngettext(one, many, count)
        return fill(sentence, {"num": count, **words}, bool(context.eval_ctx.autoescape))

    environment.globals |= {"_": gettext, "gettext": gettext, "ngettext": ngettext}


def shorten_name(name: str, most: int) -> str:
    """Shorten a name to `most` characters; first the brackets at its end are left out, such as the level of a bot."""
    if len(name) <= most:
        return name
    name_before_brackets, _, _ = name.rpartition(" (")
    short = name_before_brackets or name
    return short if len(short) <= most else short[: most - 1] + "…"


class MacroCache:
    """Calls a macro once and returns the same drawing afterwards: for pieces that look the same on every board."""

    def __init__(self) -> None:
        self._drawings: dict[Hashable, Any] = {}

    def __call__(self, name: Hashable, macro: Any, *arguments: Any) -> Any:
        """Return what the macro draws from these arguments; `name` identifies the macro and all its arguments."""
        if name not in self._drawings:
            self._drawings[name] = macro(*arguments)
        return self._drawings[name]


class FragmentCache:
    """Calls a macro once and returns the same fragment, as long as that was used lately.

    It is for lines that stay on a page when others come.
    """

    def __init__(self, size: int) -> None:
        self._fragments = LRU[Any](size)

    def __call__(self, name: Hashable, macro: Any, *arguments: Any) -> Any:
        """Return what the macro writes; `name` identifies all that this depends on, the reader too."""
        fragment = self._fragments.get(name)
        if fragment is None:
            fragment = macro(*arguments)
            self._fragments.put(name, fragment)
        return fragment


def draw_sprite(
    x: float,
    y: float,
    reach: Sequence[float],
    drawing: str,
    pixel: float = PIXEL,
    board_pixel: float | None = None,
    token: str = "",
) -> Markup:
    """Place a piece that appears on many boards at whole pixels of a letter's picture, so that it is painted once.

    `reach` is the box of the piece as seen from (x, y), in its own units: its left, top, right and bottom; the rest is
    cut off.
    `pixel` is the size of a pixel in the units of the piece, `board_pixel` that in the units of the board if they
    differ. With a `token`, the piece can be touched in a lesson.
    """
    # In pixels: the box of the piece as seen from (x, y), and its place on the board.
    to_left, up, to_right, down = (distance / pixel for distance in reach)
    left, top = math.floor(to_left), math.floor(up)
    width, height = math.ceil(to_right) - left, math.ceil(down) - top
    place = (round(x / pixel) + left, round(y / pixel) + top, width, height)
    # In units of the board, and of the piece.
    frame = (round(pixels * (board_pixel or pixel), 4) for pixels in place)
    view_box = (round(pixels * pixel, 4) for pixels in (left, top, width, height))
    attribute = f' data-token="{token}"' if token else ""
    return Markup(f"{SPRITE % (attribute, *frame, *view_box)}{drawing}</svg>")  # noqa: S704 - drawn by our templates


def place_piece(
    letter: bool,
    x: float,
    y: float,
    reach: Sequence[float],
    drawing: str,
    piece: str = "",
    token: str = "",
    moving: str = "",
) -> Markup:
    """Place a piece on a board: as a sprite in a letter, which a lesson lets the player touch if it has a `token`.

    On a page it is a group. The script moves it by its name `piece`, if it has one; the attributes `moving` name the
    moves by which it does.
    """
    if letter:
        return draw_sprite(x, y, reach, drawing, token=token)
    attributes = f' class="piece" data-piece="{piece}" {moving}' if piece else ""
    return Markup(f'<g{attributes} transform="translate({x} {y})">{drawing}</g>')  # noqa: S704 - drawn by our templates


class Canvas:
    """A sheet of characters on which templates draw a text board; to draw returns "", which they print in its place."""

    def __init__(self, width: int, height: int) -> None:
        self.sheet = [[" "] * width for _ in range(height)]

    def put(self, x: float, y: float, text: object) -> str:
        """Write a text from this column and row on; text beyond the sheet is cut off."""
        column, row, letters = round(x), round(y), str(text)
        if 0 <= row < len(self.sheet):
            cells = self.sheet[row]
            begin, end = max(0, column), min(column + len(letters), len(cells))  # of what is on the sheet
            if begin < end:
                cells[begin:end] = letters[begin - column : end - column]
        return ""  # what the template prints where it calls this

    def draw_line(self, x1: float, y1: float, x2: float, y2: float, letter: str) -> str:
        """Draw a straight line of one character."""
        steps = max(abs(round(x2) - round(x1)), abs(round(y2) - round(y1)), 1)
        for step in range(steps + 1):
            self.put(x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps, letter)
        return ""

    def list_rows(self) -> list[str]:
        """Return the sheet, row by row, without spaces at the ends."""
        return ["".join(row).rstrip() for row in self.sheet]
