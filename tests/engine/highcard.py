"""High Card: the tiny game that `engine/README.md` builds step by step."""

from typing import Annotated

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.game import Meta, Standing
from engine.menu import Choice


class Options(Struct, frozen=True):
    cards: Annotated[int, msgspec.Meta(ge=1, le=5, description="Cards on each hand")] = 3


META = Meta(
    name="highcard",
    title="High Card",
    seats=(2, 3, 4),
    options=Options,
    edition=1,
    stage="trial",
    designer="nobody in particular",
    publisher="nobody",
    year=2026,
    minutes=2,
    about="Everybody plays a card; the highest one scores a point.",
)


class State(Struct, frozen=True):
    hands: tuple[tuple[int, ...], ...] = ()
    trick: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()
    leader: int = 0
    points: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


class Dealt(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    cards: tuple[int, ...]


class Played(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    card: int


class TrickWon(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


class GameEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    places: tuple[int, ...]


Event = Dealt | Played | TrickWon | GameEnded


class View(Struct, frozen=True):
    own: tuple[int, ...]
    held: tuple[int, ...]
    trick: tuple[int, ...]
    points: tuple[int, ...]


def objection(options, seats):
    return None


def setup(options, seats, chance):
    deck = chance.shuffle("deck", range(1, 21))
    hands = [deck[seat * options.cards : (seat + 1) * options.cards] for seat in range(seats)]
    return [Dealt(seat, tuple(sorted(hand))) for seat, hand in enumerate(hands)]


def menu(state, seat):
    if state.places or seat != (state.leader + len(state.trick)) % len(state.hands):
        return ()
    return (Choice("play", tuple((str(card),) for card in state.hands[seat])),)


def decide(state, seat, move, chance):
    return [Played(seat, int(move.args[0]))]


def upkeep(state, chance):
    seats = len(state.hands)
    if len(state.trick) == seats:
        return TrickWon((state.leader + state.trick.index(max(state.trick))) % seats)
    if not state.places and not any(state.hands) and not state.trick:
        return GameEnded(tuple(1 + sum(other > own for other in state.points) for own in state.points))
    return None


def evolve(state, event):
    match event:
        case Dealt(_, cards):
            return replace(state, hands=(*state.hands, cards), points=(*state.points, 0))
        case Played(seat, card):
            hand = tuple(other for other in state.hands[seat] if other != card)
            hands = (*state.hands[:seat], hand, *state.hands[seat + 1 :])
            return replace(state, hands=hands, trick=(*state.trick, card), seen=(*state.seen, card))
        case TrickWon(seat):
            points = (*state.points[:seat], state.points[seat] + 1, *state.points[seat + 1 :])
            return replace(state, trick=(), leader=seat, points=points)
        case GameEnded(places):
            return replace(state, places=places)
    raise TypeError(event)


def view(state, seat):
    own = () if seat is None else state.hands[seat]
    return View(own, tuple(map(len, state.hands)), state.trick, state.points)


def hear(event, seat):
    if isinstance(event, Dealt) and event.seat != seat:
        return replace(event, cards=())
    return event


def redeal(state, seat, chance):
    """Deal the unseen cards again: it is not known who holds which, and which are still in the box."""
    own = () if seat is None else state.hands[seat]
    unseen = list(chance.shuffle("unseen", [card for card in range(1, 21) if card not in state.seen + own]))
    hands = [
        hand if other == seat else tuple(sorted(unseen.pop() for _ in hand)) for other, hand in enumerate(state.hands)
    ]
    return replace(state, hands=tuple(hands))


def standing(state):
    places = state.places or (None,) * len(state.points)
    return tuple(map(Standing, state.points, (False,) * len(state.points), places))
