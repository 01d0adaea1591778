"""Evaluating moves: the budget of a search, the deals it imagines, and the first evaluation of each move of a menu."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from engine import chance as chances
from engine import game as games
from engine import win_shares
from engine.chance import Chance
from engine.game import Game
from engine.menu import Menu, MenuEntry, Move, Number, Subset
from engine.win_shares import Shares

Value = Callable[[Move], float]

MAX_LISTED_MOVES = 400  # of a subset or a number with more moves than this only promising ones are evaluated
NUMBER_STEPS = 12  # how many numbers of a range are evaluated before the range is narrowed to the best of them


class Search:
    """A search of one position for one seat; its random choices depend on the seed alone, unless the time runs out.

    The budget counts positions, and seconds of processor time, so that a bot is as strong on a busy machine.
    """

    def __init__(self, game: Game, state: Any, seat: int, evaluations: int, seconds: float, seed: int) -> None:
        self.game = game
        self.seat = seat
        self.seats = len(game.standing(state))
        self.random = Random(seed)  # noqa: S311 - imagined games need no cryptography
        self._state = state
        self._seed = seed
        self._moves_played, self._evaluations = 0, evaluations
        self._started_at, self._seconds = time.thread_time(), seconds

    @property
    def used_evaluations(self) -> float:
        """The part of the positions that is used up: the same on every machine."""
        return _divide(self._moves_played, self._evaluations)

    @property
    def used_budget(self) -> float:
        """The part of the budget that is used up: of the positions or of the time, whichever is more."""
        return max(self.used_evaluations, _divide(time.thread_time() - self._started_at, self._seconds))

    def redeal(self, chance: Chance) -> Any:
        """Return the position with everything that the seat cannot know dealt again."""
        return self.game.redeal(self._state, self.seat, chance)

    def make_chance(self) -> Chance:
        """Return imagined chance."""
        return chances.make_from_seed(self.random.getrandbits(64))

    def make_chances(self, deal: int) -> Iterator[Chance]:
        """Yield imagined chance without end, the same for each move that is tried in the deal of this number."""
        random = Random(f"{self._seed}/{deal}")  # noqa: S311 - imagined games need no cryptography
        while True:
            yield chances.make_from_seed(random.getrandbits(64))

    def play(self, state: Any, seat: int, move: Move, chance: Chance) -> Any:
        """Return the position after a move, and count it."""
        self._moves_played += 1
        return games.perform(self.game, state, seat, move, chance).state

    def evaluate(self, state: Any) -> Shares:
        """Return the expected shares of all seats."""
        return win_shares.evaluate(self.game, state)

    def find_mover(self, state: Any) -> tuple[int, Menu] | None:
        """Return the seat that decides next and its menu, or None; the lowest seat if several may."""
        for seat in range(self.seats):
            menu = self.game.menu(state, seat)
            if menu:
                return seat, menu
        return None


def _divide(used: float, whole: float) -> float:
    return used / whole if whole else 1.0


def evaluate_moves(search: Search, state: Any, seat: int, menu: Menu, seed: int) -> dict[Move, Shares]:
    """Return the moves worth considering, each with its evaluation; all are played with the same draws."""
    evaluations = dict[Move, Shares]()

    def evaluate(move: Move) -> float:
        if move not in evaluations:
            after = search.play(state, seat, move, chances.make_from_seed(seed))
            evaluations[move] = search.evaluate(after)
        return evaluations[move][seat]

    for entry in menu:
        _evaluate_entry(entry, evaluate)
    return evaluations


def _evaluate_entry(entry: MenuEntry, evaluate: Value) -> None:
    if isinstance(entry, Subset) and entry.count() > MAX_LISTED_MOVES:
        _evaluate_subset(entry, evaluate)
    elif isinstance(entry, Number) and entry.count() > MAX_LISTED_MOVES:
        _evaluate_number(entry, evaluate)
    else:
        for move in entry.iter_moves():
            evaluate(move)


def _evaluate_subset(entry: Subset, evaluate: Value) -> None:
    """Evaluate each item by exchanging it alone, take the best ones, then exchange those near the border."""
    items = range(len(entry.items))
    size = max(entry.least, 1)

    def evaluate_items(chosen: set[int]) -> float:
        return evaluate(Move(entry.verb, tuple(entry.items[item] for item in sorted(chosen))))

    base, spare, first = set(items[:size]), size, 0
    whole = evaluate_items(base)
    weights = {item: evaluate_items(base - {first} | {item}) - whole for item in items[size:]}
    weights[first] = 0.0
    weights |= {item: whole - evaluate_items(base - {item} | {spare}) + weights[spare] for item in items[1:size]}
    order = sorted(items, key=lambda item: -weights[item])
    for many in range(entry.least, entry.most + 1):
        evaluate_items(set(order[:many]))
        for out in order[max(many - 3, 0) : many]:
            for into in order[many : many + 3]:
                evaluate_items(set(order[:many]) - {out} | {into})


def _evaluate_number(entry: Number, evaluate: Value) -> None:
    """Evaluate numbers at a distance from each other, then closer and closer around the best one."""
    least, most = entry.least, entry.most
    while True:
        step = max((most - least) // NUMBER_STEPS, 1)
        numbers = [*range(least, most, step), most]
        best = max(numbers, key=lambda number: evaluate(Move(entry.verb, (str(number),))))
        if step == 1:
            return
        least, most = max(best - step, entry.least), min(best + step, entry.most)
