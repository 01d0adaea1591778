"""Pictures of letters: they look as a browser draws the board, are small, and can be read on a phone."""

from __future__ import annotations

import base64
import functools
import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Error, Page

from engine import bots, catalogue, options
from service.memory import LRU
from service.text import drawing
from service.text.drawing import Scene, draw_board_svg, list_players
from service.text.templates import draw_sprite
from tests import apps
from tests.all_switches import switch_all_on
from tests.sampling import one_of
from workers.outgoing import emails

PHONE, READABLE = 337, 6.5  # pixels wide is a picture on a phone of 375; pixels high its letters
BLOCK_SIZE, VISIBLE_STEPS, MAX_SHARE = 4, 60, 0.0015  # pixels; steps of grey that the eye sees; share of blocks
EDGE = 32  # what the edge of a sprite may differ by from the same edge within a drawing
DASHES = re.compile(r' stroke-dasharray="[^"]*"')  # programs begin the first dash at different places
BOARD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-50 -50 100 60" font-family="DejaVu Sans">'
    '<rect x="-40" y="-40" width="20" height="20" fill="#008800"/>'
    '<text x="0" y="-10" font-size="30">{text}</text></svg>'
)
every_box = pytest.mark.parametrize("boxes", one_of([False, True], True), ids=["base", "all-boxes"])


@functools.cache
def draw_boards(game: str, *, boxes: bool = False) -> tuple[str, ...]:
    """Boards of this game, some moves apart, as the player to move sees them; with all its boxes, where it has some."""
    rules, boards = catalogue.find(game), []
    chosen = switch_all_on(rules, "school") if boxes else {}
    positions = bots.play_out(rules, options.parse(rules.META.options, chosen), 3, game.encode())
    for _, _, state, _ in islice(positions, 3, 64, 20):
        seat, menu = next((seat, menu) for seat in range(3) if (menu := rules.menu(state, seat)))
        scene = Scene(rules, rules.view(state, seat), list_players(apps.NAMES[:3]), seat, menu)
        boards.append(draw_board_svg(scene))
    return tuple(boards)


def draw_in_browser(chromium: Browser, svg: str, height: int) -> Image.Image:
    """The same drawing by a browser with our fonts."""
    faces = "".join(
        f"@font-face {{ font-family: 'DejaVu Sans'; font-weight: {weight}; src: url(data:font/ttf;base64,{font}) }}"
        for weight, name in (("normal", "DejaVuSans"), ("bold", "DejaVuSans-Bold"))
        for font in [base64.b64encode((drawing.FONTS / f"{name}.ttf").read_bytes()).decode()]
    )
    page = chromium.new_page(viewport={"width": drawing.PICTURE_WIDTH, "height": height})
    try:
        page.set_content(f"<style>{faces} body {{ margin: 0 }} svg {{ display: block; width: 100% }}</style>{svg}")
        page.evaluate("document.fonts.ready")
        return Image.open(io.BytesIO(take_screenshot(page))).convert("RGB")
    finally:
        page.close()


def take_screenshot(page: Page) -> bytes:
    """Take a screenshot; once more if Chromium says that it cannot, as it rarely does on a busy machine."""
    try:
        return page.screenshot()
    except Error:
        return page.screenshot()


def count_differences(one: Image.Image, other: Image.Image, seen: int = VISIBLE_STEPS) -> float:
    """The share of blocks that look different; how an edge is smoothed does not show in a block."""
    assert one.size == other.size
    grey = ImageChops.difference(one.reduce(BLOCK_SIZE), other.reduce(BLOCK_SIZE)).convert("L")
    return sum(grey.histogram()[seen:]) / (grey.width * grey.height)


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.soak)], ids=["some", "all"])
@pytest.mark.parametrize(
    ("game", "boxes"),
    [
        pytest.param(game, boxes, marks=pytest.mark.release if boxes != (game == "carcassonne") else [])
        for game in catalogue.find_all()
        for boxes in (False, True)
    ],
)
def test_a_picture_looks_as_a_browser_draws_the_board(chromium: Browser, game: str, boxes: bool, step: int) -> None:
    for board in draw_boards(game, boxes=boxes)[step - 1 :: step]:
        svg = DASHES.sub("", board)
        picture = drawing.paint_picture(svg)
        assert count_differences(picture, draw_in_browser(chromium, svg, picture.height)) <= MAX_SHARE


@every_box
@pytest.mark.parametrize("game", catalogue.find_all())
def test_a_picture_is_small_and_looks_as_painted(game: str, boxes: bool) -> None:
    for svg in draw_boards(game, boxes=boxes):
        made = drawing.paint_png(svg)
        assert len(made) <= drawing.MAX_PICTURE_BYTES
        read = Image.open(io.BytesIO(made))
        assert (read.format, read.width) == ("PNG", drawing.PICTURE_WIDTH)
        assert count_differences(read.convert("RGB"), drawing.paint_picture(svg)) == 0


@every_box
@pytest.mark.parametrize("game", catalogue.find_all())
def test_a_picture_put_together_from_sprites_is_the_one_drawn_whole(game: str, boxes: bool) -> None:
    for svg in draw_boards(game, boxes=boxes):
        picture = drawing.paint_picture(svg)
        x, y, across, _ = map(float, drawing.VIEW_BOX.findall(svg)[0].split())
        box = f'viewBox="{x} {y} {across} {picture.height * across / picture.width}"'  # in whole pixels
        whole = drawing.paint_svg(drawing.VIEW_BOX.sub(box, svg, count=1), *picture.size)
        paper = Image.new("RGBA", picture.size, "#ffffff")
        assert count_differences(picture, Image.alpha_composite(paper, whole).convert("RGB"), EDGE) == 0


def test_a_sprite_is_painted_once_for_all_its_places(monkeypatch: pytest.MonkeyPatch) -> None:
    painted, draw = list[str](), drawing.paint_svg
    monkeypatch.setattr(drawing, "SPRITES", LRU[Any](10**6))
    monkeypatch.setattr(drawing, "paint_svg", lambda svg, *size: painted.append(svg) or draw(svg, *size))
    for places in ([(20, 20)], [(50, 20), (60, 50)]):
        pieces = "".join(draw_sprite(x, y, (-5, -5, 5, 5), '<use href="#dot"/>', 100 / 760) for x, y in places)
        dot = '<defs><g id="dot"><circle r="4" fill="#008800"/></g></defs>'
        made = drawing.paint_picture(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 60">{dot}{pieces}</svg>'
        )
        assert all(made.getpixel((round(7.6 * x), round(7.6 * y))) == (0, 136, 0) for x, y in places)
    assert len(painted) == 1


def test_a_part_between_sprites_is_drawn_between_them() -> None:
    under, over = (
        draw_sprite(50, 30, (-9, -9, 9, 9), f'<rect x="-9" y="-{high}" width="18" height="{high}" fill="{ink}"/>')
        for ink, high in (("#ff0000", 9), ("#0000ff", 4))
    )
    between = '<rect x="45" y="20" width="10" height="20" fill="#008800"/>'
    made = drawing.paint_picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 60">{under}{between}{over}</svg>'
    )
    assert [made.getpixel((380, round(7.6 * y))) for y in (22, 28, 35)] == [(0, 136, 0), (0, 0, 255), (0, 136, 0)]
    assert made.getpixel((325, round(7.6 * 23))) == (255, 0, 0)


def test_a_picture_that_would_be_too_large_has_fewer_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    svg = draw_boards("kurier")[0]
    large = drawing.paint_png(svg)
    monkeypatch.setattr(drawing, "MAX_PICTURE_BYTES", len(large) - 1)
    assert len(drawing.paint_png(svg)) < len(large)


def test_a_drawing_is_on_white_paper_in_the_fonts_of_the_service() -> None:
    plain, written = (drawing.paint_picture(BOARD.format(text=text)) for text in ("", "Żółw"))
    assert plain.size == (drawing.PICTURE_WIDTH, 456)
    assert plain.getpixel((2, 2)) == (255, 255, 255)
    assert plain.getpixel((100, 100)) == (0, 136, 0)
    left, top, right, bottom = ImageChops.difference(plain, written).getbbox() or (0, 0, 0, 0)
    assert 375 < left < 400 < 550 < right
    assert 60 < top < 150 < 300 < bottom < 320


@pytest.mark.usefixtures("real_pictures")
def test_a_board_that_was_drawn_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    drawings = list[str]()
    render = drawing.paint_png
    monkeypatch.setattr(drawing, "paint_png", lambda svg: drawings.append(svg) or render(svg))
    emails.render_png.cache_clear()
    first, other = (BOARD.format(text=text) for text in ("A", "B"))
    made = [emails.render_png(svg) for svg in (first, other, first)]
    assert made[0] == made[2] != made[1]
    assert drawings == [first, other]


def sizes(node: ElementTree.Element, scale: float) -> Iterator[tuple[float, str]]:
    """How large each text is, but what only hints at places that are shown large elsewhere."""
    scaling = re.search(r"scale\(([\d.e-]+)", node.get("transform", ""))
    scale *= float(scaling[1]) if scaling else 1
    if "sprite" in node.get("class", ""):
        scale *= float(node.get("width", "")) / float(node.get("viewBox", "").split()[2])
    if "small" in node.get("class", "").split():
        return
    if node.tag.endswith("text"):
        yield scale * float(node.get("font-size", "nan")), node.text or ""
    for child in node:
        yield from sizes(child, scale)


@pytest.mark.parametrize("game", catalogue.find_all())
def test_every_text_in_a_picture_can_be_read_on_a_phone(game: str) -> None:
    for svg in draw_boards(game):
        root = ElementTree.fromstring(svg)
        shown = PHONE / float(root.get("viewBox", "").split()[2])
        assert [(round(size, 1), text) for size, text in sizes(root, shown) if not size >= READABLE] == []
