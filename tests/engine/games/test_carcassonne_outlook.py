"""The outlook: each box adds the points that a bot can expect from it."""

import importlib

import pytest
from msgspec.structs import replace

from engine import bots
from engine import game as games
from engine.chance import make_sealed
from engine.games import carcassonne
from engine.options import parse as parse_options

estimates = importlib.import_module("engine.games.carcassonne.outlook")  # the package offers a function of this name


def begin_game(**boxes):
    chosen = parse_options(carcassonne.META.options, {"messages": False, **boxes})
    return games.begin(carcassonne, chosen, 2, make_sealed(b"", 0)).state


@pytest.mark.parametrize(
    ("box", "pieces"),
    [
        ("fruit_trees", {"baskets": ({"apple": 1, "plum": 2}, {})}),
        ("abbey_mayor", {"abbeys": (1, 0)}),
        ("school", {"teacher": 0}),
    ],
)
def test_the_pieces_of_a_box_raise_the_chances_of_their_owner(box, pieces):
    state = begin_game(**{box: True})
    even = {"baskets": ({}, {}), "abbeys": (0, 0), "teacher": -1}
    before = carcassonne.outlook(replace(state, **{name: even[name] for name in pieces}))
    after = carcassonne.outlook(replace(state, **pieces))
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_more_kinds_of_fruit_promise_more_than_their_number():
    state = begin_game(fruit_trees=True)
    alike, apart = ({"apple": 2}, {}), ({"apple": 1, "plum": 1}, {})
    chances = [carcassonne.outlook(replace(state, baskets=basket))[0] for basket in (alike, apart)]
    assert chances[0] < chances[1]


def test_fruit_that_was_sold_promises_nothing():
    state = begin_game(fruit_trees=True)
    sold, none = ({"apple": 0}, {}), ({}, {})
    assert carcassonne.outlook(replace(state, baskets=sold)) == carcassonne.outlook(replace(state, baskets=none))


def test_a_large_flock_promises_more_than_a_small_one():
    options = begin_game(hills_sheep=True).options
    games_with_sheep = (state for _, _, state, _ in bots.play_out(carcassonne, options, 2, b"sheep") if state.flocks)
    state = next(games_with_sheep)
    (place, sheep), *_ = state.flocks.items()
    owner = next(f.seat for f in carcassonne.view(state, None).figures if f.place == place)
    larger = carcassonne.outlook(replace(state, flocks={**state.flocks, place: (*sheep, 4)}))
    assert larger[owner] > carcassonne.outlook(state)[owner]


@pytest.mark.parametrize("seed", [b"one", b"two"])
@pytest.mark.parametrize("boxes", [(), ("abbey_mayor", "traders_builders"), ("messages", "fairy", "hills_sheep")])
def test_cached_facts_of_features_are_right(seed, boxes):
    options = parse_options(carcassonne.META.options, {"messages": False} | dict.fromkeys(boxes, True))
    for _, _, state, _ in bots.play_out(carcassonne, options, 3, seed):
        if state.tiles:
            cached = carcassonne.outlook(state)
            estimates.FACTS.clear()
            assert carcassonne.outlook(state) == cached
            carcassonne.outlook(state)
