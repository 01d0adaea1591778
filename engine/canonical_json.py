"""JSON: decoding into types, the one canonical form of a value, and a check that a text cannot be read in two ways.

All decoding into types goes through this module: msgspec 0.22 analyses a type when it is first used, and the process
crashes if two threads do so at the same time.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

Kind = TypeVar("Kind")


def _find_byte_class(byte: int) -> int:
    """Return “0” for a digit, “a” for a letter of a hexadecimal number or a quotation mark, else a blank.

    `LONG_NUMBER` is searched for in a text of these classes.
    """
    if byte in b"0123456789":
        return ord("0")
    return ord("a") if byte in b'abcdef"' else ord(" ")


MAX_INT = 2**53 - 1  # every language counts exactly up to here
MAX_INT_CHARS = 17  # sixteen digits and a sign
# In a text of these classes one search finds each number that may be too large: it has sixteen digits or more. The long
# numbers inside hashes do not count, because they follow a letter of the hash or a quotation mark.
BYTE_CLASSES = bytes(map(_find_byte_class, range(256)))
LONG_NUMBER = b" " + b"0" * 16

encode: Callable[[Any], bytes] = msgspec.json.Encoder(order="sorted").encode
"""Return the one JSON form that is hashed: UTF-8, no white space, keys in order."""

_analysing = threading.Lock()


@overload
def make_decoder(kind: type[Kind]) -> msgspec.json.Decoder[Kind]: ...
@overload
def make_decoder(kind: Any) -> msgspec.json.Decoder[Any]: ...
def make_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder for this type; safe to call from any thread."""
    with _analysing:
        return _make_decoder(kind)


@functools.cache
def _make_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def convert(value: Any, kind: type[Kind], *, strict: bool = True) -> Kind:
    """Convert plain values to this type; unless `strict`, texts are converted to numbers too. Safe in any thread."""
    make_decoder(kind)  # under its lock msgspec analyses the type once, so that no two threads do so at the same time
    return msgspec.convert(value, kind, strict=strict)


def decode_object(text: str | bytes) -> dict[str, Any]:
    """Return a JSON object as a dict."""
    return make_decoder(dict[str, Any]).decode(text)


def check_unambiguous(raw: bytes, value: Any) -> None:
    """Raise an error if two programs could decode `raw` differently; `value` is what we decoded."""
    if not _is_in_our_form(raw):
        _check_with_json(raw, value)


def _check_with_json(raw: bytes, value: Any) -> None:
    """Raise an error for a key that is there twice, a number that is not whole or too large, or half a character."""
    numbers: dict[str, Any] = {
        "parse_float": _refuse_fraction,
        "parse_constant": _refuse_fraction,
        "parse_int": _check_int,
    }
    json.loads(raw, object_pairs_hook=_check_keys, **numbers)  # only for the checks on the way
    try:
        encode(value)
    except UnicodeEncodeError as error:
        raise msgspec.ValidationError("a text holds half of a character") from error


def _is_in_our_form(raw: bytes) -> bool:
    """Whether this is, apart from white space, the output of our encoder: then it can be decoded in one way only."""
    may_have_too_large_number = LONG_NUMBER in raw.translate(BYTE_CLASSES)
    if may_have_too_large_number:
        return False
    value = WHOLE_NUMBER_DECODER.decode(raw)
    return msgspec.json.encode(value) == msgspec.json.format(raw, indent=-1)  # without white space


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    """Raise an error if a key of an object is there twice."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise msgspec.ValidationError(f"an object tells something twice: {', '.join(name for name, _ in pairs)[:80]}")


def _refuse_fraction(text: str) -> None:
    raise msgspec.ValidationError(f"all numbers are whole, not {text[:40]}")


WHOLE_NUMBER_DECODER = msgspec.json.Decoder(float_hook=_refuse_fraction)


def _check_int(text: str) -> None:
    """Raise an error for a whole number that is too large, or for “-0”."""
    if text == "-0" or len(text) > MAX_INT_CHARS or abs(int(text)) > MAX_INT:
        raise msgspec.ValidationError(f"numbers lie between -2^53 and 2^53 and have one form each, not {text[:40]}")
