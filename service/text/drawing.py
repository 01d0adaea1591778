"""Boards: as one picture for letters, taken apart for pages, and as text; all drawn from the templates of a game.

A letter has its picture as a PNG file, small enough for an e-mail. The parts of class `sprite`, such as a tile, are the
same on many boards: they are drawn once, and pasted.
"""

from __future__ import annotations

import functools
import io
import re
import struct
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from zlib import crc32

import jinja2
from msgspec import Struct
from zlib_ng import zlib_ng

from engine import catalogue
from engine.menu import Menu
from service.memory import LRU
from service.text import templates
from service.text.narration import Narrator, join_lines
from service.text.templates import TEMPLATES

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageFile import ImageFile

SPOT = re.compile(r'id="([^"]+)" class="spot"')
VIEW_BOX = re.compile(r'viewBox="([^"]+)"')

# Okabe and Ito's colours, which colour-blind people can tell apart, each with a readable ink and with a shape.
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
FONTS = TEMPLATES / "static" / "fonts"
PICTURE_WIDTH = 760
MAX_PICTURE_BYTES = 80_000
PALETTE_SIZES = (48, 40, 32, 16)  # the largest that fits: with flat colours no eye sees a difference above 32
SAMPLE_STEP = 4  # each fourth pixel of each fourth row gives as good a palette, in a third of the time
COMPRESSION_LEVEL = 5  # of zlib-ng; level 6 takes half as long again for one hundredth
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
EIGHT_BITS, INDEXED_COLOUR = 8, 3  # of a pixel in a PNG file
STANDARD_METHODS = (0, 0, 0)  # of compression and filtering, and not interlaced
NO_FILTER = b"\0"  # of a row

SPRITE_PART = re.compile(r'(<svg class="sprite".*?)</svg>', re.DOTALL)  # splits: sprites, and what is between them
SPRITE_BOX = re.compile(
    r'<svg class="sprite"[^>]*? x="(?P<x>.+?)" y="(?P<y>.+?)" width="(?P<width>.+?)" height="(?P<height>.+?)" '
)
DEFINITIONS = re.compile(r"<defs>.*?</defs>", re.DOTALL)
DEFINITION = re.compile(r'<g id="(.*?)".*?(?=<g id="|</defs>)', re.DOTALL)
REFERENCE = re.compile(r'href="#(.*?)"')
PAPER = re.compile(r'<rect class="paper" .*? fill="(.*?)"/>')
END_TAG = "</svg>"
SPRITE_TAG = '<svg xmlns="http://www.w3.org/2000/svg" font-family="DejaVu Sans"'

# The colours of a sprite, and the mask by which they are pasted: how opaque each pixel is. None: all pixels are opaque.
Sprite: TypeAlias = "tuple[Image.Image, Image.Image | None]"
SpriteKey = tuple[str, int, int]  # its drawing with all definitions, and its width and height in pixels
SPRITES: LRU[Sprite] = LRU(16_000_000)  # pixels: about 80 MB, which holds all grounds and pieces of the games here


class Player(Struct, frozen=True):
    """The name, colour and shape of a seat; the shape is always shown with the colour."""

    name: str
    colour: str
    ink: str
    shape: str


class Scene(Struct, frozen=True):
    """The view and menu that one reader has of a game: a player, or a spectator (`me` is None).

    `seats_to_move` is empty where only the game says whose turn it is, as in a rule book. `planned` has the words of
    the moves that the reader plans, each once: the board has hidden drawings for them, which the page shows.
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
    """A board taken apart for a page: the world, a mat for each seat, a line of facts, the tray, and the rest.

    `stock` is the title of the page about what may still come up; empty in a game where nothing can.
    """

    world: str
    mats: tuple[str, ...]
    facts: str = ""
    tray: str = ""
    more: str = ""
    stock: str = ""

    @property
    def world_picture(self) -> str:
        """The world as one picture, without the small map of it, which follows."""
        return self.world.partition("</svg>")[0] + "</svg>"


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
    """Give each name, in the order of the seats, its colour, ink and shape."""
    return tuple(Player(name, *PALETTE[seat % len(PALETTE)]) for seat, name in enumerate(names))


def draw_board(cache: LRU[DrawnBoard], position_key: Hashable, scene: Scene, narrator: Narrator) -> DrawnBoard:
    """Draw the board as one picture, or take it from the cache; the key identifies the table and its last entry."""
    return _draw_once(
        cache,
        position_key,
        scene,
        lambda: DrawnBoard(draw_board_svg(scene), draw_board_text(scene), narrator.describe_board(scene.view)),
    )


def draw_staged_board(cache: LRU[StagedBoard], position_key: Hashable, scene: Scene, narrator: Narrator) -> StagedBoard:
    """Draw the board in its parts, or take it from the cache; the key identifies the table and its last entry."""
    return _draw_once(
        cache,
        position_key,
        scene,
        lambda: StagedBoard(draw_stage(scene), draw_board_text(scene), narrator.describe_board(scene.view)),
    )


def _draw_once(cache: LRU[T], position_key: Hashable, scene: Scene, draw: Callable[[], T]) -> T:
    """Return the cached board of this position and reader; call `draw` only if there is none."""
    names = tuple(player.name for player in scene.players)
    is_lit = bool(scene.menu)  # a reader has one menu in a position, but not every page shows it
    key = (position_key, scene.me, names, is_lit, scene.language, scene.planned)
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
    environment, values = templates.get_environment(scene.language, game), _list_template_values(scene)
    if not _has_world(environment, game):
        return Stage(world=_make_world(draw_board_svg(scene)), mats=("",) * len(scene.players))
    mats: Any = environment.get_template("games/mats.html").make_module(values)
    return Stage(
        world=environment.get_template("games/stage.svg").render(values),
        mats=tuple(mats.part(seat).strip() for seat in range(len(scene.players))),
        facts=join_lines(mats.part("facts")),
        tray=mats.part("tray").strip(),
        more=mats.part("more").strip(),
        stock=mats.part("stock_word").strip(),
    )


def draw_stock(scene: Scene) -> str:
    """Draw what may still come up, as far as this reader may know it; empty in a game where nothing can."""
    game = scene.game.META.name
    environment = templates.get_environment(scene.language, game)
    if not _has_world(environment, game):  # a game with one picture only shows no stock
        return ""
    mats: Any = environment.get_template("games/mats.html").make_module(_list_template_values(scene))
    return str(mats.part("stock")).strip()


def draw_illustration(scene: Scene, box: Sequence[float] | None, *, whole: bool) -> str:
    """Draw a board for a rule book: its world alone, or the `whole` picture as in a letter; a `box` crops it."""
    game = scene.game.META.name
    environment = templates.get_environment(scene.language, game)
    if whole or not _has_world(environment, game):
        picture = draw_board_svg(scene)
    else:
        picture = environment.get_template("games/part.svg").render(_list_template_values(scene))
    if not box:
        return picture
    numbers = " ".join(map(str, box))
    return VIEW_BOX.sub(f'viewBox="{numbers}"', picture, count=1)


def _has_world(environment: jinja2.Environment, game: str) -> bool:
    """Return whether the game draws its world, and so its board on the page, by a template of its own."""
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
    """Render a template of the game, such as `board.svg`, with a scene."""
    game = scene.game.META.name
    environment = templates.get_environment(scene.language, game)
    return environment.get_template(f"games/{game}/{name}").render(_list_template_values(scene))


def _list_template_values(scene: Scene) -> dict[str, Any]:
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


def paint_png(svg: str) -> bytes:
    """Return an SVG as a PNG file for a letter, with as many colours as keep the file small enough, at least 16."""
    from PIL import Image

    painting = paint_picture(svg)
    size = (painting.width // SAMPLE_STEP, painting.height // SAMPLE_STEP)
    sample = painting.resize(size, Image.Resampling.NEAREST)
    for colours in PALETTE_SIZES:
        palette = sample.quantize(colours, Image.Quantize.FASTOCTREE)
        file = _encode_png(painting.quantize(palette=palette, dither=Image.Dither.NONE))
        if len(file) <= MAX_PICTURE_BYTES:
            break
    return file


def _encode_png(image: Image.Image) -> bytes:
    """Return an image with a palette as a PNG file. Pillow's own encoder takes twice as long and makes larger files."""
    width = image.width
    pixels = image.tobytes()
    rows = b"".join(NO_FILTER + pixels[start : start + width] for start in range(0, len(pixels), width))
    chunks = (
        (b"IHDR", struct.pack(">2I5B", width, image.height, EIGHT_BITS, INDEXED_COLOUR, *STANDARD_METHODS)),
        (b"PLTE", bytes(image.getpalette() or ())),
        (b"IDAT", zlib_ng.compress(rows, COMPRESSION_LEVEL)),
        (b"IEND", b""),
    )
    # Each chunk has its length, its name, its body and a checksum.
    return PNG_SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", crc32(name + body)) for name, body in chunks
    )


def get_view_box(svg: str) -> tuple[float, ...]:
    """Return the left, top, width and height of a drawing, in its own units."""
    match = VIEW_BOX.search(svg)
    assert match
    return tuple(map(float, match[1].split()))


def measure_picture(svg: str) -> tuple[int, int]:
    """Return the width and height in pixels of the picture that `paint_picture` makes of an SVG."""
    _, _, box_width, box_height = get_view_box(svg)
    return PICTURE_WIDTH, round(box_height * PICTURE_WIDTH / box_width)


def paint_picture(svg: str) -> Image.Image:
    """Paint an SVG as wide as pictures in letters are, part by part: sprites are pasted, all between them is painted.

    A part between two sprites is painted as an SVG of its own, with the head of the whole and the definitions that it
    refers to.
    """
    from PIL import Image

    definitions = {match[1]: match[0] for match in DEFINITION.finditer(svg)}
    head, body = _split_svg(svg)
    view_left, view_top, view_width, view_height = get_view_box(head)
    scale = PICTURE_WIDTH / view_width
    paper = PAPER.search(body)
    painting = Image.new("RGB", (PICTURE_WIDTH, round(view_height * scale)), paper[1] if paper else "#ffffff")
    # The group in SPRITE_PART keeps the sprites in the list, as every second part.
    parts = [(part, SPRITE_BOX.match(part)) for part in SPRITE_PART.split(PAPER.sub("", body, count=1))]
    keys = {part: _make_sprite_key(part, box, scale, definitions) for part, box in parts if box}
    sprites = _load_sprites(keys.values())
    for part, box in parts:
        if box:
            colours, mask = sprites[keys[part]]
            left, top = float(box["x"]) * scale, float(box["y"]) * scale
            painting.paste(colours, (round(left - view_left * scale), round(top - view_top * scale)), mask)
        elif "<" in part:  # not only white space between two sprites
            drawing = f"{head}{part}{_collect_definitions(part, definitions)}{END_TAG}"
            layer = paint_svg(drawing, *painting.size)
            painting.paste(layer, (0, 0), layer)
    return painting


def _split_svg(svg: str) -> tuple[str, str]:
    """Return the first tag of a drawing, and all that is inside except the definitions."""
    drawing, _end_tag, _ = DEFINITIONS.sub("", svg).rpartition(END_TAG)
    head, _, body = drawing.partition(">")
    return f"{head}>", body


def _collect_definitions(part: str, definitions: dict[str, str]) -> str:
    """Return the definitions that a part of a drawing refers to, and those that these refer to."""
    names = dict.fromkeys(REFERENCE.findall(part))
    bodies = [definitions[name] for name in names if name in definitions]
    return "".join(f"<defs>{body}</defs>{_collect_definitions(body, definitions)}" for body in bodies)


def _make_sprite_key(part: str, box: re.Match[str], scale: float, definitions: dict[str, str]) -> SpriteKey:
    """Make the key of a sprite: what is drawn after its tag, and its size in pixels.

    `box` is the match of its tag with its place and size, and `scale` the pixels for each unit of the whole drawing.
    """
    drawing = part[box.end() :]
    width, height = float(box["width"]) * scale, float(box["height"]) * scale
    return drawing + _collect_definitions(drawing, definitions), round(width), round(height)


def _load_sprites(keys: Collection[SpriteKey]) -> dict[SpriteKey, Sprite]:
    """Return the sprites of these keys; those that were not painted lately are painted."""
    sprites = SPRITES.get_all(keys)
    for key in keys:
        if key not in sprites:
            drawing, width, height = key
            sprites[key] = _paint_sprite(drawing, width, height)
            SPRITES.put(key, sprites[key], width * height)
    return sprites


def _paint_sprite(drawing: str, width: int, height: int) -> Sprite:
    """Paint a sprite; it needs no mask if all of its pixels are opaque."""
    image = paint_svg(f"{SPRITE_TAG} {drawing}{END_TAG}", width, height)
    mask = image.getchannel("A")
    is_opaque = mask.getextrema() == (255, 255)
    return image.convert("RGB"), None if is_opaque else mask


def paint_svg(svg: str, width: int, height: int) -> Image.Image:
    """Paint an SVG in exactly this size, on a transparent ground."""
    sized = svg.replace("<svg", f'<svg width="{width}" height="{height}" preserveAspectRatio="none"', 1)
    return _load_renderer()(io.BytesIO(sized.encode()))


@functools.cache
def _load_renderer() -> type[ImageFile]:
    """Load the SVG renderer with the fonts of the service; only processes that write letters need it."""
    import pillow_lunasvg

    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans.ttf", "DejaVu Sans")
    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans-Bold.ttf", "DejaVu Sans", bold=True)
    return pillow_lunasvg.SvgImageFile
