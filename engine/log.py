"""Entries and the chain that seals them.

One entry stands for one accepted command. It is never edited or deleted: whoever holds the hash of an entry holds
proof of everything before it. The exact bytes are specified in `engine/README.md`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from engine.chance import Draw
from engine.reading import reader

Event = TypeVar("Event")
GENESIS = bytes(32).hex()
IN_ORDER = msgspec.json.Encoder(order="sorted")
LARGEST = 2**53 - 1  # up to here every language counts exactly
# A number of sixteen digits may be too large; it follows neither a quotation mark nor a digit, as those of hashes do.
KINDS = bytes(
    b"0"[0] if chr(one) in "0123456789" else b"a"[0] if chr(one) in 'abcdef"' else b" "[0] for one in range(256)
)
LONG_NUMBER = b" " + b"0" * 16


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


class Link(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An entry of an exported log, whole or as far as its reader may know it, with the digest of the whole one.

    Before the end `salt` proves an entry that its reader knows as a whole; afterwards the seed gives all salts.
    """

    digest: str
    whole: bool
    entry: dict[str, Any]
    salt: str | None = None


class Export(Struct, frozen=True, forbid_unknown_fields=True):
    """A log as somebody may keep it: complete with its seed after the end, redacted for one seat before."""

    table: str
    game: str
    commitment: str
    head: str
    entries: tuple[Link, ...]
    format: Literal["depesche-log-1"] = "depesche-log-1"
    seed: str | None = None
    seat: int | None = None


def opening(export: Export) -> dict[str, Any]:
    """The event that opened the table, or nothing where the log does not begin with one."""
    match export.entries:
        case (Link(entry={"events": [{"type": "table.Opened"} as opened]}), *_):
            return dict(opened)
    return {}


def edition(export: Export) -> int:
    """The edition of the game's rules that this table was opened with; 1 where the log does not say."""
    number = opening(export).get("edition")
    return number if isinstance(number, int) else 1


def canonical(entry: Any) -> bytes:
    """The one JSON form of an entry that is hashed: UTF-8, no white space, keys in order."""
    return IN_ORDER.encode(entry)


def salt(seed: bytes, seq: int) -> bytes:
    """What keeps a digest from being guessed while the table is still being played."""
    return hashlib.sha256(b"depesche salt 1" + seed + seq.to_bytes(8, "big")).digest()


def digest(seed: bytes, seq: int, body: bytes) -> str:
    """The digest of an entry under the salt that follows from the seed."""
    sha = hashlib.sha256
    return sha(sha(b"depesche salt 1" + seed + seq.to_bytes(8, "big")).digest() + body).hexdigest()


def salted(salt: bytes, body: bytes) -> str:
    """The digest of an entry whose salt is known."""
    return hashlib.sha256(salt + body).hexdigest()


def link(before: str, digest: str) -> str:
    """The hash of an entry: it holds the entry's digest and, through the one before, the whole past."""
    return hashlib.sha256(bytes.fromhex(before) + bytes.fromhex(digest)).hexdigest()


def chain(digests: Iterable[str], head: str = GENESIS) -> str:
    """The head hash that these digests lead to."""
    found, sha, plain = bytes.fromhex(head), hashlib.sha256, bytes.fromhex
    for one in digests:
        found = sha(found + plain(one)).digest()
    return found.hex()


def heads(digests: Sequence[str]) -> tuple[str, ...]:
    """The receipt of every entry, in order."""
    found, head = list[str](), GENESIS
    for one in digests:
        head = link(head, one)
        found.append(head)
    return tuple(found)


def plain(body: str | bytes) -> dict[str, Any]:
    """A stored entry as plain values, whatever events it knows."""
    return reader(dict[str, Any]).decode(body)


def known(seed: bytes, whole: Entry[Any], told: Entry[Any], digest: str) -> Link:
    """An entry as its reader may know it before the end, with the proof of it where that is all of it."""
    proof = salt(seed, whole.seq).hex() if told is whole else None
    return Link(digest, told is whole, plain(canonical(told)), proof)


def read(raw: bytes) -> Export:
    """An exported log from its file, in which nothing may be told twice or be read in two ways."""
    found = reader(Export).decode(raw)
    if not _is_as_we_write(raw):
        _refuse_two_readings(raw, found)
    return found


def _refuse_two_readings(raw: bytes, found: Export) -> None:
    numbers: dict[str, Any] = {"parse_float": _no_fraction, "parse_constant": _no_fraction, "parse_int": _whole}
    json.loads(raw, object_pairs_hook=_once, **numbers)
    try:
        canonical(found)
    except UnicodeEncodeError as error:
        raise msgspec.ValidationError("a text holds half of a character") from error


def _is_as_we_write(raw: bytes) -> bool:
    """Whether this is, but for white space, what our encoder makes of it: then nothing can be told in two ways."""
    if LONG_NUMBER in raw.translate(KINDS):
        return False
    return msgspec.json.encode(WHOLE.decode(raw)) == msgspec.json.format(raw, indent=-1)


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise msgspec.ValidationError(f"an object tells something twice: {', '.join(name for name, _ in pairs)[:80]}")


def _no_fraction(text: str) -> None:
    raise msgspec.ValidationError(f"all numbers are whole, not {text[:40]}")


WHOLE = msgspec.json.Decoder(float_hook=_no_fraction)


def _whole(text: str) -> None:
    if text == "-0" or len(text) > 17 or abs(int(text)) > LARGEST:
        raise msgspec.ValidationError(f"numbers lie between -2^53 and 2^53 and have one form each, not {text[:40]}")
