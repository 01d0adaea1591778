"""The promises of every game as tests: `from engine.contract.suite import *` in a test file runs them.

The plugin gives each test its `case` or `game`.
"""

from __future__ import annotations

import json
import pickle
from itertools import islice
from random import Random
from typing import Any, get_args

import msgspec
import pytest

from engine import bots, canonical_json, chance, menu, options
from engine import game as games
from engine.canonical_json import make_decoder
from engine.contract.cases import Case, play_case, sample
from engine.contract.plugin import Check
from engine.menu import Menu, Move
from engine.refusal import Refused
from engine.table import RESERVED_VERBS
from engine.table_events import TABLE_EVENTS

SEEDS = [b"a lantern", b"a kettle"]
MAX_TRIED_MOVES = 60  # of one menu


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_game_ends(case: Case, seed: bytes) -> None:
    last = play_case(case, seed)[-1].state
    assert games.is_over(case.game, last)
    assert not any(case.game.menu(last, seat) for seat in range(case.seats))
    assert min(standing.place for standing in case.game.standing(last)) == 1


def test_before_the_end_a_seat_always_has_a_menu(case: Case) -> None:
    for position in play_case(case, SEEDS[0])[:-1]:
        assert not games.is_over(case.game, position.state)
        assert any(case.game.menu(position.state, seat) for seat in range(case.seats))


def test_every_move_on_a_menu_is_accepted_and_does_not_change_the_state(case: Case) -> None:
    random = Random(1)
    for position in sample(play_case(case, SEEDS[0])):
        before = msgspec.json.encode(position.state)
        for seat in range(case.seats):
            for move in _choose_moves(case.game.menu(position.state, seat), random):
                played = games.play(case.game, position.state, seat, move, chance.make_from_random(random))
                assert played.events
        assert msgspec.json.encode(position.state) == before


def _choose_moves(offered: Menu, random: Random) -> list[Move]:
    """Return all moves of a menu, or random ones if there are more than MAX_TRIED_MOVES."""
    if menu.count(offered) <= MAX_TRIED_MOVES:
        return list(menu.iter_moves(offered))
    return [bots.pick_random_move(offered, random) for _ in range(MAX_TRIED_MOVES)]


def test_a_move_that_is_not_on_the_menu_is_refused(case: Case) -> None:
    positions, dice = sample(play_case(case, SEEDS[0])), chance.make_from_random(Random(1))
    other_moves = dict[Move, None]()  # each once, in their order
    for position in positions:
        for seat in range(case.seats):
            other_moves |= dict.fromkeys(islice(menu.iter_moves(case.game.menu(position.state, seat)), 20))
    for position in positions:
        for seat in range(case.seats):
            offered = case.game.menu(position.state, seat)
            for move in [*sample(tuple(other_moves), 40), Move("fly"), Move("", ("",))]:  # the last two are of no game
                if not menu.allows(offered, move):
                    with pytest.raises(Refused):
                        games.play(case.game, position.state, seat, move, dice)


def test_the_same_seed_gives_the_same_game(case: Case) -> None:
    """The rules depend on nothing but the draws; otherwise an audit could not repeat a game."""
    again = bots.play_out(case.game, case.options, case.seats, SEEDS[0])
    for position, (seat, move, state, events) in zip(play_case(case, SEEDS[0]), again, strict=True):
        assert (seat, move, state, events) == (position.seat, position.move, position.state, position.events)


def test_replay_by_evolve_alone_gives_the_played_state(case: Case) -> None:
    state = None
    for position in play_case(case, SEEDS[0]):
        state = games.fold(case.game, position.events, state)
        assert state == position.state


def test_states_events_and_views_can_be_stored_as_json(case: Case) -> None:
    for position in sample(play_case(case, SEEDS[0])):
        decode_state = make_decoder(type(position.state)).decode
        assert decode_state(msgspec.json.encode(position.state)) == position.state
        assert pickle.loads(pickle.dumps(position.state)) == position.state  # noqa: S301 - sent to the process of bots
        for event in position.events:
            assert make_decoder(case.game.Event).decode(msgspec.json.encode(event)) == event
        for seat in (*range(case.seats), None):
            view = case.game.view(position.state, seat)
            assert make_decoder(case.game.View).decode(msgspec.json.encode(view)) == view


def test_events_have_one_canonical_form(case: Case) -> None:
    """Whole numbers, and texts as keys, so that every other verifier gets the same bytes."""
    for position in play_case(case, SEEDS[1]):
        body = canonical_json.encode(position.events)
        assert json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() == body
        assert b"." not in json.dumps(_list_numbers(json.loads(body))).encode()


def _list_numbers(value: Any) -> list[int | float]:
    """Return all numbers in a JSON value."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [number for one in inner for number in _list_numbers(one)]
    return [value] if isinstance(value, int | float) else []


def test_invariants_hold(case: Case, invariants: Check) -> None:
    for seed in SEEDS:
        for position in play_case(case, seed):
            invariants(position.state)


def test_points_have_a_source(case: Case) -> None:
    """An event that changes a score has a source, so that the result can show what the points were for."""
    sources = getattr(case.game, "sources", None)
    if sources is None:
        return
    for position in play_case(case, SEEDS[0])[1:]:
        state = position.before
        for event in position.events:
            scores = [one.score for one in case.game.standing(state)]
            state = case.game.evolve(state, event)
            scores_after = [one.score for one in case.game.standing(state)]
            for seat, (before, after) in enumerate(zip(scores, scores_after, strict=False)):
                assert before == after or sources(event, seat), (seat, event)


def test_a_view_and_a_menu_tell_nothing_hidden(case: Case) -> None:
    """Everything that a seat cannot know is dealt again: its view and its menu stay the same."""
    for number, position in enumerate(sample(play_case(case, SEEDS[0]), 30)):
        for seat in (*range(case.seats), None):
            imagined = case.game.redeal(position.state, seat, chance.make_from_random(Random(number)))
            assert case.game.view(imagined, seat) == case.game.view(position.state, seat)
            if seat is not None:
                assert case.game.menu(imagined, seat) == case.game.menu(position.state, seat)
        imagined = case.game.redeal(position.state, None, chance.make_from_random(Random(number)))
        assert case.game.standing(imagined) == case.game.standing(position.state)


def test_redeal_does_not_depend_on_hidden_things(case: Case) -> None:
    """Two states that look the same to a seat become the same state, by the same draws."""
    for number, position in enumerate(sample(play_case(case, SEEDS[0]), 10)):
        for seat in (*range(case.seats), None):
            other = case.game.redeal(position.state, seat, chance.make_from_random(Random(number)))
            first, second = (
                case.game.redeal(state, seat, chance.make_sealed(bytes(32), number))
                for state in (position.state, other)
            )
            assert first == second


def test_a_redealt_state_can_be_played_to_the_end(case: Case) -> None:
    positions = play_case(case, SEEDS[0])
    most_moves = 20 * len(positions) + 1_000  # far more than another random game takes
    for number, position in enumerate(sample(positions, 4)):
        random = Random(number)
        imagined = case.game.redeal(position.state, number % case.seats, chance.make_from_random(random))
        ended = bots.play_random_moves(case.game, imagined, random, most_moves)
        assert games.is_over(case.game, ended)


def test_an_event_of_a_seat_contains_that_of_a_spectator(case: Case) -> None:
    for position in play_case(case, SEEDS[0]):
        for event in position.events:
            public = case.game.hear(event, None)
            for seat in range(case.seats):
                seen = case.game.hear(event, seat)
                if seen is None:
                    assert public is None
                else:
                    assert case.game.hear(seen, seat) == seen
                    assert case.game.hear(seen, None) == public


def test_every_move_has_one_text_form(case: Case) -> None:
    for position in sample(play_case(case, SEEDS[0])):
        for seat in range(case.seats):
            offered = case.game.menu(position.state, seat)
            verbs = [entry.verb for entry in offered]
            assert len(set(verbs)) == len(verbs)
            assert not RESERVED_VERBS & set(verbs)
            moves = list(menu.iter_moves(offered)) if menu.count(offered) <= 500 else []
            assert len(set(moves)) == len(moves)
            for move in moves:
                assert all(menu.is_token(token) for token in (move.verb, *move.args))
                assert Move.parse(str(move)) == move
                assert menu.parse_move(offered, str(move)) == move
                assert menu.parse_move(offered, str(move).upper()) == move


def test_options_have_a_default_a_range_and_an_explanation(game: Any) -> None:
    for option in options.describe(game.META.options):
        assert option.about
        assert option.values
        assert options.parse(game.META.options, {}) == game.META.options()


def test_wrong_options_are_refused_in_a_sentence(game: Any) -> None:
    with pytest.raises(Refused, match="no option"):
        options.parse(game.META.options, {"colour_of_the_box": "red"})
    for option in options.describe(game.META.options):
        with pytest.raises(Refused, match="can be"):
            options.parse(game.META.options, {option.name: "purple"})
    for seats in (0, 1, 99):
        with pytest.raises(Refused, match="played by"):
            games.begin(game, game.META.options(), seats, chance.make_sealed(b"", 0))


def test_evolve_raises_an_error_for_an_unknown_event(game: Any) -> None:
    with pytest.raises(TypeError):
        game.evolve(game.State(), object())


def test_every_event_has_its_name_as_tag(game: Any) -> None:
    """`engine.game.get_event_types` finds the classes of `Event`; they are frozen and omit defaults."""
    for name, kind in games.get_event_types(game).items():
        config = kind.__struct_config__
        assert (config.frozen, config.omit_defaults, config.tag) == (True, True, name), name


def test_events_have_other_names_than_those_of_the_table(game: Any) -> None:
    tags = {kind.__struct_config__.tag for kind in games.get_event_types(game).values()}
    assert not tags & {kind.__struct_config__.tag for kind in TABLE_EVENTS}


def test_no_two_events_share_a_name(game: Any) -> None:
    kinds = get_args(game.Event) or (game.Event,)  # a game may have a single kind of event
    by_name = games.get_event_types(game)
    assert len(by_name) == len(kinds)
