"""The table: its options, its horses, and what happened to them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from engine.game import Meta
from engine.games.turfmaster.board import RACES, Field
from engine.games.turfmaster.ride import Kind


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
    about="Three horse races on cards and dice. Whoever leads is handicapped, so keep your best cards, and your place "
    "by the rails, for the finish; in the Grand National there are hedges to jump as well.",
    skips=("pass",),
)


class Horse(Struct, frozen=True):
    """A horse and its 32 cards; `number` is 0 where it is its player's only one."""

    seat: int
    number: int = 0
    field: Field | None = None
    pack: tuple[str, ...] = ()
    hand: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    chosen: str = ""
    card: str = ""
    passed: bool = False
    bonus: int = 0
    paid: bool = False
    points: int = 0
    arrivals: tuple[int, ...] = ()


class Trail(Struct, frozen=True):
    """The latest ride: which horse, from where, to where."""

    horse: int
    start: Field
    end: Field


class State(Struct, frozen=True, dict=True):
    """Three races; horses are counted player by player, and `done` of those in `order` have had their turn.

    A table remembers the way of the horse in turn (rounds.py), which is asked for again at once.
    """

    options: Options = Options()
    seats: int = 0
    horses: tuple[Horse, ...] = ()
    boxes: tuple[int, ...] = ()
    race: int = 0
    stage: Literal["boxes", "dealing", "riding"] = "boxes"
    served: int = 0
    hedges: tuple[int, ...] = ()
    round: int = 0
    kind: Kind = "cards"
    order: tuple[int, ...] = ()
    limits: tuple[int, ...] = ()
    done: int = 0
    roller: int | None = None
    thrower: int | None = None
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
    """So many players brought so many horses each, with whole packs of cards."""

    seats: int
    horses: int
    options: Options


class BoxesRolled(Struct, frozen=True, omit_defaults=True, tag=True):
    """The dice gave out start boxes: in this order the players' horses took the next ones."""

    order: tuple[int, ...]
    throws: tuple[Throw, ...]
    number: int = 0


class RaceBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    race: int
    hedges: tuple[int, ...] = ()


class BonusPaid(Struct, frozen=True, omit_defaults=True, tag=True):
    """A neighbour drew cards blind from what was left over and took them out of the game."""

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
    """The cards above the full hand left the game, face down."""

    seat: int
    count: int
    number: int = 0
    cards: tuple[str, ...] = ()


class RollerFound(Struct, frozen=True, omit_defaults=True, tag=True):
    """The highest roll throws the dice in the first dice round."""

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
    """A card lies face down."""

    seat: int
    number: int = 0
    card: str = ""


class Passed(Struct, frozen=True, omit_defaults=True, tag=True):
    """An empty hand, and the bonus cards left where they are."""

    seat: int
    number: int = 0


class Revealed(Struct, frozen=True, omit_defaults=True, tag=True):
    """All cards are turned face up: one for every horse, empty where it has none."""

    cards: tuple[str, ...]


class Played(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    card: str
    number: int = 0


class DiceRolled(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    dice: tuple[int, int]


class PaceSet(Struct, frozen=True, omit_defaults=True, tag=True):
    """One die, or both, for all horses."""

    seat: int
    pace: str


class Rode(Struct, frozen=True, omit_defaults=True, tag=True):
    """A horse rode, to the field of this name; points it could not use lapsed."""

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
    """A horse was refused before a hedge, on the field of this name, and is out of the race."""

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


def horse_at(state: State, seat: int, number: int) -> int:
    """Which horse a player's so-manieth is."""
    return seat * (len(state.horses) // state.seats) + number - 1 if number else seat


def running(state: State) -> dict[int, Field]:
    """The horses still on the course, and their fields."""
    return {place: horse.field for place, horse in enumerate(state.horses) if horse.field is not None}


def has_bonus(state: State, horse: Horse) -> bool:
    """§3.3: until the last race, where they come with the hand, two cards may be asked for once."""
    return state.race < RACES and not horse.bonus and horse.field is not None
