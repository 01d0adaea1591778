"""People with a browser: what one sees on the page of a table, and moves made by mouse, finger, keyboard or forms.

They know the page and nothing else: a ringed place is touched, a button is pressed, and what comes of it is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from msgspec import Struct
from playwright.sync_api import Locator, Page, expect

SOON = 15_000  # milliseconds: a page looks every four seconds
LONGEST_MOVE = 40  # steps

# The shortest games of Kaiser we know in which both help: nine moves, then one emperor is captured. By who begins.
SHORT = {
    0: "A11-A6 B11-B5 A10-B12 B14-B8 A13-A8 B8-B4 A6-A2 B16-B8 B12-B17",
    1: "B11-B6 A10-A3 B10-B8 A3-A10 B8-B10 A11-A5 B6-A7 A5-A11 A7-B6",
}


def short_game(first: int) -> list[tuple[int, str]]:
    """The moves of such a game, each with its seat."""
    steps = (step.replace("-", " ") for step in SHORT[first].split())
    return [((first + number) % 2, f"move {step}") for number, step in enumerate(steps)]


# What can be touched now: glowing things, the buttons of the bar, and a whole move to confirm.
SEE = """() => {
  const shown = (one) => Boolean(one) && one.offsetParent !== null;
  const all = (what) => [...document.querySelectorAll(what)];
  const form = document.querySelector("form.deed");
  return {
    lit: all(".stage .lit, .tray .lit").map((spot) => spot.dataset.token),
    buttons: all(".bar .next [data-say]").filter(shown).map((button) => button.dataset.say),
    wholes: all(".bar .next [data-whole]").filter(shown).map((button) => button.dataset.whole),
    whole: shown(document.querySelector(".bar .confirm")) ? form.elements.move.value : "",
    begun: form?.dataset.said?.split(" ").slice(1) ?? [],
    said: document.querySelector(".bar .made")?.textContent ?? "",
  };
}"""

# What the page says of its moves, for its own script.
MENU = "() => JSON.parse(document.getElementById('menu').textContent)"

# What the links of the list say of a move.
SAY = "(links) => links.map((link) => new URL(link.href).searchParams.get('say'))"

# Where to touch a thing so that one touches it and nothing that lies upon it.
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

AT_REST = 3.0  # seconds
FOCUSED = "() => document.activeElement?.dataset.token ?? ''"


class Seen(Struct, frozen=True):
    """What the page offers to a hand at this moment."""

    lit: list[str]
    buttons: list[str]
    wholes: list[str]
    whole: str
    begun: list[str]
    said: str


Hand = Callable[[Page, str], None]


def mouse(page: Page, token: str) -> None:
    page.mouse.click(*point(page, token))


def finger(page: Page, token: str) -> None:
    page.touchscreen.tap(*point(page, token))


def keys(page: Page, token: str) -> None:
    """Tab on until this place of the board is focused, and press Enter."""
    for _ in range(150):
        if page.evaluate(FOCUSED) == token:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{token} cannot be reached with the keyboard")


def point(page: Page, token: str) -> tuple[float, float]:
    """Where this thing can be hit, as soon as the board has come to rest."""
    until = time.monotonic() + AT_REST
    while not (found := page.evaluate(POINT, token)) and time.monotonic() < until:
        page.wait_for_timeout(50)
    assert found, f"{token} glows, but it is out of sight, or something lies upon it everywhere"
    return found[0], found[1]


class Player:
    """A player with a page and a way to use it, who plays what the page offers."""

    def __init__(self, page: Page, hand: Hand = mouse, whim: int = 1) -> None:
        self.page = page
        self.seat = page.url.split("?")[0]
        self._hand = hand
        self._random = Random(whim)

    def look(self) -> Seen:
        return Seen(**self.page.evaluate(SEE))

    def notice(self) -> None:
        """Come back to the page, which then looks at once whether something has happened."""
        self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    def on_turn(self) -> bool:
        """Whether the page offers a move."""
        return self.page.locator("#menu").count() > 0

    def wait_for_turn(self) -> None:
        self.notice()
        self.page.locator("#menu, ol.players").first.wait_for(state="attached", timeout=SOON)

    def over(self) -> bool:
        return self.page.locator("main ol.players").count() > 0

    def touch(self, token: str) -> None:
        self._hand(self.page, token)

    def press(self, button: str | Locator) -> None:
        """Press a button that leads on to another page."""
        with self.page.expect_navigation(wait_until="domcontentloaded"):
            self._push(button)

    def send(self, button: str | Locator) -> None:
        """Press a button whose form is sent, and its answer laid into the page, without leaving it."""
        with self.page.expect_response(lambda answer: answer.request.method == "POST"):
            self._push(button)

    def _push(self, button: str | Locator) -> None:
        button = self.page.locator(button) if isinstance(button, str) else button
        if self._hand is keys:
            button.focus()
            self.page.keyboard.press("Enter")
        elif self._hand is finger:
            button.tap()
        else:
            button.click()

    def any_move(self) -> str:
        """One of all that the page offers."""
        return whole_move(self._random.choice(self.page.evaluate(MENU)["menu"]), self._random)

    def move(self, wanted: str = "") -> str:
        """Make this move, or any, on the board and in the tray; what it was called before it was sent."""
        wanted = wanted or self.any_move()
        said = self.begin(wanted)
        self.send(self.sending(wanted))
        verdict(self.page)
        return said

    def begin(self, wanted: str) -> str:
        """Put this move together until it can be sent. What can only follow the page has added by itself."""
        self.page.locator("form.deed[data-said]").wait_for(state="attached")
        verb, *tokens = wanted.split()
        for _ in range(LONGEST_MOVE):
            seen = self.look()
            if seen.whole == wanted or (verb in seen.wholes and seen.begun == tokens):
                return seen.said
            self._go_on(seen, verb, tokens)
        raise AssertionError(f"the page never comes to “{wanted}”: {self.look()}")

    def _go_on(self, seen: Seen, verb: str, tokens: list[str]) -> None:
        """Touch the next thing of the move; or once more what is to be turned."""
        begun = len(seen.begun)
        if begun == len(tokens) and seen.begun != tokens:
            return self.touch(tokens[0])
        rest = tokens[begun:] or [verb]
        fitting = [spot for spot in seen.lit if follows(spot.split(), tokens[:begun], rest)]
        if fitting:
            return self.touch(max(fitting, key=len))
        assert rest[0] in seen.buttons, f"nothing to touch for “{rest[0]}”: {seen}"
        return self._push(f'.bar .next [data-say="{rest[0]}"]')

    def sending(self, wanted: str) -> Locator:
        """The button that sends it: there are several where what was said can mean several things."""
        if self.look().whole == wanted:
            return self.page.locator(".bar .confirm")
        return self.page.locator(f'.bar .next [data-whole="{wanted.split()[0]}"]')


def follows(spot: list[str], said: list[str], rest: list[str]) -> bool:
    """Whether touching this says the next of the rest, and perhaps more, after what has been said."""
    cuts = range(len(spot))
    return any(spot[cut:] == rest[: len(spot) - cut] and (not cut or said[-cut:] == spot[:cut]) for cut in cuts)


class Reader(Player):
    """A player without scripts, who fills in forms and follows links."""

    def wait_for_turn(self) -> None:
        self.page.goto(self.seat)

    def move(self, wanted: str = "") -> str:
        said = from_list(self, wanted or self.any_move())
        verdict(self.page)
        return said


def whole_move(entry: dict[str, Any], random: Random) -> str:
    """One move of this entry of a menu."""
    if "options" in entry:
        words = random.choice(entry["options"])
    elif "items" in entry:
        words = random.sample(entry["items"], random.randint(entry["least"], entry["most"]))
    else:
        words = [str(random.randint(entry["least"], entry["most"]))]
    return " ".join((entry["verb"], *words))


def play(players: Sequence[Player]) -> None:
    """Let two people make any moves until the game is over; who waits looks when the other has moved."""
    mover = next(player for player in players if player.on_turn())
    while not mover.over():
        if not mover.on_turn():
            (mover,) = (player for player in players if player is not mover)
            mover.wait_for_turn()
        mover.move()


def play_again(players: Sequence[Player], moves: Iterable[tuple[int, str]]) -> None:
    """Let people make these moves, each by its seat; who comes to move looks at the table first."""
    before = None
    for seat, move in moves:
        if players[seat].on_turn() and before is not None and seat != before:
            players[seat].page.goto(players[seat].seat)  # both may move, and the other has just done so
        players[seat].wait_for_turn()
        players[seat].move(move)
        before = seat


def verdict(page: Page) -> None:
    """What has been sent is accepted, now or after a moment."""
    expect(page.locator(".note.good, .note.bad").first).to_be_visible(timeout=SOON)
    assert page.locator(".note.good").count(), page.locator(".note.bad").first.inner_text()


def from_list(player: Player, wanted: str) -> str:
    """A move from the list beside the board, step by step as the links lead; what its button says."""
    page, (verb, *words) = player.page, wanted.split()
    page.locator("details.offers").evaluate("(list) => { list.open = true }")
    for _ in range(LONGEST_MOVE):
        button = page.locator(f'.offers button[name=move][value="{wanted}"]')
        form = page.locator(f'.offers form:has(input[name=verb][value="{verb}"])')
        if form.count():
            fill(form, words)
            button = form.locator("button")
        if button.count():
            said = button.first.inner_text()
            player.press(button.first)
            return said
        onward(page, wanted).click()
    raise AssertionError(f"the links of this list never come to “{wanted}”")


def onward(page: Page, wanted: str) -> Locator:
    """The link that says most of this move."""
    links = page.locator('.offers a.button[href*="say="]')
    said = links.evaluate_all(SAY)
    fitting = [number for number, text in enumerate(said) if f"{wanted} ".startswith(f"{text} ")]
    assert fitting, f"no link leads to “{wanted}”: {said}"
    return links.nth(max(fitting, key=lambda number: len(said[number])))


def fill(form: Locator, words: list[str]) -> None:
    """Tick what is to be ticked, or write the number."""
    if form.locator("input[type=number]").count():
        form.locator("input[type=number]").fill(words[0])
        return
    ticks = form.locator("input[type=checkbox]").all()
    for word in words:
        tick = next(tick for tick in ticks if tick.get_attribute("value") == word and not tick.is_checked())
        tick.check()
