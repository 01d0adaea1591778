"""Carcassonne with The Messages and the boxes that go with it: lay the land, and claim it."""

from engine.games.carcassonne.boxes import State
from engine.games.carcassonne.changes import Event, evolve
from engine.games.carcassonne.outlook import outlook
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
    "decide",
    "evolve",
    "hear",
    "menu",
    "objection",
    "outlook",
    "redeal",
    "setup",
    "sources",
    "standing",
    "upkeep",
    "view",
]
