"""The pictures in previews of links, and oEmbed, which describes a public page to programs that embed it."""

from __future__ import annotations

import functools
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

from flask import Blueprint, Response, current_app, jsonify, make_response, request
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as Reply

from service.numbers import MAX_ENTRY, parse_int
from service.tables import access, snapshots
from service.tables.access import Unknown
from service.tables.history import replays
from service.tables.history.replays import Viewpoint
from service.tables.snapshots import Snapshot
from service.text import drawing, lessons
from service.web import previews
from service.web.current_request import find_picture_language, get_app, get_language
from service.web.lesson_pages import find_lesson
from service.web.previews import Preview
from service.web.rendering import translate_title

pictures = Blueprint("previews", __name__)
PAINTER_LOCK = threading.Lock()  # one picture at a time, so that crawlers do not take all threads
PICTURE_AGE_S = 3_600
PROVIDER = "Depesche"


class PublicPage(Struct, frozen=True):
    """A page that everybody may see, and its picture; `svg` is empty if it has none."""

    preview: Preview
    svg: str


@pictures.get("/t/<link>/board.png")
def send_board(link: str) -> Reply:
    """Send the board as spectators see it, after any entry; there is none for the link of a seat."""
    entry = parse_int(request.args.get("at", ""), MAX_ENTRY)
    with get_app().store.reading() as db:
        place = access.find_place(db, link)
        if place.seat is not None:
            raise Unknown("This picture is public; please use the link for spectators.")
        svg = _draw_table(db, snapshots.load_table(get_app(), db, place.table), entry)
    return _send_picture(svg, "private")


def _draw_table(db: Connection, table: Snapshot, entry: int | None) -> str:
    """Draw the board as spectators see it after this entry; None is the last one."""
    viewpoint = Viewpoint(seat=None, language=find_picture_language())
    return replays.load_frame(get_app(), db, table, viewpoint, entry).board.svg


@pictures.get("/learn/<name>/<int:number>/board.png")
def send_lesson(name: str, number: int) -> Reply:
    """Send the position of a lesson as a picture."""
    lesson, _ = find_lesson(name, number)
    return _send_picture(lessons.draw_lesson(lesson, find_picture_language()), "public")


def _send_picture(svg: str, audience: str) -> Reply:
    """Send a picture as PNG; `audience`, public or private, says who may cache it."""
    response = make_response(_paint(svg))
    response.headers["Content-Type"] = "image/png"
    response.headers["Cache-Control"] = f"{audience}, max-age={PICTURE_AGE_S}"
    response.add_etag()
    return response.make_conditional(request)


@functools.lru_cache(maxsize=128)
def _paint(svg: str) -> bytes:
    with PAINTER_LOCK:
        return drawing.paint_png(svg)


@pictures.get("/oembed")
def describe() -> Response:
    """Describe a public page for programs that embed it (oEmbed 1.0); a private link is unknown here."""
    if request.args.get("format", "json") != "json":
        raise Unknown("Pages are described as JSON here; please ask with format=json.")
    page = _find_page(request.args.get("url", ""))
    if page is None:
        raise Unknown("There is nothing to embed at this address; please use the link for spectators.")
    answer: dict[str, Any] = {"type": "link"}
    if page.svg:
        width, height = drawing.measure_picture(page.svg)
        answer = {"type": "photo", "url": page.preview.picture, "width": width, "height": height}
    return jsonify(
        {
            **answer,
            "version": "1.0",
            "title": f"{page.preview.title} – {page.preview.text}",
            "provider_name": PROVIDER,
            "provider_url": get_app().settings.address,
            "cache_age": PICTURE_AGE_S,
        }
    )


def _find_page(url: str) -> PublicPage | None:
    """Find the public page at an address; None for the page of a seat, and for an address that leads nowhere."""
    address = get_app().settings.address
    if not url.startswith(f"{address}/"):
        return None
    try:
        parts = urlsplit(url.removeprefix(address))
        endpoint, arguments = current_app.url_map.bind("localhost").match(parts.path, "GET")
    except (HTTPException, ValueError):
        return None
    match endpoint:
        case "table.show":
            return _load_table_page(arguments["link"])
        case "replay.show":
            at = parse_qs(parts.query).get("at", [""])[0]
            return _load_replay_page(arguments["link"], parse_int(at, MAX_ENTRY))
        case "learning.show_lesson":
            return _load_lesson_page(arguments["name"], arguments["number"])
    return None


def _load_table_page(link: str) -> PublicPage | None:
    """Load the page of a table for spectators; None for the link of a seat."""
    with get_app().store.reading() as db:
        place = access.find_place(db, link)
        table = snapshots.load_table(get_app(), db, place.table)
        return _make_public_page(db, table, previews.describe_table(place, table), entry=None)


def _load_replay_page(link: str, entry: int | None) -> PublicPage | None:
    """Load the page of a replay after an entry, or after the last one; None for the link of a seat."""
    with get_app().store.reading() as db:
        place = access.find_place(db, link)
        table = snapshots.load_table(get_app(), db, place.table)
        at = table.row.length - 1 if entry is None else entry
        return _make_public_page(db, table, previews.describe_table(place, table, at), at)


def _make_public_page(db: Connection, table: Snapshot, preview: Preview | None, entry: int | None) -> PublicPage | None:
    """Add the board after this entry (None is the last one) to the preview of a table; None if it has no preview."""
    if preview is None:
        return None
    svg = _draw_table(db, table, entry) if preview.picture else ""
    return PublicPage(preview, svg)


def _load_lesson_page(name: str, number: int) -> PublicPage:
    """Load the page of a lesson, with the picture of its position."""
    lesson, _ = find_lesson(name, number)
    title, task = translate_title(lesson.moment.game.META), lessons.get_task(lesson, get_language())
    preview = previews.describe_lesson(name, number, title, task)
    return PublicPage(preview, lessons.draw_lesson(lesson, get_language()))
