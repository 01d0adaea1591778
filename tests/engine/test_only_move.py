"""The only move of a seat is found only if making it for the seat betrays nothing."""

from __future__ import annotations

from random import Random

import pytest

from engine import bots, log, menu
from engine import table as tables
from engine.menu import Choice
from tests.engine import highcard
from tests.engine.cases import make_cases
from tests.engine.ledger import SEED, make_variant, start_table


@pytest.mark.parametrize("case", make_cases(), ids=str)
def test_it_is_the_only_choice_draws_nothing_and_is_public(case):
    ledger, random, move_count = start_table(case.game, case.seats, case.chosen), Random(6), 0
    for _ in range(150):
        if ledger.table.phase != "playing":
            break
        for seat in ledger.find_seats_to_move():
            move = bots.find_only_move(case.game, ledger.table, seat, SEED)
            if move:
                own = tables.menu(case.game, ledger.table, seat)
                assert list(menu.iter_moves(own)) == [move]
                ledger.do(seat, move)
                entry, move_count = ledger.entries[-1], move_count + 1
                assert entry.draws == ()
                assert log.redact(case.game, entry, None) == entry
                break
        else:
            seat = random.choice(ledger.find_seats_to_move())
            ledger.do(seat, ledger.pick_move(seat, random))


def test_the_last_card_of_a_hidden_hand_is_not_found():
    ledger = start_table(highcard, 2, {"cards": "1"})
    assert menu.count(tables.menu(highcard, ledger.table, 0)) == 1
    assert bots.find_only_move(highcard, ledger.table, 0, SEED) is None


def make_public_variant(**changes):
    """Return a variant without choices and without hidden cards."""
    alike = {"menu": lambda state, seat: (Choice("play", ((str(state.hands[seat][0]),),)),), **changes}
    return make_variant(highcard, redeal=lambda state, seat, chance: state, **alike)


def test_the_only_move_is_found_if_nothing_is_hidden():
    game = make_public_variant()
    ledger = start_table(game, 2)
    move = bots.find_only_move(game, ledger.table, 0, SEED)
    assert str(move) == f"play {ledger.table.state.hands[0][0]}"


def test_a_move_that_draws_is_not_found():
    def decide(state, seat, move, chance):
        chance.reveal("the card below")
        return highcard.decide(state, seat, move, chance)

    game = make_public_variant(decide=decide)
    assert bots.find_only_move(game, start_table(game, 2).table, 0, SEED) is None


def test_a_move_with_a_hidden_part_is_not_found():
    game = make_public_variant(hear=lambda event, seat: None)
    assert bots.find_only_move(game, start_table(game, 2).table, 0, SEED) is None


def test_a_seat_with_a_choice_or_without_a_menu_has_no_only_move():
    ledger = start_table(highcard, 2)
    assert bots.find_only_move(highcard, ledger.table, 0, SEED) is None
    assert bots.find_only_move(highcard, ledger.table, 1, SEED) is None
