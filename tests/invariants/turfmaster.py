"""What is true of every position of TurfMaster."""

from collections import Counter
from itertools import combinations

from engine.games.turfmaster.board import DECK, front, hedged
from engine.games.turfmaster.ride import MOST


def check(state):
    for horse in state.horses:
        assert Counter((*horse.hand, *horse.pack, *horse.spent, *horse.gone)) == Counter(DECK)
        assert not horse.chosen or horse.chosen in horse.hand
        assert horse.field not in hedged(state.hedges)
    fields = [horse.field for horse in state.horses if horse.field]
    for (lane, index), (other, place) in combinations(fields, 2):
        assert lane != other or abs(index - place) > 1
    assert not state.fallen or state.hedges or state.stage != "riding"
    assert all(8 <= limit <= MOST for limit in state.limits)
    if state.last and state.last.start != state.last.end:
        assert front(state.last.start) < front(state.last.end)
