"""A hint in a real browser: the move is put together on the board and waits for confirmation."""

import re

import pytest
from playwright.sync_api import Page, expect

from service.tables.opening import Invitee
from tests.browsing import PAGE_TIMEOUT_MS
from tests.services import RunningService, Visit

ALONE = (Invitee("Anna", "anna@example.org", "word"), Invitee("Bot"))


def ask_for_hint(service: RunningService, visit: Visit, game: str) -> tuple[str, Page]:
    """The move that was shown, and the page."""
    opened = service.open_table(*ALONE, game=game)
    page = visit(f"/t/{opened.links[0]}")
    expect(page.locator("form.deed")).to_be_attached(timeout=PAGE_TIMEOUT_MS)
    if page.viewport_size and page.viewport_size["width"] < 700:
        page.get_by_role("tab", name="Now").click()
    page.get_by_role("button", name="Show me a good move").click()
    expect(page.locator(".bar .note.hint")).to_be_visible(timeout=PAGE_TIMEOUT_MS)
    return page.locator("form.deed [name=move]").first.input_value(), page


def test_a_hint_is_put_together_on_the_board_and_waits_for_confirmation(service: RunningService, visit: Visit) -> None:
    move, page = ask_for_hint(service, visit, "kaiser")
    start, end = move.split()[1:]
    expect(page.locator(".bar .note.hint")).to_contain_text(f"{start} → {end}")
    expect(page.locator(".bar .made")).to_contain_text(f"{start} → {end}")
    assert {spot.get_attribute("data-token") for spot in page.locator(".stage .chosen").all()} == {start, end}
    with page.expect_response(lambda answer: answer.request.method == "POST") as sent:
        page.get_by_role("button", name="Confirm").click()
    assert sent.value.status < 400
    expect(page.locator(".stage .chosen")).to_have_count(
        0, timeout=PAGE_TIMEOUT_MS
    )  # the bot's answer may follow at once
    expect(page.get_by_text("Not possible.")).to_have_count(0)


@pytest.mark.release
def test_a_good_move_can_be_dropped_for_another(service: RunningService, visit: Visit) -> None:
    _, page = ask_for_hint(service, visit, "kaiser")
    page.get_by_role("button", name="Start over").click()
    expect(page.locator(".stage .chosen")).to_have_count(0)
    expect(page.locator(".bar .made")).to_be_hidden()


@pytest.mark.release
def test_the_tile_of_a_hint_is_shown_on_the_board(service: RunningService, visit: Visit) -> None:
    move, page = ask_for_hint(service, visit, "carcassonne")
    assert re.match(r"place ", move)
    expect(page.locator("[data-ghost]")).to_be_visible()
    expect(page.locator(".bar .note.hint")).to_contain_text(", then ")
