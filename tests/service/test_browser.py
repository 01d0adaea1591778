"""The pages in a real browser against the embedded service: clicked, by keyboard alone, on a phone, scriptless."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fakeredis
import pytest
import waitress
from playwright.sync_api import Browser, Page, expect

from engine import table as tables
from service import create_app, mailserver
from service.commands.run import embedded
from service.desk import Invited, Opened
from service.house import House
from service.settings import Settings

# The shortest games we know in which both help: nine moves, then one emperor is captured. By who begins.
SHORT = {
    0: "A11-A6 B11-B5 A10-B12 B14-B8 A13-A8 B8-B4 A6-A2 B16-B8 B12-B17",
    1: "B11-B6 A10-A3 B10-B8 A3-A10 B8-B10 A11-A5 B6-A7 A5-A11 A7-B6",
}
SOON = 15_000  # milliseconds: a page looks every four seconds

Visit = Callable[..., Page]


class Running:
    """A service that is open at `address`."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.address = house.settings.address

    def open(self, *guests: Invited) -> Opened:
        invited = guests or (Invited("Anna", "anna@example.org"), Invited("Bert", "bert@example.org"))
        return self.house.desk.open_table("kaiser", {}, invited, 0)

    def begin(self, *guests: Invited) -> Opened:
        opened = self.open(*guests)
        for link in filter(None, opened.links):
            desk = self.house.desk
            desk.verdict(desk.submit(desk.find(link), "sit word", "sit"), 10)
        return opened

    def delivered(self, address: str) -> None:
        """Wait until a letter to this address is in the mailbox."""
        until = time.monotonic() + 20
        while all(letter.recipient != address for letter in mailserver.newest(self.house)):
            assert time.monotonic() < until, f"no letter for {address}"
            time.sleep(0.05)

    def first(self, table: str) -> int:
        look = self.house.desk.look(table)
        return tables.waiting_for(look.game, look.table)[0]


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        settings = Settings(folder=folder, port=port, address=f"http://127.0.0.1:{port}", thinking=0.05)
        house = House(settings, redis=fakeredis.FakeRedis(server=fakeredis.FakeServer()))
        house.store.migrate()
        with embedded(house):
            server: Any = waitress.create_server(create_app(house), sockets=[listener], threads=8)
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            yield Running(house)
            server.close()
            thread.join(5)
        house.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("house")) as found:
        yield found


@pytest.fixture
def visit(chromium: Browser, service: Running) -> Iterator[Visit]:
    """Opens a page in a browser of its own; nothing may go wrong in it unnoticed."""
    faults: list[str] = []
    contexts = []

    def opened(path: str = "/", **how: Any) -> Page:
        context = chromium.new_context(base_url=service.address, **how)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def spot(page: Page, token: str) -> Any:
    return page.locator(f'figure [id="{token}"]')


def play_on_the_board(page: Page, move: str) -> None:
    start, end = move.split("-")
    spot(page, start).click()
    spot(page, end).click()
    expect(page.locator(".bar output")).to_have_text(f"Move a stone: {start} → {end}")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Accepted.")).to_be_visible()


def play_with_forms(page: Page, move: str) -> None:
    start, end = move.split("-")
    button = page.locator(f'button[name="move"][value="move {start} {end}"]')
    if not button.count():
        page.locator(f'a[href$="say=move%20{start}"]').click()
    button.click()
    expect(page.get_by_text("Accepted.")).to_be_visible()


def test_a_whole_game_on_the_board_and_without_a_script(service: Running, visit: Visit) -> None:
    anna = visit("/new/kaiser")
    for row, name in enumerate(("Anna", "Bert")):
        anna.locator(f'[name="name.{row}"]').fill(name)
        anna.locator(f'[name="address.{row}"]').fill(f"{name.lower()}@example.com")
    anna.get_by_role("button", name="Open the table").click()
    seat = anna.url
    anna.get_by_role("button", name="Sit down").click()
    expect(anna.get_by_text("You have sat down")).to_be_visible()

    bert = visit("/mailbox", java_script_enabled=False)
    bert.get_by_role("link", name="bert@example.com").first.click()
    bert.frame_locator("iframe").get_by_role("link", name="Sit down").click()
    bert.wait_for_url("**/t/*")
    bert.get_by_role("button", name="Sit down").click()

    table = service.house.desk.find(seat.rsplit("/", 1)[1]).table
    first = service.first(table)
    moves = SHORT[first].split()
    for number, move in enumerate(moves):
        if (number + first) % 2 == 0:
            if number > 2:  # once or twice the page has to notice by itself
                anna.goto(seat)
            expect(anna.get_by_role("heading", name="It is your turn")).to_be_visible(timeout=SOON)
            play_on_the_board(anna, move)
            if number in (2, 3):
                take_back(anna, bert)
                play_on_the_board(anna, move)
        else:
            bert.goto(bert.url.split("?")[0])
            play_with_forms(bert, move)
    for page in (anna, bert):
        page.goto(page.url.split("?")[0])
        expect(page.get_by_role("heading", name="The game is over")).to_be_visible()


def take_back(anna: Page, bert: Page) -> None:
    anna.get_by_role("button", name="Take my last move back").click()
    expect(anna.get_by_text("You would like to take your move back")).to_be_visible()
    bert.reload()
    bert.get_by_role("button", name="Agree").click()
    expect(anna.get_by_role("heading", name="It is your turn")).to_be_visible(timeout=SOON)


def test_the_keyboard_alone_plays(service: Running, visit: Visit) -> None:
    opened = service.begin()
    seat = service.first(opened.table)
    page = visit(f"/t/{opened.links[seat]}")
    start, end = SHORT[seat].split()[0].split("-")
    reach(page, start)
    page.keyboard.press("Enter")
    expect(page.locator(".bar")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".bar")).to_be_hidden()
    reach(page, start)
    page.keyboard.press("Enter")
    reach(page, end)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Confirm")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Accepted.")).to_be_visible()


def reach(page: Page, token: str) -> None:
    """Tab on until this place of the board is focused."""
    for _ in range(120):
        if page.evaluate("document.activeElement?.id") == token:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{token} cannot be reached")


def test_another_stone_may_be_taken_up_and_put_down(service: Running, visit: Visit) -> None:
    opened = service.begin()
    seat = service.first(opened.table)
    page = visit(f"/t/{opened.links[seat]}")
    one, other = [move.split("-")[0] for move in SHORT[seat].split()[:3:2]]
    spot(page, one).click()
    spot(page, other).click()
    expect(page.locator(".bar output")).to_have_text(f"Move a stone: {other}")
    expect(spot(page, other)).to_have_class(re.compile("chosen"))
    spot(page, other).click()
    expect(page.locator(".bar")).to_be_hidden()


def test_a_half_made_choice_is_not_lost_when_something_happens(service: Running, visit: Visit) -> None:
    opened = service.begin()
    first = service.first(opened.table)
    desk, mover = service.house.desk, service.house.desk.find(opened.links[first])
    desk.verdict(desk.submit(mover, "move " + SHORT[first].split()[0].replace("-", " ")), 10)
    page = visit(f"/t/{opened.links[1 - first]}")
    start = SHORT[first].split()[1].split("-")[0]
    spot(page, start).click()
    desk.verdict(desk.submit(mover, "undo"), 10)
    expect(page.get_by_text("Something happened at the table.")).to_be_visible(timeout=SOON)
    expect(page.locator(".bar output")).to_have_text(f"Move a stone: {start}")
    page.get_by_role("link", name="Show").click()
    expect(page.get_by_text("would like to take the last move back")).to_be_visible()


def test_a_refused_move_says_why(service: Running, visit: Visit) -> None:
    opened = service.begin()
    seat = service.first(opened.table)
    page = visit(f"/t/{opened.links[seat]}")
    start, end = SHORT[seat].split()[0].split("-")
    spot(page, start).click()
    spot(page, end).click()
    page.evaluate("document.querySelector('.bar [name=move]').value = 'move A1 A2'")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("alert")).to_contain_text("Not possible.")


def test_replay_with_slider_keys_and_links(service: Running, visit: Visit) -> None:
    opened = service.begin()
    first = service.first(opened.table)
    for number, move in enumerate(SHORT[first].split()):
        desk, link = service.house.desk, opened.links[(first + number) % 2]
        desk.verdict(desk.submit(desk.find(link), "move " + move.replace("-", " ")), 10)
    page = visit(f"/t/{opened.links[0]}/replay")
    last = int(page.locator("#at").input_value())
    page.locator("#at").focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"at={last - 1}$"))
    page.locator("h1").click()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"at={last - 2}$"))
    page.keyboard.press("Home")
    expect(page.locator(".chapter")).to_contain_text("The game begins.")
    page.get_by_role("link", name="Next →").click()
    expect(page.locator(".chapter")).to_contain_text("moves a")
    expect(page.locator("#at")).to_have_value(str(last - 8))
    page.keyboard.press("End")
    expect(page.locator(".chapter")).to_contain_text("The game is over.")

    plain = visit(f"/t/{opened.links[0]}/replay", java_script_enabled=False)
    plain.locator("#at").focus()
    plain.keyboard.press("Home")
    plain.get_by_role("button", name="Show this position").click()
    expect(plain.locator(".chapter")).to_contain_text("The game begins.")


def test_what_if_is_played_for_both_sides_and_the_table_stays_as_it_is(service: Running, visit: Visit) -> None:
    opened = service.begin()
    first, length = service.first(opened.table), service.house.desk.look(opened.table).row.length
    page = visit(f"/t/{opened.links[first]}")
    page.get_by_role("link", name="What if …").click()
    page.get_by_role("button", name="Begin a new branch").click()
    expect(page.get_by_text("nothing here is real")).to_be_visible()
    for number, move in enumerate(SHORT[first].split()[:3], 1):
        start, end = move.split("-")
        spot(page, start).click()
        spot(page, end).click()
        page.get_by_role("button", name="Confirm").click()
        expect(page.locator(".line .mine")).to_contain_text(f"{number}. ")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".line .mine")).to_contain_text("2. ")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".line .mine")).to_contain_text("3. ")
    page.get_by_role("button", name="Take back the last move").click()
    expect(page.locator(".line li")).to_have_count(3)
    assert service.house.desk.look(opened.table).row.length == length


def test_letters_in_the_mailbox_lead_to_the_table(service: Running, visit: Visit) -> None:
    opened = service.begin(Invited("Maria", "maria@example.net"), Invited("Bot"))
    service.delivered("maria@example.net")
    page = visit("/mailbox")
    page.get_by_role("link", name="maria@example.net").first.click()
    expect(page.frame_locator("iframe").get_by_role("link").first).to_be_visible()
    page.frame_locator("iframe").get_by_role("link").first.click()
    page.wait_for_url(f"**/t/{opened.links[0]}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_never_scrolls_sideways(service: Running, visit: Visit, scheme: str) -> None:
    gathering = service.open(Invited("Bertrand de Villeneuve-sur-Lot-en-Gascon", "b@example.org"), Invited("Bot"))
    opened = service.begin()
    first = service.first(opened.table)
    links = [gathering.links[0], opened.links[first], opened.links[1 - first], opened.watch]
    service.delivered("b@example.org")
    paths = ["/", "/new/kaiser", "/mailbox", "/mailbox/1", f"/t/{links[1]}/replay", *(f"/t/{link}" for link in links)]
    page = visit(viewport={"width": 360, "height": 720}, color_scheme=scheme, has_touch=True)
    for path in paths:
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        small = page.eval_on_selector_all(
            "button, .button, summary, input:not([type=hidden], [type=checkbox], [type=radio]), select",
            "all => all.filter(one => one.offsetHeight && one.offsetHeight < 44).map(one => one.outerHTML)",
        )
        assert small == [], path
