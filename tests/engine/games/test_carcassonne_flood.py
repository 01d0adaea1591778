"""Random games of Carcassonne, scored a second time by code that finds every feature from the tiles."""

import pytest

from engine import bots, options
from engine.games import carcassonne
from tests.engine.games.carcassonne_flood import Count
from tests.engine.games.carcassonne_flood_castles import CastleCount

BOXES = {
    "base": {},
    "inns": {"inns_cathedrals": True},
    "traders": {"traders_builders": True},
    "abbot on the river": {"abbot": True, "river": True},
    "all": {"inns_cathedrals": True, "traders_builders": True, "abbot": True, "river": True},
}


FIRST_BOXES = ("inns_cathedrals", "traders_builders", "abbot", "river")
MORE_BOXES = ("wind_roses", "watchtowers", "hills_sheep", "big_top", "besiegers", "cathars", "shrines", "monasteries")
MORE_BOXES = (*MORE_BOXES, "abbey_mayor", "fruit_trees", "tollkeepers", "king_robber", "darmstadt", "revolts", "tunnel")
LATER_BOXES = {
    "wind roses": {"wind_roses": True},
    "wind roses by the river": {"wind_roses": True, "river": True, "traders_builders": True},
    "watchtowers": {"watchtowers": True, "inns_cathedrals": True},
    "big top": {"big_top": True, "abbot": True},
    "hills": {"hills_sheep": True},
    "siege": {"besiegers": True, "cathars": True, "traders_builders": True, "inns_cathedrals": True},
    "shrines": {"shrines": True, "monasteries": True, "abbot": True},
    "abbey and mayor": {"abbey_mayor": True, "traders_builders": True},
    "abbeys among shrines and sheep": {"abbey_mayor": True, "shrines": True, "hills_sheep": True, "besiegers": True},
    "trees and tolls": {"fruit_trees": True, "tollkeepers": True, "abbot": True, "inns_cathedrals": True},
    "school": {"school": True, "tollkeepers": True, "traders_builders": True},
    "king and churches": {"king_robber": True, "darmstadt": True, "besiegers": True, "shrines": True},
    "revolts": {"revolts": True, "traders_builders": True, "abbey_mayor": True},
    "tunnel": {"tunnel": True, "king_robber": True, "abbey_mayor": True, "traders_builders": True},
    "count": {"count": True, "king_robber": True, "traders_builders": True, "cathars": True},
    "count and barns": {"count": True, "abbey_mayor": True, "tollkeepers": True, "hills_sheep": True},
    "wheel": {"wheel": True, "traders_builders": True, "cathars": True, "monasteries": True},
    "dragon": {"princess_dragon": True, "traders_builders": True, "abbey_mayor": True, "monasteries": True},
    "plague": {"plague": True, "traders_builders": True, "hills_sheep": True, "revolts": True, "tower": True},
    "dragon and flocks": {"princess_dragon": True, "hills_sheep": True, "big_top": True, "tower": True, "count": True},
    "bathhouses": {"bathhouses": True, "traders_builders": True, "inns_cathedrals": True, "besiegers": True},
    "leipzig": {"leipzig": True, "king_robber": True, "traders_builders": True, "cathars": True},
    "leipzig and barns": {"leipzig": True, "abbey_mayor": True, "tollkeepers": True, "hills_sheep": True},
    "leipzig and shrines": {"leipzig": True, "shrines": True, "bathhouses": True, "monasteries": True, "tower": True},
    "castles": {"bridges_castles": True, "inns_cathedrals": True, "traders_builders": True, "king_robber": True},
    "castles and barns": {"bridges_castles": True, "abbey_mayor": True, "tollkeepers": True, "hills_sheep": True},
    "castles and towers": {
        "bridges_castles": True,
        "tower": True,
        "watchtowers": True,
        "big_top": True,
        "cathars": True,
    },
    "castles by the wheel": {
        "bridges_castles": True,
        "wheel": True,
        "revolts": True,
        "tunnel": True,
        "bathhouses": True,
    },
    "wheel with many": dict.fromkeys((*MORE_BOXES[1:], "wheel", "inns_cathedrals"), True),
    "all with the first ones": dict.fromkeys((*FIRST_BOXES, *MORE_BOXES), True),
}


# A game of every number of seats; a soak plays two more of each.
every_number = pytest.mark.parametrize(
    "number", [*range(4), *(pytest.param(number, marks=pytest.mark.soak) for number in range(4, 12))]
)


def check(chosen, seats, seed, score=Count):
    chosen = options.parse(carcassonne.META.options, {"messages": False, **chosen})
    count = score(seats)
    state = None
    for _, _, after, events in bots.play_out(carcassonne, chosen, seats, seed):
        state = after
        for event in events:
            count.apply(event)
    assert [standing.score for standing in carcassonne.standing(state)] == count.scores


def list_games():
    """List one game of all mixtures, of other numbers of seats for each; a release plays three more, a soak all."""
    for turn, boxes in enumerate(LATER_BOXES):
        for number in range(12):
            rare = pytest.mark.soak if number >= 4 else pytest.mark.release
            yield pytest.param(boxes, number, marks=[] if number == turn % 4 else [rare])


@every_number
@pytest.mark.parametrize("boxes", BOXES)
def test_the_score_is_what_flooding_every_feature_gives(boxes, number):
    check(BOXES[boxes], 2 + number % 4, b"flood %d" % number)


@pytest.mark.parametrize(("boxes", "number"), list(list_games()))
def test_the_score_of_further_boxes_is_what_counting_by_hand_gives(boxes, number):
    check(LATER_BOXES[boxes], 2 + number % 4, b"further %d" % number, CastleCount)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("boxes", BOXES)
def test_not_one_of_3000_scores_is_wrong(boxes):
    for number in range(3000):
        check(BOXES[boxes], 2 + number % 4, b"soak %d" % number)
