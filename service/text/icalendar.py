"""Calendar files (RFC 5545): events at one moment, written in UTC, so that every calendar shows its own time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from msgspec import Struct

KIND = "text/calendar; charset=utf-8"
MAX_LINE_BYTES = 75
ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n", "\r": None})


class CalendarEvent(Struct, frozen=True):
    """A moment in a calendar; a later event with the same `id` replaces it."""

    id: str
    at: int
    changed_at: int
    title: str
    text: str
    url: str


def write_calendar(name: str, refresh_s: int, events: Iterable[CalendarEvent]) -> str:
    """Write a calendar file; `refresh_s` is how often a program should load it again."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Depesche//Depesche//EN",
        "METHOD:PUBLISH",
        f"NAME:{_escape(name)}",
        f"X-WR-CALNAME:{_escape(name)}",
        f"REFRESH-INTERVAL;VALUE=DURATION:PT{refresh_s}S",
        f"X-PUBLISHED-TTL:PT{refresh_s}S",
        *(line for event in events for line in _list_lines(event)),
        "END:VCALENDAR",
    ]
    return "".join(f"{part}\r\n" for line in lines for part in _fold(line))


def _list_lines(event: CalendarEvent) -> list[str]:
    return [
        "BEGIN:VEVENT",
        f"UID:{_escape(event.id)}",
        f"DTSTAMP:{_write_moment(event.changed_at)}",
        f"DTSTART:{_write_moment(event.at)}",
        f"SUMMARY:{_escape(event.title)}",
        f"DESCRIPTION:{_escape(event.text)}",
        f"URL:{event.url}",
        "TRANSP:TRANSPARENT",  # the time counts as free
        "END:VEVENT",
    ]


def _write_moment(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")


def _escape(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable() or sign == "\n").translate(ESCAPES)


def _fold(line: str) -> Iterator[str]:
    """Yield a line in parts of at most 75 bytes; each further part begins with a space, and no letter is divided."""
    part, size = "", 0
    for letter in line:
        size += len(letter.encode())
        if size > MAX_LINE_BYTES:
            yield part
            part, size = " ", 1 + len(letter.encode())
        part += letter
    yield part
