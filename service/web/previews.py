"""Previews of links in chats (Open Graph): a public table shows its board, and the link of a seat shows nothing.

The link of a seat acts for its player. A chat's crawler that opens one gets a page that only says that it is a table.
"""

from __future__ import annotations

from urllib.parse import quote

from flask import url_for
from msgspec import Struct

from service.tables.access import Place
from service.tables.snapshots import Snapshot
from service.text.languages import Translator
from service.web.current_request import get_app, get_language
from service.web.rendering import translate_title


class Preview(Struct, frozen=True):
    """The preview of a public page; its addresses begin with the protocol."""

    title: str
    text: str
    url: str
    picture: str  # address; empty if there is none
    alt: str  # of the picture
    feed: str = ""  # address; empty if there is none

    @property
    def oembed(self) -> str:
        """The address that describes this page to programs."""
        return f"{get_app().settings.address}/oembed?url={quote(self.url, safe='')}"


def describe_table(place: Place, table: Snapshot, entry: int | None = None) -> Preview | None:
    """Describe a table to those who may only watch; None for the holder of a seat.

    With an `entry`, describe the page of the replay that shows the position after it.
    """
    if place.seat is not None:
        return None
    in_language = get_language()
    address = get_app().settings.address
    names = ", ".join(name for name in table.names if name)
    view = "table.show" if entry is None else "replay.show"
    has_board = table.position.phase in ("playing", "over")
    picture = ""
    if has_board:
        pictured_entry = table.row.length - 1 if entry is None else entry
        picture = f"{address}{url_for('previews.send_board', link=place.link, at=pictured_entry)}&in={in_language}"
    return Preview(
        title=f"{translate_title(table.game.META)}: {names}",
        text=_describe_state(table, in_language),
        url=address + url_for(view, link=place.link, at=entry),
        picture=picture,
        alt=Translator(in_language).gettext("The board"),
        feed=f"{address}{url_for('table_feed.show', link=place.link)}?in={in_language}",
    )


def _describe_state(table: Snapshot, in_language: str) -> str:
    """Say who is to move, or who has won."""
    _ = Translator(in_language)
    if table.position.phase == "over":
        names_and_places = zip(table.names, table.position.places, strict=True)
        winners = [name for name, place in names_and_places if place == 1]
        return _.ngettext("%(who)s wins", "%(who)s win", len(winners), who=", ".join(winners))
    if table.position.phase != "playing":
        return _.gettext("The game has not begun yet.")
    waiting = ", ".join(row.name for row in table.seats if row.open_since is not None)
    return _.gettext("Waiting for %(who)s", who=waiting)


def describe_lesson(name: str, number: int, title: str, task: str) -> Preview:
    """Describe lesson `number` of the game called `name`, whose `title` is in the reader's language."""
    address = get_app().settings.address
    picture = url_for("previews.send_lesson", name=name, number=number)
    _ = Translator(get_language()).gettext
    return Preview(
        title=_("Learn %(title)s", title=title),
        text=task,
        url=address + url_for("learning.show_lesson", name=name, number=number),
        picture=f"{address}{picture}?in={get_language()}",
        alt=_("The board"),
    )
