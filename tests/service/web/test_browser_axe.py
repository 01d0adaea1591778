"""axe-core finds nothing on any page: wide and light, in dark colours, and as narrow as a telephone."""

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Page

from engine import catalogue
from service.tables.opening import Invited, Opened
from tests import apps
from tests.axe import find_violations
from tests.services import RunningService, Visit

every_game = pytest.mark.parametrize("game", catalogue.find_all())


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["in_turn", "all"])
def turns(request: pytest.FixtureRequest, game: str) -> Iterator[bool]:
    """Whether it is the turn of this game to show the next page: in a soak every game shows all."""
    number, games = list(catalogue.find_all()).index(game), len(catalogue.find_all())
    return (request.param or page % games == number for page in count())


def judge(page: Page, *paths: str) -> None:
    for path in paths:
        page.goto(path)
        assert find_violations(page) == [], path


def judge_in_turn(page: Page, turns: Iterator[bool], *paths: str, own: str = "") -> None:
    """The pages whose turn it is; what is the game's own is seen wide and light even where it is not its turn."""
    for path in paths:
        mine = next(turns)
        if mine or path == own:
            page.goto(path)
            assert find_violations(page, every_mode=mine) == [], path


def seats(service: RunningService, opened: Opened) -> list[str]:
    """The page of who is to move, of who waits, and of who looks on."""
    first = service.find_mover(opened.table)
    return [f"/t/{link}" for link in (opened.links[first], opened.links[1 - first], opened.watch)]


def test_it_finds_what_is_wrong(visit: Visit) -> None:
    page = visit("/")
    page.evaluate("document.querySelector('main').innerHTML += '<input>'")
    page.evaluate("[...document.querySelectorAll('main p')].at(-1).style = 'color: #bbb; background: #ccc'")
    found = " ".join(find_violations(page))
    assert all(name in found for name in ("label:", "color-contrast:", "dark: color-contrast:"))


def test_pages_without_a_table(service: RunningService, visit: Visit) -> None:
    page = visit("/")
    service.open_table()
    service.wait_for_letter("anna@example.org")
    judge(page, "/", "/rules", "/help", "/gallery", "/api", "/mailbox", "/mailbox/1")


def test_ones_own_tables(service: RunningService, visit: Visit) -> None:
    opened, app = service.start_table(), service.app
    service.submit(opened.links[0], "resign")
    free = apps.open_new(app, "kaiser", {}, [Invited("Anna", "anna@example.org"), Invited("", who="anybody")])
    anna = apps.load_table(app, free.table).seats[0].person
    page, key = visit("/"), app.links.enter(anna, 0, app.now())
    judge(page, "/enter", f"/enter/{key}", f"/confirm/{app.links.confirm(anna, 'anna@example.org')}")
    judge(page, f"/t/{free.links[0]}", f"/join/{free.join}", "/play/kaiser")
    page.goto(f"/enter/{key}")
    page.get_by_role("button", name="Show my tables").click()
    judge(page, "/my", "/my/delete")


def test_letters(service: RunningService, chromium: Browser) -> None:
    """A letter lies within the page of a mail program, which has the landmarks."""
    service.start_table(Invited("Clara", "clara@example.org"), Invited("Bot"), letters=True)
    service.wait_for_letter("clara@example.org")
    with chromium.new_page(base_url=service.address) as page:
        for number in range(1, 3):
            page.goto(f"/mailbox/{number}/body")
            assert [one for one in find_violations(page) if not one.startswith(("landmark-one-main:", "region:"))] == []


def test_what_the_links_in_letters_open(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    wishes = service.app.links.preferences(apps.load_table(service.app, opened.table).seats[0].person)
    judge(visit("/"), f"/wishes/{wishes}?table={opened.table}", f"/wishes/{wishes}/stop")


def test_the_gallery(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(Invited("Clara", "clara@example.org"), Invited("Bot"))
    service.submit(opened.links[0], "resign")
    page = visit(f"/t/{opened.links[0]}")
    page.locator('form[action$="/released"] button').click()
    judge(page, "/gallery")


def test_what_if(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}/whatif")
    judge(page, page.url)
    page.get_by_role("button", name="Begin a new branch").click()
    judge(page, page.url)


def test_problems(service: RunningService, chromium: Browser) -> None:
    with chromium.new_page(base_url=service.address) as page:
        judge(page, "/nowhere", "/t/nowhere")


def test_gathering(service: RunningService, visit: Visit) -> None:
    opened = service.open_table()
    judge(visit("/"), f"/t/{opened.links[0]}", f"/t/{opened.watch}")


@every_game
def test_a_new_table_and_its_rules(visit: Visit, game: str, turns: Iterator[bool]) -> None:
    page, rules = visit("/"), f"/rules/{game}"
    judge_in_turn(page, turns, f"/new/{game}", f"/learn/{game}", f"{rules}/short", rules, f"{rules}/2.1", own=rules)


@every_game
def test_a_table_from_its_beginning_to_its_end(
    service: RunningService, visit: Visit, game: str, turns: Iterator[bool]
) -> None:
    opened, steps = service.start_table(game=game), count()
    page, mover = visit("/"), seats(service, opened)[0]
    judge_in_turn(page, turns, mover, own=mover)
    page.goto("about:blank")  # or it would show every move
    service.play_until(opened.table, lambda _: next(steps) > 25)
    judge_in_turn(page, turns, *seats(service, opened)[1:])
    service.submit(opened.links[0], "resign")
    over = f"/t/{opened.links[1]}"
    judge_in_turn(page, turns, over, f"{over}/replay")
