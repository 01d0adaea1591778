"""Carcassonne with The Messages, and further boxes that can be mixed in."""

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
