"""Rules at the table and lessons, in a real browser."""

import re

from playwright.sync_api import Page, expect

from tests.running import Running, Visit
from tests.service.web.test_browser import spot


def table(service: Running, visit: Visit) -> tuple[int, Page]:
    opened = service.begin()
    seat = service.first(opened.table)
    return seat, visit(f"/t/{opened.links[seat]}")


def test_the_paragraph_of_a_refusal_opens_in_place_with_its_picture(service: Running, visit: Visit) -> None:
    _, page = table(service, visit)
    spot(page, "D17").click(force=True)
    page.locator("a.rule:visible").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name=re.compile("How far"))).to_be_visible()
    expect(dialog.get_by_role("img").first).to_be_visible()
    assert "/t/" in page.url
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_what_is_this_names_a_piece_and_plays_nothing(service: Running, visit: Visit) -> None:
    seat, page = table(service, visit)
    for piece, heading in ((f"{seat}-emperor", "belongs to emperors"), (f"{seat}-king", "How far")):
        page.locator("[data-ask]").dispatch_event("click")
        page.locator("body.asking").wait_for()
        page.locator(f'[data-piece="{piece}"]').first.click(force=True)
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("heading", name=re.compile(heading))).to_be_visible()
        expect(page.locator(".bar .made")).to_have_text("")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()


def test_a_lesson_is_solved_on_its_board_and_remembered_by_the_browser(service: Running, visit: Visit) -> None:
    page = visit("/learn/kaiser/1")
    page.get_by_label("Your move").fill("move A1 Z")
    page.keyboard.press("Enter")
    expect(page.get_by_text("That is it.")).to_be_visible()
    page.get_by_role("link", name="The next lesson").click()
    expect(page.locator(".lessons .done")).to_have_text(re.compile("1"))
    expect(page.locator(".lessons .done")).to_have_count(1)
