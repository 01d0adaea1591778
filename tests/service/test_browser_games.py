"""Two people with a browser each play each of the games to its end, by touching what lights up on the board."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine.games import kurier, turfmaster
from engine.log import Entry
from service.desk import Opened
from tests.browsing import SHORT, Player, Reader, finger, keys, mouse, play
from tests.running import Running, Visit

STARTED = 4  # entries: the table is opened, two sit down, and the game begins
PHONE = {"viewport": {"width": 360, "height": 720}, "has_touch": True}


def ended(*pages: Page) -> None:
    """Both read that the game is over, and how; no move is offered any more."""
    for page in pages:
        page.goto(page.url.split("?")[0])
        expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
        expect(page.locator("ol.players li")).to_have_count(2)
        expect(page.locator("#menu, form.bar")).to_have_count(0)


def opened_by_form(visit: Visit, game: str) -> tuple[Page, Page]:
    """Anna opens a table with what stands on the form and sits down; Bert, who reads without scripts, has a letter."""
    anna = visit(f"/new/{game}", **PHONE)
    for row, name in enumerate(("Anna", "Bert")):
        anna.locator(f'[name="name.{row}"]').fill(name)
        anna.locator(f'[name="address.{row}"]').fill(f"{name.lower()}@{game}.example")
    anna.get_by_role("button", name="Open the table").click()
    anna.get_by_role("button", name="Sit down").click()
    expect(anna.get_by_text("You have sat down")).to_be_visible()
    bert = visit("/mailbox", java_script_enabled=False)
    letter = bert.get_by_role("link", name=f"bert@{game}.example").first
    while not letter.count():  # it is being written
        bert.reload()
    letter.click()
    bert.frame_locator("iframe").get_by_role("link", name="Sit down").click()
    bert.wait_for_url("**/t/*")
    bert.get_by_role("button", name="Sit down").click()
    return anna, bert


def test_kaiser_by_keyboard_alone_against_a_mouse_with_a_move_taken_back(service: Running, visit: Visit) -> None:
    opened = service.begin()
    pages = [visit(f"/t/{link}") for link in opened.links]
    first = service.first(opened.table)
    players = [Player(pages[0], keys), Player(pages[1], mouse)]
    for number, move in enumerate(SHORT[first].split()):
        player = players[(number + first) % 2]
        player.wait_for_turn()
        start, end = move.split("-")
        assert player.move(start, end) == f"Move a stone: {start} → {end}"
        if number == 3:
            take_back(player, players[(number + first + 1) % 2])
            player.move(start, end)
    ended(*pages)


def take_back(mover: Player, other: Player) -> None:
    """The other one is to move already, so he has to agree."""
    mover.press('button[value="undo"]')
    expect(mover.page.get_by_text("You would like to take your move back")).to_be_visible()
    other.notice()
    other.page.locator('button[value="agree"]').wait_for()
    other.press('button[value="agree"]')
    mover.wait_for_turn()


def test_kurier_on_a_phone_against_forms_without_a_script_in_two_languages(service: Running, visit: Visit) -> None:
    anna, bert = opened_by_form(visit, "kurier")
    anna.reload()
    players = (Player(anna, finger), Reader(bert))
    play(players, 6)
    for page in (anna, bert):
        page.locator('footer button[value="nl"]').click()
        expect(page.locator("html")).to_have_attribute("lang", "nl")
    service.play_on(service.table_at(anna.url), at_the_palace)
    look_again(players)
    expect(anna.get_by_role("heading", level=1)).to_have_text(re.compile("Je bent aan de beurt|We wachten op"))
    play(players)
    for page in (anna, bert):
        page.locator('footer button[value="en"]').click()
    ended(anna, bert)


def at_the_palace(state: kurier.State) -> bool:
    return max(standing.score for standing in kurier.standing(state)) >= 5


def test_turfmaster_with_two_mice(service: Running, visit: Visit) -> None:
    opened = service.begin(game="turfmaster")
    players = [Player(visit(f"/t/{link}")) for link in opened.links]
    play(players, 10)
    service.play_on(opened.table, on_the_home_straight)
    look_again(players)
    play(players)
    ended(*(player.page for player in players))


def on_the_home_straight(state: turfmaster.State) -> bool:
    return state.race == 3 and any(horse.field and horse.field[1] > 85 for horse in state.horses)


def test_carcassonne_with_an_old_page_a_move_taken_back_and_a_replay(service: Running, visit: Visit) -> None:
    opened = service.begin(game="carcassonne")
    players = [Player(visit(f"/t/{link}")) for link in opened.links]
    mover = players[service.first(opened.table)]
    take_back_unasked(mover)
    a_page_that_has_grown_old(mover)
    play(players, 6)
    service.play_on(opened.table, lambda state: sum(map(len, state.bags)) < 4)
    look_again(players)
    play(players)
    ended(*(player.page for player in players))
    replayed(players[0].page, opened)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("game", ["kaiser", "kurier", "turfmaster", "carcassonne"])
def test_a_whole_game_is_clicked_move_by_move(service: Running, visit: Visit, game: str) -> None:
    opened = service.begin(game=game)
    players = [Player(visit(f"/t/{link}"), whim=whim) for whim, link in enumerate(opened.links)]
    play(players)
    ended(*(player.page for player in players))
    assert all(entry.seat is not None for entry in moved(service, opened))


def moved(service: Running, opened: Opened) -> list[Entry[Any]]:
    """Everything at this table since the game began, which nobody but its two players made."""
    look = service.house.desk.look(opened.table)
    return service.house.desk.entries(look, STARTED)


def look_again(players: list[Player]) -> None:
    for player in players:
        player.page.goto(player.seat)


def take_back_unasked(mover: Player) -> None:
    """Who lays a tile and still has to think about a figure may take it up again, and nobody is asked."""
    tiles = mover.page.locator("figure .spot.lit").count()
    mover.move()
    expect(mover.page.get_by_text("Accepted.")).to_be_visible()
    mover.press('button[value="undo"]')
    expect(mover.page.locator("figure .spot.lit")).to_have_count(tiles)


def a_page_that_has_grown_old(mover: Player) -> None:
    """The same seat in two windows: what was begun in one is no longer possible when the other has moved."""
    old = another_window(mover)
    old.begin()
    mover.move()
    old.press(".bar .confirm")
    expect(old.page.get_by_role("alert")).to_contain_text("The table has changed")
    old.page.close()


def another_window(player: Player) -> Player:
    page = player.page.context.new_page()
    page.goto(player.seat)
    return Player(page)


def replayed(page: Page, opened: Opened) -> None:
    """From the end to the beginning by slider, arrow keys and links."""
    page.get_by_role("link", name="Replay the game").click()
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
    return page.locator("figure.plate svg").inner_html()
