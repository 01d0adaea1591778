"""What roads, cities, cloisters and farms are worth, and to whom."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.games.carcassonne.expansion import Moment, Rules
from engine.games.carcassonne.land import taken_back
from engine.games.carcassonne.state import (
    Award,
    Feature,
    FeatureScored,
    Figure,
    ScorerMoved,
    State,
    awarded,
    find,
    on_top,
    part_of,
)
from engine.menu import Choice, Menu

SCORERS = ("meeple", "woman")


def leaders(state: State, rules: Rules, feature: Feature) -> tuple[int, ...]:
    """§3.6: the seats with the most figures on a feature; who draws level shares the lead."""
    might: dict[int, int] = {}
    for figure in feature.figures:
        strength = rules.strength[figure.kind]
        for box in rules.hooks["might"]:
            strength = box.might(state, rules, feature, figure, strength)
        might[figure.seat] = might.get(figure.seat, 0) + strength
    most = max(might.values(), default=0)
    level = tuple(sorted(seat for seat, strength in might.items() if strength == most)) if most else ()
    for box in rules.hooks["level"] if len(level) > 1 else ():
        level = box.level(state, rules, feature, level)
    return level


def worth(state: State, rules: Rules, feature: Feature, moment: Moment) -> int:
    """§3, §4: what a feature is worth as it lies there, whoever has figures on it."""
    points = _printed(state, rules, feature)
    for box in rules.hooks["worth"]:
        points = box.worth(state, rules, feature, points, moment)
    return points


def _printed(state: State, rules: Rules, feature: Feature) -> int:
    if feature.kind == "field":
        return 3 * servings(state, rules, feature)
    if feature.kind != "city":
        return len(feature.tiles)
    return (len(feature.tiles) + feature.marks.count("shield")) * (1 if feature.open else 2)


def servings(state: State, rules: Rules, field: Feature) -> int:
    """§4.4: the completed cities along a field, each once however often it touches the field."""
    cities = [state.features[root] for root in {find(state.parents, city) for city in field.cities}]
    complete = [city for city in cities if not city.open]
    more = sum(box.servings(state, rules, city) for box in rules.hooks["servings"] for city in complete)
    return len(complete) + more


def points_for(state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
    """What this feature brings to a seat that leads on it."""
    more = sum(box.more(state, rules, feature, seat, moment) for box in rules.hooks["more"])
    return worth(state, rules, feature, moment) + more


def taking_part(state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...]:
    """The figures that are paid and go home when a feature is scored: all of them, unless a box says otherwise."""
    for box in rules.hooks["taking_part"]:
        figures = box.taking_part(state, rules, feature, moment)
        if figures is not None:
            feature = replace(feature, figures=figures)
    return feature.figures


def settled(state: State, rules: Rules, root: int, moment: Moment) -> FeatureScored:
    """A feature is scored: those who are on it are paid, and these figures go home."""
    feature = state.features[root]
    figures = feature.figures
    if rules.hooks["taking_part"]:
        figures = taking_part(state, rules, feature, moment)
        feature = replace(feature, figures=figures)
    paid = tuple([award for award in awards(state, rules, feature, moment) if award.points])
    return FeatureScored(root, feature.kind, figures[0].cell, paid, figures, moment == "final")


def awards(state: State, rules: Rules, feature: Feature, moment: Moment) -> Sequence[Award]:
    """What a feature brings to all its leaders, and what comes beside it."""
    paid = without_lead(state, rules, feature, moment)
    if paid is not None:
        return paid
    lead = leaders(state, rules, feature)
    awards = [Award(seat, points_for(state, rules, feature, seat, moment), feature.kind) for seat in lead]
    for box in rules.hooks["bonus"]:
        awards += box.bonus(state, rules, feature, moment)
    return awards


def without_lead(state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...] | None:
    """The awards of a feature of a box, where the lead does not matter and nothing comes beside them."""
    for box in rules.hooks["paid"]:
        paid = box.paid(state, rules, feature, moment)
        if paid is not None:
            return paid
    return None


def scored(state: State, event: FeatureScored) -> State:
    """The figures are back with their owners, and the points are awarded."""
    state = taken_back(state, event.figures)
    if state.work:
        part = part_of(state)
        done = tuple(root for root in part.done if root != event.feature)
        state = replace(state, work=on_top(state, replace(part, step="score", done=done)))
    return awarded(state, event.awards)


def menu(state: State, seat: int) -> Menu:
    """§5.2: each award moves one of the two scoring figures, the oldest award first."""
    if not any(award.seat == seat for award in state.owed):
        return ()
    if state.options.figures == "own_turn" and seat != state.turn:
        return ()
    return (Choice("score", tuple((scorer,) for scorer in SCORERS), "5.2"),)


def advance(state: State, seat: int, scorer: str) -> ScorerMoved:
    award = next(award for award in state.owed if award.seat == seat)
    return ScorerMoved(award, SCORERS.index(scorer))


def advanced(state: State, event: ScorerMoved) -> State:
    """§5.4 asks later which figures of the seat on turn moved in this round, and not backwards by paying."""
    award, scorer = event.award, event.scorer
    steps = list(state.track[award.seat])
    steps[scorer] += award.points
    owed, track = list(state.owed), list(state.track)
    owed.remove(award)
    track[award.seat] = tuple(steps)
    moved = tuple(other for other in state.moved if other != scorer) if award.points < 0 else (*state.moved, scorer)
    if award.late:
        moved = state.moved
    return replace(state, owed=tuple(owed), track=tuple(track), moved=moved, moved_for=award.why)


def uncounted(state: State, rules: Rules) -> int | None:
    """§4: at the end the next feature to be counted; roads first, farms last."""
    waiting = [root for root, feature in state.features.items() if feature.figures]
    return min(waiting, key=lambda root: rules.order.index(state.features[root].kind), default=None)
