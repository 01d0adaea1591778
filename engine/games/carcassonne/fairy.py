"""§10, the fairy: a point for every turn that begins with her beside one's figure, three when its feature is scored."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.games.carcassonne.expansion import Expansion, Rules
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    find_figure,
    on_top,
    part_of,
    standing_figures,
)
from engine.menu import Choice, Move

PER_TURN, PER_FEATURE = 1, 3


class FairyMoved(Struct, frozen=True, omit_defaults=True, tag=True):
    figure: Figure


def act(state: State, seat: int, rules: Rules) -> Choice | None:
    """§10.1: instead of placing a figure, to one of one's own meeples."""
    own = [figure for figure in standing_figures(state) if figure.seat == seat and rules.strength[figure.kind]]
    places = tuple((figure.place,) for figure in own if figure != state.fairy)
    return Choice("fairy", places, "10.1") if places else None


def decide(state: State, seat: int, move: Move, rules: Rules) -> list[Struct]:
    return [FairyMoved(find_figure(state, move.args[0]))]


def moved(state: State, event: FairyMoved) -> State:
    return replace(state, fairy=event.figure, work=on_top(state, replace(part_of(state), step="score")))


def at_start(state: State, part: Part) -> tuple[Award, ...]:
    """§10.2: once in a double turn."""
    guarded = state.fairy is not None and state.fairy.seat == state.turn and state.fairy in standing_figures(state)
    return (Award(state.turn, PER_TURN, "fairy"),) if guarded and part.kind != "builder" else ()


def bonus(state: State, feature: Feature) -> tuple[Award, ...]:
    """§10.3: to the owner of the figure beside her, whoever leads."""
    guarded = state.fairy is not None and state.fairy in feature.figures
    return (Award(state.fairy.seat, PER_FEATURE, "fairy"),) if state.fairy and guarded else ()


BOX = Expansion(
    option="fairy",
    act=act,
    rounds={"1a": at_start},
    bonus=bonus,
    decide={"fairy": decide},
    evolve={FairyMoved: moved},
)
