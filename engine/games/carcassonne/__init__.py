"""Carcassonne with The Messages, and further boxes that can be mixed in."""

from functools import partial
from types import ModuleType

from msgspec.structs import replace

from engine.games.carcassonne import board as board  # loaded here because templates find it by its name
from engine.games.carcassonne.advance import advance
from engine.games.carcassonne.boxes import State
from engine.games.carcassonne.evolve import Event, evolve
from engine.games.carcassonne.outlook import outlook, prune
from engine.games.carcassonne.rules import (
    META,
    decide,
    menu,
    objection,
    setup,
    sources,
    standing,
    upkeep,
)
from engine.games.carcassonne.view import View, hear, redeal, view

__all__ = [
    "META",
    "Event",
    "State",
    "View",
    "advance",
    "decide",
    "evolve",
    "hear",
    "make_edition",
    "menu",
    "objection",
    "outlook",
    "prune",
    "redeal",
    "setup",
    "sources",
    "standing",
    "upkeep",
    "view",
]


def make_edition(number: int) -> ModuleType:
    """Return an earlier edition: the same game, whose state holds this number, by which `editions.py` decides."""
    edition = ModuleType(f"{__name__}.edition_{number}")
    vars(edition).update({name: globals()[name] for name in ("__package__", "__file__", *__all__)})
    vars(edition).update(META=replace(META, edition=number), setup=partial(setup, edition=number))
    return edition
