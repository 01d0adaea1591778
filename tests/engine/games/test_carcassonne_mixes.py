"""Random games in mixes of all boxes: nothing is lost, every point is announced, and a count by hand agrees."""

from random import Random

import pytest

from engine import bots, options
from engine.games import carcassonne
from tests.engine.games.carcassonne_flood_boxes import BoxCount
from tests.invariants import carcassonne as invariants

OPTIONS = options.describe(carcassonne.META.options)


def mix(number):
    """Options that go together, from the bare game to all boxes, and a number of seats."""
    random = Random(number)
    share = random.choice((0.1, 0.3, 0.6, 0.9))
    chosen = {option.name: random.choice(option.values) for option in OPTIONS}
    chosen |= {option.name: random.random() < share for option in OPTIONS if option.kind == "switch"}
    chosen |= {"school": False} if chosen["river"] else {}
    chosen |= {"messages": False, "fairy": False} if number % 2 else {}
    settled = options.parse(carcassonne.META.options, chosen)
    return settled, random.randint(2, 6 if settled.inns_cathedrals else 5)


def points(state):
    return [standing.score for standing in carcassonne.standing(state)]


def check(number):
    """One game, looked at after every event; without messages and the fairy somebody else counts too."""
    chosen, seats = mix(number)
    count = BoxCount(seats)
    state, moves = carcassonne.State(), 0
    for _, _, after, events in bots.playout(carcassonne, chosen, seats, b"mix %d" % number):
        moves += 1
        for event in events:
            before, state = points(state), carcassonne.evolve(state, event)
            announced = [sum(got for _, got in carcassonne.sources(event, seat)) for seat in range(seats)]
            assert points(state) == [had + more for had, more in zip(before or [0] * seats, announced, strict=True)]
            count.hear(event)
        assert state == after
        invariants.check(state)
    assert chosen.messages or chosen.fairy or points(state) == count.scores
    return moves


@pytest.mark.parametrize("number", range(8))
def test_a_mix_of_boxes_keeps_every_promise(number):
    assert check(number)


@pytest.mark.parametrize("number", [3811, 9823])
def test_two_cities_on_one_side_join_what_one_of_them_has_just_completed(number):
    """Found among ten thousand mixes: the completed city was looked for where it no longer was."""
    assert check(number)


@pytest.mark.soak
@pytest.mark.timeout(36_000)
def test_ten_thousand_mixes_keep_every_promise():
    for number in range(10_000):
        check(number)
