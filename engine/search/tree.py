"""Trying moves out: a first evaluation of each, then a search tree (two seats) or playing on for a round (more).

Each try imagines one deal of what the seat cannot know (information-set tree search), and every seat plays for itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from math import log, sqrt
from random import Random
from typing import Any

from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine import win_shares
from engine.chance import Chance
from engine.game import Game
from engine.menu import Menu, MenuEntry, Move, Number, Subset
from engine.win_shares import Shares, average

Evaluate = Callable[[Move], float]
"""Returns the share that the seat to move can expect after a move, and keeps the evaluation."""

MAX_LISTED_MOVES = 400  # of a subset or a number with more moves than this only promising ones are evaluated
NUMBER_STEPS = 12  # how many numbers of a range are evaluated before the range is narrowed to the best of them
BORDER_ITEMS = 3  # how many of the worst chosen items are exchanged for so many of the best items left


class Search:
    """A search of one position for one seat; its random choices depend on the seed alone, unless the time runs out.

    The budget counts positions, and seconds of processor time, so that a bot is as strong on a busy machine.
    """

    def __init__(self, game: Game, state: Any, seat: int, evaluations: int, seconds: float, seed: int) -> None:
        self.game = game
        self.seat = seat
        standing = game.standing(state)
        self.seats = len(standing)
        self.score = standing[seat].score
        self.random = Random(seed)  # noqa: S311 - imagined games need no cryptography
        self._state = state
        self._seed = seed
        self._moves_played = 0
        self._max_evaluations = evaluations
        self._started_at = time.thread_time()
        self._seconds = seconds

    @property
    def used_part_of_evaluations(self) -> float:
        """The part of the evaluations that is used up, 1 if all are; unlike the seconds, the same on every machine."""
        return _compute_used_part(self._moves_played, self._max_evaluations)

    @property
    def used_part_of_budget(self) -> float:
        """The part of the budget that is used up: of the positions or of the time, whichever is more."""
        used_part_of_seconds = _compute_used_part(time.thread_time() - self._started_at, self._seconds)
        return max(self.used_part_of_evaluations, used_part_of_seconds)

    def redeal(self, chance: Chance) -> Any:
        """Return the position with everything that the seat cannot know dealt again."""
        return self.game.redeal(self._state, self.seat, chance)

    def make_chance(self) -> Chance:
        """Return chance with imagined draws, other ones at each call."""
        return chances.make_from_seed(self.random.getrandbits(64))

    def make_chances(self, deal: int) -> Iterator[Chance]:
        """Yield imagined chance without end, the same for each move that is tried in the deal of this number."""
        random = Random(f"{self._seed}/{deal}")  # noqa: S311 - imagined games need no cryptography
        while True:
            yield chances.make_from_seed(random.getrandbits(64))

    def play(self, state: Any, seat: int, move: Move, chance: Chance) -> Any:
        """Return the position after a move, and count it."""
        self._moves_played += 1  # the position after it is evaluated
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

    def iter_moves(self, menu: Menu, most: int) -> Iterator[Move]:
        """Iterate over all moves of a menu, or over so many random ones if there are more than `most`."""
        if menus.count(menu) <= most:
            return menus.iter_moves(menu)
        return (menus.pick(menu, self.random.randrange) for _ in range(most))


def _compute_used_part(used: float, budget: float) -> float:
    """Return the part of a budget that is used; an empty budget is used up from the beginning."""
    return used / budget if budget else 1.0


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


def _evaluate_entry(entry: MenuEntry, evaluate: Evaluate) -> None:
    """Call `evaluate` for all moves of an entry, or for the best ones of very many."""
    if isinstance(entry, Subset) and entry.count() > MAX_LISTED_MOVES:
        _evaluate_subset(entry, evaluate)
    elif isinstance(entry, Number) and entry.count() > MAX_LISTED_MOVES:
        _evaluate_number(entry, evaluate)
    else:
        for move in entry.iter_moves():
            evaluate(move)


def _evaluate_subset(entry: Subset, evaluate: Evaluate) -> None:
    """Weigh each item alone; then call `evaluate` for the best of each size, and with the worst of them exchanged."""
    items = range(len(entry.items))

    def evaluate_items(chosen: set[int]) -> float:
        return evaluate(Move(entry.verb, tuple(entry.items[item] for item in sorted(chosen))))

    weights = _weigh_items(items, max(entry.least, 1), evaluate_items)
    best_first = sorted(items, key=lambda item: -weights[item])
    for size in range(entry.least, entry.most + 1):
        best, others = best_first[:size], best_first[size:]
        evaluate_items(set(best))
        for removed in best[-BORDER_ITEMS:]:
            for added in others[:BORDER_ITEMS]:
                evaluate_items(set(best) - {removed} | {added})


def _weigh_items(items: range, size: int, evaluate_items: Callable[[set[int]], float]) -> dict[int, float]:
    """Return how much more than the first item each one adds to the seat's share with `size` items.

    The base is the first `size` items. An item outside is exchanged for the first item, and an item of the base for
    the spare one, the first outside: that exchange loses the weight of the item and gains that of the spare one.
    """
    base = set(items[:size])
    first = 0
    spare = size
    base_share = evaluate_items(base)
    weights = {item: evaluate_items(base - {first} | {item}) - base_share for item in items[size:]}
    weights[first] = 0.0
    for item in items[1:size]:
        loss = base_share - evaluate_items(base - {item} | {spare})  # its weight less that of the spare item
        weights[item] = loss + weights[spare]
    return weights


def _evaluate_number(entry: Number, evaluate: Evaluate) -> None:
    """Call `evaluate` for numbers at a distance from each other, then closer and closer around the best one."""
    least, most = entry.least, entry.most
    while True:
        step = max((most - least) // NUMBER_STEPS, 1)
        numbers = [*range(least, most, step), most]
        best = max(numbers, key=lambda number: evaluate(Move(entry.verb, (str(number),))))
        if step == 1:
            return
        least, most = max(best - step, entry.least), min(best + step, entry.most)


PRIOR_WEIGHT = 1.0  # the number of tries that the first evaluation of a move counts as
EXPLORATION = 0.12  # the larger, the more often moves are tried that were tried seldom
WIDTH_FACTOR = 2.0  # a node tries two moves, and this times the root of its visits more
MAX_FIELD = 16  # moves of the root that are tried in the first round

MAX_TURNS = 2  # how often the turn comes round to the searching seat in a try
MAX_TURN_COST = 0.25  # it comes round only once if a turn for every move would use more than this part of the positions
MOVES_AGAIN = 4  # how many of the best moves of a step are evaluated again in the next try of the same deal


class Edge:
    """A move out of a node: its first evaluation, and the sum of the results of its tries."""

    __slots__ = ("children", "move", "prior", "totals", "visits")

    def __init__(self, move: Move, prior: Shares) -> None:
        self.move = move
        self.prior = prior
        self.visits = 0
        self.totals = [PRIOR_WEIGHT * share for share in prior]
        self.children: dict[object, Node] = {}  # by the seat that is to move next and its menu

    def compute_average(self, seat: int) -> float:
        """Return the mean share of a seat, the first evaluation included."""
        return self.totals[seat] / (PRIOR_WEIGHT + self.visits)

    def add(self, shares: Shares) -> None:
        """Add the result of a try."""
        self.visits += 1
        for seat, share in enumerate(shares):
            self.totals[seat] += share


class Node:
    """A position in which a seat chooses among moves, the best ones first."""

    __slots__ = ("edges", "seat", "visits")

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.visits = 0
        self.edges: list[Edge] = []

    def expand(self, search: Search, menu: Menu, *states: Any) -> Shares:
        """Evaluate every move in each state, all with the same draws; return the shares after the best one."""
        evaluations = [
            evaluate_moves(search, state, self.seat, menu, search.random.getrandbits(64)) for state in states
        ]
        # The menu is the same in all states; but if it is very long, other moves of it may be evaluated in each.
        for move in evaluations[0]:
            prior = average([by_move[move] for by_move in evaluations if move in by_move])
            self.edges.append(Edge(move, prior))
        self.edges.sort(key=lambda edge: -edge.prior[self.seat])
        return self.edges[0].prior

    def pick(self) -> Edge:
        """Count a visit, and return the move to try next: it has good results, or was seldom tried."""
        self.visits += 1
        width = 2 + int(WIDTH_FACTOR * sqrt(self.visits))  # with more visits, also moves that seemed worse at first
        seat, bonus = self.seat, EXPLORATION * sqrt(log(1 + self.visits))
        return max(self.edges[:width], key=lambda edge: edge.compute_average(seat) + bonus / sqrt(1 + edge.visits))


Attempt = Callable[[Edge], Shares | None]
"""Tries a move once and returns the result; None if the budget was used up on the way."""


def grow(search: Search, root: Node) -> None:
    """Try the best moves in turn, then the better half of them, and so on, until the budget is used up.

    All are tried in the same imagined deals, so that they do not differ by their draws.
    """
    if search.used_part_of_budget >= 1:
        return
    search.random.shuffle(root.edges)  # of moves with the same evaluation any may come first
    root.edges.sort(key=lambda edge: -edge.compute_average(root.seat))
    field = root.edges[:MAX_FIELD]
    rounds = max((len(field) - 1).bit_length(), 1)  # so often the field is halved; each has the same part of the budget
    attempt = _make_attempt(search, root.seat, len(field))
    for number in range(1, rounds + 1):
        while search.used_part_of_budget < number / rounds:
            _try_all(search, attempt, field)
        field.sort(key=lambda edge: -edge.compute_average(root.seat))
        root.edges[: len(field)] = field  # the moves that have left the field stay behind it
        field = field[: (len(field) + 1) // 2]


def _make_attempt(search: Search, seat: int, move_count: int) -> Attempt:
    """Return the function that tries a move: down the tree for two seats, by playing on for more.

    The number of a move's tries so far is the number of the next deal, which is the same for all moves.
    """
    if search.seats == 2:
        return lambda edge: _descend(search, seat, edge, edge.visits)
    turn_search = TurnSearch(search, seat, move_count)
    return lambda edge: turn_search.play_on(edge.move, edge.visits)


def _try_all(search: Search, attempt: Attempt, field: list[Edge]) -> None:
    """Try each move in one deal; add no result if the budget is used up before all are tried."""
    results = list[Shares]()
    for edge in field:
        shares = None if search.used_part_of_budget >= 1 else attempt(edge)
        if shares is None:
            return
        results.append(shares)
    for edge, shares in zip(field, results, strict=True):
        edge.add(shares)


def _descend(search: Search, seat: int, edge: Edge, deal: int) -> Shares:
    """Go down the tree below a move, in the deal of this number, as far as a new node, and return its evaluation.

    It is added to the further moves on the way; `_try_all` adds it to the first one.
    """
    imagined = search.make_chances(deal)
    further_moves = list[Edge]()
    state = search.redeal(next(imagined))
    while True:
        state = search.play(state, seat, edge.move, next(imagined))
        # A node is a seat with a menu: another hand, or another draw, leads to another node.
        mover = search.find_mover(state)
        if mover is None:
            shares = search.evaluate(state)
            break
        seat, menu = mover
        if mover not in edge.children:
            node = edge.children[mover] = Node(seat)
            shares = node.expand(search, menu, state)
            break
        edge = edge.children[mover].pick()
        further_moves.append(edge)
    for edge in further_moves:
        edge.add(shares)
    return shares


StepKey = tuple[int, int, int]
"""The number of a deal, the number of a step in it, and the seat to move."""


class TurnSearch:
    """Tries for three and more seats: every seat makes its best move until the turn comes round, without a tree.

    In one deal, a move that was bad in one try is bad in the next: so later tries leave it out at the same step.
    """

    def __init__(self, search: Search, seat: int, move_count: int) -> None:
        self._search = search
        self._seat = seat
        self._move_count = move_count  # how many moves are tried
        self._turns: int | None = None  # how far to play on; None until the first try shows what a turn costs
        self._bad_moves: dict[StepKey, frozenset[Move]] = {}

    def play_on(self, move: Move, deal: int) -> Shares | None:
        """Play a move in the deal of this number, and on; None if the budget is used up on the way.

        The result is the mean of the evaluations at each turn: the first one is the surest, the last one sees furthest.
        """
        search = self._search
        imagined, used_before = search.make_chances(deal), search.used_part_of_evaluations
        state, results = search.redeal(next(imagined)), list[Shares]()
        seat, step = self._seat, 0
        while True:
            state = search.play(state, seat, move, next(imagined))
            mover = search.find_mover(state)
            if mover is None:
                return self._average_with_end(results, search.evaluate(state))
            if search.used_part_of_budget >= 1:
                return None
            previous = seat
            seat, menu = mover
            move, shares = self._find_best(state, seat, menu, (deal, step, seat))
            if not shares[self._seat]:
                # The searching seat is out: its turn does not come again.
                return self._average_with_end(results, shares)
            if seat == self._seat and previous != seat:  # the turn has come round
                results.append(shares)
                self._set_turns(search.used_part_of_evaluations - used_before)
            if len(results) == self._turns:
                return average(results)
            step += 1

    def _set_turns(self, cost: float) -> None:
        """Decide how far to play on, by the cost of the first turn of the first try, as a part of the positions."""
        if self._turns is None:
            self._turns = 1 if cost * self._move_count > MAX_TURN_COST else MAX_TURNS

    def _average_with_end(self, results: list[Shares], end: Shares) -> Shares:
        """Return the mean if the game ends early: its end counts for the turns that are missing.

        Before the first turn it is not known yet how many turns a try has; then it is MAX_TURNS.
        """
        turns = MAX_TURNS if self._turns is None else self._turns
        missing_turns = turns - len(results)
        return average(results + [end] * missing_turns)

    def _find_best(self, state: Any, seat: int, menu: Menu, step: StepKey) -> tuple[Move, Shares]:
        """Return the mover's best move, and the shares of all seats after it.

        The first try that comes to a step evaluates its whole menu, and later ones only the moves that were not bad
        then. Of a very long menu each try evaluates the promising moves: to list all takes too long.
        """
        search, seed = self._search, self._search.random.getrandbits(64)
        is_first_try = step not in self._bad_moves
        if is_first_try or menus.count(menu) > MAX_LISTED_MOVES:
            evaluations = evaluate_moves(search, state, seat, menu, seed)  # of a very long menu not all
            best_first = sorted(evaluations, key=lambda move: -evaluations[move][seat])
            self._bad_moves[step] = frozenset(best_first[MOVES_AGAIN:])
        else:
            moves = _select_again(menu, self._bad_moves[step])
            evaluations = {
                move: search.evaluate(search.play(state, seat, move, chances.make_from_seed(seed))) for move in moves
            }
        best_move = max(evaluations, key=lambda move: evaluations[move][seat])
        return best_move, evaluations[best_move]


def _select_again(menu: Menu, bad_moves: Collection[Move]) -> list[Move]:
    """Return the moves that were not bad in the first try, also those that were impossible then; all if all were."""
    moves = list(menus.iter_moves(menu))
    return [move for move in moves if move not in bad_moves] or moves
