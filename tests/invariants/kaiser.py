"""Invariants of every position of Kaiser, König, Edelmann."""

from collections import Counter

from engine.games.kaiser.board import CENTRE, CROSSINGS


def check(state):
    assert set(state.stones) <= set(CROSSINGS)
    for seat, out in enumerate(state.out):
        ranks = Counter(stone.rank for stone in state.stones.values() if stone.seat == seat)
        assert ranks["emperor"] <= 1
        assert ranks["king"] <= 3
        assert ranks["nobleman"] <= 4
        if out:
            assert ranks["emperor"] == 0
    inside = state.stones.get(CENTRE)
    assert inside is None or inside.rank == "emperor"
    assert state.decided or not state.out[state.turn] or not state.stones
