"""Tiles as they are printed: each is told apart from every other one, also when it is small and without colour."""

from __future__ import annotations

import itertools

import pytest

from engine.games.carcassonne import board
from engine.games.carcassonne.tiles import PIECES, ROWS
from service.text import drawing, templates

Image = pytest.importorskip("PIL.Image")
ImageChops = pytest.importorskip("PIL.ImageChops")

SMALLEST_PIXELS = 44
"""The width of a tile on a phone, in pixels."""
GREY_LEVELS, LEAST_PIXELS = 32, 20
"""Two tiles differ where their grey differs by so many levels; in so many of 1,936 pixels at least."""
BLOCKS = ("WH", "CO", "LZ")
"""The cells of large pictures: the wheel, Carcassonne and Leipzig."""


@pytest.fixture(scope="module")
def pictures():
    """Return the small grey picture of every tile."""
    template = templates.get_environment("en", "carcassonne").get_template("games/carcassonne/tiles.svg").make_module()
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-50 -50 100 100" font-family="DejaVu Sans">'
    ground = f'<rect x="-50" y="-50" width="100" height="100" fill="{template.GRASS}"/>'
    definitions = f"<defs>{template.shared(True)}</defs>"
    names = [name for name in ROWS if not name.startswith(BLOCKS)]
    svgs = {name: f"{head}{definitions}{ground}{template.tile(name, board)}</svg>" for name in names}
    return {name: drawing.paint_svg(svg, SMALLEST_PIXELS, SMALLEST_PIXELS).convert("L") for name, svg in svgs.items()}


def count_different_pixels(first, second):
    return sum(ImageChops.difference(first, second).histogram()[GREY_LEVELS + 1 :])


@pytest.mark.release
def test_two_tiles_differ_at_44_pixels_without_colour(pictures):
    turned = {name: [picture.rotate(turn) for turn in (0, 90, 180, 270)] for name, picture in pictures.items()}
    alike = [
        (first, second)
        for first, second in itertools.combinations(pictures, 2)
        if any(count_different_pixels(pictures[first], other) < LEAST_PIXELS for other in turned[second])
    ]
    assert len(pictures) > 300
    assert alike == []


def test_roads_that_cut_a_field_touch_the_city_and_others_end_before_it(pictures):
    for plain, cutting in (("J", "AM07"), ("K", "AM08")):
        assert len(PIECES[cutting][0].segments) == len(PIECES[plain][0].segments) + 1
        assert count_different_pixels(pictures[plain], pictures[cutting]) > 4 * LEAST_PIXELS
