"""Random moves and random games."""

from __future__ import annotations

from random import Random

import pytest

from engine import bots, chance, menu
from engine import game as games
from tests.engine import highcard
from tests.engine.cases import all_games

every_game = pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)


def deal_hands(hands, cards=1):
    deck = [card for hand in hands for card in hand]
    options = highcard.Options(cards=cards)
    return games.begin(highcard, options, len(hands), chance.make_rigged({"deck": deck}, lambda *_: 0)).state


@every_game
def test_a_random_move_is_on_the_menu_and_reproducible(game):
    seats = game.META.seats[0]
    for _, _, state, _ in bots.play_out(game, game.META.options(), seats, b"bots"):
        for seat in range(seats):
            offered = game.menu(state, seat)
            if offered:
                move = bots.pick_random_move(offered, Random(1))
                assert menu.allows(offered, move)
                assert move == bots.pick_random_move(offered, Random(1))


@every_game
def test_a_random_game_is_the_same_for_the_same_seed(game):
    def play_out(seed):
        seats = game.META.seats[0]
        return [(seat, str(move)) for seat, move, _, _ in bots.play_out(game, game.META.options(), seats, seed)]

    assert play_out(b"one") == play_out(b"one")
    assert play_out(b"one") != play_out(b"two")


def test_random_moves_stop_at_the_end_of_the_game():
    state = deal_hands([(7,), (9,)])
    ended = bots.play_random_moves(highcard, state, Random(1), 1_000)
    assert games.is_over(highcard, ended)
    assert bots.play_random_moves(highcard, ended, Random(1), 10) == ended
    assert bots.play_random_moves(highcard, state, Random(1), 0) == state
