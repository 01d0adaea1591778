"""The moves that a bot chooses for its whole turn."""

from __future__ import annotations

from random import Random

import pytest

from engine import chance, menu, search
from engine import game as games
from engine.contract.cases import play_case, sample
from engine.search import Level
from tests.engine.cases import make_cases

QUICK = Level(0, 60.0)


@pytest.mark.parametrize("case", make_cases(), ids=str)
def test_the_moves_of_a_turn_are_possible_in_every_deal(case):
    """The turn is the same if the tables look the same, and each move is possible after the one before."""
    for number, position in enumerate(sample(play_case(case, b"a turn"), 4)):
        for seat in range(case.seats):
            if case.game.menu(position.state, seat):
                moves = search.choose_turn(QUICK, case.game, position.state, seat, number)
                other = case.game.redeal(position.state, seat, chance.make_from_random(Random(number)))
                assert search.choose_turn(QUICK, case.game, other, seat, number) == moves
                for state in (position.state, other):
                    assert_playable(case.game, state, seat, moves)


def assert_playable(game, state, seat, moves):
    for number, move in enumerate(moves):
        assert menu.allows(game.menu(state, seat), move)
        chance_of_deal = chance.make_rigged({}, chance.make_from_random(Random(1)).source)
        state = games.perform(game, state, seat, move, chance_of_deal).state
        assert not chance_of_deal.draws or number == len(moves) - 1
