"""Boards as pictures for letters: drawn once for each board, small enough for a letter, then remembered."""

from __future__ import annotations

import functools
import io
import re
import struct
from zlib import crc32

from PIL import Image
from PIL.ImageFile import ImageFile
from zlib_ng import zlib_ng

from service.lru import LRU
from service.text.drawing import VIEW_BOX
from service.text.template_files import TEMPLATES
from workers import process_pool

WIDTH = 760
LARGEST = 80_000  # bytes
COLOURS = (48, 40, 32, 16)  # the most that fit: of flat art the eye does not see the difference before 32
SAMPLE = 4  # each fourth pixel of each fourth row tells the best colours as well as all do, in a third of the time
PACKED = 5  # of zlib-ng's levels; 6 takes half as long again for a hundredth
SIGNATURE = b"\x89PNG\r\n\x1a\n"
PIECES = re.compile(r'(<svg class="sprite".*?)</svg>', re.DOTALL)
PLACE = re.compile(r'<svg class="sprite"[^>]*? x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)" ')
DEFINITIONS = re.compile(r"<defs>.*?</defs>", re.DOTALL)
DEFINED, USED = re.compile(r'<g id="(.*?)".*?(?=<g id="|</defs>)', re.DOTALL), re.compile(r'href="#(.*?)"')
END = "</svg>"
PAPER = re.compile(r'<rect class="paper" .*? fill="(.*?)"/>')
SPRITE_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" font-family="DejaVu Sans"'
Sprite = tuple[Image.Image, Image.Image | None]
SPRITES = LRU[Sprite](16_000_000)  # pixels: some 80 MB, which is every ground and piece of the games of the house
FONTS = TEMPLATES / "static" / "fonts"


@functools.lru_cache(maxsize=256)
def png(svg: str) -> bytes:
    """The drawing as a PNG, with the fonts shipped with the service."""
    return process_pool.run(render, svg)


def render(svg: str) -> bytes:
    """Draw it now."""
    painted = paint(svg)
    sample = painted.resize((painted.width // SAMPLE, painted.height // SAMPLE), Image.Resampling.NEAREST)
    for colours in COLOURS:
        palette = sample.quantize(colours, Image.Quantize.FASTOCTREE)
        made = _file(painted.quantize(palette=palette, dither=Image.Dither.NONE))
        if len(made) <= LARGEST:
            break
    return made


def _file(few: Image.Image) -> bytes:
    """A picture of few colours as a PNG file; Pillow's own packing takes twice as long and is larger."""
    width, pixels = few.width, few.tobytes()
    rows = b"".join(b"\0" + pixels[start : start + width] for start in range(0, len(pixels), width))
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, few.height, 8, 3, 0, 0, 0)),  # eight bits a pixel, by a palette
        (b"PLTE", bytes(few.getpalette() or ())),
        (b"IDAT", zlib_ng.compress(rows, PACKED)),
        (b"IEND", b""),
    )
    packed = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", crc32(name + body)) for name, body in parts
    )
    return SIGNATURE + b"".join(packed)


def paint(svg: str) -> Image.Image:
    """The drawing as wide as pictures of letters are; its sprites are those painted before."""
    drawn, known = DEFINITIONS.sub("", svg), {found[1]: found[0] for found in DEFINED.finditer(svg)}
    head, _, drawn = drawn.rpartition(END)[0].partition(">")
    x, y, across, down = map(float, VIEW_BOX.findall(head)[0].split())
    scale, colour = WIDTH / across, PAPER.findall(drawn) or ["#ffffff"]
    paper = Image.new("RGB", (WIDTH, round(down * scale)), colour[0])
    for part in PIECES.split(PAPER.sub("", drawn, count=1)):
        if place := PLACE.match(part):
            left, top, wide, high = (float(number) * scale for number in place.groups())
            made = part[place.end() :]
            colours, cover = _sprite(f"{made}{_used(made, known)}", round(wide), round(high))
            paper.paste(colours, (round(left - x * scale), round(top - y * scale)), cover)
        elif "<" in part:
            layer = draw(f"{head}>{part}{_used(part, known)}{END}", *paper.size)
            paper.paste(layer, (0, 0), layer)
    return paper


def _used(drawn: str, known: dict[str, str]) -> str:
    """The definitions that a piece of a drawing uses, and those that these use."""
    used = [known[name] for name in dict.fromkeys(USED.findall(drawn)) if name in known]
    return "".join(f"<defs>{one}</defs>{_used(one, known)}" for one in used)


def _sprite(drawn: str, wide: int, high: int) -> Sprite:
    """A sprite as it is pasted: its colours, and how much they cover unless that is everything."""
    key = (drawn, wide, high)
    found = SPRITES.get(key)
    if found is None:
        made = draw(f"{SPRITE_HEAD} {drawn}{END}", wide, high)
        cover = made.getchannel("A")
        found = made.convert("RGB"), None if cover.getextrema() == (255, 255) else cover
        SPRITES.put(key, found, wide * high)
    return found


def draw(svg: str, wide: int, high: int) -> Image.Image:
    """A drawing in exactly this size, transparent where nothing is drawn."""
    sized = svg.replace("<svg", f'<svg width="{wide}" height="{high}" preserveAspectRatio="none"', 1)
    return _drawing()(io.BytesIO(sized.encode()))


@functools.cache
def _drawing() -> type[ImageFile]:
    """What opens drawings, with our fonts; it is loaded only where letters are written."""
    import pillow_lunasvg

    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans.ttf", "DejaVu Sans")
    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans-Bold.ttf", "DejaVu Sans", bold=True)
    return pillow_lunasvg.SvgImageFile
