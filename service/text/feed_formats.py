"""The formats of feeds: Atom (RFC 4287) for news, and iCalendar (RFC 5545) for deadlines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from msgspec import Struct

from engine.refusal import is_printable

ATOM_TYPE = "application/atom+xml; charset=utf-8"
ATOM_NAMESPACE = "http://www.w3.org/2005/Atom"
XML_LANGUAGE = "xml:lang"
CALENDAR_TYPE = "text/calendar; charset=utf-8"
MAX_CALENDAR_LINE_BYTES = 75
CALENDAR_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n", "\r": None})


class FeedEntry(Struct, frozen=True):
    """An entry of a feed; its `id` never changes, and it was written at `at`, in seconds since 1970."""

    id: str
    title: str
    text: str
    url: str
    at: int


class Feed(Struct, frozen=True):
    """A feed: `url` is its page, `own_url` the address of the feed itself; the newest entry comes first."""

    id: str
    title: str
    author: str
    language: str
    url: str
    own_url: str
    changed_at: int
    entries: tuple[FeedEntry, ...]


def write_feed(feed: Feed) -> bytes:
    """Write a feed as XML."""
    root = Element("feed", {"xmlns": ATOM_NAMESPACE, XML_LANGUAGE: feed.language})
    _add_text(root, "id", feed.id)
    _add_text(root, "title", feed.title)
    _add_text(root, "updated", _write_atom_moment(feed.changed_at))
    _add_text(SubElement(root, "author"), "name", feed.author)
    SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": feed.own_url})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": feed.url})
    for entry in feed.entries:
        _add_entry(root, entry)
    written: bytes = tostring(root, "utf-8", xml_declaration=True)
    return written


def make_entry_id(host: str, at: int, path: str) -> str:
    """Return an id that is never used for anything else (RFC 4151): it has a host, a day and a path.

    `host` is the name of this server at the time `at`, because later the name may be another server's.
    """
    return f"tag:{host},{datetime.fromtimestamp(at, UTC).date().isoformat()}:{path}"


def _add_entry(root: Element, entry: FeedEntry) -> None:
    """Add an entry to the root of a feed."""
    element = SubElement(root, "entry")
    _add_text(element, "id", entry.id)
    _add_text(element, "title", entry.title)
    _add_text(element, "updated", _write_atom_moment(entry.at))
    SubElement(element, "link", {"rel": "alternate", "type": "text/html", "href": entry.url})
    _add_text(element, "content", entry.text, type="text")


def _add_text(parent: Element, name: str, text: str, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = _remove_control_characters(text)


def _remove_control_characters(text: str) -> str:
    """Remove what cannot be printed, except line breaks; most control characters are forbidden in XML."""
    return "".join(letter for letter in text if is_printable(letter) or letter == "\n")


def _write_atom_moment(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


class CalendarEvent(Struct, frozen=True):
    """A moment in a calendar, in seconds since 1970; an event that changed later replaces one with the same `id`."""

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
        *(line for event in events for line in _list_event_lines(event)),
        "END:VCALENDAR",
    ]
    return "".join(f"{part}\r\n" for line in lines for part in _fold(line))


def _list_event_lines(event: CalendarEvent) -> list[str]:
    """Return the lines of one event; the caller breaks those that are too long."""
    return [
        "BEGIN:VEVENT",
        f"UID:{_escape(event.id)}",
        f"DTSTAMP:{_write_calendar_moment(event.changed_at)}",
        f"DTSTART:{_write_calendar_moment(event.at)}",
        f"SUMMARY:{_escape(event.title)}",
        f"DESCRIPTION:{_escape(event.text)}",
        f"URL:{event.url}",
        "TRANSP:TRANSPARENT",  # the time counts as free
        "END:VEVENT",
    ]


def _write_calendar_moment(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")


def _escape(text: str) -> str:
    return _remove_control_characters(text).translate(CALENDAR_ESCAPES)


def _fold(line: str) -> Iterator[str]:
    """Yield a line in parts of at most 75 bytes; each further part begins with a space, and no letter is divided."""
    part, size = "", 0
    for letter in line:
        size += len(letter.encode())
        if size > MAX_CALENDAR_LINE_BYTES:
            yield part
            part = " "
            size = 1 + len(letter.encode())
        part += letter
    yield part
