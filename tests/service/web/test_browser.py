"""The pages in a real browser against the embedded service: a move in the making, replay, letters, a phone."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from service.settings import DAY_S
from service.tables import access, submitting
from service.tables.opening import Invitee
from tests import apps
from tests.browsing import PAGE_TIMEOUT_MS, SHORT_GAMES, click, short_game
from tests.sampling import one_of
from tests.services import RunningService, Visit


def find_spot(page: Page, token: str) -> Any:
    """A place on the board, once the script that makes it one to be touched is there."""
    return page.locator(f'.stage [data-token="{token}"][aria-disabled]')


def test_another_stone_may_be_taken_up_and_put_down(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[seat]}")
    one, other = [move.split("-")[0] for move in SHORT_GAMES[seat].split()[:3:2]]
    find_spot(page, one).click()
    click(page, other)
    expect(page.locator(".bar .made")).to_have_text(f"Move a stone: {other}")
    expect(page.get_by_role("button", name="Confirm")).to_be_hidden()
    expect(find_spot(page, other)).to_have_class(re.compile("chosen"))
    find_spot(page, other).click()
    expect(page.locator(".bar .made")).to_be_hidden()


def test_a_half_made_choice_is_not_lost_when_something_happens(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    first = service.find_mover(opened.table)
    app, mover = service.app, access.find(service.app, opened.links[first])
    submitting.wait_for_verdict(
        app, submitting.submit(app, mover, "move " + SHORT_GAMES[first].split()[0].replace("-", " ")), 10
    )
    page = visit(f"/t/{opened.links[1 - first]}")
    start = SHORT_GAMES[first].split()[1].split("-")[0]
    find_spot(page, start).click()
    submitting.wait_for_verdict(app, submitting.submit(app, mover, "undo"), 10)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it looks for news at once
    question = page.locator(".notices").get_by_text("would like to take the last move back")
    expect(question).to_be_visible(timeout=PAGE_TIMEOUT_MS)
    expect(page.locator(".bar .made")).to_have_text(f"Move a stone: {start}")


def test_a_refused_move_says_why(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[seat]}")
    start, end = SHORT_GAMES[seat].split()[0].split("-")
    find_spot(page, start).click()
    find_spot(page, end).click()
    page.evaluate("document.querySelector('.bar [name=move]').value = 'move A1 A2'")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("alert")).to_contain_text("Not possible.")


def test_replay_with_slider_keys_and_links(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    for seat, move in short_game(service.find_mover(opened.table)):
        service.submit(opened.links[seat], move)
    page = visit(f"/t/{opened.links[0]}/replay")
    board = page.locator("figure.plate svg.board")
    last, at_the_end = int(page.locator("#at").input_value()), board.inner_html()
    page.locator("#at").focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"at={last - 1}$"))
    page.locator("h1").click()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"at={last - 2}$"))
    page.keyboard.press("Home")
    expect(page.locator(".chapter")).to_contain_text("The game begins.")
    assert board.inner_html() != at_the_end
    page.get_by_role("link", name="Next →").click()
    expect(page.locator(".chapter")).to_contain_text("moves a")
    expect(page.locator("#at")).to_have_value(str(last - 8))
    page.keyboard.press("End")
    expect(page.locator(".chapter")).to_contain_text("The game is over.")
    assert board.inner_html() == at_the_end

    plain = visit(f"/t/{opened.links[0]}/replay", java_script_enabled=False)
    plain.locator("#at").focus()
    plain.keyboard.press("Home")
    plain.get_by_role("button", name="Show this position").click()
    expect(plain.locator(".chapter")).to_contain_text("The game begins.")


def test_a_slider_moved_before_its_script_has_come_is_followed(service: RunningService, visit: Visit) -> None:
    opened, routes = service.start_table(), list[Route]()
    first = service.find_mover(opened.table)
    service.submit(opened.links[first], "move " + SHORT_GAMES[first].split()[0].replace("-", " "))
    page = visit("/rules")
    page.route("**/replay.js*", lambda route: routes.append(route))
    page.goto(f"/t/{opened.links[0]}/replay", wait_until="commit")
    slider = page.locator("#at")
    last = int(slider.input_value())
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert int(slider.input_value()) == last - 1
    routes[0].continue_()
    expect(page).to_have_url(re.compile(rf"at={last - 1}$"))


def test_what_if_is_played_for_both_sides_and_the_table_stays_as_it_is(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    first, length = service.find_mover(opened.table), apps.load_table(service.app, opened.table).row.length
    page = visit(f"/t/{opened.links[first]}")
    page.get_by_role("tab", name="More").click()
    page.get_by_role("link", name="What if …").click()
    page.get_by_role("button", name="Begin a new branch").click()
    expect(page.get_by_text("nothing here is real")).to_be_visible()
    for number, move in enumerate(SHORT_GAMES[first].split()[:2], 1):
        start, end = move.split("-")
        find_spot(page, start).click()
        find_spot(page, end).click()
        page.get_by_role("button", name="Confirm").click()
        expect(page.locator(".line .mine")).to_contain_text(f"{number}. ")
    page.wait_for_load_state()  # with the script that listens to keys
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".line .mine")).to_contain_text("1. ")
    page.wait_for_load_state()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".line .mine")).to_contain_text("2. ")
    page.get_by_role("button", name="Take back the last move").click()
    expect(page.locator(".line li")).to_have_count(2)
    assert apps.load_table(service.app, opened.table).row.length == length


def test_letters_in_the_mailbox_lead_to_the_table(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(Invitee("Maria", "maria@example.net"), Invitee("Bot"), letters=True)
    service.wait_for_letter("maria@example.net")
    page = visit("/mailbox")
    page.get_by_role("link", name="maria@example.net").first.click()
    button = page.frame_locator("iframe").locator(".button a")
    expect(button).to_be_visible()
    button.click()
    page.wait_for_url(f"**/t/{opened.links[0]}")


@pytest.mark.parametrize("everything", one_of([False, True], False))
def test_a_phone_never_scrolls_sideways(service: RunningService, visit: Visit, everything: bool) -> None:
    """In `make test` on four pages; `test_browser_small.py` looks at tables on a phone that is smaller still."""
    gathering = service.open_table(Invitee("Bertrand de Villeneuve-sur-Lot-en-Gascon", "b@example.org"), Invitee("Bot"))
    opened = service.start_table()
    first = service.find_mover(opened.table)
    links = [gathering.links[0], opened.links[first], opened.links[1 - first], opened.watch]
    paths = ["/", "/new/kaiser", *(f"/t/{link}" for link in links[:2])]
    if everything:
        service.wait_for_letter("b@example.org")
        paths += ["/rules", "/rules/kurier", "/mailbox", "/mailbox/1", f"/t/{links[1]}/replay"]
        paths += [f"/t/{link}" for link in links[2:]]
    page = visit("about:blank", viewport={"width": 360, "height": 720}, has_touch=True)
    for path in paths:
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        small = page.eval_on_selector_all(
            "button, .button, summary, input:not([type=hidden], [type=checkbox], [type=radio]), select",
            "all => all.filter(one => one.offsetHeight > 1 && one.offsetHeight < 44).map(one => one.outerHTML)",
        )
        assert small == [], path


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "none"])
def test_a_new_table_needs_a_box_a_pace_and_start(service: RunningService, visit: Visit, scripts: bool) -> None:
    page = visit("/new/kaiser", java_script_enabled=scripts)
    page.get_by_label("Your name").fill("Anna")
    page.get_by_label("Your e-mail address").fill("anna@example.org")
    page.get_by_label("Who plays with you?").fill("Kim <kim@example.org>; robin@example.org")
    page.get_by_role("button", name="Bot").click()
    expect(page.get_by_label("Who plays with you?")).to_have_value(re.compile("robin@example.org\\s+bot$"))
    page.get_by_label("7 days").check()
    expect(page.get_by_label("Anyone with the link can watch")).to_be_hidden()
    page.get_by_label("Your name").press("Enter")
    page.wait_for_url("**/t/*")
    snapshot = apps.load_table(service.app, access.find(service.app, page.url.rsplit("/", 1)[1]).table)
    assert snapshot.names == ("Anna", "Kim", "Robin", "Bot 1")
    assert snapshot.clock.pace == 7 * DAY_S


def test_a_replay_plays_by_itself_until_the_end_or_until_the_player_steers(
    service: RunningService, visit: Visit
) -> None:
    opened = service.start_table()
    for seat, move in short_game(service.find_mover(opened.table))[:3]:
        service.submit(opened.links[seat], move)
    page = visit(f"/t/{opened.links[0]}/replay", reduced_motion="reduce")
    assert page.locator("#speed").input_value() == "3000"
    page.select_option("#speed", "fast")
    last = page.locator("#at").input_value()
    play = page.locator(".play button")
    play.click()
    expect(play).to_have_text("❚❚ Pause", use_inner_text=True)
    expect(page.locator("#at")).to_have_value(last, timeout=PAGE_TIMEOUT_MS)
    expect(play).to_have_text("▶ Play", use_inner_text=True)
    play.click()
    expect(play).to_have_text("❚❚ Pause", use_inner_text=True)
    page.get_by_role("link", name="Round »").click()
    expect(play).to_have_text("▶ Play", use_inner_text=True)
    page.locator("summary", has_text="The board in words").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    expect(page).to_have_url(re.compile(r"at=\d+$"))
    expect(page.locator("pre.text")).to_be_visible()


@pytest.mark.release
def test_the_number_of_a_paragraph_is_copied_as_a_link(service: RunningService, visit: Visit) -> None:
    page = visit("/rules/kaiser", permissions=["clipboard-read", "clipboard-write"])
    page.locator(".rules a.number", has_text="2.3").click()
    expect(page.locator(".copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").endswith("/rules/kaiser#2.3")
    expect(page).to_have_url(re.compile("#2.3$"))
