"""A move is on the board before its verdict, in every game; a refusal takes it back and says why."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, Route, expect

from engine import catalogue
from engine import table as tables
from engine.menu import Choice, MenuEntry
from service.tables import access
from service.tables.seat_commands import set_at_once
from tests import apps
from tests.browsing import MENU, SHORT_GAMES, Player, click
from tests.sampling import one_of
from tests.services import RunningService, Visit, fixed_seed
from workers import referee

SLOWER, SHOWN_MS, TRIES = 6, 100, 6  # than this machine; other tests run at the same time
SEND_MS = 2_200  # after which a move without Confirm has been sent
VERBS = {"kaiser": "move", "kurier": "travel", "turfmaster": "ride", "carcassonne": "figure"}
PENDING = "[data-stage] .pending:not([display=none])"
PLANNED = "[data-stage] .piece.planned"

# How long it takes from a press of the button until the frame that has the move.
MEASURE = """() => new Promise((done) => {
  const pressed = performance.now();
  document.querySelector(".bar .confirm").click();
  const look = () => document.querySelector(".stage .pending:not([display=none])")
    ? done(performance.now() - pressed) : requestAnimationFrame(look);
  requestAnimationFrame(look);
})"""


def list_moves(entry: MenuEntry) -> Iterator[str]:
    """Yield the moves of a menu entry that put something on the board."""
    for args in entry.options if isinstance(entry, Choice) else ():
        if "stay" not in args:
            yield " ".join((entry.verb, *args))


def open_at_move(service: RunningService, visit: Visit, game: str, **context: Any) -> tuple[Player, str]:
    """Play until the move that is to be shown can be made, the same in each run; return its player and the move."""
    with fixed_seed(bytes([7]) * 32):
        opened = service.start_table(game=game)
    found = list[str]()

    def is_found(state: Any) -> bool:
        snapshot = apps.load_table(service.app, opened.table)
        seat = tables.find_seats_to_move(snapshot.game, snapshot.position)[0]
        menu = tables.menu(snapshot.game, snapshot.position, seat)
        found[:] = [move for entry in menu if entry.verb == VERBS[game] for move in list_moves(entry)]
        return bool(found)

    service.play_until(opened.table, is_found, 3)
    return Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}", **context)), found[0]


def hold_moves(page: Page) -> list[Route]:
    """Hold the moves that a page sends, so that there is no verdict."""
    routes = list[Route]()
    page.route(lambda url: "/t/" in url, lambda route: hold(route, routes))
    return routes


def hold(route: Route, routes: list[Route]) -> None:
    if route.request.method == "POST":
        routes.append(route)
    else:
        route.continue_()


def wait_for_route(page: Page, routes: list[Route]) -> Route:
    until = time.monotonic() + 10
    while not routes:
        assert time.monotonic() < until
        page.wait_for_timeout(20)
    return routes.pop()


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "kurier"))
def test_a_move_is_on_the_board_within_100_ms_and_a_refusal_takes_it_back_with_a_sentence(
    service: RunningService, visit: Visit, game: str
) -> None:
    player, move = open_at_move(service, visit, game)
    page, verb = player.page, VERBS[game]
    routes, times = hold_moves(page), list[float]()
    slow = page.context.new_cdp_session(page)
    while len(times) < TRIES and min(times, default=SHOWN_MS) >= SHOWN_MS:
        player.put_together(move)
        slow.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        times.append(page.evaluate(MEASURE))
        slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        assert page.locator(PENDING).count() in (
            (2, 3) if game == "kurier" else (1,)
        )  # a dispatch goes with its courier
        route = wait_for_route(page, routes)
        sent = route.request.post_data_buffer or b""
        assert f"move={verb}+".encode() in sent
        route.continue_(post_data=sent.replace(f"move={verb}+".encode(), b"move=unknown+"))
        expect(page.locator(".bar .note.bad")).to_be_visible()
        expect(page.locator(PENDING)).to_have_count(0)
        expect(page.locator("[data-stage] :is(.leaving, .left)")).to_have_count(0)
    print(f"{game}: {min(times):.0f} ms until the move is on the board, {SLOWER} times slower")
    assert min(times) < SHOWN_MS, times


# Notes what begins to glide on the board: each piece or tile by its kind.
RECORD = """() => {
  window.glided = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...all) {
    if (this.ownerSVGElement) window.glided.push(this.dataset.piece ?? this.dataset.laid ?? "?");
    return animate.apply(this, all);
  };
}"""


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "carcassonne"))
def test_what_is_on_the_board_before_the_verdict_does_not_glide_there_again(
    service: RunningService, visit: Visit, game: str
) -> None:
    player, move = open_at_move(service, visit, game, reduced_motion="no-preference")
    page = player.page
    player.put_together(move)
    page.evaluate(RECORD)
    page.locator(".bar .confirm").click()
    expect(page.locator(".note.good")).to_be_visible()
    assert page.evaluate("() => window.glided") == []


@pytest.mark.release
def test_a_tile_and_its_figure_do_not_come_to_the_board_twice(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="carcassonne")
    place = f"/t/{opened.links[service.find_mover(opened.table)]}"
    player = Player(visit(place, reduced_motion="no-preference"))
    page = player.page
    player.touch(page.evaluate(MENU)["menu"][0]["options"][0][0])
    page.locator(".stage g > [data-early].lit").first.wait_for()
    figures = "[data-early].lit:not([data-token^=city]):not([data-token=cloister])"  # no city is completed at once
    player.touch(page.locator(figures).first.get_attribute("data-token") or "")
    page.evaluate(RECORD)
    page.locator(".bar .confirm").click()
    expect(page.locator(".note.good")).to_be_visible()
    assert page.evaluate("() => window.glided") == []


# Moves of boxes that name no place, or whose piece is at another one: how many pieces come, and how many leave theirs.
RARE = {
    "castle make": ("bridges_castles", 9, 1, 0),
    "bridge hand": ("bridges_castles", 1, 0, 0),
    "drive home": ("abbey_mayor", 1, 0, 1),
    "flock home": ("hills_sheep", 1, 0, 2),
    "flock grow": ("hills_sheep", 1, 0, 0),
    "enter meeple": ("count", 2, 2, 1),
    "tower": ("tower", 1, 1, 0),
    "spread": ("plague", 1, 1, 0),
    "tunnel": ("tunnel", 1, 1, 0),
    "pyramid": ("big_top", 7, 0, 3),
    "protect": ("revolts", 1, 1, 0),
    "send": ("leipzig", 3, 1, 1),
    "dragon": ("princess_dragon", 1, 1, 1),
    "princess": ("princess_dragon", 3, 0, 1),
}
UNKNOWN = {"bridge hand", "flock grow"}


@pytest.mark.parametrize("begin", one_of(RARE, "castle make"))
def test_a_rare_move_is_seen_before_its_verdict(service: RunningService, visit: Visit, begin: str) -> None:
    box, seed, coming, leaving = RARE[begin]
    with fixed_seed(bytes([seed]) * 32):
        opened = service.start_table(game="carcassonne", messages="off", **{box: "on"})
    found = list[str]()

    def is_found(_: Any) -> bool:
        snapshot = apps.load_table(service.app, opened.table)
        seat = tables.find_seats_to_move(snapshot.game, snapshot.position)[0]
        menu = tables.menu(snapshot.game, snapshot.position, seat)
        found[:] = [
            move for entry in menu for move in list_moves(entry) if move.startswith(begin) and "later" not in move
        ]
        return bool(found)

    service.play_until(opened.table, is_found, seed)
    player = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    page, routes = player.page, hold_moves(player.page)
    player.put_together(found[0])
    player.find_send_button(found[0]).click()
    expect(page.locator(PENDING)).to_have_count(coming)
    expect(page.locator("[data-stage] :is(.leaving, .left)")).to_have_count(leaving)
    expect(page.locator(".rolling:visible")).to_have_count(int(begin in UNKNOWN))
    wait_for_route(page, routes).continue_()
    expect(page.locator(".note.good")).to_be_visible()
    expect(page.locator(PENDING)).to_have_count(0)


def test_a_courier_that_is_not_known_yet_rolls_until_the_verdict(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="kurier")
    player = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    routes, result = hold_moves(player.page), player.page.locator(".tray [data-result=flip]")
    expect(result).to_be_hidden()
    player.put_together("flip")
    player.page.locator(".bar .confirm").click()
    expect(result).to_be_visible()
    expect(player.page.locator(".bar .confirm")).to_have_text("Sending …")
    route = wait_for_route(player.page, routes)
    route.continue_(post_data=(route.request.post_data_buffer or b"").replace(b"move=flip", b"move=unknown"))
    expect(player.page.locator(".bar .note.bad")).to_be_visible()
    expect(result).to_be_hidden()
    expect(player.page.locator(".bar .confirm")).to_have_text("Confirm")


@pytest.mark.release
def test_dice_roll_from_the_card_of_the_last_rider_until_they_are_thrown(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="turfmaster")
    service.play_until(
        opened.table, lambda state: state.order and state.done == len(state.order) - 1 and not state.dice
    )
    player = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    page, routes = player.page, hold_moves(player.page)
    expect(page.locator("[data-result]:visible")).to_have_count(0)
    menu = page.evaluate(MENU)["menu"]
    move = " ".join([menu[0]["verb"], *menu[0]["options"][0]])
    player.put_together(move)
    player.find_send_button(move).click()
    expect(page.locator(".tray .rolling")).to_have_count(2)
    expect(page.locator("[data-stage] .rolling")).to_have_count(1)
    wait_for_route(page, routes).continue_()
    expect(page.locator(".note.good")).to_be_visible()
    expect(page.locator(".rolling")).to_have_count(0)


def test_a_tile_with_its_figure_is_on_the_board_before_both_verdicts(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="carcassonne")
    player = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    page = player.page
    player.touch(page.evaluate(MENU)["menu"][0]["options"][0][0])
    page.locator(".stage g > [data-early].lit").first.wait_for()
    player.touch(page.locator("[data-early].lit").first.get_attribute("data-token") or "")
    routes = hold_moves(page)
    page.locator(".bar .confirm").click()
    expect(page.locator(f"{PENDING}[data-ghost]")).to_have_count(1)
    expect(page.locator(f"{PENDING}.piece")).to_have_count(1)
    for _ in ("place", "figure"):
        wait_for_route(page, routes).continue_()
    expect(page.locator(".note.good")).to_be_visible()
    expect(page.locator(PENDING)).to_have_count(0)


def test_a_move_without_confirm_is_on_the_board_at_once_and_can_be_undone_for_two_seconds(
    service: RunningService, visit: Visit
) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    apps.change(service.app, set_at_once, access.find(service.app, opened.links[seat]), True)
    length = apps.load_table(service.app, opened.table).row.length
    page = visit(f"/t/{opened.links[seat]}")
    page.clock.install()
    page.locator("form.deed[data-said]").wait_for(state="attached")
    start, end = SHORT_GAMES[seat].split()[0].split("-")
    for token in (start, end):
        click(page, token)
    expect(page.locator(PLANNED)).to_have_count(1)
    page.locator(".bar .again", has_text="Undo").click()
    expect(page.locator(PLANNED)).to_have_count(0)
    page.clock.fast_forward(SEND_MS)
    page.wait_for_timeout(100)  # what would be sent is sent
    assert apps.load_table(service.app, opened.table).row.length == length
    for token in (start, end):
        click(page, token)
    expect(page.locator(PLANNED)).to_have_count(1)
    page.clock.fast_forward(SEND_MS)
    expect(page.locator(".note.good")).to_be_visible()
    assert apps.load_table(service.app, opened.table).row.length == length + 1


# Counts how often the page says nothing about the move.
COUNT_SILENCE = """() => {
  window.silences = 0;
  new MutationObserver(() => { window.silences += document.querySelector(".bar .note") ? 0 : 1; })
    .observe(document.querySelector(".table"), { childList: true, subtree: true });
}"""


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "kaiser"))
def test_a_piece_stays_where_it_was_put_while_its_verdict_is_late(
    service: RunningService, visit: Visit, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    player, move = open_at_move(service, visit, game, reduced_motion="no-preference")
    page, is_judging, judge = player.page, threading.Event(), referee.run
    monkeypatch.setattr(service.app, "settings", replace(service.app.settings, verdict_wait=0.1))
    monkeypatch.setattr(referee, "run", lambda: is_judging.wait(10) and judge())
    player.put_together(move)
    page.evaluate(RECORD)
    page.locator(".bar .confirm").click()
    expect(page.locator(".bar .note[data-pending]")).to_be_visible()
    assert page.locator(PENDING).count()
    is_judging.set()
    expect(page.locator(".bar .note.good")).to_be_visible()
    expect(page.locator(PENDING)).to_have_count(0)
    assert page.evaluate("() => window.glided") == []


def test_a_late_verdict_is_noted_on_the_page_without_a_pause(
    service: RunningService, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page hears of the move as news before it looks for the verdict again."""
    player, move = open_at_move(service, visit, "kaiser")
    page, is_judging, judge = player.page, threading.Event(), referee.run
    monkeypatch.setattr(service.app, "settings", replace(service.app.settings, verdict_wait=0.1))
    monkeypatch.setattr(referee, "run", lambda: is_judging.wait(10) and judge())
    player.put_together(move)
    page.locator(".bar .confirm").click()
    expect(page.locator(".bar .note[data-pending]")).to_be_visible()
    page.evaluate(COUNT_SILENCE)
    is_judging.set()
    player.refresh()
    expect(page.locator(".bar .note.good")).to_be_visible()
    assert page.evaluate("() => window.silences") == 0
