"""Scoring: the points of a feature, the seats that get them, and the moves of the scoring figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from engine.games.carcassonne import editions
from engine.games.carcassonne.hooks import Moment, Rules
from engine.games.carcassonne.land import find_figure_root, send_home
from engine.games.carcassonne.state import (
    Award,
    Feature,
    FeatureScored,
    Figure,
    Part,
    ScorerMoved,
    State,
    Work,
    count_points_of,
    find_changes_by_awards,
    find_root,
    get_current_part,
)
from engine.menu import Choice, Menu

SCORERS = ("meeple", "woman")
"""The two scoring figures of a seat as moves write them, in the order of `State.track`."""

DEBT_WEIGHT = 6.0
"""For bots: how much more than a point each point below 0 counts, so that they do not pay themselves to ruin."""
CITY_POINTS = 3
"""The points of a farm for each completed city."""


def find_leaders(state: State, rules: Rules, feature: Feature) -> tuple[int, ...]:
    """§3.6: Return the seats with the most figures on a feature: several if they are level, none if none counts."""
    strengths: dict[int, int] = {}
    for figure in feature.figures:
        strength = rules.strength[figure.kind]
        for box in rules.hooks["adjust_strength"]:
            strength = box.adjust_strength(state, rules, feature, figure, strength)
        strengths[figure.seat] = strengths.get(figure.seat, 0) + strength
    most = max(strengths.values(), default=0)
    if not most:
        return ()
    leaders = tuple(sorted(seat for seat, strength in strengths.items() if strength == most))
    if len(leaders) > 1:
        for box in rules.hooks["break_tie"]:
            leaders = box.break_tie(state, rules, feature, leaders)
    return leaders


def count_points(state: State, rules: Rules, feature: Feature, moment: Moment) -> int:
    """§3, §4: Return what a feature is worth as it is now, regardless of the figures on it."""
    points = _count_base_points(state, rules, feature)
    for box in rules.hooks["adjust_points"]:
        points = box.adjust_points(state, rules, feature, points, moment)
    return points


def _count_base_points(state: State, rules: Rules, feature: Feature) -> int:
    """Return what a feature is worth in the base game."""
    if feature.kind == "field":
        return count_farm_points(state, rules, feature, CITY_POINTS)
    if feature.kind != "city":
        return count_tiles(state, rules, feature)
    return (len(feature.tiles) + feature.marks.count("shield")) * (1 if feature.open else 2)


def count_tiles(state: State, rules: Rules, feature: Feature) -> int:
    """Return how many tiles of a road, cloister or garden are counted."""
    count = len(feature.tiles)
    for box in rules.hooks["count_double_tiles"]:
        count -= box.count_double_tiles(state, rules, feature)
    return count


def count_farm_cities(state: State, rules: Rules, field: Feature) -> int:
    """§4.4: Count the completed cities that a farm touches, each once, or more often if a box says so."""
    roots = {find_root(state.parents, city) for city in field.cities}
    cities = [state.features[root] for root in roots]
    complete = [city for city in cities if not city.open]
    count = len(complete)
    for box in rules.hooks["count_city_again"]:
        count += sum(box.count_city_again(state, rules, city) for city in complete)
    for box in rules.hooks["count_more_cities"]:
        count += box.count_more_cities(state, rules, field)
    return count


def count_farm_points(state: State, rules: Rules, farm: Feature, each: int) -> int:
    """§4.4: Return what a farm is worth at `each` points for a city."""
    points = each * count_farm_cities(state, rules, farm)
    for box in rules.hooks["count_extra_farm_points"]:
        points += box.count_extra_farm_points(state, rules, farm)
    return points


def count_leader_points(state: State, rules: Rules, feature: Feature, seat: int, moment: Moment) -> int:
    """Return what a feature brings to a seat that leads on it."""
    points = count_points(state, rules, feature, moment)
    for box in rules.hooks["count_extra_points"]:
        points += box.count_extra_points(state, rules, feature, seat, moment)
    return points


def select_figures(state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Figure, ...]:
    """Return the figures that are scored and go home with a feature: all of them, unless a box says otherwise."""
    for box in rules.hooks["select_figures"]:
        figures = box.select_figures(state, rules, feature, moment)
        if figures is not None:
            feature = replace(feature, figures=figures)
    return feature.figures


def score_feature(state: State, rules: Rules, root: int, moment: Moment) -> FeatureScored:
    """Return the event that scores a feature: its figures go home, and awards without points are left out."""
    feature = state.features[root]
    figures = select_figures(state, rules, feature, moment)
    awards = award_feature(state, rules, replace(feature, figures=figures), moment)
    paid = tuple([award for award in awards if award.points])
    return FeatureScored(root, feature.kind, figures[0].cell, paid, figures, final=moment == "final")


def award_feature(state: State, rules: Rules, feature: Feature, moment: Moment) -> Sequence[Award]:
    """Return the awards of a feature: those of its leaders, then the bonuses of boxes."""
    fixed_awards = award_without_lead(state, rules, feature, moment)
    if fixed_awards is not None:
        return fixed_awards
    leaders = find_leaders(state, rules, feature)
    awards = [Award(seat, count_leader_points(state, rules, feature, seat, moment), feature.kind) for seat in leaders]
    for box in rules.hooks["award_bonus"]:
        awards += box.award_bonus(state, rules, feature, moment)
    return awards


def award_without_lead(state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...] | None:
    """Return the awards of a feature of a box on which the lead does not matter, or None if it does."""
    for box in rules.hooks["award_without_lead"]:
        awards = box.award_without_lead(state, rules, feature, moment)
        if awards is not None:
            return awards
    return None


def find_companions(state: State, rules: Rules, feature: Feature, figure: Figure) -> tuple[Figure, ...]:
    """Return the figures that cannot stay on a feature when this figure leaves it."""
    boxes = rules.hooks["find_companions"]
    return tuple(other for box in boxes for other in box.find_companions(state, rules, feature, figure))


def find_all_companions(state: State, rules: Rules, lost: Sequence[Figure]) -> Iterator[Figure]:
    """Yield the figures that cannot stay on their features when all `lost` figures leave at once.

    What cannot stay depends on the feature and the seat: one lost figure of each seat is asked about on each feature.
    """
    one_by_feature_and_seat = {(find_figure_root(state, figure), figure.seat): figure for figure in lost}
    for (root, _), figure in one_by_feature_and_seat.items():
        feature = state.features[root]
        remaining = tuple(other for other in feature.figures if other not in lost)
        yield from find_companions(state, rules, replace(feature, figures=remaining), figure)


def apply_feature_scored(state: State, event: FeatureScored) -> State:
    """Send the figures home, apply the awards, and let the part go on without this feature; in one copy of the state.

    In the final scoring there is no part.
    """
    changes = find_changes_by_awards(state, event.awards) if event.awards else {}
    if state.work:
        part = get_current_part(state)
        done = tuple(root for root in part.done if root != event.feature)
        changes["work"] = (*state.work[:-1], replace(part, step="score", done=done))
    return send_home(state, event.figures, **changes)


def settle_figures(state: State) -> State:
    """Let each part that is between its figure and its scoring go on with the scoring, before another part begins.

    In earlier editions boxes reacted again after the other part, and took its tile and figure for those of the first.
    """
    if not editions.settles_before_other_part(state.edition):
        return state
    return replace(state, work=tuple(map(_skip_to_scoring, state.work)))


def _skip_to_scoring(work: Work) -> Work:
    """Return a part that is between its figure and its scoring at the step of scoring; other work stays as it is."""
    if isinstance(work, Part) and work.step == "between":
        return replace(work, step="score")
    return work


def menu(state: State, seat: int) -> Menu:
    """§5.2: Offer the two scoring figures to a seat that is owed an award."""
    if not any(award.seat == seat for award in state.owed):
        return ()
    if state.options.figures == "own_turn" and seat != state.turn:  # §5.3: it chooses when its turn comes
        return ()
    return (Choice("score", tuple((scorer,) for scorer in SCORERS), "5.2"),)


def move_scorer(state: State, seat: int, scorer: str) -> ScorerMoved:
    """Return the event that moves a scoring figure by the oldest award that the seat is owed."""
    award = next(award for award in state.owed if award.seat == seat)
    return ScorerMoved(award, SCORERS.index(scorer))


def apply_scorer_moved(state: State, event: ScorerMoved) -> State:
    """Move a scoring figure by an award, and note for §5.4 which ones moved forward in this round on the own turn.

    A payment moves a figure back, so that it has not moved forward any more. A late award was earned on another turn.
    """
    award, scorer = event.award, event.scorer
    steps = list(state.track[award.seat])
    steps[scorer] += award.points
    owed, track = list(state.owed), list(state.track)
    owed.remove(award)
    track[award.seat] = tuple(steps)
    if award.late:
        moved = state.moved
    elif award.points < 0:
        moved = tuple(other for other in state.moved if other != scorer)
    else:
        moved = (*state.moved, scorer)
    return replace(state, owed=tuple(owed), track=tuple(track), moved=moved, moved_for=award.why)


def find_next_to_count(state: State, rules: Rules) -> int | None:
    """§4: Return the next feature to be counted at the end, in the order of `Rules.feature_order`; None if all are."""
    roots = list_features_to_count(state, rules)
    return roots[0] if roots else None


def list_features_to_count(state: State, rules: Rules) -> list[int]:
    """§4: Return the features with figures in the order in which they are counted at the end."""
    occupied = [root for root, feature in state.features.items() if feature.figures]
    return sorted(occupied, key=lambda root: rules.feature_order.index(state.features[root].kind))


def estimate_debt(state: State, seat: int) -> float:
    """Return a penalty for bots, 0 or below: each point that a seat has below 0 counts more than other points."""
    return DEBT_WEIGHT * min(count_points_of(state, seat), 0)
