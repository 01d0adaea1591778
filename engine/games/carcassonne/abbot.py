"""§8, the abbot: he serves in cloisters and gardens, and may come home before they are complete."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import scoring
from engine.games.carcassonne.board import DATA, ENCLOSED, GARDEN, gardens_of
from engine.games.carcassonne.expansion import Box, Deck, Rules
from engine.games.carcassonne.land import root_of, taken_back
from engine.games.carcassonne.state import (
    Award,
    Figure,
    Part,
    State,
    awarded,
    find_figure,
    on_top,
    part_of,
    standing_figures,
)
from engine.menu import Choice, Move


class AbbotRecalled(Struct, frozen=True, omit_defaults=True, tag=True):
    """An abbot went home, and what his cloister or garden was worth is scored at once."""

    figure: Figure
    awards: tuple[Award, ...]


def _planted(bag: tuple[str, ...], gardens: dict[str, int]) -> tuple[str, ...]:
    left, planted = dict(gardens), list[str]()
    for tile in bag:
        garden = left.get(tile, 0) > 0
        left[tile] = left.get(tile, 0) - 1
        planted.append(tile + GARDEN if garden else tile)
    return tuple(planted)


def recalled(state: State, event: AbbotRecalled) -> State:
    """§8.4: a scoring round of its own, before the features are scored."""
    part = replace(part_of(state), step="between")
    return awarded(taken_back(replace(state, work=on_top(state, part)), (event.figure,)), event.awards)


class Abbot(Box):
    """One more meeple for cloisters and gardens."""

    option = "abbot"
    about = "The abbot, and gardens on some of the tiles (§8)"
    supply = {"abbot": 1}
    strength = {"abbot": 1}
    followers = {"abbot": ENCLOSED}
    verbs = ("recall",)
    events = {AbbotRecalled: recalled}

    def deck(self, deck: Deck) -> Deck:
        """§8.2: some copies of tiles show a garden."""
        gardens = {name: number for box in DATA["tiles"] for name, number in gardens_of(box).items()}
        return replace(deck, bags=tuple(_planted(bag, gardens) for bag in deck.bags))

    def act(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        own = [figure for figure in standing_figures(state) if figure.seat == seat and figure.kind == "abbot"]
        return Choice("recall", tuple((figure.place,) for figure in own), "8.3") if own else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        figure = find_figure(state, move.args[0])
        feature = state.features[root_of(state, figure)]
        awards: tuple[Award, ...] = (Award(seat, scoring.worth(state, rules, feature, "recalled"), feature.kind),)
        for box in rules.hooks["bonus"] if state.edition == 1 else ():
            awards += box.bonus(state, rules, feature, "recalled")
        return [AbbotRecalled(figure, awards)]


BOX = Abbot()
