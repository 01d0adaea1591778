"""The story of a finished game: how the chances went, where it turned, and whom luck favoured.

All three come from the outlook of the game, which bots play by. The luck of an entry is what its draws led to, less
what draws that could have been lead to on average; so the luck of a seat is 0 in the mean of all games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from statistics import fmean
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine import menu as menus
from engine import record
from engine import table as tables
from engine.chance import Chance
from engine.game import Game
from engine.log import Entry
from engine.menu import Move
from engine.record import Table
from engine.search.levels import rank
from engine.search.mind import Mind, dice
from engine.search.tree import Node, grow
from engine.shares import Shares, shares

OTHERWISE, LOOKS = 8, 30_000
"""Each entry that drew is drawn so many times otherwise, or less often where it would take so many looks in all."""
POINTS, WORTH_TELLING, THOUGHT = 3, 0.05, 2_000
"""So many turning points are told, where a better move was worth so much; a doubt is worth so many positions."""
MOST_MOVES = 100
FOREVER = 3600.0


Promise = Callable[[Game, Any, int], Shares]
"""What a position is worth to every seat, from a seed."""


class Moment(Struct, frozen=True):
    """The chances after an entry, and the luck of its draws for every seat, where it drew."""

    seq: int
    shares: Shares
    luck: Shares = ()


class TurningPoint(Struct, frozen=True):
    """A move, a better one that was there, and by how much of the victory it was better."""

    seq: int
    seat: int
    played: str
    better: str
    gain: float


class Story(Struct, frozen=True):
    """A game told: the course of the chances, the luck in them, and the moves at which it turned, in their order."""

    course: tuple[Moment, ...]
    turning_points: tuple[TurningPoint, ...]

    @property
    def luck(self) -> Shares:
        """The luck of every seat in the whole game, in shares of the victory."""
        told = [moment.luck for moment in self.course if moment.luck]
        return tuple(map(sum, zip(*told, strict=True))) if told else ()


class _Page(Struct, frozen=True):
    """An entry that stands at the end, not taken back, with the table before and after it."""

    entry: Entry[Any]
    before: Table
    after: Table


def course(game: Game, entries: Sequence[Entry[Any]]) -> tuple[Moment, ...]:
    """The chances after every entry of the game that was not taken back; quick, for it looks at no draws."""
    return tuple(Moment(page.entry.seq, shares(game, page.after.state)) for page in _pages(game, entries))


def story(game: Game, entries: Sequence[Entry[Any]]) -> Story:
    """The whole story; it takes seconds, and is the same every time."""
    pages = list(_pages(game, entries))
    looks = LOOKS // max(1, sum(map(_drew, pages)))
    moments = tuple(_moment(game, page, looks) for page in pages)
    return Story(moments, _turning_points(game, pages))


def _pages(game: Game, entries: Sequence[Entry[Any]]) -> Iterator[_Page]:
    """The entries that changed the position and stand."""
    folded = list(record.folds(game, entries))
    standing, step = set[int](), folded[-1].last
    while step is not None:
        standing.add(step.seq)
        step = step.before
    for entry, before, after in zip(entries, folded, folded[1:], strict=False):
        begins = before.phase == "gathering" and after.phase == "playing"
        if begins or entry.seq in standing:
            yield _Page(entry, before, after)


def _moment(game: Game, page: _Page, looks: int) -> Moment:
    luck = _luck(game, page, _promise, _times(game, page, looks))
    return Moment(page.entry.seq, shares(game, page.after.state), luck)


def _drew(page: _Page) -> bool:
    return any(draw.size > 1 for draw in page.entry.draws)


def _times(game: Game, page: _Page, looks: int) -> int:
    """How often an entry is drawn otherwise within so many looks at the moves that may follow it."""
    menu = next(filter(None, (game.menu(page.after.state, seat) for seat in range(len(page.after.seats)))), ())
    return max(1, min(OTHERWISE, looks // max(1, min(menus.count(menu), MOST_MOVES)) - 1))


def _luck(game: Game, page: _Page, promise: Promise, otherwise: int = OTHERWISE) -> Shares:
    """What the draws of an entry were worth, against so many draws that could have been."""
    if not _drew(page):
        return ()
    random = Random(f"{page.before.commitment} {page.entry.seq}")  # noqa: S311 - games that were not played
    actual = promise(game, page.after.state, random.getrandbits(64))
    seeds = [(random.getrandbits(64), random.getrandbits(64)) for _ in range(otherwise)]
    others = [promise(game, _otherwise(game, page, drawn), look) for drawn, look in seeds]
    return tuple(own - fmean(column) for own, column in zip(actual, zip(*others, strict=True), strict=True))


def _otherwise(game: Game, page: _Page, seed: int) -> Any:
    """The position after the same command with other draws."""
    entry, chance = page.entry, Chance(dice(seed).source)
    return tables.play(game, page.before, entry.seat, Move.read(entry.move or ""), chance).table.state


def _promise(game: Game, state: Any, seed: int) -> Shares:
    """What a position promises once its mover has made the most promising move: a card is worth what it is good for."""
    mind = Mind(game, state, 0, 0, FOREVER, seed)
    mover = mind.mover(state)
    if mover is None:
        return shares(game, state)
    seat, menu = mover
    looked = (shares(game, mind.played(state, seat, move, dice(seed))) for move in _some(menu, mind))
    return max(looked, key=lambda found: found[seat])


def _some(menu: menus.Menu, mind: Mind) -> list[Move]:
    """All moves, or as many of them at random as can be looked at quickly."""
    if menus.count(menu) <= MOST_MOVES:
        return list(menus.moves(menu))
    return [menus.pick(menu, mind.random.randrange) for _ in range(MOST_MOVES)]


def _turning_points(game: Game, pages: Sequence[_Page]) -> tuple[TurningPoint, ...]:
    """The moves that cost their seat most: found at a glance, then played on together with what looked better."""
    found = [(point, page) for page in pages if (point := _missed(game, page))]
    worst = sorted(found, key=lambda one: -one[0].gain)[: 2 * POINTS]
    again = [replace(point, gain=_gain(game, page, point)) for point, page in worst]
    told = sorted((point for point in again if point.gain >= WORTH_TELLING), key=lambda point: -point.gain)[:POINTS]
    return tuple(sorted(told, key=lambda point: point.seq))


def _missed(game: Game, page: _Page) -> TurningPoint | None:
    """How much better than the move of this entry another one looks, judged by what its seat could know."""
    seat, entry, waited = record.mover(page.entry), page.entry, page.before.awaited
    by, text = (waited.seat, waited.move) if waited else (entry.seat, entry.move)
    if seat is None or by is None or text is None:
        return None
    menu, played = game.menu(page.before.state, seat), Move.read(text)
    if menus.count(menu) < 2 or not menus.allows(menu, played):
        return None
    ranking = rank(Mind(game, page.before.state, seat, 0, FOREVER, entry.seq), seat, menu)
    own = next((one.share for one in ranking if one.move == played), None)
    if own is None or ranking[0].share - own < WORTH_TELLING:
        return None
    return TurningPoint(entry.seq, seat, str(played), str(ranking[0].move), ranking[0].share - own)


def _gain(game: Game, page: _Page, point: TurningPoint) -> float:
    """How much better the better move is where both are tried, as often and in the same imagined worlds."""
    state, seat = page.before.state, point.seat
    mind, root = Mind(game, state, seat, THOUGHT, FOREVER, ~point.seq), Node(seat)
    root.look(mind, game.menu(state, seat), mind.imagined(mind.luck()))
    tried = {str(edge.move): edge for edge in root.edges}
    if not {point.better, point.played} <= tried.keys():
        return 0.0
    better, played = root.edges = [tried[point.better], tried[point.played]]
    grow(mind, root)
    return better.mean(seat) - played.mean(seat)
