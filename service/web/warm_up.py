"""Warm-up at start: templates are compiled and pictures draw_board before the first request."""

from __future__ import annotations

import threading

from engine import catalogue
from service.text.languages import SOURCE
from service.web.lobby_pages import draw_board
from service.web.rendering import page_environment


def beside() -> None:
    """Prepare while the service begins to answer already."""
    threading.Thread(target=prepare, name="prepare", daemon=True).start()


def prepare() -> None:
    """What the first page needs first, then every template there is; compiled once, they serve all languages."""
    for name in catalogue.find_all():
        draw_board(name, SOURCE)
    templates = page_environment(SOURCE)
    for template in templates.list_templates(extensions=("html", "txt", "svg")):
        templates.get_template(template)
