"""The hooks of a box, each tried by a box made up for the test."""

import importlib

import pytest
from msgspec import Struct
from msgspec.structs import replace

from engine.games.carcassonne import boxes, rules, scoring
from engine.games.carcassonne.hooks import ROUNDS, BoxHooks, combine_boxes
from engine.games.carcassonne.state import (
    Award,
    FeatureScored,
    Task,
    add_note,
    apply_awards,
    change_part,
    get_current_part,
    pop_work,
    push_work,
    replace_top,
)
from engine.menu import Choice
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_messages import set_up_messages


class MadeUp(BoxHooks):
    """A box made up for a test, which takes the place of the fairy's."""

    option = "fairy"


def box_that_awards(*places):
    """Return a box that gives one point in each of these scoring rounds."""

    def award(self, state, rules, part):
        return (Award(state.turn, 1, "toll"),)

    return type("Awarding", (MadeUp,), {ROUNDS[place]: award for place in places})()


EVOLVE = importlib.import_module("engine.games.carcassonne.evolve")  # the package has a function of this name


@pytest.fixture
def mix_in(monkeypatch):
    """Return a function that mixes a box into every table with the option `fairy`."""

    def mix(box):
        def get_rules(options):
            return combine_boxes([b for b in [*others, box] if boxes.plays_with(options, b)])

        others = [b for b in boxes.BOXES if b.option != "fairy"]
        for module in (rules, EVOLVE):
            monkeypatch.setattr(module, "get_rules", get_rules)
        monkeypatch.setattr(EVOLVE, "APPLY", EVOLVE.APPLY | dict(box.events))

    return mix


def events_and_rounds(game):
    """Return the names of the events of a game, and for scoring rounds their places."""
    return [getattr(event, "place", type(event).__name__) for event in game.events]


PLACES = ("1a", "1c", "3", "4")


def test_each_round_comes_once_a_turn_and_in_order(mix_in):
    mix_in(box_that_awards(*PLACES))
    game = set_up(fairy=True).play("place 1,0 0", "pass", "1: place 2,0 0", "1: pass")
    happened = events_and_rounds(game)
    seat_1 = happened[happened.index("TurnBegan") :]
    whole_turn = ["TurnBegan", "1a", "TileDrawn", "TilePlaced", "1c", "FigureWithheld", "3", "4"]
    assert seat_1 == [*whole_turn, *whole_turn[:3]]
    assert game.points == [4, 4]


def test_a_tile_set_aside_does_not_begin_the_turn_again(mix_in):
    mix_in(box_that_awards(*PLACES))
    game = set_up(drawn="E", bag=("C", "U"), rig={"tile": ["C", "U"]}, fairy=True).play("place 0,-1 180", "pass")
    assert events_and_rounds(game)[-5:] == ["TurnBegan", "1a", "TileDrawn", "TileSetAside", "TileDrawn"]


@pytest.mark.parametrize("place", PLACES)
def test_a_message_drawn_in_any_round_takes_no_step_of_the_turn_away(mix_in, place):
    mix_in(box_that_awards(place))
    game = set_up_messages(track=((0, 0), (4, 0)), message=[4], fairy=True, bag=("U",) * 12)
    for seat in (0, 1):
        while game.menu(seat=seat):
            game.play(f"{seat}: {next_move(game, seat)}")
    assert [event.seat for event in game.find_events("TilePlaced")] == [0, 1, 1]
    assert len(game.find_events("MessageReturned")) == 1
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


class Charged(Struct, frozen=True, tag=True):
    awards: tuple[Award, ...]


def apply_charged(state, event):
    return apply_awards(add_note(state, "charged"), event.awards)


def box_that_charges(hook, points, seat=0):
    """Return a box that charges a seat for its first tile, at a hook that makes events."""

    def charge(self, state, rules, *rest):
        if "charged" in get_current_part(state).notes or len(state.tiles) > 2:
            return None
        return Charged((Award(seat, points, "toll"),))

    return type("Charging", (MadeUp,), {hook: charge, "events": {Charged: apply_charged}})()


@pytest.mark.parametrize("hook", ["after_figure", "after_scoring", "end_scoring", "after_tile"])
def test_a_box_may_make_an_event_after_the_figure_the_features_and_the_tile(mix_in, hook):
    mix_in(box_that_charges(hook, 2))
    game = set_up(fairy=True).play("place 1,0 0", "figure meeple road")
    assert game.points == [2, 0]
    assert (
        "Charged"
        in events_and_rounds(game)[events_and_rounds(game).index("FigurePlaced") if hook == "after_figure" else 1 :]
    )


def test_what_happens_between_drawing_and_placing_is_a_round_with_a_message_of_its_own(mix_in):
    mix_in(box_that_charges("react_to_drawing", 5, seat=1))
    game = set_up_messages(message=[5], fairy=True).play("place 1,0 0", "pass")
    assert game.menu(seat=1) == ["score"]
    assert game.play("1: score meeple").menu(seat=1) == ["message"]
    game.play("1: message points", "1: score meeple")
    assert game.menu(seat=1) == ["place"]
    assert game.state.track[1] == (7, 0)


def test_a_seat_that_pays_goes_back_and_draws_no_message_on_a_dark_space_or_beyond_it(mix_in):
    mix_in(box_that_charges("end_scoring", -1))
    onto = set_up_messages(track=((6, 1), (0, 0)), fairy=True).play("place 1,0 0", "pass", "score meeple")
    assert onto.state.track[0] == (5, 1)
    assert not onto.find_events("MessageDrawn")
    past = set_up_messages(track=((5, 1), (0, 0)), fairy=True).play("place 1,0 0", "pass", "score meeple")
    assert past.state.track[0] == (4, 1)
    assert not past.find_events("MessageDrawn")


def test_a_figure_that_went_forward_and_paid_back_onto_a_dark_space_draws_no_message(mix_in):
    mix_in(box_that_charges("end_scoring", -1))
    game = set_up_messages(track=((2, 1), (0, 0)), drawn="E", fairy=True).play("place 0,-1 180", "figure meeple city")
    assert game.play("score meeple", "score meeple").state.track[0] == (5, 1)
    assert not game.find_events("MessageDrawn")


class Asked(Struct, frozen=True, tag=True):
    pass


class Answered(Struct, frozen=True, tag=True):
    seat: int
    word: str


def apply_asked(state, event):
    return push_work(add_note(state, "asked"), Task("toll", seats=(0, 1)))


def apply_answered(state, event):
    task = state.work[-1]
    others = tuple(seat for seat in task.seats if seat != event.seat)
    state = replace_top(state, replace(task, seats=others)) if others else pop_work(state)
    return apply_awards(state, (Award(event.seat, 1, "toll"),))


class QuestionBox(MadeUp):
    """Asks seats 0 and 1 after each tile, and gives each a point for the answer."""

    verbs = ("answer",)
    tasks = ("toll",)
    events = {Asked: apply_asked, Answered: apply_answered}

    def after_tile(self, state, rules, part, chance):
        return None if "asked" in part.notes else Asked()

    def menu(self, state, rules, seat, task):
        return (Choice("answer", (("yes",), ("no",))),)

    def decide(self, state, rules, seat, move, chance):
        return [Answered(seat, move.args[0])]


def test_a_task_may_ask_other_seats_and_waits_for_all_of_them(mix_in):
    mix_in(QuestionBox())
    game = set_up(fairy=True).play("place 1,0 0", "pass")
    assert game.menu(seat=0) == game.menu(seat=1) == ["answer"]
    game.play("1: answer no")
    assert game.menu(seat=1) == []
    assert game.play("answer yes").menu(seat=1) == ["place"]
    assert game.points == [1, 1]


class Traded(Struct, frozen=True, tag=True):
    scored: FeatureScored | None


def apply_traded(state, event):
    state = pop_work(state)
    return scoring.apply_feature_scored(state, event.scored) if event.scored else state


def apply_trade_offered(state, event):
    state = change_part(add_note(state, "asked"), done=tuple(reversed(get_current_part(state).done)))
    return push_work(state, Task("trade"))


class TradeBox(MadeUp):
    """Reverses the order of the features, and offers five points in place of those of a road."""

    verbs = ("trade",)
    tasks = ("trade",)
    events = {Asked: apply_trade_offered, Traded: apply_traded}

    def before_feature(self, state, rules, root, chance):
        return None if "asked" in get_current_part(state).notes else Asked()

    def menu(self, state, rules, seat, task):
        return (Choice("trade", (("yes",), ("no",))),)

    def decide(self, state, rules, seat, move, chance):
        root = next(root for root in state.work[-2].done if state.features[root].kind == "road")
        scored = scoring.score_feature(state, rules, root, "scored")
        return [Traded(replace(scored, awards=(Award(seat, 5, "toll"),)) if move.args == ("yes",) else None)]


@pytest.mark.parametrize(("answer", "points"), [("yes", 5 + 4), ("no", 2 + 4)])
def test_a_box_may_order_the_features_and_give_something_in_place_of_points(mix_in, answer, points):
    mix_in(TradeBox())
    figures = ["0 meeple 1,-1/road", "0 meeple 0,0/city"]
    game = set_up(["A 1,-1 90"], figures, drawn="L", fairy=True).play("place 0,-1 180", "pass")
    before = [feature.kind for root in game.state.work[0].done if (feature := game.state.features[root])]
    game.play(f"trade {answer}")
    assert before[0] == game.find_events("FeatureScored")[0].kind or answer == "yes"
    assert game.points == [points, 0]


def test_supplies_add_up_and_boxes_that_clash_are_a_fault():
    class More(MadeUp):
        supply = {"meeple": 2}

    assert combine_boxes([*boxes.BOXES, More()]).supply["meeple"] == combine_boxes(boxes.BOXES).supply["meeple"] + 2
    for clash in ({"verbs": ("recall",)}, {"tasks": ("second",)}, {"strength": {"pig": 1}}, {"verbs": ("place",)}):
        with pytest.raises(ValueError, match="two boxes have the same"):
            combine_boxes([*boxes.BOXES, type("Clash", (MadeUp,), clash)()])
