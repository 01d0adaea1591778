"""Entries and the chain that seals them.

One entry stands for one accepted command. It is never edited or deleted: whoever holds the hash of an entry holds
proof of everything before it. The exact bytes are specified in `engine/README.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from engine.chance import Draw

Event = TypeVar("Event")
FORMAT = "depesche-log-1"
GENESIS = bytes(32).hex()


class Entry(Struct, Generic[Event], frozen=True):
    """What one command did: who said what when, what was drawn for it, and what came of it.

    `seat` is None where the house acted. `move` is None only in a copy made for somebody who may not know it.
    """

    seq: int
    at: int
    seat: int | None
    move: str | None
    draws: tuple[Draw, ...]
    events: tuple[Event, ...]
    edition: int


class Link(Struct, frozen=True):
    """An entry of an exported log, whole or as far as its reader may know it, with the digest of the whole one."""

    digest: str
    whole: bool
    entry: dict[str, Any]


class Export(Struct, frozen=True):
    """A log as somebody may keep it: complete with its seed after the end, redacted for one seat before."""

    table: str
    game: str
    commitment: str
    head: str
    entries: tuple[Link, ...]
    format: Literal["depesche-log-1"] = "depesche-log-1"
    seed: str | None = None
    seat: int | None = None


def canonical(entry: Any) -> bytes:
    """The one JSON form of an entry that is hashed: UTF-8, no white space, keys in order."""
    return msgspec.json.encode(entry, order="sorted")


def salt(seed: bytes, seq: int) -> bytes:
    """What keeps a digest from being guessed while the table is still being played."""
    return hashlib.sha256(b"depesche salt 1" + seed + seq.to_bytes(8, "big")).digest()


def digest(seed: bytes, seq: int, body: bytes) -> str:
    return hashlib.sha256(salt(seed, seq) + body).hexdigest()


def link(before: str, digest: str) -> str:
    """The hash of an entry: it holds the entry's digest and, through the one before, the whole past."""
    return hashlib.sha256(bytes.fromhex(before) + bytes.fromhex(digest)).hexdigest()


def chain(digests: Iterable[str], head: str = GENESIS) -> str:
    """The head hash that these digests lead to."""
    for one in digests:
        head = link(head, one)
    return head


def heads(digests: Sequence[str]) -> tuple[str, ...]:
    """The receipt of every entry, in order."""
    found, head = list[str](), GENESIS
    for one in digests:
        head = link(head, one)
        found.append(head)
    return tuple(found)


def plain(body: str | bytes) -> dict[str, Any]:
    """A stored entry as plain values, whatever events it knows."""
    return msgspec.json.decode(body, type=dict[str, Any])
