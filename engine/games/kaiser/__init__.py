"""Kaiser, König, Edelmann: bring your emperor into the fortress before anybody else does."""

from engine.games.kaiser.evolve import evolve
from engine.games.kaiser.outlook import outlook
from engine.games.kaiser.rules import META, decide, menu, objection, setup, sources, standing, upkeep
from engine.games.kaiser.state import Event, State
from engine.games.kaiser.view import View, hear, redeal, view

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
