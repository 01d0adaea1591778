"""The three actions, §4 to §6: deploying couriers, handing the dispatch over, travelling."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chance import Chance
from engine.games.kurier.board import (
    FAR_GUARD_PRICE,
    FULL_INN,
    FULL_STACK,
    GUARD_PRICES,
    PALACE,
    VILLAGE_OF,
    VILLAGES,
    Kind,
    departure_order,
)
from engine.games.kurier.roubles import is_coin_due
from engine.games.kurier.state import ColourOpened, Delivered, Departed, Dispatch, Event, Flipped, State, Travelled
from engine.menu import Choice, Menu


def offer_deploy(state: State, kinds: tuple[Kind, ...]) -> Menu:
    """§4.1: couriers of these kinds go to a free room in the swamp."""
    options = tuple((kind, inn) for kind in dict.fromkeys(kinds) for inn in _find_rooms(state, 0, kind))
    return (Choice("deploy", options, rule="4.1"),) if options else ()


def _find_rooms(state: State, village: int, kind: Kind) -> list[str]:
    """§4.2: return the open inns of a village that are not full and where the room of this kind is free."""
    inns = state.inns
    return [inn for inn in VILLAGES[village] if inn in inns and kind not in inns[inn] and len(inns[inn]) < FULL_INN]


def flip_stack(state: State, seat: int, chance: Chance) -> list[Event]:
    """§4.3: turn up the top courier; §3.4: an empty stack is replaced by an unused colour."""
    player = state.players[seat]
    if player.stack or player.under:
        return [Flipped(seat, draw_courier(state, seat, chance))]
    return [ColourOpened(seat), Flipped(seat, chance.pick("courier", FULL_STACK))]


def draw_courier(state: State, seat: int, chance: Chance) -> Kind:
    """§2.5: draw from the shuffled stack; when it is used up, take those who came home, in their order."""
    player = state.players[seat]
    return chance.pick("courier", player.stack) if player.stack else player.under[0]


def offer_hand(state: State, seat: int) -> Menu:
    """§5.1: the dispatch goes to another own courier in the same village."""
    holder = state.players[seat].dispatch
    if holder.kind is None:
        return ()
    takers = [
        (inn, kind)
        for inn in VILLAGES[VILLAGE_OF[holder.inn]]
        for kind, owner in state.inns.get(inn, {}).items()
        if owner == seat and (inn, kind) != (holder.inn, holder.kind)
    ]
    return (Choice("hand", tuple(takers), rule="5.1"),) if takers else ()


def offer_travel(state: State, seat: int) -> Menu:
    """§6.1: travel from a full inn that lodges an own courier."""
    options = tuple(
        [
            (inn, *journey)
            for inn, guests in state.inns.items()
            if len(guests) == FULL_INN and seat in guests.values()
            for journey in _list_journeys(state, seat, inn)
        ]
    )
    return (Choice("travel", options, rule="6.1"),) if options else ()


def _list_journeys(state: State, seat: int, inn: str) -> Iterator[tuple[str, str, str]]:
    """§6.3: yield the kind that leaves first, the inn it goes to, and the inn that the second one goes to."""
    guests, village = state.inns[inn], VILLAGE_OF[inn]
    one, two, _ = departure_order(guests)
    if state.options.own_traveller and seat not in (guests[one], guests[two]):
        return
    lodgings = {kind: _find_lodgings(state, village, kind) for kind in (one, two)}
    for first, second in ((one, two), (two, one)):
        for first_end in lodgings[first]:
            for second_end in _lodgings_left(state, lodgings[second], second, first_end):
                yield first, first_end, second_end


def _find_lodgings(state: State, village: int, kind: Kind) -> list[str]:
    """§6.5: return the inns with room for a courier in the nearest village ahead that has any, else the palace."""
    for ahead in range(village + 1, len(VILLAGES)):
        if inns := _find_rooms(state, ahead, kind):
            return inns
    return [PALACE]


def _lodgings_left(state: State, lodgings: list[str], kind: Kind, first_end: str) -> list[str]:
    """§6.6: the second traveller goes to another inn than the first; skipping the village if there is no other."""
    if first_end == PALACE or first_end not in lodgings:
        return lodgings
    return [inn for inn in lodgings if inn != first_end] or _find_lodgings(state, VILLAGE_OF[first_end], kind)


def depart(state: State, seat: int, inn: str, first: Kind, first_end: str, second_end: str) -> list[Event]:
    """§6: two guests travel from an inn, and the owner of the third may be due a coin."""
    one, two, left = departure_order(state.inns[inn])
    owner = state.inns[inn][left]
    second = two if first == one else one
    departed = Departed(seat, inn, owner, left, owed=is_coin_due(state, owner))
    return [departed, *_travel(state, inn, first, first_end), *_travel(state, inn, second, second_end)]


def _travel(state: State, start: str, kind: Kind, end: str) -> list[Event]:
    """§6.4: a dispatch goes along with its courier; §6.8, §6.9: in the palace a guard takes it."""
    owner = state.inns[start][kind]
    carries = state.players[owner].dispatch == Dispatch(start, kind)
    skipped = VILLAGE_OF.get(end, len(VILLAGES)) - VILLAGE_OF[start] - 1
    travelled = Travelled(owner, kind, start, end, skipped, carries)
    if end != PALACE or not carries:
        return [travelled]
    guard = Delivered(owner, FAR_GUARD_PRICE) if skipped else Delivered(owner, GUARD_PRICES[start], start)
    return [travelled, guard]
