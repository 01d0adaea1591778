"""§5, The Messages: whoever stops on a dark space in the own turn draws one, and performs it or takes two points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.board import MESSAGES, Args
from engine.games.carcassonne.expansion import Box, Rules, can_lay
from engine.games.carcassonne.land import root_of, taken_back
from engine.games.carcassonne.state import (
    About,
    Award,
    Errand,
    Feature,
    Figure,
    Part,
    State,
    awarded,
    chosen,
    find_figure,
    on_top,
    slot,
    standing_figures,
)
from engine.menu import Choice, Menu, Move

INSTEAD = 2
EACH = 2
DARK = 5
SMALLEST = {1: "road", 2: "city", 3: "cloister"}
ONE_MORE, SHIELDS, FARMERS, TAKE_BACK = 4, 5, 7, 8


CHAIN = Errand("chain")


class Pile(Struct, frozen=True, gc=False):
    """The message tiles: those nobody has seen, in no order, and those put back under the stack, in theirs."""

    unseen: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()


class MessageDrawn(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    number: int


class MessageOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The points of a message lead to the next one, which may be left where it is."""

    seat: int


class MessageLeft(Struct, frozen=True, omit_defaults=True, tag=True):
    """The next message of a chain was not drawn."""

    seat: int


class MessageTraded(Struct, frozen=True, omit_defaults=True, tag=True):
    """The message is not performed; its seal is worth two points."""

    seat: int
    number: int
    points: int


class MessagePerformed(Struct, frozen=True, omit_defaults=True, tag=True):
    """What a message brought, the place it counted, and the figures it took back."""

    seat: int
    number: int
    points: int = 0
    place: str = ""
    figures: tuple[Figure, ...] = ()


class MessageReturned(Struct, frozen=True, omit_defaults=True, tag=True):
    """The tile of message 4 goes under the stack, now that its turn is over."""

    number: int


def pile_of(state: State) -> Pile:
    """The stack of messages."""
    pile: Pile = slot(state, "pile")
    return pile


def drawn(state: State, event: MessageDrawn) -> State:
    old = pile_of(state)
    pile = Pile(_without(old.unseen, event.number), _without(old.seen, event.number))
    work = state.work[:-1] if state.work[-1] == CHAIN else state.work
    return replace(state, pile=pile, moved=(), work=(*work, Errand("message", event.number)))


def offered(state: State, event: MessageOffered) -> State:
    return replace(state, moved=(), work=(*state.work, CHAIN))


def left(state: State, event: MessageLeft) -> State:
    return replace(state, work=state.work[:-1])


def _without(numbers: tuple[int, ...], gone: int) -> tuple[int, ...]:
    return tuple(number for number in numbers if number != gone)


def _performances(state: State, number: int, rules: Rules) -> Sequence[Args]:
    if number == ONE_MORE:
        return [("perform",)] if can_lay(state, rules) else []
    if number == TAKE_BACK:
        return [("perform", figure.place) for figure in rules.meeples(standing_figures(state), state.turn)]
    possible = bool(_own_on(state, rules, _kind(number)))
    return [("perform",)] if possible or in_vain(state) else []


def in_vain(state: State) -> bool:
    """§5.6: whether a message may be performed that is about nothing."""
    return state.edition > 1 and chosen(state, "without_target") == "perform"


def _kind(number: int) -> str:
    return SMALLEST.get(number, "field" if number == FARMERS else "city")


def _next(state: State, chance: Chance) -> MessageDrawn:
    unseen, seen = pile_of(state).unseen, pile_of(state).seen
    return MessageDrawn(state.turn, chance.pick("message", unseen) if unseen else seen[0])


def _own_on(state: State, rules: Rules, kind: str) -> list[Feature]:
    """The features of a kind on which the seat on turn has a meeple, in the lead or not."""
    features = (feature for feature in state.features.values() if feature.kind == kind and feature.figures)
    return [feature for feature in features if rules.meeples(feature.figures, state.turn)]


def _smallest(state: State, number: int, rules: Rules) -> MessagePerformed:
    """§5.9: the feature with the fewest points; its points alone, no bonus."""
    features = _own_on(state, rules, _kind(number))
    if not features:
        return MessagePerformed(state.turn, number)
    worth, feature = min(
        ((scoring.worth(state, rules, feature, "message"), feature) for feature in features), key=lambda pair: pair[0]
    )
    return MessagePerformed(state.turn, number, worth, rules.meeples(feature.figures, state.turn)[0].place)


def _number_of(state: State, number: int, rules: Rules) -> int:
    """§5.11-5.13: shields in own cities, own knights, own farmers; message 4 counts nothing."""
    if number == ONE_MORE:
        return 0
    features = _own_on(state, rules, _kind(number))
    if number == SHIELDS:
        return sum(feature.marks.count("shield") for feature in features)
    return sum(len(rules.meeples(feature.figures, state.turn)) for feature in features)


def _counted_and_back(state: State, figure: Figure, rules: Rules) -> MessagePerformed:
    """§5.14: with the lead its feature counts as at the end, bonus included, for its owner alone; then it goes home."""
    feature = state.features[root_of(state, figure)]
    points = 0
    alone = replace(feature, figures=(figure,))
    paid = scoring.without_lead(state, rules, alone, "message")
    if paid is not None:
        points = sum(award.points for award in paid)
    elif figure.seat in scoring.leaders(state, rules, feature):
        points = scoring.points_for(state, rules, feature, figure.seat, "message")
        points += sum(
            award.points for box in rules.hooks["bonus"] for award in box.bonus(state, rules, alone, "message")
        )
    gone = (figure, *(other for box in rules.hooks["escort"] for other in box.escort(state, rules, feature, figure)))
    return MessagePerformed(figure.seat, TAKE_BACK, points, figure.place, gone)


def traded(state: State, event: MessageTraded) -> State:
    state = replace(state, work=state.work[:-1], pile=_under(pile_of(state), event.number))
    return awarded(state, (Award(event.seat, event.points, "message"),))


def performed(state: State, event: MessagePerformed) -> State:
    if event.number == ONE_MORE:
        return replace(state, work=(*on_top(state, Errand("return", ONE_MORE)), Part(kind="message")))
    state = replace(state, work=state.work[:-1], pile=_under(pile_of(state), event.number))
    awards = (Award(event.seat, event.points, "message"),) if event.points else ()
    return awarded(taken_back(state, event.figures), awards)


def returned(state: State, event: MessageReturned) -> State:
    return replace(state, work=state.work[:-1], pile=_under(pile_of(state), event.number))


def _under(pile: Pile, number: int) -> Pile:
    """§5.7: under the stack, behind all that lie there."""
    return Pile(pile.unseen, (*pile.seen, number))


class Messages(Box):
    """Two scoring figures, and what happens on dark spaces."""

    option = "messages"
    about = "Two scoring figures each, and messages on the dark spaces (§5)"
    default = True
    scoring_figures = 2
    settings = {
        "chains": (
            Annotated[
                Literal["must", "may"],
                About(description="Points of a message that lead to the next one: it must or may be drawn (§5.8)"),
            ],
            "must",
        ),
        "without_target": (
            Annotated[
                Literal["perform", "points_only"],
                About(description="A message about nothing may be performed for no points, or only traded (§5.6)"),
            ],
            "perform",
        ),
    }
    slots = {"pile": (Pile, Pile())}
    shows = {
        "unseen": (int, lambda state: len(pile_of(state).unseen)),
        "stack": (tuple[int, ...], lambda state: pile_of(state).seen),
    }
    verbs = ("message",)
    steps = ("message", "return", "chain")
    events = {
        MessageDrawn: drawn,
        MessageOffered: offered,
        MessageLeft: left,
        MessageTraded: traded,
        MessagePerformed: performed,
        MessageReturned: returned,
    }
    paying = {MessageTraded: "message", MessagePerformed: "message"}

    def begun(self, state: State, rules: Rules) -> State:
        return replace(state, pile=Pile(tuple(MESSAGES)))

    def closed(self, state: State, rules: Rules, chance: Chance) -> MessageDrawn | MessageOffered | None:
        """§5.4: a figure of the seat on turn that moved in this round stands on a dark space."""
        steps = state.track[state.turn]
        if all(steps[scorer] % DARK for scorer in state.moved):
            return None
        chain = state.moved_for == "message" and chosen(state, "chains") == "may"
        return MessageOffered(state.turn) if chain else _next(state, chance)

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> Menu:
        """§5.6: perform it, or two points; in a chain perhaps whether to draw it at all."""
        if errand.step == "chain":
            return (Choice("message", (("draw",), ("leave",)), "5.8"),)
        return (Choice("message", (*_performances(state, errand.number, rules), ("points",)), "5.6"),)

    def errand(self, state: State, rules: Rules, errand: Errand, chance: Chance) -> MessageReturned | None:
        return MessageReturned(errand.number) if errand.step == "return" else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        errand = state.work[-1]
        assert isinstance(errand, Errand)
        number = errand.number
        if move.args[0] in ("draw", "leave"):
            return [_next(state, chance) if move.args[0] == "draw" else MessageLeft(seat)]
        if move.args[0] == "points":
            return [MessageTraded(seat, number, INSTEAD)]
        if number in SMALLEST:
            return [_smallest(state, number, rules)]
        if number == TAKE_BACK:
            return [_counted_and_back(state, find_figure(state, move.args[1]), rules)]
        return [MessagePerformed(seat, number, EACH * _number_of(state, number, rules))]


BOX = Messages()
