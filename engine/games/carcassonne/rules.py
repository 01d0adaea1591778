"""The turn, in the order of the book, whose paragraphs it cites."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.carcassonne import inns, scoring
from engine.games.carcassonne.board import FITS, PIECES, Args, spots
from engine.games.carcassonne.boxes import PAYING, Began, Options, rules_of, wants
from engine.games.carcassonne.expansion import Rules, laid
from engine.games.carcassonne.land import root_of
from engine.games.carcassonne.state import (
    BonusCounted,
    Figure,
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
    TileDrawn,
    TilePlaced,
    TileSetAside,
    TurnBegan,
    Work,
    drawable,
    find,
    part_of,
)
from engine.menu import Choice, Entry, Menu, Move
from engine.refusal import Refused

META = Meta(
    name="carcassonne",
    title="Carcassonne",
    seats=(2, 3, 4, 5, 6),
    options=Options,
    edition=2,
    stage="complete",
    designer="Klaus-Jürgen Wrede",
    publisher="Hans im Glück",
    year=2000,
    minutes=60,
    about="Lay the land tile by tile, and send your meeples out as robbers, knights, monks and farmers. With two "
    "scoring figures each, and messages for whoever stops on a dark space.",
    skips=("pass",),
)

PASS = Choice("pass", rule="2.6")
DRAW = Choice("draw", rule="2.1")

Stage = Callable[[State, Rules, Part, Chance], Struct | None]


def objection(options: Options, seats: int) -> Refused | None:
    """§1.1: the sixth set of figures comes with Inns & Cathedrals."""
    if seats == 6 and not wants(options, inns.BOX):
        return Refused("Six players need Inns & Cathedrals; switch “inns_cathedrals” on.", rule="1.1")
    objections = (box.objection(options) for box in rules_of(options).hooks["objection"])
    return next((why for why in objections if why is not None), None)


def setup(options: Options, seats: int, chance: Chance, edition: int = META.edition) -> list[Struct]:
    rules = rules_of(options)
    deck = rules.deck()
    first = chance.pick("start player", range(seats))
    track = ((0,) * rules.scoring_figures,) * seats
    began = Began(options, first, rules.supply, deck.bags, track, edition)
    return [began, TilePlaced(deck.start, "0,0"), *deck.beside, TurnBegan(first)]


def menu(state: State, seat: int) -> Menu:
    """Whoever is owed points chooses first; then the seat on turn goes on with its tile."""
    if state.owed and waits(state):
        return scoring.menu(state, seat)
    if state.phase != "playing":
        return ()
    work = state.work[-1]
    if isinstance(work, Part):
        return part_menu(state, work) if seat == state.turn else ()
    asked = seat in work.seats if work.seats else seat == state.turn
    rules = rules_of(state.options)
    return rules.steps[work.step].menu(state, rules, seat, work) if asked else ()


def part_menu(state: State, part: Part) -> Menu:
    """What the seat on turn may do with its tile; a table remembers it, for it is asked again at once."""
    remembered: Menu | None = state.__dict__.get("menu")
    if remembered is None:
        remembered = state.__dict__["menu"] = MENUS[part.step](state, rules_of(state.options), part)
    return remembered


def _draw_menu(state: State, rules: Rules, part: Part) -> Menu:
    other = _instead(state, rules, part)
    return (DRAW, *other) if drawable(state) else (*other, PASS)


def _place_menu(state: State, rules: Rules, part: Part) -> Menu:
    """§2.2: every cell and turn in which all sides of the tile go on with what they touch."""
    fits = FITS[part.tile]
    places: Sequence[Args] = [(cell, turn) for cell, around in state.frontier.items() for turn in fits[around]]
    for box in rules.hooks["fitting"]:
        places = box.fitting(state, rules, part.tile, places)
    return (Choice("place", tuple(places), "2.2"),) if places else ()


def _instead(state: State, rules: Rules, part: Part) -> list[Entry]:
    """What may be done instead of drawing a tile."""
    return [entry for box in rules.hooks["instead"] if (entry := box.instead(state, rules, part))]


def _figure_menu(state: State, rules: Rules, part: Part) -> Menu:
    options = _stations(state, rules, part)
    figures = (Choice("figure", tuple(options), "2.4"),) if options else ()
    return (*figures, *_acts(state, rules, part), PASS) if rules.hooks["act"] else (*figures, PASS)


def _acts(state: State, rules: Rules, part: Part) -> list[Entry]:
    """What may be done instead of placing a figure."""
    return [act for box in rules.hooks["act"] if (act := box.act(state, rules, state.turn, part))]


def _stations(state: State, rules: Rules, part: Part) -> list[Args]:
    """§2.4: every figure of the supply with every place where it may stand."""
    options: list[Args] = []
    seat = state.turn
    supply = state.supply[seat]
    for kind, where in rules.followers.items():
        if supply[kind]:
            options += _free_spots(state, rules, part, kind, where)
    for box in rules.hooks["deploy"]:
        options += box.deploy(state, rules, seat, part)
    return options


def _free_spots(state: State, rules: Rules, part: Part, kind: str, where: frozenset[str]) -> list[Args]:
    """§2.4: segments of the tile just laid whose whole feature is free."""
    laid, features, parents = state.tiles[part.cell], state.features, state.parents
    first, passable = laid.first, rules.passable
    return [
        args
        for place, args in spots(laid.tile, laid.turn, kind, where)
        if not (figures := features[find(parents, first + place)].figures)
        or (passable and all(figure.kind in passable for figure in figures))
    ]


MENUS: dict[Step, Callable[[State, Rules, Part], Menu]] = {
    "draw": _draw_menu,
    "place": _place_menu,
    "figure": _figure_menu,
    "between": lambda state, rules, part: (),
    "score": lambda state, rules, part: (),
}


def decide(state: State, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
    match move.verb:
        case "place":
            cell, turn = move.args
            return laid(state, rules_of(state.options), TilePlaced(part_of(state).tile, cell, int(turn), seat), chance)
        case "figure":
            return [FigurePlaced(_figure(state, seat, *move.args))]
        case "pass":
            return [FigureWithheld(seat)]
        case "draw":
            return [_drawn(state, chance)]
        case "score":
            return [scoring.advance(state, seat, move.args[0])]
    rules = rules_of(state.options)
    return rules.verbs[move.verb].decide(state, rules, seat, move, chance)


def _figure(state: State, seat: int, kind: str, token: str) -> Figure:
    """The figure that a move puts on the table: on the tile just laid, unless another cell is named."""
    cell, _, segment = token.rpartition("/")
    cell, way = cell or part_of(state).cell, ""
    laid = state.tiles[cell]
    if segment not in PIECES[laid.tile][laid.turn].locals:
        segment, _, way = segment.rpartition("-")
    figure = Figure(seat, kind, cell, segment, way)
    there = state.features[root_of(state, figure)].figures
    return _beside(figure, {other.place for other in there}) if there else figure


def _beside(figure: Figure, taken: Collection[str]) -> Figure:
    """A figure on a place where others stand already gets a number."""
    number = 1
    while figure.place in taken:
        number += 1
        figure = replace(figure, way=str(number))
    return figure


def waits(state: State) -> bool:
    """§5.3: whether the table waits for somebody to choose a scoring figure."""
    if state.options.figures == "at_once":
        return bool(state.owed)
    return any(award.seat == state.turn for award in state.owed)


def upkeep(state: State, chance: Chance) -> Struct | None:
    if state.phase != "playing":
        return _ending(state, chance)
    if state.owed and waits(state):
        return None
    work, rules = state.work[-1], rules_of(state.options)
    if not isinstance(work, Part):
        box = rules.steps[work.step]
        closed = None if work.step in box.inside else _close(state, rules, work, chance)
        return closed or box.errand(state, rules, work, chance)
    for stage in course(rules)[work.step]:
        event = stage(state, rules, work, chance)
        if event is not None:
            return event
    return None


def _first(events: Iterable[Struct | None]) -> Struct | None:
    """What the first box has to say that has anything to say."""
    return next((event for event in events if event is not None), None)


@functools.cache
def course(rules: Rules) -> dict[Step, tuple[Stage, ...]]:
    """What may happen in each step of laying a tile, in its order: the first that has anything to do does it."""

    def asked(hook: str) -> tuple[Stage, ...]:
        return tuple(getattr(box, hook) for box in rules.hooks[hook])

    def opened(place: str) -> tuple[Stage, ...]:
        return (functools.partial(_open, place),) if rules.rounds[place] else ()

    closed = (_close,) if rules.scoring_figures > 1 else ()
    features = (*opened("3"), _features, *asked("joined"), *asked("after_features"), *closed)
    score = (*features, *opened("4"), *asked("after"), _end)
    return {
        "draw": (*opened("1a"), *closed, _draw),
        "place": (*opened("1b"), *closed, _place),
        "figure": (*opened("1c"), *closed, _stand),
        "between": (*asked("after_figure"), *closed, *score),
        "score": score,
    }


def _open(place: str, state: State, rules: Rules, part: Part, chance: Chance) -> RoundOpened | None:
    """A scoring round at a named place of the turn, if a box gives points there; the turn never goes back past it."""
    if part.passed >= place:
        return None
    awards = tuple(award for hook in rules.rounds[place] for award in hook(state, rules, part))
    return RoundOpened(place, awards) if awards else None


def _close(state: State, rules: Rules, work: Work, chance: Chance) -> Struct | None:
    """§5.4: at the end of a scoring round something may come of the figures that moved in it."""
    if not state.moved:
        return None
    return _first(box.closed(state, rules, chance) for box in rules.hooks["closed"]) or RoundClosed()


def _draw(state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
    """§2.1: a tile from the first bag that holds any."""
    if rules.hooks["instead"] and _instead(state, rules, part):
        return None
    return _drawn(state, chance) if drawable(state) else _pack_up(state, rules)


def _drawn(state: State, chance: Chance) -> TileDrawn:
    return TileDrawn(state.turn, chance.pick("tile", state.bags[0]))


def _pack_up(state: State, rules: Rules) -> Struct:
    """§4.1: without tiles the game is over, but not before interrupted work is done."""
    if len(state.work) > 1:
        return PartEnded(state.turn)
    return _first(box.overtime(state, rules) for box in rules.hooks["overtime"]) or _totals(state)


def _place(state: State, rules: Rules, part: Part, chance: Chance) -> TileSetAside | None:
    """§2.3: a tile that fits nowhere leaves the game."""
    return None if part_menu(state, part) else TileSetAside(state.turn, part.tile)


def _stand(state: State, rules: Rules, part: Part, chance: Chance) -> FigureWithheld | None:
    """§2.6: who can place no figure and do nothing else is not asked."""
    return None if len(part_menu(state, part)) > 1 else FigureWithheld(state.turn)


def _features(state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
    """§3: the next of the completed features."""
    for root in part.done:
        for box in rules.hooks["completed"]:
            event = box.completed(state, rules, root, chance)
            if event is not None:
                return event
        feature = state.features[root]
        if feature.figures and scoring.taking_part(state, rules, feature, "scored"):
            return scoring.settled(state, rules, root, "scored")
    return None


def _end(state: State, rules: Rules, part: Part, chance: Chance) -> Struct:
    """§2.7: the part of the turn is over, and perhaps the turn, and perhaps the game."""
    if len(state.work) == 1 and drawable(state):
        return TurnBegan((state.turn + 1) % len(state.track))
    return _pack_up(state, rules)


def _totals(state: State) -> FinalScoringBegan:
    return FinalScoringBegan(tuple(score(state, seat) for seat in range(len(state.track))))


def score(state: State, seat: int) -> int:
    """What a seat has so far: where its scoring figures stand, and what is still owed to it."""
    return sum(state.track[seat]) + sum(award.points for award in state.owed if award.seat == seat)


def _ending(state: State, chance: Chance) -> Struct | None:
    """§4: what is left on the table is counted, then what the boxes give, then the places are known."""
    if state.phase == "over":
        return None
    rules = rules_of(state.options)
    event = _first(box.ending(state, rules, chance) for box in rules.hooks["ending"])
    if event is not None:
        return event
    root = scoring.uncounted(state, rules)
    if root is not None:
        return scoring.settled(state, rules, root, "final")
    for box in rules.hooks["final"]:
        awards = box.final(state, rules) if box.option not in state.counted else None
        if awards is not None:
            return BonusCounted(box.option, awards)
    scores = [score(state, seat) for seat in range(len(state.track))]
    return GameEnded(tuple(1 + sum(other > own for other in scores) for own in scores))


def standing(state: State) -> tuple[Standing, ...]:
    places = state.places or (None,) * len(state.track)
    return tuple(Standing(score(state, seat), False, place) for seat, place in enumerate(places))


def sources(event: Any, seat: int) -> tuple[tuple[str, int], ...]:
    """Where the points come from that this event brings a seat."""
    why = PAYING.get(type(event))
    if why:
        return ((why, event.points),) if event.seat == seat else ()
    return tuple((award.why, award.points) for award in getattr(event, "awards", ()) if award.seat == seat)
