"""The cards and the options, the state of the game, and the events that change it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from engine.chance import Chance
from engine.game import Meta
from engine.games.turfmaster.ride import DATA, RACES, Field, Kind


def _build_pack() -> tuple[str, ...]:
    """Return the cards of a horse: plain ones such as “7”, and jokers such as “J7”."""
    plain = [points for points, copies in DATA["cards"]["values"].items() for _ in range(copies)]
    return (*plain, *(f"J{points}" for points in DATA["cards"]["jokers"]))


PACK = _build_pack()
CARD_ORDER = {card: place for place, card in enumerate(dict.fromkeys(PACK))}
CARD_POINTS = {card: int(card.removeprefix("J")) for card in CARD_ORDER}
JOKERS = frozenset(card for card in CARD_ORDER if card.startswith("J"))


def sort_cards(cards: Iterable[str]) -> tuple[str, ...]:
    """Sort cards as in a hand: by points, the jokers last."""
    return tuple(sorted(cards, key=CARD_ORDER.__getitem__))


def draw_cards(label: str, cards: tuple[str, ...], count: int, chance: Chance) -> tuple[str, ...]:
    """Draw `count` of these cards blindly, and sort them."""
    left, drawn = list(cards), list[str]()
    for _ in range(count):
        drawn.append(chance.pick(label, left))
        left.remove(drawn[-1])
    return sort_cards(drawn)


class Options(Struct, frozen=True):
    grand_national: Annotated[
        Literal["none", "race3", "all"],
        msgspec.Meta(description="Hedges to jump: never, in the third race, or in all three (§9.1)"),
    ] = "none"
    simultaneous_cards: Annotated[
        bool, msgspec.Meta(description="All choose their cards face down at once, then ride in order (§4.5)")
    ] = False
    horses: Annotated[
        Literal["as_usual", "1", "2", "3", "4"],
        msgspec.Meta(description="Horses of each player; as usual: two with two or three players, else one (§1.1)"),
    ] = "as_usual"
    team_score: Annotated[
        Literal["best_horse", "sum"],
        msgspec.Meta(description="A player counts the points of the best horse, or of all horses together (§8.6)"),
    ] = "best_horse"


META = Meta(
    name="turfmaster",
    title="TurfMaster",
    seats=(2, 3, 4, 5, 6, 7, 8),
    options=Options,
    edition=1,
    stage="complete",
    designer="Albrecht Nolte",
    publisher="AZA-Spiele",
    year=1998,
    minutes=120,
    about="Three horse races on cards and dice. The leader is handicapped, so keep your best cards, and your place "
    "by the rails, for the finish.",
    about_options={"grand_national": "In the Grand National there are hedges to jump as well."},
    skips=("pass",),
)


class Horse(Struct, frozen=True):
    """A horse and its 32 cards, which are in its pack, in the hand, played, or put away."""

    seat: int
    number: int = 0  # from 1 on; 0 for the only horse of its player
    field: Field | None = None  # None: arrived or fallen
    pack: tuple[str, ...] = ()
    hand: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    chosen: str = ""  # the card chosen, face down (§4.5)
    card: str = ""  # the card played in this round
    passed: bool = False
    bonus: int = 0  # the race in which it had its bonus cards
    paid: bool = False  # whether the price of the bonus was paid (§3.6)
    points: int = 0
    arrivals: tuple[int, ...] = ()  # its places in the races before


class Trail(Struct, frozen=True):
    """The latest ride; `horse` is an index, as everywhere below."""

    horse: int
    start: Field
    end: Field


class State(Struct, frozen=True, dict=True):
    """The three races. A horse is named by its index in `horses`, where the horses of one player come together.

    As a cache, a state keeps the reach of the horse in turn (rounds.py), which is asked for again at once.
    """

    options: Options = Options()
    seats: int = 0
    horses: tuple[Horse, ...] = ()
    boxes: tuple[int, ...] = ()  # the horse in each start box
    race: int = 0
    stage: Literal["boxes", "dealing", "riding"] = "boxes"
    served: int = 0  # how many horses have their cards for this race
    hedges: tuple[int, ...] = ()  # by number
    round: int = 0
    kind: Kind = "cards"
    order: tuple[int, ...] = ()  # the horses in order of play
    limits: tuple[int, ...] = ()  # the most points that each horse in `order` may ride
    done: int = 0  # how many horses in `order` have had their turn
    roller: int | None = None  # the seat that throws the dice next
    thrower: int | None = None  # the seat that threw the dice of this round
    dice: tuple[int, ...] = ()
    pace: str = ""
    arrived: tuple[int, ...] = ()
    fallen: tuple[int, ...] = ()
    last: Trail | None = None
    places: tuple[int, ...] = ()


class Throw(Struct, frozen=True):
    """Both dice of one player."""

    seat: int
    dice: tuple[int, int]


class Entered(Struct, frozen=True, omit_defaults=True, tag=True):
    """The players enter the game, each with so many horses, and each horse with a whole pack of cards."""

    seats: int
    horses: int
    options: Options


class BoxesRolled(Struct, frozen=True, omit_defaults=True, tag=True):
    """The dice gave the next start boxes to one horse of each player, in this order of seats."""

    order: tuple[int, ...]
    throws: tuple[Throw, ...]
    number: int = 0


class RaceBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    race: int
    hedges: tuple[int, ...] = ()


class BonusPaid(Struct, frozen=True, omit_defaults=True, tag=True):
    """A neighbour drew so many of the cards left over blindly and took them out of the game (§3.6)."""

    seat: int
    count: int
    number: int = 0
    cards: tuple[str, ...] = ()


class Dealt(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    count: int
    number: int = 0
    cards: tuple[str, ...] = ()


class Discarded(Struct, frozen=True, omit_defaults=True, tag=True):
    """A player put the cards above a full hand away, face down and out of the game (§3.5)."""

    seat: int
    count: int
    number: int = 0
    cards: tuple[str, ...] = ()


class RollerFound(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat with the highest roll throws the dice in the first dice round."""

    seat: int
    throws: tuple[Throw, ...]


class RoundBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """Horses in order of play, and the most points each may ride."""

    round: int
    kind: Kind
    order: tuple[int, ...]
    limits: tuple[int, ...]


class BonusTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    count: int
    number: int = 0
    cards: tuple[str, ...] = ()


class Chose(Struct, frozen=True, omit_defaults=True, tag=True):
    """A player chose a card, face down."""

    seat: int
    number: int = 0
    card: str = ""


class Passed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A player with an empty hand left the bonus cards where they are."""

    seat: int
    number: int = 0


class Revealed(Struct, frozen=True, omit_defaults=True, tag=True):
    """The chosen cards were turned face up: one for every horse, empty where it has none."""

    cards: tuple[str, ...]


class Played(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    card: str
    number: int = 0


class DiceRolled(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    dice: tuple[int, int]


class PaceSet(Struct, frozen=True, omit_defaults=True, tag=True):
    """A player set the pace for all horses: one die, or both."""

    seat: int
    pace: str


class Rode(Struct, frozen=True, omit_defaults=True, tag=True):
    """A horse rode to the field of the name `to`; points that it could not use lapsed."""

    seat: int
    start: Field
    end: Field
    to: str
    ridden: int
    number: int = 0
    lapsed: int = 0


class Stayed(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    why: Literal["over the limit", "no card", "blocked"]
    number: int = 0


class Fell(Struct, frozen=True, omit_defaults=True, tag=True):
    """A horse fell before a hedge, on the field of the name `at`, and is out of the race."""

    seat: int
    at: str
    number: int = 0


class Arrived(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    place: int
    number: int = 0
    points: int = 0


class HedgePlaced(Struct, frozen=True, omit_defaults=True, tag=True):
    hedge: int


class HedgeRemoved(Struct, frozen=True, omit_defaults=True, tag=True):
    hedge: int


class RaceEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    """The order of the start boxes in the next race."""

    boxes: tuple[int, ...]


class GameEnded(Struct, frozen=True, omit_defaults=True, tag=True):
    places: tuple[int, ...]


Event = (
    Entered
    | BoxesRolled
    | RaceBegan
    | BonusPaid
    | Dealt
    | Discarded
    | RollerFound
    | RoundBegan
    | BonusTaken
    | Chose
    | Passed
    | Revealed
    | Played
    | DiceRolled
    | PaceSet
    | Rode
    | Stayed
    | Fell
    | Arrived
    | HedgePlaced
    | HedgeRemoved
    | RaceEnded
    | GameEnded
)


def find_horse_index(state: State, seat: int, number: int) -> int:
    """Return the index of a player's horse by its number, which is 0 for an only horse."""
    if number == 0:
        return seat
    horses_of_each = len(state.horses) // state.seats
    return seat * horses_of_each + number - 1


def find_running_horses(state: State) -> dict[int, Field]:
    """Return the fields of the horses that are still on the course."""
    return {index: horse.field for index, horse in enumerate(state.horses) if horse.field is not None}


def can_take_bonus(state: State, horse: Horse) -> bool:
    """§3.3, §3.4: whether a horse that is on the course may still take its bonus cards.

    In the last race they are dealt with the hand.
    """
    return state.race < RACES and not horse.bonus and horse.field is not None
