"""Two people with a browser each begin and end each of the games, by touching what lights up on the board.

What lies between is handed in past the pages; `make soak` clicks whole games.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine import catalogue
from engine.canonical_json import encode
from engine.log import Export
from tests import apps
from tests.browsing import Player, Reader, click, play, play_again, press_keys, short_game, tap
from tests.golden.make import load
from tests.services import ENTRIES_BEFORE_MOVES, RunningService, Visit, fixed_seed

pytestmark = pytest.mark.timeout(300)  # whole games, move by move

FIRST, LAST = 3, 2  # moves by hand
BEGUN, ENDED = 1, 1  # and by keyboard
PHONE = {"viewport": {"width": 360, "height": 720}, "has_touch": True}


def ended(*pages: Page) -> None:
    """Both read that the game is over, and how; no move is offered any more."""
    for page in pages:
        page.goto(page.url.split("?")[0])
        expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
        expect(page.locator("ol.players li")).to_have_count(2)
        expect(page.locator("#menu, form.deed")).to_have_count(0)


def moves_of(known: Export) -> list[tuple[int, str]]:
    """The moves of a game that is known, each with its seat."""
    return [(link.entry["seat"], link.entry["move"]) for link in known.entries[ENTRIES_BEFORE_MOVES:]]


def skip_the_middle(service: RunningService, players: Sequence[Player], moves: Sequence[tuple[int, str]]) -> None:
    """Hand these moves in past the pages, which are closed meanwhile, or would show every move."""
    for player in players:
        player.page.goto("about:blank")
    for seat, move in moves:
        service.submit(players[seat].seat.rpartition("/")[2], move)
    for player in players:
        player.page.goto(player.seat)


def same_game(service: RunningService, table: str, known: Export) -> bool:
    """Whether this table's log says of every move what the log of the known game says, dice and shuffles and all."""
    look = apps.load_table(service.app, table)
    played = [json.loads(encode(entry)) for entry in apps.load_entries(service.app, look, ENTRIES_BEFORE_MOVES)]
    return [told(entry) for entry in played] == [told(link.entry) for link in known.entries[ENTRIES_BEFORE_MOVES:]]


def told(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in entry.items() if name not in ("at", "edition")}


def opened_by_form(visit: Visit, known: Export) -> tuple[Page, Page]:
    """Anna opens a table with the form and sits at it; Bert, whose browser runs no scripts, comes from his letter."""
    game, words = known.game, [sat.entry["events"][0]["nonce"] for sat in known.entries[1:3]]
    anna = visit(f"/new/{game}", **PHONE)
    for row, name in enumerate(("Anna", "Bert")):
        anna.locator(f'[name="name.{row}"]').fill(name)
        anna.locator(f'[name="address.{row}"]').fill(f"{name.lower()}@{game}.example")
    anna.get_by_text("Dice nobody can choose").click()
    anna.get_by_label("A word of your own").fill(words[0])
    with fixed_seed(bytes.fromhex(known.seed or "")):
        anna.get_by_role("button", name="Open the table").click()
    expect(anna.get_by_text("You have sat down")).to_be_visible()
    bert = visit("/mailbox", java_script_enabled=False)
    letter = bert.get_by_role("link", name=f"bert@{game}.example").first
    while not letter.count():  # it is being written
        bert.reload()
    letter.click()
    bert.frame_locator("iframe").get_by_role("link", name="Sit down").click()
    bert.wait_for_url("**/t/*")
    sit_down(bert, words[1])
    return anna, bert


def sit_down(page: Page, word: str) -> None:
    page.get_by_text("Dice nobody can choose").click()
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
    ended(*(player.page for player in players))


def take_back(mover: Player, other: Player) -> None:
    """The other one is to move already, so he has to agree."""
    mover.send('button[value="undo"]')
    expect(mover.page.get_by_text("You would like to take your move back")).to_be_visible()
    other.refresh()
    other.page.locator('button[value="agree"]').wait_for()
    other.send('button[value="agree"]')
    mover.wait_for_turn()


def test_kurier_on_a_phone_against_forms_without_a_script_in_two_languages(
    service: RunningService, visit: Visit
) -> None:
    known = load("kurier", "short")
    moves = moves_of(known)
    anna, bert = opened_by_form(visit, known)
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
    ended(anna, bert)
    assert same_game(service, table, known)


def speak(page: Page, language: str) -> None:
    """Choose a language at the foot of the page, which with a script is under “More”."""
    if page.locator("#tab-more").is_visible():
        page.locator("#tab-more").click()
    page.locator(f'.tongues button[value="{language}"]:visible').click()
    expect(page.locator("html")).to_have_attribute("lang", language)


def test_turfmaster_with_a_mouse_that_asks_what_if_against_a_keyboard(service: RunningService, visit: Visit) -> None:
    known = load("turfmaster", "short")
    moves = moves_of(known)
    opened = service.start_like(known)
    asking = moves[-LAST][0]
    players = [
        Player(visit(f"/t/{link}"), click if seat == asking else press_keys) for seat, link in enumerate(opened.links)
    ]
    play_again(players, moves[:FIRST])
    skip_the_middle(service, players, moves[FIRST:-LAST])
    what_if(players[asking], moves[-LAST][1])
    play_again(players, moves[-LAST:])
    ended(*(player.page for player in players))
    assert same_game(service, opened.table, known)


def what_if(player: Player, move: str) -> None:
    """Try a move out where it does not count, and come back."""
    player.page.get_by_role("tab", name="More").click()
    player.page.get_by_role("link", name="What if …").click()
    player.press(player.page.get_by_role("button", name="Begin a new branch"))
    expect(player.page.get_by_text("nothing here is real")).to_be_visible()
    player.put_together(move)
    player.press(player.find_send_button(move))
    expect(player.page.locator(".line .mine")).to_have_count(1)
    player.page.goto(player.seat)


def test_carcassonne_with_an_old_page_and_a_replay_against_a_keyboard(service: RunningService, visit: Visit) -> None:
    known = load("carcassonne", "short")
    moves = moves_of(known)
    opened = service.start_like(known)
    beginner, move = moves[0]
    players = [
        Player(visit(f"/t/{link}"), click if seat == beginner else press_keys) for seat, link in enumerate(opened.links)
    ]
    a_page_that_has_grown_old(players[beginner], move)
    play_again(players, moves[1:FIRST])
    skip_the_middle(service, players, moves[FIRST:-LAST])
    play_again(players, moves[-LAST:])
    ended(*(player.page for player in players))
    assert same_game(service, opened.table, known)
    replayed(players[beginner].page)


def test_carcassonne_with_a_tile_taken_up_again_unasked(service: RunningService, visit: Visit) -> None:
    """Who lays a tile and still has to think about a figure may take it up again, and nobody is asked."""
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
    by_keyboard(service, visit, "kurier", BEGUN, ENDED)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("game", ["carcassonne", "kurier", "turfmaster"])
def test_a_whole_game_by_keyboard_alone(service: RunningService, visit: Visit, game: str) -> None:
    by_keyboard(service, visit, game)


def by_keyboard(service: RunningService, visit: Visit, game: str, begun: int = -1, ending: int = 0) -> None:
    """A known game, both sides by keyboard: all of it, or so many moves from its beginning and to its end."""
    known = load(game, "short")
    moves = moves_of(known)
    opened = service.start_like(known)
    players = [Player(visit(f"/t/{link}"), press_keys) for link in opened.links]
    if begun >= 0:
        play_again(players, moves[:begun])
        skip_the_middle(service, players, moves[begun:-ending])
        moves = moves[-ending:]
    play_again(players, moves)
    ended(*(player.page for player in players))
    assert same_game(service, opened.table, known)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("game", catalogue.find_all())
def test_a_whole_game_at_random_is_clicked_move_by_move(service: RunningService, visit: Visit, game: str) -> None:
    opened = service.start_table(game=game)
    players = [Player(visit(f"/t/{link}"), seed=seed) for seed, link in enumerate(opened.links)]
    play(players)
    ended(*(player.page for player in players))
    look = apps.load_table(service.app, opened.table)
    assert all(entry.seat is not None for entry in apps.load_entries(service.app, look, ENTRIES_BEFORE_MOVES))


def a_page_that_has_grown_old(mover: Player, move: str) -> None:
    """The same seat in two windows: what was begun in one is no longer possible when the other has moved."""
    old = another_window(mover)
    old.put_together(move)
    mover.move(move)
    old.send(".bar .confirm")
    expect(old.page.get_by_role("alert")).to_contain_text("The table has changed")
    old.page.close()


def another_window(player: Player) -> Player:
    page = player.page.context.new_page()
    page.goto(player.seat)
    return Player(page)


def replayed(page: Page) -> None:
    """From the end to the beginning by slider, arrow keys and links."""
    page.get_by_role("link", name="Replay the game").click()
    expect(page.get_by_label("Position")).to_be_visible()
    page.goto(page.url.split("?")[0] + "/replay")
    slider = page.locator("#at")
    last = int(slider.input_value())
    at_the_end = board(page)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"at={last - 1}\b"))
    page.keyboard.press("Home")
    expect(page.locator(".chapter")).to_contain_text("The game begins.")
    assert board(page) != at_the_end
    page.get_by_role("link", name="Next →").click()
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile(rf"at={last}\b"))
    expect(page.locator(".chapter")).to_contain_text("The game is over.")
    assert board(page) == at_the_end


def board(page: Page) -> Any:
    return page.locator("figure.plate svg.board").inner_html()
