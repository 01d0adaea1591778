"""The villages with their inns, the guards of the palace, couriers and coins."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from engine.menu import Choice, Menu

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

Kind = Literal["officer", "cossack", "diplomat", "lady"]
Coin = Literal["njet", "blank", "1", "2", "3"]

PALACE = "palace"
KINDS: tuple[Kind, ...] = tuple(DATA["kinds"])
"""The kinds of couriers, and of rooms: in an inn clockwise from the upper left."""
COLOURS: int = DATA["colours"]
FULL_STACK: tuple[Kind, ...] = tuple(kind for kind in KINDS for _ in range(DATA["couriers_of_a_kind"]))
FULL_INN = len(KINDS) - 1
"""The guests of a full inn: one room stays free."""

LANDS: tuple[str, ...] = tuple(village["name"] for village in DATA["villages"])


def make_inn_token(name: str) -> str:
    """Return the name of an inn as it is written in a move, “Pawl-Hof”."""
    return name.replace(" ", "-")


VILLAGES = tuple(tuple(make_inn_token(inn["name"]) for inn in village["inns"]) for village in DATA["villages"])
INN_NAMES: dict[str, str] = {
    make_inn_token(inn["name"]): inn["name"] for village in DATA["villages"] for inn in village["inns"]
}
VILLAGE_OF = {inn: number for number, inns in enumerate(VILLAGES) for inn in inns}
GUARD_PRICES: dict[str, int] = {make_inn_token(inn["name"]): inn["guard"] for inn in DATA["villages"][-1]["inns"]}
FAR_GUARD_PRICE: int = DATA["far_guard"]

WORTH: dict[Coin, int] = {coin: entry["worth"] for coin, entry in DATA["coins"].items()}
SUPPLY: tuple[Coin, ...] = tuple(coin for coin, entry in DATA["coins"].items() for _ in range(entry["count"]))


def list_closed_inns(seats: int, third: str) -> frozenset[str]:
    """§2.1: return the inns that are closed for a number of seats; `third` is the inn that the texts disagree about."""
    names = list(DATA["closed"][str(seats)])
    if seats == 3:
        names.append(DATA["closed_third"][third])
    return frozenset(map(make_inn_token, names))


ORDER_BY_FREE_ROOM: dict[Kind, tuple[Kind, ...]] = {
    free: (KINDS + KINDS)[room + 1 : room + len(KINDS)] for room, free in enumerate(KINDS)
}
"""For each free room, the guests of the full inn along its arrows, clockwise: the first two leave, the third stays."""


def order_departures(guests: Mapping[Kind, int]) -> tuple[Kind, ...]:
    """§6.2: return the guests of a full inn, the two who leave before the one who stays."""
    free_room = next(kind for kind in KINDS if kind not in guests)
    return ORDER_BY_FREE_ROOM[free_room]


PURSE = "purse"


def list_offered_purses(menu: Menu) -> list[str]:
    """Return the purses from which a menu lets a seat take a coin, as they are written in a move."""
    purses = list[str]()
    for entry in menu:
        if isinstance(entry, Choice):
            first_words = [args[0] for args in entry.options if args]
            purses += [word for word in first_words if word.startswith(PURSE)]
    return purses


def find_purse_owner(token: str) -> int:
    """Return the seat whose purse is written so in a move, counted from 0; `purse1` belongs to seat 0."""
    return int(token.removeprefix(PURSE)) - 1


def count_stack(view: Any, seat: int) -> dict[Kind, int]:
    """Count the couriers of each kind in a player's stack: those that are nowhere else.

    A player who needed another colour has more couriers than one colour has.
    """
    player = view.players[seat]
    shown = [kind for guests in view.inns.values() for kind, owner in guests.items() if owner == seat]
    shown += player.reserve
    if view.flipped and view.turn == seat:
        shown.append(view.flipped)
    colours = (player.stack + len(shown)) // len(FULL_STACK)
    counts = {kind: FULL_STACK.count(kind) * colours - shown.count(kind) for kind in KINDS}
    return {kind: count for kind, count in counts.items() if count}


def count_roubles(coins: Iterable[Coin]) -> int:
    return sum(WORTH[coin] for coin in coins)
