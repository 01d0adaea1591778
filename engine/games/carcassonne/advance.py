"""Several forced events in one step, at tables whose boxes change nothing about them.

`rules.upkeep` and `evolve` do the same one event after the other, and take longer; a test holds both together.
"""

from __future__ import annotations

from msgspec import Struct

from engine.chance import Chance
from engine.game import Outcome
from engine.games.carcassonne import scoring
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.evolve import NEW_PART, draw_tile
from engine.games.carcassonne.hooks import Rules
from engine.games.carcassonne.rules import (
    can_only_pass,
    draw_plainly,
    find_next_seat,
    has_plain_end,
    has_plain_turns,
)
from engine.games.carcassonne.state import FigureWithheld, Part, State, TurnBegan, can_draw


def advance(state: State, chance: Chance) -> Outcome | None:
    """Return several forced events at once with the state after them; None if `upkeep` has to find them one by one."""
    rules = get_rules(state.options)
    if state.phase == "playing" and has_plain_turns(rules) and _is_turn_over(state):
        return _begin_next_turn(state, chance)
    if state.phase == "final" and has_plain_end(rules):
        return _count_features(state, rules)
    return None


def _begin_next_turn(state: State, chance: Chance) -> Outcome:
    """§2.7, §2.1: Let the next seat draw its tile.

    If the seat on turn was not asked for a figure, because it has none, its turn first ends without one.
    """
    (part,) = state.work  # `_is_turn_over` has seen that there is no other work
    withheld = (FigureWithheld(state.turn),) if part.step == "figure" else ()
    seat = find_next_seat(state)
    drawn = draw_plainly(state, seat, chance)
    return Outcome(draw_tile(state, NEW_PART, drawn.tile, turn=seat), (*withheld, TurnBegan(seat), drawn))


def _is_turn_over(state: State) -> bool:
    """Whether the last part of a turn offers no figure and scores no feature, and there is a tile for the next turn."""
    if len(state.work) != 1 or state.owed or state.moved or not can_draw(state):
        return False
    part = state.work[0]
    if not isinstance(part, Part):
        return False
    if part.done and any(state.features[root].figures for root in part.done):
        return False
    return part.step == "score" or (part.step == "figure" and can_only_pass(state, part))


def _count_features(state: State, rules: Rules) -> Outcome | None:
    """§4: Count all features with figures that are left on the table; None if there are none."""
    events: list[Struct] = []
    for root in scoring.list_features_to_count(state, rules):
        event = scoring.score_feature(state, rules, root, "final")
        state = scoring.apply_feature_scored(state, event)
        events.append(event)
    return Outcome(state, tuple(events)) if events else None
