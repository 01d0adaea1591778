"""Parsing of small numbers from forms, addresses, mails and tokens, which write them as ASCII digits."""

from __future__ import annotations

MAX_DIGITS = 18  # of the largest number that every database can hold


def parse_int(text: str, most: int = 10**MAX_DIGITS - 1) -> int | None:
    """Parse a decimal number from 0 to `most`; None if it is anything else."""
    if not text.isascii() or not text.isdigit() or len(text) > MAX_DIGITS:
        return None
    number = int(text)
    return number if number <= most else None
