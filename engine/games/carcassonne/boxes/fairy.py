"""§10, the fairy: a point for each turn that begins with her beside a meeple, three when its feature is scored."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Moment, Rules
from engine.games.carcassonne.offers import is_barred
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    find_figure,
    finish_figure_step,
    get_field,
    list_figures,
)
from engine.menu import Choice, Move

TURN_POINTS, FEATURE_POINTS = 1, 3


class FairyMoved(Struct, frozen=True, omit_defaults=True, tag=True):
    figure: Figure


def apply_fairy_moved(state: State, event: FairyMoved) -> State:
    return replace(finish_figure_step(state), fairy=event.figure)


def get_figure_with_fairy(state: State) -> Figure | None:
    """Return the figure that the fairy is beside; None before she is placed.

    The figure may have left since; from edition 6 on its seat is then `NO_SEAT`.
    """
    figure: Figure | None = get_field(state, "fairy")
    return figure


def get_fairy_place(state: State) -> str:
    """Return the place of the figure that the fairy is beside, for the view; empty before she is placed."""
    figure = get_figure_with_fairy(state)
    return figure.place if figure else ""


class Fairy(BoxHooks):
    """A figure without an owner, who rewards the meeple beside her."""

    option = "fairy"
    about = "The fairy, who rewards the figure she stands with (§10)"
    state_fields = {"fairy": (Figure | None, None)}
    view_fields = {"fairy": (str, get_fairy_place)}
    verbs = ("fairy",)
    events = {FairyMoved: apply_fairy_moved}

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§10.1: Offer to move the fairy beside one of the own meeples."""
        own = rules.select_meeples(list_figures(state), seat)
        own = [figure for figure in own if figure != get_figure_with_fairy(state)]
        places = tuple((figure.place,) for figure in own if not is_barred(state, rules, figure.cell))
        return Choice("fairy", places, "10.1") if places else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [FairyMoved(find_figure(state, move.args[0]))]

    def award_turn_start(self, state: State, rules: Rules, part: Part) -> tuple[Award, ...]:
        """§10.2: One point for a turn that begins with the fairy beside an own meeple, once in a double turn."""
        figure = get_figure_with_fairy(state)
        if figure is None or figure.seat != state.turn or part.kind == "builder":
            return ()
        if figure not in list_figures(state):  # the figure has left, and the fairy is still at its place
            return ()
        return (Award(state.turn, TURN_POINTS, "fairy"),)

    def award_bonus(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...]:
        """§10.3: Three points for the owner of the figure beside her, in the lead or not."""
        figure = get_figure_with_fairy(state)
        if figure is None or figure not in feature.figures:
            return ()
        return (Award(figure.seat, FEATURE_POINTS, "fairy"),)


BOX = Fairy()
