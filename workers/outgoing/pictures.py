"""Pictures in letters: boards and charts, small enough for an e-mail.

A drawing is an SVG of the game's templates. Its parts of class `sprite`, such as a tile, are the same on many boards:
they are drawn once, and pasted.
"""

from __future__ import annotations

import functools
import io
import re
import struct
from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

from msgspec import Struct
from PIL import Image
from PIL.ImageFile import ImageFile
from zlib_ng import zlib_ng

from service.lru import LRU
from service.text.drawing import VIEW_BOX, Player
from service.text.templates import TEMPLATES, get_environment
from workers import process_pool

FONTS = TEMPLATES / "static" / "fonts"
PICTURE_WIDTH = 760
MAX_PICTURE_BYTES = 80_000
PALETTE_SIZES = (48, 40, 32, 16)  # the largest that fits: with flat colours no eye sees a difference above 32
SAMPLE_STEP = 4  # each fourth pixel of each fourth row gives as good a palette, in a third of the time
COMPRESSION_LEVEL = 5  # of zlib-ng; level 6 takes half as long again for one hundredth
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
EIGHT_BITS, INDEXED_COLOUR = 8, 3  # of a pixel in a PNG file

SPRITE_PART = re.compile(r'(<svg class="sprite".*?)</svg>', re.DOTALL)
SPRITE_BOX = re.compile(r'<svg class="sprite"[^>]*? x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)" ')
DEFINITIONS = re.compile(r"<defs>.*?</defs>", re.DOTALL)
DEFINITION = re.compile(r'<g id="(.*?)".*?(?=<g id="|</defs>)', re.DOTALL)
REFERENCE = re.compile(r'href="#(.*?)"')
PAPER = re.compile(r'<rect class="paper" .*? fill="(.*?)"/>')
END_TAG = "</svg>"
SPRITE_TAG = '<svg xmlns="http://www.w3.org/2000/svg" font-family="DejaVu Sans"'

Sprite = tuple[Image.Image, Image.Image | None]  # colours, and how much they cover unless that is everything
SpriteKey = tuple[str, int, int]  # its SVG, and its width and height in pixels
SPRITES = LRU[Sprite](16_000_000)  # pixels: about 80 MB, which holds all grounds and pieces of the games here

BAR_CHARACTERS = "▁▂▃▄▅▆▇█"
BARS_PER_ROW = 24
QUARTERS = 4
CHART_LEFT, CHART_RIGHT, CHART_TOP, MIN_CHART_BOTTOM = 12, 540, 36, 200
NAME_HEIGHT = 34


@functools.lru_cache(maxsize=256)
def png(svg: str) -> bytes:
    """Return a drawing as a PNG file; drawn in the process pool, with the fonts of the service."""
    return process_pool.run(render, svg)


def render(svg: str) -> bytes:
    """Draw an SVG in this process, with as many colours as fit into the size of a picture in a letter."""
    painting = paint(svg)
    size = (painting.width // SAMPLE_STEP, painting.height // SAMPLE_STEP)
    sample = painting.resize(size, Image.Resampling.NEAREST)
    for colours in PALETTE_SIZES:
        palette = sample.quantize(colours, Image.Quantize.FASTOCTREE)
        file = _encode(painting.quantize(palette=palette, dither=Image.Dither.NONE))
        if len(file) <= MAX_PICTURE_BYTES:
            break
    return file


def _encode(image: Image.Image) -> bytes:
    """Return an image with a palette as a PNG file. Pillow's own encoder takes twice as long, for larger files."""
    width, pixels = image.width, image.tobytes()
    rows = b"".join(b"\0" + pixels[start : start + width] for start in range(0, len(pixels), width))
    chunks = (
        (b"IHDR", struct.pack(">2I5B", width, image.height, EIGHT_BITS, INDEXED_COLOUR, 0, 0, 0)),
        (b"PLTE", bytes(image.getpalette() or ())),
        (b"IDAT", zlib_ng.compress(rows, COMPRESSION_LEVEL)),
        (b"IEND", b""),
    )
    return PNG_SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", crc32(name + body)) for name, body in chunks
    )


def paint(svg: str) -> Image.Image:
    """Draw an SVG as wide as pictures in letters are. Its sprites are pasted, the parts between them are drawn."""
    definitions = {match[1]: match[0] for match in DEFINITION.finditer(svg)}
    head, _, body = DEFINITIONS.sub("", svg).rpartition(END_TAG)[0].partition(">")
    x, y, box_width, box_height = map(float, VIEW_BOX.findall(head)[0].split())
    scale, colour = PICTURE_WIDTH / box_width, PAPER.findall(body) or ["#ffffff"]
    paper = Image.new("RGB", (PICTURE_WIDTH, round(box_height * scale)), colour[0])
    parts = [(part, SPRITE_BOX.match(part)) for part in SPRITE_PART.split(PAPER.sub("", body, count=1))]
    keys = [_make_key(part, box, scale, definitions) for part, box in parts if box]
    sprites = iter(_draw_sprites(keys))
    for part, box in parts:
        if box:
            colours, cover = next(sprites)
            left, top = float(box[1]) * scale, float(box[2]) * scale
            paper.paste(colours, (round(left - x * scale), round(top - y * scale)), cover)
        elif "<" in part:
            layer = draw(f"{head}>{part}{_collect_definitions(part, definitions)}{END_TAG}", *paper.size)
            paper.paste(layer, (0, 0), layer)
    return paper


def _collect_definitions(part: str, definitions: dict[str, str]) -> str:
    """Return the definitions that a part of a drawing refers to, and those that these refer to."""
    names = dict.fromkeys(REFERENCE.findall(part))
    bodies = [definitions[name] for name in names if name in definitions]
    return "".join(f"<defs>{body}</defs>{_collect_definitions(body, definitions)}" for body in bodies)


def _make_key(part: str, box: re.Match[str], scale: float, definitions: dict[str, str]) -> SpriteKey:
    """Return the SVG of a sprite with its definitions, and its size in pixels."""
    sprite = part[box.end() :]
    width, height = float(box[3]) * scale, float(box[4]) * scale
    return f"{sprite}{_collect_definitions(sprite, definitions)}", round(width), round(height)


def _draw_sprites(keys: Sequence[SpriteKey]) -> list[Sprite]:
    """Return these sprites; draw those that were not drawn before."""
    sprites = SPRITES.get_all(keys)
    missing = {key: _draw_sprite(*key) for key in dict.fromkeys(keys) if key not in sprites}
    for key, sprite in missing.items():
        SPRITES.put(key, sprite, key[1] * key[2])
    sprites |= missing
    return [sprites[key] for key in keys]


def _draw_sprite(part: str, width: int, height: int) -> Sprite:
    image = draw(f"{SPRITE_TAG} {part}{END_TAG}", width, height)
    cover = image.getchannel("A")
    return image.convert("RGB"), None if cover.getextrema() == (255, 255) else cover


def draw(svg: str, width: int, height: int) -> Image.Image:
    """Draw an SVG in exactly this size, on a transparent ground."""
    sized = svg.replace("<svg", f'<svg width="{width}" height="{height}" preserveAspectRatio="none"', 1)
    return _load_renderer()(io.BytesIO(sized.encode()))


@functools.cache
def _load_renderer() -> type[ImageFile]:
    """Load the SVG renderer with the fonts of the service; only processes that write letters need it."""
    import pillow_lunasvg

    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans.ttf", "DejaVu Sans")
    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans-Bold.ttf", "DejaVu Sans", bold=True)
    return pillow_lunasvg.SvgImageFile


class ChartLine(Struct, frozen=True):
    """A player's line in a chart: its path, and how far down it ends and the name is."""

    player: Player
    path: str
    end: float
    name: float


class ChartDrawing(Struct, frozen=True):
    """A chart as its template draws it: the highest number, the lines, and the box around them."""

    highest: str
    lines: tuple[ChartLine, ...]
    bottom: float
    left: float = CHART_LEFT
    right: float = CHART_RIGHT
    top: float = CHART_TOP


class Chart(Struct, frozen=True):
    """One number of each player over a game, between two bounds.

    Each point is the step of the game from which on its numbers held, and the numbers by seat.
    """

    points: tuple[tuple[int, tuple[float, ...]], ...]
    least: float
    most: float
    unit: str = ""

    def bars(self, seat: int) -> str:
        """Return one player's numbers as a row of small bars."""
        top = len(BAR_CHARACTERS) - 1
        return "".join(BAR_CHARACTERS[round(top * self._part(row[seat]))] for row in self._sample(BARS_PER_ROW))

    def quarters(self, seat: int) -> str:
        """Return one player's numbers after each quarter of the game, in place of the picture."""
        return " → ".join(f"{row[seat]:.0f}{self.unit}" for row in self._sample(QUARTERS))

    def svg(self, players: Sequence[Player]) -> str:
        """Draw a line for each player, with the name where it ends."""
        bottom = max(MIN_CHART_BOTTOM, CHART_TOP + NAME_HEIGHT * (len(players) - 1))
        width, steps = CHART_RIGHT - CHART_LEFT, self.points[-1][0]
        across = [round(CHART_LEFT + width * step / steps, 1) for step, _ in self.points]
        down = [
            [round(bottom - (bottom - CHART_TOP) * self._part(numbers[seat]), 1) for _, numbers in self.points]
            for seat in range(len(players))
        ]
        names = _spread([heights[-1] for heights in down], bottom)
        lines = tuple(
            ChartLine(player, _make_path(across, heights), heights[-1], name)
            for player, heights, name in zip(players, down, names, strict=True)
        )
        drawing = ChartDrawing(f"{int(self.most)}{self.unit}", lines, bottom)
        return get_environment().get_template("mail/chart.svg").render(chart=drawing)

    def _part(self, number: float) -> float:
        """Return where a number is between the bounds, from 0 to 1."""
        return (number - self.least) / (self.most - self.least)

    def _sample(self, parts: int) -> list[tuple[float, ...]]:
        """Return the numbers after each of so many equal parts of the game."""
        ends = [self.points[-1][0] * (part + 1) // parts for part in range(parts)]
        return [
            next((numbers for step, numbers in reversed(self.points) if step <= end), self.points[0][1]) for end in ends
        ]


def _make_path(across: Sequence[float], down: Sequence[float]) -> str:
    """Return the path of a line that goes in steps, to the right edge of the chart."""
    steps = "".join(f"H{x}V{y}" for x, y in list(zip(across, down, strict=True))[1:])
    return f"M{across[0]} {down[0]}{steps}H{CHART_RIGHT}"


def _spread(heights: list[float], bottom: float) -> list[float]:
    """Move the heights of names apart where they would overlap, none below the bottom."""
    spread, order = list(heights), sorted(range(len(heights)), key=heights.__getitem__)
    for above, seat in pairwise(order):
        spread[seat] = max(spread[seat], spread[above] + NAME_HEIGHT)
    lowest = bottom
    for seat in reversed(order):
        spread[seat] = min(spread[seat], lowest)
        lowest = spread[seat] - NAME_HEIGHT
    return spread
