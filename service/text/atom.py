"""Feeds in the Atom format (RFC 4287)."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from msgspec import Struct

KIND = "application/atom+xml; charset=utf-8"
NAMESPACE = "http://www.w3.org/2005/Atom"
LANGUAGE = "xml:lang"


class FeedEntry(Struct, frozen=True):
    """An entry of a feed; its `id` never changes."""

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
    root = Element("feed", {"xmlns": NAMESPACE, LANGUAGE: feed.language})
    _add_text(root, "id", feed.id)
    _add_text(root, "title", feed.title)
    _add_text(root, "updated", _write_moment(feed.changed_at))
    _add_text(SubElement(root, "author"), "name", feed.author)
    SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": feed.own_url})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": feed.url})
    for entry in feed.entries:
        _add_entry(root, entry)
    written: bytes = tostring(root, "utf-8", xml_declaration=True)
    return written


def make_id(host: str, at: int, path: str) -> str:
    """Return an id that is never used for anything else (RFC 4151): a host, a day on which it was its own, a path."""
    return f"tag:{host},{datetime.fromtimestamp(at, UTC).date().isoformat()}:{path}"


def _add_entry(root: Element, entry: FeedEntry) -> None:
    element = SubElement(root, "entry")
    _add_text(element, "id", entry.id)
    _add_text(element, "title", entry.title)
    _add_text(element, "updated", _write_moment(entry.at))
    SubElement(element, "link", {"rel": "alternate", "type": "text/html", "href": entry.url})
    _add_text(element, "content", entry.text, type="text")


def _add_text(parent: Element, name: str, text: str, **attributes: str) -> None:
    """Add an element with a text; XML has no control characters."""
    SubElement(parent, name, attributes).text = "".join(sign for sign in text if sign.isprintable() or sign == "\n")


def _write_moment(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
