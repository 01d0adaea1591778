"""Bots that think: they need only the contract of a game, and know no more than their seat may know."""

from engine.search.levels import LEVELS, Level, choose_move, choose_turn, rank_moves

__all__ = ["LEVELS", "Level", "choose_move", "choose_turn", "rank_moves"]
