"""Small numbers from outside: forms, addresses, mails and tokens write them as ASCII digits."""

from __future__ import annotations

DIGITS = 18  # the largest number of digits that every database can hold


def read(text: str, most: int = 10**DIGITS - 1) -> int | None:
    """The number from 0 to `most` that stands there, or None."""
    if not text.isascii() or not text.isdigit() or len(text) > DIGITS:
        return None
    number = int(text)
    return number if number <= most else None
