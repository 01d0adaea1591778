"""Boards as pictures for letters: drawn once for each board, small enough for a letter, then remembered."""

from __future__ import annotations

import functools
import io

from PIL import Image

from service.text.drawing import VIEW_BOX
from service.text.template_files import TEMPLATES
from workers import process_pool

WIDTH = 760
LARGEST = 80_000  # bytes
COLOURS = (48, 40, 32, 16)  # the most that fit: of flat art the eye does not see the difference before 32
SAMPLE = 4  # each fourth pixel of each fourth row tells the best colours as well as all do, in a third of the time
PACKED = 5  # of zlib's levels; 6 takes half as long again for three hundredths
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
        made = io.BytesIO()
        palette = sample.quantize(colours, Image.Quantize.FASTOCTREE)
        few = painted.quantize(palette=palette, dither=Image.Dither.NONE)
        few.save(made, "PNG", compress_level=PACKED)
        if made.tell() <= LARGEST:
            break
    return made.getvalue()


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
