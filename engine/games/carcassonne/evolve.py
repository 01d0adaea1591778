"""The contract's `evolve`: what each event changes; it never draws, never refuses and never computes a score."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.games.carcassonne import land, scoring
from engine.games.carcassonne.boxes import BOXES, Began, get_rules, get_state_type
from engine.games.carcassonne.hooks import merge_distinct
from engine.games.carcassonne.state import (
    BonusCounted,
    FeatureScored,
    FigurePlaced,
    FigureWithheld,
    FinalScoringBegan,
    GameEnded,
    Part,
    PartEnded,
    RoundClosed,
    RoundOpened,
    ScorerMoved,
    State,
    Step,
    TileDrawn,
    TilePlaced,
    TileSetAside,
    TurnBegan,
    Work,
    apply_awards,
    change_part,
    get_current_part,
    pop_work,
    take_from_bags,
)

NEW_PART = Part()


def evolve(state: State, event: Struct) -> State:
    """Return the state after an event."""
    try:
        apply = APPLY[type(event)]
    except KeyError:
        raise TypeError(f"no event of this game: {event!r}") from None
    return apply(state, event)


def _apply_began(empty: State, event: Began) -> State:
    """Begin with a new state, of the type that the boxes of the table need, and let these set up their pieces."""
    seats = len(event.track)
    state_type = get_state_type(event.options)
    state = state_type(
        options=event.options,
        edition=event.edition,
        turn=event.first,
        bags=event.bags,
        supply=(event.supply,) * seats,
        track=event.track,
    )
    rules = get_rules(event.options)
    for box in rules.hooks["prepare"]:
        state = box.prepare(state, rules)
    return state


def _apply_turn_began(state: State, event: TurnBegan) -> State:
    return replace(state, turn=event.seat, work=(NEW_PART,))


def _apply_tile_drawn(state: State, event: TileDrawn) -> State:
    return draw_tile(state, get_current_part(state), event.tile)


def draw_tile(state: State, part: Part, tile: str, **others: Any) -> State:
    """Take a tile from the bag for this part, which replaces the top of the work; change these other fields, too."""
    work = (*state.work[:-1], replace(part, step="place", tile=tile))
    return replace(state, bags=take_from_bags(state.bags, tile), work=work, **others)


def _apply_tile_set_aside(state: State, event: TileSetAside) -> State:
    return replace(change_part(state, step="draw", tile=""), aside=(*state.aside, event.tile))


def _apply_figure_placed(state: State, event: FigurePlaced) -> State:
    return land.add_figure(state, event.figure, work=_end_figure_step(state, event.figure.place))


def _apply_figure_withheld(state: State, event: FigureWithheld) -> State:
    return replace(state, work=_end_figure_step(state, ""))


def _end_figure_step(state: State, placed: str) -> tuple[Work, ...]:
    """Return the work in the next step of the part; `placed` is the place of the new figure, or empty.

    Boxes do nothing after the figure if the part has no tile, as the seat passed instead of placing its abbey.
    """
    part = get_current_part(state)
    is_box_next = part.cell and get_rules(state.options).hooks["after_figure"]
    step: Step = "between" if is_box_next else "score"
    return (*state.work[:-1], replace(part, step=step, placed=placed))


def _apply_feature_scored(state: State, event: FeatureScored) -> State:
    """Pay for the feature and send its figures home; boxes then remember of it what they need."""
    state = scoring.apply_feature_scored(state, event)
    rules = get_rules(state.options)
    for box in rules.hooks["remember_score"]:
        state = box.remember_score(state, rules, event)
    return state


def _apply_round_opened(state: State, event: RoundOpened) -> State:
    """Pay the awards; from a round that is opened after the figure the part goes on with its scoring."""
    step = get_current_part(state).step
    state = change_part(state, passed=event.place, step="score" if step == "between" else step)
    return apply_awards(state, event.awards)


def _apply_round_closed(state: State, event: RoundClosed) -> State:
    return replace(state, moved=())


def _apply_part_ended(state: State, event: PartEnded) -> State:
    return pop_work(state)


def _apply_final_scoring_began(state: State, event: FinalScoringBegan) -> State:
    """§4.2: One scoring figure shows the sum, and no award is owed any more."""
    track = tuple((total,) for total in event.totals)
    return replace(state, phase="final", work=(), track=track, owed=(), moved=())


def _apply_bonus_counted(state: State, event: BonusCounted) -> State:
    return apply_awards(replace(state, counted=(*state.counted, event.why)), event.awards)


def _apply_game_ended(state: State, event: GameEnded) -> State:
    return replace(state, phase="over", places=event.places)


APPLY: dict[type, Callable[[State, Any], State]] = {
    Began: _apply_began,
    TurnBegan: _apply_turn_began,
    TileDrawn: _apply_tile_drawn,
    TileSetAside: _apply_tile_set_aside,
    TilePlaced: land.apply_tile_placed,
    FigurePlaced: _apply_figure_placed,
    FigureWithheld: _apply_figure_withheld,
    FeatureScored: _apply_feature_scored,
    ScorerMoved: scoring.apply_scorer_moved,
    RoundOpened: _apply_round_opened,
    RoundClosed: _apply_round_closed,
    PartEnded: _apply_part_ended,
    FinalScoringBegan: _apply_final_scoring_began,
    BonusCounted: _apply_bonus_counted,
    GameEnded: _apply_game_ended,
    **merge_distinct("events", *(box.events for box in BOXES)),
}

Event: Any = functools.reduce(operator.or_, APPLY)
