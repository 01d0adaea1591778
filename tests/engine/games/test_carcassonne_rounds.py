"""The named places of the turn: a box nobody has printed pays a point at each, and the turn need not know it."""

import pytest

from engine.games.carcassonne import boxes, rules
from engine.games.carcassonne.expansion import ROUNDS, Expansion, united
from engine.games.carcassonne.state import Award
from tests.engine.games.carcassonne_table import at
from tests.engine.games.test_carcassonne_messages import news


def paying(*places):
    def award(state, part):
        return (Award(state.turn, 1, "toll"),)

    return Expansion(option="fairy", rounds=dict.fromkeys(places, award))


@pytest.fixture
def tolls(monkeypatch):
    """Mixes a box that pays at these places into every table with the option `fairy`."""

    def mix(*places):
        others = [box for box in boxes.BOXES if box.option != "fairy"]
        made = [*others, paying(*places)]
        monkeypatch.setattr(
            rules, "rules_of", lambda options: united([box for box in made if getattr(options, box.option)])
        )

    return mix


def told(game):
    return [getattr(event, "place", type(event).__name__) for event in game.events]


def test_each_place_pays_once_a_turn_and_in_order(tolls):
    tolls(*ROUNDS)
    game = at(fairy=True).play("place 1,0 0", "pass", "1: place 2,0 0", "1: pass")
    seat_1 = told(game)[told(game).index("TurnBegan") :]
    whole_turn = ["TurnBegan", "1a", "TileDrawn", "1b", "TilePlaced", "1c", "FigureWithheld", "4"]
    assert seat_1 == [*whole_turn, *whole_turn[:4]]
    assert game.points == [4, 4]


def test_a_tile_set_aside_does_not_begin_the_turn_again(tolls):
    tolls(*ROUNDS)
    game = at(drawn="E", bag=("C", "U"), rig={"tile": ["C", "U"]}, fairy=True).play("place 0,-1 180", "pass")
    assert told(game)[-6:] == ["TurnBegan", "1a", "TileDrawn", "1b", "TileSetAside", "TileDrawn"]


@pytest.mark.parametrize("place", ROUNDS)
def test_a_message_drawn_at_any_place_takes_no_step_of_the_turn_away(tolls, place):
    tolls(place)
    game = news(track=((0, 0), (4, 0)), message=[4], fairy=True, bag=("U",) * 12)
    for seat in (0, 1):
        while game.menu(seat=seat):
            game.play(f"{seat}: {next_move(game, seat)}")
    assert [event.seat for event in game.happened("TilePlaced")] == [0, 1, 1]
    assert len(game.happened("MessageReturned")) == 1
    assert game.state.turn == 0


def next_move(game, seat):
    match game.menu(seat=seat)[0]:
        case "score":
            return "score meeple" if game.state.track[seat][0] == 4 else "score woman"
        case "message":
            return "message perform"
        case "place":
            return "place " + min(game.menu("place", seat=seat))
    return "pass"
