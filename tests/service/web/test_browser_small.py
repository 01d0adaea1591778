"""On the smallest phone no sentence, title or button is cut, in any language."""

from __future__ import annotations

from itertools import count

import pytest

from engine import catalogue
from service.hosting import overview
from service.text.languages import LANGUAGES
from tests import apps
from tests.browsing import MENU, Player, tap
from tests.sampling import one_of
from tests.services import RunningService, Visit, fixed_seed
from tests.windows import Windows

SMALLEST = {"width": 320, "height": 568}
ON_ITS_SIDE = {"width": 844, "height": 390}
MOVES = 20  # of each game, after which its bar has most to say
OTHER_PAGES = ["/", "/my", "/help", "/verify", "/gallery"]
PAGES_OF_GAME = ["/new/%s", "/rules/%s", "/learn/%s", "/learn/%s/1"]

# What is cut: each element that hides a part of its text, or that has to be scrolled sideways, with its text.
LIST_CUT = """() => {
  const SCROLLERS = ".bar, .bar *, .tray, .host *";
  const cut = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
  for (const one of document.querySelectorAll("body *:not(svg *, pre *, .unseen *)")) {
    const { overflowX, overflowY, clipPath, position } = getComputedStyle(one);
    const isSeen = (one.offsetParent || position === "fixed") && clipPath === "none" && one.clientWidth > 2;
    if (!isSeen || !one.textContent.trim()) continue;
    const hidesSideways = overflowX === "hidden" || (overflowX === "auto" && one.matches(SCROLLERS));
    const isWide = hidesSideways && one.scrollWidth > one.clientWidth + 1;
    const isHigh = overflowY === "hidden" && one.scrollHeight > one.clientHeight + 2;
    if (isWide || isHigh) cut.push(`${one.className || one.tagName}: ${one.textContent.trim().slice(0, 60)}`);
  }
  return cut;
}"""


@pytest.fixture(scope="module")
def tables(service: RunningService) -> dict[str, list[str]]:
    """The pages of a player who is to move, and of one who waits, at a table of each game."""
    paths = dict[str, list[str]](moving=[], waiting=[])
    for game in catalogue.find_all():
        with fixed_seed(bytes([3]) * 32):
            opened, steps = service.start_table(game=game), count()
        service.play_until(opened.table, lambda _, steps=steps: next(steps) >= MOVES)
        mover = service.find_mover(opened.table)
        paths["moving"].append(f"/t/{opened.links[mover]}")
        paths["waiting"].append(f"/t/{opened.links[1 - mover]}")
    return paths


def list_cut(visit: Visit, language: str, paths: list[str]) -> dict[str, list[str]]:
    """Return what is cut on each of these pages."""
    page = visit("about:blank", viewport=SMALLEST, locale=language, has_touch=True)
    found = dict[str, list[str]]()
    for path in paths:
        page.goto(path)
        page.wait_for_timeout(150)  # the bar and the view come to rest
        found[path] = page.evaluate(LIST_CUT)
    return {path: cut for path, cut in found.items() if cut}


@pytest.mark.parametrize("player", one_of(["moving", "waiting"], "moving"))
@pytest.mark.parametrize("language", one_of(sorted(LANGUAGES), "de"))
def test_nothing_at_a_table_is_cut_on_the_smallest_phone(
    visit: Visit, tables: dict[str, list[str]], language: str, player: str
) -> None:
    assert list_cut(visit, language, tables[player]) == {}


@pytest.mark.parametrize("window", one_of([SMALLEST, ON_ITS_SIDE], SMALLEST))
@pytest.mark.parametrize("language", one_of(sorted(LANGUAGES), "de"))
def test_nothing_is_cut_while_a_tile_and_its_figure_are_chosen(
    service: RunningService, visit: Visit, language: str, window: dict[str, int]
) -> None:
    opened = service.start_table(game="carcassonne")
    place = f"/t/{opened.links[service.find_mover(opened.table)]}"
    page = visit(place, viewport=window, locale=language, has_touch=True)
    Player(page, tap).touch(page.evaluate(MENU)["menu"][0]["options"][0][0])
    page.locator('.bar [data-whole="pass"]').wait_for()
    assert page.evaluate(LIST_CUT) == []


@pytest.mark.release
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_on_other_pages_is_cut_on_the_smallest_phone(visit: Visit, language: str) -> None:
    paths = [*OTHER_PAGES, *(path % game for game in catalogue.find_all() for path in PAGES_OF_GAME)]
    assert list_cut(visit, language, paths) == {}


@pytest.fixture(scope="module")
def own_pages(service: RunningService, windows_of_service: Windows) -> list[str]:
    """The pages of the host, of a player's settings and ways to be reached, of signing in and leaving, and of plans."""
    opened, app = service.start_table(pace=86_400), service.app
    mover = service.find_mover(opened.table)
    person = apps.load_table(app, opened.table).seats[0].person
    settings, table = f"/wishes/{app.links.make_preferences_token(person)}", f"/t/{opened.links[1 - mover]}"
    host = f"/host/{overview.get_link(app)}"
    apps.owe_confirm_letter(app, person)
    with windows_of_service.opening() as visit:
        page = visit(f"{table}/whatif")
        page.locator("main form button").first.click()
        page.wait_for_url("**/whatif/*")
        plan = page.url.split("?")[0]
    return [
        host,
        f"{host}?table={opened.table}",
        settings,
        f"{settings}?table={opened.table}",
        f"{settings}/stop",
        f"{settings}/connections",
        f"{settings}/language",
        f"/t/{opened.links[0]}/followers",
        f"{table}/replay",
        f"{table}/whatif",
        plan,
        f"/confirm/{app.links.make_confirm_token(person, 'anna@example.org')}",
        f"/enter/{app.links.make_sign_in_token(person, 0, app.now())}",
        "/enter",
    ]


@pytest.mark.release
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_cut_on_pages_of_the_host_of_settings_and_of_plans(
    visit: Visit, own_pages: list[str], language: str
) -> None:
    assert list_cut(visit, language, own_pages) == {}
