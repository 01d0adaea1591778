"""The Messages, paragraph by paragraph of the book."""

import pytest
from msgspec.structs import replace

from engine import chance, options
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne.boxes.messages import Pile
from tests.engine.games.carcassonne_table import set_up

CITY = "place 0,-1 180"


def set_up_messages(*args, track=((0, 0), (0, 0)), message=(), **given):
    """Return a game with messages, which are drawn in this order."""
    return set_up(*args, messages=True, track=track, rig={"message": list(message)}, **given)


def complete_city(track, **given):
    """Let seat 0 complete a city of four points, with its scoring figures on these spaces."""
    return set_up_messages(drawn="E", track=(track, (0, 0)), **given).play(CITY, "figure meeple city")


def draw_message(number, tiles=(), meeples=(), **given):
    """Let seat 0 draw this message after completing a city of two tiles."""
    game = complete_city((1, 3), message=[number], tiles=tiles, meeples=meeples, **given).play("score meeple")
    assert carcassonne.view(game.state, None).message == number
    return game


def test_5_1_everybody_has_two_scoring_figures():
    rigged = chance.make_rigged({"start player": [0], "tile": ["U"]})
    state = games.begin(carcassonne, options.parse(carcassonne.META.options, {}), 3, rigged).state
    assert carcassonne.view(state, None).track == ((0, 0),) * 3


def test_5_2_a_whole_award_moves_one_figure_and_its_owner_chooses():
    game = complete_city((1, 2))
    assert game.menu("score") == {"meeple", "woman"}
    assert game.play("score woman").state.track[0] == (1, 6)
    tiles, figures = ["A -1,0 270", "A 1,1 180"], ["0 meeple -1,0/road", "0 meeple 1,1/road"]
    two = set_up_messages(tiles, figures, drawn="W").play("place 1,0 0", "pass", "score woman", "score meeple")
    assert two.state.track[0] == (3, 2)


def test_5_3_points_on_anothers_turn_are_settled_at_once_or_when_the_own_turn_begins():
    figures = ["1 meeple 0,0/city"]
    at_once = set_up_messages(meeples=figures, drawn="E").play(CITY, "pass")
    assert at_once.menu("score", seat=1) == {"meeple", "woman"}
    assert at_once.play("1: score woman").menu(seat=1) == ["place"]
    later = set_up_messages(meeples=figures, drawn="E", seats=3, track=((0, 0),) * 3, figures="own_turn")
    later.play(CITY, "pass")
    assert later.menu(seat=1) == ["score"]
    assert later.state.turn == 1


def test_5_3_with_own_turn_the_table_plays_on_and_the_points_count_already():
    game = set_up_messages(meeples=["2 meeple 0,0/city"], drawn="E", seats=3, track=((0, 0),) * 3, figures="own_turn")
    game.play(CITY, "pass")
    assert game.menu(seat=1) == ["place"]
    assert game.points == [0, 0, 4]
    game.play("1: place 1,0 0", "1: pass")
    assert game.menu(seat=2) == ["score"]
    assert game.play("2: score meeple").state.track[2] == (4, 0)
    assert game.menu(seat=2) == ["place"]


def test_5_3_points_of_another_turn_never_bring_a_message():
    game = set_up_messages(meeples=["1 meeple 0,0/city"], drawn="E", track=((0, 0), (1, 1)), figures="own_turn")
    game.play(CITY, "pass", "1: score meeple")
    assert game.state.track[1] == (5, 1)
    assert game.menu(seat=1) == ["place"]
    assert not game.find_events("MessageDrawn")


def test_5_3_points_not_settled_when_the_game_ends_are_added():
    game = set_up_messages(meeples=["1 meeple 0,0/city"], drawn="E", track=((0, 0), (3, 2)), bag=(), figures="own_turn")
    assert game.play(CITY, "pass").over
    assert game.points == [0, 9]


@pytest.mark.parametrize(("start", "drawn"), [(1, True), (46, True), (0, False), (2, False)])
def test_5_4_a_figure_that_moved_onto_a_dark_space_brings_a_message(start, drawn):
    game = complete_city((start, 0), message=[5]).play("score meeple")
    assert bool(game.find_events("MessageDrawn")) == drawn
    assert game.menu() == (["message"] if drawn else [])


def test_5_4_only_the_end_of_the_round_matters():
    tiles, figures = ["A -1,0 270", "A 1,1 180"], ["0 meeple -1,0/road", "0 meeple 1,1/road"]
    through = set_up_messages(tiles, figures, drawn="W", track=((2, 0), (0, 0))).play("place 1,0 0", "pass")
    assert not through.play("score meeple", "score meeple").find_events("MessageDrawn")
    onto = set_up_messages(tiles, figures, drawn="W", track=((0, 0), (0, 0)), message=[5]).play("place 1,0 0", "pass")
    assert len(onto.play("score meeple", "score meeple").find_events("MessageDrawn")) == 1


def test_5_5_one_message_a_round_and_none_on_anothers_turn():
    tiles, figures = ["A -1,0 270", "A 1,1 180"], ["0 meeple -1,0/road", "0 meeple 1,1/road"]
    both = set_up_messages(tiles, figures, drawn="W", track=((2, 3), (0, 0)), message=[5])
    both.play("place 1,0 0", "pass", "score woman", "score meeple", "message points", "score meeple")
    assert both.state.track[0] == (7, 5)
    assert len(both.find_events("MessageDrawn")) == 1
    other = set_up_messages(meeples=["1 meeple 0,0/city"], drawn="E", track=((0, 0), (1, 0)))
    other.play(CITY, "pass", "1: score meeple", "1: place 1,0 0", "1: pass")
    assert other.state.track[1] == (5, 0)
    assert not other.find_events("MessageDrawn")


def test_5_6_a_message_is_performed_or_traded_for_two_points():
    game = draw_message(5, ["F 0,1 0"], ["0 meeple 0,1/city"])
    assert game.menu("message") == {"perform", "points"}
    traded = game.play("message points", "score meeple")
    assert traded.state.track[0] == (7, 3)


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6, 7, 8])
def test_5_6_without_anything_it_could_be_about_only_the_points_are_left(number):
    assert draw_message(number, without_target="points_only").menu("message") == {"points"}


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6, 7])
def test_5_6_as_printed_a_message_about_nothing_may_be_performed_for_nothing(number):
    game = draw_message(number)
    assert game.menu("message") == {"perform", "points"}
    assert game.play("message perform").find_events("MessagePerformed")[0].points == 0
    assert game.menu(seat=1) == ["place"]
    assert draw_message(number, edition=1).menu("message") == {"points"}


def test_5_6_message_8_without_a_meeple_is_only_traded():
    assert draw_message(8).menu("message") == {"points"}


def test_5_6_message_4_needs_a_tile():
    assert draw_message(4, bag=()).menu("message") == {"points"}
    assert draw_message(4).menu("message") == {"perform", "points"}


def test_5_7_a_tile_goes_under_the_stack_and_returns_in_order():
    game = draw_message(5).play("message points", "score meeple")
    assert game.state.pile == Pile((1, 2, 3, 4, 6, 7, 8), (5,))
    again = draw_message(5)
    again.state = replace(again.state, pile=Pile((), (3, 1, 2, 4, 6, 7, 8)))
    again.play("message points", "score woman")
    assert [event.number for event in again.find_events("MessageDrawn")] == [5, 3]


def test_5_7_message_4_goes_under_after_those_drawn_in_its_turn():
    game = complete_city((1, 2), message=[4, 5], tiles=["A -1,0 270"], bag=("A", "U")).play("score meeple")
    game.play("message perform", tile=["A"]).play("place 1,0 90", "figure meeple road", "score woman")
    assert game.play("message points", "score meeple").state.pile.seen == (5, 4)


def test_5_8_in_a_chain_the_next_message_must_or_may_be_drawn():
    chain = {"track": (1, 3), "message": [5, 7], "chains": "may"}
    game = complete_city(**chain).play("score meeple", "message points", "score woman")
    assert game.menu("message") == {"draw", "leave"}
    left = complete_city(**chain).play("score meeple", "message points", "score woman", "message leave")
    assert left.menu(seat=1) == ["place"]
    assert left.state.pile.seen == (5,)
    assert carcassonne.view(game.play("message draw").state, None).message == 7


def test_5_9_a_complete_feature_that_is_not_scored_yet_counts_as_complete():
    land, figures = ["E* 5,5 0"], ["0 abbot 5,5/garden", "0 meeple 0,0/city"]
    for number, move in ((2, "message perform"), (8, "message perform 0,0/city")):
        game = set_up_messages(land, figures, track=((4, 0), (0, 0)), drawn="E", message=[number], abbot=True)
        game.play(CITY, "recall 5,5/garden", "score meeple", move)
        assert game.find_events("MessagePerformed")[0].points == 4
        game.play("score woman")
        assert len(game.find_events("FeatureScored")) == (number == 2)


def test_5_8_points_from_a_message_can_bring_the_next():
    game = complete_city((1, 3), message=[5, 7]).play("score meeple", "message points", "score woman")
    assert [event.number for event in game.find_events("MessageDrawn")] == [5, 7]
    game.play("message points", "score woman")
    assert game.state.track[0] == (5, 7)
    assert len(game.find_events("MessageDrawn")) == 2


def test_5_9_message_1_counts_the_shortest_road_with_a_meeple_in_the_lead_or_not():
    tiles = ["U 1,0 0", "V 0,1 270", "V 0,2 180", "U 1,2 0"]
    figures = ["0 meeple 1,0/road", "0 meeple 0,1/road", "1 meeple 0,2/road", "1 meeple 1,2/road"]
    game = draw_message(1, tiles, figures).play("message perform")
    assert game.state.owed[0].points == 2
    assert len(carcassonne.view(game.state, 0).figures) == 4


def test_5_9_message_2_counts_the_smallest_city():
    tiles, figures = ["F 0,1 0", "E 1,2 0"], ["0 meeple 0,1/city", "0 meeple 1,2/city"]
    assert draw_message(2, tiles, figures).play("message perform").state.owed[0].points == 1


def test_5_9_message_3_counts_the_smallest_cloister_and_no_garden():
    tiles, figures = ["B 0,1 0", "B 0,2 0", "B 1,2 0"], ["0 meeple 0,1/cloister", "0 meeple 1,2/cloister"]
    assert draw_message(3, tiles, figures).play("message perform").state.owed[0].points == 3
    garden = draw_message(3, ["U* 0,1 0"], ["0 abbot 0,1/garden"], abbot=True)
    assert garden.play("message perform").find_events("MessagePerformed")[0].points == 0
    abbot = draw_message(3, ["B 0,1 0"], ["0 abbot 0,1/cloister"], abbot=True)
    assert abbot.menu("message") == {"perform", "points"}


def test_5_10_message_4_is_a_whole_turn_and_the_next_turn_stays_whose_it_was():
    game = draw_message(4, ["A -1,0 270"], bag=("A", "U")).play("message perform", tile=["A"])
    assert game.play("place 1,0 90").menu() == ["figure", "pass"]
    game.play("figure meeple road", "score woman")
    assert game.state.track[0] == (5, 6)
    assert game.menu(seat=1) == ["place"]


def test_5_10_where_no_tile_fits_any_more_the_interrupted_turn_goes_on():
    game = draw_message(4, bag=("C",)).play("message perform", tile=["C"])
    names = [type(event).__name__ for event in game.events]
    after = names[names.index("MessagePerformed") + 1 :]
    assert after[:4] == ["TileDrawn", "TileSetAside", "PartEnded", "MessageReturned"]
    assert game.over


def test_5_11_message_5_pays_two_for_each_shield_and_each_city_once():
    tiles, figures = ["F 0,1 0", "M 1,1 0"], ["0 meeple 0,1/city", "0 meeple 1,1/city", "1 meeple 1,1/city"]
    assert draw_message(5, tiles, figures[:1]).play("message perform").state.owed[0].points == 4
    assert draw_message(5, tiles, figures[:2]).play("message perform").state.owed[0].points == 4


def test_5_12_message_6_pays_two_for_each_knight():
    tiles, figures = ["F 0,1 0", "E 1,2 0"], ["0 meeple 0,1/city", "0 meeple 1,2/city", "1 meeple 1,2/city"]
    game = draw_message(6, tiles, [*figures, "0 meeple 0,0/road"]).play("message perform")
    assert game.state.owed[0].points == 4
    assert len(carcassonne.view(game.state, 0).figures) == 4


def test_5_13_message_7_pays_two_for_each_farmer():
    figures = ["0 meeple 0,0/field-ene", "0 meeple 0,0/field-ese", "1 meeple 0,0/field-ese", "0 meeple 0,0/road"]
    assert draw_message(7, (), figures).play("message perform").state.owed[0].points == 4


def test_5_14_message_8_counts_one_feature_for_the_drawer_and_takes_one_meeple_back():
    tiles, figures = ["U 1,0 0"], ["0 meeple 0,0/road", "0 meeple 1,0/road", "1 meeple 0,0/field-ese"]
    game = draw_message(8, tiles, figures)
    assert game.menu("message") == {"points", "perform 0,0/road", "perform 1,0/road"}
    game.play("message perform 1,0/road")
    assert [(award.seat, award.points) for award in game.state.owed] == [(0, 2)]
    assert [figure.place for figure in carcassonne.view(game.state, 0).figures] == ["0,0/road", "0,0/field-ese"]


def test_5_14_a_level_lead_is_enough_and_without_it_there_is_nothing_but_the_meeple():
    tiles = ["U 1,0 0", "U 2,0 0"]
    level = draw_message(8, tiles, ["0 meeple 0,0/road", "1 meeple 1,0/road"]).play("message perform")
    assert [(award.seat, award.points) for award in level.state.owed] == [(0, 3)]
    figures = ["0 meeple 0,0/road", "1 meeple 1,0/road", "1 meeple 2,0/road"]
    behind = draw_message(8, tiles, figures).play("message perform")
    assert behind.points == [8, 0]
    assert behind.state.supply[0]["meeple"] == 7
    assert len(carcassonne.view(behind.state, 0).figures) == 2
    assert behind.state.pile.seen == (8,)


def test_5_14_without_the_lead_the_fairy_brings_nothing_either():
    tiles, figures = ["U 1,0 0", "U 2,0 0"], ["0 meeple 0,0/road", "1 meeple 1,0/road", "1 meeple 2,0/road"]
    game = set_up_messages(tiles, figures, track=((4, 0), (0, 0)), fairy=True, message=[8])
    game.play("place 0,1 0", "fairy 0,0/road", "1: place 0,2 0", "1: pass", "score meeple", "message perform")
    assert game.find_events("MessagePerformed")[0].points == 0
    assert game.state.track[0] == (5, 0)


def test_5_15_a_knight_just_scored_does_not_count():
    game = draw_message(6, ["F 0,1 0"], ["0 meeple 0,1/city"]).play("message perform")
    assert game.state.owed[0].points == 2


def test_5_16_an_award_of_nothing_moves_no_figure():
    unfinished = draw_message(1, ["I15 1,0 0"], ["0 meeple 1,0/road"], inns_cathedrals=True).play("message perform")
    assert unfinished.state.track[0] == (5, 3)
    assert len(unfinished.find_events("MessageDrawn")) == 1
    assert unfinished.menu(seat=1) == ["place"]


def test_5_17_at_the_end_both_figures_are_added_and_no_message_comes():
    game = set_up_messages(meeples=["0 meeple 0,0/city"], track=((4, 10), (0, 0)), bag=()).play("place 1,0 0", "pass")
    assert game.over
    assert game.points == [15, 0]
    assert carcassonne.view(game.state, 0).track == ((15,), (0,))
    assert not game.find_events("MessageDrawn")


def test_5_18_a_message_in_the_middle_of_a_turn_takes_none_of_its_steps():
    tiles, figures = ["B 0,1 0", "B -1,1 0"], ["0 abbot 0,1/cloister", "1 meeple 0,0/city"]
    game = set_up_messages(tiles, figures, drawn="E", track=((2, 0), (0, 0)), abbot=True, message=[4])
    game.play(CITY, "recall 0,1/cloister", "score meeple", "message perform")
    assert not game.find_events("FeatureScored")
    game.play("place 1,0 0", "pass")
    assert [event.kind for event in game.find_events("FeatureScored")] == ["city"]
    assert game.play("1: score woman").state.track[1] == (0, 4)
    assert game.menu(seat=1) == ["place"]


def test_5_19_after_the_last_tile_messages_are_still_drawn():
    game = draw_message(5, ["F 0,1 0"], ["0 meeple 0,1/city"], bag=())
    assert not game.over
    assert game.play("message perform", "score meeple").over
