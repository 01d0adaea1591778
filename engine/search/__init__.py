"""Players that think: they need the contract of a game and nothing else, and know no more than their seat may."""

from engine.search.levels import LEVELS, Level, choose, rank
from engine.search.whole_turn import whole_turn

__all__ = ["LEVELS", "Level", "choose", "rank", "whole_turn"]
