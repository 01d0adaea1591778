"""Apply each event to the state."""

from __future__ import annotations

from bisect import insort
from typing import Any

from msgspec.structs import replace

from engine.games.turfmaster import state as events
from engine.games.turfmaster.state import CARD_ORDER, PACK, Event, Horse, State, Trail, find_horse_index


def evolve(state: State, event: Event) -> State:
    """Return the state after an event; no rule is applied."""
    match event:
        case events.Rode():
            return _ride(state, event)
        case events.Stayed():
            return replace(state, done=state.done + 1)
        case events.Played(seat, card, number):
            return _move_cards(state, find_horse_index(state, seat, number), (card,), "hand", "spent", card=card)
        case events.RoundBegan():
            return _begin_round(state, event)
        case events.DiceRolled(seat, dice):
            next_roller = (seat + 1) % state.seats
            return replace(state, thrower=seat, roller=next_roller, dice=dice)
        case events.PaceSet(_, pace):
            return replace(state, pace=pace)
        case events.Chose(seat, number, card):
            return _change_horse(state, find_horse_index(state, seat, number), chosen=card)
        case events.Revealed(cards):
            return replace(state, horses=tuple(map(_reveal, state.horses, cards)))
        case events.Passed(seat, number):
            return _change_horse(state, find_horse_index(state, seat, number), passed=True)
        case events.Fell(seat, _, number):
            index = find_horse_index(state, seat, number)
            horses = _replace_horse(state, index, field=None)
            return replace(state, horses=horses, done=state.done + 1, fallen=(*state.fallen, index))
        case events.Arrived():
            return _arrive(state, event)
        case events.HedgePlaced(hedge):
            return replace(state, hedges=(*state.hedges, hedge))
        case events.HedgeRemoved(hedge):
            return replace(state, hedges=tuple(other for other in state.hedges if other != hedge))
    return _evolve_preparation(state, event)


def _evolve_preparation(state: State, event: Event) -> State:
    """Apply an event between the rounds: start boxes, cards in hand, and the end."""
    match event:
        case events.Entered():
            return _enter_horses(event)
        case events.BoxesRolled(order, _, number):
            return replace(state, boxes=(*state.boxes, *(find_horse_index(state, seat, number) for seat in order)))
        case events.RaceBegan(race, hedges):
            return _begin_race(state, race, hedges)
        case events.Dealt(seat, _, number, cards):
            state = _move_cards(state, find_horse_index(state, seat, number), cards, "pack", "hand")
            return replace(state, served=state.served + 1)
        case events.BonusTaken(seat, _, number, cards):
            return _move_cards(state, find_horse_index(state, seat, number), cards, "pack", "hand", bonus=state.race)
        case events.BonusPaid(seat, _, number, cards):
            return _move_cards(state, find_horse_index(state, seat, number), cards, "hand", "gone", paid=True)
        case events.Discarded(seat, _, number, cards):
            return _move_cards(state, find_horse_index(state, seat, number), cards, "hand", "gone")
        case events.RollerFound(seat):
            return replace(state, roller=seat, stage="riding")
        case events.RaceEnded(boxes):
            return replace(state, boxes=boxes, stage="boxes", order=(), limits=(), done=0)
        case events.GameEnded(places):
            return replace(state, places=places)
    raise TypeError(f"no event of this game: {event!r}")


def _enter_horses(event: events.Entered) -> State:
    """Give each player the horses and each horse a pack; the only horse of a player has the number 0."""
    numbers = range(1, event.horses + 1) if event.horses > 1 else (0,)
    horses = tuple(Horse(seat, number, pack=PACK) for seat in range(event.seats) for number in numbers)
    return State(options=event.options, seats=event.seats, horses=horses)


def _begin_race(state: State, race: int, hedges: tuple[int, ...]) -> State:
    """Put all horses into their boxes: a box is the first field of its lane."""
    horses = list[Horse]()
    for index, horse in enumerate(state.horses):
        lane = state.boxes.index(index)
        horses.append(replace(horse, field=(lane, 0), card="", chosen="", passed=False))
    return State(
        options=state.options,
        seats=state.seats,
        horses=tuple(horses),
        boxes=state.boxes,
        race=race,
        stage="dealing",
        hedges=hedges,
    )


def _begin_round(state: State, event: events.RoundBegan) -> State:
    """Set the order and the limits of a round; cards and dice of the round before are put aside."""
    horses = tuple(replace(horse, card="", chosen="", passed=False) for horse in state.horses)
    return replace(
        state,
        horses=horses,
        round=event.round,
        kind=event.kind,
        order=event.order,
        limits=event.limits,
        done=0,
        thrower=None,
        dice=(),
        pace="",
    )


def _ride(state: State, event: events.Rode) -> State:
    """Put a horse on the field where its ride ends."""
    index = find_horse_index(state, event.seat, event.number)
    trail = Trail(index, event.start, event.end)
    return replace(state, horses=_replace_horse(state, index, field=event.end), done=state.done + 1, last=trail)


def _reveal(horse: Horse, card: str) -> Horse:
    """Play the card that was chosen for a horse; `card` is empty if there is none."""
    if not card:
        return horse
    return replace(horse, card=card, chosen="", **_change_heaps(horse, (card,), "hand", "spent"))


def _arrive(state: State, event: events.Arrived) -> State:
    """Take a horse off the course, with its place and its points."""
    index = find_horse_index(state, event.seat, event.number)
    horse = state.horses[index]
    points = horse.points + event.points
    arrivals = (*horse.arrivals, event.place)
    horses = _replace_horse(state, index, field=None, points=points, arrivals=arrivals)
    return replace(state, horses=horses, arrived=(*state.arrived, index))


def _move_cards(state: State, index: int, cards: tuple[str, ...], start: str, end: str, **changes: Any) -> State:
    """Move cards of a horse from one heap to another, and change other fields of the horse as well."""
    return _change_horse(state, index, **_change_heaps(state.horses[index], cards, start, end), **changes)


def _change_heaps(horse: Horse, cards: tuple[str, ...], start: str, end: str) -> dict[str, tuple[str, ...]]:
    """Return both heaps of a move of cards by the names of their fields, sorted as in a hand."""
    source, target = list(getattr(horse, start)), list(getattr(horse, end))
    for card in cards:
        source.remove(card)
        insort(target, card, key=CARD_ORDER.__getitem__)
    return {start: tuple(source), end: tuple(target)}


def _change_horse(state: State, index: int, **changes: Any) -> State:
    return replace(state, horses=_replace_horse(state, index, **changes))


def _replace_horse(state: State, index: int, **changes: Any) -> tuple[Horse, ...]:
    """Return the horses, one of them changed."""
    horse = replace(state.horses[index], **changes)
    return (*state.horses[:index], horse, *state.horses[index + 1 :])
