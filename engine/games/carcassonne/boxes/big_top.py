"""§13, Under the Big Top: a circus that travels, acrobats who build pyramids, and ringmasters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import MEEPLE_SEGMENTS, BoxHooks, Moment, Rules
from engine.games.carcassonne.land import find_token_root, get_signs, has_segment, send_home
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    add_note,
    apply_awards,
    change_part,
    finish_figure_step,
    get_field,
    list_figures,
    make_getter,
)
from engine.games.carcassonne.tiles import DATA, Args, list_nine_cells
from engine.menu import Choice, Move

ACROBATS = "acrobats"
FULL_PYRAMID, ACROBAT_POINTS = 3, 5
RINGMASTER_POINTS = 2
TOKENS: dict[str, int] = DATA["animals"]
"""How many animal tokens there are of each value."""


class CircusShown(Struct, frozen=True, omit_defaults=True, tag=True):
    """The token under the tent was turned over; each seat is paid for its meeples around it."""

    cell: str
    animal: int
    awards: tuple[Award, ...]


class TentPitched(Struct, frozen=True, omit_defaults=True, tag=True):
    """The tent was put on a circus tile."""

    cell: str


class PyramidScored(Struct, frozen=True, omit_defaults=True, tag=True):
    """A full pyramid was scored, and its acrobats go home."""

    cell: str
    awards: tuple[Award, ...]
    figures: tuple[Figure, ...]


def get_tent_cell(state: State) -> str:
    """Return the cell with the tent; empty if it is not on the table."""
    return str(get_field(state, "tent"))


get_animals_left = make_getter("animals", tuple[int, ...])
"""The values of the tokens that have not been turned over."""


def apply_circus_shown(state: State, event: CircusShown) -> State:
    """Pay, and take the token and the tent away."""
    left = list(get_animals_left(state))
    left.remove(event.animal)
    if state.work:  # there is none in the final scoring
        state = change_part(state, step="score")  # as after a scored feature, boxes do not react to the figure again
    return apply_awards(replace(state, tent="", animals=tuple(left)), event.awards)


def apply_tent_pitched(state: State, event: TentPitched) -> State:
    """Move the tent, and note in this part of the turn that its circus is done.

    Meanwhile a message may begin a part of its own, in which the tent moves too.
    """
    return replace(add_note(state, "circus"), tent=event.cell)


def apply_pyramid_scored(state: State, event: PyramidScored) -> State:
    """§13.6: Send the acrobats home in place of a figure, and pay their owners.

    The points are a scoring round of their own: the next step closes it before completed features are scored.
    """
    state = send_home(finish_figure_step(state), event.figures)
    return apply_awards(state, event.awards)


def _show_circus(state: State, rules: Rules, chance: Chance) -> CircusShown:
    """§13.3: Turn a token over, and award its value for each meeple on the nine cells around the tent."""
    cell, animal = get_tent_cell(state), chance.pick("animal", get_animals_left(state))
    cells = list_nine_cells(cell)
    audience = [figure for figure in list_figures(state) if figure.cell in cells]
    counts = {seat: len(rules.select_meeples(audience, seat)) for seat in range(len(state.track))}
    awards = tuple(Award(seat, animal * count, "circus") for seat, count in counts.items() if count)
    return CircusShown(cell, animal, awards)


def _find_pyramids(state: State) -> dict[str, Feature]:
    """Return every pyramid on the table by its cell."""
    cells = {figure.cell for figure in list_figures(state) if figure.segment == ACROBATS}
    in_order = sorted(cells)  # a set has no order, and menus list the pyramids
    return {cell: state.features[find_token_root(state, cell, ACROBATS)] for cell in in_order}


def list_open_pyramids(state: State, cells: Iterable[str]) -> list[str]:
    """§13.5: Return those of the cells with a place for acrobats where one more can be put."""
    pyramids = _find_pyramids(state)
    stages = [cell for cell in cells if has_segment(state, cell, ACROBATS)]
    return [cell for cell in stages if cell not in pyramids or len(pyramids[cell].figures) < FULL_PYRAMID]


def _award_pyramid(pyramid: Feature) -> tuple[Award, ...]:
    """Return an award for each seat with acrobats in a pyramid."""
    counts = Counter(figure.seat for figure in pyramid.figures)
    return tuple(Award(seat, ACROBAT_POINTS * count, ACROBATS) for seat, count in sorted(counts.items()))


def _count_show_tiles(state: State, cell: str) -> int:
    """Count the tiles with the circus or acrobats on a cell and the eight around it."""
    return sum("circus" in get_signs(state, one) or has_segment(state, one, ACROBATS) for one in list_nine_cells(cell))


class BigTop(BoxHooks):
    """The circus, the acrobats and the ringmaster."""

    option = "big_top"
    title = "Under the Big Top"
    about = "The circus, acrobats and ringmasters, 20 tiles (§13)"
    supply = {"ringmaster": 1}
    strength = {"ringmaster": 1}
    segments = {"ringmaster": MEEPLE_SEGMENTS}
    feature_kinds = (ACROBATS,)
    state_fields = {"tent": (str, ""), "animals": (tuple[int, ...], ())}
    view_fields = {"tent": (str, get_tent_cell), "animals": (tuple[int, ...], get_animals_left)}
    verbs = ("pyramid",)
    events = {CircusShown: apply_circus_shown, TentPitched: apply_tent_pitched, PyramidScored: apply_pyramid_scored}

    def prepare(self, state: State, rules: Rules) -> State:
        return replace(state, animals=tuple(int(value) for value, count in TOKENS.items() for _ in range(count)))

    def offer_figures(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """§13.5: Offer to put a small meeple on a pyramid on the new tile or around it."""
        if not state.supply[seat]["meeple"]:
            return ()
        free = list_open_pyramids(state, list_nine_cells(part.cell))
        return [("meeple", ACROBATS if cell == part.cell else f"{cell}/{ACROBATS}") for cell in free]

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§13.6: Offer to score a full pyramid."""
        full = [cell for cell, pyramid in _find_pyramids(state).items() if len(pyramid.figures) == FULL_PYRAMID]
        return Choice("pyramid", tuple((f"{cell}/{ACROBATS}",) for cell in full), "13.6") if full else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§13.6: Score the full pyramid at the place that the move names."""
        cell = move.args[0].partition("/")[0]
        pyramid = _find_pyramids(state)[cell]
        return [PyramidScored(cell, _award_pyramid(pyramid), pyramid.figures)]

    def award_without_lead(
        self, state: State, rules: Rules, feature: Feature, moment: Moment
    ) -> tuple[Award, ...] | None:
        """§13.7: Five points for each acrobat of a pyramid, on which there is no lead; None for other features."""
        return _award_pyramid(feature) if feature.kind == ACROBATS else None

    def award_bonus(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...]:
        """§13.8: Two points for every tile with the circus or acrobats around a ringmaster."""
        ringmasters = [figure for figure in feature.figures if figure.kind == "ringmaster"]
        awards = [
            Award(figure.seat, RINGMASTER_POINTS * _count_show_tiles(state, figure.cell), "ringmaster")
            for figure in ringmasters
        ]
        return tuple(award for award in awards if award.points)

    def end_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """§13.2, §13.3: For a new circus tile the circus plays, then the tent moves there.

        This is called again after the show, which takes the tent away; pitching it notes that the circus is done.
        """
        if "circus" not in get_signs(state, part.cell) or "circus" in part.notes:
            return None
        if get_tent_cell(state):
            return _show_circus(state, rules, chance)
        return TentPitched(part.cell)

    def before_final_scoring(self, state: State, rules: Rules, chance: Chance) -> Struct | None:
        """§13.4: The circus plays once more at the end."""
        return _show_circus(state, rules, chance) if get_tent_cell(state) else None


BOX = BigTop()
