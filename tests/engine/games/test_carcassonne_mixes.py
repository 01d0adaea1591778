"""Random games in mixes of all boxes: nothing is lost, every point is promised_points, and a count by hand agrees."""

from random import Random

import pytest

from engine import bots, options
from engine import game as games
from engine.games import carcassonne
from tests.engine.games.carcassonne_flood_castles import CastleCount
from tests.invariants import carcassonne as invariants
from tests.sampling import one_in

OPTIONS = options.describe(carcassonne.META.options)
LATE_BOXES = {"king_robber", "darmstadt", "revolts", "wheel", "tunnel", "count", "leipzig", "bathhouses", "plague"}
LATE_BOXES |= {"tower", "princess_dragon", "bridges_castles"}
EARLY_OPTIONS = [option for option in OPTIONS if option.name not in LATE_BOXES]
"""The options of the time when the fault was found whose games are played again below."""


def mix(number, offered=OPTIONS):
    """Return options that go together, from the base game to all boxes, and a number of seats."""
    random = Random(number)
    share = random.choice((0.1, 0.3, 0.6, 0.9))
    chosen = {option.name: random.choice(option.values) for option in offered}
    chosen |= {option.name: random.random() < share for option in offered if option.kind == "switch"}
    starts = [name for name in ("count", "wheel", "leipzig", "river") if chosen.get(name)]
    chosen |= dict.fromkeys(starts[1:], False)  # only one of them can be the beginning
    chosen |= {"school": False} if starts else {}
    chosen |= {"wind_roses": False} if {"count", "wheel", "leipzig"} & set(starts[:1]) else {}
    chosen |= {"messages": False, "fairy": False} if number % 2 else {}
    parsed = options.parse(carcassonne.META.options, chosen)
    return parsed, random.randint(2, 6 if parsed.inns_cathedrals else 5)


def points(state):
    return [standing.score for standing in carcassonne.standing(state)]


def check(number, offered=OPTIONS, step=3):
    """Check the points of one game after every event, without messages and the fairy also against a second count.

    The invariants, which take three quarters of the time, are checked after so many moves.
    """
    chosen, seats = mix(number, offered)
    count = CastleCount(seats)
    state, moves = carcassonne.State(), 0
    for _, _, after, events in bots.play_out(carcassonne, chosen, seats, b"mix %d" % number):
        moves += 1
        for event in events:
            before, state = points(state), carcassonne.evolve(state, event)
            promised_points = [sum(got for _, got in carcassonne.sources(event, seat)) for seat in range(seats)]
            assert points(state) == [
                old + more for old, more in zip(before or [0] * seats, promised_points, strict=True)
            ]
            count.apply(event)
        assert state == after
        if moves % step == 0 or games.is_over(carcassonne, state):
            invariants.check(state)
    is_counted = not chosen.messages and not chosen.fairy
    moves_figures = chosen.count or chosen.leipzig  # before the scoring, and the second count does not know when
    is_counted = is_counted and not (moves_figures and (chosen.watchtowers or chosen.darmstadt))
    assert not is_counted or points(state) == count.scores
    return moves


@pytest.mark.parametrize("number", one_in(2, range(8)))
def test_a_mix_of_boxes_keeps_every_promise(number):
    assert check(number)


@pytest.mark.parametrize("number", [3811, 9823])
def test_two_cities_on_one_side_join_what_one_of_them_has_just_completed(number):
    """A city of HS02 was once looked up by a root that it no longer had."""
    assert check(number, EARLY_OPTIONS)


def test_a_payment_or_a_bonus_that_is_due_is_not_counted_before_it_is_paid():
    """The bonus of a church was once told twice: when it was decided, and when it was paid."""
    assert check(3811)


@pytest.mark.soak
@pytest.mark.timeout(36_000)
def test_ten_thousand_mixes_keep_every_promise():
    for number in range(10_000):
        check(number, step=1)
