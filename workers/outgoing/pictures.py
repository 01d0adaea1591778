"""Boards as pictures for letters: drawn once for each board, small enough for a letter, then remembered."""

from __future__ import annotations

import functools
import io

from PIL import Image

from workers import process_pool

WIDTH = 760
LARGEST = 80_000  # bytes
COLOURS = (64, 32, 16)  # the most that fit: of flat art the eye does not see the difference before 32


@functools.lru_cache(maxsize=256)
def png(svg: str) -> bytes:
    """The drawing as a PNG, with the fonts shipped with the service."""
    return process_pool.do(render, svg)


def render(svg: str) -> bytes:
    """Draw it now."""
    from workers.outgoing import sprites

    painted = sprites.paint(svg, WIDTH)
    flat = Image.new("RGB", painted.size, "white")
    flat.paste(painted, mask=painted.getchannel("A"))
    for colours in COLOURS:
        made = io.BytesIO()
        few = flat.quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(made, "PNG", compress_level=6)
        if made.tell() <= LARGEST:
            break
    return made.getvalue()
