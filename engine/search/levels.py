"""The levels of bots: how many positions a bot evaluates, and how often it makes mistakes."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from engine import catalogue
from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.chance import Chance
from engine.game import Game
from engine.menu import Menu, Move
from engine.search.tree import MAX_LISTED_MOVES, Node, Search, grow

Name = Literal["easy", "normal", "strong"]


class Level(Struct, frozen=True):
    """The budget of a bot in positions and in seconds of processor time, and its mistakes.

    `noise` is how much the bot misjudges its moves, `miss_rate` how often it does not see a move.
    """

    evaluations: int
    seconds: float
    noise: float = 0.0
    miss_rate: float = 0.0


LEVELS: dict[str, Level] = {
    "easy": Level(evaluations=0, seconds=1.0, noise=1.1),
    "normal": Level(evaluations=0, seconds=1.0, miss_rate=0.15),
    "strong": Level(evaluations=4_000, seconds=1.5),
}

FIRST_EVALUATIONS, MAX_DEALS = 32, 10  # if there are few moves, each is evaluated in several deals
CERTAIN = 1.0  # the share of a move that wins for sure
# A bot picks any of the moves that are worse than the best by so little: two bots could wait for each other for ever.
SAME_SHARE = 0.002
SAFE_PART = 0.5  # a move with less than this part of the best share is not played for being safe
MIN_SPREAD = 0.01  # noise is at least this large
CHECKED_MOVES = 6  # moves among which a bot that makes mistakes looks for a safe one: it does not lose at once

DEBT_SERIES = 10  # the number of the imagined draws by which debts are found; any number would do
MAX_TURN_MOVES = 4
DEALS_THAT_AGREE = 2  # the next move of a turn is chosen if the menu is the same in this number of deals


class RankedMove(NamedTuple):
    """A move, the share that its seat can expect from it, and how often it was tried."""

    move: Move
    share: float
    visits: int


def choose_move(
    level: Level, game: Game, state: Any, seat: int, seed: int, avoid: Collection[Move] = frozenset()
) -> Move:
    """Return the move of a bot of this level; it depends on the seed and on what the seat may know.

    Moves in `avoid` were refused before; one of them is returned only if there is no other.
    """
    menu = prune_menu(game, state, seat, avoid)
    if menus.count(menu) == 1:
        return next(menus.iter_moves(menu))
    search = Search(game, state, seat, level.evaluations, level.seconds, seed)
    ranking = rank_moves(search, seat, menu)
    ranking = [ranked for ranked in ranking if ranked.move not in avoid] or ranking
    best = ranking[0]
    if best.share >= CERTAIN:
        return best.move
    if level.noise or level.miss_rate:
        considered = _overlook(ranking, level.miss_rate, search.random)
        return _choose_safe(search, seat, _misjudge(considered, level.noise, search.random), ranking)
    first_choice = search.random.choice(_select_equal(ranking))
    return _choose_without_debt(search, seat, [first_choice, *ranking])


def prune_menu(game: Game, state: Any, seat: int, avoid: Collection[Move]) -> Menu:
    """Return the menu without what `prune` of the game leaves out; the whole menu if all the rest was refused."""
    menu = game.menu(state, seat)
    prune = getattr(game, "prune", None)
    pruned: Menu = prune(state, seat, menu) if prune else menu
    has_new_move = any(move not in avoid for move in menus.iter_moves(pruned))
    return pruned if has_new_move else menu


def rank_moves(search: Search, seat: int, menu: Menu) -> list[RankedMove]:
    """Return the moves, the best first by a search within the budget; each one is evaluated at least once."""
    root = Node(seat)
    deals = min(max(FIRST_EVALUATIONS // menus.count(menu), 1), MAX_DEALS)
    root.expand(search, menu, *(search.redeal(search.make_chance()) for _ in range(deals)))
    grow(search, root)
    return [RankedMove(edge.move, edge.compute_average(seat), edge.visits) for edge in root.edges]


def choose_turn(level: Level, game: Game, state: Any, seat: int, seed: int) -> tuple[Move, ...]:
    """Return the moves that a bot makes one after the other, as far as its seat can foresee its next menu.

    For instance a tile, and then the figure on it, before another seat moves or anything is drawn.
    """
    random = Random(seed)  # noqa: S311 - imagined games need no cryptography
    moves = [choose_move(level, game, state, seat, seed)]
    deals = [game.redeal(state, seat, chances.make_from_seed(random.getrandbits(64))) for _ in range(DEALS_THAT_AGREE)]
    while len(moves) < MAX_TURN_MOVES:
        results = [_play_one(game, deal, seat, moves[-1], random.getrandbits(64)) for deal in deals]
        deals = [deal for deal, _ in results]
        next_menus = {menu for _, menu in results}
        if len(next_menus) > 1 or () in next_menus:  # the seat cannot foresee its menu, or has to wait
            break
        moves.append(choose_move(level, game, deals[0], seat, random.getrandbits(64)))
    return tuple(moves)


def _play_one(game: Game, state: Any, seat: int, move: Move, seed: int) -> tuple[Any, Menu]:
    """Return the position after a move and the seat's next menu; an empty one if anything was drawn."""
    chance = chances.make_from_seed(seed)
    after = games.perform(game, state, seat, move, chance).state
    return after, () if chance.draws else game.menu(after, seat)


def _select_equal(ranking: list[RankedMove]) -> list[RankedMove]:
    """Return the moves that are about as good as the first one, and were tried as often."""
    first = ranking[0]
    return [one for one in ranking if one.share >= first.share - SAME_SHARE and one.visits == first.visits]


def _overlook(ranking: list[RankedMove], miss_rate: float, random: Random) -> list[RankedMove]:
    """Return the moves without those that the bot does not see; all of them if none would be left."""
    return [ranked for ranked in ranking if random.random() >= miss_rate] or ranking


def _misjudge(ranking: list[RankedMove], noise: float, random: Random) -> list[RankedMove]:
    """Sort the moves again with errors, in proportion to the difference between a good and a middling move."""
    best, middling = ranking[0], ranking[len(ranking) // 2]
    spread = max(best.share - middling.share, MIN_SPREAD)
    return sorted(ranking, key=lambda ranked: -ranked.share - random.gauss(0, noise * spread))


def _choose_safe(search: Search, seat: int, misjudged: list[RankedMove], ranking: list[RankedMove]) -> Move:
    """Return the best move without debts after which no other seat can win at once, or eliminate this seat.

    The moves of `misjudged` come first, those of `ranking` next; if none of them is safe, only debts are avoided.
    """
    favourite = misjudged[0]
    hopeful = [ranked for ranked in misjudged[:CHECKED_MOVES] if ranked.share >= SAFE_PART * favourite.share]
    for ranked in (*hopeful, *ranking[:CHECKED_MOVES]):
        deal, draws = search.make_chance(), search.make_chance()
        after = _play_without_debt(search, seat, ranked.move, deal, draws)
        if after is not None and not _loses_at_once(search, after, seat):
            return ranked.move
    return _choose_without_debt(search, seat, [favourite, *ranking])


def _choose_without_debt(search: Search, seat: int, ranking: list[RankedMove]) -> Move:
    """Return the first move that does not take the seat's score below 0, or further below; the first if all do."""
    imagined = search.make_chances(DEBT_SERIES)
    for ranked in ranking:
        deal, draws = next(imagined), next(imagined)
        if _play_without_debt(search, seat, ranked.move, deal, draws) is not None:
            return ranked.move
    return ranking[0].move


def _play_without_debt(search: Search, seat: int, move: Move, deal: Chance, draws: Chance) -> Any | None:
    """Return the position after a move; None if the move takes the seat's score below 0 and lower than it is now.

    The score counts at once, and after the rules have gone on: lucky draws must not hide a debt. `deal` imagines what
    the seat cannot know, and `draws` what is drawn.
    """
    game = search.game
    allowed = min(0, search.score)
    state = search.redeal(deal)
    moved = games.fold(game, game.decide(state, seat, move, draws), state)
    after = games.settle(game, moved, first=(), chance=draws).state
    lowest = min(game.standing(one)[seat].score for one in (moved, after))
    return None if lowest < allowed else after


def _loses_at_once(search: Search, state: Any, seat: int) -> bool:
    """Whether another seat has an answer to this position after which this seat has lost."""
    mover = search.find_mover(state)
    if mover is None:  # the game is over: the share of the move says who has won
        return False
    rival, menu = mover
    if rival == seat:  # no other seat can answer
        return False
    seed = search.random.getrandbits(64)
    return any(
        _has_lost(search, search.play(state, rival, answer, chances.make_from_seed(seed)), seat)
        for answer in search.iter_moves(menu, MAX_LISTED_MOVES)
    )


def _has_lost(search: Search, state: Any, seat: int) -> bool:
    """Whether the seat has lost; the rules answer this more quickly than an evaluation."""
    standing = search.game.standing(state)[seat]
    return standing.out or standing.place not in (None, 1)


def think(
    game: str, edition: int, state: object, seat: int, level: Level, seed: bytes, avoid: frozenset[Move] = frozenset()
) -> Move:
    """Return `choose_move` for a game that is given by its name, so that another process can be asked for it."""
    return choose_move(level, catalogue.find(game, edition), state, seat, int.from_bytes(seed, "big"), avoid)


def think_ahead(game: str, edition: int, state: object, seat: int, level: Level, seed: bytes) -> tuple[Move, ...]:
    """Return `choose_turn` for a game that is given by its name, so that another process can be asked for it."""
    return choose_turn(level, catalogue.find(game, edition), state, seat, int.from_bytes(seed, "big"))
