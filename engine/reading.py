"""Readers of stored and sent values, made one at a time.

msgspec 0.22 works a type out when it is first used, and ends the whole process where two threads do so at once.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import msgspec

_one_at_a_time = threading.Lock()


def reader(kind: Any) -> msgspec.json.Decoder[Any]:
    """What reads values of this type, from any thread; from now on msgspec knows the type."""
    with _one_at_a_time:
        return _made(kind)


@functools.cache
def _made(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
