"""Two people with browsers begin and end each of the games by touching the highlighted places of the board.

The moves between are submitted without the pages; `make soak` clicks whole games.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine import catalogue
from engine.canonical_json import encode
from engine.games import carcassonne
from engine.games.carcassonne.boxes import plague
from engine.log import Export
from tests import apps
from tests.browsing import (
    Player,
    Reader,
    TouchMethod,
    click,
    play,
    play_again,
    press_keys,
    short_game,
    tap,
    wait_for_acceptance,
)
from tests.golden.make import load
from tests.services import ENTRIES_BEFORE_MOVES, RunningService, Visit, fixed_seed

pytestmark = [pytest.mark.timeout(300), pytest.mark.release]  # whole games, move by move

FIRST, LAST = 2, 1  # moves that are made by hand
FIRST_BY_KEYBOARD, LAST_BY_KEYBOARD = 1, 1
PHONE = {"viewport": {"width": 360, "height": 720}, "has_touch": True}


def require_end(*pages: Page) -> None:
    """Require that each page says that the game is over, and how, and offers no move."""
    for page in pages:
        page.goto(page.url.split("?")[0])
        expect(page.get_by_role("heading", name=re.compile(r"win(s|!)?$"))).to_be_visible()
        expect(page.locator("ol.players li")).to_have_count(2)
        expect(page.locator("#menu, form.deed")).to_have_count(0)


def list_moves(export: Export) -> list[tuple[int, str]]:
    """Return the moves of a known game, each with its seat."""
    return [(link.entry["seat"], link.entry["move"]) for link in export.entries[ENTRIES_BEFORE_MOVES:]]


def skip_the_middle(service: RunningService, players: Sequence[Player], moves: Sequence[tuple[int, str]]) -> None:
    """Submit these moves without the pages, which are closed meanwhile, because they would show every move."""
    for player in players:
        player.page.goto("about:blank")
    for seat, move in moves:
        service.submit(players[seat].seat.rpartition("/")[2], move)
    for player in players:
        player.page.goto(player.seat)


def is_same_game(service: RunningService, table: str, export: Export) -> bool:
    """Return whether this table's log equals the log of the known game in every move, with its dice and shuffles."""
    snapshot = apps.load_table(service.app, table)
    entries = [json.loads(encode(entry)) for entry in apps.load_entries(service.app, snapshot, ENTRIES_BEFORE_MOVES)]
    return list(map(drop_time, entries)) == [drop_time(link.entry) for link in export.entries[ENTRIES_BEFORE_MOVES:]]


def drop_time(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in entry.items() if name not in ("at", "edition")}


def open_by_form(service: RunningService, visit: Visit, export: Export) -> tuple[Page, Page]:
    """Let Anna open a table with the form; let Bert, whose browser runs no scripts, come from his letter."""
    game, words = export.game, [sat.entry["events"][0]["nonce"] for sat in export.entries[1:3]]
    anna = visit(f"/new/{game}", **PHONE)
    anna.get_by_label("Your name").fill("Anna")
    anna.get_by_label("Your e-mail address").fill(f"anna@{game}.example")
    anna.get_by_label("Who plays with you?").fill(f"bert@{game}.example")
    anna.locator(".settings > summary").click()
    anna.get_by_text("Your word for the dice").click()
    anna.get_by_label("A word of your own").fill(words[0])
    with fixed_seed(bytes.fromhex(export.seed or "")):
        anna.get_by_role("button", name="Start").click()
    expect(anna.get_by_text("You have sat down")).to_be_visible()
    service.wait_for_letter(f"bert@{game}.example")
    bert = visit("/mailbox", java_script_enabled=False)
    bert.get_by_role("link", name=f"bert@{game}.example").first.click()
    bert.frame_locator("iframe").get_by_role("link", name="Sit down").click()
    bert.wait_for_url("**/t/*")
    sit_down(bert, words[1])
    return anna, bert


def sit_down(page: Page, word: str) -> None:
    page.get_by_text("Your word for the dice").click()
    page.get_by_label("A word of your own").fill(word)
    page.get_by_role("button", name="Sit down").click()


def test_kaiser_by_keyboard_alone_against_a_mouse_with_a_move_taken_back(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    moves = short_game(service.find_mover(opened.table))
    players = [Player(visit(f"/t/{link}"), hand) for link, hand in zip(opened.links, (press_keys, click), strict=True)]
    play_again(players, moves[:FIRST])
    seat, move = moves[FIRST - 1]
    take_back(players[seat], players[1 - seat])
    start, end = move.split()[1:]
    assert players[seat].move(move) == f"Move a stone: {start} → {end}"
    skip_the_middle(service, players, moves[FIRST:-LAST])
    play_again(players, moves[-LAST:])
    require_end(*(player.page for player in players))


def take_back(mover: Player, other: Player) -> None:
    """Take a move back; the other player, who is to move already, agrees."""
    mover.send('button[value="undo"]')
    expect(mover.page.get_by_text("You would like to take your move back")).to_be_visible()
    other.refresh()
    other.page.locator('button[value="agree"]').wait_for()
    other.send('button[value="agree"]')
    mover.wait_for_turn()


def test_kurier_on_a_phone_against_forms_without_a_script_in_two_languages(
    service: RunningService, visit: Visit
) -> None:
    export = load("kurier", "short")
    moves = list_moves(export)
    anna, bert = open_by_form(service, visit, export)
    table = service.find_table(anna.url)
    service.disable_letters(table)
    anna.locator(".table").wait_for()  # which the page notices by itself
    players = (Player(anna, tap), Reader(bert))
    play_again(players, moves[:FIRST])
    skip_the_middle(service, players, moves[FIRST:-LAST])
    for page in (anna, bert):
        speak(page, "nl")
    expect(anna.get_by_role("heading", level=1)).to_have_text(re.compile("Je bent aan de beurt|We wachten op"))
    play_again(players, moves[-LAST:])
    for page in (anna, bert):
        speak(page, "en")
    require_end(anna, bert)
    assert is_same_game(service, table, export)


def speak(page: Page, language: str) -> None:
    """Choose a language at the foot of the page, which with a script is under “More”."""
    if page.locator("#tab-more").is_visible():
        page.locator("#tab-more").click()
    page.locator(f'.languages button[value="{language}"]:visible').click()
    expect(page.locator("html")).to_have_attribute("lang", language)


def test_turfmaster_with_a_mouse_against_a_keyboard(service: RunningService, visit: Visit) -> None:
    export = load("turfmaster", "short")
    moves = list_moves(export)
    opened = service.start_like(export)
    players = [Player(visit(f"/t/{link}"), hand) for link, hand in zip(opened.links, (click, press_keys), strict=True)]
    play_again(players, moves[:FIRST])
    skip_the_middle(service, players, moves[FIRST:-LAST])
    play_again(players, moves[-LAST:])
    require_end(*(player.page for player in players))
    assert is_same_game(service, opened.table, export)


def test_carcassonne_with_an_old_page_against_a_keyboard(service: RunningService, visit: Visit) -> None:
    export = load("carcassonne", "short")
    moves = list_moves(export)
    opened = service.start_like(export)
    beginner, move = moves[0]
    players = [
        Player(visit(f"/t/{link}"), click if seat == beginner else press_keys) for seat, link in enumerate(opened.links)
    ]
    confirm_on_an_old_page(players[beginner], move)
    play_again(players, moves[1:FIRST])
    skip_the_middle(service, players, moves[FIRST:-LAST])
    play_again(players, moves[-LAST:])
    require_end(*(player.page for player in players))
    assert is_same_game(service, opened.table, export)


def test_the_dragon_of_carcassonne_is_led_by_a_finger_and_by_keys(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="carcassonne", princess_dragon="on", messages="off")
    service.play_until(opened.table, lambda state: len(state.dragon_path) == 2, seed=3)
    hands = zip(opened.links, (tap, press_keys), strict=True)
    players = [Player(visit(f"/t/{link}", has_touch=True), hand) for link, hand in hands]
    path = apps.load_table(service.app, opened.table).position.state.dragon_path
    while len(path) > 1:
        mover, walked = players[service.find_mover(opened.table)], len(path)
        mover.wait_for_turn()
        expect(mover.page.locator(".tray")).to_contain_text("of the dragon left")
        assert mover.move().startswith("Move the dragon: ")
        path = apps.load_table(service.app, opened.table).position.state.dragon_path
        assert not path or len(path) > walked
    assert apps.load_table(service.app, opened.table).position.state.dragon


def can_flee_and_spread(state: Any) -> bool:
    """Whether a figure can flee now that the tile is placed, and there is a choice for the next flea."""
    verbs = [entry.verb for entry in carcassonne.menu(state, state.turn)] if state.work else []
    return verbs == ["figure", "flee", "pass"] and len(plague.list_targets(state)) > 2


@pytest.mark.parametrize("hand", [tap, press_keys])
def test_the_plague_of_carcassonne_is_fled_and_spread_by_a_finger_and_by_keys(
    service: RunningService, visit: Visit, hand: TouchMethod
) -> None:
    with fixed_seed(bytes([2]) * 32):
        opened = service.start_table(game="carcassonne", plague="on", messages="off")
    service.play_until(opened.table, can_flee_and_spread)

    def load_state() -> Any:
        return apps.load_table(service.app, opened.table).position.state

    state = load_state()
    flight: Any = carcassonne.menu(state, state.turn)[-2]
    place, goal = flight.options[0]
    player = Player(visit(f"/t/{opened.links[state.turn]}", **PHONE), hand)
    player.put_together(f"flee {place} {goal}")
    no_figure = player.page.get_by_role("button", name="Place no figure")
    no_figure.wait_for()  # in place of Confirm, since a figure may follow
    player.send(no_figure)
    wait_for_acceptance(player.page)
    figures = [figure.place for figure in carcassonne.view(load_state(), None).figures]
    assert goal in figures
    assert place not in figures
    target = plague.list_targets(load_state())[-1]
    player.move(f"spread {target}")
    assert load_state().fleas[target]


def test_carcassonne_with_a_tile_taken_up_again_unasked(service: RunningService, visit: Visit) -> None:
    """A player who has put down a tile and still chooses a figure may take the tile back without a question."""
    opened = service.start_table(game="carcassonne")
    mover = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    tiles = mover.page.locator(".stage .lit")
    expect(tiles.first).to_be_visible()
    before = tiles.count()
    mover.move()
    expect(mover.page.get_by_text("Accepted.")).to_be_visible()
    mover.send('button[value="undo"]')
    expect(tiles).to_have_count(before)


def test_kurier_is_begun_and_ended_by_keyboard_alone(service: RunningService, visit: Visit) -> None:
    play_by_keyboard(service, visit, "kurier", FIRST_BY_KEYBOARD, LAST_BY_KEYBOARD)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("game", ["carcassonne", "kurier", "turfmaster"])
def test_a_whole_game_by_keyboard_alone(service: RunningService, visit: Visit, game: str) -> None:
    play_by_keyboard(service, visit, game)


def play_by_keyboard(service: RunningService, visit: Visit, game: str, first: int = -1, last: int = 0) -> None:
    """Play a known game, both sides by keyboard: all of it, or so many of its first and last moves."""
    export = load(game, "short")
    moves = list_moves(export)
    opened = service.start_like(export)
    players = [Player(visit(f"/t/{link}"), press_keys) for link in opened.links]
    if first >= 0:
        play_again(players, moves[:first])
        skip_the_middle(service, players, moves[first:-last])
        moves = moves[-last:]
    play_again(players, moves)
    require_end(*(player.page for player in players))
    assert is_same_game(service, opened.table, export)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("game", catalogue.find_all())
def test_a_whole_game_at_random_is_clicked_move_by_move(service: RunningService, visit: Visit, game: str) -> None:
    opened = service.start_table(game=game)
    players = [Player(visit(f"/t/{link}"), seed=seed) for seed, link in enumerate(opened.links)]
    play(players)
    require_end(*(player.page for player in players))
    snapshot = apps.load_table(service.app, opened.table)
    assert all(entry.seat is not None for entry in apps.load_entries(service.app, snapshot, ENTRIES_BEFORE_MOVES))


def confirm_on_an_old_page(mover: Player, move: str) -> None:
    """Begin a move in one window, make it in another, and confirm the first: the table has changed."""
    old = open_window(mover)
    old.put_together(move)
    old.page.locator("[data-early].lit").first.wait_for()  # figures are offered, and Confirm is now: Place no figure
    mover.move(move)
    old.send(".bar .main:visible")
    expect(old.page.get_by_role("alert")).to_contain_text("The table has changed")
    old.page.close()


def open_window(player: Player) -> Player:
    page = player.page.context.new_page()
    page.route(re.compile(r"/live/|/pulse"), lambda route: route.abort())  # no news reach it
    page.goto(f"{player.seat}?window=2")  # made again: of one page, the same move is one submission in both windows
    return Player(page)
