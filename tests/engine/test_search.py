"""Bots that think: they need only the contract, and know no more than their seat may know."""

from __future__ import annotations

import functools
import time
from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from engine import catalogue, chance, menu, search
from engine import game as games
from engine.chance import make_from_seed
from engine.contract.cases import play_case, sample
from engine.game import Standing
from engine.games import kaiser
from engine.games.kaiser.board import Stone
from engine.menu import Choice, Move, Number, Subset
from engine.search import Level
from engine.search.tree import Search, TurnSearch, evaluate_moves
from tests.engine import highcard
from tests.engine.adversaries import greedy_turn, one_ply
from tests.engine.cases import all_games, make_cases
from tests.engine.ledger import make_variant
from tests.engine.matches import count_positions, make_level_player, play_at_random, play_match
from tests.sampling import one_of

every_game = pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)
# A strong bot thinks as a normal one, for longer.
every_level = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.release] if name == "strong" else []) for name in search.LEVELS],
)
every_case = pytest.mark.parametrize("case", make_cases(), ids=str)

SMALL = Level(30, 60.0)
SEARCHES = [SMALL, Level(0, 60.0, noise=0.5, miss_rate=0.3)]


def deal(hands, cards=1):
    deck = [card for hand in hands for card in hand]
    options = highcard.Options(cards=cards)
    return games.begin(highcard, options, len(hands), chance.make_rigged({"deck": deck}, lambda *_: 0)).state


def iter_choices(case, most):
    """Yield some positions of a game, each with the seats that have a choice."""
    for position in sample(play_case(case, b"a lantern"), most):
        for seat in range(case.seats):
            if menu.count(case.game.menu(position.state, seat)) > 1:
                yield position.state, seat


@every_case
def test_a_choice_is_on_the_menu_and_does_not_depend_on_hidden_things(case):
    """A bot makes the same move with the same seed if the tables look the same to its seat."""
    for number, (state, seat) in enumerate(iter_choices(case, 2)):
        for strength in SEARCHES:
            chosen = search.choose_move(strength, case.game, state, seat, number)
            assert menu.allows(case.game.menu(state, seat), chosen)
            for chance_of_deal in range(2):
                other = case.game.redeal(state, seat, chance.make_from_random(Random(chance_of_deal)))
                assert search.choose_move(strength, case.game, other, seat, number) == chosen


def test_a_bot_uses_only_imagined_deals():
    """The hidden cards are dealt again for its own seat before any move is tried."""
    seats_redealt = []

    def redeal(state, seat, chance_of_deal):
        seats_redealt.append(seat)
        return highcard.redeal(state, seat, chance_of_deal)

    def choice(seed, hidden):
        state = deal([(2, 9, 15), hidden, (4, 5, 6)], cards=3)
        return search.choose_move(Level(200, 60.0), make_variant(highcard, redeal=redeal), state, 0, seed)

    for seed in range(5):
        assert choice(seed, (1, 3, 20)) == choice(seed, (10, 11, 12))
    assert set(seats_redealt) == {0}


def test_a_trick_that_can_be_taken_is_taken():
    """The last seat to play sees the other cards: 19 certainly wins the trick, 2 certainly loses it."""
    state = deal([(10, 11), (2, 19)], cards=2)
    state, _ = games.play(highcard, state, 0, Move("play", ("11",)), chance.make_rigged({}))
    assert {search.choose_move(SMALL, highcard, state, 1, seed) for seed in range(5)} == {Move("play", ("19",))}


def place_figures(turn, **stones):
    """Return a position of Kaiser for two with these figures: `A1="0 emperor"`."""
    state = games.begin(kaiser, kaiser.META.options(), 2, chance.make_rigged({}, lambda *_: 0)).state
    placed = {place: Stone(int(words.split()[0]), words.split()[1]) for place, words in stones.items()}
    return replace(state, stones=placed, turn=turn, opened=(True, True))


@every_level
def test_every_level_takes_a_decisive_move(name):
    state = place_figures(0, A1="0 emperor", A12="0 nobleman", B17="1 emperor", B10="1 nobleman")
    for seed in range(5):
        chosen = search.choose_move(search.LEVELS[name], kaiser, state, 0, seed)
        assert chosen == Move("move", ("A1", "Z"))


@every_level
def test_every_level_prevents_a_defeat_in_one_move(name):
    """The other emperor is next to the fortress: a seat that does not capture it now has lost."""
    state = place_figures(0, A17="0 emperor", A5="0 nobleman", A12="0 nobleman", A1="1 emperor", C10="1 king")
    saving = {
        move
        for move in menu.iter_moves(kaiser.menu(state, 0))
        if games.play(kaiser, state, 0, move, make_from_seed(0)).state.places == (1, 2)
    }
    assert saving
    for seed in range(5):
        assert search.choose_move(search.LEVELS[name], kaiser, state, 0, seed) in saving


def find_deadly_moves(state, seat):
    """Return the moves in Kaiser for two after which the other seat can win at once."""
    shares = set()
    for move in menu.iter_moves(kaiser.menu(state, seat)):
        after = games.play(kaiser, state, seat, move, make_from_seed(0)).state
        answers = [
            games.play(kaiser, after, 1 - seat, reply, make_from_seed(0)).state for reply in list_moves(after, 1 - seat)
        ]
        if any(answer.places and answer.places[seat] == 2 for answer in answers):
            shares.add(move)
    return shares


def list_moves(state, seat):
    return list(menu.iter_moves(kaiser.menu(state, seat)))


@functools.cache
def find_dangerous_positions():
    """Return positions of a game of Kaiser in which some moves lose at once and others do not."""
    case = next(case for case in make_cases() if case.game is kaiser and case.seats == 2)
    states = [position.state for position in play_case(case, b"a lantern")]
    shares = [(state, find_deadly_moves(state, state.turn)) for state in states]
    return [(state, deadly) for state, deadly in shares if deadly and set(list_moves(state, state.turn)) - deadly]


@pytest.mark.parametrize(
    "level",
    [
        *(pytest.param(level, id=name) for name, level in search.LEVELS.items() if name != "strong"),
        pytest.param(search.LEVELS["strong"], marks=pytest.mark.release, id="strong"),
        pytest.param(Level(0, 60.0, miss_rate=0.9), id="blind"),
    ],
)
def test_no_level_makes_a_move_that_loses_at_once(level):
    assert len(find_dangerous_positions()) > 5
    for number, (state, deadly) in enumerate(find_dangerous_positions()):
        assert search.choose_move(level, kaiser, state, state.turn, number) not in deadly


def test_the_only_move_is_chosen_without_a_search():
    state = deal([(7,), (9,)])
    before = time.monotonic()
    assert search.choose_move(Level(10**9, 60.0), highcard, state, 0, 1) == Move("play", ("7",))
    assert time.monotonic() - before < 1


@every_level
def test_a_move_to_avoid_is_chosen_only_if_there_is_no_other(name):
    state = deal([(2, 9, 15), (4, 5, 6)], cards=3)
    moves = set(menu.iter_moves(highcard.menu(state, 0)))
    for left in moves:
        assert search.choose_move(search.LEVELS[name], highcard, state, 0, 1, moves - {left}) == left
    assert search.choose_move(search.LEVELS[name], highcard, state, 0, 1, moves) in moves


@every_game
def test_a_search_keeps_to_its_budget(game):
    """It exceeds the budget by at most one evaluation of a menu."""
    state = games.begin(game, game.META.options(), game.META.seats[0], chance.make_sealed(b"", 0)).state
    seat = next(seat for seat in range(game.META.seats[0]) if game.menu(state, seat))
    searching = Search(game, state, seat, 300, 60.0, 1)
    search.rank_moves(searching, seat, game.menu(state, seat))
    assert 1 <= searching.used_part_of_budget < 1.7


@every_game
def test_the_limit_of_time_ends_a_long_search(game):
    state = games.begin(game, game.META.options(), game.META.seats[0], chance.make_sealed(b"", 0)).state
    seat = next(seat for seat in range(game.META.seats[0]) if game.menu(state, seat))
    before = time.monotonic()
    chosen = search.choose_move(Level(10**9, 0.05), game, state, seat, 1)
    assert menu.allows(game.menu(state, seat), chosen)
    assert time.monotonic() - before < 5


def make_one_move_game(entry, worth):
    """Return a game of one move for two seats, with a given value of each move."""
    return make_variant(
        highcard,
        menu=lambda state, seat: (entry,) if state is None and seat == 0 else (),
        redeal=lambda state, seat, chance_of_deal: state,
        decide=lambda state, seat, move, chance_of_deal: [move],
        upkeep=lambda state, chance_of_deal: None,
        evolve=lambda state, event: event,
        standing=lambda state: (Standing(0), Standing(0)),
        outlook=lambda state: (worth(state.args), 1 - worth(state.args)) if state else (0.5, 0.5),
    )


def test_a_large_subset_is_composed_item_by_item():
    """Nine of thirty cards are 14 million subsets; the nine best are found by a hundred evaluations."""
    items = tuple(map(str, range(30)))
    game = make_one_move_game(Subset("keep", items, 9, 9), lambda args: sum(int(arg) * 7 % 30 for arg in args) / 1000)
    best_items = sorted(items, key=lambda item: -(int(item) * 7 % 30))[:9]
    searching = Search(game, None, 0, 0, 60.0, 1)
    seen = evaluate_moves(searching, None, 0, game.menu(None, 0), 1)
    assert sorted(max(seen, key=lambda move: seen[move][0]).args) == sorted(best_items)
    assert len(seen) < 100
    assert all(menu.allows(game.menu(None, 0), move) for move in seen)


def test_the_best_size_of_a_subset_is_found():
    items = tuple(map(str, range(-12, 12)))
    game = make_one_move_game(Subset("keep", items, 0, 24), lambda args: 0.5 + sum(map(int, args)) / 1000)
    seen = evaluate_moves(Search(game, None, 0, 0, 60.0, 1), None, 0, game.menu(None, 0), 1)
    assert {int(item) for item in max(seen, key=lambda move: seen[move][0]).args} - {0} == set(range(1, 12))


def test_the_best_of_many_numbers_is_found():
    game = make_one_move_game(Number("bid", 1, 100_000), lambda args: 1 / (1 + abs(int(args[0]) - 61_803)))
    seen = evaluate_moves(Search(game, None, 0, 0, 60.0, 1), None, 0, game.menu(None, 0), 1)
    assert abs(int(max(seen, key=lambda move: seen[move][0]).args[0]) - 61_803) <= 1
    assert len(seen) < 200


def test_the_better_half_of_the_moves_is_tried_again():
    game = make_one_move_game(
        Choice("take", tuple((str(number),) for number in range(40))), lambda args: int(args[0]) / 100
    )
    ranking = search.rank_moves(Search(game, None, 0, 4_000, 60.0, 1), 0, game.menu(None, 0))
    assert [int(one.move.args[0]) for one in ranking] == list(range(39, -1, -1))
    visits = [one.visits for one in ranking]
    steps = [visits[0], visits[2], visits[4], visits[8], visits[16]]
    assert visits[:16] == [steps[0]] * 2 + [steps[1]] * 2 + [steps[2]] * 4 + [steps[3]] * 8
    assert steps == sorted(set(steps), reverse=True)
    assert steps[-1] == 0


def test_moves_are_compared_in_the_same_imagined_deals():
    """The deal matters much more than the move: in different deals the best move would be found by chance only."""
    choices = (Choice("take", tuple((str(number),) for number in range(8))),)
    game = make_variant(
        make_one_move_game(choices[0], lambda args: 0.0),
        redeal=lambda state, seat, chance_of_deal: chance_of_deal.roll("deal", 1_000),
        menu=lambda state, seat: () if isinstance(state, tuple) or seat else choices,
        decide=lambda state, seat, move, chance_of_deal: [(state, int(move.args[0]))],
        outlook=lambda state: (share := (state[0] + 20 * (state[1] * 5 % 8)) / 2_000, 1 - share),
    )
    assert {search.choose_move(Level(100, 60.0), game, 0, 0, seed).args for seed in range(20)} == {("3",)}


@pytest.mark.parametrize("budget", range(40, 60))
def test_a_round_that_the_budget_interrupts_is_ignored(budget):
    """Otherwise moves with different numbers of tries would be compared."""
    game = make_one_move_game(
        Choice("take", tuple((str(number),) for number in range(16))), lambda args: int(args[0]) / 100
    )
    first, second, *_ = search.rank_moves(Search(game, None, 0, budget, 60.0, 1), 0, game.menu(None, 0))
    assert first.visits == second.visits > 0


def make_three_seat_game(menu_of, outlook, rounds=4):
    """Return a game for three seats that move in turn; its state is the deal and all moves."""

    def choices(state, seat):
        deal, *moves = state
        going_on = len(moves) < 3 * rounds and len(moves) % 3 == seat
        return (Choice("take", tuple((one,) for one in menu_of(deal, moves))),) if going_on else ()

    return make_variant(
        highcard,
        menu=choices,
        redeal=lambda state, seat, chance_of_deal: (chance_of_deal.roll("deal", 1_000), *state[1:]),
        decide=lambda state, seat, move, chance_of_deal: [move],
        upkeep=lambda state, chance_of_deal: None,
        evolve=lambda state, event: (*state, event.args[0]),
        standing=lambda state: (Standing(0),) * 3,
        outlook=outlook,
    )


def evaluate_bait(state, lost=0.1):
    """Evaluate a position: bait looks good at once, until the last seat of the round strikes."""
    share = lost if "strike" in state else 0.5 if "bait" in state else 0.4
    gain = 0.2 if "strike" in state else 0.0
    return (share, (1 - share - gain) / 2, (1 - share + gain) / 2)


def list_bait_moves(deal, moves):
    """Return the moves: after bait the last seat may strike; the second seat has another answer in every deal."""
    last = ("wait", "strike") if "bait" in moves[-2:] else ("wait",)
    return (("bait", "bread"), (f"wait-{deal}",), last)[len(moves) % 3]


def test_with_three_seats_the_answer_of_the_last_seat_counts():
    game = make_three_seat_game(list_bait_moves, evaluate_bait)
    assert search.choose_move(Level(0, 60.0), game, (0,), 0, 1) == Move("take", ("bait",))
    assert {search.choose_move(Level(200, 60.0), game, (0,), 0, seed) for seed in range(5)} == {
        Move("take", ("bread",))
    }


def test_a_try_is_the_mean_of_its_rounds():
    """After bait the last seat strikes at once; after bread the seat takes bait in the next round, and loses then."""
    turns = TurnSearch(Search(make_three_seat_game(list_bait_moves, evaluate_bait), (0,), 0, 1_000, 60.0, 1), 0, 2)
    assert turns.play_on(Move("take", ("bait",)), 0)[0] == pytest.approx(0.1)
    assert turns.play_on(Move("take", ("bread",)), 0)[0] == pytest.approx((0.5 + 0.1) / 2)


@pytest.mark.parametrize(("moves", "promised"), [(2, (0.5 + 0.1) / 2), (60, 0.5)])
def test_there_is_one_round_only_if_a_round_of_every_move_is_expensive(moves, promised):
    """A round takes about six positions: for two moves a little of the budget, for sixty more than a quarter."""
    turns = TurnSearch(Search(make_three_seat_game(list_bait_moves, evaluate_bait), (0,), 0, 1_000, 60.0, 1), 0, moves)
    for world in range(2):
        assert turns.play_on(Move("take", ("bread",)), world)[0] == pytest.approx(promised)


def test_a_try_ends_if_the_seat_is_out_of_the_game():
    game = make_three_seat_game(list_bait_moves, functools.partial(evaluate_bait, lost=0.0), rounds=1_000)
    searching = Search(game, (0,), 0, 100, 60.0, 1)
    assert TurnSearch(searching, 0, 2).play_on(Move("take", ("bait",)), 0)[0] == 0
    assert searching.used_part_of_budget < 0.1


def test_the_end_of_a_game_counts_for_the_missing_rounds():
    searching = Search(make_three_seat_game(list_bait_moves, evaluate_bait, rounds=1), (0,), 0, 1_000, 60.0, 1)
    assert TurnSearch(searching, 0, 2).play_on(Move("take", ("bait",)), 0)[0] == pytest.approx(0.1)


def test_in_the_same_deal_only_the_best_answers_and_new_ones_are_evaluated_again():
    """Seat 1 has a hundred answers, of which the last is best; after B it has one more, which is better still."""
    answers = tuple(map(str, range(100)))
    game = make_three_seat_game(
        lambda _, moves: ("A", "B") if len(moves) % 3 == 0 else (*answers, *("100" * (moves[-1] == "B")).split()),
        lambda state: ((1 - (share := int(state[2]) / 200)) / 2, share, (1 - share) / 2) if state[2:] else (1 / 3,) * 3,
        rounds=1,
    )
    searching = Search(game, (0,), 0, 10_000, 60.0, 1)
    turns = TurnSearch(searching, 0, 2)
    assert turns.play_on(Move("take", ("A",)), 0)[1] == 99 / 200
    fully = searching.used_part_of_budget
    assert turns.play_on(Move("take", ("B",)), 0)[1] == 100 / 200
    assert searching.used_part_of_budget - fully < fully / 10


@pytest.mark.parametrize("budget", range(60, 80))
def test_a_round_that_the_budget_interrupts_is_ignored_with_three_seats(budget):
    game = make_three_seat_game(list_bait_moves, evaluate_bait)
    first, second = search.rank_moves(Search(game, (0,), 0, budget, 60.0, 1), 0, game.menu((0,), 0))
    assert first.visits == second.visits > 0


def test_a_try_that_the_budget_interrupts_has_no_result():
    turns = TurnSearch(Search(make_three_seat_game(list_bait_moves, evaluate_bait), (0,), 0, 5, 60.0, 1), 0, 2)
    assert turns.play_on(Move("take", ("bread",)), 0) is None


def test_a_bot_with_a_miss_rate_sometimes_overlooks_the_best_move():
    game = make_one_move_game(
        Choice("take", tuple((str(number),) for number in range(4))), lambda args: int(args[0]) / 10
    )
    level = Level(0, 60.0, miss_rate=0.25)
    taken = Counter(search.choose_move(level, game, None, 0, seed).args[0] for seed in range(400))
    assert 260 < taken["3"] < 340
    assert taken["2"] > taken["1"] > taken["0"]


@every_level
def test_equal_moves_are_chosen_at_random(name):
    """Two bots that always chose the same one could wait for each other for ever."""
    game = make_one_move_game(Choice("take", tuple((str(number),) for number in range(4))), lambda args: 0.4)
    assert {search.choose_move(search.LEVELS[name], game, None, 0, seed).args[0] for seed in range(8)} > {"0"}


@pytest.mark.parametrize("number", [4, 10, 12])
def test_two_bots_that_prefer_to_wait_come_to_an_end(number):
    """In Kurier's basic rules two bots could pass their dispatches back and forth; in these games they once did."""
    assert (
        count_positions(catalogue.find("kurier"), {"rules": "basic"}, [make_level_player("normal")] * 2, number) < 200
    )


@pytest.mark.parametrize("level", [*search.LEVELS.values(), Level(0, 60.0, noise=9.0)], ids=[*search.LEVELS, "wild"])
def test_no_level_takes_its_score_below_zero_if_another_move_does_not(level):
    """Revolts of Carcassonne once took easy bots to -16: most moves there cost points."""
    scores = {"0": -2, "1": -4, "2": -3, "3": 0}

    def standing(taken):
        return Standing(scores[taken.args[0]] if taken else 0), Standing(0)

    game = make_one_move_game(Choice("take", tuple((name,) for name in scores)), lambda args: 0.9 - 0.1 * int(args[0]))
    in_debt = make_variant(game, standing=standing)
    chosen = [search.choose_move(level, in_debt, None, 0, seed) for seed in range(10)]
    assert set(chosen) == {Move("take", ("3",))}


def test_every_move_of_a_choice_is_evaluated():
    options = tuple((str(number),) for number in range(300))
    game = make_one_move_game(Choice("take", options), lambda args: float(args == ("217",)))
    assert search.choose_move(Level(0, 0.0), game, None, 0, 1) == Move("take", ("217",))


GATES = [("kaiser", {}), ("carcassonne", {}), ("carcassonne", {"messages": "off"}), ("kurier", {})]


@pytest.mark.parametrize("name", one_of(catalogue.find_all(), "kurier"))
def test_easy_beats_chance(name):
    assert play_easy_against_random(catalogue.find(name), {}, 2) >= 0.6


@pytest.mark.soak
@pytest.mark.parametrize(("name", "chosen"), [*GATES, ("kurier", {"rules": "basic"}), ("turfmaster", {})], ids=str)
def test_easy_beats_chance_in_more_games(name, chosen):
    assert play_easy_against_random(catalogue.find(name), chosen, 5) >= 0.6


def play_easy_against_random(game, chosen, pairs):
    return play_match(game, chosen, min(game.META.seats), (make_level_player("easy"), play_at_random), pairs).mean


@pytest.mark.release
def test_normal_beats_a_greedy_turn_in_carcassonne():
    assert play_match(catalogue.find("carcassonne"), {}, 2, (make_level_player("normal"), greedy_turn), 3).mean >= 0.5


@pytest.mark.release
def test_normal_beats_a_heuristic_of_one_ply_in_kurier():
    assert play_match(catalogue.find("kurier"), {}, 2, (make_level_player("normal"), one_ply), 5).mean >= 0.5
