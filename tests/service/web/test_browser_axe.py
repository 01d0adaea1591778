"""axe-core finds nothing on any page: wide and light, in dark colours, and as narrow as a phone.

In `make test` every fourth page is checked by every rule in one of these modes, in turn, and the table of each game;
before a release every page of every game in every mode.
"""

from itertools import count

import pytest
from playwright.sync_api import Browser, Page

from engine import catalogue
from service.tables.opening import Invitee, OpenedTable
from tests import apps
from tests.axe import MODES, find_violations
from tests.sampling import one_of
from tests.services import RunningService, Visit

STEP = 4  # of the pages that `make test` checks; it is prime to the number of modes, so that all have their turn
every_game = pytest.mark.parametrize("game", catalogue.find_all())


class Judge:
    """Requires that axe-core finds nothing on the pages of a test, in all modes or in some."""

    def __init__(self, everything: bool) -> None:
        self._everything = everything
        self._pages = count()

    def check(self, page: Page, *paths: str) -> None:
        for path in paths:
            number = next(self._pages)
            if self._everything or number % STEP == 0:
                page.goto(path)
                assert self._find_violations(page, number) == [], path

    def check_letter(self, page: Page, path: str) -> None:
        """Check a letter, which is shown within the page of a mail program; that page has the landmarks."""
        page.goto(path)
        violations = self._find_violations(page, next(self._pages))
        assert [one for one in violations if not one.startswith(("landmark-one-main:", "region:"))] == []

    def check_in_turn(self, page: Page, game: str, *paths: str, own: str = "") -> None:
        """Check the pages whose turn it is for this game; the page that shows the game itself is always checked."""
        games = list(catalogue.find_all())
        for path in paths:
            number = next(self._pages)
            is_its_turn = number % len(games) == games.index(game) or self._everything
            if is_its_turn or path == own:
                page.goto(path)
                assert self._find_violations(page, number, light_only=not is_its_turn) == [], path

    def _find_violations(self, page: Page, number: int, light_only: bool = False) -> list[str]:
        some = "light" if light_only else MODES[number % len(MODES)]
        return find_violations(page, MODES if self._everything else [some])


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.release)], ids=["some", "all"])
def judge(request: pytest.FixtureRequest) -> Judge:
    return Judge(request.param)


def list_seats(service: RunningService, opened: OpenedTable) -> list[str]:
    """Return the pages of the seat to move, of a waiting seat, and of a spectator."""
    first = service.find_mover(opened.table)
    return [f"/t/{link}" for link in (opened.links[first], opened.links[1 - first], opened.watch)]


def test_it_finds_what_is_wrong(visit: Visit) -> None:
    page = visit("/enter")
    page.evaluate("document.querySelector('main').innerHTML += '<input>'")
    page.evaluate("document.querySelector('main p.lead').style = 'color: #bbb; background: #ccc'")
    violations = " ".join(find_violations(page))
    assert all(name in violations for name in ("label:", "color-contrast:", "dark: color-contrast:"))


def test_pages_without_a_table(service: RunningService, visit: Visit, judge: Judge) -> None:
    page = visit("about:blank")
    service.open_table()
    service.wait_for_letter("anna@example.org")
    judge.check(page, "/", "/rules", "/help", "/gallery", "/api", "/mailbox", "/mailbox/1")


def test_ones_own_tables(service: RunningService, visit: Visit, judge: Judge) -> None:
    opened, app = service.start_table(), service.app
    service.submit(opened.links[0], "resign")
    free = apps.open_new(app, "kaiser", {}, [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")])
    anna = apps.load_table(app, free.table).seats[0].person
    page, key = visit("about:blank"), app.links.make_sign_in_token(anna, 0, app.now())
    apps.owe_confirm_letter(app, anna)
    judge.check(page, "/enter", f"/enter/{key}", f"/confirm/{app.links.make_confirm_token(anna, 'anna@example.org')}")
    judge.check(page, f"/t/{free.links[0]}", f"/join/{free.join}", "/play/kaiser")
    page.goto(f"/enter/{key}")
    page.get_by_role("button", name="Show my tables").click()
    judge.check(page, "/my", "/my/delete")


def test_letters(service: RunningService, chromium: Browser, judge: Judge) -> None:
    service.start_table(Invitee("Clara", "clara@example.org"), Invitee("Bot"), letters=True)
    service.wait_for_letter("clara@example.org")
    with chromium.new_page(base_url=service.address) as page:
        for number in range(1, 3):
            judge.check_letter(page, f"/mailbox/{number}/body")


def test_what_the_links_in_letters_open(service: RunningService, visit: Visit, judge: Judge) -> None:
    opened = service.start_table()
    wishes = service.app.links.make_preferences_token(apps.load_table(service.app, opened.table).seats[0].person)
    settings, followers = f"/wishes/{wishes}", f"/t/{opened.links[0]}/followers"
    judge.check(
        visit("about:blank"),
        f"{settings}?table={opened.table}",
        f"{settings}/stop",
        f"{settings}/connections",
        followers,
    )


@pytest.mark.release
def test_the_gallery(service: RunningService, visit: Visit, judge: Judge) -> None:
    opened = service.start_table(Invitee("Clara", "clara@example.org"), Invitee("Bot"))
    service.submit(opened.links[0], "resign")
    page = visit(f"/t/{opened.links[0]}")
    page.locator('form[action$="/released"] button').click()
    judge.check(page, "/gallery")


def test_what_if(service: RunningService, visit: Visit, judge: Judge) -> None:
    opened = service.start_table()
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}/whatif")
    judge.check(page, page.url)
    page.get_by_role("button", name="Begin a new branch").click()
    judge.check(page, page.url)


@pytest.mark.release
def test_problems(service: RunningService, chromium: Browser, judge: Judge) -> None:
    with chromium.new_page(base_url=service.address) as page:
        judge.check(page, "/nowhere", "/t/nowhere")


def test_gathering(service: RunningService, visit: Visit, judge: Judge) -> None:
    opened = service.open_table()
    judge.check(visit("about:blank"), f"/t/{opened.links[0]}", f"/t/{opened.watch}")


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "kaiser"))
def test_a_new_table_and_its_rules(visit: Visit, judge: Judge, game: str) -> None:
    rules = f"/rules/{game}"
    judge.check(visit("about:blank"), f"/new/{game}", f"/learn/{game}", f"{rules}/short", rules, f"{rules}/2.1")


@every_game
def test_a_table_from_its_beginning_to_its_end(service: RunningService, visit: Visit, judge: Judge, game: str) -> None:
    opened, steps = service.start_table(game=game), count()
    page, mover = visit("about:blank"), list_seats(service, opened)[0]
    judge.check_in_turn(page, game, mover, own=mover)
    page.goto("about:blank")  # or it would show every move
    service.play_until(opened.table, lambda _: next(steps) > 25)
    judge.check_in_turn(page, game, *list_seats(service, opened)[1:])
    service.submit(opened.links[0], "resign")
    over = f"/t/{opened.links[1]}"
    judge.check_in_turn(page, game, over, f"{over}/replay")
