"""Pieces, tiles, couriers and cards can be dragged to their places by mouse and by finger, beside being touched."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine.games import carcassonne
from engine.menu import Choice
from tests.browsing import MENU, SHORT_GAMES, Player, find_point
from tests.sampling import one_of
from tests.services import RunningService, Visit, fixed_seed

STEPS = 6
READ_MOVE = "() => document.querySelector('form.deed').elements.move.value"


def open_page(service: RunningService, visit: Visit, game: str, **context: Any) -> tuple[Page, int]:
    """Open the page of the player who is to move, the same game in each run."""
    with fixed_seed(bytes([7]) * 32):
        opened = service.start_table(game=game)
    seat = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[seat]}", **context)
    page.locator("form.deed[data-said]").wait_for(state="attached")
    return page, seat


def drag(page: Page, start: tuple[float, float], token: str, drop: bool = True) -> None:
    """Drag with the mouse from a point to the place of a token, which may move when the piece is picked up."""
    page.mouse.move(*start)
    page.wait_for_timeout(200)  # the script is loaded when the pointer comes
    page.mouse.down()
    page.mouse.move(start[0] + 12, start[1] - 12)
    page.wait_for_timeout(300)
    page.mouse.move(*find_point(page, token), steps=STEPS)
    if drop:
        page.mouse.up()


def find_middle(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).first.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def list_cells(state: Any) -> list[str]:
    """Return the cells for the tile of the player in turn."""
    places = [entry for entry in carcassonne.menu(state, state.turn) if entry.verb == "place"]
    return sorted({args[0] for entry in places if isinstance(entry, Choice) for args in entry.options})


def find_options(page: Page, verb: str) -> list[list[str]]:
    return next(list(entry["options"]) for entry in page.evaluate(MENU)["menu"] if entry["verb"] == verb)


def test_a_stone_is_dragged_along_and_let_go_where_it_cannot_be_it_goes_back(
    service: RunningService, visit: Visit
) -> None:
    page, seat = open_page(service, visit, "kaiser")
    start, end = SHORT_GAMES[seat].split()[0].split("-")
    from_point, view = find_point(page, start), page.locator("[data-stage]").get_attribute("viewBox")
    drag(page, from_point, end, drop=False)
    expect(page.locator("svg.carried")).to_have_count(1)
    expect(page.locator(".over")).to_have_attribute("data-token", end)
    page.mouse.up()
    expect(page.locator("svg.carried")).to_have_count(0)
    assert page.evaluate(READ_MOVE) == f"move {start} {end}"
    expect(page.locator("[data-stage] .planned")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("[data-stage] .planned")).to_have_count(0)
    drag(page, from_point, "Z")
    expect(page.locator(".bubble")).to_be_visible()
    assert page.evaluate(READ_MOVE) == ""
    assert page.locator("[data-stage]").get_attribute("viewBox") == view


def test_a_tile_is_dragged_from_the_tray_to_a_cell_and_on_to_another(service: RunningService, visit: Visit) -> None:
    with fixed_seed(bytes([1]) * 32):
        opened = service.start_table(game="carcassonne")
    service.play_until(opened.table, lambda state: len(state.tiles) > 5 and list_cells(state)[1:] != [])
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    page.locator("form.deed[data-said]").wait_for(state="attached")
    cells = list(dict.fromkeys(cell for cell, _ in find_options(page, "place")))
    drag(page, find_middle(page, ".tray .tile"), cells[0])
    expect(page.locator("[data-ghost]")).to_be_visible()
    assert page.evaluate(READ_MOVE).split()[1] == cells[0]
    page.locator(".stage [data-early].lit").first.wait_for()  # which does not hinder it
    drag(page, find_middle(page, "[data-ghost]"), cells[1])
    assert page.evaluate(READ_MOVE).split()[1] == cells[1]


def test_a_courier_is_dragged_from_the_tray_to_an_inn(service: RunningService, visit: Visit) -> None:
    page, _ = open_page(service, visit, "kurier")
    if page.evaluate(MENU)["menu"][0]["verb"] != "deploy":
        Player(page).move("flip")
    kind, inn = find_options(page, "deploy")[0]
    drag(page, find_middle(page, f'.tray [data-token="{kind}"]'), inn)
    assert page.evaluate(READ_MOVE) == f"deploy {kind} {inn}"
    expect(page.locator("[data-stage] .planned")).to_have_count(1)


@pytest.mark.release
def test_a_card_is_dragged_to_the_field_of_its_ride(service: RunningService, visit: Visit) -> None:
    with fixed_seed(bytes([7]) * 32):
        opened = service.start_table(game="turfmaster")
    service.play_until(opened.table, lambda state: bool(state.round) and state.kind == "cards")
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    page.locator("form.deed[data-said]").wait_for(state="attached")
    card, field = next(args for args in find_options(page, "play") if args[1] != "stay")
    drag(page, find_middle(page, f'.tray [data-token="{card}"]'), field)
    assert page.evaluate(READ_MOVE) == f"play {card} {field}"


def test_a_finger_drags_a_piece_and_not_the_board(service: RunningService, visit: Visit) -> None:
    page, seat = open_page(service, visit, "kaiser", viewport={"width": 390, "height": 844}, has_touch=True)
    start, end = SHORT_GAMES[seat].split()[0].split("-")
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    left, top = find_point(page, start)
    touch("touchStart", (left, top))
    touch("touchMove", (left + 10, top - 10))
    page.wait_for_timeout(300)
    touch("touchMove", find_point(page, end))
    expect(page.locator("svg.carried")).to_have_count(1)
    touch("touchEnd")
    assert page.evaluate(READ_MOVE) == f"move {start} {end}"
    page.keyboard.press("Escape")
    view = page.locator("[data-stage]").get_attribute("viewBox")
    touch("touchStart", (20, 120))
    touch("touchMove", (60, 160))
    touch("touchEnd")
    expect(page.locator("[data-stage]")).not_to_have_attribute("viewBox", view or "")
    assert page.evaluate(READ_MOVE) == ""


@pytest.mark.parametrize("key", one_of(["Escape", ""], "Escape"))
def test_a_second_finger_or_escape_lets_the_piece_go(service: RunningService, visit: Visit, key: str) -> None:
    page, seat = open_page(service, visit, "kaiser")
    start, end = SHORT_GAMES[seat].split()[0].split("-")
    drag(page, find_point(page, start), end, drop=False)
    if key:
        page.keyboard.press(key)
    else:
        page.locator("[data-stage]").dispatch_event("pointerdown", {"pointerId": 7, "clientX": 200, "clientY": 200})
    expect(page.locator("svg.carried")).to_have_count(0)
    page.mouse.up()
    assert page.evaluate(READ_MOVE) == ""
