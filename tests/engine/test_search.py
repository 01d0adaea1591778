"""Players that need only the contract, and that know no more than a player would."""

from __future__ import annotations

import functools
import time
from collections import Counter
from math import isclose
from random import Random

import pytest
from msgspec.structs import replace

from engine import bots, catalogue, chance, menu, search, win_shares
from engine import game as games
from engine.chance import make_from_seed
from engine.contract.cases import play_case, sample
from engine.game import Standing
from engine.games import kaiser
from engine.games.kaiser.board import Stone
from engine.menu import Choice, Move, Number, Subset
from engine.search import Level
from engine.search.evaluation import Search, evaluate_moves
from engine.search.tree import TurnSearch
from tests.engine import highcard
from tests.engine.adversaries import greedy_turn, one_ply
from tests.engine.cases import all_games, make_cases
from tests.engine.ledger import make_variant
from tests.engine.matches import count_positions, make_level_player, play_at_random, play_match

every_game = pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)
every_case = pytest.mark.parametrize("case", make_cases(), ids=str)

LITTLE = Level(30, 60.0)
SEARCHES = [LITTLE, Level(0, 60.0, noise=0.5, miss_rate=0.3)]


def dealt(hands, cards=1):
    deck = [card for hand in hands for card in hand]
    options = highcard.Options(cards=cards)
    return games.begin(highcard, options, len(hands), chance.make_rigged({"deck": deck}, lambda *_: 0)).state


def movers(case, most):
    """Some positions of a game, each with the seats that may move."""
    for position in sample(play_case(case, b"a lantern"), most):
        for seat in range(case.seats):
            if menu.count(case.game.menu(position.state, seat)) > 1:
                yield position.state, seat


@every_case
def test_an_outlook_shares_the_victory_out(case):
    for position in sample(play_case(case, b"a lantern"), 30):
        found = win_shares.evaluate(case.game, position.state)
        assert len(found) == case.seats
        assert all(0 <= share <= 1 for share in found)
        assert isclose(sum(found), 1)


@every_game
def test_an_outlook_at_the_end_is_the_result(game):
    for _, _, state, _ in bots.playout(game, game.META.options(), game.META.seats[0], b"an end"):
        last = state
    places = [one.place for one in game.standing(last)]
    found = win_shares.evaluate(game, last)
    assert [share > 0 for share in found] == [place == 1 for place in places]


@every_case
def test_a_choice_is_on_the_menu_and_hangs_on_nothing_hidden(case):
    """From the same seed a bot moves alike at all tables that look alike to its seat."""
    for number, (state, seat) in enumerate(movers(case, 2)):
        for strength in SEARCHES:
            chosen = search.choose_move(strength, case.game, state, seat, number)
            assert menu.allows(case.game.menu(state, seat), chosen)
            for luck in range(2):
                other = case.game.redeal(state, seat, chance.make_from_random(Random(luck)))
                assert search.choose_move(strength, case.game, other, seat, number) == chosen


def test_a_bot_sees_nothing_but_imagined_deals():
    """Whatever it plays on in its head has been dealt anew for its own seat first."""
    looked = []

    def redeal(state, seat, luck):
        looked.append(seat)
        return highcard.redeal(state, seat, luck)

    def choice(seed, hidden):
        state = dealt([(2, 9, 15), hidden, (4, 5, 6)], cards=3)
        return search.choose_move(Level(200, 60.0), make_variant(highcard, redeal=redeal), state, 0, seed)

    for seed in range(5):
        assert choice(seed, (1, 3, 20)) == choice(seed, (10, 11, 12))
    assert set(looked) == {0}


def test_a_trick_that_can_be_taken_is_taken():
    """The last to play sees what lies there: 19 wins the trick for sure, 2 loses it for sure."""
    state = dealt([(10, 11), (2, 19)], cards=2)
    state, _ = games.play(highcard, state, 0, Move("play", ("11",)), chance.make_rigged({}))
    assert {search.choose_move(LITTLE, highcard, state, 1, seed) for seed in range(5)} == {Move("play", ("19",))}


def stand(turn, **stones):
    """Kaiser for two with these figures: `A1="0 emperor"`."""
    state = games.begin(kaiser, kaiser.META.options(), 2, chance.make_rigged({}, lambda *_: 0)).state
    placed = {place: Stone(int(words.split()[0]), words.split()[1]) for place, words in stones.items()}
    return replace(state, stones=placed, turn=turn, opened=(True, True))


@pytest.mark.parametrize("name", search.LEVELS)
def test_every_level_takes_a_decisive_move(name):
    state = stand(0, A1="0 emperor", A12="0 nobleman", B17="1 emperor", B10="1 nobleman")
    for seed in range(5):
        chosen = search.choose_move(search.LEVELS[name], kaiser, state, 0, seed)
        assert chosen == Move("move", ("A1", "Z"))


@pytest.mark.parametrize("name", search.LEVELS)
def test_no_level_gives_the_game_away_in_one_move(name):
    """The other emperor stands before the fortress: a seat that does not capture him now has lost."""
    state = stand(0, A17="0 emperor", A5="0 nobleman", A12="0 nobleman", A1="1 emperor", C10="1 king")
    saving = {
        move
        for move in menu.iter_moves(kaiser.menu(state, 0))
        if games.play(kaiser, state, 0, move, make_from_seed(0)).state.places == (1, 2)
    }
    assert saving
    for seed in range(5):
        assert search.choose_move(search.LEVELS[name], kaiser, state, 0, seed) in saving


def deadly_moves(state, seat):
    """The moves in Kaiser for two after which the other one can win at once."""
    found = set()
    for move in menu.iter_moves(kaiser.menu(state, seat)):
        after = games.play(kaiser, state, seat, move, make_from_seed(0)).state
        answers = [
            games.play(kaiser, after, 1 - seat, reply, make_from_seed(0)).state for reply in replies(after, 1 - seat)
        ]
        if any(answer.places and answer.places[seat] == 2 for answer in answers):
            found.add(move)
    return found


def replies(state, seat):
    return list(menu.iter_moves(kaiser.menu(state, seat)))


@functools.cache
def dangers():
    """Positions of a game of Kaiser where some moves lose at once and others do not."""
    case = next(case for case in make_cases() if case.game is kaiser and case.seats == 2)
    states = [position.state for position in play_case(case, b"a lantern")]
    found = [(state, deadly_moves(state, state.turn)) for state in states]
    return [(state, deadly) for state, deadly in found if deadly and set(replies(state, state.turn)) - deadly]


@pytest.mark.parametrize(
    "level", [*search.LEVELS.values(), Level(0, 60.0, miss_rate=0.9)], ids=[*search.LEVELS, "blind"]
)
def test_no_level_walks_into_a_defeat_in_one_move(level):
    assert len(dangers()) > 5
    for number, (state, deadly) in enumerate(dangers()):
        assert search.choose_move(level, kaiser, state, state.turn, number) not in deadly


def test_with_one_move_there_is_nothing_to_think_about():
    state = dealt([(7,), (9,)])
    before = time.monotonic()
    assert search.choose_move(Level(10**9, 60.0), highcard, state, 0, 1) == Move("play", ("7",))
    assert time.monotonic() - before < 1


@pytest.mark.parametrize("name", search.LEVELS)
def test_what_was_tried_in_vain_is_made_only_where_there_is_nothing_else(name):
    state = dealt([(2, 9, 15), (4, 5, 6)], cards=3)
    moves = set(menu.iter_moves(highcard.menu(state, 0)))
    for left in moves:
        assert search.choose_move(search.LEVELS[name], highcard, state, 0, 1, moves - {left}) == left
    assert search.choose_move(search.LEVELS[name], highcard, state, 0, 1, moves) in moves


@every_game
def test_a_budget_is_kept(game):
    """What is spent beyond it is one look at a menu, at most."""
    state = games.begin(game, game.META.options(), game.META.seats[0], chance.make_sealed(b"", 0)).state
    seat = next(seat for seat in range(game.META.seats[0]) if game.menu(state, seat))
    searching = Search(game, state, seat, 300, 60.0, 1)
    search.rank_moves(searching, seat, game.menu(state, seat))
    assert 1 <= searching.used_budget < 1.7


@every_game
def test_the_cap_in_time_ends_a_long_thought(game):
    state = games.begin(game, game.META.options(), game.META.seats[0], chance.make_sealed(b"", 0)).state
    seat = next(seat for seat in range(game.META.seats[0]) if game.menu(state, seat))
    before = time.monotonic()
    chosen = search.choose_move(Level(10**9, 0.05), game, state, seat, 1)
    assert menu.allows(game.menu(state, seat), chosen)
    assert time.monotonic() - before < 5


def weighing(entry, worth):
    """A game for two of one move, whose worth a test decides."""
    return make_variant(
        highcard,
        menu=lambda state, seat: (entry,) if state is None and seat == 0 else (),
        redeal=lambda state, seat, luck: state,
        decide=lambda state, seat, move, luck: [move],
        upkeep=lambda state, luck: None,
        evolve=lambda state, event: event,
        standing=lambda state: (Standing(0), Standing(0)),
        outlook=lambda state: (worth(state.args), 1 - worth(state.args)) if state else (0.5, 0.5),
    )


def test_a_large_subset_is_put_together_item_by_item():
    """Nine of thirty cards are 14 million subsets; the nine best are found after a hundred looks."""
    items = tuple(map(str, range(30)))
    game = weighing(Subset("keep", items, 9, 9), lambda args: sum(int(arg) * 7 % 30 for arg in args) / 1000)
    wanted = sorted(items, key=lambda item: -(int(item) * 7 % 30))[:9]
    searching = Search(game, None, 0, 0, 60.0, 1)
    seen = evaluate_moves(searching, None, 0, game.menu(None, 0), 1)
    assert sorted(max(seen, key=lambda move: seen[move][0]).args) == sorted(wanted)
    assert len(seen) < 100
    assert all(menu.allows(game.menu(None, 0), move) for move in seen)


def test_a_subset_of_any_size_finds_its_size():
    items = tuple(map(str, range(-12, 12)))
    game = weighing(Subset("keep", items, 0, 24), lambda args: 0.5 + sum(map(int, args)) / 1000)
    seen = evaluate_moves(Search(game, None, 0, 0, 60.0, 1), None, 0, game.menu(None, 0), 1)
    assert {int(item) for item in max(seen, key=lambda move: seen[move][0]).args} - {0} == set(range(1, 12))


def test_a_large_number_is_closed_in_on():
    game = weighing(Number("bid", 1, 100_000), lambda args: 1 / (1 + abs(int(args[0]) - 61_803)))
    seen = evaluate_moves(Search(game, None, 0, 0, 60.0, 1), None, 0, game.menu(None, 0), 1)
    assert abs(int(max(seen, key=lambda move: seen[move][0]).args[0]) - 61_803) <= 1
    assert len(seen) < 200


def test_the_better_half_is_tried_on_again_and_again():
    game = weighing(Choice("take", tuple((str(number),) for number in range(40))), lambda args: int(args[0]) / 100)
    ranking = search.rank_moves(Search(game, None, 0, 4_000, 60.0, 1), 0, game.menu(None, 0))
    assert [int(one.move.args[0]) for one in ranking] == list(range(39, -1, -1))
    visits = [one.visits for one in ranking]
    steps = [visits[0], visits[2], visits[4], visits[8], visits[16]]
    assert visits[:16] == [steps[0]] * 2 + [steps[1]] * 2 + [steps[2]] * 4 + [steps[3]] * 8
    assert steps == sorted(set(steps), reverse=True)
    assert steps[-1] == 0


def test_moves_are_held_against_each_other_in_the_same_imagined_worlds():
    """What is dealt decides far more than the move; in worlds of its own the best move would be found by chance."""
    offered = (Choice("take", tuple((str(number),) for number in range(8))),)
    game = make_variant(
        weighing(offered[0], lambda args: 0.0),
        redeal=lambda state, seat, luck: luck.roll("deal", 1_000),
        menu=lambda state, seat: () if isinstance(state, tuple) or seat else offered,
        decide=lambda state, seat, move, luck: [(state, int(move.args[0]))],
        outlook=lambda state: (share := (state[0] + 20 * (state[1] * 5 % 8)) / 2_000, 1 - share),
    )
    assert {search.choose_move(Level(100, 60.0), game, 0, 0, seed).args for seed in range(20)} == {("3",)}


@pytest.mark.parametrize("budget", range(40, 60))
def test_a_round_that_the_budget_breaks_off_tells_nothing(budget):
    """Who had been tried once more would be held against who had not."""
    game = weighing(Choice("take", tuple((str(number),) for number in range(16))), lambda args: int(args[0]) / 100)
    first, second, *_ = search.rank_moves(Search(game, None, 0, budget, 60.0, 1), 0, game.menu(None, 0))
    assert first.visits == second.visits > 0


def in_turn(menu_of, outlook, rounds=4):
    """A game for three who move in turn; its state is what was dealt, and all moves since."""

    def offered(state, seat):
        dealt, *moves = state
        going_on = len(moves) < 3 * rounds and len(moves) % 3 == seat
        return (Choice("take", tuple((one,) for one in menu_of(dealt, moves))),) if going_on else ()

    return make_variant(
        highcard,
        menu=offered,
        redeal=lambda state, seat, luck: (luck.roll("deal", 1_000), *state[1:]),
        decide=lambda state, seat, move, luck: [move],
        upkeep=lambda state, luck: None,
        evolve=lambda state, event: (*state, event.args[0]),
        standing=lambda state: (Standing(0),) * 3,
        outlook=outlook,
    )


def struck(state, lost=0.1):
    """Bait looks well at once; but then who moves last in the round strikes."""
    share = lost if "strike" in state else 0.5 if "bait" in state else 0.4
    gain = 0.2 if "strike" in state else 0.0
    return (share, (1 - share - gain) / 2, (1 - share + gain) / 2)


def last_strikes(dealt, moves):
    """Who took bait may be struck by the last; the one between has another answer in every world."""
    last = ("wait", "strike") if "bait" in moves[-2:] else ("wait",)
    return (("bait", "bread"), (f"wait-{dealt}",), last)[len(moves) % 3]


def test_with_three_seats_the_answer_of_the_last_one_counts():
    game = in_turn(last_strikes, struck)
    assert search.choose_move(Level(0, 60.0), game, (0,), 0, 1) == Move("take", ("bait",))
    assert {search.choose_move(Level(200, 60.0), game, (0,), 0, seed) for seed in range(5)} == {
        Move("take", ("bread",))
    }


def test_a_try_is_the_mean_of_its_rounds():
    """After bait comes a strike at once; after bread one is tempted by bait in the next round, and struck then."""
    turns = TurnSearch(Search(in_turn(last_strikes, struck), (0,), 0, 1_000, 60.0, 1), 0, 2)
    assert turns.play_on(Move("take", ("bait",)), 0)[0] == pytest.approx(0.1)
    assert turns.play_on(Move("take", ("bread",)), 0)[0] == pytest.approx((0.5 + 0.1) / 2)


@pytest.mark.parametrize(("moves", "promised"), [(2, (0.5 + 0.1) / 2), (60, 0.5)])
def test_where_one_round_of_every_move_is_dear_there_is_no_second(moves, promised):
    """A round takes some six positions: of two moves a little of the budget, of sixty more than a quarter."""
    turns = TurnSearch(Search(in_turn(last_strikes, struck), (0,), 0, 1_000, 60.0, 1), 0, moves)
    for world in range(2):
        assert turns.play_on(Move("take", ("bread",)), world)[0] == pytest.approx(promised)


def test_a_try_ends_for_who_is_out_of_the_game():
    game = in_turn(last_strikes, functools.partial(struck, lost=0.0), rounds=1_000)
    searching = Search(game, (0,), 0, 100, 60.0, 1)
    assert TurnSearch(searching, 0, 2).play_on(Move("take", ("bait",)), 0)[0] == 0
    assert searching.used_budget < 0.1


def test_a_game_that_ends_on_the_way_counts_for_the_rounds_that_are_missing():
    searching = Search(in_turn(last_strikes, struck, rounds=1), (0,), 0, 1_000, 60.0, 1)
    assert TurnSearch(searching, 0, 2).play_on(Move("take", ("bait",)), 0)[0] == pytest.approx(0.1)


def test_in_a_known_world_only_the_best_answers_and_new_ones_are_looked_at():
    """Seat 1 has a hundred answers, of which the last is best; after B there is one more, which is better still."""
    answers = tuple(map(str, range(100)))
    game = in_turn(
        lambda _, moves: ("A", "B") if len(moves) % 3 == 0 else (*answers, *("100" * (moves[-1] == "B")).split()),
        lambda state: ((1 - (share := int(state[2]) / 200)) / 2, share, (1 - share) / 2) if state[2:] else (1 / 3,) * 3,
        rounds=1,
    )
    searching = Search(game, (0,), 0, 10_000, 60.0, 1)
    turns = TurnSearch(searching, 0, 2)
    assert turns.play_on(Move("take", ("A",)), 0)[1] == 99 / 200
    fully = searching.used_budget
    assert turns.play_on(Move("take", ("B",)), 0)[1] == 100 / 200
    assert searching.used_budget - fully < fully / 10


@pytest.mark.parametrize("budget", range(60, 80))
def test_with_three_seats_too_a_round_that_the_budget_breaks_off_tells_nothing(budget):
    game = in_turn(last_strikes, struck)
    first, second = search.rank_moves(Search(game, (0,), 0, budget, 60.0, 1), 0, game.menu((0,), 0))
    assert first.visits == second.visits > 0


def test_a_try_that_the_budget_breaks_off_comes_to_nothing():
    turns = TurnSearch(Search(in_turn(last_strikes, struck), (0,), 0, 5, 60.0, 1), 0, 2)
    assert turns.play_on(Move("take", ("bread",)), 0) is None


def test_who_is_blind_overlooks_the_best_move_now_and_then():
    game = weighing(Choice("take", tuple((str(number),) for number in range(4))), lambda args: int(args[0]) / 10)
    blind = Level(0, 60.0, miss_rate=0.25)
    taken = Counter(search.choose_move(blind, game, None, 0, seed).args[0] for seed in range(400))
    assert 260 < taken["3"] < 340
    assert taken["2"] > taken["1"] > taken["0"]


@pytest.mark.parametrize("name", search.LEVELS)
def test_of_moves_alike_not_always_the_same_is_made(name):
    """A bot that always made the same of them could wait for ever for one that waits too."""
    game = weighing(Choice("take", tuple((str(number),) for number in range(4))), lambda args: 0.4)
    assert {search.choose_move(search.LEVELS[name], game, None, 0, seed).args[0] for seed in range(30)} > {"0"}


@pytest.mark.parametrize("number", [4, 10, 12])
def test_two_bots_that_would_rather_wait_come_to_an_end(number):
    """In Kurier's basic rules each may hand its own dispatch to and fro; in these games both once did so for ever."""
    assert (
        count_positions(catalogue.find("kurier"), {"rules": "basic"}, [make_level_player("normal")] * 2, number) < 200
    )


def test_every_move_of_a_choice_is_looked_at():
    options = tuple((str(number),) for number in range(300))
    game = weighing(Choice("take", options), lambda args: float(args == ("217",)))
    assert search.choose_move(Level(0, 0.0), game, None, 0, 1) == Move("take", ("217",))


@pytest.mark.parametrize(
    ("standing", "found"),
    [
        ((Standing(5, place=1), Standing(9, place=2), Standing(1, place=3)), (1.0, 0.0, 0.0)),
        ((Standing(5, place=1), Standing(5, place=1), Standing(1, place=3)), (0.5, 0.5, 0.0)),
        ((Standing(5, out=True), Standing(0)), (0.0, 1.0)),
        ((Standing(3), Standing(3)), (0.5, 0.5)),
    ],
)
def test_how_good_a_standing_looks(standing, found):
    assert win_shares.evaluate(make_variant(highcard, standing=lambda state: standing), None) == found


def test_more_points_look_better_but_never_as_good_as_a_win():
    looks = [
        win_shares.evaluate(
            make_variant(highcard, standing=lambda state, score=score: (Standing(score), Standing(5))), None
        )[0]
        for score in range(-10, 50)
    ]
    assert all(0 < look < 1 for look in looks)
    assert looks[15:] == sorted(looks[15:])


def test_imagined_dice_are_fair():
    rolls = [(make_from_seed(seed).roll("die", 6), make_from_seed(seed).roll("die", 6)) for seed in range(10)]
    assert all(one == other for one, other in rolls)
    counts = [0] * 36
    for seed in range(36_000):
        luck = make_from_seed(Random(seed).getrandbits(64))
        counts[6 * luck.roll("die", 6) + luck.roll("die", 6) - 7] += 1
    assert 850 < min(counts) <= max(counts) < 1150


GATES = [("kaiser", {}), ("carcassonne", {}), ("carcassonne", {"messages": "off"}), ("kurier", {})]


@pytest.mark.parametrize("game", catalogue.find_all().values(), ids=lambda game: game.META.name)
def test_easy_beats_chance(game):
    assert easy_against_chance(game, {}, 2) >= 0.6


@pytest.mark.soak
@pytest.mark.parametrize(("name", "chosen"), [*GATES, ("kurier", {"rules": "basic"}), ("turfmaster", {})], ids=str)
def test_easy_beats_chance_in_more_games(name, chosen):
    assert easy_against_chance(catalogue.find(name), chosen, 5) >= 0.6


def easy_against_chance(game, chosen, pairs):
    return play_match(game, chosen, min(game.META.seats), (make_level_player("easy"), play_at_random), pairs).mean


def test_normal_beats_a_greedy_turn_in_carcassonne():
    assert play_match(catalogue.find("carcassonne"), {}, 2, (make_level_player("normal"), greedy_turn), 3).mean >= 0.5


def test_normal_beats_a_heuristic_of_one_ply_in_kurier():
    assert play_match(catalogue.find("kurier"), {}, 2, (make_level_player("normal"), one_ply), 5).mean >= 0.5
