"""A plan made, changed and removed by taps: on the board of what if, and at the table that follows it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine import catalogue
from engine.menu import Choice
from service.tables import access, branches
from tests import apps
from tests.browsing import Player, short_game, tap
from tests.sampling import one_of
from tests.services import RunningService, Visit

WINDOWS = {"phone": (390, 844), "small phone": (360, 640), "phone on its side": (844, 390), "laptop": (1366, 650)}
every_window = pytest.mark.parametrize(
    "window", [name if name == "phone" else pytest.param(name, marks=pytest.mark.release) for name in WINDOWS]
)
every_game = pytest.mark.parametrize("game", catalogue.find_all())
TEXTS = "(all) => all.map((one) => one.textContent)"


def open_waiting(service: RunningService, visit: Visit, window: str = "phone", **how: Any) -> tuple[Page, str, int]:
    """Open the page of the seat that waits in a new game of Kaiser; return it, the seat's link and the other seat."""
    opened = service.start_table()
    mover = service.find_mover(opened.table)
    width, height = WINDOWS[window]
    link = opened.links[1 - mover]
    page = visit(f"/t/{link}", viewport={"width": width, "height": height}, has_touch=True, **how)
    return page, link, mover


def tap_inside(page: Page, name: str) -> None:
    """Tap a button, all of which is in the window."""
    button = page.locator("button:visible, a.button:visible", has_text=re.compile(f"^{name}$")).first
    expect(button).to_be_in_viewport(ratio=0.99)
    button.tap()


def touch_number(page: Page, number: str) -> None:
    """Tap the number of a move on the board, or in the list below if the board shows another part of itself."""
    badge, stage = page.locator(".badge", has_text=number), page.locator("[data-stage]")
    at, window = badge.bounding_box(), stage.bounding_box()
    assert at
    assert window
    if all(window[side] < at[side] < window[side] + window[size] for side, size in (("x", "width"), ("y", "height"))):
        return badge.tap()
    return page.locator(f'.plan li[data-number="{number}"] summary').tap()


def make_moves(page: Page, moves: list[str]) -> None:
    for step, move in enumerate(moves, 1):
        player = Player(page, tap)
        player.put_together(move)
        player.find_send_button(move).tap()
        page.wait_for_url(re.compile(rf"/whatif/\d+\?step={step}$"))
        expect(page.locator(".badge")).to_have_count(step)


def list_badges(page: Page) -> list[str]:
    texts: list[str] = page.locator(".badge").evaluate_all(TEXTS)
    return texts


def load_moves(service: RunningService, link: str) -> list[str]:
    """Return all moves that were made at the table."""
    snapshot = apps.load_table(service.app, access.find(service.app, link).table)
    return [entry.move for entry in apps.load_entries(service.app, snapshot, 0) if entry.move]


def list_orders(service: RunningService, link: str) -> list[str]:
    return [order.move for order in apps.list_orders(service.app, access.find(service.app, link))]


@pytest.mark.parametrize(
    ("window", "pairs"), one_of([("phone", 1), *((window, 2) for window in WINDOWS)], ("phone", 1))
)
def test_a_plan_with_conditions_is_made_and_followed_by_taps_alone(
    service: RunningService, visit: Visit, window: str, pairs: int
) -> None:
    """A plan of so many moves of the other player, each with the own answer."""
    page, link, mover = open_waiting(service, visit, window)
    moves = [move for _, move in short_game(mover)][: 2 * pairs]
    tap_inside(page, "Plan ahead")
    page.wait_for_url("**/whatif/*")
    make_moves(page, moves)
    tap_inside(page, "Order my moves")
    page.wait_for_url(f"**/t/{link}#plan")
    expect(page.locator(".badge")).to_have_count(pairs)
    assert page.locator(".ordered.own").count() == pairs
    assert page.locator(".ordered.others").count() == pairs
    page.locator(".badge").first.tap()
    card = page.locator(".plan .card:visible")
    expect(card).to_be_in_viewport(ratio=0.99)
    expect(card).to_contain_text(re.compile("If (Anna|Bert) plays “.* → .*”"))
    assert list_orders(service, link) == moves[1::2]
    other = apps.load_table(service.app, access.find(service.app, link).table).seats[mover]
    service.submit(access.make_seat_link(service.app, other), moves[0])  # as foreseen
    Player(page).refresh()
    expect(page.locator(".badge")).to_have_count(pairs - 1)
    assert list_orders(service, link) == moves[3::2]
    assert load_moves(service, link)[-2:] == moves[:2]


@every_window
def test_moves_of_a_plan_are_put_in_another_order_and_taken_out_by_taps_on_their_numbers(
    service: RunningService, visit: Visit, window: str
) -> None:
    page, _, mover = open_waiting(service, visit, window)
    theirs, own = "AB"[mover], "AB"[1 - mover]
    moves = [f"move {theirs}11 {theirs}6", f"move {own}11 {own}6", f"move {theirs}10 {theirs}3"]
    tap_inside(page, "Plan ahead")
    make_moves(page, moves)
    if window == "phone":  # on the smallest ones the open card of a move covers the number of another
        close_plan_by_a_touch_beside(page)
    touch_number(page, "3")
    tap_inside(page, "Earlier")
    expect(page.locator(".plan li")).to_have_count(3)
    expect(page.locator(".plan li").first).to_have_attribute("data-move", moves[2])
    touch_number(page, "3")
    tap_inside(page, "Take out")
    expect(page.locator(".plan li")).to_have_count(2)
    expect(page.locator(".badge")).to_have_text(["1", "2"])


def test_orders_that_always_hold_are_reordered_and_cancelled_on_the_board(
    service: RunningService, visit: Visit
) -> None:
    page, link, mover = open_waiting(service, visit)
    own = "AB"[1 - mover]
    first, second = f"move {own}11 {own}6", f"move {own}10 {own}3"
    for move in (first, second):
        service.submit(link, f"order {move}")
    page.reload()
    expect(page.locator(".badge")).to_have_count(2)
    assert page.locator(".ordered.own").count() == 2
    page.locator(".badge", has_text="2").tap()
    expect(page.locator(".plan .card:visible")).to_contain_text("As soon as it is possible")
    tap_inside(page, "Earlier")
    expect(page.locator(".plan li").first).to_have_attribute("data-move", second)
    assert list_orders(service, link) == [second, first]
    page.locator(".badge", has_text="1").tap()
    tap_inside(page, "Cancel")
    expect(page.locator(".badge")).to_have_count(1)
    assert list_orders(service, link) == [first]


@pytest.mark.release
def test_moves_are_ordered_whatever_the_others_play(service: RunningService, visit: Visit) -> None:
    page, link, mover = open_waiting(service, visit)
    moves = [move for _, move in short_game(mover)][:2]
    tap_inside(page, "Plan ahead")
    make_moves(page, moves)
    page.locator("#tab-now").tap()
    page.get_by_role("button", name="Order my moves, whatever they play").tap()
    page.wait_for_url(f"**/t/{link}#plan")
    expect(page.locator(".badge")).to_have_count(1)
    assert list_orders(service, link) == [moves[1]]


def close_plan_by_a_touch_beside(page: Page) -> None:
    """Open the card of one move after the other, and close it."""
    touch_number(page, "1")
    expect(page.locator(".plan details[open]")).to_have_count(1)
    touch_number(page, "2")
    expect(page.locator(".plan details[open] .number")).to_have_text("2")
    page.locator(".bar .prompt").tap()
    expect(page.locator(".plan details[open]")).to_have_count(0)


@pytest.mark.release
@every_game
def test_a_plan_of_any_game_has_its_moves_as_a_list_with_numbers(
    service: RunningService, visit: Visit, game: str
) -> None:
    opened = service.start_table(game=game)
    link = opened.links[1 - service.find_mover(opened.table)]
    page = visit(f"/t/{link}", viewport={"width": 390, "height": 844}, has_touch=True)
    tap_inside(page, "Plan ahead")
    page.wait_for_url("**/whatif/*")
    for step in range(1, 5):
        player = Player(page, tap, step)
        move = player.choose_move()
        player.put_together(move)
        player.find_send_button(move).tap()
        page.wait_for_url(re.compile(rf"\?step={step}$"))
        expect(page.locator(".plan li")).to_have_count(step)
        numbers = page.locator(".plan .number").evaluate_all(TEXTS)
        assert numbers == [str(number) for number in range(1, step + 1)]
        assert set(list_badges(page)) <= set(numbers)


def order_tile_with_figure(service: RunningService, link: str) -> None:
    """Order the own moves of a branch: the tile of the other player, no figure, the own tile, and a figure on it."""
    app, place = service.app, access.find(service.app, link)
    table = apps.load_table(app, place.table)
    number = apps.change_with_app(app, branches.begin, place, table.row.length)
    for step, entry in enumerate((0, -1, 0, 0)):
        state = apps.load(app, branches.play_out, table, apps.run_query(app, branches.find, place, number)).states[-1]
        choice = table.game.menu(state, state.turn)[entry]
        assert isinstance(choice, Choice)
        move = " ".join((choice.verb, *choice.options[0]))
        apps.change_with_app(app, branches.play, place, number, step, state.turn, move)
    apps.order_branch(app, place, number)


def test_a_plan_shows_the_tile_that_is_known_and_the_back_of_later_ones_with_their_figures(
    service: RunningService, visit: Visit
) -> None:
    opened = service.start_table(game="carcassonne")
    link = opened.links[1 - service.find_mover(opened.table)]
    order_tile_with_figure(service, link)
    page = visit(f"/t/{link}", viewport={"width": 390, "height": 844}, has_touch=True)
    known = page.locator(".tray .tile use").first.get_attribute("href")
    own, others = page.locator(".ordered.own"), page.locator(".ordered.others")
    expect(own).to_have_count(2)
    expect(own.first).to_contain_text("not known yet")
    tile, figure = (own.nth(number).bounding_box() for number in range(2))
    assert tile
    assert figure
    for side, size in (("x", "width"), ("y", "height")):
        assert tile[side] < figure[side] + figure[size] / 2 < tile[side] + tile[size]
    expect(others).to_have_count(1)
    assert others.locator("use").first.get_attribute("href") == known


def test_without_a_script_a_plan_is_a_list_of_forms(service: RunningService, visit: Visit) -> None:
    page, link, mover = open_waiting(service, visit, java_script_enabled=False)
    own = "AB"[1 - mover]
    for move in (f"move {own}11 {own}6", f"move {own}10 {own}3"):
        service.submit(link, f"order {move}")
    page.reload()
    page.locator(".plan summary").nth(1).click()
    page.locator(".plan").get_by_role("button", name="Earlier").click()
    assert list_orders(service, link)[0] == f"move {own}10 {own}3"
    page.locator(".plan summary").first.click()
    page.locator(".plan").get_by_role("button", name="Cancel").first.click()
    expect(page.locator(".plan li")).to_have_count(1)
    page.get_by_role("button", name="Plan ahead").click()
    page.wait_for_url("**/whatif/*")
