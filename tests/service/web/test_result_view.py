"""The bars at the end of a game, and where the points in them came from."""

from __future__ import annotations

from engine.game import Standing
from service.text.drawing import list_players
from service.web.result_view import list_results


def test_a_bar_stays_inside_its_frame_although_a_source_cost_points() -> None:
    sources = [{"cities": 50, "protection": -10}, {"cities": 30}]
    standing = [Standing(40, place=1), Standing(30, place=2)]
    anna, bert = list_results(list_players(("Anna", "Bert")), standing, sources, [(1, 0), (2, 1)], 0, str)
    assert [(share.x, share.width) for share in (*anna.shares, *bert.shares)] == [(0, 100), (0, 60)]
    assert [(line.word, line.points) for line in anna.sources] == [("cities", 50), ("protection", -10)]
