"""The cards of a horse: 28 plain ones, and four jokers, written as J and their points (§1.2)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.chance import Chance
from engine.games.turfmaster.course import DATA


def _build_pack() -> tuple[str, ...]:
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
    """Draw so many of these cards blindly, and sort them."""
    left, drawn = list(cards), list[str]()
    for _ in range(count):
        drawn.append(chance.pick(label, left))
        left.remove(drawn[-1])
    return sort_cards(drawn)
