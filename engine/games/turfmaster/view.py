"""What may be known: everything but the cards in other hands, in other packs and face down."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.turfmaster import board
from engine.games.turfmaster.board import Field
from engine.games.turfmaster.preparation import discarding
from engine.games.turfmaster.ride import Kind
from engine.games.turfmaster.rounds import acting, turn_of
from engine.games.turfmaster.state import (
    BonusPaid,
    BonusTaken,
    Chose,
    Dealt,
    Discarded,
    Event,
    Horse,
    State,
    Trail,
    has_bonus,
)


class Runner(Struct, frozen=True):
    """A horse as one sees it; `hand`, `pack` and `chosen` only where it is one's own."""

    seat: int
    number: int
    box: int
    field: Field | None
    at: str
    arrived: int | None
    fallen: bool
    limit: int | None
    held: int
    spent: tuple[str, ...]
    card: str
    has_chosen: bool
    bonus: bool
    points: int
    arrivals: tuple[int, ...]
    hand: tuple[str, ...] = ()
    pack: tuple[str, ...] = ()
    chosen: str = ""


class View(Struct, frozen=True):
    """The course, and the horses player by player; `mine` is the one this seat decides for now."""

    race: int
    races: int
    hurdles: bool
    hedges: tuple[int, ...]
    round: int
    kind: Kind
    order: tuple[int, ...]
    turn: int | None
    mine: int | None
    thrower: int | None
    dice: tuple[int, ...]
    pace: str
    runners: tuple[Runner, ...]
    last: Trail | None
    places: tuple[int, ...]


def view(state: State, seat: int | None) -> View:
    return View(
        race=state.race,
        races=board.RACES,
        hurdles=bool(state.hedges),
        hedges=state.hedges,
        round=state.round,
        kind=state.kind,
        order=state.order,
        turn=turn_of(state),
        mine=None if seat is None else _mine(state, seat),
        thrower=state.thrower,
        dice=state.dice,
        pace=state.pace,
        runners=tuple(_runner(state, place, seat) for place in range(len(state.horses))),
        last=state.last,
        places=state.places,
    )


def _mine(state: State, seat: int) -> int | None:
    if state.places:
        return None
    return discarding(state, seat) if state.stage == "dealing" else acting(state, seat)


def _runner(state: State, place: int, seat: int | None) -> Runner:
    horse = state.horses[place]
    public = Runner(
        seat=horse.seat,
        number=horse.number,
        box=state.boxes.index(place) + 1,
        field=horse.field,
        at=board.token(horse.field) if horse.field else "",
        arrived=state.arrived.index(place) + 1 if place in state.arrived else None,
        fallen=place in state.fallen,
        limit=state.limits[state.order.index(place)] if place in state.order else None,
        held=len(horse.hand),
        spent=horse.spent,
        card=horse.card,
        has_chosen=bool(horse.chosen),
        bonus=has_bonus(state, horse),
        points=horse.points,
        arrivals=horse.arrivals,
    )
    if horse.seat != seat:
        return public
    return replace(public, hand=horse.hand, pack=horse.pack, chosen=horse.chosen)


def hear(event: Event, seat: int | None) -> Event:
    match event:
        case Dealt() | BonusTaken() | BonusPaid() | Discarded() if event.seat != seat:
            return replace(event, cards=())
        case Chose() if event.seat != seat:
            return replace(event, card="")
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    """Which unseen cards lie in a hand, in a pack or out of the game cannot be known."""
    horses = tuple(horse if horse.seat == seat else _redealt(horse, chance) for horse in state.horses)
    return replace(state, horses=horses)


def _redealt(horse: Horse, chance: Chance) -> Horse:
    unseen = chance.shuffle("unseen", board.in_order((*horse.hand, *horse.pack, *horse.gone)))
    held, left = len(horse.hand), len(horse.hand) + len(horse.pack)
    hand = board.in_order(unseen[:held])
    return replace(
        horse,
        hand=hand,
        pack=board.in_order(unseen[held:left]),
        gone=board.in_order(unseen[left:]),
        chosen=chance.pick("chosen", hand) if horse.chosen else "",
    )
