"""The story of a game: the history of chances, turning points, and luck whose mean is 0."""

from __future__ import annotations

from math import isclose, sqrt
from random import Random
from statistics import fmean, stdev

import pytest

from engine import search, story, win_shares
from engine.games import kaiser, kurier
from tests.engine import highcard
from tests.engine.cases import all_games
from tests.engine.ledger import make_variant, play_on, start_table


def play_game(game, seats, seed):
    """Play a whole game at random."""
    return play_on(start_table(game, seats, seed=bytes([seed % 256, seed // 256]) * 16), Random(seed))


def estimate(state):
    """Evaluate High Card by the cards in hand and the points."""
    return [sum(hand) + 10 * points for hand, points in zip(state.hands, state.points, strict=True)]


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)
def test_the_history_has_the_chances_after_every_move_and_ends_with_the_result(game):
    ledger = play_game(game, game.META.seats[0], 1)
    chances = story.compute_chance_history(game, ledger.entries)
    assert [moment.seq for moment in chances] == [entry.seq for entry in ledger.entries if entry.seq >= chances[0].seq]
    assert all(isclose(sum(moment.shares), 1) for moment in chances)
    assert chances[-1].shares == win_shares.evaluate(game, ledger.table.state)


def test_a_story_is_the_same_every_time():
    with_draws = make_variant(highcard, outlook=lambda state: win_shares.from_points(estimate(state), 20))
    for game in (kaiser, with_draws):
        ledger = play_game(game, 2, 5)
        assert story.make_story(game, ledger.entries) == story.make_story(game, ledger.entries)


def test_the_mean_of_luck_is_zero(monkeypatch):
    """In High Card, the luck of a seat is the value of its hand, less that of other hands."""
    game = make_variant(highcard, outlook=lambda state: win_shares.from_points(estimate(state), 20))
    monkeypatch.setattr(story, "_find_turning_points", lambda *_: ())  # they have no luck
    lucks = [story.make_story(game, play_game(game, 2, number).entries).luck for number in range(30)]
    for lucks_of_seat in zip(*lucks, strict=True):
        assert stdev(lucks_of_seat) > 0.01
        assert abs(fmean(lucks_of_seat)) < 3 * stdev(lucks_of_seat) / sqrt(len(lucks_of_seat))
    assert all(isclose(sum(lucks_of_seat), 0, abs_tol=1e-9) for lucks_of_seat in lucks)


@pytest.mark.parametrize(("evaluations", "times"), [(10**9, story.MAX_REDRAWS), (1, 1)])
def test_an_entry_is_drawn_again_as_often_as_the_evaluations_allow(monkeypatch, evaluations, times):
    """Otherwise a game with many moves and draws would take minutes, while bots and letters wait."""
    ledger, drawn, draw_again = play_game(kurier, 2, 3), [], story._draw_again
    monkeypatch.setattr(story, "MAX_EVALUATIONS", evaluations)
    monkeypatch.setattr(story, "_find_turning_points", lambda *_: ())  # they are found without redraws
    monkeypatch.setattr(story, "_draw_again", lambda game, one, seed: drawn.append(one) or draw_again(game, one, seed))
    lucks_of_seat = [moment.luck for moment in story.make_story(kurier, ledger.entries).chance_history if moment.luck]
    assert len(drawn) == times * len(lucks_of_seat)


def test_turning_points_are_the_worst_mistakes_in_their_order():
    ledger = play_game(kaiser, 2, 5)
    points = story.make_story(kaiser, ledger.entries).turning_points
    assert 0 < len(points) <= 3
    assert [point.seq for point in points] == sorted(point.seq for point in points)
    for point in points:
        entry = ledger.entries[point.seq]
        assert (entry.seat, entry.move) == (point.seat, point.played)
        assert point.better != point.played
        assert story.MIN_GAIN <= point.gain <= 1


def test_a_move_that_only_looked_better_is_no_turning_point():
    """By a first evaluation another move was better by a third; by a deeper search the made move is better."""
    transitions = list(story._iter_transitions(kurier, play_game(kurier, 2, 10).entries))
    mistakes = [
        mistake for one in transitions if one.entry.seq == 121 and (mistake := story._find_mistake(kurier, one))
    ]
    assert mistakes[0].gain > 0.3
    assert 121 not in [point.seq for point in story._find_turning_points(kurier, transitions)]


def test_a_good_player_makes_fewer_mistakes():
    well, badly = (sum(len(find_mistakes(kaiser, name, seed)) for seed in range(2)) for name in ("normal", "random"))
    assert well < badly


def find_mistakes(game, name, seed):
    """Return the moves of a game that are mistakes by a first evaluation."""
    ledger = start_table(game, 2, seed=bytes([seed]) * 32)
    random = Random(seed)
    while ledger.table.phase == "playing":
        seat = next(seat for seat in range(2) if game.menu(ledger.table.state, seat))
        if name == "random":
            move = ledger.pick_move(seat, random)
        else:
            move = search.choose_move(search.LEVELS[name], game, ledger.table.state, seat, random.getrandbits(60))
        ledger.do(seat, move)
    return [one for one in story._iter_transitions(game, ledger.entries) if story._find_mistake(game, one)]
