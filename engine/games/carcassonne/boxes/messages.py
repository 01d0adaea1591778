"""§5, The Messages: a seat that stops on a dark space in its turn draws one, and performs it or takes two points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import editions, scoring
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.land import find_figure_root, send_home
from engine.games.carcassonne.offers import can_place_tile
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    Task,
    apply_awards,
    find_figure,
    get_current_task,
    get_setting,
    list_figures,
    make_getter,
    pop_work,
    push_work,
)
from engine.games.carcassonne.tiles import MESSAGES, Args
from engine.menu import Choice, Menu, Move

TRADE_POINTS = 2
POINTS_EACH = 2
"""The points for each shield, knight or farmer."""

DARK_SPACE_EVERY = 5
SMALLEST_FEATURE = {1: "road", 2: "city", 3: "cloister"}
"""The kind of feature of which a message counts the one with the fewest points."""

ONE_MORE, SHIELDS, FARMERS, TAKE_BACK = 4, 5, 7, 8
"""The numbers of the other messages, without message 6, which counts knights."""

CHAIN = Task("chain")
"""The question whether to draw the next message."""


class Pile(Struct, frozen=True, gc=False):
    """The stack of messages: those not drawn yet, in no order, and those put back under it, the oldest first."""

    unseen: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()


class MessageDrawn(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat drew this message."""

    seat: int
    number: int


class MessageOffered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The points of a message led to the next one, which the seat may draw or leave."""

    seat: int


class MessageLeft(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat did not draw the next message of a chain."""

    seat: int


class MessageTraded(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat took points instead of performing the message."""

    seat: int
    number: int
    points: int


class MessagePerformed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A message was performed: the points it brought, the place that it counted, the figures that it took back."""

    seat: int
    number: int
    points: int = 0
    place: str = ""
    figures: tuple[Figure, ...] = ()


class MessageReturned(Struct, frozen=True, omit_defaults=True, tag=True):
    """Message 4 was put under the stack, as its extra turn is over."""

    number: int


def is_dark(steps: int) -> bool:
    """§5.4: Whether a scoring figure is on a dark space; there is none below 0."""
    return steps >= 0 and steps % DARK_SPACE_EVERY == 0


get_pile = make_getter("pile", Pile)
"""The stack of messages."""


def apply_message_drawn(state: State, event: MessageDrawn) -> State:
    """Take the message from the stack and ask what to do with it; this ends the scoring round that led to it.

    In the next round no scoring figure has `moved` yet.
    """
    old = get_pile(state)
    pile = Pile(_remove(old.unseen, event.number), _remove(old.seen, event.number))
    if state.work[-1] == CHAIN:  # the seat was asked whether to draw
        state = pop_work(state)
    return replace(push_work(state, Task("message", event.number)), pile=pile, moved=())


def _remove(numbers: tuple[int, ...], removed: int) -> tuple[int, ...]:
    return tuple(number for number in numbers if number != removed)


def apply_message_offered(state: State, event: MessageOffered) -> State:
    return replace(push_work(state, CHAIN), moved=())


def apply_message_left(state: State, event: MessageLeft) -> State:
    return pop_work(state)


def apply_message_traded(state: State, event: MessageTraded) -> State:
    """Put the message under the stack, and give the points for it."""
    state = _put_under(pop_work(state), event.number)
    return apply_awards(state, (Award(event.seat, event.points, "message"),))


def apply_message_performed(state: State, event: MessagePerformed) -> State:
    """Put the message under the stack, give the points and send the figures home; for message 4 begin an extra part."""
    state = pop_work(state)
    if event.number == ONE_MORE:  # the extra part is pushed last and done first; then the task returns the message
        state = push_work(scoring.settle_figures(state), Task("return", ONE_MORE))
        return push_work(state, Part(kind="message"))
    state = _put_under(state, event.number)
    awards = (Award(event.seat, event.points, "message"),) if event.points else ()
    return apply_awards(send_home(state, event.figures), awards)


def apply_message_returned(state: State, event: MessageReturned) -> State:
    return _put_under(pop_work(state), event.number)


def _put_under(state: State, number: int) -> State:
    """§5.7: Put a message under the stack, below all others."""
    pile = get_pile(state)
    return replace(state, pile=Pile(pile.unseen, (*pile.seen, number)))


def _draw_message(state: State, chance: Chance) -> MessageDrawn:
    """§5.7: Draw one of the unseen messages; once all were seen, the top one."""
    pile = get_pile(state)
    number = chance.pick("message", pile.unseen) if pile.unseen else pile.seen[0]
    return MessageDrawn(state.turn, number)


def _list_perform_options(state: State, number: int, rules: Rules) -> Sequence[Args]:
    """§5.6: Return the ways to perform a message; empty if it can only be traded."""
    if number == ONE_MORE:
        return [("perform",)] if can_place_tile(state, rules) else []
    if number == TAKE_BACK:
        return [("perform", figure.place) for figure in rules.select_meeples(list_figures(state), state.turn)]
    targets = _list_features_with_own_meeple(state, rules, _find_target_kind(number))
    can_perform = bool(targets) or can_perform_without_target(state)
    return [("perform",)] if can_perform else []


def can_perform_without_target(state: State) -> bool:
    """§5.6: Whether a message about nothing can be performed for no points."""
    is_possible = editions.performs_without_target(state.edition)
    return is_possible and get_setting(state, "without_target") == "perform"


def _find_target_kind(number: int) -> str:
    """Return the kind of feature that a message is about."""
    if number in SMALLEST_FEATURE:
        return SMALLEST_FEATURE[number]
    return "field" if number == FARMERS else "city"  # shields and knights are in cities


def _list_features_with_own_meeple(state: State, rules: Rules, kind: str) -> list[Feature]:
    """Return the features of a kind on which the seat on turn has a meeple, in the lead or not."""
    features = (feature for feature in state.features.values() if feature.kind == kind and feature.figures)
    return [feature for feature in features if rules.select_meeples(feature.figures, state.turn)]


def _score_smallest(state: State, number: int, rules: Rules) -> MessagePerformed:
    """§5.9: Count the feature with the fewest points, without any bonus; without a feature there are no points."""
    features = _list_features_with_own_meeple(state, rules, _find_target_kind(number))
    if not features:
        return MessagePerformed(state.turn, number)
    points = [scoring.count_points(state, rules, feature, "message") for feature in features]
    fewest = min(points)
    smallest = features[points.index(fewest)]
    own_meeple = rules.select_meeples(smallest.figures, state.turn)[0]  # its place tells which feature was counted
    return MessagePerformed(state.turn, number, fewest, own_meeple.place)


def _count_targets(state: State, number: int, rules: Rules) -> int:
    """§5.11-5.13: Count the shields in own cities, the own knights or the own farmers; message 4 counts nothing."""
    if number == ONE_MORE:
        return 0
    features = _list_features_with_own_meeple(state, rules, _find_target_kind(number))
    if number == SHIELDS:
        return sum(feature.marks.count("shield") for feature in features)
    return sum(len(rules.select_meeples(feature.figures, state.turn)) for feature in features)


def _score_and_take_back(state: State, figure: Figure, rules: Rules) -> MessagePerformed:
    """§5.14: Score the feature of a meeple for its owner alone, as at the end with bonuses, and take the meeple back.

    Its owner needs the lead among all figures on the feature, unless the lead does not matter there.
    """
    feature = state.features[find_figure_root(state, figure)]
    alone = replace(feature, figures=(figure,))
    points = 0
    fixed_awards = scoring.award_without_lead(state, rules, alone, "message")
    if fixed_awards is not None:
        points = sum(award.points for award in fixed_awards)
    elif figure.seat in scoring.find_leaders(state, rules, feature):
        points = scoring.count_leader_points(state, rules, feature, figure.seat, "message")
        for box in rules.hooks["award_bonus"]:
            points += sum(award.points for award in box.award_bonus(state, rules, alone, "message"))
    companions = scoring.find_companions(state, rules, feature, figure)
    return MessagePerformed(figure.seat, TAKE_BACK, points, figure.place, (figure, *companions))


class Messages(BoxHooks):
    """Two scoring figures, and what happens on dark spaces."""

    option = "messages"
    about = "Two scoring figures each, and messages on the dark spaces (§5)"
    default = True
    scoring_figures = 2
    settings = {
        "chains": (
            Annotated[
                Literal["must", "may"],
                Meta(description="Points of a message that lead to the next one: it must or may be drawn (§5.8)"),
            ],
            "must",
        ),
        "without_target": (
            Annotated[
                Literal["perform", "points_only"],
                Meta(description="A message about nothing may be performed for no points, or only traded (§5.6)"),
            ],
            "perform",
        ),
    }
    state_fields = {"pile": (Pile, Pile())}
    view_fields = {
        "unseen": (int, lambda state: len(get_pile(state).unseen)),
        "stack": (tuple[int, ...], lambda state: get_pile(state).seen),
    }
    verbs = ("message",)
    tasks = ("message", "return", "chain")
    events = {
        MessageDrawn: apply_message_drawn,
        MessageOffered: apply_message_offered,
        MessageLeft: apply_message_left,
        MessageTraded: apply_message_traded,
        MessagePerformed: apply_message_performed,
        MessageReturned: apply_message_returned,
    }
    point_events = {MessageTraded: "message", MessagePerformed: "message"}

    def prepare(self, state: State, rules: Rules) -> State:
        return replace(state, pile=Pile(tuple(MESSAGES)))

    def after_round(self, state: State, rules: Rules, chance: Chance) -> MessageDrawn | MessageOffered | None:
        """§5.4: Draw a message if a scoring figure that the seat on turn moved in this round is on a dark space.

        §5.8: If the last move was for a message, the table may let the seat choose whether to draw.
        """
        steps = state.track[state.turn]
        if not any(is_dark(steps[scorer]) for scorer in state.moved):
            return None
        is_optional = state.moved_for == "message" and get_setting(state, "chains") == "may"
        return MessageOffered(state.turn) if is_optional else _draw_message(state, chance)

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§5.6: Perform the message or take two points; in a chain (§5.8) draw the next one or leave it."""
        if task.step == "chain":
            return (Choice("message", (("draw",), ("leave",)), "5.8"),)
        return (Choice("message", (*_list_perform_options(state, task.number, rules), ("points",)), "5.6"),)

    def resolve_task(self, state: State, rules: Rules, task: Task, chance: Chance) -> MessageReturned | None:
        """§5.7: Return message 4 after its extra turn."""
        return MessageReturned(task.number) if task.step == "return" else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§5.6, §5.8: Draw the next message or leave it, or take points for the one in hand or perform it."""
        number = get_current_task(state).number
        match move.args[0]:
            case "draw":
                return [_draw_message(state, chance)]
            case "leave":
                return [MessageLeft(seat)]
            case "points":
                return [MessageTraded(seat, number, TRADE_POINTS)]
        if number in SMALLEST_FEATURE:
            return [_score_smallest(state, number, rules)]
        if number == TAKE_BACK:
            _perform, place = move.args
            return [_score_and_take_back(state, find_figure(state, place), rules)]
        return [MessagePerformed(seat, number, POINTS_EACH * _count_targets(state, number, rules))]


BOX = Messages()
