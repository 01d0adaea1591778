"""§13, Under the Big Top: a circus that travels, acrobats who climb on each other, and ringmasters."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.board import DATA, Args
from engine.games.carcassonne.expansion import MEEPLE_PLACES, Box, Moment, Rules
from engine.games.carcassonne.land import has_place, near_to, root_at, signs_at, taken_back
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    awarded,
    on_top,
    part_of,
    slot,
    standing_figures,
)
from engine.menu import Choice, Move

ACROBATS = "acrobats"
FULL, EACH = 3, 5
PER_TILE = 2
TOKENS: dict[str, int] = DATA["animals"]


class CircusShown(Struct, frozen=True, omit_defaults=True, tag=True):
    """The token under the tent is turned over, and everybody is paid for the own meeples round it."""

    cell: str
    animal: int
    awards: tuple[Award, ...]


class TentPitched(Struct, frozen=True, omit_defaults=True, tag=True):
    cell: str


class PyramidScored(Struct, frozen=True, omit_defaults=True, tag=True):
    """A full pyramid is paid, and its acrobats go home."""

    cell: str
    awards: tuple[Award, ...]
    figures: tuple[Figure, ...]


def tent(state: State) -> str:
    """The cell with the tent, or nothing."""
    return str(slot(state, "tent"))


def animals(state: State) -> tuple[int, ...]:
    """The tokens that have not been turned over."""
    left: tuple[int, ...] = slot(state, "animals")
    return left


def shown(state: State, event: CircusShown) -> State:
    left = list(animals(state))
    left.remove(event.animal)
    if state.work:
        state = replace(state, work=on_top(state, replace(part_of(state), step="score")))
    return awarded(replace(state, tent="", animals=tuple(left)), event.awards)


def pitched(state: State, event: TentPitched) -> State:
    """The part of the turn remembers it, for a message may interrupt it and move the tent again."""
    part = part_of(state)
    return replace(state, tent=event.cell, work=on_top(state, replace(part, notes=(*part.notes, "circus"))))


def scored(state: State, event: PyramidScored) -> State:
    """§13.6: a scoring of round 2."""
    work = on_top(state, replace(part_of(state), step="between"))
    return awarded(taken_back(replace(state, work=work), event.figures), event.awards)


def _show(state: State, rules: Rules, chance: Chance) -> CircusShown:
    """§13.3: each seat gets the value of the token for each of its meeples on the nine tiles."""
    cell, animal = tent(state), chance.pick("animal", animals(state))
    near = near_to(cell)
    audience = [figure for figure in standing_figures(state) if figure.cell in near]
    counted = {seat: len(rules.meeples(audience, seat)) for seat in range(len(state.track))}
    return CircusShown(cell, animal, tuple(Award(seat, animal * n, "circus") for seat, n in counted.items() if n))


def _towers(state: State) -> dict[str, Feature]:
    """Every pyramid on the table by its cell."""
    found = {figure.cell for figure in standing_figures(state) if figure.segment == ACROBATS}
    return {cell: state.features[root_at(state, cell, ACROBATS)] for cell in sorted(found)}


def _paid(feature: Feature) -> tuple[Award, ...]:
    counted = dict[int, int]()
    for figure in feature.figures:
        counted[figure.seat] = counted.get(figure.seat, 0) + 1
    return tuple(Award(seat, EACH * n, ACROBATS) for seat, n in sorted(counted.items()))


class BigTop(Box):
    """The circus, the acrobats and the ringmaster."""

    option = "big_top"
    title = "Under the Big Top"
    about = "The circus, acrobats and ringmasters, 20 tiles (§13)"
    supply = {"ringmaster": 1}
    strength = {"ringmaster": 1}
    followers = {"ringmaster": MEEPLE_PLACES}
    kinds = (ACROBATS,)
    slots = {"tent": (str, ""), "animals": (tuple[int, ...], ())}
    shows = {"tent": (str, tent), "animals": (tuple[int, ...], animals)}
    verbs = ("pyramid",)
    events = {CircusShown: shown, TentPitched: pitched, PyramidScored: scored}

    def begun(self, state: State, rules: Rules) -> State:
        return replace(state, animals=tuple(int(value) for value, count in TOKENS.items() for _ in range(count)))

    def deploy(self, state: State, rules: Rules, seat: int, part: Part) -> Sequence[Args]:
        """§13.5: a small meeple climbs on the tile just laid or one beside it."""
        if not state.supply[seat]["meeple"]:
            return ()
        towers = _towers(state)
        near = [cell for cell in near_to(part.cell) if has_place(state, cell, ACROBATS)]
        free = [cell for cell in near if cell not in towers or len(towers[cell].figures) < FULL]
        return [("meeple", ACROBATS if cell == part.cell else f"{cell}/{ACROBATS}") for cell in free]

    def act(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        full = [cell for cell, pyramid in _towers(state).items() if len(pyramid.figures) == FULL]
        return Choice("pyramid", tuple((f"{cell}/{ACROBATS}",) for cell in full), "13.6") if full else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        cell = move.args[0].partition("/")[0]
        pyramid = _towers(state)[cell]
        return [PyramidScored(cell, _paid(pyramid), pyramid.figures)]

    def paid(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...] | None:
        """§13.7: five points for each acrobat, whoever leads."""
        return _paid(feature) if feature.kind == ACROBATS else None

    def bonus(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...]:
        """§13.8: two points for every circus and acrobats' tile round a ringmaster."""
        ringmasters = [figure for figure in feature.figures if figure.kind == "ringmaster"]
        paid = [Award(figure.seat, PER_TILE * _stages(state, figure.cell), "ringmaster") for figure in ringmasters]
        return tuple(award for award in paid if award.points)

    def after_features(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """§13.2, §13.3: the circus plays where it stands and moves on to the tile just laid."""
        if "circus" not in signs_at(state, part.cell) or "circus" in part.notes:
            return None
        return _show(state, rules, chance) if tent(state) else TentPitched(part.cell)

    def ending(self, state: State, rules: Rules, chance: Chance) -> Struct | None:
        """§13.4: once more at the end."""
        return _show(state, rules, chance) if tent(state) else None


def _stages(state: State, cell: str) -> int:
    return sum("circus" in signs_at(state, near) or has_place(state, near, ACROBATS) for near in near_to(cell))


BOX = BigTop()
