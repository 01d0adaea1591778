"""Players with a browser: they read the page of a table, and move by mouse, finger, keyboard or forms.

They know only the page: they touch highlighted places, press buttons, and read what follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from random import Random
from typing import Any

from msgspec import Struct
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

PAGE_TIMEOUT_MS = 15_000  # a page polls every four seconds
MAX_STEPS = 40  # of one move
PRESSES, PRESS_MS = 5, 3_000

# The shortest known games of Kaiser, by the seat that begins: both players help to capture an emperor in nine moves.
SHORT_GAMES = {
    0: "A11-A6 B11-B5 A10-B12 B14-B8 A13-A8 B8-B4 A6-A2 B16-B8 B12-B17",
    1: "B11-B6 A10-A3 B10-B8 A3-A10 B8-B10 A11-A5 B6-A7 A5-A11 A7-B6",
}


def short_game(first: int) -> list[tuple[int, str]]:
    """Return seat and move of each step of a short game."""
    steps = (step.replace("-", " ") for step in SHORT_GAMES[first].split())
    return [((first + number) % 2, f"move {step}") for number, step in enumerate(steps)]


# What can be touched now: highlighted places, the buttons of the bar, and a complete move to confirm.
SEE = """() => {
  const shown = (one) => Boolean(one) && one.offsetParent !== null;
  const all = (what) => [...document.querySelectorAll(what)];
  const form = document.querySelector("form.deed");
  return {
    lit: all(".stage .lit, .tray .lit").map((spot) => spot.dataset.token),
    buttons: all(".bar .next [data-say]").filter(shown).map((button) => button.dataset.say),
    wholes: all(".bar .next [data-whole]").filter(shown).map((button) => button.dataset.whole),
    whole: all(".bar :is(.confirm, .next [data-whole])").some(shown) ? form.elements.move.value : "",
    chosen: form?.dataset.said?.split(" ").slice(1) ?? [],
    text: document.querySelector(".bar .made")?.textContent ?? "",
  };
}"""

# The menu that the page holds for its script.
MENU = "() => JSON.parse(document.getElementById('menu').textContent)"

# The words of a move in each link of the list.
SAY = "(links) => links.map((link) => new URL(link.href).searchParams.get('say'))"

# A point of a place at which nothing covers it.
POINT = """(token) => {
  const spot = document.querySelector(`:is(.stage, .tray) [data-token="${CSS.escape(token)}"]`);
  if (!spot.ownerSVGElement) spot.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const { x, y, width, height } = spot.getBoundingClientRect();
  const parts = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];
  for (const down of parts) {
    for (const right of parts) {
      const [left, top] = [x + right * width, y + down * height];
      if (document.elementFromPoint(left, top)?.closest("[data-token]") === spot) return [left, top];
    }
  }
  return null;
}"""

BOARD_SETTLE_S = 3.0
READ_FOCUS = "() => document.activeElement?.dataset.token ?? ''"


class Offers(Struct, frozen=True):
    """The choices that the page offers for the next step of a move."""

    lit: list[str]
    buttons: list[str]
    wholes: list[str]
    whole: str
    chosen: list[str]
    text: str


TouchMethod = Callable[[Page, str], None]


def click(page: Page, token: str) -> None:
    page.mouse.click(*find_point(page, token))


def tap(page: Page, token: str) -> None:
    page.touchscreen.tap(*find_point(page, token))


def press_keys(page: Page, token: str) -> None:
    """Press Tab until this place of the board is focused, and then Enter."""
    for _ in range(150):
        if page.evaluate(READ_FOCUS) == token:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{token} cannot be reached with the keyboard")


def find_point(page: Page, token: str) -> tuple[float, float]:
    """Return a point at which this place can be touched, as soon as the board is still."""
    end = time.monotonic() + BOARD_SETTLE_S
    while not (point := page.evaluate(POINT, token)) and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert point, f"{token} is highlighted, but it is out of sight or covered everywhere"
    return point[0], point[1]


class Player:
    """A player with a page and a way to use it, who plays the moves that the page offers."""

    def __init__(self, page: Page, hand: TouchMethod = click, seed: int = 1) -> None:
        self.page = page
        self.seat = page.url.split("?")[0]
        self._hand = hand
        self._random = Random(seed)

    def read_offers(self) -> Offers:
        return Offers(**self.page.evaluate(SEE))

    def refresh(self) -> None:
        """Return to the page, which then polls for news at once."""
        self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    def can_move(self) -> bool:
        """Return whether the page offers a move."""
        return self.page.locator("#menu").count() > 0

    def wait_for_turn(self) -> None:
        self.refresh()
        self.page.locator("#menu, ol.players").first.wait_for(state="attached", timeout=PAGE_TIMEOUT_MS)

    def is_over(self) -> bool:
        return self.page.locator("main ol.players").count() > 0

    def touch(self, token: str) -> None:
        self._hand(self.page, token)

    def press(self, button: str | Locator) -> None:
        """Press a button that leads to another page."""
        with self.page.expect_navigation(wait_until="domcontentloaded"):
            self._push(button)

    def send(self, button: str | Locator) -> None:
        """Press a button whose form a script sends without leaving the page."""
        with self.page.expect_response(lambda answer: answer.request.method == "POST"):
            self._push(button)

    def _push(self, button: str | Locator) -> None:
        button = self.page.locator(button) if isinstance(button, str) else button
        if self._hand is press_keys:
            expect(button).not_to_have_attribute("inert", "")  # one that has just come to the bar waits a moment
            button.focus()
            self.page.keyboard.press("Enter")
        else:
            press_again(button.tap if self._hand is tap else button.click)

    def choose_move(self) -> str:
        """Choose any move that the page offers."""
        return random_move(self._random.choice(self.page.evaluate(MENU)["menu"]), self._random)

    def move(self, move: str = "") -> str:
        """Make this move, or any, on the board and in the tray; return the text of the page before it was sent."""
        move = move or self.choose_move()
        text = self.put_together(move)
        self.send(self.find_send_button(move))
        wait_for_acceptance(self.page)
        return text

    def put_together(self, move: str) -> str:
        """Choose step by step until the move can be sent; the page adds by itself what has no alternative."""
        self.page.locator("form.deed[data-said]").wait_for(state="attached")
        verb, *tokens = move.split()
        for _ in range(MAX_STEPS):
            offers = self.read_offers()
            if offers.whole == move or (verb in offers.wholes and offers.chosen == tokens):
                return offers.text
            self._choose_next(offers, verb, tokens)
        raise AssertionError(f"the page never comes to “{move}”: {self.read_offers()}")

    def _choose_next(self, offers: Offers, verb: str, tokens: list[str]) -> None:
        """Touch the next place of the move; or the first one again if it has to be turned."""
        count = len(offers.chosen)
        if count == len(tokens) and offers.chosen != tokens:
            return self.touch(tokens[0])
        rest = tokens[count:] or [verb]
        matches = [spot for spot in offers.lit if continues(spot.split(), tokens[:count], rest)]
        if matches:
            return self.touch(max(matches, key=len))
        assert rest[0] in offers.buttons, f"nothing to touch for “{rest[0]}”: {offers}"
        return self._push(f'.bar .next [data-say="{rest[0]}"]')

    def find_send_button(self, move: str) -> Locator:
        """Return the button that sends the move; there are several if the chosen words have several meanings."""
        if self.read_offers().whole == move:
            return self.page.locator(".bar .deed .main:visible").last
        return self.page.locator(f'.bar .next [data-whole="{move.split()[0]}"]')


def press_again(press: Callable[..., None]) -> None:
    """Press a button; look for it again if it is hidden meanwhile, because more choices have come to the bar."""
    for _ in range(PRESSES - 1):
        with suppress(NotInTime):
            return press(timeout=PRESS_MS)
    return press(timeout=PRESS_MS)


def continues(spot: list[str], chosen: list[str], rest: list[str]) -> bool:
    """Return whether this place adds the next words of the rest to the chosen ones."""
    cuts = range(len(spot))
    return any(spot[cut:] == rest[: len(spot) - cut] and (not cut or chosen[-cut:] == spot[:cut]) for cut in cuts)


class Reader(Player):
    """A player without scripts, who uses forms and links."""

    def wait_for_turn(self) -> None:
        self.page.goto(self.seat)

    def move(self, move: str = "") -> str:
        text = move_by_list(self, move or self.choose_move())
        wait_for_acceptance(self.page)
        return text


def random_move(entry: dict[str, Any], random: Random) -> str:
    """Return a random move of an entry of a menu."""
    if "options" in entry:
        words = random.choice(entry["options"])
    elif "items" in entry:
        words = random.sample(entry["items"], random.randint(entry["least"], entry["most"]))
    else:
        words = [str(random.randint(entry["least"], entry["most"]))]
    return " ".join((entry["verb"], *words))


def play(players: Sequence[Player]) -> None:
    """Let two players make random moves until the game is over; each looks again when the other has moved."""
    mover = next(player for player in players if player.can_move())
    while not mover.is_over():
        if not mover.can_move():
            (mover,) = (player for player in players if player is not mover)
            if mover.can_move():
                mover.page.goto(mover.seat)  # both could move, and the menu is from before the other's moves
            mover.wait_for_turn()
        mover.move()


def play_again(players: Sequence[Player], moves: Iterable[tuple[int, str]]) -> None:
    """Let players make these moves, each by its seat, and open the page of the seat that moves."""
    before = None
    for seat, move in moves:
        if players[seat].can_move() and before is not None and seat != before:
            players[seat].page.goto(players[seat].seat)  # both may move, and the other has just done so
        players[seat].wait_for_turn()
        players[seat].move(move)
        before = seat


def wait_for_acceptance(page: Page) -> None:
    """Wait for the verdict, and require that the move is accepted."""
    expect(page.locator(".note.good, .note.bad").first).to_be_visible(timeout=PAGE_TIMEOUT_MS)
    assert page.locator(".note.good").count(), page.locator(".note.bad").first.inner_text()


def move_by_list(player: Player, move: str) -> str:
    """Make a move by the links of the list beside the board; return the text of its button."""
    page, (verb, *words) = player.page, move.split()
    page.locator("details.offers").evaluate("(list) => { list.open = true }")
    for _ in range(MAX_STEPS):
        button = page.locator(f'.offers button[name=move][value="{move}"]')
        form = page.locator(f'.offers form:has(input[name=verb][value="{verb}"])')
        if form.count():
            fill_form(form, words)
            button = form.locator("button")
        if button.count():
            text = button.first.inner_text()
            player.press(button.first)
            return text
        find_link(page, move).click()
    raise AssertionError(f"the links of this list never come to “{move}”")


def find_link(page: Page, move: str) -> Locator:
    """Return the link that says most words of this move."""
    links = page.locator('.offers a.button[href*="say="]')
    texts = links.evaluate_all(SAY)
    matches = [number for number, text in enumerate(texts) if f"{move} ".startswith(f"{text} ")]
    assert matches, f"no link leads to “{move}”: {texts}"
    return links.nth(max(matches, key=lambda number: len(texts[number])))


def fill_form(form: Locator, words: list[str]) -> None:
    """Tick the boxes of these words, or write the number."""
    if form.locator("input[type=number]").count():
        form.locator("input[type=number]").fill(words[0])
        return
    ticks = form.locator("input[type=checkbox]").all()
    for word in words:
        tick = next(tick for tick in ticks if tick.get_attribute("value") == word and not tick.is_checked())
        tick.check()
