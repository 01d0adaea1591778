"""The rules to read: one page for each game, where every paragraph can be pointed at."""

from __future__ import annotations

from flask import Blueprint, Response

from engine import catalogue
from service.tables.access import Unknown
from service.text import rulebook
from service.web.rendering import page

rules = Blueprint("rules", __name__, url_prefix="/rules")


@rules.get("")
def shelf() -> Response:
    """The rulebooks there are."""
    return page("rulebooks.html", games=[game.META for game in catalogue.games().values()])


@rules.get("/<name>")
def show(name: str) -> Response:
    """The rules of one game."""
    if name not in catalogue.games():
        raise Unknown("There are no rules of “{name}” here; please choose a game from the list of rules.", name=name)
    return page("rules.html", game=catalogue.find(name).META, book=rulebook.read(name))
