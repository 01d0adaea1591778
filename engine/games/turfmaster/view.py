"""The view of a seat: all but the cards in other hands, in other packs, put away and face down."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.turfmaster.ride import RACES, Field, Kind, make_field_token
from engine.games.turfmaster.rounds import find_deciding_horse, find_horse_in_turn
from engine.games.turfmaster.rules import find_discarding_horse
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
    can_take_bonus,
    sort_cards,
)


class Runner(Struct, frozen=True):
    """A horse as a seat sees it; `hand`, `pack` and `chosen` are empty for the horses of others.

    `at` names its field, empty without one. `limit` is the most points that it may ride in this round, None if it is
    not in the order of play. `held` counts its cards in hand. `bonus` says that it may still take its bonus cards.
    """

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
    """The race; `turn` is the horse in turn, and `mine` the horse that this seat decides for now."""

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
    """Return the race as a seat, or a spectator, may know it."""
    return View(
        race=state.race,
        races=RACES,
        hurdles=bool(state.hedges),
        hedges=state.hedges,
        round=state.round,
        kind=state.kind,
        order=state.order,
        turn=find_horse_in_turn(state),
        mine=None if seat is None else _find_own_horse(state, seat),
        thrower=state.thrower,
        dice=state.dice,
        pace=state.pace,
        runners=tuple(_show_horse(state, index, seat) for index in range(len(state.horses))),
        last=state.last,
        places=state.places,
    )


def _find_own_horse(state: State, seat: int) -> int | None:
    """Return the horse that this seat decides about now, or discards a card for; None after the game."""
    if state.places:
        return None
    return find_discarding_horse(state, seat) if state.stage == "dealing" else find_deciding_horse(state, seat)


def _show_horse(state: State, index: int, seat: int | None) -> Runner:
    """Return a horse as a seat sees it: the cards in its hand and pack only if it is its own."""
    horse = state.horses[index]
    public = Runner(
        seat=horse.seat,
        number=horse.number,
        box=state.boxes.index(index) + 1,
        field=horse.field,
        at=make_field_token(horse.field) if horse.field else "",
        arrived=state.arrived.index(index) + 1 if index in state.arrived else None,
        fallen=index in state.fallen,
        limit=state.limits[state.order.index(index)] if index in state.order else None,
        held=len(horse.hand),
        spent=horse.spent,
        card=horse.card,
        has_chosen=bool(horse.chosen),
        bonus=can_take_bonus(state, horse),
        points=horse.points,
        arrivals=horse.arrivals,
    )
    if horse.seat != seat:
        return public
    return replace(public, hand=horse.hand, pack=horse.pack, chosen=horse.chosen)


def hear(event: Event, seat: int | None) -> Event:
    """Return the event; the cards of a horse are known only to its player."""
    match event:
        case Dealt() | BonusTaken() | BonusPaid() | Discarded() if event.seat != seat:
            return replace(event, cards=())
        case Chose() if event.seat != seat:
            return replace(event, card="")
    return event


def redeal(state: State, seat: int | None, chance: Chance) -> State:
    """Deal the cards of all other horses again to their hands, their packs and those put away."""
    horses = tuple(horse if horse.seat == seat else _redeal_horse(horse, chance) for horse in state.horses)
    return replace(state, horses=horses)


def _redeal_horse(horse: Horse, chance: Chance) -> Horse:
    """Mix the cards that others cannot know, and deal as many as before to the hand, the pack and those put away."""
    # Sorted, so that the same draws deal the same cards wherever these really are.
    unseen = chance.shuffle("unseen", sort_cards((*horse.hand, *horse.pack, *horse.gone)))
    hand_end = len(horse.hand)
    pack_end = len(horse.hand) + len(horse.pack)
    hand = sort_cards(unseen[:hand_end])
    return replace(
        horse,
        hand=hand,
        pack=sort_cards(unseen[hand_end:pack_end]),
        gone=sort_cards(unseen[pack_end:]),
        chosen=chance.pick("chosen", hand) if horse.chosen else "",
    )
