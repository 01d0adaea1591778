"""The options, the state of the game, and the events that change it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from engine.games.kurier.board import FULL_STACK, Coin, Kind

Guests = dict[Kind, int]
"""The guests of an inn, one of each kind at most, and the seat that owns each."""
Reason = Literal["price", "first rouble", "first dispatch"]


class Options(Struct, frozen=True):
    rules: Annotated[
        Literal["revised", "basic"],
        msgspec.Meta(description="Roubles gathered on the road, or luck pushed at the palace (§7, §8)"),
    ] = "revised"
    blank_coins: Annotated[
        Literal["as_printed", "in", "out"],
        msgspec.Meta(description="Blank coins: in with the basic rules, out with the revised ones, unless told (§1.4)"),
    ] = "as_printed"
    robbing: Annotated[
        bool, msgspec.Meta(description="Revised: once the palace is empty, coins come out of other purses (§8.7)")
    ] = True
    at_the_guard: Annotated[
        Literal["play_on", "roubles"],
        msgspec.Meta(description="Revised: too poor at the guard, go on with the usual actions or turn coins (§8.6)"),
    ] = "play_on"
    own_traveller: Annotated[
        bool, msgspec.Meta(description="One of the two couriers who travel must be the mover's own (§6.1)")
    ] = False
    closed_third: Annotated[
        Literal["roman", "masl"],
        msgspec.Meta(description="With three players: Roman Hof is closed, or Masl Hof (§2.1)"),
    ] = "roman"


class Dispatch(Struct, frozen=True):
    """A dispatch is with the courier of a kind in an inn, or with a guard who asks a price.

    With a guard `inn` is the one below, or empty for the guard of §6.9.
    """

    inn: str = ""
    kind: Kind | None = None
    price: int = 0


class Holdings(Struct, frozen=True):
    """The couriers and coins of a seat that are not in an inn or in the palace."""

    stack: tuple[Kind, ...] = FULL_STACK  # as a bag: its order is not known before a courier is drawn
    under: tuple[Kind, ...] = ()  # who came home, in this order under the stack (§2.5)
    reserve: tuple[Kind, ...] = ()
    purse: tuple[Coin, ...] = ()  # face down
    secured: tuple[Coin, ...] = ()  # face up
    dispatch: Dispatch = Dispatch()


class State(Struct, frozen=True):
    options: Options = Options()
    inns: dict[str, Guests] = {}  # the open ones
    players: tuple[Holdings, ...] = ()
    palace: tuple[Coin, ...] = ()
    colours: int = 0  # how many are not played (§3.4)
    turn: int = 0
    flipped: Kind | None = None  # the courier that the seat on turn has to deploy (§4.3)
    acted: bool = False  # the seat on turn has made its action
    done: bool = False  # and has nothing more to decide
    owed: int | None = None  # the seat that is due a coin for a courier left behind (§8.1)
    turned: tuple[Coin, ...] = ()  # in this turn, and not secured yet
    arrivals: tuple[int, ...] = ()  # the seats whose dispatch came to a guard, the first one first
    first_rouble: int | None = None  # the seat that first turned a coin (§7.6)
    last: tuple[tuple[str, Kind], ...] = ()  # the rooms that the last move touched
    places: tuple[int, ...] = ()
    reason: Reason | None = None


class Prepared(Struct, frozen=True, omit_defaults=True, tag=True):
    """The open inns, the coins in the palace, the number of colours that are not played, and the start player."""

    options: Options
    seats: int
    inns: tuple[str, ...]
    palace: tuple[Coin, ...]
    colours: int
    first: int


class SentOut(Struct, frozen=True, omit_defaults=True, tag=True):
    """The first courier of a seat, with its dispatch."""

    seat: int
    kind: Kind
    inn: str


class Refilled(Struct, frozen=True, omit_defaults=True, tag=True):
    """The top courier of the stack went to the open reserve."""

    seat: int
    kind: Kind


class ColourOpened(Struct, frozen=True, omit_defaults=True, tag=True):
    """The twelve couriers of an unused colour became a seat's new stack."""

    seat: int


class Flipped(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    kind: Kind


class SetAside(Struct, frozen=True, omit_defaults=True, tag=True):
    """A flipped courier found no room and went to the open reserve."""

    seat: int
    kind: Kind


class Deployed(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    kind: Kind
    inn: str


class Handed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A dispatch changed hands within a village."""

    seat: int
    start: str
    giver: Kind
    end: str
    taker: Kind


class Departed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat travels from a full inn. The courier of seat `left` stays behind and, where `owed`, earns a coin."""

    seat: int
    inn: str
    left: int
    kind: Kind
    owed: bool = False


class Travelled(Struct, frozen=True, omit_defaults=True, tag=True):
    """A courier came to another village, or to the palace and so home, and skipped so many villages on the way."""

    seat: int
    kind: Kind
    start: str
    end: str
    skipped: int = 0
    dispatch: bool = False


class Delivered(Struct, frozen=True, omit_defaults=True, tag=True):
    """A dispatch came to a guard: the one above `inn`, or the guard of §6.9 where `inn` is empty."""

    seat: int
    price: int
    inn: str = ""


class Rewarded(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat took a coin from the palace for a courier left behind; only that seat sees which."""

    seat: int
    coin: Coin | None = None


class Robbed(Struct, frozen=True, omit_defaults=True, tag=True):
    """A hidden coin went from one purse to another; only these two see which."""

    seat: int
    victim: int
    coin: Coin | None = None


class Spared(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat declined to rob."""

    seat: int


class Turned(Struct, frozen=True, omit_defaults=True, tag=True):
    """A coin was turned face up, in the palace or in the purse of `victim`."""

    seat: int
    coin: Coin
    victim: int | None = None


class Lost(Struct, frozen=True, omit_defaults=True, tag=True):
    """“Njet”: all coins turned in this turn left the game."""

    seat: int
    coins: tuple[Coin, ...]


class Stopped(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat ended its turn and secured the coins it had turned, if any."""

    seat: int
    coins: tuple[Coin, ...] = ()


class Passed(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


class TurnBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int


class Won(Struct, frozen=True, omit_defaults=True, tag=True):
    """The game is over; the winner showed these coins."""

    seat: int
    reason: Reason
    places: tuple[int, ...]
    coins: tuple[Coin, ...] = ()


Event = (
    Prepared
    | SentOut
    | Refilled
    | ColourOpened
    | Flipped
    | SetAside
    | Deployed
    | Handed
    | Departed
    | Travelled
    | Delivered
    | Rewarded
    | Robbed
    | Spared
    | Turned
    | Lost
    | Stopped
    | Passed
    | TurnBegan
    | Won
)
