"""People with a browser: what one sees on the page of a table, and moves made by mouse, finger, keyboard or forms.

They know the page and nothing else: a ringed place is touched, a button is pressed, and what comes of it is read.
"""

from __future__ import annotations

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

# What can be touched now: ringed places, the buttons of the bar, and a whole move to confirm.
SEE = """() => {
  const shown = (one) => Boolean(one) && one.offsetParent !== null;
  const bar = document.querySelector("form.bar");
  return {
    lit: [...document.querySelectorAll("figure .spot.lit")].map((spot) => spot.id),
    buttons: [...document.querySelectorAll("form.bar .next button")].filter(shown).map((button) => button.textContent),
    whole: shown(bar?.querySelector(".confirm")),
    said: bar?.querySelector("output").textContent ?? "",
  };
}"""

# What the page says of its moves, for its own script.
MENU = "() => JSON.parse(document.getElementById('menu').textContent)"

# What the links of the list say of a move.
SAY = "(links) => links.map((link) => new URL(link.href).searchParams.get('say'))"

# Where to touch a place so that one touches it and nothing that lies upon it.
POINT = """(token) => {
  const spot = document.querySelector(`figure [id="${CSS.escape(token)}"]`) ?? document.getElementById(token);
  spot.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const { x, y, width, height } = spot.getBoundingClientRect();
  const parts = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];
  for (const down of parts) {
    for (const right of parts) {
      const [left, top] = [x + right * width, y + down * height];
      if (document.elementFromPoint(left, top)?.closest(".spot[id]") === spot) return [left, top];
    }
  }
  return null;
}"""

FOCUSED = "() => document.activeElement?.id ?? ''"


class Seen(Struct, frozen=True):
    """What the page offers to a hand at this moment."""

    lit: list[str]
    buttons: list[str]
    whole: bool
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
    found = page.evaluate(POINT, token)
    assert found, f"{token} is ringed, but something lies upon it everywhere"
    return found[0], found[1]


class Player:
    """Somebody at a table, with a page and a way to use it, who plays what the page offers."""

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
        button = self.page.locator(button) if isinstance(button, str) else button
        with self.page.expect_navigation(wait_until="domcontentloaded"):
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
        """Make this move, or any, on the board if it begins there; what it was called before it was sent."""
        wanted = wanted or self.any_move()
        self.page.locator("figure.live").wait_for(state="attached")
        if any(token in self.look().lit for token in wanted.split()[1:2]):
            said = self.begin(wanted)
            self.press(self._sending(wanted))
        else:
            said = from_list(self, wanted)
        verdict(self.page)
        return said

    def begin(self, wanted: str) -> str:
        """Put this move together until it can be sent. What can only follow the page has added by itself."""
        verb, *tokens = wanted.split()
        words = self.page.evaluate(MENU)["labels"][verb]["tokens"]
        for token in tokens:
            seen = self.look()
            if token in seen.lit:
                self.touch(token)
            elif words[token] in seen.buttons:
                self.page.locator(".bar .next button").nth(seen.buttons.index(words[token])).click()
        return self.look().said

    def _sending(self, wanted: str) -> Locator:
        """The button that sends it: there are several where what was said can mean several things."""
        seen, verb = self.look(), self.page.evaluate(MENU)["labels"][wanted.split()[0]]["verb"]
        if seen.whole:
            return self.page.locator(".bar .confirm")
        (number,) = (number for number, text in enumerate(seen.buttons) if text.split(":")[0].strip() == verb)
        return self.page.locator(".bar .next button").nth(number)


class Reader(Player):
    """Somebody without scripts, who fills in forms and follows links."""

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
