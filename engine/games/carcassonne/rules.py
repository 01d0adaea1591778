"""The turn, in the order of the README, whose paragraphs it cites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.carcassonne import scoring
from engine.games.carcassonne.board import FITS, WAYS, Args, spots
from engine.games.carcassonne.boxes import rules_of
from engine.games.carcassonne.expansion import Rules
from engine.games.carcassonne.state import (
    Began,
    BonusCounted,
    Errand,
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
    State,
    TileDrawn,
    TilePlaced,
    TileSetAside,
    TurnBegan,
    find,
    part_of,
)
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

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


def objection(options: Options, seats: int) -> Refused | None:
    """§1.1: the sixth set of figures comes with Inns & Cathedrals."""
    if seats == 6 and not options.inns_cathedrals:
        return Refused("Six players need Inns & Cathedrals; switch “inns_cathedrals” on.", rule="1.1")
    return None


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
    work, rules = state.work[-1], rules_of(state.options)
    if isinstance(work, Errand):
        return _close(state, rules, chance) or _errand(state, work, rules)
    return STEPS[work.step](state, work, rules, chance)


def _errand(state: State, errand: Errand, rules: Rules) -> Struct | None:
    hook = rules.errands.get(errand.step)
    return hook(state, errand) if hook else None


def _open(state: State, part: Part, rules: Rules, place: str) -> Struct | None:
    """A scoring round at a named place of the turn, if a box gives points there; the turn never goes back past it."""
    hooks = rules.rounds[place]
    if not hooks or part.passed >= place:
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
            return scoring.settled(state, rules, root)
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
        return scoring.settled(state, rules, root)
    for box in rules.boxes:
        if box.final is not None and box.option not in state.counted:
            return BonusCounted(box.option, box.final(state))
    scores = [score(state, seat) for seat in range(len(state.track))]
    return GameEnded(tuple(1 + sum(other > own for other in scores) for own in scores))


def standing(state: State) -> tuple[Standing, ...]:
    places = state.places or (None,) * len(state.track)
    return tuple(Standing(score(state, seat), False, place) for seat, place in enumerate(places))
