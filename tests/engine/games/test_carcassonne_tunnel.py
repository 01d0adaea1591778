"""The Tunnel, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine.games import carcassonne
from engine.games.carcassonne.boxes.tunnel import PAIR_NAMES
from engine.games.carcassonne.tiles import count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import BUILDER, count_tiles

TUNNEL = {"tunnel": True}
LAND = ["A -1,0 270", "TU2 1,0 0", "A 2,0 90", "TU3 5,5 0", "A 6,5 90", "A 5,6 180"]
"""The road of the start tile ends at the west opening of `1,0`; three more roads end at openings."""


def dig(*moves, land=LAND, figures=(), **given):
    return set_up(land, figures, drawn="B", **TUNNEL, **given).play("place 0,1 0", "pass", *moves)


def tunnels(game):
    return carcassonne.view(game.state, None).tunnels


def test_29_1_four_tiles_with_eleven_openings():
    assert count_tiles(tunnel=True).total() == 72 + 4
    assert sum(str(tile).count("tunnel") for tile in count_tiles_of("tunnel")) == 0
    assert len(dig(land=["TU1 3,3 0", "TU2 5,5 0", "TU3 7,7 0", "TU4 9,9 0"]).menu("tunnel")) == 3 + 2 + 2 + 3 + 1


@pytest.mark.parametrize(("seats", "pairs"), [(2, 3), (3, 2), (4, 1), (5, 1)])
def test_29_1_the_pairs_of_a_player(seats, pairs):
    for used in range(pairs + 1):
        game = set_up(LAND, drawn="B", seats=seats, **TUNNEL)
        both = {f"{end},9/road": (0, PAIR_NAMES[end // 2]) for end in range(2 * used)}
        game.state = replace(game.state, tunnels=both)
        offered = {args.split()[1] for args in game.play("place 0,1 0", "pass").menu("tunnel") if " " in args}
        assert offered == set(PAIR_NAMES[used : used + 1] if used < pairs else ())


def test_29_2_an_own_token_is_placed_besides_a_figure_on_any_free_opening():
    game = set_up(LAND, drawn="A", **TUNNEL).play("place 0,1 0", "figure meeple cloister")
    free = ["1,0/road-E", "5,5/road-E", "5,5/road-S"]
    assert game.menu("tunnel") == {"later", "1,0/road-W first", *(f"{place} first" for place in free)}
    game.play("tunnel 1,0/road-W first")
    assert tunnels(game) == {"1,0/road-W": (0, "first")}
    game.play("1: place 0,2 90", "1: pass")
    assert game.menu("tunnel", seat=1) == {"later", *(f"{place} first" for place in free)}


def test_29_2_without_a_free_opening_there_is_no_question():
    assert dig(land=["U 1,0 0"]).menu(seat=1) == ["place"]


def test_29_3_two_tokens_of_a_pair_join_the_roads_which_may_complete_them_far_away():
    game = dig("tunnel 1,0/road-W first", figures=["1 meeple -1,0/road"])
    assert game.points == [0, 0]
    game.play("1: place 0,2 0", "1: pass", "1: tunnel later", "place 0,3 0", "pass", "tunnel 5,5/road-E first")
    assert game.points == [0, 3 + 2]
    assert [event.other for event in game.find_events("TunnelDug")] == ["", "1,0/road-W"]


def test_29_3_tokens_of_different_pairs_join_nothing():
    game = dig("tunnel 1,0/road-W first", figures=["1 meeple -1,0/road"])
    game.play("1: place 0,2 0", "1: pass", "1: tunnel 5,5/road-E first")
    assert game.points == [0, 0]


def test_29_3_two_openings_of_one_tile_count_the_tile_once():
    game = dig("tunnel 1,0/road-W first", figures=["0 meeple -1,0/road"])
    game.play("1: place 0,2 0", "1: pass", "1: tunnel later", "place 0,3 0", "pass", "tunnel 1,0/road-E first")
    assert game.points == [4, 0]


def test_29_3_a_double_turn_has_one_token():
    land = ["U 1,0 0", "TU2 5,5 0"]
    game = set_up(land, BUILDER, rig={"tile": ["U", "U", "U"]}, traders_builders=True, **TUNNEL)
    game.play("place 2,0 0", "pass", "tunnel 5,5/road-E first", "builder build", "place 3,0 0", "pass")
    assert game.menu(seat=1) == ["place"]
    later = set_up(land, BUILDER, rig={"tile": ["U", "U", "U"]}, traders_builders=True, **TUNNEL)
    later.play("place 2,0 0", "pass", "tunnel later", "builder build", "place 3,0 0", "pass")
    assert later.menu() == ["tunnel"]


def test_29_4_an_opening_without_its_partner_leaves_the_road_unfinished_at_the_end():
    game = set_up(["TU2 1,0 0"], ["0 meeple 0,0/road"], drawn="U", bag=(), **TUNNEL).play("place 0,1 0", "pass")
    assert game.play("tunnel 1,0/road-W first").points == [2, 0]
