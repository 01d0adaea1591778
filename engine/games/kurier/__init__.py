"""Kurier des Zaren: be the first to bring a dispatch past the guards to the tsar."""

from engine.games.kurier.evolve import evolve
from engine.games.kurier.outlook import outlook
from engine.games.kurier.rules import META, decide, menu, objection, setup, standing, upkeep
from engine.games.kurier.state import Event, State
from engine.games.kurier.view import View, hear, redeal, view

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
    "standing",
    "upkeep",
    "view",
]
