"""King & Robber Baron and the churches of Darmstadt, paragraph by paragraph of the book."""

from msgspec.structs import replace

from engine.games import carcassonne
from engine.games.carcassonne.tiles import PIECES, count_tiles_of
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_boxes import count_tiles
from tests.engine.games.test_carcassonne_messages import draw_message

TITLES = {"king_robber": True}
CHURCH = {"darmstadt": True}
ROAD = ["A -1,0 270", "U 1,0 0"]
AROUND = ["A 0,1 0", "B -1,1 0", "B 1,1 0", "A -1,2 270", "B -1,3 0", "B 0,3 0", "B 1,3 0"]


def titles(game):
    return carcassonne.view(game.state, None).titles


def set_titles(game, **held):
    game.state = replace(game.state, titles=held)
    return game


def test_25_1_five_tiles_with_one_garden():
    assert count_tiles(king_robber=True).total() == 72 + 5 == 72 + sum(count_tiles_of("king_robber").values())
    assert count_tiles(king_robber=True, abbot=True)["KR2*"] == 1


def test_25_2_the_titles_go_to_the_seat_that_completes_and_not_to_the_owner():
    city = [f"G 0,{y} 90" for y in (-1, -2, -3, -4)]
    game = set_up(city, ["1 meeple 0,0/city"], drawn="E", **TITLES).play("place 0,-5 180", "pass")
    assert game.points == [0, 12]
    assert titles(game) == {"king": (0, 6)}
    assert titles(set_up(ROAD, drawn="A", **TITLES).play("place 2,0 90", "pass")) == {"baron": (0, 4)}


def test_25_2_a_title_needs_a_larger_feature_than_that_of_its_holder():
    level = set_titles(set_up(ROAD, drawn="A", **TITLES), baron=(1, 4)).play("place 2,0 90", "pass")
    assert titles(level) == {"baron": (1, 4)}
    assert level.find_events("TitleTaken") == []
    assert titles(set_titles(set_up(ROAD, drawn="A", **TITLES), baron=(1, 3)).play("place 2,0 90", "pass")) == {
        "baron": (0, 4)
    }


def test_25_3_at_the_end_each_completed_city_and_road_brings_a_point():
    land = [*ROAD, "A 2,0 90", "E 0,-1 180"]
    game = set_titles(set_up(land, drawn="V", bag=(), **TITLES), king=(0, 2), baron=(1, 4)).play(
        "place 1,-1 180", "pass"
    )
    assert [event.awards for event in game.find_events("BonusCounted")] != []
    assert game.points == [1, 1]


def test_25_3_untaken_titles_bring_nothing():
    assert set_up(drawn="V", bag=(), **TITLES).play("place 0,1 0", "pass").points == [0, 0]


def test_26_1_three_tiles_and_two_churches():
    assert count_tiles(darmstadt=True).total() == 72 + 3
    assert [tile for tile in count_tiles_of("darmstadt") if "church" in str(PIECES[tile][0].segments)] == ["DA2", "DA3"]


def test_26_2_the_darmstadtium_pays_three_more_when_its_city_is_complete():
    city, knight = ["DA1 0,-1 0", "E -1,-1 90", "E 1,-1 270"], ["0 meeple 0,0/city"]
    complete = set_up(city, knight, drawn="E", **CHURCH).play("place 0,-2 180", "pass")
    assert complete.points == [2 * 5 + 3, 0]
    assert set_up(city[:2], knight, bag=(), **CHURCH).play("place 0,1 0", "pass").points == [3, 0]


def complete_church(*figures, church="DA3 0,2 180", **given):
    """Seat 0 lays the last tile round a church that is two cells below the start tile."""
    return set_up([*AROUND, church], figures, drawn="B", **CHURCH, **given).play("place 1,2 0", "pass")


def test_26_3_a_completed_church_pays_the_most_meeples_on_and_round_it():
    own = ["0 meeple 0,2/cloister", "0 meeple -1,1/cloister", "0 meeple -1,3/cloister"]
    assert complete_church(*own, "1 meeple 1,1/cloister").points == [12, 0]
    assert complete_church("1 meeple 1,1/cloister").points == [0, 3]
    assert complete_church("1 meeple 1,1/cloister", "0 meeple 1,3/cloister").points == [3, 3]
    assert complete_church().points == [0, 0]
    assert complete_church("1 meeple 0,2/cloister").points == [0, 9 + 3]


def test_26_3_meeples_that_go_home_by_the_same_tile_still_count():
    figures = ["0 meeple 0,2/cloister", "1 meeple 0,1/road", "1 meeple -1,1/cloister"]
    land = [*(tile for tile in AROUND if tile != "A -1,2 270"), "B -1,2 0", "DA3 0,2 270"]
    game = set_up(land, figures, drawn="A", **CHURCH).play("place 1,2 90", "pass")
    assert game.points == [9, 3 + 3]


def test_26_3_an_unfinished_church_has_no_bonus():
    game = set_up([*AROUND[:-1], "DA3 0,2 180"], ["0 meeple 0,2/cloister"], drawn="V", bag=(), **CHURCH)
    assert game.play("place 1,0 90", "pass").points == [7, 0]


def test_26_3_the_bonus_is_an_award_of_its_own_after_the_nine():
    game = complete_church("0 meeple 0,2/cloister", messages=True)
    game.play("score woman", "score woman")
    assert [event.award.points for event in game.find_events("ScorerMoved")] == [9, 3]
    assert game.state.track[0] == (0, 12)


def test_26_4_message_3_counts_a_church():
    land = ["DA3 0,1 0", "B -1,1 0", "B -1,2 0", "B 1,2 0"]
    game = draw_message(3, land, ["0 meeple 0,1/cloister"], **CHURCH).play("message perform")
    assert game.find_events("MessagePerformed")[0].points == 5
