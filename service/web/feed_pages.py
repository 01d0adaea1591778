"""Calendars and feeds, which programs read: a person's own behind a secret address, and that of a table to watch."""

from __future__ import annotations

from flask import Blueprint, Response, make_response, request, url_for
from werkzeug.wrappers import Response as Reply

from service.accounts import my_tables
from service.app import App
from service.tables import access, snapshots
from service.tables.access import Unknown
from service.tables.snapshots import Snapshot
from service.text import feed_formats
from service.text.feed_formats import Feed, FeedEntry
from service.text.languages import Translator, remove_place_marks, translate_in_game
from service.text.narration import Chapter, Narrator, describe_entries
from service.web.current_request import find_language_argument, get_app, get_language

own_feeds = Blueprint("feeds", __name__)
table_feed = Blueprint("table_feed", __name__, url_prefix="/t/<link>")
MAX_ENTRIES = 40  # of a table, the newest ones
MAX_TITLE_CHARS = 120


@own_feeds.get("/calendar/<token>.ics")
def send_calendar(token: str) -> Reply:
    """Send the deadlines of a person's turns as a calendar."""
    app = get_app()
    with app.store.reading() as db:
        reader = my_tables.find_reader(app, db, token)
        events = my_tables.list_deadlines(app, db, reader)
    name = Translator(reader.language).gettext("My turns on Depesche")
    return _send(feed_formats.write_calendar(name, my_tables.REFRESH_S, events).encode(), feed_formats.CALENDAR_TYPE)


@own_feeds.get("/turns/<token>.atom")
def send_turns(token: str) -> Reply:
    """Send the tables where it is a person's turn as a feed."""
    app = get_app()
    with app.store.reading() as db:
        reader = my_tables.find_reader(app, db, token)
        feed = my_tables.make_feed(app, db, reader, app.settings.address + url_for("feeds.send_turns", token=token))
    return _send(feed_formats.write_feed(feed), feed_formats.ATOM_TYPE)


@table_feed.get("/feed.atom")
def show(link: str) -> Reply:
    """Send what happened at a table, as spectators may know it, as a feed; the link of a seat has none."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        if place.seat is not None:
            raise Unknown("A feed is public; please use the link for spectators.")
        snapshot = snapshots.load_table(app, db, place.table)
        first = max(0, snapshot.row.length - MAX_ENTRIES)
        entries = snapshots.load_game_entries(db, snapshot.game, place.table, first)
    in_language = find_language_argument() or get_language()
    narrator = Narrator(snapshot.game, snapshot.names, in_language)
    chapters = describe_entries(snapshot.game, entries, narrator, seat=None)
    return _send(
        feed_formats.write_feed(_make_feed(app, snapshot, link, in_language, chapters)), feed_formats.ATOM_TYPE
    )


def _make_feed(app: App, table: Snapshot, link: str, in_language: str, chapters: tuple[Chapter, ...]) -> Feed:
    """Make the feed of a table from its last chapters, the oldest first; a feed has the newest first."""
    game = table.game.META
    title = translate_in_game(in_language, game.name, game.title)
    names = ", ".join(name for name in table.names if name)
    page = app.settings.address + url_for("table.show", link=link)
    host, opened_at = app.settings.mail_host, table.row.opened_at
    return Feed(
        id=feed_formats.make_entry_id(host, opened_at, f"{table.row.id}/{in_language}"),
        title=f"{title}: {names}",
        author=app.settings.sender_name,
        language=in_language,
        url=page,
        own_url=f"{app.settings.address}{url_for('table_feed.show', link=link)}?in={in_language}",
        changed_at=chapters[-1].at if chapters else opened_at,
        entries=tuple(_make_entry(app, table, link, chapter) for chapter in reversed(chapters)),
    )


def _make_entry(app: App, table: Snapshot, link: str, chapter: Chapter) -> FeedEntry:
    """Make the entry of a feed from a chapter; its first sentence is the title."""
    sentences = [remove_place_marks(sentence) for sentence in chapter.sentences]
    return FeedEntry(
        id=feed_formats.make_entry_id(app.settings.mail_host, table.row.opened_at, f"{table.row.id}/{chapter.seq}"),
        title=sentences[0][:MAX_TITLE_CHARS],
        text=" ".join(sentences),
        url=app.settings.address + url_for("replay.show", link=link, at=chapter.seq),
        at=chapter.at,
    )


def _send(content: bytes, kind: str) -> Reply:
    """Send a file; a program that asks again gets it only if it has changed."""
    response: Response = make_response(content)
    response.headers["Content-Type"] = kind
    response.headers["Cache-Control"] = "private, no-cache"
    response.add_etag()
    return response.make_conditional(request)
