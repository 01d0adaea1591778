"""The story of a game: chances, turning points, and luck that is nothing in the mean."""

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


def played(game, seats, seed):
    """A finished game, entry by entry."""
    return play_on(start_table(game, seats, seed=bytes([seed % 256, seed // 256]) * 16), Random(seed))


def promised(state):
    """High Card judged by what is held and what was won."""
    return [sum(hand) + 10 * points for hand, points in zip(state.hands, state.points, strict=True)]


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)
def test_the_course_shows_the_chances_after_every_move_and_ends_with_the_result(game):
    ledger = played(game, game.META.seats[0], 1)
    told = story.compute_chance_history(game, ledger.entries)
    assert [moment.seq for moment in told] == [entry.seq for entry in ledger.entries if entry.seq >= told[0].seq]
    assert all(isclose(sum(moment.shares), 1) for moment in told)
    assert told[-1].shares == win_shares.evaluate(game, ledger.table.state)


def test_a_story_is_the_same_every_time():
    ledger = played(kurier, 2, 3)
    assert story.make_story(kurier, ledger.entries) == story.make_story(kurier, ledger.entries)


def test_luck_is_nothing_in_the_mean():
    """Games of High Card: what a seat was dealt, less what it could have been dealt."""
    game = make_variant(highcard, outlook=lambda state: win_shares.from_points(promised(state), 20))
    lucks = [story.make_story(game, played(game, 2, number).entries).luck for number in range(60)]
    for luck in zip(*lucks, strict=True):
        assert stdev(luck) > 0.01
        assert abs(fmean(luck)) < 3 * stdev(luck) / sqrt(len(luck))
    assert all(isclose(sum(luck), 0, abs_tol=1e-9) for luck in lucks)


@pytest.mark.parametrize(("looks", "times"), [(10**9, story.MAX_REDRAWS), (1, 1)])
def test_a_story_draws_otherwise_as_often_as_its_looks_allow(monkeypatch, looks, times):
    """A game with many moves and many draws would take minutes, and bots and letters wait for it."""
    ledger, drawn, otherwise = played(kurier, 2, 3), [], story._draw_again
    monkeypatch.setattr(story, "MAX_EVALUATIONS", looks)
    monkeypatch.setattr(
        story, "_draw_again", lambda game, page, seed: drawn.append(page) or otherwise(game, page, seed)
    )
    luck = [moment.luck for moment in story.make_story(kurier, ledger.entries).chance_history if moment.luck]
    assert len(drawn) == times * len(luck)


def test_turning_points_are_the_dearest_mistakes_in_their_order():
    ledger = played(kaiser, 2, 5)
    told = story.make_story(kaiser, ledger.entries).turning_points
    assert 0 < len(told) <= 3
    assert [point.seq for point in told] == sorted(point.seq for point in told)
    for point in told:
        entry = ledger.entries[point.seq]
        assert (entry.seat, entry.move) == (point.seat, point.played)
        assert point.better != point.played
        assert story.MIN_GAIN <= point.gain <= 1


def test_a_move_that_only_looked_better_is_not_told():
    """At a glance another move was better by a third; played on, the one that was made wins more often."""
    pages = list(story._list_steps(kurier, played(kurier, 2, 10).entries))
    looked = [found for page in pages if page.entry.seq == 121 and (found := story._find_mistake(kurier, page))]
    assert looked[0].gain > 0.3
    assert 121 not in [point.seq for point in story._find_turning_points(kurier, pages)]


def test_who_plays_well_makes_fewer_mistakes():
    well, badly = (sum(len(turns(kaiser, name, seed)) for seed in range(2)) for name in ("normal", "random"))
    assert well < badly


def turns(game, name, seed):
    """All moves of a game that another one would have been better than, at a glance."""
    ledger = start_table(game, 2, seed=bytes([seed]) * 32)
    random = Random(seed)
    while ledger.table.phase == "playing":
        seat = next(seat for seat in range(2) if game.menu(ledger.table.state, seat))
        if name == "random":
            move = ledger.pick_move(seat, random)
        else:
            move = search.choose_move(search.LEVELS[name], game, ledger.table.state, seat, random.getrandbits(60))
        ledger.do(seat, move)
    return [page for page in story._list_steps(game, ledger.entries) if story._find_mistake(game, page)]
