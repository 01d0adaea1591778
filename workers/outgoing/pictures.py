"""Boards as pictures for letters: drawn once for each board, small enough for a letter, then remembered."""

from __future__ import annotations

import functools
import io
import struct
from zlib import crc32

from PIL import Image
from zlib_ng import zlib_ng

from service.text.drawing import VIEW_BOX
from service.text.template_files import TEMPLATES
from workers import process_pool

WIDTH = 760
LARGEST = 80_000  # bytes
COLOURS = (48, 40, 32, 16)  # the most that fit: of flat art the eye does not see the difference before 32
SAMPLE = 4  # each fourth pixel of each fourth row tells the best colours as well as all do, in a third of the time
PACKED = 5  # of zlib-ng's levels; 6 takes half as long again for a hundredth
SIGNATURE = b"\x89PNG\r\n\x1a\n"
FONTS = TEMPLATES / "static" / "fonts"


@functools.lru_cache(maxsize=256)
def png(svg: str) -> bytes:
    """The drawing as a PNG, with the fonts shipped with the service."""
    return process_pool.do(render, svg)


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
    """The drawing on white paper, as wide as pictures of letters are."""
    _learn_to_draw()
    x, y, across, down = map(float, VIEW_BOX.findall(svg)[0].split())
    size = f'width="{WIDTH}" height="{round(WIDTH * down / across)}" preserveAspectRatio="none"'
    paper = f'<rect x="{x}" y="{y}" width="{across}" height="{down}" fill="#ffffff"/>'
    head, _, drawn = svg.partition(">")
    sized = f"{head.replace('<svg', f'<svg {size}', 1)}>{paper}{drawn}"
    return Image.open(io.BytesIO(sized.encode())).convert("RGB")


@functools.cache
def _learn_to_draw() -> None:
    """Pillow opens drawings from now on; what draws them is loaded only where letters are written."""
    import pillow_lunasvg

    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans.ttf", "DejaVu Sans")
    pillow_lunasvg.add_font_file(FONTS / "DejaVuSans-Bold.ttf", "DejaVu Sans", bold=True)
