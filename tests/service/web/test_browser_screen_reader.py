"""Games played through the accessibility tree alone, as a screen reader gives it to a player who sees nothing.

The players know roles, names and what live regions say. They focus what they choose, and press Enter.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from msgspec import Struct
from playwright.sync_api import CDPSession, Error, Page

from tests.browsing import PAGE_TIMEOUT_MS, short_game
from tests.sampling import one_of
from tests.services import RunningService, Visit
from tests.short_games import ShortGame
from tests.sights import READ_LENGTH, look

MAX_CHOICES = 30  # of one move
MAX_MOVES = 400  # of a game
SETTLE_S = 3
CAN = ", can be chosen"
CHOSEN = ", chosen"
# What is beside the game: the view, the tabs, the way back, and what has been folded away.
ASIDE = {"Closer", "Further away", "Whole board", "Names of the places", "Undo", "Start over", "Show it again"}

# Writes down what a screen reader reads out by itself: the texts of live regions, whenever they change.
LISTEN = """() => {
  window.spoken = [];
  const live = "[aria-live=polite], [aria-live=assertive], [role=status], [role=alert], output";
  const speak = (node) => {
    const one = (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest(live);
    const text = one?.textContent.trim().replace(/\\s+/g, " ");
    if (text && one.checkVisibility() && window.spoken.at(-1) !== text) window.spoken.push(text);
  };
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) for (const one of [target, ...addedNodes]) speak(one);
  }).observe(document.body, { childList: true, characterData: true, attributes: true, subtree: true });
}"""


# Whether something was spoken, and more than that a move is on its way.
ANSWERED = "() => window.spoken.length > 0 && window.spoken.at(-1) !== 'Sending …'"


IS_ITS_TURN = "() => document.querySelector('.bar h1').textContent.trim() === 'It is your turn'"


class Node(Struct, frozen=True):
    """A node of the accessibility tree that can be used."""

    role: str
    name: str
    number: int  # by which the browser knows it


class Listener:
    """A player who knows what a screen reader reads out."""

    def __init__(self, page: Page, seed: int) -> None:
        self.page, self.random = page, Random(seed)
        self._tree: CDPSession = page.context.new_cdp_session(page)
        page.locator("form.deed[data-said], .bar h1").first.wait_for(state="attached", timeout=PAGE_TIMEOUT_MS)
        page.evaluate(LISTEN)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it connects at once

    def list_nodes(self, *roles: str) -> list[Node]:
        """Return what has one of these roles and is not disabled; a button without a name cannot be used."""
        nodes = [_read_node(one) for one in self._tree.send("Accessibility.getFullAXTree")["nodes"]]
        return [one for one in nodes if one and one.role in roles]

    def list_headings(self) -> list[str]:
        """Return the names of the headings; to ask for them alone is quicker than to read the whole tree."""
        root = self._tree.send("DOM.getDocument", {"depth": 0})["root"]["backendNodeId"]
        found = self._tree.send("Accessibility.queryAXTree", {"backendNodeId": root, "role": "heading"})["nodes"]
        return [one.name for one in map(_read_node, found) if one]

    def is_its_turn(self) -> bool:
        return "It is your turn" in self.list_headings()

    def is_over(self) -> bool:
        return any(name.endswith((" wins", " win", "You win!")) for name in self.list_headings())

    def list_choices(self) -> list[Node]:
        """Return the buttons of the game: what can be chosen, and what sends the move. Their names tell them apart."""
        end = time.monotonic() + SETTLE_S
        while not (choices := self._read_choices()) and time.monotonic() < end:
            self.page.wait_for_timeout(50)
        assert choices, self.page.locator("main").aria_snapshot()
        names = Counter(one.name for one in choices)
        assert {name: number for name, number in names.items() if number > 1 or not name.strip()} == {}
        return choices

    def _read_choices(self) -> list[Node]:
        buttons = self.list_nodes("button")
        return [one for one in buttons if one.name not in ASIDE and not one.name.endswith(CHOSEN)]

    def press(self, node: Node) -> bool:
        """Focus a node and press Enter; return False if it was replaced after the tree was read."""
        try:
            self._tree.send("DOM.focus", {"backendNodeId": node.number})
        except Error:
            self.page.wait_for_timeout(50)
            return False
        self.page.keyboard.press("Enter")
        return True

    def listen(self, *texts: str) -> None:
        """Wait until all of these texts have been spoken."""
        said = "(texts) => texts.every((text) => window.spoken.some((one) => one.includes(text)))"
        try:
            self.page.wait_for_function(said, arg=list(texts), timeout=PAGE_TIMEOUT_MS)
        except Exception as silence:
            raise AssertionError(f"{texts} was not spoken: {self.page.evaluate('window.spoken')}") from silence

    def forget(self) -> None:
        self.page.evaluate("() => { window.spoken.length = 0; }")

    def wait_for_turn(self) -> None:
        self.page.wait_for_function(IS_ITS_TURN, timeout=PAGE_TIMEOUT_MS)

    def wait_for_length(self, length: int) -> None:
        """Wait until the page shows a log of this length: the other player's last move may leave the turn as it was."""
        self.page.wait_for_function(f"(length) => ({READ_LENGTH})() >= length", arg=length, timeout=PAGE_TIMEOUT_MS)

    def move(self, moves: Sequence[str] = ()) -> None:
        """Make any move as soon as it can; or the first of these, and the second one too if both are sent together."""
        self.wait_for_turn()
        self.forget()
        self._tree.send("DOM.getDocument")
        length = self.page.evaluate(READ_LENGTH)
        for _ in range(MAX_CHOICES):
            sight = look(self.page)
            if sight.length > length:  # the answer came after other words had been heard in its place
                self.listen("Accepted.")
                return
            node = self._find(sight.find_next(moves).label) if moves else self._choose(self.list_choices())
            if not node or not self.press(node):
                continue
            if "Accepted." in self._wait_for_words():
                return
        raise AssertionError(f"no move after {MAX_CHOICES} choices: {self.page.evaluate('window.spoken')}")

    def _find(self, label: str) -> Node | None:
        """Return the choice with this name: the tree has to give it."""
        return next((one for one in self.list_choices() if one.name == label), None)

    def _choose(self, choices: list[Node]) -> Node:
        ends = [one for one in choices if not one.name.endswith(CAN)]
        if ends and (len(ends) == len(choices) or self.random.random() < 0.6):
            return ends[-1]
        return self.random.choice(choices)

    def _wait_for_words(self) -> str:
        """Return what is spoken after a choice: it is read back, or the move is answered. What follows is news."""
        self.page.wait_for_function(ANSWERED, timeout=PAGE_TIMEOUT_MS)
        return str(self.page.evaluate("window.spoken.splice(0).join(' ')"))


def _read_node(node: dict[str, Any]) -> Node | None:
    """Return a node unless the screen reader skips it or it is disabled."""
    flags = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
    if node["ignored"] or flags.get("disabled"):
        return None
    return Node(node["role"]["value"], node.get("name", {}).get("value", ""), node.get("backendDOMNodeId", 0))


def play(listeners: list[Listener]) -> int:
    """Play until the game is over; each hears of the other's moves. Return the number of moves."""
    for number in range(MAX_MOVES):
        if any(one.is_over() for one in listeners):
            return number
        mover = next(one for one in listeners if one.is_its_turn())
        mover.move()
        for other in listeners:
            if other is not mover and not mover.is_its_turn():
                other.listen("win" if mover.is_over() else "It is your turn")
                other.forget()
    raise AssertionError("the game does not end")


def listen_at(service: RunningService, visit: Visit, links: list[str]) -> list[Listener]:
    return [Listener(visit(f"/t/{link}"), seed) for seed, link in enumerate(links)]


@pytest.mark.parametrize("count", one_of([2, None], 2), ids=["its first moves", "whole"])
def test_kaiser_by_ear(service: RunningService, visit: Visit, count: int | None) -> None:
    opened = service.start_table()
    listeners = listen_at(service, visit, list(opened.links))
    for seat, move in short_game(service.find_mover(opened.table))[:count]:
        listeners[seat].move([move])
        listeners[1 - seat].listen("moves" if not listeners[1 - seat].is_over() else "win")
    assert [one.is_over() for one in listeners] == [count is None] * 2


@pytest.mark.release
@pytest.mark.parametrize("game", ["carcassonne", "kurier", "turfmaster"])
def test_a_whole_game_from_its_first_word_to_its_last(service: RunningService, visit: Visit, game: str) -> None:
    """One player only listens, in one page, which is never loaded again; the other one's moves come to it as news."""
    short = ShortGame(service, game)
    short.play_other()
    listener = Listener(visit(short.path), 0)
    while moves := short.list_moves():
        listener.move(moves)
        if short.play_other():
            listener.listen("win" if short.is_over() else "It is your turn")
            listener.wait_for_length(short.length)
    assert listener.is_over()


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("carcassonne", [r'img "[a-z ,]+: (city|road|field) above, (city|road|field) to the right', r"meeple: \d"]),
        ("kaiser", [r"emperor: 1 king: 3 nobleman: 4"]),
        ("kurier", [r"couriers in the stack", r"hidden coins", r'button "(officer|Cossack|diplomat|lady)[,"]']),
        ("turfmaster", [r'(img|button) "card \d+(, ×\d)?', r"cards in hand \d+"]),
    ],
)
def test_what_is_beside_the_board_is_read_in_words(
    service: RunningService, visit: Visit, game: str, words: list[str]
) -> None:
    opened = service.start_table(game=game)
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    page.locator("form.deed[data-said]").wait_for(state="attached")
    read = page.locator("main").aria_snapshot()
    assert [word for word in words if not re.search(word, read)] == [], read


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("game", ["carcassonne", "kurier", "turfmaster"])
def test_a_whole_game(service: RunningService, visit: Visit, game: str) -> None:
    opened = service.start_table(game=game)
    assert play(listen_at(service, visit, list(opened.links))) > 30
