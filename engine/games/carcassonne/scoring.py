"""What roads, cities, cloisters and farms are worth, and to whom."""

from __future__ import annotations

from msgspec.structs import replace

from engine.games.carcassonne.expansion import Rules
from engine.games.carcassonne.land import taken_back
from engine.games.carcassonne.state import (
    Award,
    Feature,
    FeatureScored,
    ScorerMoved,
    State,
    awarded,
    find,
    on_top,
    part_of,
)
from engine.menu import Choice, Menu

SCORERS = ("meeple", "woman")
FINAL_ORDER = ("road", "city", "cloister", "garden", "field")


def leaders(rules: Rules, feature: Feature) -> tuple[int, ...]:
    """§3.6: the seats with the most figures on a feature; who draws level shares the lead."""
    might = dict[int, int]()
    for figure in feature.figures:
        might[figure.seat] = might.get(figure.seat, 0) + rules.strength[figure.kind]
    most = max(might.values(), default=0)
    return tuple(sorted(seat for seat, strength in might.items() if strength == most)) if most else ()


def worth(state: State, rules: Rules, feature: Feature) -> int:
    """§3, §4: what a feature is worth as it lies there, whoever has figures on it."""
    points = _printed(state, feature)
    for hook in rules.hooks["worth"]:
        points = hook(feature, points)
    return points


def _printed(state: State, feature: Feature) -> int:
    if feature.kind == "field":
        return 3 * len(completed_cities(state, feature))
    if feature.kind != "city":
        return len(feature.tiles)
    return (len(feature.tiles) + feature.marks.count("shield")) * (1 if feature.open else 2)


def completed_cities(state: State, field: Feature) -> set[int]:
    """§4.4: the completed cities along a field, each once however often it touches the field."""
    cities = {find(state.parents, city) for city in field.cities}
    return {city for city in cities if not state.features[city].open}


def points_for(state: State, rules: Rules, feature: Feature, seat: int) -> int:
    """What this feature brings to a seat that leads on it."""
    extra: int = sum(hook(state, feature, seat) for hook in rules.hooks["extra"])
    return worth(state, rules, feature) + extra


def settled(state: State, rules: Rules, root: int) -> FeatureScored:
    """A feature is scored: its leaders are awarded, and all figures on it go home."""
    feature = state.features[root]
    awards = [Award(seat, points_for(state, rules, feature, seat), feature.kind) for seat in leaders(rules, feature)]
    for hook in rules.hooks["bonus"]:
        awards += hook(state, feature)
    first = feature.figures[0].cell
    paid = tuple(award for award in awards if award.points)
    return FeatureScored(root, feature.kind, first, paid, feature.figures, state.phase == "final")


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
    """§5.4 asks later which figures of the seat on turn moved in this round."""
    award, scorer = event.award, event.scorer
    steps = list(state.track[award.seat])
    steps[scorer] += award.points
    owed, track = list(state.owed), list(state.track)
    owed.remove(award)
    track[award.seat] = tuple(steps)
    moved = state.moved if award.late else (*state.moved, scorer)
    return replace(state, owed=tuple(owed), track=tuple(track), moved=moved)


def uncounted(state: State) -> int | None:
    """§4: at the end the next feature to be counted; roads first, farms last."""
    waiting = [root for root, feature in state.features.items() if feature.figures]
    return min(waiting, key=lambda root: FINAL_ORDER.index(state.features[root].kind), default=None)
