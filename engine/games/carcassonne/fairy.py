"""§10, the fairy: a point for every turn that begins with her beside one's figure, three when its feature is scored."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.expansion import Box, Moment, Rules
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    find_figure,
    on_top,
    part_of,
    slot,
    standing_figures,
)
from engine.menu import Choice, Move

PER_TURN, PER_FEATURE = 1, 3


class FairyMoved(Struct, frozen=True, omit_defaults=True, tag=True):
    figure: Figure


def moved(state: State, event: FairyMoved) -> State:
    part = replace(part_of(state), step="between")
    return replace(state, fairy=event.figure, work=on_top(state, part))


def guarded(state: State) -> Figure | None:
    """The figure that the fairy stands with."""
    figure: Figure | None = slot(state, "fairy")
    return figure


def shown(state: State) -> str:
    figure = guarded(state)
    return figure.place if figure else ""


class Fairy(Box):
    """A figure that belongs to nobody and rewards the one beside her."""

    option = "fairy"
    about = "The fairy, who rewards the figure she stands with (§10)"
    slots = {"fairy": (Figure | None, None)}
    shows = {"fairy": (str, shown)}
    verbs = ("fairy",)
    events = {FairyMoved: moved}

    def act(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§10.1: instead of placing a figure, to one of one's own meeples."""
        own = rules.meeples(standing_figures(state), seat)
        places = tuple((figure.place,) for figure in own if figure != guarded(state))
        return Choice("fairy", places, "10.1") if places else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [FairyMoved(find_figure(state, move.args[0]))]

    def turn_begins(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """§10.2: once in a double turn."""
        figure = guarded(state)
        if figure is None or figure.seat != state.turn or part.kind == "builder":
            return ()
        return (Award(state.turn, PER_TURN, "fairy"),) if figure in standing_figures(state) else ()

    def bonus(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...]:
        """§10.3: to the owner of the figure beside her, whoever leads."""
        figure = guarded(state)
        return (Award(figure.seat, PER_FEATURE, "fairy"),) if figure and figure in feature.figures else ()


BOX = Fairy()
