"""How scores and chances went: bars, numbers and lines say the same, and names beside lines can be read."""

from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from engine.story import ChancePoint, Story
from service.text import drawing
from service.text.drawing import list_players
from service.text.languages import Translator
from workers.outgoing import game_review
from workers.outgoing.game_review import Chart

NAMES = ("Anna", "Bert", "Carlotta the Great", "Dirk", "Eva", "Friedrich-Wilhelm", "Gus", "Hal & Ida")
SVG = "{http://www.w3.org/2000/svg}"


def make_chart(*numbers: float) -> Chart:
    """All began with nothing and came to these numbers half-way."""
    return Chart(((0, (0,) * len(numbers)), (50, numbers), (100, numbers)), 0, 100)


def heights(chart: Chart) -> list[float]:
    """Return how far down the names are, from the first player's to the last's."""
    drawn = ElementTree.fromstring(chart.draw(list_players(NAMES[: len(chart.points[0][1])])))
    places = [
        group.get("transform", "").removeprefix("translate(").removesuffix(")").split()
        for group in drawn.findall(f"{SVG}g[@transform]")
    ]
    return [float(down) for _, down in places]


def test_bars_show_what_held_after_each_part_of_the_way() -> None:
    assert make_chart(100, 50, 0).draw_bars(0) == "▁" * 11 + "█" * 13
    assert make_chart(100, 50, 0).draw_bars(2) == "▁" * 24


def test_numbers_after_each_quarter_replace_the_picture() -> None:
    assert make_chart(100, 30).write_quarters(1) == "0 → 30 → 30 → 30"
    assert Chart(((0, (50.4, 49.6)), (4, (100, 0))), 0, 100, " %").write_quarters(0) == "50 % → 50 % → 50 % → 100 %"


def test_names_are_where_the_lines_end() -> None:
    first, second, third = heights(make_chart(100, 50, 0))
    assert second - first == pytest.approx(third - second)
    assert first < second < third


def test_scores_below_nothing_are_drawn_too() -> None:
    below = Chart(((0, (0, 0)), (1, (-5, 10))), -5, 10)
    assert below.draw_bars(0)[-1] == "▁"
    assert heights(below)[0] > heights(below)[1]


@pytest.mark.parametrize("count", range(2, 9))
def test_names_never_lie_upon_each_other(count: int) -> None:
    random = Random(count)
    for _ in range(200):
        numbers = [float(random.choice([0, 0, 1, 2, 50, 99, 100])) for _ in range(count)]
        rows = sorted(zip(heights(make_chart(*numbers)), numbers, strict=True))
        assert all(below - above >= game_review.NAME_HEIGHT - 0.01 for (above, _), (below, _) in pairwise(rows))
        assert [number for _, number in rows] == sorted(numbers, reverse=True)
        assert rows[0][0] >= game_review.CHART_TOP


def test_luck_has_a_true_minus_and_names_stay_as_they_are() -> None:
    draft: Any = SimpleNamespace(snapshot=SimpleNamespace(names=("Anna-Lena", "Bert")), translator=Translator("en"))
    story = Story((ChancePoint(3, (0.6, 0.4), (0.1, -0.1)),), ())
    sentence = game_review.write_chance_balance(draft, story)
    assert sentence.endswith("otherwise: Anna-Lena +10\N{NO-BREAK SPACE}%, Bert −10\N{NO-BREAK SPACE}%")


def test_the_picture_of_a_long_game_of_eight_is_small_enough_for_a_letter() -> None:
    random = Random(1)
    moments = tuple((step, tuple(random.uniform(0, 100) for _ in NAMES)) for step in range(600))
    made = drawing.paint_png(Chart(moments, 0, 100).draw(list_players(NAMES)))
    assert made.startswith(drawing.PNG_SIGNATURE)
    assert len(made) <= drawing.MAX_PICTURE_BYTES
