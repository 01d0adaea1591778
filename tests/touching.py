"""What can be touched on the stage of a table and in the tray before it."""

from __future__ import annotations

import re

from service.text.drawing import Scene, stage

TOKEN = re.compile(r'data-token="([^"]+)"')


def touchable(scene: Scene) -> list[str]:
    """The tokens of everything there, as they stand in the page."""
    drawn = stage(scene)
    return TOKEN.findall(drawn.world) + TOKEN.findall(drawn.tray)
