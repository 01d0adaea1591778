"""Invariants of every position of High Card."""


def check(state):
    in_hands = [card for hand in state.hands for card in hand]
    assert len({*in_hands, *state.seen}) == len(in_hands) + len(state.seen)
    assert sum(state.points) * len(state.hands) == len(state.seen) - len(state.trick)
    assert set(state.trick) <= set(state.seen)
