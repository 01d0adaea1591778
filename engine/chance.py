"""Sealed draws: neither the server nor a player can choose a result, and everyone can check it afterwards.

The exact bytes are specified in `engine/README.md`; change nothing here without a new version of that page.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from msgspec import Struct

Item = TypeVar("Item")
Source = Callable[[str, Sequence[Any], int], int]
"""Chooses the result of a draw, counted from 0: from its label, its possible results, and its number in the entry."""

BITS_64 = (1 << 64) - 1


class Draw(Struct, frozen=True, array_like=True):
    """One draw: its label, the number of possible results, and the result, counted from 0."""

    label: str
    size: int
    result: int


class Chance(Struct, eq=False):
    """The dice, bags and shuffles of one entry; records every draw."""

    source: Source
    draws: list[Draw] = []

    def roll(self, label: str, sides: int) -> int:
        """Roll a die; return 1 to `sides`."""
        return self.pick(label, range(1, sides + 1))

    def pick(self, label: str, items: Sequence[Item]) -> Item:
        """Pick one of the items, each with the same probability."""
        return items[self._draw_index(label, items)]

    def shuffle(self, label: str, items: Iterable[Item]) -> tuple[Item, ...]:
        """Return the items in a new order, drawn one after the other."""
        left = list(items)
        order = []
        while len(left) > 1:
            order.append(left.pop(self._draw_index(label, left)))
        return (*order, *left)

    def reveal(self, label: str) -> None:
        """Record that something hidden but already fixed was turned over: no choice, but it cannot be undone."""
        only_one = (None,)
        self._draw_index(label, only_one)

    def _draw_index(self, label: str, faces: Sequence[Any]) -> int:
        """Draw one of the faces, record the draw, and return the place of the result."""
        result = self.source(label, faces, len(self.draws))
        self.draws.append(Draw(label, len(faces), result))
        return result


def commit(seed: bytes) -> str:
    """Return the commitment that is published when a table opens: it binds the server to a secret seed."""
    return hashlib.sha256(b"depesche commitment 1" + seed).hexdigest()


def derive_key(seed: bytes, nonces: Iterable[str]) -> bytes:
    """Return the key of all draws of a table: from the server's seed and the nonce of each seat, in seat order."""
    mixed = hashlib.sha256(b"depesche key 1" + seed)
    for nonce in nonces:
        word = nonce.encode()
        mixed.update(len(word).to_bytes(2, "big") + word)
    return mixed.digest()


def derive_round_key(key: bytes, signature: str) -> bytes:
    """Return the key of an entry that draws by a round of a public beacon, from that round's signature."""
    return hashlib.sha256(b"depesche round 1" + key + bytes.fromhex(signature)).digest()


def make_sealed(key: bytes, entry: int) -> Chance:
    """Return the chance of one entry of a log, whose draws follow from the key."""
    return Chance(functools.partial(_draw_sealed, key, entry))


class RoundPending(Exception):
    """A draw needs a round of the beacon that is not published yet."""

    def __init__(self, round: int) -> None:  # noqa: A002  # the beacon's own word
        super().__init__(f"round {round}")
        self.round = round


def make_pending(round: int) -> Chance:  # noqa: A002  # the beacon's own word
    """Return chance for a round that is not published yet: a draw with more than one face raises `RoundPending`."""

    def refuse_draw(_label: str, faces: Sequence[Any], _index: int) -> int:
        if len(faces) > 1:
            raise RoundPending(round)
        return 0

    return Chance(refuse_draw)


def make_from_random(random: Random) -> Chance:
    """Return chance for imagined games and tests; its draws come from a generator."""
    return Chance(lambda label, faces, index: random.randrange(len(faces)) if len(faces) > 1 else 0)


def make_from_seed(seed: int) -> Chance:
    """Return chance for imagined games, the same for the same seed; quicker to create than a generator (SplitMix64)."""

    def draw(_: str, faces: Any, index: int) -> int:
        mixed = (seed + (index + 1) * 0x9E3779B97F4A7C15) & BITS_64
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & BITS_64
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & BITS_64
        return (mixed ^ (mixed >> 31)) % len(faces)

    return Chance(draw)


def _draw_sealed(key: bytes, entry: int, _: str, faces: Sequence[Any], index: int) -> int:
    return compute_draw(key, entry, index, len(faces))


def compute_draw(key: bytes, entry: int, index: int, size: int) -> int:
    """Return the result of one draw, from 0 to size - 1, all equally likely; everyone who knows the key can compute it.

    It is the first number of an endless SHAKE-256 stream, cut to as many bits as `size` needs, that is not too large.
    """
    if size < 2:
        return 0
    bits = (size - 1).bit_length()
    width, mask = (bits + 7) // 8, (1 << bits) - 1
    stream = hashlib.shake_256(key + entry.to_bytes(8, "big") + index.to_bytes(4, "big"))
    length = 16 * width
    while True:
        for number in _split_numbers(stream.digest(length), width):
            if number & mask < size:
                return number & mask
        length *= 2  # the longer digest begins with the same numbers, which are too large again


def _split_numbers(stream: bytes, width: int) -> Iterable[int]:
    """Split the stream into pieces of `width` bytes, each as a number."""
    if width == 1:
        return stream
    return (int.from_bytes(stream[start : start + width], "big") for start in range(0, len(stream), width))


class UnexpectedDraw(Exception):
    """A rigged draw for which no fitting result was given."""


class Rig:
    """A source with given results for each label, in order; `otherwise` draws when they are used up.

    A result is written as a player sees it: the number on the die, the item picked. A draw with one possible result
    needs none. Without `otherwise` a draw that was not expected raises `UnexpectedDraw`.
    """

    def __init__(self, forced: Mapping[str, Sequence[object]], otherwise: Source | None = None) -> None:
        self.results_left = {label: list(results) for label, results in forced.items() if results}
        self._otherwise = otherwise

    def __call__(self, label: str, faces: Sequence[Any], index: int) -> int:
        """Return the place of the next given result of this label; once all are used up, draw otherwise."""
        if len(faces) == 1:
            return self._take_only_face(label, faces[0])
        if label in self.results_left:
            return _find_face(label, faces, self._take_next(label))
        if self._otherwise is None:
            raise UnexpectedDraw(f"nothing was foreseen for “{label}” (one of {len(faces)})")
        return self._otherwise(label, faces, index)

    def _take_only_face(self, label: str, face: object) -> int:
        """Return the place of the only face, which is 0, and use up this face if it is the next given result.

        If no result of this label is left here, the rig that draws otherwise does so.
        """
        if label in self.results_left:
            if str(self.results_left[label][0]) == str(face):
                self._take_next(label)
        elif isinstance(self._otherwise, Rig):
            self._otherwise._take_only_face(label, face)
        return 0

    def _take_next(self, label: str) -> object:
        """Take the next given result of a label; after the last one the label is deleted."""
        result = self.results_left[label].pop(0)
        if not self.results_left[label]:
            del self.results_left[label]
        return result


def make_rigged(forced: Mapping[str, Sequence[object]], otherwise: Source | None = None) -> Chance:
    """Return chance with the results that a test or a scenario gives for each label, in order."""
    return Chance(Rig(forced, otherwise))


def _find_face(label: str, faces: Sequence[Any], result: object) -> int:
    """Return the place of a given result among the faces; raise UnexpectedDraw if it is none of them."""
    for place, face in enumerate(faces):
        if face == result or str(face) == str(result):
            return place
    raise UnexpectedDraw(f"“{result}” cannot be drawn for “{label}” from {', '.join(map(str, faces))}")
