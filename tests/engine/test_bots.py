"""Players that need only the contract, and that know no more than a player would."""

from __future__ import annotations

import time
from random import Random

import pytest

from engine import bots, chance, menu
from engine import game as games
from engine.game import Standing
from engine.menu import Choice, Move, Number, Subset
from tests.engine import highcard
from tests.engine.cases import all_games
from tests.engine.ledger import variant

every_game = pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)


def dealt(hands, cards=1):
    deck = [card for hand in hands for card in hand]
    options = highcard.Options(cards=cards)
    return games.begin(highcard, options, len(hands), chance.rigged({"deck": deck}, lambda *_: 0)).state


@every_game
def test_a_random_move_is_on_the_menu_and_reproducible(game):
    seats = game.META.seats[0]
    for _, _, state, _ in bots.playout(game, game.META.options(), seats, b"bots"):
        for seat in range(seats):
            offered = game.menu(state, seat)
            if offered:
                move = bots.random_move(offered, Random(1))
                assert menu.allows(offered, move)
                assert move == bots.random_move(offered, Random(1))


@every_game
def test_monte_carlo_plays_legal_moves_within_its_time(game):
    seats = game.META.seats[0]
    state, _ = games.begin(game, game.META.options(), seats, chance.sealed(b"", 0))
    seat = next(seat for seat in range(seats) if game.menu(state, seat))
    choose = bots.monte_carlo(Random(1), seconds=0.05, depth=5, most=4)
    before = time.monotonic()
    assert menu.allows(game.menu(state, seat), choose(game, state, seat))
    assert time.monotonic() - before < 3


def test_monte_carlo_takes_a_trick_it_can_take():
    """The last to play sees what lies there: 19 wins the trick for sure, 2 loses it for sure."""
    state = dealt([(10, 11), (2, 19)], cards=2)
    state, _ = games.play(highcard, state, 0, Move("play", ("11",)), chance.rigged({}))
    chosen = [bots.monte_carlo(Random(seed), 0.1)(highcard, state, 1) for seed in range(3)]
    assert chosen == [Move("play", ("19",))] * 3


def test_monte_carlo_never_looks_at_what_its_seat_cannot_know():
    looked = []

    def redeal(state, seat, luck):
        looked.append(seat)
        return highcard.redeal(state, seat, luck)

    def play_out(seed, hidden):
        state = dealt([(2, 9, 15), hidden, (4, 5, 6)], cards=3)
        return bots.monte_carlo(Random(seed), 0)(variant(highcard, redeal=redeal), state, 0)

    for seed in range(5):
        assert play_out(seed, (1, 3, 20)) == play_out(seed, (10, 11, 12))
    assert set(looked) == {0}


def test_with_one_move_there_is_nothing_to_think_about():
    state = dealt([(7,), (9,)])
    before = time.monotonic()
    assert bots.monte_carlo(Random(1), 60)(highcard, state, 0) == Move("play", ("7",))
    assert time.monotonic() - before < 1


def test_a_large_menu_is_sampled():
    offered = (Number("bid", 1, 10_000), Subset("keep", tuple(map(str, range(40))), 0, 40), Choice("pass"))
    sampled = bots._candidates(offered, Random(1), 24)
    assert 1 < len(sampled) <= 24
    assert all(menu.allows(offered, move) for move in sampled)
    assert len(bots._candidates((Number("bid", 1, 24),), Random(1), 24)) == 24


@pytest.mark.parametrize(
    ("standing", "worth"),
    [
        ((Standing(5, place=1), Standing(9, place=2), Standing(1, place=3)), 1.0),
        ((Standing(5, place=2), Standing(9, place=1), Standing(1, place=3)), 0.5),
        ((Standing(5, place=3), Standing(9, place=1), Standing(1, place=2)), 0.0),
        ((Standing(5, place=1), Standing(5, place=1), Standing(1, place=3)), 0.75),
        ((Standing(5, out=True), Standing(0)), 0.0),
        ((Standing(3), Standing(3)), 0.5),
    ],
)
def test_how_good_a_position_looks(standing, worth):
    assert bots.worth(standing, 0) == worth


def test_more_points_look_better_but_never_as_good_as_a_win():
    worths = [bots.worth((Standing(score), Standing(5)), 0) for score in range(-10, 50)]
    assert worths == sorted(worths)
    assert 0 < worths[0] < worths[-1] < 1


@every_game
def test_a_random_game_can_be_told_again_from_its_seed(game):
    def told(seed):
        seats = game.META.seats[0]
        return [(seat, str(move)) for seat, move, _, _ in bots.playout(game, game.META.options(), seats, seed)]

    assert told(b"one") == told(b"one")
    assert told(b"one") != told(b"two")


def test_wandering_stops_where_the_game_ends():
    state = dealt([(7,), (9,)])
    ended = bots.wander(highcard, state, Random(1), 1_000)
    assert games.is_over(highcard, ended)
    assert bots.wander(highcard, ended, Random(1), 10) == ended
    assert bots.wander(highcard, state, Random(1), 0) == state
