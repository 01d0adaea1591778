"""What each event does to the table."""

from __future__ import annotations

from bisect import insort
from typing import Any

from msgspec.structs import replace

from engine.games.turfmaster import state as happened
from engine.games.turfmaster.board import DECK, RANK
from engine.games.turfmaster.state import Event, Horse, State, Trail, horse_at


def evolve(state: State, event: Event) -> State:
    match event:
        case happened.Rode():
            return _rode(state, event)
        case happened.Stayed():
            return replace(state, done=state.done + 1)
        case happened.Played(seat, card, number):
            horse = horse_at(state, seat, number)
            return _with(state, horse, card=card, **_moved(state.horses[horse], (card,), "hand", "spent"))
        case happened.RoundBegan():
            return _round(state, event)
        case happened.DiceRolled(seat, dice):
            return replace(state, thrower=seat, roller=(seat + 1) % state.seats, dice=dice)
        case happened.PaceSet(_, pace):
            return replace(state, pace=pace)
        case happened.Chose(seat, number, card):
            return _with(state, horse_at(state, seat, number), chosen=card)
        case happened.Revealed(cards):
            return replace(state, horses=tuple(map(_revealed, state.horses, cards)))
        case happened.Passed(seat, number):
            return _with(state, horse_at(state, seat, number), passed=True)
        case happened.Fell(seat, _, number):
            horse = horse_at(state, seat, number)
            horses = _changed(state, horse, field=None)
            return replace(state, horses=horses, done=state.done + 1, fallen=(*state.fallen, horse))
        case happened.Arrived():
            return _arrived(state, event)
        case happened.HedgePlaced(hedge):
            return replace(state, hedges=(*state.hedges, hedge))
        case happened.HedgeRemoved(hedge):
            return replace(state, hedges=tuple(other for other in state.hedges if other != hedge))
    return _between(state, event)


def _between(state: State, event: Event) -> State:
    """What happens outside the rounds: boxes, cards, and the end."""
    match event:
        case happened.Entered():
            return _entered(event)
        case happened.BoxesRolled(order, _, number):
            return replace(state, boxes=(*state.boxes, *(horse_at(state, seat, number) for seat in order)))
        case happened.RaceBegan(race, hedges):
            return _race(state, race, hedges)
        case happened.Dealt(seat, _, number, cards):
            horse = horse_at(state, seat, number)
            horses = _changed(state, horse, **_moved(state.horses[horse], cards, "pack", "hand"))
            return replace(state, horses=horses, served=state.served + 1)
        case happened.BonusTaken(seat, _, number, cards):
            horse = horse_at(state, seat, number)
            return _with(state, horse, bonus=state.race, **_moved(state.horses[horse], cards, "pack", "hand"))
        case happened.BonusPaid(seat, _, number, cards):
            horse = horse_at(state, seat, number)
            return _with(state, horse, paid=True, **_moved(state.horses[horse], cards, "hand", "gone"))
        case happened.Discarded(seat, _, number, cards):
            horse = horse_at(state, seat, number)
            return _with(state, horse, **_moved(state.horses[horse], cards, "hand", "gone"))
        case happened.RollerFound(seat):
            return replace(state, roller=seat, stage="riding")
        case happened.RaceEnded(boxes):
            return replace(state, boxes=boxes, stage="boxes", order=(), limits=(), done=0)
        case happened.GameEnded(places):
            return replace(state, places=places)
    raise TypeError(f"no event of this game: {event!r}")


def _entered(event: happened.Entered) -> State:
    numbers = range(1, event.horses + 1) if event.horses > 1 else (0,)
    horses = tuple(Horse(seat, number, pack=DECK) for seat in range(event.seats) for number in numbers)
    return State(options=event.options, seats=event.seats, horses=horses)


def _race(state: State, race: int, hedges: tuple[int, ...]) -> State:
    """All horses in their boxes, level."""
    horses = tuple(
        replace(horse, field=(state.boxes.index(place), 0), card="", chosen="", passed=False)
        for place, horse in enumerate(state.horses)
    )
    return State(
        options=state.options,
        seats=state.seats,
        horses=horses,
        boxes=state.boxes,
        race=race,
        stage="dealing",
        hedges=hedges,
    )


def _round(state: State, event: happened.RoundBegan) -> State:
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


def _rode(state: State, event: happened.Rode) -> State:
    horse = horse_at(state, event.seat, event.number)
    trail = Trail(horse, event.start, event.end)
    return replace(state, horses=_changed(state, horse, field=event.end), done=state.done + 1, last=trail)


def _revealed(horse: Horse, card: str) -> Horse:
    if not card:
        return horse
    return replace(horse, card=card, chosen="", **_moved(horse, (card,), "hand", "spent"))


def _arrived(state: State, event: happened.Arrived) -> State:
    place = horse_at(state, event.seat, event.number)
    horse = state.horses[place]
    points, arrivals = horse.points + event.points, (*horse.arrivals, event.place)
    horses = _changed(state, place, field=None, points=points, arrivals=arrivals)
    return replace(state, horses=horses, arrived=(*state.arrived, place))


def _moved(horse: Horse, cards: tuple[str, ...], start: str, end: str) -> dict[str, tuple[str, ...]]:
    """The two heaps of a horse after some of its cards went from one to the other."""
    left, heap = list(getattr(horse, start)), list(getattr(horse, end))
    for card in cards:
        left.remove(card)
        insort(heap, card, key=RANK.__getitem__)
    return {start: tuple(left), end: tuple(heap)}


def _with(state: State, place: int, **changes: Any) -> State:
    return replace(state, horses=_changed(state, place, **changes))


def _changed(state: State, place: int, **changes: Any) -> tuple[Horse, ...]:
    """The horses, one of which has changed."""
    horse = replace(state.horses[place], **changes)
    return (*state.horses[:place], horse, *state.horses[place + 1 :])
