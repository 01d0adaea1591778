"""Pictures as PNG files, small enough for an e-mail.

A drawing is an SVG of the game's templates. Its parts of class `sprite`, such as a tile, are the same on many boards:
they are drawn once, and pasted.
"""

from __future__ import annotations

import functools
import io
import re
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from zlib_ng import zlib_ng

from service.lru import LRU
from service.text.drawing import VIEW_BOX
from service.text.templates import TEMPLATES

if TYPE_CHECKING:  # web processes seldom paint
    from PIL import Image
    from PIL.ImageFile import ImageFile

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

Sprite: TypeAlias = (
    "tuple[Image.Image, Image.Image | None]"  # colours, and how much they cover unless that is everything
)
SpriteKey = tuple[str, int, int]  # its SVG, and its width and height in pixels
SPRITES: LRU[Sprite] = LRU(16_000_000)  # pixels: about 80 MB, which holds all grounds and pieces of the games here


def render(svg: str) -> bytes:
    """Draw an SVG in this process, with as many colours as fit into the size of a picture in a letter."""
    from PIL import Image

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


def measure(svg: str) -> tuple[int, int]:
    """Return the width and height that the picture of a drawing has, in pixels."""
    _, _, box_width, box_height = map(float, VIEW_BOX.findall(svg)[0].split())
    return PICTURE_WIDTH, round(box_height * PICTURE_WIDTH / box_width)


def paint(svg: str) -> Image.Image:
    """Draw an SVG as wide as pictures in letters are. Its sprites are pasted, the parts between them are drawn."""
    from PIL import Image

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
    SPRITES.put_all({key: (sprite, key[1] * key[2]) for key, sprite in missing.items()})
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
