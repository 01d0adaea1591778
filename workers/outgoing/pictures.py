"""Boards as pictures for letters: rendered once for each drawing, then remembered."""

from __future__ import annotations

import functools

from service.text.template_files import TEMPLATES
from workers import process_pool

FONTS = TEMPLATES / "static" / "fonts"
WIDTH = 760


@functools.lru_cache(maxsize=256)
def png(svg: str) -> bytes:
    """The drawing as a PNG, with the fonts shipped with the service."""
    return process_pool.do(render, svg)


def render(svg: str) -> bytes:
    """Draw it now."""
    import resvg_py  # slow to load, and only letters need it

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            width=WIDTH,
            skip_system_fonts=True,
            font_files=[str(FONTS / "DejaVuSans.ttf"), str(FONTS / "DejaVuSans-Bold.ttf")],
        )
    )
