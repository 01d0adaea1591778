"""The villages with their inns, the guards of the palace, couriers and coins."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

DATA = tomllib.loads((Path(__file__).parent / "board.toml").read_text("utf-8"))

Kind = Literal["officer", "cossack", "diplomat", "lady"]
Coin = Literal["njet", "blank", "1", "2", "3"]

PALACE = "palace"
KINDS: tuple[Kind, ...] = tuple(DATA["kinds"])
COLOURS: int = DATA["colours"]
FULL_STACK: tuple[Kind, ...] = tuple(kind for kind in KINDS for _ in range(DATA["couriers_of_a_kind"]))
FAR_GUARD: int = DATA["far_guard"]

LANDS: tuple[str, ...] = tuple(village["name"] for village in DATA["villages"])


def token(name: str) -> str:
    """An inn as it is written in a move: “Pawl-Hof”."""
    return name.replace(" ", "-")


VILLAGES = tuple(tuple(token(inn["name"]) for inn in village["inns"]) for village in DATA["villages"])
NAMES: dict[str, str] = {token(inn["name"]): inn["name"] for village in DATA["villages"] for inn in village["inns"]}
VILLAGE_OF = {inn: number for number, inns in enumerate(VILLAGES) for inn in inns}
PRICES: dict[str, int] = {token(inn["name"]): inn["guard"] for inn in DATA["villages"][-1]["inns"]}

WORTH: dict[Coin, int] = {coin: entry["worth"] for coin, entry in DATA["coins"].items()}
SUPPLY: tuple[Coin, ...] = tuple(coin for coin, entry in DATA["coins"].items() for _ in range(entry["count"]))


def closed(seats: int, third: str) -> frozenset[str]:
    """The inns that bear the sign “closed” with so many players; `third` names the one the texts disagree about."""
    names = DATA["closed"][str(seats)] + ([DATA["closed_third"][third]] if seats == 3 else [])
    return frozenset(map(token, names))


CLOCKWISE: dict[Kind, tuple[Kind, ...]] = {
    empty: (KINDS + KINDS)[room + 1 : room + len(KINDS)] for room, empty in enumerate(KINDS)
}
"""By the empty room the guests of an inn in the order of the arrows: the first two leave, the third stays."""


def worth(coins: Iterable[Coin]) -> int:
    return sum(WORTH[coin] for coin in coins)
