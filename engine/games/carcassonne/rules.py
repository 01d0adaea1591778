"""The turn, in the order of the README, whose paragraphs it cites."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.carcassonne import land, scoring
from engine.games.carcassonne.board import FITS, WAYS, Args, spots
from engine.games.carcassonne.boxes import BOXES, rules_of
from engine.games.carcassonne.expansion import Rules
from engine.games.carcassonne.state import (
    Began,
    BonusCounted,
    Errand,
    FeatureScored,
    Figure,
    FigurePlaced,
    FigureWithheld,
    FinalScoringBegan,
    GameEnded,
    Options,
    Part,
    PartEnded,
    RoundClosed,
    RoundOpened,
    ScorerMoved,
    State,
    TileDrawn,
    TilePlaced,
    TileSetAside,
    TurnBegan,
    awarded,
    find,
    on_top,
    part_of,
)
from engine.menu import Choice, Menu, Move

META = Meta(
    name="carcassonne",
    title="Carcassonne",
    seats=(2, 3, 4, 5, 6),
    options=Options,
    edition=1,
    stage="complete",
    designer="Klaus-Jürgen Wrede",
    publisher="Hans im Glück",
    year=2000,
    minutes=60,
    about="Lay the land tile by tile, and send your meeples out as robbers, knights, monks and farmers. With two "
    "scoring figures each, and messages for whoever stops on a dark space.",
)

PASS = Choice("pass", rule="2.6")


def objection(options: Options, seats: int) -> str:
    """§1.1: the sixth set of figures comes with Inns & Cathedrals."""
    if seats == 6 and not options.inns_cathedrals:
        return "Six players need Inns & Cathedrals; switch “inns_cathedrals” on."
    return ""


def setup(options: Options, seats: int, chance: Chance) -> list[Struct]:
    rules = rules_of(options)
    deck = rules.deck()
    first = chance.pick("start player", range(seats))
    track = ((0,) * rules.scoring_figures,) * seats
    return [Began(options, first, rules.supply, deck.bags, track), TilePlaced(deck.start, "0,0"), TurnBegan(first)]


def menu(state: State, seat: int) -> Menu:
    """Whoever is owed points chooses first; then the seat on turn goes on with its tile."""
    if state.owed and waits(state):
        return scoring.menu(state, seat)
    return turn_menu(state) if seat == state.turn and state.phase == "playing" else ()


_latest: list[tuple[State, Menu]] = [(State(), ())]


def turn_menu(state: State) -> Menu:
    """What the seat on turn may do; remembered for the latest position, which is asked for again at once."""
    known, remembered = _latest[0]
    if known is state:
        return remembered
    made = _turn_menu(state)
    _latest[0] = (state, made)
    return made


def _turn_menu(state: State) -> Menu:
    work = state.work[-1]
    rules = rules_of(state.options)
    if isinstance(work, Errand):
        return rules.menus[work.step](state, work, rules)
    if work.step == "place":
        places = placings(state, rules, work.tile)
        return (Choice("place", tuple(places), "2.2"),) if places else ()
    return tuple(_figure_menu(state, rules, work)) if work.step == "figure" else ()


def placings(state: State, rules: Rules, tile: str) -> Sequence[Args]:
    """§2.2: every cell and turn in which all sides of the tile go on with what they touch."""
    fits, places = FITS[tile], list[Args]()
    for cell, code in state.frontier.items():
        if code in fits:
            places += WAYS[cell][fits[code]]
    for hook in rules.hooks["fitting"]:
        places = hook(state, tile, places)
    return places


def _figure_menu(state: State, rules: Rules, part: Part) -> Iterator[Choice]:
    seat = state.turn
    options = list[Args]()
    for kind, where in rules.followers.items():
        if state.supply[seat][kind]:
            options += _free_spots(state, part, kind, where)
    for hook in rules.hooks["deploy"]:
        options += hook(state, seat, part, rules)
    if options:
        yield Choice("figure", tuple(options), "2.4")
    for hook in rules.hooks["act"]:
        act = hook(state, seat, rules)
        if act is not None:
            yield act
    yield PASS


def _free_spots(state: State, part: Part, kind: str, where: frozenset[str]) -> list[Args]:
    """§2.4: the segments of the new tile whose feature bears no figure of anybody."""
    laid, features, parents = state.tiles[part.cell], state.features, state.parents
    first = laid.first
    return [
        args
        for place, args in spots(laid.tile, laid.turn, kind, where)
        if not features[find(parents, first + place)].figures
    ]


def decide(state: State, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
    match move.verb:
        case "place":
            cell, turn = move.args
            return _placed(state, TilePlaced(part_of(state).tile, cell, int(turn), seat))
        case "figure":
            kind, segment = move.args
            return [FigurePlaced(Figure(seat, kind, part_of(state).cell, segment))]
        case "pass":
            return [FigureWithheld(seat)]
        case "score":
            return [scoring.advance(state, seat, move.args[0])]
    rules = rules_of(state.options)
    return rules.decide[move.verb](state, seat, move, rules)


def _placed(state: State, event: TilePlaced) -> list[Struct]:
    told = (hook(state, event) for hook in rules_of(state.options).hooks["joining"])
    return [event, *(more for more in told if more is not None)]


def waits(state: State) -> bool:
    """§5.3: whether the table waits for somebody to choose a scoring figure."""
    if state.options.figures == "at_once":
        return bool(state.owed)
    return any(award.seat == state.turn for award in state.owed)


def upkeep(state: State, chance: Chance) -> Struct | None:
    if state.phase != "playing":
        return _ending(state)
    if state.owed and waits(state):
        return None
    work = state.work[-1]
    rules = rules_of(state.options)
    if isinstance(work, Errand):
        return _close(state, rules, chance) or rules.errands[work.step](state, work, chance)
    return STEPS[work.step](state, work, rules, chance)


def _open(state: State, part: Part, rules: Rules, place: str) -> Struct | None:
    """A scoring round at a named place of the turn, once, if a box gives points there."""
    hooks = rules.rounds[place]
    if not hooks or part.passed == place:
        return None
    awards = tuple(award for hook in hooks for award in hook(state, part))
    return RoundOpened(place, awards) if awards else None


def _close(state: State, rules: Rules, chance: Chance) -> Struct | None:
    """§5.4: at the end of a scoring round something may come of the figures that moved in it."""
    if not state.moved:
        return None
    for hook in rules.hooks["closed"]:
        event: Struct | None = hook(state, chance)
        if event is not None:
            return event
    return RoundClosed()


def _draw(state: State, part: Part, rules: Rules, chance: Chance) -> Struct | None:
    """§2.1: a tile from the first bag that holds any."""
    event = _open(state, part, rules, "1a") or _close(state, rules, chance)
    if event:
        return event
    if state.bags:
        return TileDrawn(state.turn, chance.pick("tile", state.bags[0]))
    return _pack_up(state)


def _pack_up(state: State) -> Struct:
    """§4.1: without tiles the game is over, but not before interrupted work is done."""
    return PartEnded(state.turn) if len(state.work) > 1 else _totals(state)


def _place(state: State, part: Part, rules: Rules, chance: Chance) -> Struct | None:
    event = _open(state, part, rules, "1b") or _close(state, rules, chance)
    if event:
        return event
    return None if turn_menu(state) else TileSetAside(state.turn, part.tile)  # §2.3


def _figure(state: State, part: Part, rules: Rules, chance: Chance) -> Struct | None:
    event = _open(state, part, rules, "1c") or _close(state, rules, chance)
    if event:
        return event
    return None if len(turn_menu(state)) > 1 else FigureWithheld(state.turn)  # §2.6


def _between(state: State, part: Part, rules: Rules, chance: Chance) -> Struct | None:
    """Round 2 is over before the features are scored."""
    return _close(state, rules, chance) or _score(state, part, rules, chance)


def _score(state: State, part: Part, rules: Rules, chance: Chance) -> Struct | None:
    for root in part.done:
        for hook in rules.hooks["completed"]:
            event: Struct | None = hook(state, root)
            if event is not None:
                return event
        if state.features[root].figures:
            return scoring.scoring(state, rules, root)
    return _close(state, rules, chance) or _open(state, part, rules, "4") or _end(state, part, rules)


def _end(state: State, part: Part, rules: Rules) -> Struct:
    """§2.7: the part of the turn is over, and perhaps the turn, and perhaps the game."""
    for hook in rules.hooks["after"]:
        event: Struct | None = hook(state, part)
        if event is not None:
            return event
    if len(state.work) > 1:
        return PartEnded(state.turn)
    return TurnBegan((state.turn + 1) % len(state.track)) if state.bags else _totals(state)


STEPS: dict[str, Callable[[State, Part, Rules, Chance], Struct | None]] = {
    "draw": _draw,
    "place": _place,
    "figure": _figure,
    "between": _between,
    "score": _score,
}


def _totals(state: State) -> FinalScoringBegan:
    return FinalScoringBegan(tuple(score(state, seat) for seat in range(len(state.track))))


def score(state: State, seat: int) -> int:
    """What a seat has so far: where its scoring figures stand, and what is still owed to it."""
    return sum(state.track[seat]) + sum(award.points for award in state.owed if award.seat == seat)


def _ending(state: State) -> Struct | None:
    """§4: what is left on the table is counted, then what the boxes give, then the places are known."""
    if state.phase == "over":
        return None
    rules = rules_of(state.options)
    root = scoring.uncounted(state)
    if root is not None:
        return scoring.scoring(state, rules, root)
    for box in rules.boxes:
        if box.final is not None and box.option not in state.counted:
            return BonusCounted(box.option, box.final(state))
    scores = [score(state, seat) for seat in range(len(state.track))]
    return GameEnded(tuple(1 + sum(other > own for other in scores) for own in scores))


def standing(state: State) -> tuple[Standing, ...]:
    places = state.places or (None,) * len(state.track)
    return tuple(Standing(score(state, seat), False, place) for seat, place in enumerate(places))


def evolve(state: State, event: Struct) -> State:
    change = CHANGES.get(type(event))
    if change is None:
        raise TypeError(f"no event of this game: {event!r}")
    return change(state, event)


def _began(state: State, event: Began) -> State:
    seats = len(event.track)
    state = State(
        options=event.options, turn=event.first, bags=event.bags, supply=(event.supply,) * seats, track=event.track
    )
    for hook in rules_of(event.options).hooks["begun"]:
        state = hook(state)
    return state


def _turn_began(state: State, event: TurnBegan) -> State:
    return replace(state, turn=event.seat, work=FRESH)


FRESH = (Part(),)


def _drawn(state: State, event: TileDrawn) -> State:
    bag, *later = state.bags
    place = bag.index(event.tile)
    left = bag[:place] + bag[place + 1 :]
    part = part_of(state)
    drawn = Part("place", part.kind, event.tile, "", (), part.passed, part.extra)
    return replace(state, bags=(left, *later) if left else tuple(later), work=on_top(state, drawn))


def _set_aside(state: State, event: TileSetAside) -> State:
    part = replace(part_of(state), step="draw", tile="")
    return replace(state, aside=(*state.aside, event.tile), work=on_top(state, part))


def _figure_placed(state: State, event: FigurePlaced) -> State:
    return _figures_done(land.stationed(state, event.figure), event)


def _figures_done(state: State, event: FigurePlaced | FigureWithheld) -> State:
    part = part_of(state)
    scored = Part("score", part.kind, part.tile, part.cell, part.done, part.passed, part.extra)
    return replace(state, work=on_top(state, scored))


def _round_opened(state: State, event: RoundOpened) -> State:
    part = replace(part_of(state), passed=event.place)
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
    FigureWithheld: _figures_done,
    FeatureScored: scoring.scored,
    ScorerMoved: scoring.advanced,
    RoundOpened: _round_opened,
    RoundClosed: _round_closed,
    PartEnded: _part_ended,
    FinalScoringBegan: _final_began,
    BonusCounted: _bonus_counted,
    GameEnded: _game_ended,
}
for _box in BOXES:
    CHANGES.update(_box.evolve)

Event: Any = functools.reduce(operator.or_, CHANGES)
