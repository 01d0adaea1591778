"""Kaiser, König, Edelmann: bring your emperor into the fortress before the other players do."""

from engine.games.kaiser.outlook import outlook
from engine.games.kaiser.rules import META, decide, menu, objection, setup, sources, standing, upkeep
from engine.games.kaiser.state import Event, State, View, evolve, hear, redeal, view

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
