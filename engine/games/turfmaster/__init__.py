"""TurfMaster, with the Grand National: three horse races on cards and dice."""

from engine.games.turfmaster import board
from engine.games.turfmaster.evolve import evolve
from engine.games.turfmaster.outlook import outlook
from engine.games.turfmaster.rules import decide, menu, objection, setup, sources, standing, upkeep
from engine.games.turfmaster.state import META, Event, State
from engine.games.turfmaster.view import View, hear, redeal, view

__all__ = [
    "META",
    "Event",
    "State",
    "View",
    "board",
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
