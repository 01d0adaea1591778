"""Games by taps alone, on phones and a laptop: each control that is needed is inside the window and takes the tap.

The player knows no menu. It taps what glows and what the bar offers, until a move is accepted, and looks before each
tap whether it could be made with a thumb.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine import catalogue
from engine.games import turfmaster
from service.tables.opening import Invitee
from tests import apps
from tests.browsing import PAGE_TIMEOUT_MS
from tests.services import RunningService, Visit, fixed_seed

WINDOWS = {
    "phone": (390, 844),
    "small phone": (360, 640),
    "phone on its side": (844, 390),
    "laptop": (1366, 650),
    "narrow phone": (320, 640),
}
TURNS, FULL_TURNS = 15, 500
TAPS = 40  # of one move
MOVES_BEFORE = {"carcassonne": 30, "kaiser": 4, "kurier": 20, "turfmaster": 24}
TURN_SHARE = 0.3  # the share of presses of the button that turns a tile
every_game = pytest.mark.parametrize("game", catalogue.find_all())

# What can be tapped: glowing spots and the buttons of the bar. `hit` says whether a tap on the middle, or for a drawn
# spot near it, finds it; `inside` whether all of it is in the window.
CONTROLS = """() => {
  const look = (one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const upon = document.elementFromPoint(x, y);
    return {
      name: one.dataset.token ?? one.textContent.trim(),
      is_spot: "token" in one.dataset,
      is_main: one.classList.contains("main"),
      is_chosen: one.classList.contains("chosen"),
      inside: left >= -0.5 && top >= -0.5 && right <= innerWidth + 0.5 && bottom <= innerHeight + 0.5,
      hit: Boolean(upon) && (one.contains(upon) || upon.closest("[data-token]") === one),
      height: bottom - top,
      x, y,
    };
  };
  const seen = (one) => one.offsetParent !== null;
  const spots = [...document.querySelectorAll(":is(.stage, .tray) .lit:not(.chosen)")];
  const buttons = [...document.querySelectorAll(".bar form.deed button")].filter(seen);
  return [...spots, ...buttons].map(look);
}"""
STATE = """() => document.querySelector("form.deed")?.dataset.said + JSON.stringify(
  [...document.querySelectorAll(".bar .deed button:not([hidden])")].map((one) => one.textContent))
  + document.querySelectorAll(":is(.stage, .tray) .chosen").length"""


class Thumb:
    """A player that taps what it sees."""

    def __init__(self, page: Page, seed: int) -> None:
        self.page, self.random, self.sent, self.choice = page, Random(seed), 0, ""
        page.on("request", self._count)

    def _count(self, request: Any) -> None:
        self.sent += request.method == "POST"

    def read_spots(self) -> list[dict[str, Any]]:
        """Return the controls, and require that each can be tapped where it is."""
        self.page.wait_for_timeout(40)
        expect(self.page.locator(".bar button[inert]")).to_have_count(0)  # one that has just come waits a moment
        controls: list[dict[str, Any]] = self.page.evaluate(CONTROLS)
        inside = [one for one in controls if one["inside"] and (one["hit"] or one["is_spot"])]
        bad = [one for one in controls if one not in inside]
        is_close, self.choice = self.choice == (now := self.page.evaluate(STATE)), now
        # A tap between two places has moved closer to both; one of them may be chosen already.
        assert inside if is_close else not bad, (bad, inside, now)
        return inside

    def choose(self, controls: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what to tap next: a move that is whole is sent, most of the time."""
        mains = [one for one in controls if one["is_main"]]
        others = [one for one in controls if not one["is_main"]]
        if mains and (not others or self.random.random() > TURN_SHARE):
            return mains[-1]
        spots = [one for one in others if one["hit"]] or others
        return self.random.choice(spots or mains)

    def move(self) -> None:
        """Make one move; its sentence says that it is accepted."""
        self.page.locator("form.deed[data-said]").wait_for(state="attached", timeout=PAGE_TIMEOUT_MS)
        before, self.choice = self.sent, ""
        for _ in range(TAPS):
            controls = self.read_spots()
            assert controls, self.page.locator(".bar").inner_text()
            one = self.choose(controls)
            self.page.touchscreen.tap(one["x"], one["y"])
            if one["is_main"]:
                expect(self.page.locator(".note.good")).to_be_visible(timeout=PAGE_TIMEOUT_MS)
                assert self.sent > before
                return
        raise AssertionError(f"no move after {TAPS} taps: {self.page.evaluate(STATE)}")


def open_table(service: RunningService, game: str, moves: int) -> Any:
    """Open a table for two whose players have made some moves."""
    with fixed_seed(bytes([7]) * 32):
        opened, steps = (
            service.start_table(Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org"), game=game),
            count(),
        )
    service.play_until(opened.table, lambda _: next(steps) >= moves, seed=7)
    return opened


def play(service: RunningService, visit: Visit, game: str, windows: Sequence[str], moves: int, turns: int) -> int:
    """Let a thumb play both seats for some turns, in one window after the other; return how many moves it made."""
    opened = open_table(service, game, moves)
    page = visit("/", has_touch=True)
    thumb = Thumb(page, seed=len(windows))
    for number in range(turns):
        if apps.load_table(service.app, opened.table).position.phase == "over":
            return number
        width, height = WINDOWS[windows[number % len(windows)]]
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"/t/{opened.links[service.find_mover(opened.table)]}")
        thumb.move()
    return turns


def list_windows_in_turn() -> list[Any]:
    """List two windows for each game, so that the games together show all; a release shows each game in each window."""
    names = [*WINDOWS, *WINDOWS]
    return [pytest.param(game, names[turn : turn + 2], id=game) for turn, game in enumerate(catalogue.find_all())]


@pytest.mark.parametrize(("game", "windows"), list_windows_in_turn())
def test_a_game_by_taps_alone_in_all_windows_in_turn(
    service: RunningService, visit: Visit, game: str, windows: list[str]
) -> None:
    assert play(service, visit, game, windows, MOVES_BEFORE[game], len(windows)) == len(windows)


@pytest.mark.release
@pytest.mark.timeout(300)
@pytest.mark.parametrize("window", WINDOWS)
@every_game
def test_a_game_by_taps_alone_in_one_window(service: RunningService, visit: Visit, game: str, window: str) -> None:
    assert play(service, visit, game, [window], MOVES_BEFORE[game], TURNS) == TURNS


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("window", WINDOWS)
@every_game
def test_a_whole_game_by_taps_alone(service: RunningService, visit: Visit, game: str, window: str) -> None:
    assert 0 < play(service, visit, game, [window], 0, FULL_TURNS) < FULL_TURNS  # it came to its last move


@pytest.mark.parametrize("window", ["phone", "narrow phone"])
def test_a_whole_turn_of_carcassonne_is_confirmed_once(service: RunningService, visit: Visit, window: str) -> None:
    width, height = WINDOWS[window]
    opened = open_table(service, "carcassonne", 0)
    mover = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[mover]}", viewport={"width": width, "height": height}, has_touch=True)
    page.locator("form.deed[data-said]").wait_for(state="attached")
    page.touchscreen.tap(*((one := Thumb(page, 1).read_spots()[0])["x"], one["y"]))
    page.locator(".bar .next [data-whole=pass]").tap()
    expect(page.locator(".note.good")).to_be_visible()
    entries = apps.load_entries(
        service.app, snapshot := apps.load_table(service.app, opened.table), snapshot.row.length - 2
    )
    assert [entry.move.split()[0] for entry in entries][:2] == ["place", "pass"]
    assert service.find_mover(opened.table) != mover


@pytest.mark.parametrize("window", ["phone on its side", "narrow phone"])
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
    assert Thumb(page, 1).read_spots()
    cards = page.locator(".tray .card")
    numbers = cards.evaluate_all("(all) => all.map((one) => [Number(one.dataset.token), one.matches('.wasted')])")
    assert {wasted for number, wasted in numbers if number > 8} == {True}
    assert {wasted for number, wasted in numbers if number < 9} == {False}


def list_verbs(state: Any) -> list[str]:
    """Return the verbs of all seats that may move at TurfMaster."""
    return [entry.verb for seat in range(2) for entry in turfmaster.menu(state, seat)]
