"""Pictures of letters: pasted from sprites they look as drawn whole, are small, and draw only what is new."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageChops

from engine import bots, catalogue
from engine import table as tables
from service.house import House
from service.tables import access, clerk, judging, opening
from service.tables.opening import Invited
from service.text.drawing import Scene, board_svg, players
from tests import houses
from workers.outgoing import pictures, sprites

PHONE, READABLE = 337, 6.5  # pixels wide is a picture on a phone of 375; pixels high its letters
SEEN, FEW = 80, 40  # of 255 steps of grey, which a quarter of a pixel makes at an edge; pixels of half a million
BOARD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-50 -50 100 {high}"><defs><g id="tile"><rect width="20"'
    ' height="20" fill="#080"/></g></defs><rect x="-50" y="-50" width="100" height="100" fill="#eee"/>'
    '<g fill="#c00" stroke="#000"><circle cx="{at}" cy="3" r="7"/><g transform="rotate(30)"><use href="#tile"/></g></g>'
    '<g opacity="0.5"><title>x</title><path d="M0 0 L30 30 Z"/><path d="M-9 -9 h30 v5 z"/></g>'
    '<text x="-40" y="40" font-family="DejaVu Sans">A1</text></svg>'
)


def drawn(here: House, game: str, moves: int) -> list[str]:
    """A board of this game and the one two moves later."""
    rules, random = catalogue.find(game), Random(3)
    opened = opening.open_table(here, game, {}, [Invited(name, f"{name}@x.org") for name in houses.NAMES[:3]])
    for link in opened.links:
        assert houses.judged(here, access.find(here, link), "sit word").accepted
    found = []
    with judging.at_table(here, opened.table) as work:
        for number in range(moves):
            table = work.locked.table
            if number >= moves - 3:
                view = rules.view(table.state, 0)
                found.append(board_svg(Scene(rules, view, players(houses.NAMES[:3]), 0, tables.menu(rules, table, 0))))
            seat = tables.waiting_for(rules, table)[0]
            move = bots.random_move(tables.menu(rules, table, seat), random)
            work.locked = clerk.enter(work.locked, seat, move)
    return [found[0], found[-1]]


def whole(svg: str, width: int = pictures.WIDTH) -> Image.Image:
    drawing = sprites.read(svg)
    inside = svg[len(drawing.head) : -len("</svg>")]
    x, y, wide, high = drawing.box
    pixels = round(width * high / wide)
    return sprites._render(drawing, inside, (x, y, wide, pixels * wide / width), (width, pixels))


def difference(one: Image.Image, other: Image.Image) -> int:
    """How many pixels differ so much that the eye sees it; edges that lie between two pixels differ a little."""
    assert one.size == other.size
    apart = ImageChops.difference(one.convert("RGB"), other.convert("RGB")).convert("L")
    return sum(apart.histogram()[SEEN:])


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sprites, "_sprites", sprites.OrderedDict())
    monkeypatch.setattr(sprites, "_grounds", sprites.OrderedDict())
    monkeypatch.setattr(sprites, "_seen", sprites.OrderedDict())


@pytest.mark.parametrize("game", catalogue.games())
def test_a_board_of_sprites_looks_as_drawn_whole_and_is_small(
    house: House, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sprites, "MANY", 10_000)
    for svg in drawn(house, game, 24):
        assert difference(sprites.paint(svg, pictures.WIDTH), whole(svg)) <= FEW
        made = pictures.render(svg)
        assert len(made) <= pictures.LARGEST
        assert Image.open(io.BytesIO(made)).format == "PNG"


def sizes(node: ElementTree.Element, scale: float) -> Iterator[tuple[float, str]]:
    """How large each text is, but what only hints at places that are shown large elsewhere."""
    found = re.search(r"scale\(([\d.e-]+)", node.get("transform", ""))
    scale *= float(found[1]) if found else 1
    if "small" in node.get("class", "").split():
        return
    if node.tag.endswith("text"):
        yield scale * float(node.get("font-size", "nan")), node.text or ""
    for child in node:
        yield from sizes(child, scale)


@pytest.mark.parametrize("game", catalogue.games())
def test_every_text_in_a_picture_can_be_read_on_a_phone(house: House, game: str) -> None:
    for svg in drawn(house, game, 24):
        root = ElementTree.fromstring(svg)
        shown = PHONE / float(root.get("viewBox", "").split()[2])
        assert [(round(size, 1), text) for size, text in sizes(root, shown) if not size >= READABLE] == []


def test_only_what_is_new_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    sprites.paint(BOARD.format(at=0, high=100), 400)
    real, asked = sprites._render, []
    monkeypatch.setattr(sprites, "_render", lambda *given: asked.append(given[1]) or real(*given))
    for at, high, new in ((0, 100, 0), (20, 100, 2), (20, 100, 0), (0, 140, 2)):
        svg = BOARD.format(at=at, high=high)
        asked.clear()
        painted = sprites.paint(svg, 400)
        assert len(asked) <= new, (at, high, asked)
        assert difference(painted, whole(svg, 400)) == 0


def test_a_drawing_is_taken_apart_into_elements_with_their_groups() -> None:
    drawing = sprites.read(BOARD.format(at=0, high=100))
    assert len(drawing.elements) == 5
    assert drawing.elements[1].startswith('<g fill="#c00" stroke="#000"><circle')
    assert drawing.elements[2].count("<g ") == 2
    assert drawing.elements[3].startswith('<g opacity="0.5">')
    assert list(drawing.definitions) == ["tile"]
    assert Path(sprites._fonts()[0]).exists()


def test_a_board_with_much_that_is_new_is_drawn_at_once_and_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sprites, "MANY", 3)
    for learned in (0, 5):
        assert (
            difference(sprites.paint(BOARD.format(at=0, high=100), 400), whole(BOARD.format(at=0, high=100), 400)) == 0
        )
        assert len(sprites._sprites) == learned
