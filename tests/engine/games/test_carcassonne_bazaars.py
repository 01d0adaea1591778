"""Bazaars, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine.games.carcassonne.boxes.bazaars import MOST_POINTS
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_messages import set_up_messages

BAZAARS = {"bridges_castles": True}
TILES = ["E", "V", "B", "U", "U", "U"]
"""What is drawn: as many of them as there are seats are in the auction."""


def lay_bazaar(seats=2, points=9, tiles=TILES, bag=(), **given):
    """Let seat 0 lay a tile with a bazaar and end its turn; seat 1 is the first to pick."""
    track = ((points,),) * seats
    bag = (*tiles, *bag)
    game = set_up(drawn="BB06", bag=bag, seats=seats, track=track, rig={"tile": tiles}, **BAZAARS, **given)
    return game.play("place 0,1 0", "pass")


def sell_all(game):
    """Let every seat that picks bid nothing, and the others not more."""
    while auction := game.state.auction:
        seat = auction.next_seat
        if not auction.tile:
            game.play(f"{seat}: pick 1")
        else:
            game.play(f"{seat}: bid {'0' if auction.bidder is None else 'nothing'}")
    return game


def list_bought(game):
    return [(event.seat, event.tile) for event in game.find_events("TileBought")]


def test_23_9_a_tile_for_each_seat_is_turned_up_at_the_end_of_the_turn():
    game = lay_bazaar(3)
    assert game.find_events("AuctionBegan")[0].tiles == ("E", "V", "B")
    assert game.find_events("AuctionBegan")[0].seats == (1, 2, 0)
    assert game.menu("pick", 1) == {"1", "2", "3"}
    assert game.menu() == game.menu(seat=2) == []
    assert len(game.state.bags[0]) == 3


def test_23_9_there_is_no_auction_with_fewer_tiles_than_seats():
    game = lay_bazaar(3, tiles=["E", "V"])
    assert not game.find_events("AuctionBegan")
    assert game.state.turn == 1


def test_23_9_it_comes_after_the_second_part_of_a_double_turn_and_only_once():
    builder = ["0 meeple 0,0/road", "0 builder 0,0/road 2"]
    game = set_up(
        (),
        builder,
        drawn="BB11",
        bag=["BB10", *TILES],
        rig={"tile": ["BB10", *TILES]},
        traders_builders=True,
        **BAZAARS,
    )
    game.play("place 1,0 90", "pass", "builder build")
    assert not game.find_events("AuctionBegan")
    game.play(f"place {min(game.menu('place'))}", "pass")
    assert len(game.find_events("AuctionBegan")) == 1
    assert game.state.auction.tiles == ("E", "V")


def test_23_10_the_picker_bids_first_and_each_other_seat_once_and_higher_or_not_at_all():
    game = lay_bazaar(3).play("1: pick 2")
    assert game.menu("bid", 1) == {str(points) for points in range(10)}
    game.play("1: bid 4")
    assert game.menu("bid", 2) == {"5", "6", "7", "8", "9", "nothing"}
    game.play("2: bid 6")
    assert game.menu("bid") == {"7", "8", "9", "nothing"}


def test_case_25_23_10_the_picker_pays_the_highest_bidder_and_takes_the_tile():
    game = lay_bazaar(3).play("1: pick 2", "1: bid 1", "2: bid 3", "bid nothing")
    assert game.menu("deal", 1) == {"buy", "sell"}
    game.play("1: deal buy")
    assert (game.points, game.state.bought) == ([9, 6, 12], ((), ("V",), ()))
    assert game.menu(seat=2) == ["pick"]


def test_23_10_or_sells_it_to_the_highest_bidder_and_picks_again_later():
    game = lay_bazaar(3).play("1: pick 2", "1: bid 1", "2: bid 3", "bid nothing", "1: deal sell")
    assert (game.points, game.state.bought) == ([9, 12, 6], ((), (), ("V",)))
    game.play("pick 1", "bid 0", "1: bid nothing")
    assert list_bought(game) == [(2, "V"), (0, "E"), (1, "B")]


def test_case_26_23_10_a_picker_whose_bid_is_the_highest_pays_it_to_the_bag():
    game = lay_bazaar(3).play("1: pick 1", "1: bid 2", "2: bid nothing", "bid nothing")
    assert (game.points, game.state.bought) == ([9, 7, 9], ((), ("E",), ()))


def test_case_27_23_10_the_last_tile_is_free():
    game = lay_bazaar().play("1: pick 1", "1: bid 0", "bid nothing")
    assert list_bought(game) == [(1, "E"), (0, "V")]
    assert (game.points, game.state.auction) == ([9, 9], None)


def test_23_10_no_player_bids_more_than_there_is_nor_more_than_twenty():
    poor = lay_bazaar(points=0).play("1: pick 1")
    assert [event.points for event in poor.find_events("BidMade")] == [0]
    assert poor.state.auction is None
    assert max(map(int, lay_bazaar(points=40).play("1: pick 1").menu("bid", 1))) == MOST_POINTS == 20


def test_23_10_a_picker_who_cannot_pay_sells():
    game = lay_bazaar(3)
    game.state = replace(game.state, track=((9,), (1,), (9,)))
    game.play("1: pick 1", "1: bid 0", "2: bid 5", "bid nothing")
    assert (game.points, game.state.bought) == ([9, 6, 4], ((), (), ("E",)))


def test_23_11_each_seat_uses_its_tile_in_its_next_turn_instead_of_drawing():
    game = sell_all(lay_bazaar(bag=["U"]))
    assert [event.tile for event in game.find_events("BoughtTileTaken")] == ["E"]
    left = len(game.state.bags[0])
    game.play(f"1: place {min(game.menu('place', 1))}", "1: pass")
    game.play(f"place {min(game.menu('place'))}", "pass")
    assert [event.tile for event in game.find_events("BoughtTileTaken")] == ["E", "V"]
    assert len(game.find_events("TileDrawn")) == 1
    assert len(game.state.bags[0]) == left - 1


def test_23_11_the_game_goes_on_until_the_bought_tiles_are_laid():
    game = sell_all(lay_bazaar(tiles=["E", "V"]))
    assert not game.state.bags
    game.play(f"1: place {min(game.menu('place', 1))}", "1: pass")
    assert not game.over
    assert game.play(f"place {min(game.menu('place'))}", "pass").over


def test_23_11_a_bazaar_on_a_bought_tile_brings_no_auction():
    game = sell_all(lay_bazaar(tiles=["BB10", "BB06", *["U"] * 4]))
    game.play(f"1: place {min(game.menu('place', 1))}", "1: pass")
    assert len(game.find_events("AuctionBegan")) == 1
    assert len(game.find_events("BazaarPlaced")) == 1


def test_23_11_a_bought_tile_that_fits_nowhere_is_replaced_by_one_from_the_bag():
    game = set_up(
        ["A 1,0 90", "A -1,0 270", "E 0,-1 180"],
        drawn="BB06",
        bag=["C", "U", "U", "U"],
        rig={"tile": ["C", "U", "U", "U"]},
        **BAZAARS,
    )
    game.state = replace(game.state, bridges=(0, 0), track=((9,), (9,)))
    sell_all(game.play("place 0,1 0", "pass"))
    assert game.state.aside == ("C",)
    assert game.menu(seat=1)[0] == "place"


def test_23_11_an_abbey_may_come_first_and_the_tile_is_kept():
    hole = ["B 1,1 0", "B -1,1 0", "B 0,2 0"]
    game = set_up(hole, drawn="BB06", bag=TILES, track=((9,), (9,)), rig={"tile": TILES}, abbey_mayor=True, **BAZAARS)
    sell_all(game.play("place 2,1 0", "pass"))
    assert set(game.menu(seat=1)) == {"draw", "abbey"}
    game.play("1: abbey 0,1", "1: pass")
    assert game.state.bought[1] == ("E",)


@pytest.mark.parametrize("figures", ["at_once", "own_turn"])
def test_23_10_with_two_scoring_figures_one_of_them_pays_even_below_zero(figures):
    tracks = ((3, 2), (1, 4))
    game = set_up_messages((), (), drawn="BB06", bag=TILES, track=tracks, figures=figures, **BAZAARS)
    game.play("place 0,1 0", "pass", tile=TILES)
    game.play("1: pick 1", "1: bid 1", "bid 2", "1: deal buy")
    if figures == "at_once":
        game.play("1: score meeple", "score meeple")
        assert game.state.track == ((5, 2), (-1, 4))
    else:
        game.play("score meeple")
        assert game.state.track[0] == (5, 2)
    assert not game.find_events("MessageDrawn")
    assert game.state.moved == ()
