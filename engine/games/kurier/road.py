"""On the road, §4 to §6: deploying couriers, handing the dispatch over, travelling."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chance import Chance
from engine.games.kurier.board import (
    CLOCKWISE,
    FAR_GUARD,
    FULL_STACK,
    KINDS,
    PALACE,
    PRICES,
    VILLAGE_OF,
    VILLAGES,
    Kind,
)
from engine.games.kurier.events import (
    ColourOpened,
    Delivered,
    Departed,
    Dispatch,
    Event,
    Flipped,
    Guests,
    State,
    Travelled,
)
from engine.games.kurier.roubles import is_owed
from engine.menu import Choice, Menu

FULL = 3


def deploy(state: State, kinds: tuple[Kind, ...]) -> Menu:
    """§4: a free room of the right kind in the lowest village."""
    options = tuple((kind, inn) for kind in dict.fromkeys(kinds) for inn in _rooms_for(state, 0, kind))
    return (Choice("deploy", options, rule="4.1"),) if options else ()


def _rooms_for(state: State, village: int, kind: Kind) -> list[str]:
    """§4.2: the inns of a village that are open and not full, where this kind finds its room free."""
    inns = state.inns
    return [inn for inn in VILLAGES[village] if inn in inns and kind not in inns[inn] and len(inns[inn]) < FULL]


def flip(state: State, seat: int, chance: Chance) -> list[Event]:
    """§3.4: an empty stack is replaced by an unused colour."""
    player = state.players[seat]
    if player.stack or player.under:
        return [Flipped(seat, top(state, seat, chance))]
    return [ColourOpened(seat), Flipped(seat, chance.pick("courier", FULL_STACK))]


def top(state: State, seat: int, chance: Chance) -> Kind:
    """§2.5: the stack is a bag as long as it was shuffled; those who came home lie under it in their order."""
    player = state.players[seat]
    return chance.pick("courier", player.stack) if player.stack else player.under[0]


def hand(state: State, seat: int) -> Menu:
    """§5: the dispatch may go to another own courier in the same village."""
    holder = state.players[seat].dispatch
    if holder.kind is None:
        return ()
    own = [
        (inn, kind)
        for inn in VILLAGES[VILLAGE_OF[holder.inn]]
        for kind, owner in state.inns.get(inn, {}).items()
        if owner == seat and (inn, kind) != (holder.inn, holder.kind)
    ]
    return (Choice("hand", tuple(own), rule="5.1"),) if own else ()


def travel(state: State, seat: int) -> Menu:
    """§6: from a full inn with an own courier, in either order."""
    options = tuple(
        [
            (inn, *way)
            for inn, guests in state.inns.items()
            if len(guests) == FULL and seat in guests.values()
            for way in _ways(state, seat, inn)
        ]
    )
    return (Choice("travel", options, rule="6.1"),) if options else ()


def _ways(state: State, seat: int, inn: str) -> Iterator[tuple[str, str, str]]:
    """§6.3: the kind that goes first, where it rests, and where the other one does."""
    guests, village = state.inns[inn], VILLAGE_OF[inn]
    one, two, _ = _order(guests)
    if state.options.own_traveller and seat not in (guests[one], guests[two]):
        return
    rests = {kind: _rests(state, village, kind) for kind in (one, two)}
    for first, second in ((one, two), (two, one)):
        for end in rests[first]:
            for other in _left(state, rests[second], second, end):
                yield first, end, other


def _order(guests: Guests) -> tuple[Kind, ...]:
    """§6.2: the guests of a full inn, those who leave before the one who stays."""
    return CLOCKWISE[next(kind for kind in KINDS if kind not in guests)]


def _rests(state: State, village: int, kind: Kind) -> list[str]:
    """§6.5: the inns of the nearest village ahead that has room for the courier, else the palace."""
    for ahead in range(village + 1, len(VILLAGES)):
        if inns := _rooms_for(state, ahead, kind):
            return inns
    return [PALACE]


def _left(state: State, rests: list[str], kind: Kind, taken: str) -> list[str]:
    """§6.5: where the second courier rests, after the first one has: not in the same inn, unless it is the palace."""
    if taken == PALACE or taken not in rests:
        return rests
    return [inn for inn in rests if inn != taken] or _rests(state, VILLAGE_OF[taken], kind)


def departure(state: State, seat: int, inn: str, first: Kind, end: str, other: str) -> list[Event]:
    one, two, left = _order(state.inns[inn])
    owner = state.inns[inn][left]
    second = two if first == one else one
    departed = Departed(seat, inn, owner, left, owed=is_owed(state, owner))
    return [departed, *_journey(state, inn, first, end), *_journey(state, inn, second, other)]


def _journey(state: State, start: str, kind: Kind, end: str) -> list[Event]:
    """§6.4: the dispatch goes along; §6.8, §6.9: in the palace a guard takes it."""
    owner = state.inns[start][kind]
    carries = state.players[owner].dispatch == Dispatch(start, kind)
    skipped = VILLAGE_OF.get(end, len(VILLAGES)) - VILLAGE_OF[start] - 1
    travelled = Travelled(owner, kind, start, end, skipped, carries)
    if end != PALACE or not carries:
        return [travelled]
    return [travelled, Delivered(owner, FAR_GUARD) if skipped else Delivered(owner, PRICES[start], start)]
