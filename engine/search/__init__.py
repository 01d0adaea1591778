"""Players that think: they need the contract of a game and nothing else, and know no more than their seat may."""

from engine.search.levels import LEVELS, Level, choose, rank

__all__ = ["LEVELS", "Level", "choose", "rank"]
