"""Whole numbers in addresses, forms, settings and mails, which are written as ASCII digits."""

from __future__ import annotations

from engine.refusal import Refused

MAX_DIGITS = 18  # of the largest number that every database can hold
MAX_ENTRY = 2**31 - 1  # the largest number that an entry can have


def parse_int(text: str, most: int = 10**MAX_DIGITS - 1) -> int | None:
    """Parse a decimal number from 0 to `most`; None if it is anything else."""
    if not text.isascii() or not text.isdigit() or len(text) > MAX_DIGITS:
        return None
    number = int(text)
    return number if number <= most else None


def parse_small_int(text: str) -> int:
    """Parse a whole number up to 9,999 that a person typed; raise Refused if it is anything else."""
    number = parse_int(text, 9_999)
    if number is None:
        raise Refused("Please give a whole number, not “{text}”.", text=text[:20])
    return number
