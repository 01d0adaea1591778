"""The story of a finished game: the chances over time, the luck of each seat, and the turning points.

All three follow from the game's `outlook`, which bots play by. The luck of an entry is the value of its draws less the
mean value of other draws, so the mean luck of a seat over all games is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from statistics import fmean
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine import chance as chances
from engine import log, record, win_shares
from engine import menu as menus
from engine import table as tables
from engine.game import Game
from engine.log import Entry
from engine.menu import Move
from engine.record import Table
from engine.search.levels import rank_moves
from engine.search.tree import Node, Search, grow
from engine.win_shares import Shares

MAX_REDRAWS, MAX_EVALUATIONS = 8, 30_000  # an entry is drawn again less often if that took more evaluations in all
MAX_TURNING_POINTS, MIN_GAIN = 3, 0.05  # a turning point needs a move that was better by this share
MAX_CANDIDATES = 6  # the worst mistakes, whose gain is searched deeper
GAIN_EVALUATIONS = 2_000  # the positions that are evaluated for each possible turning point
MAX_MOVES = 100  # that are evaluated in one position; of more, random ones
NO_LIMIT_S = 3600.0

Evaluator = Callable[[Game, Any, int], Shares]
"""Evaluates a position for all seats, with imagined draws from a seed."""


class ChancePoint(Struct, frozen=True):
    """The chances of all seats after an entry, and the luck of its draws for each seat if it drew."""

    seq: int
    shares: Shares
    luck: Shares = ()


class TurningPoint(Struct, frozen=True):
    """A move, a better possible move, and how much larger the seat's share would have been."""

    seq: int
    seat: int
    played: str
    better: str
    gain: float


class Story(Struct, frozen=True):
    """The story of a game: the chances after each entry, and the turning points in their order."""

    chance_history: tuple[ChancePoint, ...]
    turning_points: tuple[TurningPoint, ...]

    @property
    def luck(self) -> Shares:
        """The luck of each seat in the whole game, in shares of the victory; empty if nothing was drawn."""
        lucks = [point.luck for point in self.chance_history if point.luck]
        return tuple(map(sum, zip(*lucks, strict=True))) if lucks else ()


class _Transition(Struct, frozen=True):
    """An entry that was not undone, with the table before and after it."""

    entry: Entry[Any]
    before: Table
    after: Table


def compute_chance_history(game: Game, entries: Sequence[Entry[Any]]) -> tuple[ChancePoint, ...]:
    """Return the chances after each entry that was not undone; quick, because it does not compute luck."""
    return tuple(
        ChancePoint(transition.entry.seq, win_shares.evaluate(game, transition.after.state))
        for transition in _iter_transitions(game, entries)
    )


def make_story(game: Game, entries: Sequence[Entry[Any]]) -> Story:
    """Return the story of a game; it takes seconds, and is the same every time."""
    transitions = list(_iter_transitions(game, entries))
    entries_with_draws = sum(map(_has_drawn, transitions))
    evaluations = MAX_EVALUATIONS // max(1, entries_with_draws)  # for the draws of one entry
    points = tuple(_make_chance_point(game, transition, evaluations) for transition in transitions)
    return Story(points, _find_turning_points(game, transitions))


def _iter_transitions(game: Game, entries: Sequence[Entry[Any]]) -> Iterator[_Transition]:
    """Yield the entries that changed the position and were not undone."""
    history = list(record.fold_each(game, entries))
    moves = {move.seq for move in record.iter_moves(history[-1])}
    for entry, before, after in zip(entries, history, history[1:], strict=False):
        starts = before.phase == "gathering" and after.phase == "playing"
        if starts or entry.seq in moves:
            yield _Transition(entry, before, after)


def _make_chance_point(game: Game, transition: _Transition, evaluations: int) -> ChancePoint:
    """Return the chances of all seats after an entry, and how lucky its draws were."""
    luck = _compute_luck(game, transition, _evaluate_best_move, _count_redraws(game, transition, evaluations))
    return ChancePoint(transition.entry.seq, win_shares.evaluate(game, transition.after.state), luck)


def _has_drawn(transition: _Transition) -> bool:
    return any(draw.size > 1 for draw in transition.entry.draws)


def _count_redraws(game: Game, transition: _Transition, evaluations: int) -> int:
    """Return how often an entry can be drawn again, if every move that may follow it is evaluated each time."""
    after = transition.after
    open_menus = [menu for seat in range(len(after.seats)) if (menu := game.menu(after.state, seat))]
    moves = min(menus.count(open_menus[0]), MAX_MOVES) if open_menus else 1  # the lowest seat decides next
    return max(1, min(MAX_REDRAWS, evaluations // moves - 1))  # the moves after the actual draw are evaluated, too


def _compute_luck(game: Game, transition: _Transition, evaluate: Evaluator, redraws: int = MAX_REDRAWS) -> Shares:
    """Return the value of an entry's draws for each seat, less the mean value of other draws; empty without draws."""
    if not _has_drawn(transition):
        return ()
    own_seed = f"{transition.before.commitment} {transition.entry.seq}"
    random = Random(own_seed)  # noqa: S311 - imagined games need no cryptography
    actual = evaluate(game, transition.after.state, random.getrandbits(64))
    seeds = [(random.getrandbits(64), random.getrandbits(64)) for _ in range(redraws)]
    others = [evaluate(game, _draw_again(game, transition, redraw), seed) for redraw, seed in seeds]
    means = [fmean(column) for column in zip(*others, strict=True)]
    return tuple(own - mean for own, mean in zip(actual, means, strict=True))


def _draw_again(game: Game, transition: _Transition, seed: int) -> Any:
    """Return the position after the same command with other draws; no entry of a story is redacted."""
    entry = transition.entry
    chance = chances.make_from_seed(seed)
    return tables.play(game, transition.before, entry.seat, Move.parse(entry.move or ""), chance).table.state


def _evaluate_best_move(game: Game, state: Any, seed: int) -> Shares:
    """Evaluate a position after its best move: a card that was drawn is worth what can be done with it."""
    search = Search(game, state, seat=0, evaluations=0, seconds=NO_LIMIT_S, seed=seed)  # any seat: nothing is redealt
    mover = search.find_mover(state)
    if mover is None:
        return win_shares.evaluate(game, state)
    seat, menu = mover
    evaluations = (
        win_shares.evaluate(game, search.play(state, seat, move, chances.make_from_seed(seed)))
        for move in search.iter_moves(menu, MAX_MOVES)
    )
    return max(evaluations, key=lambda shares: shares[seat])


def _find_turning_points(game: Game, transitions: Sequence[_Transition]) -> tuple[TurningPoint, ...]:
    """Return the worst mistakes: candidates are found by a first evaluation, and their gain is then searched deeper."""
    transitions_by_seq = {transition.entry.seq: transition for transition in transitions}
    mistakes = [mistake for transition in transitions if (mistake := _find_mistake(game, transition))]
    candidates = _sort_by_gain(mistakes)[:MAX_CANDIDATES]
    searched = [replace(point, gain=_search_gain(game, transitions_by_seq[point.seq], point)) for point in candidates]
    worst = _sort_by_gain([point for point in searched if point.gain >= MIN_GAIN])[:MAX_TURNING_POINTS]
    return tuple(sorted(worst, key=lambda point: point.seq))


def _sort_by_gain(points: list[TurningPoint]) -> list[TurningPoint]:
    return sorted(points, key=lambda point: -point.gain)


def _find_mistake(game: Game, transition: _Transition) -> TurningPoint | None:
    """Return a better move than that of this entry, judged by what its seat could know; None if there is none."""
    state = transition.before.state
    seq = transition.entry.seq
    seat = log.find_mover(transition.entry)
    command = transition.before.waiting_command or transition.entry  # a move that waited for its draws came earlier
    if seat is None or command.seat is None or command.move is None:  # without a seat, the server made the move
        return None
    menu, played = game.menu(state, seat), Move.parse(command.move)
    if menus.count(menu) < 2 or not menus.allows(menu, played):
        return None
    search = Search(game, state, seat, evaluations=0, seconds=NO_LIMIT_S, seed=seq)  # without a tree of further moves
    best, *others = rank_moves(search, seat, menu)
    share = {other.move: other.share for other in others}.get(played)
    if share is None:  # the best move was played, or a move that was not evaluated because there are very many
        return None
    if best.share - share < MIN_GAIN:
        return None
    return TurningPoint(seq, seat, played=str(played), better=str(best.move), gain=best.share - share)


def _search_gain(game: Game, transition: _Transition, point: TurningPoint) -> float:
    """Search both moves equally often, in the same random deals, and return how much more the better one wins.

    It is 0 if the search leaves one of them out, as it does if there are very many moves.
    """
    state, seat = transition.before.state, point.seat
    seed = ~point.seq  # other deals than those in which the mistake was found
    search, root = Search(game, state, seat, GAIN_EVALUATIONS, NO_LIMIT_S, seed), Node(seat)
    root.expand(search, game.menu(state, seat), search.redeal(search.make_chance()))
    edges = {str(edge.move): edge for edge in root.edges}
    if not {point.better, point.played} <= edges.keys():
        return 0.0
    better, played = edges[point.better], edges[point.played]
    root.edges = [better, played]
    grow(search, root)
    return better.compute_average(seat) - played.compute_average(seat)
