"""The tokens that can be touched on the board of a page."""

from __future__ import annotations

import re

from service.text.drawing import Scene, draw_stage

TOKEN = re.compile(r'data-token="([^"]+)"')


def list_tokens(scene: Scene) -> list[str]:
    """Return the tokens of the board and the tray in the order of the page."""
    board = draw_stage(scene)
    return TOKEN.findall(board.world) + TOKEN.findall(board.tray)
