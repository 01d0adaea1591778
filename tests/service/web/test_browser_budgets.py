"""The first page is small and fast, and keyboard and screen reader work at the table of each game."""

import statistics
import time
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, expect

from engine import catalogue
from service import create_app
from service.text.languages import LANGUAGES
from tests.browsing import Player
from tests.sampling import one_of
from tests.services import RunningService, Visit

FIRST_PAGE_BYTES = 100_000  # everything that is loaded
MAX_STYLED_BYTES = 36_000  # of the scripts and styles of a table page, compressed
# Of what a page loads, without what it loads later, when there is time.
SIZES = """() => {
  const loaded = performance.getEntriesByType("navigation")[0].loadEventEnd;
  const early = performance.getEntriesByType("resource").filter(({ startTime }) => startTime < loaded + 1000);
  return early.map((one) => [one.name, one.encodedBodySize]);
}"""
UPRIGHT, ON_ITS_SIDE = {"width": 390, "height": 844}, {"width": 844, "height": 390}
HEADLINE_PX = 28  # a line
MAX_PAGE_S, MAX_FINISHED_PAGE_S = 0.1, 0.06  # of the server's time
every_game = pytest.mark.parametrize("game", catalogue.find_all())

# What can be pressed, filled in or followed, and has no name that could be read out.
NAMELESS = """() => [...document.querySelectorAll("a, button, summary, select, textarea, input:not([type=hidden])")]
  .filter((one) => one.offsetParent !== null)
  .filter((one) => !(one.getAttribute("aria-label") || one.innerText.trim() || one.labels?.length))
  .map((one) => one.outerHTML)"""

# Where the focus is: in what order on the page, and whether one sees it.
FOCUS = """() => {
  const one = document.activeElement;
  const spot = one.closest("[data-stage] [data-token]");
  const shape = spot ? spot.querySelector(".halo") : one;
  const style = getComputedStyle(shape);
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const seen = spot ? parseFloat(style.strokeWidth) >= 8 : ring;
  return [one.outerHTML.slice(0, 80), seen, [...document.querySelectorAll("*")].indexOf(one)];
}"""


def test_the_first_page_is_light(service: RunningService, chromium: Browser) -> None:
    sizes: dict[str, int] = {}
    with chromium.new_page(base_url=service.address) as page:
        page.on("requestfinished", lambda one: sizes.update({urlsplit(one.url).path: sum(one.sizes().values())}))
        page.goto("/", wait_until="networkidle")
    assert any(path.endswith("/depesche.css") for path in sizes)
    assert sum(sizes.values()) < FIRST_PAGE_BYTES, sizes


@pytest.mark.parametrize("language", one_of(LANGUAGES, "fr"))
def test_all_games_can_be_begun_on_the_first_screen_of_a_laptop(visit: Visit, language: str) -> None:
    page = visit("/", viewport={"width": 1366, "height": 650}, locale=language)
    buttons = page.locator(".card .button").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().bottom)"
    )
    assert len(buttons) == 2 * len(catalogue.find_all())
    assert max(buttons) <= 650


def test_the_scripts_and_styles_of_a_table_are_small(service: RunningService, visit: Visit) -> None:
    page = visit(f"/t/{service.start_table(game='carcassonne').links[0]}")
    page.wait_for_load_state("networkidle")
    sizes = {url: size for url, size in page.evaluate(SIZES) if url.endswith((".js", ".css"))}
    assert {"table.js", "table.css"} <= {url.rpartition("/")[2] for url in sizes}
    print(f"scripts and styles of a table page: {sum(sizes.values())} bytes")
    assert sum(sizes.values()) < MAX_STYLED_BYTES, sizes


@pytest.mark.parametrize("path", ["/", "/new/carcassonne"])
def test_the_first_pages_take_the_server_a_blink(service: RunningService, path: str) -> None:
    assert median(create_app(service.app).test_client(), path) < MAX_PAGE_S


def test_the_table_of_a_finished_game_takes_hardly_more(service: RunningService) -> None:
    opened = service.start_table(game="carcassonne")
    service.play_until(opened.table, lambda state: state.phase == "over")
    assert median(create_app(service.app).test_client(), f"/t/{opened.links[0]}") < MAX_FINISHED_PAGE_S


def median(client: FlaskClient, path: str) -> float:
    """Seconds this page takes, as a rule, of this thread alone: other tests may keep the machine busy."""
    times = []
    for _ in range(9):
        begin = time.thread_time()
        assert client.get(path).status_code == 200
        times.append(time.thread_time() - begin)
    return statistics.median(times)


@every_game
def test_without_a_script_everything_has_a_name_and_the_board_can_be_read(
    service: RunningService, visit: Visit, game: str
) -> None:
    opened = service.start_table(game=game)
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}", java_script_enabled=False)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    assert page.evaluate(NAMELESS) == []
    assert page.locator("figure figcaption").inner_text().strip()
    assert page.locator("pre.text").inner_text().strip()
    assert page.locator(".offers h3").count() == page.locator(".offers > div").count() > 0


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "kurier"))
def test_the_focus_goes_down_the_page_and_is_seen(service: RunningService, visit: Visit, game: str) -> None:
    opened = service.start_table(game=game)
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    before = -1
    for stops in range(25):
        page.keyboard.press("Tab")
        what, seen, place = page.evaluate(FOCUS)
        if what.startswith("<body"):  # past the last one
            assert stops >= 8  # as few as the first tile has places
            break
        assert seen, what
        assert place > before, what
        before = place


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "carcassonne"))
def test_the_verdict_leaves_the_headline_whole_on_a_phone(service: RunningService, visit: Visit, game: str) -> None:
    opened = service.start_table(game=game)
    place = f"/t/{opened.links[service.find_mover(opened.table)]}"
    player = Player(visit(place, viewport=UPRIGHT, has_touch=True))
    player.move()
    expect(player.page.get_by_role("status")).to_contain_text("Accepted.")
    headline = player.page.locator(".bar h1")
    for window in (UPRIGHT, ON_ITS_SIDE):
        player.page.set_viewport_size(window)
        assert headline.evaluate("one => one.scrollWidth <= one.clientWidth")
        seen = headline.bounding_box()
        assert seen
        assert seen["x"] + seen["width"] <= window["width"]
        assert seen["height"] <= 2 * HEADLINE_PX  # it is not broken into its letters


def test_nothing_moves_for_a_player_who_prefers_reduced_motion(service: RunningService, visit: Visit) -> None:
    page = visit(f"/t/{service.start_table().links[0]}")
    moving = """() => [...document.querySelectorAll("*")].flatMap((one) => [null, "::before", "::after"].map(
      (part) => getComputedStyle(one, part))).filter((style) => style.transitionDuration !== "0s").length"""
    assert page.evaluate(moving) == 0
