"""The edge of the table in a real browser: talk that arrives by itself, moves without asking, a larger board."""

import re

import pytest
from playwright.sync_api import Page, expect

from service.tables import access, seat_commands, submitting
from service.tables.opening import OpenedTable
from tests import apps
from tests.browsing import PAGE_TIMEOUT_MS, SHORT_GAMES
from tests.sampling import one_of
from tests.service.web.test_browser import find_spot
from tests.services import RunningService, Visit

POLL_MS = 4_500  # longer than the interval of polling


def open_game(service: RunningService, visit: Visit, at_once: bool = False) -> tuple[OpenedTable, int, Page]:
    """A game, who begins it, and his page."""
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    if at_once:
        apps.change(service.app, seat_commands.set_at_once, access.find(service.app, opened.links[seat]), True)
    return opened, seat, visit(f"/t/{opened.links[seat]}")


def test_what_is_said_arrives_without_disturbing_a_half_made_choice_or_remark(
    service: RunningService, visit: Visit
) -> None:
    opened, seat, page = open_game(service, visit)
    start = SHORT_GAMES[seat].split()[0].split("-")[0]
    find_spot(page, start).click()
    page.get_by_role("tab", name="Talk").click()
    page.get_by_label("Your message").fill("I was about to")
    app = service.app
    apps.say(app, access.find(app, opened.links[1 - seat]), "Take your time")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it looks for news at once
    expect(page.get_by_text("Take your time")).to_be_visible(timeout=PAGE_TIMEOUT_MS)
    expect(page.locator(".bar .made")).to_have_text(f"Move a stone: {start}")
    expect(page.get_by_label("Your message")).to_have_value("I was about to")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".remark").last).to_contain_text("I was about to")
    expect(page.locator(".bar .made")).to_have_text(f"Move a stone: {start}")


@pytest.mark.parametrize("game", one_of(["kurier", "turfmaster"], "kurier"))
def test_cards_and_couriers_beside_the_board_can_still_be_chosen_after_a_remark(
    service: RunningService, visit: Visit, game: str
) -> None:
    opened = service.start_table(game=game)
    seat, app = service.find_mover(opened.table), service.app
    page = visit(f"/t/{opened.links[seat]}")
    lit = page.locator(".tray .lit")
    expect(lit.first).to_be_visible()
    before = lit.count()
    apps.say(app, access.find(app, opened.links[1 - seat]), "Your turn!")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it looks for news at once
    expect(page.get_by_text("Your turn!").first).to_be_attached(timeout=PAGE_TIMEOUT_MS)
    expect(lit).to_have_count(before)
    lit.first.click()
    expect(page.locator(".bar .made")).to_be_visible()


def test_an_open_page_gets_news_at_once_and_stops_polling(service: RunningService, visit: Visit) -> None:
    opened, seat, page = open_game(service, visit)
    page.clock.install()
    page.reload()
    with page.expect_response("**/live/*") as stream:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it connects at once
    assert stream.value.headers["content-type"] == "text/event-stream"
    page.clock.fast_forward(POLL_MS)  # it has begun to poll before it was connected
    page.wait_for_timeout(200)
    app, urls = service.app, list[str]()
    page.on("request", lambda request: urls.append(request.url))
    page.clock.fast_forward(POLL_MS)
    apps.say(app, access.find(app, opened.links[1 - seat]), "Are you there?")
    expect(page.get_by_text("Are you there?").first).to_be_attached(timeout=2_000)
    assert len([url for url in urls if "/pulse" in url]) == 1


def test_who_changes_his_mind_is_asked_again(service: RunningService, visit: Visit) -> None:
    _, seat, page = open_game(service, visit, at_once=True)
    page.get_by_role("tab", name="More").click()
    page.get_by_role("button", name="Confirm each move").click()
    expect(page.get_by_role("button", name="Move without Confirm")).to_be_attached()
    start, end = SHORT_GAMES[seat].split()[0].split("-")
    find_spot(page, start).click()
    find_spot(page, end).click()
    expect(page.get_by_role("button", name="Confirm", exact=True)).to_be_visible()


@pytest.mark.release
def test_a_board_can_be_enlarged_on_a_phone_and_stays_so(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    app = service.app
    move = "move " + SHORT_GAMES[seat].split()[0].replace("-", " ")
    submitting.wait_for_verdict(app, submitting.submit(app, access.find(app, opened.links[seat]), move), 10)
    page = visit(f"/t/{opened.links[seat]}/replay", viewport={"width": 360, "height": 740}, has_touch=True)
    small = width(page)
    top = page.locator("figure.plate").bounding_box()
    assert top
    assert top["y"] + top["height"] / 2 < 740, "who steps through the moves sees them happen"
    page.get_by_role("button", name="Larger board").tap()
    page.get_by_role("link", name="← Back").tap()
    expect(page).to_have_url(re.compile("at="))
    assert width(page) > 2 * small
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Whole board").tap()
    assert width(page) == small


def width(page: Page) -> float:
    box = page.locator("figure.plate svg.board").bounding_box()
    assert box
    return box["width"]
