"""The turn, in the order of the book, whose paragraphs it cites."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.carcassonne import scoring
from engine.games.carcassonne.boxes import POINT_EVENTS, Began, Options, get_rules, inns_cathedrals, plays_with
from engine.games.carcassonne.hooks import Rules, pick_tile, place_tile
from engine.games.carcassonne.land import read_figure
from engine.games.carcassonne.offers import (
    FIGURE_OFFERS,
    has_hooks,
    has_own_tile,
    list_menus,
    offer_instead_of_tile,
    take_own_tile,
)
from engine.games.carcassonne.state import (
    BonusCounted,
    FigurePlaced,
    FigureWithheld,
    FinalScoringBegan,
    GameEnded,
    Part,
    PartEnded,
    RoundClosed,
    RoundOpened,
    State,
    Step,
    Task,
    TileDrawn,
    TilePlaced,
    TileSetAside,
    TurnBegan,
    Work,
    can_draw,
    count_points_of,
    get_current_part,
)
from engine.menu import Menu, Move
from engine.refusal import Refused

META = Meta(
    name="carcassonne",
    title="Carcassonne",
    seats=(2, 3, 4, 5, 6),
    options=Options,
    edition=6,
    stage="complete",
    designer="Klaus-Jürgen Wrede",
    publisher="Hans im Glück",
    year=2000,
    minutes=60,
    about="Lay the land tile by tile, and send your meeples out as robbers, knights, monks and farmers.",
    about_options={"messages": "You have two scoring figures; stop on a dark space to get a message."},
    skips=("pass",),
)

_last_menu: tuple[State | None, Menu] = (None, ())
"""The last position for which a menu of a part was made, with this menu."""

Stage = Callable[[State, Rules, Part, Chance], Struct | None]
"""Something the rules may do in a step of a part: returns the next event, or None if there is nothing to do."""

WAYS_TO_TILES = ("offer_instead_of_tile", "take_own_tile", "filter_bag", "pick_tile")
"""The hooks without which a tile is simply drawn."""


def objection(options: Options, seats: int) -> Refused | None:
    """Return why a table cannot have these options, or None; §1.1: for six seats it needs Inns & Cathedrals."""
    if seats == 6 and not plays_with(options, inns_cathedrals.BOX):
        return Refused("Six players need “Inns & Cathedrals”; switch it on.", rule="1.1")
    for box in get_rules(options).hooks["objection"]:
        refusal = box.objection(options)
        if refusal is not None:
            return refusal
    return None


def setup(options: Options, seats: int, chance: Chance, edition: int = META.edition) -> list[Struct]:
    """§1: Return the events that prepare the table, and the first turn of a random seat."""
    rules = get_rules(options)
    deck = rules.make_deck()
    first = chance.pick("start player", range(seats))
    track = ((0,) * rules.scoring_figures,) * seats
    began = Began(options, first, rules.supply, deck.bags, track, edition)
    return [began, TilePlaced(deck.start, "0,0"), *deck.beside, TurnBegan(first)]


def menu(state: State, seat: int) -> Menu:
    """Return the moves of a seat: awards it is owed come first, then the work of the seat on turn goes on."""
    if state.owed and waits_for_scorer(state):
        return scoring.menu(state, seat)
    if state.phase != "playing":
        return ()
    work = state.work[-1]
    if isinstance(work, Part):
        return get_part_menu(state, work) if seat == state.turn else ()
    asked_seats = work.seats or (state.turn,)
    if seat not in asked_seats:
        return ()
    rules = get_rules(state.options)
    return rules.tasks[work.step].menu(state, rules, seat, work)


def get_part_menu(state: State, part: Part) -> Menu:
    """Return the moves of the seat on turn with its tile.

    The last one is cached: upkeep, the page and the check of the move ask for it one after another. A cache in the
    state itself would need a `__dict__` there, and every copy of the state would take longer.
    """
    global _last_menu
    last_state, part_menu = _last_menu
    if last_state is not state:
        rules = get_rules(state.options)
        part_menu = list_menus(rules)[part.step](state, rules, part)
        _last_menu = state, part_menu
    return part_menu


def decide(state: State, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
    """Return the events of a move from the menu."""
    rules = get_rules(state.options)
    match move.verb:
        case "place":
            cell, turn = move.args
            event = TilePlaced(get_current_part(state).tile, cell, int(turn), seat)
            return place_tile(state, rules, event, chance)
        case "figure":
            return [FigurePlaced(read_figure(state, seat, *move.args))]
        case "pass":
            return [FigureWithheld(seat)]
        case "draw":
            return [_draw_tile(state, rules, chance)]
        case "score":
            return [scoring.move_scorer(state, seat, move.args[0])]
    return rules.verbs[move.verb].decide(state, rules, seat, move, chance)


def waits_for_scorer(state: State) -> bool:
    """§5.3: Whether a seat has to choose a scoring figure before the game goes on."""
    if state.options.figures == "at_once":
        return bool(state.owed)
    return any(award.seat == state.turn for award in state.owed)


def upkeep(state: State, chance: Chance) -> Struct | None:
    """Return the next event that the rules force, or None if a seat has to move or the game is over."""
    if state.phase != "playing":
        return _end_game(state, chance)
    if state.owed and waits_for_scorer(state):
        return None
    work = state.work[-1]
    rules = get_rules(state.options)
    if isinstance(work, Task):
        return _resolve_task(state, rules, work, chance)
    for stage in list_stages(rules)[work.step]:
        event = stage(state, rules, work, chance)
        if event is not None:
            return event
    return None


def _resolve_task(state: State, rules: Rules, task: Task, chance: Chance) -> Struct | None:
    """Return the event that ends a task without asking, or None if its seats have to move.

    A task that does not belong to the scoring round first closes that.
    """
    box = rules.tasks[task.step]
    if task.step not in box.tasks_within_round:
        event = _close_round(state, rules, task, chance)
        if event is not None:
            return event
    return box.resolve_task(state, rules, task, chance)


def _find_first_event(events: Iterable[Struct | None]) -> Struct | None:
    """Return the first event of these, or None if there is none."""
    return next((event for event in events if event is not None), None)


@functools.cache
def list_stages(rules: Rules) -> dict[Step, tuple[Stage, ...]]:
    """Return for each step of a part what the rules may do in it, in order.

    Each scoring round (`ROUNDS`) is closed before the turn goes on; that matters only for seats that have two scoring
    figures. After the figure comes what boxes do then, and the same as in the step `score`.
    """

    def list_hooks(name: str) -> tuple[Stage, ...]:
        return tuple(getattr(box, name) for box in rules.hooks[name])

    def list_round_opener(name: str) -> tuple[Stage, ...]:
        return (functools.partial(_open_round, name),) if rules.rounds[name] else ()

    close = (_close_round,) if rules.scoring_figures > 1 else ()
    draw = _draw_or_end if has_hooks(rules, WAYS_TO_TILES) else _draw_plainly_or_end
    features = (_score_completed, *list_hooks("after_scoring"), *list_hooks("end_scoring"))
    score = (*list_round_opener("3"), *features, *close, *list_round_opener("4"), *list_hooks("after_tile"), _end_part)
    return {
        "draw": (*list_round_opener("1a"), *close, draw),
        "place": (*list_hooks("react_to_drawing"), *close, _set_tile_aside),
        "figure": (*list_round_opener("1c"), *close, _skip_figure),
        "between": (*list_hooks("after_figure"), *close, *score),
        "score": score,
    }


@functools.cache
def has_plain_turns(rules: Rules) -> bool:
    """Whether no box of the table changes what comes between a figure and the next tile, or how a tile is drawn."""
    plain_stages = (_skip_figure, _close_round, _score_completed, _end_part, _draw_plainly_or_end)
    stages = [stage for step in ("figure", "score", "draw") for stage in list_stages(rules)[step]]
    # Hooks that are no stages of these steps: for menus, for the step `between`, and within the base game's stages.
    hooks = (*FIGURE_OFFERS, "after_figure", "before_feature", "end_turn")
    return not has_hooks(rules, hooks) and all(stage in plain_stages for stage in stages)


@functools.cache
def has_plain_end(rules: Rules) -> bool:
    """Whether features are counted one after the other at the end, with all their figures."""
    return not has_hooks(rules, ("before_final_scoring", "select_figures", "remember_score"))


def _open_round(place: str, state: State, rules: Rules, part: Part, chance: Chance) -> RoundOpened | None:
    """Open the scoring round at this place of the turn (a key of `ROUNDS`), once, if a box gives points there."""
    if part.passed >= place:  # the keys are in the order of the turn
        return None
    awards = tuple(award for hook in rules.rounds[place] for award in hook(state, rules, part))
    return RoundOpened(place, awards) if awards else None


def _close_round(state: State, rules: Rules, work: Work, chance: Chance) -> Struct | None:
    """§5.4: Return what a box does after a round in which figures of the seat on turn moved, or else close the round.

    Return None if none of them moved.
    """
    if not state.moved:
        return None
    event = _find_first_event(box.after_round(state, rules, chance) for box in rules.hooks["after_round"])
    return event or RoundClosed()


def _draw_plainly_or_end(state: State, rules: Rules, part: Part, chance: Chance) -> Struct:
    """§2.1: Draw a tile where no box of the table changes how; without tiles end the part."""
    return draw_plainly(state, state.turn, chance) if can_draw(state) else _end_without_tiles(state, rules)


def draw_plainly(state: State, seat: int, chance: Chance) -> TileDrawn:
    """§2.1: Draw a tile for a seat; all tiles of the first bag have the same chance."""
    return TileDrawn(seat, chance.pick("tile", state.bags[0]))


def _draw_or_end(state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
    """§2.1: Draw a tile, unless the seat can choose something instead; without tiles end the part."""
    if offer_instead_of_tile(state, rules, part):
        return None
    if can_draw(state) or has_own_tile(state, rules, state.turn):
        return _draw_tile(state, rules, chance)
    return _end_without_tiles(state, rules)


def _draw_tile(state: State, rules: Rules, chance: Chance) -> Struct:
    """§2.1: Take a tile that the seat has already, or else draw one."""
    own = take_own_tile(state, rules, state.turn)
    return own or TileDrawn(state.turn, pick_tile(state, rules, chance))


def _end_without_tiles(state: State, rules: Rules) -> Struct:
    """§4.1: Return to interrupted work; if there is none, begin an extra turn of a box or the final scoring."""
    if len(state.work) > 1:
        return PartEnded(state.turn)
    overtime = _find_first_event(box.begin_overtime(state, rules) for box in rules.hooks["begin_overtime"])
    return overtime or FinalScoringBegan(_list_scores(state))


def _set_tile_aside(state: State, rules: Rules, part: Part, chance: Chance) -> TileSetAside | None:
    """§2.3: Remove a tile that fits nowhere from the game."""
    return None if get_part_menu(state, part) else TileSetAside(state.turn, part.tile)


def _skip_figure(state: State, rules: Rules, part: Part, chance: Chance) -> FigureWithheld | None:
    """§2.6: Pass for a seat that can do nothing else."""
    return FigureWithheld(state.turn) if can_only_pass(state, part) else None


def can_only_pass(state: State, part: Part) -> bool:
    """Whether the seat on turn has no figure to place, and nothing to do instead: `pass` is always in the menu."""
    return len(get_part_menu(state, part)) == 1


def _score_completed(state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
    """§3: Score the next of the completed features, after what boxes do before it."""
    for root in part.done:
        boxes = rules.hooks["before_feature"]
        event = _find_first_event(box.before_feature(state, rules, root, chance) for box in boxes)
        if event is not None:
            return event
        feature = state.features[root]
        if feature.figures and scoring.select_figures(state, rules, feature, "scored"):
            return scoring.score_feature(state, rules, root, "scored")
    return None


def _end_part(state: State, rules: Rules, part: Part, chance: Chance) -> Struct:
    """§2.7: Return to the work that this part interrupted; else do what boxes do after a turn, and begin the next one.

    Without a tile for the next seat, an extra turn of a box or the final scoring begins.
    """
    if len(state.work) > 1:
        return PartEnded(state.turn)
    event = _find_first_event(box.end_turn(state, rules, part, chance) for box in rules.hooks["end_turn"])
    if event is not None:
        return event
    next_seat = find_next_seat(state)
    if can_draw(state) or has_own_tile(state, rules, next_seat):
        return TurnBegan(next_seat)
    return _end_without_tiles(state, rules)


def find_next_seat(state: State) -> int:
    """§2.7: Return the seat whose turn comes next."""
    return (state.turn + 1) % len(state.track)


def _list_scores(state: State) -> tuple[int, ...]:
    return tuple(count_points_of(state, seat) for seat in range(len(state.track)))


def _end_game(state: State, chance: Chance) -> Struct | None:
    """§4: After what boxes do first, count the features on the table, then the bonuses of boxes, then end the game.

    Return None if it is over already.
    """
    if state.phase == "over":
        return None
    rules = get_rules(state.options)
    boxes = rules.hooks["before_final_scoring"]
    event = _find_first_event(box.before_final_scoring(state, rules, chance) for box in boxes)
    if event is not None:
        return event
    root = scoring.find_next_to_count(state, rules)
    if root is not None:
        return scoring.score_feature(state, rules, root, "final")
    for box in rules.hooks["award_at_end"]:
        if box.option in state.counted:
            continue
        awards = box.award_at_end(state, rules)
        if awards is not None:
            return BonusCounted(box.option, awards)
    scores = _list_scores(state)
    places = tuple(1 + sum(other > own for other in scores) for own in scores)  # level seats share a place
    return GameEnded(places)


def standing(state: State) -> tuple[Standing, ...]:
    """§4.6: Return the score of each seat, and once the game is over its place."""
    places = state.places or (None,) * len(state.track)
    return tuple(Standing(count_points_of(state, seat), place=place) for seat, place in enumerate(places))


def sources(event: Any, seat: int) -> tuple[tuple[str, int], ...]:
    """Return the points that this event brings a seat, each with its reason."""
    reason = POINT_EVENTS.get(type(event))
    if reason:
        return ((reason, event.points),) if event.seat == seat else ()
    return tuple((award.why, award.points) for award in getattr(event, "awards", ()) if award.seat == seat)
