"""Kaiser, König, Edelmann: bring your emperor into the fortress before anybody else does."""

from engine.games.kaiser.rules import (
    META,
    Event,
    State,
    decide,
    evolve,
    menu,
    objection,
    setup,
    standing,
    upkeep,
)
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
    "redeal",
    "setup",
    "standing",
    "upkeep",
    "view",
]
