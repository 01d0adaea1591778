"""Games by taps alone, on phones and a laptop: each control that is needed is inside the window and takes the tap.

The player knows no menu. It taps what glows and what the bar offers, until a move is accepted, and looks before each
tap whether it could be made with a thumb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from engine import catalogue
from engine.games import turfmaster
from service.tables.opening import Invitee
from tests import apps
from tests.browsing import PAGE_TIMEOUT_MS
from tests.sampling import one_of
from tests.services import RunningService, Visit, fixed_seed
from tests.short_games import ShortGame
from tests.sights import READ_LENGTH, Control, Sight, look

WINDOWS = {
    "phone": (390, 844),
    "small phone": (360, 640),
    "phone on its side": (844, 390),
    "laptop": (1366, 650),
    "narrow phone": (320, 640),
}
WINDOW_OF_WHOLE_GAME = {
    "carcassonne": "phone",
    "kaiser": "laptop",
    "kurier": "small phone",
    "turfmaster": "phone on its side",
}
TURNS, FULL_TURNS = 15, 500
TAPS = 40  # of one move
MOVES_BEFORE = {"carcassonne": 30, "kaiser": 4, "kurier": 20, "turfmaster": 24}
TURN_SHARE = 0.3  # the share of presses of the button that turns a tile
every_game = pytest.mark.parametrize("game", catalogue.find_all())

# Whether the last tap sent a move: a button that has just become another one takes no tap for a moment.
IS_SENT = """async () => {
  await Promise.race([window.answered, new Promise((done) => setTimeout(done, 1000))]);
  return window.isSent;
}"""
IS_JUDGED = f"(length) => document.querySelector('.bar .note.bad') || ({READ_LENGTH})() > length"


class Thumb:
    """A player that knows no menu. Its taps are random, or those of moves that it plans to make."""

    def __init__(self, page: Page, seed: int = 1) -> None:
        self.page, self._random, self._choice = page, Random(seed), ""

    def look(self) -> Sight:
        """Return what can be tapped, and require that all that is offered can be tapped where it is."""
        sight = look(self.page)
        inside = [one for one in sight.controls if one.inside and (one.hit or one.token)]
        bad = [one for one in sight.controls if one not in inside]
        is_close, self._choice = self._choice == (now := sight.describe_choice()), now
        # A tap between two places has moved closer to both; one of them may be chosen already.
        assert inside if is_close else not bad, (bad, inside, now)
        return replace(sight, controls=inside)

    def choose(self, controls: list[Control]) -> Control:
        """Return what to tap next: a move that is whole is sent, most of the time."""
        mains = [one for one in controls if one.is_main]
        others = [one for one in controls if not one.is_main and not one.is_chosen]
        if mains and (not others or self._random.random() > TURN_SHARE):
            return mains[-1]
        spots = [one for one in others if one.hit] or others
        return self._random.choice(spots or mains)

    def move(self, moves: Sequence[str] = ()) -> None:
        """Make any move, or the first of these, and the second one too if both can be sent together."""
        self.page.locator("form.deed[data-said]").wait_for(state="attached", timeout=PAGE_TIMEOUT_MS)
        length, self._choice = self.page.evaluate(READ_LENGTH), ""
        for _ in range(TAPS):
            sight = self.look()
            assert sight.controls, self.page.locator(".bar").inner_text()
            one = sight.find_next(moves) if moves else self.choose(sight.controls)
            self.page.touchscreen.tap(one.x, one.y)
            if one.is_main and self.page.evaluate(IS_SENT):
                return self._wait_for_acceptance(length)
        raise AssertionError(f"no move after {TAPS} taps: {self._choice}")

    def _wait_for_acceptance(self, length: int) -> None:
        """Wait until the move is on the page, which says that it is accepted."""
        self.page.wait_for_function(IS_JUDGED, arg=length, timeout=PAGE_TIMEOUT_MS)
        assert self.page.locator(".bar .note.good").is_visible(), self.page.locator(".bar").inner_text()

    def wait_for_news(self, length: int) -> None:
        """Wait until the page shows a log of this length; come back to the page, which looks for news then."""
        self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        self.page.wait_for_function(f"(length) => ({READ_LENGTH})() >= length", arg=length, timeout=PAGE_TIMEOUT_MS)


def open_table(service: RunningService, game: str, moves: int) -> Any:
    """Open a table for two whose players have made some moves."""
    with fixed_seed(bytes([7]) * 32):
        opened, steps = (
            service.start_table(Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org"), game=game),
            count(),
        )
    service.play_until(opened.table, lambda _: next(steps) >= moves, seed=7)
    return opened


def play(service: RunningService, visit: Visit, game: str, window: str, moves: int, turns: int) -> int:
    """Let a thumb play both seats for some turns; return how many moves it made."""
    opened, (width, height) = open_table(service, game, moves), WINDOWS[window]
    page = visit("about:blank", viewport={"width": width, "height": height}, has_touch=True)
    thumb = Thumb(page)
    for number in range(turns):
        if apps.load_table(service.app, opened.table).position.phase == "over":
            return number
        page.goto(f"/t/{opened.links[service.find_mover(opened.table)]}")
        thumb.move()
    return turns


def list_other_windows() -> list[tuple[str, str]]:
    """List each game with the windows in which it is not played whole."""
    return [
        (game, window) for game in catalogue.find_all() for window in WINDOWS if WINDOW_OF_WHOLE_GAME[game] != window
    ]


@pytest.mark.parametrize(("game", "window"), list(zip(catalogue.find_all(), WINDOWS, strict=False)))
def test_a_turn_by_taps_alone_in_each_game(service: RunningService, visit: Visit, game: str, window: str) -> None:
    assert play(service, visit, game, window, MOVES_BEFORE[game], 1) == 1


@pytest.mark.release
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("game", "window"), list_other_windows())
def test_a_game_by_taps_alone_in_one_window(service: RunningService, visit: Visit, game: str, window: str) -> None:
    assert play(service, visit, game, window, MOVES_BEFORE[game], TURNS) == TURNS


@pytest.mark.release
@pytest.mark.parametrize(("game", "window"), WINDOW_OF_WHOLE_GAME.items())
def test_a_whole_game_from_its_first_tap_to_its_last(
    service: RunningService, visit: Visit, game: str, window: str
) -> None:
    """One player taps in one page, which is never loaded again; the moves of the other one come to it as news."""
    short, (width, height) = ShortGame(service, game), WINDOWS[window]
    short.play_other()
    page = visit(short.path, viewport={"width": width, "height": height}, has_touch=True)
    thumb = Thumb(page)
    while moves := short.list_moves():
        thumb.move(moves)
        short.play_other()
        thumb.wait_for_news(short.length)
    assert short.is_over()
    expect(page.locator(".bar h1")).to_have_text(re.compile("win"))


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("window", WINDOWS)
@every_game
def test_a_whole_game_by_taps_alone(service: RunningService, visit: Visit, game: str, window: str) -> None:
    assert 0 < play(service, visit, game, window, 0, FULL_TURNS) < FULL_TURNS  # it came to its last move


@pytest.mark.parametrize("window", one_of(["phone", "narrow phone"], "narrow phone"))
def test_a_whole_turn_of_carcassonne_is_confirmed_once(service: RunningService, visit: Visit, window: str) -> None:
    width, height = WINDOWS[window]
    opened = open_table(service, "carcassonne", 0)
    mover = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[mover]}", viewport={"width": width, "height": height}, has_touch=True)
    page.locator("form.deed[data-said]").wait_for(state="attached")
    spot = Thumb(page).look().controls[0]
    page.touchscreen.tap(spot.x, spot.y)
    page.locator(".bar .next [data-whole=pass]").tap()
    expect(page.locator(".note.good")).to_be_visible()
    entries = apps.load_entries(
        service.app, snapshot := apps.load_table(service.app, opened.table), snapshot.row.length - 2
    )
    assert [entry.move.split()[0] for entry in entries][:2] == ["place", "pass"]
    assert service.find_mover(opened.table) != mover


@pytest.mark.parametrize("window", one_of(["phone on its side", "narrow phone"], "phone on its side"))
def test_bonus_cards_of_turfmaster_are_offered_whole_and_cards_over_the_handicap_glow_less(
    service: RunningService, visit: Visit, window: str
) -> None:
    with fixed_seed(bytes([1]) * 32):
        opened = service.start_table(game="turfmaster")
    service.play_until(opened.table, lambda state: "bonus" in list_verbs(state))
    width, height = WINDOWS[window]
    page = visit(
        f"/t/{opened.links[service.find_mover(opened.table)]}",
        viewport={"width": width, "height": height},
        has_touch=True,
    )
    page.locator("form.deed[data-said]").wait_for(state="attached")
    what = page.locator(".bar .what")
    expect(what).to_contain_text("Take the two bonus cards. Touch a glowing place.")
    assert what.evaluate("one => one.scrollHeight <= one.clientHeight")
    assert Thumb(page).look().controls
    cards = page.locator(".tray .card")
    numbers = cards.evaluate_all("(all) => all.map((one) => [Number(one.dataset.token), one.matches('.wasted')])")
    assert {wasted for number, wasted in numbers if number > 8} == {True}
    assert {wasted for number, wasted in numbers if number < 9} == {False}


def list_verbs(state: Any) -> list[str]:
    """Return the verbs of all seats that may move at TurfMaster."""
    return [entry.verb for seat in range(2) for entry in turfmaster.menu(state, seat)]
