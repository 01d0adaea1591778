"""Simple players that know their game; bots are compared with them."""

from __future__ import annotations

from math import ceil
from random import Random
from typing import Any

from engine import bots, chance, menu
from engine import game as games
from engine.chance import make_from_seed
from engine.games import carcassonne, kaiser
from engine.games.carcassonne import scoring
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.state import count_points_of
from engine.games.kaiser.board import STEPS_TO_CENTRE
from engine.games.kurier.board import VILLAGE_OF, count_roubles
from engine.menu import Move
from tests.engine.matches import Player

FIGURES = {"emperor": 0, "king": 2, "nobleman": 3}


def alpha_beta(depth: int) -> Player:
    """Return a player of Kaiser for two that searches `depth` moves ahead, by figures and the emperors' ways."""
    return lambda game, state, seat, seed: _search(state, depth, -1e9, 1e9, seat, Random(seed))[1]


def _search(state: Any, depth: int, low: float, high: float, seat: int, random: Random) -> tuple[float, Any]:
    """Return the value for the seat on turn, and its best move."""
    best, best_move = -1e9, None
    moves = list(kaiser.menu(state, seat)[0].iter_moves())
    random.shuffle(moves)
    moves.sort(key=lambda move: move.args[1] not in state.stones)
    for move in moves:
        after = games.perform(kaiser, state, seat, move, make_from_seed(0)).state
        if after.places or depth == 1:
            value = _count_material(after, seat) + depth * bool(after.places and after.places[seat] == 1)
        elif after.turn == seat:
            value = _search(after, depth - 1, max(low, best), high, seat, random)[0]
        else:
            value = -_search(after, depth - 1, -high, -max(low, best), 1 - seat, random)[0]
        if value > best:
            best, best_move = value, move
        if best >= high:
            break
    return best, best_move


def _count_material(state: Any, seat: int) -> float:
    if state.places:
        return 1000.0 * (state.places[1 - seat] - state.places[seat])
    value = 0.0
    for place, stone in state.stones.items():
        worth = FIGURES[stone.rank] or -STEPS_TO_CENTRE[place]
        value += worth if stone.seat == seat else -worth
    return value


def greedy_turn(game: Any, state: Any, seat: int, seed: int) -> Move:
    """Choose the tile of Carcassonne with the best points on the table, one whole turn ahead."""
    return _best_turn(state, seat, 2)[1]


def _best_turn(state: Any, seat: int, depth: int) -> tuple[float, Any]:
    best, best_move = -1e9, None
    for move in menu.iter_moves(carcassonne.menu(state, seat)):
        after = games.perform(carcassonne, state, seat, move, make_from_seed(5)).state
        goes_on = after.turn == state.turn and after.work and after.work[-1].step == "figure"
        if depth > 1 and goes_on and carcassonne.menu(after, seat):
            value = _best_turn(after, seat, depth - 1)[0]
        else:
            points = _estimate_points(after)
            value = points[seat] - max(own for other, own in enumerate(points) if other != seat)
        if value > best:
            best, best_move = value, move
    return best, best_move


def _estimate_points(state: Any) -> list[float]:
    """Count the points as if the game ended now, with bonuses for unfinished features and for meeples in hand."""
    rules, seats = get_rules(state.options), range(len(state.track))
    points = [float(count_points_of(state, seat)) for seat in seats]
    for feature in state.features.values():
        if feature.figures:
            value = float(scoring.count_points(state, rules, feature, "final"))
            value *= {"city": 1.4 if feature.open else 1.0, "field": 0.9}.get(feature.kind, 1.0)
            if feature.kind == "cloister":
                value += (9 - value) / 2
            for leader in scoring.find_leaders(state, rules, feature):
                points[leader] += value
    rest = min(1.0, sum(map(len, state.bags)) / len(seats) / 8)
    return [own + rest * 4 * (1 - 0.7 ** state.supply[seat]["meeple"]) for seat, own in enumerate(points)]


def one_ply(game: Any, state: Any, seat: int, seed: int) -> Move:
    """Choose the move of Kurier after which dispatch, purse and couriers are worth most."""
    random = Random(seed)
    deal = game.redeal(state, seat, make_from_seed(seed))

    def value(move: Move) -> float:
        after = games.perform(game, deal, seat, move, make_from_seed(seed)).state
        if after.places:
            return 1000.0 * (after.places[seat] == 1)
        others = [_estimate_progress(after, other) for other in range(len(after.players)) if other != seat]
        return _estimate_progress(after, seat) - sum(others) / len(others) + random.random() / 10

    return max(menu.iter_moves(game.menu(state, seat)), key=value)


def _estimate_progress(state: Any, seat: int) -> float:
    player = state.players[seat]
    money = count_roubles(player.purse + player.secured)
    value = money + (2.0 * count_roubles(state.turned) if seat == state.turn else 0.0)
    value += 50 + 3 * min(money, player.dispatch.price) if player.dispatch.price else 0
    value += 0 if player.dispatch.price else 10 * (1 + VILLAGE_OF[player.dispatch.inn])
    road = (VILLAGE_OF[inn] for inn, guests in state.inns.items() for owner in guests.values() if owner == seat)
    return value + sum(0.5 + 0.3 * village for village in road)


def monte_carlo(tries: int, depth: int = 40, most: int = 24) -> Player:
    """Return a player that tries some moves by random games, each equally often, `tries` times in all."""

    def choose(game: Any, state: Any, seat: int, seed: int) -> Move:
        random, choices = Random(seed), game.menu(state, seat)
        moves = list(menu.iter_moves(choices)) if menu.count(choices) <= most else []
        moves = moves or list(dict.fromkeys(bots.pick_random_move(choices, random) for _ in range(most)))
        worths = dict.fromkeys(moves, 0.0)
        for _ in range(ceil(tries / len(moves)) if len(moves) > 1 else 0):
            for move in moves:
                imagined = chance.make_from_random(random)
                after = games.perform(game, game.redeal(state, seat, imagined), seat, move, imagined).state
                worths[move] += _estimate_share(game.standing(bots.play_random_moves(game, after, random, depth)), seat)
        return max(moves, key=lambda move: worths[move])

    return choose


def _estimate_share(standing: Any, seat: int) -> float:
    own, others = standing[seat], [one for number, one in enumerate(standing) if number != seat]
    if own.place is not None:
        return sum(1.0 if other.place > own.place else 0.5 * (other.place == own.place) for other in others)
    best = max(other.score for other in others)
    return 0.0 if own.out else 0.5 + 0.4 * (own.score - best) / (1 + abs(own.score) + abs(best))
