"""`advance` takes several steps at once: with it and without it every game is the same."""

from random import Random
from types import SimpleNamespace

import pytest

from engine import bots, chance
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne.boxes import BOXES, get_rules
from engine.games.carcassonne.rules import has_plain_end, has_plain_turns

STEP_BY_STEP = SimpleNamespace(
    **{name: getattr(carcassonne, name) for name in carcassonne.__all__ if name != "advance"}
)
MILLION = 1_000_000


def compare_game(options, seats, seed):
    """Play a random game; perform each move in both ways, and return how many positions there were."""
    random = Random(seed)
    draws, again = chance.make_from_seed(seed), chance.make_from_seed(seed)
    state, _ = games.begin(carcassonne, options, seats, draws)
    assert state == games.begin(STEP_BY_STEP, options, seats, again).state
    positions = 0
    while menus := [(seat, menu) for seat in range(seats) if (menu := carcassonne.menu(state, seat))]:
        seat, menu = random.choice(menus)
        move, number = bots.pick_random_move(menu, random), random.getrandbits(64)
        draws, again = chance.make_from_seed(number), chance.make_from_seed(number)
        outcome = games.perform(carcassonne, state, seat, move, draws)
        assert outcome == games.perform(STEP_BY_STEP, state, seat, move, again)
        assert draws.draws == again.draws
        state, positions = outcome.state, positions + 1
    return positions


def choose_options(number):
    """Return the base game, the game as it is sold, or up to three boxes, and a number of seats."""
    random = Random(number)
    chosen = random.sample([box.option for box in BOXES if not box.switches], number % 4)
    options = carcassonne.META.options(**({"messages": False} | dict.fromkeys(chosen, True)))
    seats = random.choice((2, 3, 4, 5))
    return (options, seats) if not games.objection(carcassonne, options, seats) else (carcassonne.META.options(), seats)


@pytest.mark.parametrize("number", range(24))
def test_a_game_in_larger_steps_is_the_same_as_event_by_event(number):
    assert compare_game(*choose_options(number), number) > 50


@pytest.mark.soak
def test_a_million_positions_in_larger_steps_are_the_same_as_event_by_event():
    positions = number = 0
    while positions < MILLION:
        positions += compare_game(*choose_options(number), number)
        number += 1


def test_the_base_game_and_the_messages_are_played_in_larger_steps():
    for options in (carcassonne.META.options(), carcassonne.META.options(messages=False)):
        assert has_plain_turns(get_rules(options))
        assert has_plain_end(get_rules(options))


def test_a_box_that_acts_between_two_turns_is_played_event_by_event():
    for box in ("traders_builders", "abbey_mayor", "tower", "princess_dragon", "wheel"):
        assert not has_plain_turns(get_rules(carcassonne.META.options(**{box: True})))


def test_a_state_has_the_fields_of_its_boxes_and_the_defaults_of_all_others():
    with_fairy, without = (
        games.begin(carcassonne, carcassonne.META.options(fairy=fairy), 2, chance.make_from_seed(1)).state
        for fairy in (True, False)
    )
    assert set(with_fairy.__struct_fields__) - set(without.__struct_fields__) == {"fairy"}
    assert set(carcassonne.State.__struct_fields__) > set(with_fairy.__struct_fields__)
    assert without.fairy is None
    assert [getattr(without, name) for name in ("flocks", "towers", "dragon")] == [{}, {}, ""]
