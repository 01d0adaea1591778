"""Invariants of every position of TurfMaster."""

from collections import Counter
from itertools import combinations

from engine.games.turfmaster.ride import MOST_POINTS, get_front, list_hedge_fields
from engine.games.turfmaster.state import PACK


def check(state):
    for horse in state.horses:
        assert Counter((*horse.hand, *horse.pack, *horse.spent, *horse.gone)) == Counter(PACK)
        assert not horse.chosen or horse.chosen in horse.hand
        assert horse.field not in list_hedge_fields(state.hedges)
    fields = [horse.field for horse in state.horses if horse.field]
    for (lane, index), (other_lane, other_index) in combinations(fields, 2):
        assert lane != other_lane or abs(index - other_index) > 1
    assert not state.fallen or state.hedges or state.stage != "riding"
    assert all(8 <= limit <= MOST_POINTS for limit in state.limits)
    if state.last and state.last.start != state.last.end:
        assert get_front(state.last.start) < get_front(state.last.end)
