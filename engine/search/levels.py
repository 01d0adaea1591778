"""How strong a bot plays: how many positions it looks at, and how often it errs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from random import Random
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from engine import menu as menus
from engine.game import Game
from engine.menu import Menu, Move
from engine.search.candidates import MANY
from engine.search.mind import Mind, dice
from engine.search.tree import Node, grow

Name = Literal["easy", "normal", "strong"]


class Level(Struct, frozen=True):
    """A budget of positions, a cap in seconds of the processor, and how a player of this level errs.

    A whim is how far promises are misjudged, a blindness how often a move is not seen.
    """

    evaluations: int
    seconds: float
    whim: float = 0.0
    blindness: float = 0.0


LEVELS: dict[str, Level] = {
    "easy": Level(0, 1.0, whim=1.1),
    "normal": Level(0, 1.0, blindness=0.15),
    "strong": Level(4_000, 1.5),
}


GLANCES, MOST_LOOKS = 32, 10
"""Where there are few moves each is looked at more than once, with other luck and other deals; so many looks in all."""
SURE = 1.0
ALIKE, SPREAD = 0.002, 0.01
"""Any move is made of those that promise so little less than the best; a whim takes no spread for smaller than that.

So bots that would all rather wait do not do so for ever, where the rules would let them; nor does one that is blind now
and then, though it takes the first of moves alike.
"""
CAREFUL = 6
"""Of so many moves a bot that errs takes the first that does not lose at once."""


class Ranked(NamedTuple):
    """A move, the share that it promises to whom it is for, and how often it was tried."""

    move: Move
    share: float
    visits: int


def choose(level: Level, game: Game, state: Any, seat: int, seed: int, but: Collection[Move] = frozenset()) -> Move:
    """The move a bot of this level makes; the same for the same seed, whatever its seat cannot know.

    Moves in `but` were tried in vain; one of them is made only where there is no other.
    """
    menu = game.menu(state, seat)
    only = _only(menu)
    if only:
        return only
    mind = Mind(game, state, seat, level.evaluations, level.seconds, seed)
    ranking = rank(mind, seat, menu)
    ranking = [ranked for ranked in ranking if ranked.move not in but] or ranking
    if ranking[0].share >= SURE:
        return ranking[0].move
    if level.whim or level.blindness:
        seen = _seen(ranking, level.blindness, mind.random)
        return _safe(mind, seat, _misjudged(seen, level.whim, mind.random), ranking)
    return mind.random.choice(_alike(ranking)).move


def rank(mind: Mind, seat: int, menu: Menu) -> list[Ranked]:
    """The moves, the best first, as far as the mind's budget reaches; each one is looked at once at least."""
    root = Node(seat)
    looks = min(max(GLANCES // menus.count(menu), 1), MOST_LOOKS)
    root.look(mind, menu, *(mind.imagined(mind.luck()) for _ in range(looks)))
    grow(mind, root)
    return [Ranked(edge.move, edge.mean(seat), edge.visits) for edge in root.edges]


def _only(menu: Menu) -> Move | None:
    return next(menus.moves(menu)) if menus.count(menu) == 1 else None


def _alike(ranking: list[Ranked]) -> list[Ranked]:
    """The moves that promise about as much as the first one, in as many worlds."""
    first = ranking[0]
    return [one for one in ranking if one.share >= first.share - ALIKE and one.visits == first.visits]


def _seen(ranking: list[Ranked], blindness: float, random: Random) -> list[Ranked]:
    """The moves that are not overlooked; all of them where none would be left."""
    return [ranked for ranked in ranking if random.random() >= blindness] or ranking


def _misjudged(ranking: list[Ranked], whim: float, random: Random) -> list[Ranked]:
    """The moves as somebody ranks them who errs by about this much of what lies between a good and a middling one."""
    spread = max(ranking[0].share - ranking[len(ranking) // 2].share, SPREAD)
    return sorted(ranking, key=lambda ranked: -ranked.share - random.gauss(0, whim * spread))


def _safe(mind: Mind, seat: int, errant: list[Ranked], ranking: list[Ranked]) -> Move:
    """The first of the moves after which nobody can throw this seat out, or win, at once; who errs looks again."""
    hopeful = [ranked for ranked in errant[:CAREFUL] if ranked.share >= errant[0].share / 2]
    for ranked in (*hopeful, *ranking[:CAREFUL]):
        if not _gives_away(mind, seat, ranked.move):
            return ranked.move
    return errant[0].move


def _gives_away(mind: Mind, seat: int, move: Move) -> bool:
    """Whether another seat has an answer that ends everything for this one."""
    state = mind.played(mind.imagined(mind.luck()), seat, move, mind.luck())
    mover = mind.mover(state)
    if mover is None or mover[0] == seat:
        return False
    luck = mind.random.getrandbits(64)
    return any(_lost(mind, mind.played(state, mover[0], answer, dice(luck)), seat) for answer in _some(mover[1], mind))


def _some(menu: Menu, mind: Mind) -> Iterator[Move]:
    """All moves; of a menu that is too large for that as many at random."""
    if menus.count(menu) <= MANY:
        return menus.moves(menu)
    return (menus.pick(menu, mind.random.randrange) for _ in range(MANY))


def _lost(mind: Mind, state: Any, seat: int) -> bool:
    """Whether all is over for this seat; asked of the rules, which is quicker than an estimate."""
    own = mind.game.standing(state)[seat]
    return own.out or (own.place or 1) > 1
