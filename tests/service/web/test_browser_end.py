"""A finished game can be looked back at on its page: its last points step by step, and its log at the verifier."""

import functools
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from service.tables.opening import OpenedTable
from tests import apps
from tests.golden.make import load
from tests.sampling import one_of
from tests.services import RunningService, Visit

MIN_GAP_PX = 4  # between two buttons, one below the other

# The pixels from each button of the result to the next one below it.
GAPS = """() => {
  const boxes = [...document.querySelectorAll("#now :is(button, a.button)")].map((one) => one.getBoundingClientRect());
  const gaps = boxes.slice(1).map(({ top }, index) => top - boxes[index].bottom);
  return gaps.filter((gap) => gap > -20); // others are beside each other
}"""

FindFinished = Callable[[str], OpenedTable]
OpenEnd = Callable[..., tuple[Page, tuple[int, ...]]]
CONFETTI_MS = 500  # after which it would fall
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="module")
def find_finished(service: RunningService) -> FindFinished:
    """A function that returns the finished game of this name, which no test changes."""
    return functools.cache(lambda game: service.play_like(load(game, "short")))


@pytest.fixture
def open_end(service: RunningService, visit: Visit, find_finished: FindFinished) -> OpenEnd:
    """A function that opens the page of a finished game for its winner; it returns the page and the final scores."""

    def open_page(game: str, **device: object) -> tuple[Page, tuple[int, ...]]:
        opened = find_finished(game)
        table = apps.load_table(service.app, opened.table)
        winner = table.position.places.index(1)
        standing = table.game.standing(table.position.state)
        return visit(f"/t/{opened.links[winner]}", **device), tuple(row.score for row in standing)

    return open_page


# In the short games of the others points are made once.
@pytest.mark.parametrize("game", one_of(["carcassonne", "kurier"], "kurier"))
def test_the_last_points_are_stepped_through_to_the_final_scores(open_end: OpenEnd, game: str) -> None:
    page, scores = open_end(game, **PHONE)
    page.locator("[data-count=open]").click()
    bar = page.locator(".film.count")
    following, steps = bar.locator("[data-count=next]"), page.locator(".counted li")
    expect(bar.locator(".number")).to_have_text(f"1 / {steps.count()}")
    while following.is_enabled():
        following.click()
    assert steps.last.get_attribute("data-after") == " ".join(map(str, scores))
    assert steps.last.get_attribute("aria-current") is not None
    if game == "carcassonne":  # its sentences tell the points
        assert bar.locator(".gained").count() == 0
    bar.locator("[data-count=back]").click()
    expect(following).to_be_enabled()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()


@pytest.mark.release
def test_the_winner_sees_confetti_once_and_not_with_reduced_motion(open_end: OpenEnd) -> None:
    page, _ = open_end("kaiser", reduced_motion="no-preference")
    kaiser = page.url
    expect(page.get_by_role("heading", name="You and Bert win", exact=True)).to_be_visible()
    expect(page.locator(".confetto").first).to_be_attached()
    expect(page.locator(".confetto")).to_have_count(0)
    other, _ = open_end("kurier", reduced_motion="reduce")
    page.goto(other.url)
    expect(page.locator(".confetto").first).to_be_attached()
    page.goto(kaiser)
    expect(page.locator("[data-replay]").first).to_be_visible()
    page.wait_for_timeout(CONFETTI_MS)
    assert page.locator(".confetto").count() == 0
    calm, _ = open_end("kaiser", reduced_motion="reduce")
    expect(calm.locator("[data-replay]").first).to_be_visible()
    assert calm.locator(".confetto").count() == 0


def test_the_page_of_a_finished_game_leads_to_the_verifier_which_checks_its_log(open_end: OpenEnd) -> None:
    page, _ = open_end("kurier")
    assert [gap for gap in page.evaluate(GAPS) if gap < MIN_GAP_PX] == []
    page.get_by_role("link", name="Check this game").click()
    expect(page.get_by_text("This log is sound.")).to_be_in_viewport()


@pytest.mark.parametrize("game", one_of(["carcassonne", "kurier"], "kurier"))
def test_what_can_be_done_after_the_end_is_inside_the_window(open_end: OpenEnd, game: str) -> None:
    page, _ = open_end(game, has_touch=True)
    for width, height in ((390, 844), (844, 390), (320, 640)):
        page.set_viewport_size({"width": width, "height": height})
        for name in ("Step through the points", "Replay the game", "Play again"):
            one = page.locator(".deeds").get_by_text(name, exact=True)
            expect(one).to_be_in_viewport(ratio=1)
            one.click(trial=True)
