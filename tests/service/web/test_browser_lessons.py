"""Lessons by taps alone, on phones and a laptop, and with the numbers of the answer that a newcomer asks for."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from engine import catalogue
from service.text import lessons
from tests.browsing import Player, tap
from tests.sampling import one_of
from tests.services import RunningService, Visit

WINDOWS = {
    "phone": (390, 844),
    "small phone": (360, 640),
    "phone on its side": (844, 390),
    "laptop": (1366, 650),
}
LESSONS = [(name, number) for name in catalogue.find_all() for number in range(1, len(lessons.load_lessons(name)) + 1)]
every_window = pytest.mark.parametrize(
    "window", [name if name == "phone" else pytest.param(name, marks=pytest.mark.release) for name in WINDOWS]
)
every_game = pytest.mark.parametrize("name", catalogue.find_all())
every_lesson = pytest.mark.parametrize(("name", "number"), LESSONS)
MAX_TURNS = 4  # of a tile
FIRST_LESSONS = 1  # `make test` solves these by taps, and all others by their forms, in test_lessons.py
WORDS_PER_MINUTE, TAP_S, FIRST_MINUTES_S = 120, 3, 90  # of a newcomer who reads slowly and searches

# The places with a number, in their order, and the middle of the number itself.
NUMBERS = """() => [...document.querySelectorAll(":is(.stage, .tray) [data-mark]")]
  .sort((one, other) => one.dataset.mark - other.dataset.mark).map((one) => one.dataset.token)"""


def open_lesson(visit: Visit, name: str, number: int, window: str, **how: Any) -> Page:
    width, height = WINDOWS[window]
    return visit(f"/learn/{name}/{number}", viewport={"width": width, "height": height}, has_touch=True, **how)


def tap_inside(button: Locator) -> None:
    """Tap a button, all of which is in the window and not covered."""
    expect(button).to_be_in_viewport(ratio=0.99)
    button.tap()


@every_window
@pytest.mark.parametrize("name", one_of(catalogue.find_all(), "kurier"))
def test_the_first_lessons_of_a_game_are_solved_by_taps_on_their_boards(
    service: RunningService, visit: Visit, name: str, window: str
) -> None:
    solve_by_taps(visit, name, window, slice(FIRST_LESSONS))


@pytest.mark.release
@every_window
@every_game
def test_the_other_lessons_of_a_game_are_solved_by_taps_on_their_boards(
    service: RunningService, visit: Visit, name: str, window: str
) -> None:
    solve_by_taps(visit, name, window, slice(FIRST_LESSONS, None))


def solve_by_taps(visit: Visit, name: str, window: str, part: slice) -> None:
    """Solve a part of the lessons of a game, each on the page to which the one before leads."""
    numbered = list(enumerate(lessons.load_lessons(name), 1))[part]
    page = open_lesson(visit, name, numbered[0][0], window)
    for number, lesson in numbered:
        expect(page.locator("#assignment")).to_be_in_viewport(ratio=0.99)
        player, move = Player(page, tap), lesson.scenario.steps[-1].move
        player.put_together(move)
        tap_inside(player.find_send_button(move))
        expect(page.locator(".lesson[data-solved]")).to_be_attached()
        expect(page.get_by_role("heading", name="That is it.")).to_be_in_viewport()
        tap_inside(page.locator(".bar .deeds a.main"))
        page.wait_for_url(re.compile(f"/learn/{name}/{number + 1}$|/play/{name}"))


def solve_by_numbers(page: Page, answer: str) -> int:
    """Ask for the answer, and touch what it numbers; return how many taps it took."""
    page.locator(".answer-link").tap()
    expect(page.locator(".answer")).to_be_in_viewport(ratio=0.99)
    player, taps = Player(page, tap), 2
    page.locator("form.deed[data-said]").wait_for(state="attached")
    for token in page.evaluate(NUMBERS):
        if token.split()[-1] not in player.read_offers().chosen:
            player.touch(token)
            taps += 1
    for _ in range(MAX_TURNS):
        button = page.locator(".bar .next button[data-say]").first
        if player.read_offers().whole == answer or not button.count():
            break
        button.tap()
        taps += 1
    for _ in range(MAX_TURNS):
        if player.read_offers().whole == answer:
            break
        page.locator(".bar .next button").first.tap()
        taps += 1
    tap_inside(player.find_send_button(answer))
    expect(page.locator(".lesson[data-solved]")).to_be_attached()
    return taps


@pytest.mark.release
@every_lesson
def test_the_numbers_of_the_answer_lead_through_a_lesson(
    service: RunningService, visit: Visit, name: str, number: int
) -> None:
    page = open_lesson(visit, name, number, "phone")
    solve_by_numbers(page, str(lessons.get_answer(lessons.load_lessons(name)[number - 1])))


@pytest.mark.release
@every_game
def test_three_right_moves_take_a_newcomer_a_minute_and_a_half(
    service: RunningService, visit: Visit, name: str
) -> None:
    """The newcomer reads everything, understands nothing, and asks for each answer."""
    page, seconds = open_lesson(visit, name, 1, "phone"), 0.0
    for number in (1, 2, 3):
        taps = solve_by_numbers(page, str(lessons.get_answer(lessons.load_lessons(name)[number - 1])))
        read = f"{page.locator('.task').inner_text()} {page.locator('.bar .prompt').inner_text()}"
        seconds += len(read.split()) * 60 / WORDS_PER_MINUTE + (taps + 1) * TAP_S
        page.locator(".bar .deeds a.main").tap()
    page.wait_for_url(re.compile(f"/learn/{name}/4"))
    print(f"{name}: {seconds:.0f} s")
    assert seconds < FIRST_MINUTES_S


def test_a_try_is_answered_on_the_board_and_the_lesson_goes_on(service: RunningService, visit: Visit) -> None:
    page = open_lesson(visit, "kaiser", 1, "phone")
    player = Player(page, tap)
    player.put_together("move A1 A2")
    player.find_send_button("move A1 A2").tap()
    expect(page.locator(".bar .note")).to_contain_text("not what is asked")
    assert player.read_offers().lit == ["A1"]
    player.put_together("move A1 Z")
    player.find_send_button("move A1 Z").tap()
    expect(page.locator(".lesson[data-solved]")).to_be_attached()


def test_a_solved_lesson_is_remembered_by_the_browser(service: RunningService, visit: Visit) -> None:
    page = visit("/learn/kaiser/1")
    page.get_by_label("Your move").fill("move A1 Z")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="That is it.")).to_be_visible()
    page.get_by_role("link", name="The next lesson").click()
    expect(page.locator(".lessons .done")).to_have_text(re.compile("1"))
    expect(page.locator(".lessons .done")).to_have_count(1)


def test_without_a_script_a_lesson_is_solved_by_the_buttons_of_its_list(service: RunningService, visit: Visit) -> None:
    page = open_lesson(visit, "kaiser", 1, "phone", java_script_enabled=False)
    page.get_by_role("link", name="Show me").click()
    expect(page.locator("[data-mark]")).to_have_count(2)
    page.locator('.offers button[value="move A1 Z"]').click()
    expect(page.get_by_role("heading", name="That is it.")).to_be_visible()
    expect(page.get_by_role("link", name="The next lesson")).to_be_visible()
