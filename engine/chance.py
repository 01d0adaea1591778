"""Sealed randomness: nobody can choose a draw, everybody can check it afterwards.

The exact bytes are specified in `engine/README.md`; change nothing here without a new version of that page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

Item = TypeVar("Item")
Source = Callable[[str, Sequence[Any], int], int]


class Draw(Struct, frozen=True, array_like=True):
    """One draw: what it was for, out of how many, and which (counted from 0) it was."""

    label: str
    size: int
    result: int


class Chance(Struct, eq=False):
    """The dice, bags and shuffles of one entry; remembers every draw."""

    source: Source
    draws: list[Draw] = []

    def roll(self, label: str, sides: int) -> int:
        """A die: 1 to `sides`."""
        return self._draw(label, range(1, sides + 1)) + 1

    def pick(self, label: str, items: Sequence[Item]) -> Item:
        """One of the items, each as likely as any other."""
        return items[self._draw(label, items)]

    def shuffle(self, label: str, items: Iterable[Item]) -> tuple[Item, ...]:
        """The items in a new order, drawn one after the other."""
        left, order = list(items), []
        while len(left) > 1:
            order.append(left.pop(self._draw(label, left)))
        return (*order, *left)

    def reveal(self, label: str) -> None:
        """Note that something hidden but already fixed was turned over: no choice, yet nothing to take back."""
        self._draw(label, (None,))

    def _draw(self, label: str, faces: Sequence[Any]) -> int:
        result = self.source(label, faces, len(self.draws))
        self.draws.append(Draw(label, len(faces), result))
        return result


def commitment(seed: bytes) -> str:
    """What is published when a table opens: it binds the server to a seed nobody has seen."""
    return hashlib.sha256(b"depesche commitment 1" + seed).hexdigest()


def key(seed: bytes, nonces: Iterable[str]) -> bytes:
    """The key of all draws of a table: the server's seed and a word from every seat, in seat order."""
    mixed = hashlib.sha256(b"depesche key 1" + seed)
    for nonce in nonces:
        word = nonce.encode()
        mixed.update(len(word).to_bytes(2, "big") + word)
    return mixed.digest()


def sealed(key: bytes, entry: int) -> Chance:
    """The draws of one entry of a table's log."""
    material = _material(key, entry)
    return Chance(lambda _, faces, index: _nth(material, index, len(faces)))


def public(key: bytes, signature: str) -> bytes:
    """The key of an entry that also mixes in a round of a public beacon, by that round's signature."""
    return hashlib.sha256(b"depesche round 1" + key + bytes.fromhex(signature)).digest()


class Unlit(Exception):
    """A draw waits for a round of the beacon that is still to come."""

    def __init__(self, round: int) -> None:  # noqa: A002  # the beacon's own word
        super().__init__(f"round {round}")
        self.round = round


def unlit(round: int) -> Chance:  # noqa: A002  # the beacon's own word
    """Chance before its round is there: what is certain is certain, and any real draw raises `Unlit`."""

    def source(_label: str, faces: Sequence[Any], _index: int) -> int:
        if len(faces) > 1:
            raise Unlit(round)
        return 0

    return Chance(source)


def drawn(key: bytes, entry: int, index: int, size: int) -> int:
    """The result of one draw, as anybody can work it out who knows the key."""
    return _nth(_material(key, entry), index, size)


def _material(key: bytes, entry: int) -> bytes:
    return key + entry.to_bytes(8, "big")


def _nth(material: bytes, index: int, size: int) -> int:
    """A number from 0 to size - 1, evenly, out of SHAKE-256 of the material: bits too large are passed over."""
    if size < 2:
        return 0
    bits = (size - 1).bit_length()
    width, mask = (bits + 7) // 8, (1 << bits) - 1
    stream = hashlib.shake_256(material + index.to_bytes(4, "big"))
    length = 16 * width
    while True:
        for number in _numbers(stream.digest(length), width):
            if number & mask < size:
                return number & mask
        length *= 2


def _numbers(stream: bytes, width: int) -> Iterable[int]:
    """The stream in pieces of so many bytes, each as a number."""
    if width == 1:
        return stream
    return (int.from_bytes(stream[start : start + width], "big") for start in range(0, len(stream), width))


class Unforced(Exception):
    """A rigged draw asked for something that was not foreseen."""


class Rig:
    """Draws foreseen, label by label in order; what is asked for beyond them is left to `otherwise`.

    A forced result is written as what is seen: the number on the die, the item picked. What is certain need not be
    foreseen. Without `otherwise` an unforeseen draw is an error.
    """

    def __init__(self, forced: Mapping[str, Sequence[object]], otherwise: Source | None = None) -> None:
        self.left = {label: list(results) for label, results in forced.items() if results}
        self._otherwise = otherwise

    def __call__(self, label: str, faces: Sequence[Any], index: int) -> int:
        if len(faces) == 1:
            return self._certain(label, faces[0])
        if label in self.left:
            return _face(label, faces, self._next(label))
        if self._otherwise is None:
            raise Unforced(f"nothing was foreseen for “{label}” (one of {len(faces)})")
        return self._otherwise(label, faces, index)

    def _certain(self, label: str, face: object) -> int:
        """The only face there is; it takes the place of what was foreseen as the very same."""
        if label in self.left:
            if str(self.left[label][0]) == str(face):
                self._next(label)
        elif isinstance(self._otherwise, Rig):
            self._otherwise._certain(label, face)
        return 0

    def _next(self, label: str) -> object:
        result = self.left[label].pop(0)
        if not self.left[label]:
            del self.left[label]
        return result


def rigged(forced: Mapping[str, Sequence[object]], otherwise: Source | None = None) -> Chance:
    """Chance that gives the results a test or a scenario asks for, label by label in order."""
    return Chance(Rig(forced, otherwise))


def _face(label: str, faces: Sequence[Any], wanted: object) -> int:
    for place, face in enumerate(faces):
        if face == wanted or str(face) == str(wanted):
            return place
    raise Unforced(f"“{wanted}” cannot be drawn for “{label}” from {', '.join(map(str, faces))}")
