"""Rules at the table, in a real browser."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from engine import catalogue
from tests.service.web.test_browser import find_spot
from tests.services import RunningService, Visit

LIST_LOADED = """async (all) => {
  await Promise.all(all.map((one) => ((one.loading = "eager"), one.decode())));
  return all.map((one) => one.clientWidth);
}"""


def table(service: RunningService, visit: Visit) -> tuple[int, Page]:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    return seat, visit(f"/t/{opened.links[seat]}")


def test_the_paragraph_of_a_refusal_opens_in_place_with_its_picture(service: RunningService, visit: Visit) -> None:
    _, page = table(service, visit)
    find_spot(page, "D17").click(force=True)
    page.locator("a.rule:visible").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name=re.compile("How far"))).to_be_visible()
    expect(dialog.get_by_role("img").first).to_be_visible()
    assert "/t/" in page.url
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_a_touch_that_cannot_be_says_why_and_its_paragraph_opens_in_place(
    service: RunningService, visit: Visit
) -> None:
    seat, page = table(service, visit)
    find_spot(page, "B13" if seat == 0 else "A13").click(force=True)
    note = page.locator(".bubble")
    expect(note).to_contain_text(re.compile("^This stone belongs to (Anna|Bert)."))
    link = note.locator("a.rule")
    expect(link).to_have_text("§ 2.1")
    link.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name=re.compile("How far"))).to_be_visible()
    expect(dialog.get_by_role("img").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_what_is_this_names_a_piece_and_plays_nothing(service: RunningService, visit: Visit) -> None:
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


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["one", "both"])
def languages(request: pytest.FixtureRequest, name: str) -> tuple[str, ...]:
    """The longest two; the games take turns with them, and only a soak prints all games in both."""
    longest = ("de", "fr")
    return longest if request.param else (longest[list(catalogue.find_all()).index(name) // 2 % 2],)


@pytest.mark.release
@pytest.mark.parametrize("name", catalogue.find_all())
def test_rules_print_on_two_sheets_with_their_pictures_and_the_summary_on_one_side(
    name: str, service: RunningService, chromium: Browser, languages: tuple[str, ...]
) -> None:
    for language in languages:
        with chromium.new_context(locale=language, viewport={"width": 726, "height": 1055}) as context:
            page = context.new_page()
            assert sides(page, f"{service.address}/rules/{name}") <= 4
            page.emulate_media(media="print")
            widths = page.locator(".rules > section .example img").evaluate_all(LIST_LOADED)
            assert min(widths) > 40  # pixels of CSS, a good centimetre
            assert sides(page, f"{service.address}/rules/{name}/short") == 1


def sides(page: Page, address: str) -> int:
    page.goto(address, wait_until="load")
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True)))
