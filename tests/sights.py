"""What a player of a test sees at a table: what glows, and what the bar offers for the next step of a move."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from playwright.sync_api import Page

from tests.browsing import continues

# The length of the log that the page shows.
READ_LENGTH = "() => Number(document.querySelector('.table').dataset.length)"

# Returns what can be tapped, glowing spots and buttons of the bar, as soon as the last tap or key is answered and no
# button waits any more. `hit` says whether a tap on the middle, or for a drawn spot near it, finds it; `inside` whether
# all of it is in the window.
LOOK = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await Promise.race([window.answered, new Promise((done) => setTimeout(done, 1000))]);
  do await frame(); while (document.querySelector(".bar button[inert]"));
  window.isSent = false;
  window.answered = new Promise((done) => {
    addEventListener("submit", () => { window.isSent = true; }, { once: true, capture: true });
    for (const name of ["click", "keydown"])
      addEventListener(name, () => frame().then(done), { once: true, capture: true });
  });
  const look = (one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const upon = document.elementFromPoint(x, y);
    return {
      label: one.ariaLabel ?? one.textContent.trim(),
      token: one.dataset.token ?? "",
      say: one.dataset.say ?? one.dataset.whole ?? "",
      is_main: one.classList.contains("main"),
      is_chosen: one.classList.contains("chosen"),
      inside: left >= -0.5 && top >= -0.5 && right <= innerWidth + 0.5 && bottom <= innerHeight + 0.5,
      hit: Boolean(upon) && (one.contains(upon) || upon.closest("[data-token]") === one),
      x, y,
    };
  };
  const seen = (one) => one.offsetParent !== null;
  const spots = [...document.querySelectorAll(":is(.stage, .tray) .lit")];
  const buttons = [...document.querySelectorAll(".bar form.deed button")].filter(seen);
  const { said = "", second = "" } = document.querySelector("form.deed")?.dataset ?? {};
  const chosen = [...document.querySelectorAll(":is(.stage, .tray) .chosen")].map((one) => one.dataset.token);
  return { controls: [...spots, ...buttons].map(look), said, second, chosen, length: (READ_LENGTH)() };
}"""


class Control(Struct, frozen=True):
    """A glowing spot, or a button of the bar."""

    label: str
    token: str  # of a spot
    say: str  # what a button adds to the move, or the verb of the move that it sends
    is_main: bool
    is_chosen: bool
    inside: bool
    hit: bool
    x: float
    y: float


class Sight(Struct, frozen=True):
    """What the player sees: the controls, and what is chosen so far."""

    controls: list[Control]
    said: str
    second: str  # of two moves that are sent together
    chosen: list[str]  # spots
    length: int  # of the log that the page shows

    def describe_choice(self) -> str:
        return f"{self.said}; {self.second}; {self.chosen}; {[one.label for one in self.controls if not one.token]}"

    def find_next(self, moves: Sequence[str]) -> Control:
        """Return what to tap next for the first of these moves, and for the second one if both are sent together."""
        verb, *tokens = moves[0].split()
        _, *chosen = self.said.split(" ")
        if chosen != tokens:
            return self._find(chosen, tokens[len(chosen) :]) or self._find_button("")  # which turns what lies there
        mains = [one for one in self.controls if one.is_main]
        if len(moves) > 1 and mains and all(one.say for one in mains):  # each of them ends a second move
            return self._find([], moves[1].split()[1:]) or mains[-1]
        if not mains:
            return self._find([], [verb]) or self._find_button(verb)
        return next((one for one in mains if one.say == verb), mains[-1])

    def _find(self, chosen: list[str], rest: list[str]) -> Control | None:
        """Return the spot that adds most of the words to the chosen ones, or the button of the next one."""
        spots = [one for one in self.controls if one.token and continues(one.token.split(), chosen, rest)]
        buttons = [one for one in self.controls if rest and one.say == rest[0]]
        return max(spots, key=lambda one: len(one.token), default=None) or next(iter(buttons), None)

    def _find_button(self, say: str) -> Control:
        return next(one for one in self.controls if not one.token and one.say == say)


def look(page: Page) -> Sight:
    return msgspec.convert(page.evaluate(LOOK.replace("READ_LENGTH", READ_LENGTH)), Sight)
