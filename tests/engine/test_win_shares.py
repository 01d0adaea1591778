"""Win shares: the value of a position for each seat."""

from __future__ import annotations

from math import isclose

import pytest

from engine import bots, win_shares
from engine.contract.cases import play_case, sample
from engine.game import Standing
from tests.engine import highcard
from tests.engine.cases import all_games, make_cases
from tests.engine.ledger import make_variant

every_game = pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)
every_case = pytest.mark.parametrize("case", make_cases(), ids=str)


@every_case
def test_an_outlook_is_a_share_for_each_seat(case):
    for position in sample(play_case(case, b"a lantern"), 30):
        shares = win_shares.evaluate(case.game, position.state)
        assert len(shares) == case.seats
        assert all(0 <= share <= 1 for share in shares)
        assert isclose(sum(shares), 1)


@every_game
def test_an_outlook_at_the_end_is_the_result(game):
    for _, _, state, _ in bots.play_out(game, game.META.options(), game.META.seats[0], b"an end"):
        last = state
    places = [one.place for one in game.standing(last)]
    shares = win_shares.evaluate(game, last)
    assert [share > 0 for share in shares] == [place == 1 for place in places]


@pytest.mark.parametrize(
    ("standing", "shares"),
    [
        ((Standing(5, place=1), Standing(9, place=2), Standing(1, place=3)), (1.0, 0.0, 0.0)),
        ((Standing(5, place=1), Standing(5, place=1), Standing(1, place=3)), (0.5, 0.5, 0.0)),
        ((Standing(5, out=True), Standing(0)), (0.0, 1.0)),
        ((Standing(3), Standing(3)), (0.5, 0.5)),
    ],
)
def test_a_standing_is_evaluated_by_places_and_scores(standing, shares):
    assert win_shares.evaluate(make_variant(highcard, standing=lambda state: standing), None) == shares


def test_more_points_are_better_but_never_as_good_as_a_win():
    shares_of_first = [
        win_shares.evaluate(
            make_variant(highcard, standing=lambda state, score=score: (Standing(score), Standing(5))), None
        )[0]
        for score in range(-10, 50)
    ]
    assert all(0 < share < 1 for share in shares_of_first)
    assert shares_of_first[15:] == sorted(shares_of_first[15:])
