"""People with a browser: what one sees on the page of a table, and moves made by mouse, finger, keyboard or forms.

They know the page and nothing else: a ringed place is touched, a button is pressed, and what comes of it is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from msgspec import Struct
from playwright.sync_api import Page, expect

SOON = 15_000  # milliseconds: a page looks every four seconds
LONGEST_MOVE = 40  # touches

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
    lit: [...document.querySelectorAll("figure .spot.lit:not(.chosen)")].map((spot) => spot.id),
    buttons: [...document.querySelectorAll("form.bar .next button")].filter(shown).map((button) => button.type),
    whole: shown(bar?.querySelector(".confirm")),
    said: bar?.querySelector("output").textContent ?? "",
  };
}"""

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
        """Whether the page offers a move; one that waits is asked to look again."""
        return self.page.locator("#menu").count() > 0

    def wait_for_turn(self) -> None:
        self.notice()
        self.page.locator("#menu, ol.players").first.wait_for(state="attached", timeout=SOON)

    def over(self) -> bool:
        return self.page.locator("main ol.players").count() > 0

    def touch(self, token: str) -> None:
        self._hand(self.page, token)

    def press(self, selector: str) -> None:
        """Press a button that leads on to another page."""
        button = self.page.locator(selector)
        with self.page.expect_navigation(wait_until="domcontentloaded"):
            if self._hand is keys:
                button.focus()
                self.page.keyboard.press("Enter")
            elif self._hand is finger:
                button.tap()
            else:
                button.click()

    def move(self, *wishes: str) -> str:
        """A whole move, these places first; what stood under the board before it was confirmed."""
        if not self.look().lit:
            return by_form(self.page, self._random)
        seen = self.begin(*wishes)
        self.press(".bar .confirm" if seen.whole else ".bar .next button[type=submit] >> nth=0")
        verdict(self.page)
        return seen.said

    def begin(self, *wishes: str) -> Seen:
        """Touch places and press buttons until a move is whole and can be sent."""
        wanted = list(wishes)
        for _ in range(LONGEST_MOVE):
            seen = self.look()
            if not wanted and (seen.whole or "submit" in seen.buttons):
                return seen
            if wanted or (seen.lit and (not seen.buttons or self._random.random() < 0.5)):
                self.touch(wanted.pop(0) if wanted else self._random.choice(seen.lit))
            else:
                self.page.locator(".bar .next button").nth(self._random.randrange(len(seen.buttons))).click()
        raise AssertionError(f"this move never becomes whole: {seen}")


class Reader(Player):
    """Somebody without scripts, who fills in forms and follows links."""

    def wait_for_turn(self) -> None:
        self.page.goto(self.seat)

    def move(self, *wishes: str) -> str:
        return by_form(self.page, self._random, wishes)


def play(players: Sequence[Player], most: int = 1000) -> None:
    """Let two people play so many moves, or until the game is over; who waits looks when the other has moved."""
    mover = next(player for player in players if player.on_turn())
    for _ in range(most):
        mover.move()
        if mover.over():
            return
        if not mover.on_turn():
            (mover,) = (player for player in players if player is not mover)
            mover.wait_for_turn()


def verdict(page: Page) -> None:
    """What has been sent is accepted, now or after a moment."""
    expect(page.locator(".note.good, .note.bad").first).to_be_visible(timeout=SOON)
    assert page.locator(".note.good").count(), page.locator(".note.bad").first.inner_text()


def by_form(page: Page, random: Random, wishes: tuple[str, ...] = ()) -> str:
    """A move from the list beside the board, step by step as the links lead."""
    page.locator("details.offers").evaluate("(list) => { list.open = true }")
    for _ in range(LONGEST_MOVE):
        buttons = page.locator(".offers form button")
        links = page.locator('.offers a.button[href*="say="]')
        choices = [("button", number) for number in range(buttons.count())]
        choices += [("link", number) for number in range(links.count())]
        kind, number = random.choice(choices)
        if kind == "link":
            links.nth(number).click()
            continue
        button = buttons.nth(number)
        said = button.inner_text()
        _fill(button.locator("xpath=ancestor::form"), random)
        with page.expect_navigation(wait_until="domcontentloaded"):
            button.click()
        verdict(page)
        return said
    raise AssertionError("the links of this list never come to a move")


def _fill(form: Any, random: Random) -> None:
    """Tick as many as are asked for, or write a number within its bounds."""
    ticks, number = form.locator("input[type=checkbox]"), form.locator("input[type=number]")
    if ticks.count():
        least = re.search(r"\d+", form.locator(".help").inner_text())
        assert least
        for place in random.sample(range(ticks.count()), int(least[0])):
            ticks.nth(place).check()
    if number.count():
        number.fill(number.get_attribute("min") or "0")
