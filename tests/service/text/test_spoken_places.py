"""Places in sentences: they are described by their surroundings, and never by coordinates."""

import re
from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from engine import bots, catalogue, chance, game, options
from engine.games.carcassonne.state import Figure, PlacedTile, TilePlaced
from engine.games.kaiser import board as map_of_kaiser
from engine.games.kaiser.state import Moved
from engine.games.turfmaster import ride
from service.text import languages
from service.text.languages import LANGUAGES
from service.text.narration import Narrator
from service.web import menu_forms
from tests.all_switches import switch_all_on
from tests.sampling import pair_in_turn

NAMES = ("Anna", "Bert", "Clara")
CELL = re.compile(r"-?\d+,-?\d+")
FIELD = re.compile(r"\b[A-H]\d+\b")
SIGNS = {"carcassonne": CELL, "turfmaster": FIELD}
CROSSING_NAME = re.compile(r"\b[A-D]\d+\b")


@pytest.mark.parametrize(("name", "language"), pair_in_turn(SIGNS, list(LANGUAGES), pytest.mark.release))
def test_no_sentence_and_no_choice_contains_coordinates(name: str, language: str) -> None:
    rules, random = catalogue.find(name), Random(4)
    chosen = options.parse(rules.META.options, switch_all_on(rules, "school") if name == "carcassonne" else {})
    state, events = game.begin(rules, chosen, 3, chance.make_from_random(random))
    texts = list[str]()
    for _ in range(60):
        seat = next(seat for seat in range(3) if rules.menu(state, seat))
        view, menu = rules.view(state, seat), rules.menu(state, seat)
        narrator = Narrator(rules, NAMES, language, seat, view=view)
        for offer in menu_forms.make_offers(menu, narrator):
            texts += [step.label for step in offer.steps + offer.items]
        for words in menu_forms.make_labels(menu, narrator).values():
            labels = words["tokens"]
            assert isinstance(labels, dict)
            texts += labels.values()
            assert len(set(labels.values())) == len(labels)
        texts += [narrator.describe_board(view), *map(narrator.describe, events)]
        state, events = game.play(
            rules, state, seat, bots.pick_random_move(menu, random), chance.make_from_random(random)
        )
    assert len(texts) > 200
    assert [one for one in texts if SIGNS[name].search(one)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_stones_go_from_landmark_to_landmark_on_the_page_and_by_name_in_letters(
    language: str,
) -> None:
    rules, random = catalogue.find("kaiser"), Random(5)
    state, _ = game.begin(rules, options.parse(rules.META.options, {}), 3, chance.make_from_random(random))
    view, page, letter = rules.view(state, 0), list[str](), list[str]()
    for _ in range(60):
        seat = next(seat for seat in range(3) if rules.menu(state, seat))
        state, events = game.play(
            rules, state, seat, bots.pick_random_move(rules.menu(state, seat), random), chance.make_from_random(random)
        )
        page += filter(None, map(Narrator(rules, NAMES, language, marked=True, view=view).describe, events))
        letter += filter(None, map(Narrator(rules, NAMES, language).describe, events))
    assert len({languages.remove_place_marks(sentence) for sentence in page}) > 40
    assert not any(CROSSING_NAME.search(languages.remove_place_marks(sentence)) for sentence in page)
    for sentence, exact in zip(page, letter, strict=True):
        named = [place for place, _ in languages.PLACE_MARK.findall(sentence)]
        assert named in (CROSSING_NAME.findall(exact), CROSSING_NAME.findall(exact)[-1:])


@pytest.mark.parametrize(
    ("start", "end", "sentence"),
    [
        ("A10", "B6", "Anna moves a nobleman from the home corner to the south-east hills."),
        ("A12", "D10", "Anna moves a nobleman from the home corner to the north-west corner."),
        ("B4", "B14", "Anna moves a nobleman from the east gate to the corner of Bert."),
        ("D10", "D17", "Anna moves a nobleman within the north-west corner."),
        ("A3", "B4", "Anna moves a nobleman within the east gate."),
        ("C9", "C1", "Anna moves a nobleman from the south coast to the south-west wall."),
    ],
)
def test_a_crossing_is_named_after_its_landmark(start: str, end: str, sentence: str) -> None:
    rules = catalogue.find("kaiser")
    state, _ = game.begin(rules, options.parse(rules.META.options, {}), 2, chance.make_from_random(Random(1)))
    narrator = Narrator(rules, NAMES, view=replace(rules.view(state, 0), corners=("A", "B")))
    assert narrator.describe(Moved(0, "nobleman", start, end)) == sentence


def test_every_crossing_has_its_landmark() -> None:
    crossings = [place for place in map_of_kaiser.CROSSINGS if place != map_of_kaiser.CENTRE]
    sides = Counter(map(map_of_kaiser.describe_crossing, crossings))
    assert sum(sides.values()) == len(crossings) == 68
    assert {number for (what, _), number in sides.items() if what in ("gate", "coast")} == {2}
    assert len([what for what in sides if what[0] in ("gate", "coast")]) == 8


TILES = {
    "0,0": PlacedTile("D", 0, 0),
    "0,-1": PlacedTile("E", 180, 8),
    "1,0": PlacedTile("U", 0, 16),
    "2,1": PlacedTile("B", 0, 24),
    "2,0": PlacedTile("V", 90, 32),
    "3,1": PlacedTile("E", 180, 40),
    "2,-2": PlacedTile("U", 90, 48),
    "2,-1": PlacedTile("U", 90, 56),
}


@pytest.mark.parametrize(
    ("cell", "standing", "sentence"),
    [
        ("0,-1", "0,0/city", "Bert extends the city of Anna: the edge of a city."),
        ("1,0", "0,0/road", "Bert extends the road of Anna: a straight road."),
        ("1,0", "0,0/city", "Bert lays a straight road."),  # the city is not extended
        ("1,0", "1,0/road", "Bert lays a straight road."),  # a figure that came with this tile
        ("0,0", "1,0/road", "Bert lays the edge of a city, a straight road."),  # a later tile was not there yet
        ("2,0", "0,0/road", "Bert extends the road of Anna: a road bend."),  # over a tile between
        ("3,1", "0,0/road", "Bert lays the edge of a city beside the cloister."),
        ("2,-1", "0,0/road", "Bert extends the road of Anna by 2 tiles: a straight road."),  # there was one beyond it
        ("2,-1", "2,-2/road", "Bert extends the road of Anna by 4 tiles: a straight road."),
    ],
)
def test_a_tile_is_described_by_the_land_that_it_extends(cell: str, standing: str, sentence: str) -> None:
    rules = catalogue.find("carcassonne")
    on, _, segment = standing.partition("/")
    state, _ = game.begin(rules, options.parse(rules.META.options, {}), 2, chance.make_from_random(Random(1)))
    view = replace(rules.view(state, 0), tiles=TILES, figures=(Figure(0, "meeple", on, segment),))
    event = TilePlaced(TILES[cell].tile, cell, TILES[cell].turn, 1)
    assert Narrator(rules, NAMES, view=view).describe(event) == sentence
    own = replace(view, figures=(Figure(1, "meeple", on, segment),))
    assert Narrator(rules, NAMES, view=own).describe(event) == re.sub(
        "the (city|road) of Anna", r"their own \1", sentence
    )


def test_a_field_is_described_by_its_lane_and_the_section_of_the_course() -> None:
    assert ride.locate("A24") == ("A", "home straight", 24)
    assert ride.locate("A25") == ("A", "first bend", 1)
    assert ride.locate("H40") == ("H", "first bend", 16)
    assert ride.locate("H41") == ("H", "back straight", 1)
    for lane, lap in zip(ride.LANE_LETTERS, ride.LAP_FIELDS, strict=True):
        assert ride.locate(f"{lane}{lap}").section == "last furlong"
