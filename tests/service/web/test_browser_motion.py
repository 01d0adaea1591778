"""Pieces move where they were moved, and never for players who prefer reduced motion."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine.games import carcassonne
from tests import apps
from tests.browsing import Player, short_game
from tests.golden.make import load
from tests.services import RunningService, Visit

GENEROUS = 4  # times: tests run beside others

LIST_GLIDING = """() => document.getAnimations().map((one) => one.effect.target.dataset?.piece).filter(Boolean)"""


def open_after_moves(service: RunningService, visit: Visit, count: int, **context: Any) -> tuple[Page, str]:
    """Play the first moves of a short game; return the page of the next player, and the next move."""
    opened = service.start_table()
    moves = short_game(service.find_mover(opened.table))
    for seat, move in moves[:count]:
        service.submit(opened.links[seat], move)
    seat, move = moves[count]
    return visit(f"/t/{opened.links[seat]}", **context), move


def wait_for_gliding(page: Page, count: int) -> None:
    until = time.monotonic() + 10
    while len(page.evaluate(LIST_GLIDING)) != count:
        assert time.monotonic() < until
        page.wait_for_timeout(20)


def test_what_happened_meanwhile_plays_on_arriving_and_again_on_demand(service: RunningService, visit: Visit) -> None:
    page, _ = open_after_moves(service, visit, 2, reduced_motion="no-preference")
    wait_for_gliding(page, 1)
    wait_for_gliding(page, 0)
    began = time.monotonic()
    page.get_by_role("button", name="Show it again").click()
    wait_for_gliding(page, 1)
    expect(page.locator(".past")).to_have_count(0)
    assert time.monotonic() - began < 3 * GENEROUS


# Notes what comes to the board or leaves it, by kind: how large a piece is at first, and how far it comes.
NOTE_COMING = """() => {
  window.coming = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...all) {
    const begun = animate.apply(this, all);
    window.coming.push([this.dataset.laid ?? this.dataset.piece ?? "", begun.effect.getKeyframes()[0]]);
    return begun;
  };
}"""


def test_a_new_tile_is_set_down_and_a_new_figure_comes_from_its_player(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="carcassonne")
    mover = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[1 - mover]}", reduced_motion="no-preference")
    page.wait_for_load_state("networkidle")
    page.evaluate(NOTE_COMING)
    service.play_until(opened.table, lambda state: len(state.tiles) == 2)
    Player(page).refresh()
    page.wait_for_function("() => window.coming.some(([kind, { scale }]) => kind === 'tile' && scale === '1.35')")
    figure = next(
        entry
        for entry in carcassonne.menu(apps.load_table(service.app, opened.table).position.state, mover)
        if entry.verb == "figure"
    )
    service.submit(opened.links[mover], " ".join(("figure", *figure.options[0])))
    Player(page).refresh()
    page.wait_for_function("(figure) => window.coming.some(([kind]) => kind === figure)", arg=f"{mover}-meeple")
    [start] = [frame for kind, frame in page.evaluate("window.coming") if kind == f"{mover}-meeple"]
    assert "scale" not in start or start["scale"] in (None, "none", "auto")
    assert max(abs(float(length)) for length in re.findall(r"-?[\d.]+", start["translate"])) > 50


@pytest.mark.release
def test_escape_ends_what_plays_since_the_last_move(service: RunningService, visit: Visit) -> None:
    page, _ = open_after_moves(service, visit, 2)
    page.evaluate("document.querySelector('.table').dataset.since = '4 5 6 4 5 6'")
    page.get_by_role("button", name="Show it again").click()
    expect(page.locator(".past")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".past")).to_have_count(0, timeout=300)


def test_nothing_glides_for_a_player_who_prefers_reduced_motion(service: RunningService, visit: Visit) -> None:
    page, _ = open_after_moves(service, visit, 2, reduced_motion="reduce")
    page.get_by_role("button", name="Show it again").click()
    page.wait_for_load_state("networkidle")
    assert page.evaluate(LIST_GLIDING) == []


def test_the_replay_runs_on_the_stage_and_leaves_a_half_made_move_alone(service: RunningService, visit: Visit) -> None:
    page, _ = open_after_moves(service, visit, 4)
    sentence, slider = page.locator(".film .tale"), page.get_by_label("Position")
    page.locator(".stage .lit").first.focus()
    page.keyboard.press("Enter")
    made = page.locator(".bar .made").inner_text()
    page.get_by_role("tab", name="Log").click()
    page.locator("#log a[href*='replay?at']").nth(2).click()
    expect(sentence).to_have_text(re.compile("moves"))
    first, at = sentence.inner_text(), int(slider.input_value())
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_value(str(at + 1))
    expect(sentence).not_to_have_text(first)
    slider.fill(str(at))
    expect(sentence).to_have_text(first)
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator(".past")).to_have_count(0)
    assert page.locator(".bar .made").inner_text() == made != ""


@pytest.fixture(scope="module")
def finished_game(service: RunningService) -> str:
    """The path of the page of a finished game, which no test changes."""
    return f"/t/{service.play_like(load('kurier', 'short')).links[0]}"


def test_where_the_lead_changed_a_touch_shows_that_moment(finished_game: str, visit: Visit) -> None:
    page = visit(finished_game)
    mark = page.locator("svg.course a").last
    at = re.search(r"at=(\d+)", mark.get_attribute("href") or "")
    assert at
    mark.click()
    expect(page.get_by_label("Position")).to_have_value(at[1])
    expect(page.locator(".past")).to_have_count(1)


@pytest.mark.release
def test_where_the_chances_turned_a_touch_leads_there_in_the_replay(finished_game: str, visit: Visit) -> None:
    page = visit(f"{finished_game}/replay")
    turned = page.locator("[data-part=chances] a[data-at]").first
    at = turned.get_attribute("data-at")
    turned.click()
    expect(page).to_have_url(re.compile(rf"at={at}\b"))
    expect(page.locator("#at")).to_have_value(at or "")


# The widths of the pieces before names.
PIECES = """() => [...document.querySelectorAll('svg[viewBox="-36 -36 72 72"]')]
  .map((one) => one.getBoundingClientRect().width)"""


def test_the_pieces_of_the_players_are_as_high_as_their_lines(finished_game: str, visit: Visit) -> None:
    """A piece without a size of its own is as wide as the page."""
    page = visit("/")
    for place in (finished_game, f"{finished_game}/replay"):
        page.goto(place)
        page.locator("[data-stage], [data-part=chances]").first.wait_for()
        sizes = page.evaluate(PIECES)
        assert len(sizes) >= 4, place
        assert max(sizes) <= 44, (place, sizes)


# The elements that are shown over the page for a moment.
GAINS = """() => {
  window.gains = [];
  new MutationObserver((all) => { for (const one of all) window.gains.push(...one.addedNodes); })
    .observe(document.body, { childList: true });
}"""


@pytest.mark.release
def test_points_float_to_the_score(service: RunningService, visit: Visit) -> None:
    page, winning = open_after_moves(service, visit, 8, reduced_motion="no-preference")
    page.evaluate(GAINS)
    Player(page).move(winning)
    page.wait_for_function("() => window.gains.length > 0")
    assert re.fullmatch(r"\+\d+", page.evaluate("() => window.gains[0].textContent"))
