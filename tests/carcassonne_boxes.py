"""The mixtures of boxes of Carcassonne that the tests play: every two boxes, and random ones of all."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from engine import game as games
from engine import options
from engine.contract.cases import Case
from engine.games import carcassonne

PAIR_STEP = 40
"""Of so many pairs a test plays one, others than the other tests; a soak plays all."""

BOXES = tuple(option.name for option in options.describe(carcassonne.META.options) if option.kind == "switch")


def goes_together(chosen: dict[str, str], seats: int) -> bool:
    """Whether the game can be played with these options."""
    parsed = options.parse(carcassonne.META.options, chosen)
    return not games.objection(carcassonne, parsed, seats)


@functools.cache
def list_pairs() -> list[Case]:
    """Return a case for every two boxes that go together, half of them without messages."""
    cases = []
    for number, pair in enumerate(itertools.combinations(BOXES, 2)):
        chosen = {"messages": "on" if number % 2 else "off"} | dict.fromkeys(pair, "on")
        chosen["figures"] = "own_turn" if number % 4 == 1 else "at_once"
        seats = 2 + number % 3
        cases += [Case(carcassonne, seats, tuple(chosen.items()))] if goes_together(chosen, seats) else []
    return cases


def make_mixtures() -> Iterator[Case]:
    """Yield random mixtures: boxes are added in a random order, unless they do not go with those that are in."""
    for number in itertools.count():
        random, chosen = Random(number), {"inns_cathedrals": "on"}
        for box in random.sample(BOXES, random.randint(4, len(BOXES))):
            chosen |= {box: "on"} if goes_together(chosen | {box: "on"}, 3) else {}
        yield Case(carcassonne, 2 + number % 4, tuple((chosen | {"messages": chosen.get("messages", "off")}).items()))


def sample_cases(offset: int, mixtures: int = 1) -> list[Any]:
    """Return parameters for `parametrize`: some pairs, the others only in a soak, and so many random mixtures."""
    pairs = [
        pytest.param(case, marks=[pytest.mark.soak] if (number + offset) % PAIR_STEP else [], id=str(case))
        for number, case in enumerate(list_pairs())
    ]
    mixed = itertools.islice(make_mixtures(), offset % 5, offset % 5 + mixtures)
    return [*pairs, *(pytest.param(case, id=f"mixture-{offset % 5 + n}") for n, case in enumerate(mixed))]
