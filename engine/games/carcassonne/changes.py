"""What every event makes of the table: it never draws, never refuses and never computes a score."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.games.carcassonne import land, scoring
from engine.games.carcassonne.boxes import BOXES, Began, rules_of
from engine.games.carcassonne.boxes import State as Whole
from engine.games.carcassonne.expansion import apart
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
    awarded,
    on_top,
    part_of,
)


def evolve(state: State, event: Struct) -> State:
    try:
        change = CHANGES[type(event)]
    except KeyError:
        raise TypeError(f"no event of this game: {event!r}") from None
    return change(state, event)


def _began(empty: State, event: Began) -> State:
    seats = len(event.track)
    rules = rules_of(event.options)
    supply = (event.supply,) * seats
    state = Whole(options=event.options, edition=event.edition, turn=event.first, bags=event.bags)
    state = replace(state, supply=supply, track=event.track)
    for box in rules.hooks["begun"]:
        state = box.begun(state, rules)
    return state


def _turn_began(state: State, event: TurnBegan) -> State:
    return replace(state, turn=event.seat, work=FRESH)


FRESH = (Part(),)


def _drawn(state: State, event: TileDrawn) -> State:
    bag, *later = state.bags
    place, part = bag.index(event.tile), part_of(state)
    rest = bag[:place] + bag[place + 1 :]
    drawn = Part("place", part.kind, event.tile, "", (), part.passed, part.extra, part.notes)
    return replace(state, bags=(rest, *later) if rest else tuple(later), work=on_top(state, drawn))


def _set_aside(state: State, event: TileSetAside) -> State:
    part = replace(part_of(state), step="draw", tile="")
    return replace(state, aside=(*state.aside, event.tile), work=on_top(state, part))


def _figure_placed(state: State, event: FigurePlaced) -> State:
    return _figures_done(land.stationed(state, event.figure), event.figure.place)


def _figure_withheld(state: State, event: FigureWithheld) -> State:
    return _figures_done(state, "")


def _figures_done(state: State, placed: str) -> State:
    part = part_of(state)
    step: Step = "between" if rules_of(state.options).hooks["after_figure"] and part.cell else "score"
    done = Part(step, part.kind, part.tile, part.cell, part.done, part.passed, part.extra, part.notes, placed)
    return replace(state, work=(*state.work[:-1], done))


def _feature_scored(state: State, event: FeatureScored) -> State:
    state = scoring.scored(state, event)
    rules = rules_of(state.options)
    for box in rules.hooks["scored"]:
        state = box.scored(state, rules, event)
    return state


def _round_opened(state: State, event: RoundOpened) -> State:
    part = part_of(state)
    part = replace(part, passed=event.place, step="score" if part.step == "between" else part.step)
    return awarded(replace(state, work=on_top(state, part)), event.awards)


def _round_closed(state: State, event: RoundClosed) -> State:
    return replace(state, moved=())


def _part_ended(state: State, event: PartEnded) -> State:
    return replace(state, work=state.work[:-1])


def _final_began(state: State, event: FinalScoringBegan) -> State:
    """§4.2: one figure shows the sum, nothing is owed any more."""
    track = tuple((total,) for total in event.totals)
    return replace(state, phase="final", work=(), track=track, owed=(), moved=())


def _bonus_counted(state: State, event: BonusCounted) -> State:
    return awarded(replace(state, counted=(*state.counted, event.why)), event.awards)


def _game_ended(state: State, event: GameEnded) -> State:
    return replace(state, phase="over", places=event.places)


CHANGES: dict[type, Callable[[State, Any], State]] = {
    Began: _began,
    TurnBegan: _turn_began,
    TileDrawn: _drawn,
    TileSetAside: _set_aside,
    TilePlaced: land.placed,
    FigurePlaced: _figure_placed,
    FigureWithheld: _figure_withheld,
    FeatureScored: _feature_scored,
    ScorerMoved: scoring.advanced,
    RoundOpened: _round_opened,
    RoundClosed: _round_closed,
    PartEnded: _part_ended,
    FinalScoringBegan: _final_began,
    BonusCounted: _bonus_counted,
    GameEnded: _game_ended,
    **apart("events", *(box.events for box in BOXES)),
}

Event: Any = functools.reduce(operator.or_, CHANGES)
