"""§26, the churches of Darmstadt: a completed church pays the seat with the most meeples on and round it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules
from engine.games.carcassonne.land import find_segment_cell
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Part,
    State,
    add_note,
    apply_awards,
    get_current_part,
    list_figures,
    make_getter,
)
from engine.games.carcassonne.tiles import list_nine_cells

CHURCH, DARMSTADTIUM = "church", "darmstadtium"
BONUS_POINTS = 3


class ChurchCompleted(Struct, frozen=True, omit_defaults=True, tag=True):
    """A church was completed; its bonus is decided while all meeples are in place, and paid after the scoring."""

    cell: str
    bonus: tuple[Award, ...]


class ChurchPaid(Struct, frozen=True, omit_defaults=True, tag=True):
    """The bonus of a church was paid."""

    cell: str
    awards: tuple[Award, ...]


get_due_bonuses = make_getter("churches", dict[str, tuple[Award, ...]])
"""By cell the bonuses of churches that are paid after the scoring."""


def apply_church_completed(state: State, event: ChurchCompleted) -> State:
    """Note that the bonus of the church was decided; if there is one, it is due after the scoring."""
    state = add_note(state, _make_church_note(event.cell))
    return replace(state, churches={**get_due_bonuses(state), event.cell: event.bonus}) if event.bonus else state


def apply_church_paid(state: State, event: ChurchPaid) -> State:
    """Pay the bonus of a church, which is not due any more."""
    others = {cell: awards for cell, awards in get_due_bonuses(state).items() if cell != event.cell}
    return apply_awards(replace(state, churches=others), event.awards)


def _make_church_note(cell: str) -> str:
    """Return the note by which a part remembers that the bonus of the church on this cell was decided."""
    return f"church {cell}"


def find_bonus(state: State, rules: Rules, cell: str) -> tuple[Award, ...]:
    """§26.3: Return an award for each seat with the most meeples on the nine cells of a church, if there are any."""
    cells = list_nine_cells(cell)
    figures = [figure for figure in list_figures(state) if figure.cell in cells]
    counts = [len(rules.select_meeples(figures, seat)) for seat in range(len(state.track))]
    most = max(counts)
    if not most:
        return ()
    return tuple(Award(seat, BONUS_POINTS, CHURCH) for seat, count in enumerate(counts) if count == most)


class Darmstadt(BoxHooks):
    """Two churches and a large city."""

    option = "darmstadt"
    title = "Darmstadt"
    about = "The churches of Darmstadt, which pay the meeples round them, 3 tiles (§26)"
    state_fields = {"churches": (dict[str, tuple[Award, ...]], {})}
    events = {ChurchCompleted: apply_church_completed, ChurchPaid: apply_church_paid}

    def adjust_points(self, state: State, rules: Rules, feature: Feature, points: int, moment: Moment) -> int:
        """§26.2: The Darmstadtium brings three points more when its city is complete."""
        is_complete_city = feature.kind == "city" and not feature.open
        if not is_complete_city or DARMSTADTIUM not in feature.marks:
            return points
        return points + BONUS_POINTS

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> ChurchCompleted | None:
        """§26.3: Before any meeple goes home, decide the bonus of the next church; called until all are decided."""
        part = get_current_part(state)
        for church in part.done:
            feature = state.features[church]
            if CHURCH in feature.marks:
                cell = find_segment_cell(state, church)
                if _make_church_note(cell) not in part.notes:
                    return ChurchCompleted(cell, find_bonus(state, rules, cell))
        return None

    def after_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> ChurchPaid | None:
        """§26.3: Return the payment for the next church that is due; the hook is called until none is."""
        due = [ChurchPaid(cell, awards) for cell, awards in get_due_bonuses(state).items()]
        return due[0] if due else None


BOX = Darmstadt()
