"""Stored and sent values are read into their types here, and nowhere else.

msgspec 0.22 works a type out when it is first used, and ends the whole process where two threads do so at once.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, TypeVar, overload

import msgspec

Kind = TypeVar("Kind")

_one_at_a_time = threading.Lock()


@overload
def reader(kind: type[Kind]) -> msgspec.json.Decoder[Kind]: ...
@overload
def reader(kind: Any) -> msgspec.json.Decoder[Any]: ...
def reader(kind: Any) -> msgspec.json.Decoder[Any]:
    """What reads values of this type, from any thread; from now on msgspec knows the type."""
    with _one_at_a_time:
        return _made(kind)


def convert(value: Any, kind: type[Kind], *, strict: bool = True) -> Kind:
    """Plain values as one of this type, from any thread; where it is not strict, texts are read as numbers too."""
    reader(kind)
    return msgspec.convert(value, kind, strict=strict)


@functools.cache
def _made(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
