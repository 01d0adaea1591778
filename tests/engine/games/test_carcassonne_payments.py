"""Bots and payments: no level bids more than a tile is worth, and none takes its points below 0."""

import pytest
from msgspec.structs import replace

from engine import bots, options, search
from engine import game as games
from engine.chance import make_rigged
from engine.games import carcassonne
from engine.games.carcassonne.boxes.bazaars import NO_BID, value_tile
from engine.games.carcassonne.land import replace_figure
from engine.games.carcassonne.state import find_figure
from engine.search import LEVELS, Level
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_bazaars import lay_bazaar
from tests.sampling import one_of

FEW_POSITIONS = 300
"""The positions of a strong bot in these games: with 4,000 a game takes minutes."""
MUCH_NOISE = Level(0, 1.0, noise=50.0)
"""The budget of a bot whose judgement is worth nothing."""
PAYING_BOXES = ("bathhouses", "revolts", "tower", "bridges_castles")
OTHER_BOXES = ("count", "darmstadt", "king_robber", "leipzig", "plague", "princess_dragon", "tunnel", "wheel")


def choose_by(level):
    return lambda game, state, seat, _, random: search.choose_move(level, game, state, seat, random.getrandbits(64))


def play_games(level, seats, count, **boxes):
    """Yield the state and the events of every move of so many games."""
    chosen = options.parse(carcassonne.META.options, {"messages": False, **boxes})
    for number in range(count):
        for _, _, state, events in bots.play_out(carcassonne, chosen, seats, b"payments %d" % number, choose_by(level)):
            yield state, events


def list_prices(events):
    bought = [event for event in events if type(event).__name__ == "TileBought"]
    return [-event.awards[0].points if event.awards else 0 for event in bought]


@pytest.mark.parametrize("level", [*LEVELS.values(), MUCH_NOISE])
@pytest.mark.parametrize("ahead", [0, 300])
def test_23_10_a_bot_bids_no_more_than_the_tile_is_worth(level, ahead):
    """Also where the game is decided, so that every bid leads to the same share of the victory."""
    level = replace(level, evaluations=min(level.evaluations, FEW_POSITIONS))
    game = lay_bazaar(3, points=40)
    game.state = replace(game.state, track=((40 + ahead,), (40,), (40,)))
    game.play("1: pick 1")
    worth = value_tile(game.state, "E", 1)
    moves = [search.choose_move(level, carcassonne, game.state, 1, seed) for seed in range(8)]
    assert max(int(move.args[0]) for move in moves) <= worth < 4


@pytest.mark.parametrize("level", [*LEVELS.values(), MUCH_NOISE])
def test_23_10_a_bot_neither_bids_higher_nor_buys_above_the_worth_of_the_tile(level):
    level = replace(level, evaluations=min(level.evaluations, FEW_POSITIONS))
    game = lay_bazaar(3, points=40).play("1: pick 1", "1: bid 9")
    assert {search.choose_move(level, carcassonne, game.state, 2, seed).args for seed in range(8)} == {(NO_BID,)}
    game.play("2: bid 15", "bid nothing")
    assert {search.choose_move(level, carcassonne, game.state, 1, seed).args for seed in range(8)} == {("sell",)}


def test_a_player_is_still_offered_every_bid():
    game = lay_bazaar(3, points=40).play("1: pick 1")
    offered = carcassonne.menu(game.state, 1)
    assert offered[0].count() == 21
    assert 0 < carcassonne.prune(game.state, 1, offered)[0].count() < 5
    assert carcassonne.prune(game.state, 0, ()) == ()


def test_23_10_a_tile_that_continues_a_feature_of_the_seat_is_worth_more():
    mine = set_up((), ["0 meeple 0,0/city"], bridges_castles=True).state
    other = set_up((), ["1 meeple 0,0/city"], bridges_castles=True).state
    assert value_tile(mine, "E", 0) > value_tile(other, "E", 0) == value_tile(mine, "E", 1)


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_does_not_count_on_draws_that_would_pay_its_debt(level):
    """All tiles to come are revolts, in which the protected knight brings what it costs to protect the robber."""
    revolts = ["RV01", "RV05", "RV06", "RV10"]
    meeples = ["0 meeple 0,0/city", "0 meeple 0,0/road"]
    game = set_up((), meeples, drawn="B", bag=revolts, track=((1,), (90,)), revolts=True)
    knight = find_figure(game.state, "0,0/city")
    game.state = replace_figure(game.state, knight, replace(knight, protected=True))
    game.play("place 0,1 0")
    budget = replace(LEVELS[level], evaluations=min(LEVELS[level].evaluations, FEW_POSITIONS))
    for seed in range(20):
        move = search.choose_move(budget, carcassonne, game.state, 0, seed)
        paid = games.fold(carcassonne, carcassonne.decide(game.state, 0, move, make_rigged({})), game.state)
        assert paid.track[0][0] >= 0, move


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("level", "count"), [("easy", 50), ("normal", 50), ("strong", 12)])
@pytest.mark.parametrize("box", [*PAYING_BOXES, *OTHER_BOXES])
def test_bots_do_not_pay_themselves_to_ruin(box, level, count):
    budget = replace(LEVELS[level], evaluations=min(LEVELS[level].evaluations, FEW_POSITIONS))
    for state, events in play_games(budget, 2, count, **{box: True}):
        assert min(sum(steps) for steps in state.track) >= 0
        assert max(list_prices(events), default=0) <= 3


@pytest.mark.parametrize("level", one_of(["easy", "normal"], "easy"))
@pytest.mark.parametrize("count", one_of([1, len(PAYING_BOXES)], 1))
def test_no_bot_is_below_zero_in_a_game_in_which_bots_pay(count, level):
    payments = 0
    for box in PAYING_BOXES[-count:]:
        for state, events in play_games(LEVELS[level], 3, 1, **{box: True}):
            assert min(sum(steps) for steps in state.track) >= 0
            payments += sum(award.points < 0 for event in events for award in getattr(event, "awards", ()))
    assert payments
