"""What is true of every position of High Card."""


def check(state):
    held = [card for hand in state.hands for card in hand]
    assert len({*held, *state.seen}) == len(held) + len(state.seen)
    assert sum(state.points) * len(state.hands) == len(state.seen) - len(state.trick)
    assert set(state.trick) <= set(state.seen)
