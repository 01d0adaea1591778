"""The named places at which a box is asked: boxes nobody has printed try each, and the turn need not know them."""

import pytest
from msgspec import Struct
from msgspec.structs import replace

from engine.games.carcassonne import boxes, changes, rules, scoring
from engine.games.carcassonne.expansion import ROUNDS, Box, united
from engine.games.carcassonne.state import Award, Errand, FeatureScored, awarded, on_top, part_of
from engine.menu import Choice
from tests.engine.games.carcassonne_table import at
from tests.engine.games.test_carcassonne_messages import news


class Toll(Box):
    """A box of paper that takes the place of the fairy's."""

    option = "fairy"


def paying(*places):
    """A box that pays one point at these places."""

    def award(self, state, rules, part):
        return (Award(state.turn, 1, "toll"),)

    return type("Paying", (Toll,), {ROUNDS[place]: award for place in places})()


@pytest.fixture
def mixed(monkeypatch):
    """Mixes a box into every table with the option `fairy`."""

    def mix(box):
        def rules_of(options):
            return united([b for b in [*others, box] if boxes.wants(options, b)])

        others = [b for b in boxes.BOXES if b.option != "fairy"]
        for module in (rules, changes):
            monkeypatch.setattr(module, "rules_of", rules_of)
        monkeypatch.setattr(changes, "CHANGES", changes.CHANGES | dict(box.events))

    return mix


def told(game):
    return [getattr(event, "place", type(event).__name__) for event in game.events]


PLACES = ("1a", "1b", "1c", "3", "4")


def test_each_place_pays_once_a_turn_and_in_order(mixed):
    mixed(paying(*PLACES))
    game = at(fairy=True).play("place 1,0 0", "pass", "1: place 2,0 0", "1: pass")
    seat_1 = told(game)[told(game).index("TurnBegan") :]
    whole_turn = ["TurnBegan", "1a", "TileDrawn", "1b", "TilePlaced", "1c", "FigureWithheld", "3", "4"]
    assert seat_1 == [*whole_turn, *whole_turn[:4]]
    assert game.points == [5, 5]


def test_a_tile_set_aside_does_not_begin_the_turn_again(mixed):
    mixed(paying(*PLACES))
    game = at(drawn="E", bag=("C", "U"), rig={"tile": ["C", "U"]}, fairy=True).play("place 0,-1 180", "pass")
    assert told(game)[-6:] == ["TurnBegan", "1a", "TileDrawn", "1b", "TileSetAside", "TileDrawn"]


@pytest.mark.parametrize("place", PLACES)
def test_a_message_drawn_at_any_place_takes_no_step_of_the_turn_away(mixed, place):
    mixed(paying(place))
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


class Paid(Struct, frozen=True, tag=True):
    awards: tuple[Award, ...]


def paid(state, event):
    work = on_top(state, replace(part_of(state), notes=("paid",)))
    return awarded(replace(state, work=work), event.awards)


def charging(hook, points, seat=0):
    """A box that charges a seat for its first tile, at a place where boxes make events."""

    def charge(self, state, rules, *rest):
        notes = part_of(state).notes
        return None if "paid" in notes or len(state.tiles) > 2 else Paid((Award(seat, points, "toll"),))

    return type("Charging", (Toll,), {hook: charge, "events": {Paid: paid}})()


@pytest.mark.parametrize("hook", ["after_figure", "joined", "after_features", "after"])
def test_a_box_may_make_an_event_after_the_figure_the_features_and_the_tile(mixed, hook):
    mixed(charging(hook, 2))
    game = at(fairy=True).play("place 1,0 0", "figure meeple road")
    assert game.points == [2, 0]
    assert "Paid" in told(game)[told(game).index("FigurePlaced") if hook == "after_figure" else 1 :]


def test_who_pays_goes_back_and_draws_nothing_on_a_dark_space_nor_beyond_it(mixed):
    mixed(charging("after_features", -1))
    onto = news(track=((6, 1), (0, 0)), fairy=True).play("place 1,0 0", "pass", "score meeple")
    assert onto.state.track[0] == (5, 1)
    assert not onto.happened("MessageDrawn")
    past = news(track=((5, 1), (0, 0)), fairy=True).play("place 1,0 0", "pass", "score meeple")
    assert past.state.track[0] == (4, 1)
    assert not past.happened("MessageDrawn")


def test_a_figure_that_went_forward_and_paid_back_onto_a_dark_space_draws_nothing(mixed):
    mixed(charging("after_features", -1))
    game = news(track=((2, 1), (0, 0)), drawn="E", fairy=True).play("place 0,-1 180", "figure meeple city")
    assert game.play("score meeple", "score meeple").state.track[0] == (5, 1)
    assert not game.happened("MessageDrawn")


class Asked(Struct, frozen=True, tag=True):
    pass


class Answered(Struct, frozen=True, tag=True):
    seat: int
    word: str


def asked(state, event):
    part = replace(part_of(state), notes=("asked",))
    return replace(state, work=(*on_top(state, part), Errand("toll", seats=(0, 1))))


def answered(state, event):
    errand = state.work[-1]
    others = tuple(seat for seat in errand.seats if seat != event.seat)
    work = on_top(state, replace(errand, seats=others)) if others else state.work[:-1]
    return awarded(replace(state, work=work), (Award(event.seat, 1, "toll"),))


class Asking(Toll):
    verbs = ("answer",)
    steps = ("toll",)
    events = {Asked: asked, Answered: answered}

    def after(self, state, rules, part, chance):
        return None if "asked" in part.notes else Asked()

    def menu(self, state, rules, seat, errand):
        return (Choice("answer", (("yes",), ("no",))),)

    def decide(self, state, rules, seat, move, chance):
        return [Answered(seat, move.args[0])]


def test_an_errand_may_ask_other_seats_and_waits_for_all_of_them(mixed):
    mixed(Asking())
    game = at(fairy=True).play("place 1,0 0", "pass")
    assert game.menu(seat=0) == game.menu(seat=1) == ["answer"]
    game.play("1: answer no")
    assert game.menu(seat=1) == []
    assert game.play("answer yes").menu(seat=1) == ["place"]
    assert game.points == [1, 1]


class Traded(Struct, frozen=True, tag=True):
    scored: FeatureScored | None


def traded(state, event):
    state = replace(state, work=state.work[:-1])
    return scoring.scored(state, event.scored) if event.scored else state


def trading(state, event):
    part = part_of(state)
    part = replace(part, notes=("asked",), done=tuple(reversed(part.done)))
    return replace(state, work=(*on_top(state, part), Errand("trade")))


class Trading(Toll):
    """Turns the order of the features round and offers five points in place of those of a road."""

    verbs = ("trade",)
    steps = ("trade",)
    events = {Asked: trading, Traded: traded}

    def completed(self, state, rules, root, chance):
        return None if "asked" in part_of(state).notes else Asked()

    def menu(self, state, rules, seat, errand):
        return (Choice("trade", (("yes",), ("no",))),)

    def decide(self, state, rules, seat, move, chance):
        root = next(root for root in state.work[-2].done if state.features[root].kind == "road")
        scored = scoring.settled(state, rules, root, "scored")
        return [Traded(replace(scored, awards=(Award(seat, 5, "toll"),)) if move.args == ("yes",) else None)]


@pytest.mark.parametrize(("answer", "points"), [("yes", 5 + 4), ("no", 2 + 4)])
def test_a_box_may_order_the_features_and_give_something_in_place_of_points(mixed, answer, points):
    mixed(Trading())
    figures = ["0 meeple 1,-1/road", "0 meeple 0,0/city"]
    game = at(["A 1,-1 90"], figures, drawn="L", fairy=True).play("place 0,-1 180", "pass")
    before = [feature.kind for root in game.state.work[0].done if (feature := game.state.features[root])]
    game.play(f"trade {answer}")
    assert before[0] == game.happened("FeatureScored")[0].kind or answer == "yes"
    assert game.points == [points, 0]


def test_supplies_add_up_and_boxes_that_clash_are_a_fault():
    class More(Toll):
        supply = {"meeple": 2}

    assert united([*boxes.BOXES, More()]).supply["meeple"] == 9
    for clash in ({"verbs": ("recall",)}, {"steps": ("second",)}, {"strength": {"pig": 1}}, {"verbs": ("place",)}):
        with pytest.raises(ValueError, match="two boxes have the same"):
            united([*boxes.BOXES, type("Clash", (Toll,), clash)()])
