"""What every game promises: `from engine.contract.suite import *` in a file of tests holds games to it.

The plugin gives each test its `case` or `game`.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, get_args

import msgspec
import pytest

from engine import bots, canonical_json, chance, menu, options
from engine import game as games
from engine.canonical_json import make_decoder
from engine.contract.cases import Case, game_of, some
from engine.contract.plugin import Check
from engine.menu import Move
from engine.refusal import Refused
from engine.table import RESERVED_VERBS
from engine.table_events import (
    TABLE_EVENTS,
)

SEEDS = [b"a lantern", b"a kettle"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_game_ends(case: Case, seed: bytes) -> None:
    last = game_of(case, seed)[-1].state
    assert games.is_over(case.game, last)
    assert not any(case.game.menu(last, seat) for seat in range(case.seats))
    assert min(standing.place for standing in case.game.standing(last)) == 1


def test_nobody_is_ever_stuck(case: Case) -> None:
    for position in game_of(case, SEEDS[0])[:-1]:
        assert not games.is_over(case.game, position.state)
        assert any(case.game.menu(position.state, seat) for seat in range(case.seats))


def test_every_menu_entry_is_accepted_and_changes_no_other_position(case: Case) -> None:
    random = Random(1)
    for position in some(game_of(case, SEEDS[0])):
        before = msgspec.json.encode(position.state)
        for seat in range(case.seats):
            offered = case.game.menu(position.state, seat)
            every = list(menu.iter_moves(offered)) if menu.count(offered) <= 60 else []
            for move in every or [bots.pick_random_move(offered, random) for _ in range(60 if offered else 0)]:
                played = games.play(case.game, position.state, seat, move, chance.make_from_random(random))
                assert played.events
        assert msgspec.json.encode(position.state) == before


def test_what_is_not_on_the_menu_is_refused(case: Case) -> None:
    positions, dice = some(game_of(case, SEEDS[0])), chance.make_from_random(Random(1))
    elsewhere = dict.fromkeys(
        move
        for position in positions
        for seat in range(case.seats)
        for move in list(menu.iter_moves(case.game.menu(position.state, seat)))[:20]
    )
    for position in positions:
        for seat in range(case.seats):
            offered = case.game.menu(position.state, seat)
            for move in [*some(tuple(elsewhere), 40), Move("fly"), Move("", ("",))]:
                if not menu.allows(offered, move):
                    with pytest.raises(Refused):
                        games.play(case.game, position.state, seat, move, dice)


def test_the_same_seed_gives_the_same_game(case: Case) -> None:
    again = bots.playout(case.game, case.options, case.seats, SEEDS[0])
    for position, (seat, move, state, events) in zip(game_of(case, SEEDS[0]), again, strict=True):
        assert (seat, move, state, events) == (position.seat, position.move, position.state, position.events)


def test_replay_by_evolve_alone_gives_the_played_state(case: Case) -> None:
    state = None
    for position in game_of(case, SEEDS[0]):
        state = games.fold(case.game, position.events, state)
        assert state == position.state


def test_states_events_and_views_survive_json(case: Case) -> None:
    for position in some(game_of(case, SEEDS[0])):
        assert make_decoder(case.game.State).decode(msgspec.json.encode(position.state)) == position.state
        for event in position.events:
            assert make_decoder(case.game.Event).decode(msgspec.json.encode(event)) == event
        for seat in (*range(case.seats), None):
            view = case.game.view(position.state, seat)
            assert make_decoder(case.game.View).decode(msgspec.json.encode(view)) == view


def test_events_have_one_canonical_form(case: Case) -> None:
    """Whole numbers and texts as keys: a verifier that was not written by us gets the same bytes."""
    for position in game_of(case, SEEDS[1]):
        body = canonical_json.encode(position.events)
        assert json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() == body
        assert b"." not in json.dumps(_numbers(json.loads(body))).encode()


def _numbers(value: Any) -> list[int | float]:
    """All numbers in some JSON."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [number for one in inner for number in _numbers(one)]
    return [value] if isinstance(value, int | float) else []


def test_invariants_hold(case: Case, invariants: Check) -> None:
    for seed in SEEDS:
        for position in game_of(case, seed):
            invariants(position.state)


def test_points_have_a_source(case: Case) -> None:
    sources = getattr(case.game, "sources", None)
    if sources is None:
        return
    for position in game_of(case, SEEDS[0])[1:]:
        state = position.before
        for event in position.events:
            scores = [one.score for one in case.game.standing(state)]
            state = case.game.evolve(state, event)
            now = [one.score for one in case.game.standing(state)]
            for seat, (before, after) in enumerate(zip(scores, now, strict=False)):
                assert before == after or sources(event, seat), (seat, event)


def test_a_view_and_a_menu_tell_nothing_that_could_be_otherwise(case: Case) -> None:
    """The leak test: what a seat cannot know is dealt anew, and it notices nothing."""
    for number, position in enumerate(some(game_of(case, SEEDS[0]), 30)):
        for seat in (*range(case.seats), None):
            imagined = case.game.redeal(position.state, seat, chance.make_from_random(Random(number)))
            assert case.game.view(imagined, seat) == case.game.view(position.state, seat)
            if seat is not None:
                assert case.game.menu(imagined, seat) == case.game.menu(position.state, seat)
        imagined = case.game.redeal(position.state, None, chance.make_from_random(Random(number)))
        assert case.game.standing(imagined) == case.game.standing(position.state)


def test_dealing_anew_hangs_on_nothing_that_is_hidden(case: Case) -> None:
    """With the same luck two tables that look the same to a seat become the same table."""
    for number, position in enumerate(some(game_of(case, SEEDS[0]), 10)):
        for seat in (*range(case.seats), None):
            other = case.game.redeal(position.state, seat, chance.make_from_random(Random(number)))
            first, second = (
                case.game.redeal(state, seat, chance.make_sealed(bytes(32), number))
                for state in (position.state, other)
            )
            assert first == second


def test_a_redealt_position_can_be_played_to_the_end(case: Case) -> None:
    positions = game_of(case, SEEDS[0])
    for number, position in enumerate(some(positions, 4)):
        random = Random(number)
        imagined = case.game.redeal(position.state, number % case.seats, chance.make_from_random(random))
        ended = bots.play_random_moves(case.game, imagined, random, 20 * len(positions) + 1000)
        assert games.is_over(case.game, ended)


def test_hearing_twice_tells_no_more_and_a_spectator_hears_least(case: Case) -> None:
    for position in game_of(case, SEEDS[0]):
        for event in position.events:
            public = case.game.hear(event, None)
            for seat in range(case.seats):
                heard = case.game.hear(event, seat)
                assert heard is None or case.game.hear(heard, seat) == heard
                assert (heard and case.game.hear(heard, None)) == public


def test_every_move_has_one_text_form(case: Case) -> None:
    for position in some(game_of(case, SEEDS[0])):
        for seat in range(case.seats):
            offered = case.game.menu(position.state, seat)
            verbs = [entry.verb for entry in offered]
            assert len(set(verbs)) == len(verbs)
            assert not RESERVED_VERBS & set(verbs)
            listed = list(menu.iter_moves(offered)) if menu.count(offered) <= 500 else []
            assert len(set(listed)) == len(listed)
            for move in listed:
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


def test_an_unknown_event_is_a_loud_fault(game: Any) -> None:
    with pytest.raises(TypeError):
        game.evolve(game.State(), object())


def test_every_event_is_found_by_its_name_and_written_alike(game: Any) -> None:
    """`engine.game.get_event_types` finds the classes of `Event`: frozen, tagged by their name, defaults left out."""
    for name, kind in games.get_event_types(game).items():
        written = kind.__struct_config__
        assert (written.frozen, written.omit_defaults, written.tag) == (True, True, name), name


def test_event_names_do_not_collide_with_the_tables_own(game: Any) -> None:
    kinds = games.get_event_types(game)
    assert len(kinds) == len(get_args(game.Event) or (game.Event,))
    tags = {kind.__struct_config__.tag for kind in kinds.values()}
    assert not tags & {kind.__struct_config__.tag for kind in TABLE_EVENTS}
