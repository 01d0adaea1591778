"""Matches between bots, and the rows that `make bots` stores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from engine import catalogue
from tests.bench import bots as long_matches
from tests.bench import match_rows
from tests.bench.bots import Match
from tests.engine.matches import Pair, compute_rate, play_at_random, play_pair

KAISER = Match("kaiser", {}, 2, ("easy", "random"), 0.9)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(match_rows, "ROWS_FILE", tmp_path / "matches.jsonl")
    monkeypatch.setattr(match_rows, "PAGE_FILE", tmp_path / "MATCHES.md")
    return tmp_path


@pytest.fixture
def played_pairs(monkeypatch):
    """Record the pairs that are played; the first player wins the even ones."""
    numbers = list[int]()

    def play(game, chosen, seats, players, number):
        numbers.append(number)
        return Pair(float(number % 2 == 0), 0.5)

    monkeypatch.setattr(long_matches, "play_pair", play)
    monkeypatch.setattr(long_matches, "ProcessPoolExecutor", lambda: ThreadPoolExecutor(1))
    monkeypatch.setattr(long_matches, "matches", lambda: iter([KAISER]))
    return numbers


def test_a_run_continues_after_the_stored_pairs(folder, played_pairs):
    long_matches.main(["2"])
    long_matches.main(["5", "kaiser"])
    assert played_pairs == [0, 1, 2, 3, 4]
    (row,) = match_rows.load_rows()
    assert (row.before, row.won, row.rate.games) == ([1, 0, 1, 0, 1], [0.5] * 5, 10)
    assert f"| {KAISER} | 50.0 ± " in (folder / "MATCHES.md").read_text()


def test_rows_of_other_code_are_stored_and_get_no_more_pairs(folder, played_pairs, monkeypatch):
    long_matches.main(["2"])
    monkeypatch.setattr(long_matches, "hash_code", lambda game: "other")
    long_matches.main(["1"])
    assert played_pairs == [0, 1, 0]
    assert [len(row.won) for row in match_rows.load_rows()] == [2, 1]


def test_a_row_with_the_same_first_pairs_counts_for_the_new_code(folder, played_pairs, monkeypatch):
    long_matches.main(["5"])
    monkeypatch.setattr(long_matches, "hash_code", lambda game: "other")
    long_matches.main(["again", "2"])
    assert played_pairs == [0, 1, 2, 3, 4, 0, 1]
    (row,) = match_rows.load_rows()
    assert (row.code, len(row.won)) == ("other", 5)
    assert "short, 2 pairs the same again at " in (folder / "MATCHES.md").read_text()
    long_matches.main(["6"])
    assert played_pairs[7:] == [5]


def test_a_row_with_other_first_pairs_remains_one_of_older_code(folder, played_pairs, monkeypatch):
    long_matches.main(["3"])
    monkeypatch.setattr(long_matches, "hash_code", lambda game: "other")
    monkeypatch.setattr(long_matches, "play_pair", lambda *_: Pair(1.0, 0.0))
    long_matches.main(["again", "2"])
    assert [(row.code == "other", row.again) for row in match_rows.load_rows()] == [(False, "")]
    assert "older code" in (folder / "MATCHES.md").read_text()


def test_a_row_of_todays_code_is_not_played_again(folder, played_pairs):
    long_matches.main(["3"])
    long_matches.main(["again", "2"])
    assert played_pairs == [0, 1, 2]


def test_a_row_shows_its_missing_rate():
    def get_missing(won, code="now"):
        row = match_rows.Row(str(KAISER), 0.9, "now", won, won, "abc", "2026-01-01")
        return match_rows.format_page([row], {str(KAISER): code}).splitlines()[-1].split(" | ")[5]

    assert get_missing([1.0] * 100) == ""
    assert get_missing([1.0] * 10) == "short"
    assert get_missing([0.0] * 100) == "**missed**"
    assert get_missing([1.0, 0.5], "then") == "**below**, short, older code"


def test_the_code_of_a_game_changes_with_its_files(tmp_path, monkeypatch):
    (tmp_path / "engine/games/kaiser").mkdir(parents=True)
    (tmp_path / "engine/games/kaiser/outlook.py").write_text("1")
    monkeypatch.setattr(match_rows, "ROOT", tmp_path)
    monkeypatch.setattr(match_rows, "PLAYERS", ())
    before = match_rows.hash_code("kaiser")
    assert match_rows.hash_code("kaiser") == before
    (tmp_path / "engine/games/kaiser/outlook.py").write_text("2")
    assert match_rows.hash_code("kaiser") != before


def test_the_interval_is_not_zero_if_all_pairs_are_won():
    few, many = compute_rate([1.0] * 4), compute_rate([1.0] * 100)
    assert few.mean == many.mean == 1.0
    assert few.error > many.error > 0


def play_at_random_too(*position):
    return play_at_random(*position)


def test_equal_players_win_half_of_the_games_though_one_has_two_of_three_seats():
    kaiser = catalogue.find("kaiser")
    pairs = [play_pair(kaiser, {}, 3, (play_at_random, play_at_random_too), number) for number in range(20)]
    assert 0.2 < sum(one.won for one in pairs) / len(pairs) < 0.8
