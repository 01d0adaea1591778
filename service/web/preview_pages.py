"""The pictures in previews of links, and oEmbed, which describes a public page to programs that embed it."""

from __future__ import annotations

import functools
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

from flask import Blueprint, Response, current_app, jsonify, make_response, request
from sqlalchemy import Connection
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as Reply

from service.numbers import parse_int
from service.tables import access, snapshots
from service.tables.access import Unknown
from service.tables.history import replays
from service.tables.history.replays import Viewpoint
from service.text import drawing, lessons
from service.text.languages import LANGUAGES, SOURCE
from service.web import previews
from service.web.lesson_pages import find_lesson
from service.web.previews import Preview
from service.web.rendering import get_app, get_language, translate_title

pictures = Blueprint("previews", __name__)
PAINTER_LOCK = threading.Lock()  # one picture at a time, so that crawlers do not take all threads
PICTURE_AGE_S = 3_600
PROVIDER = "Depesche"


@pictures.get("/t/<link>/board.png")
def send_board(link: str) -> Reply:
    """Send the board as spectators see it, after any entry; there is none for the link of a seat."""
    entry = parse_int(request.args.get("at", ""), 2**31 - 1)
    with get_app().store.reading() as db:
        svg = _draw_table(db, link, entry)
    return _send_picture(svg, "private")


def _draw_table(db: Connection, link: str, entry: int | None) -> str:
    place = access.find_place(db, link)
    if place.seat is not None:
        raise Unknown("This picture is public; please use the link for spectators.")
    table = snapshots.load_table(get_app(), db, place.table)
    return replays.load_frame(get_app(), db, table, Viewpoint(None, _get_language()), entry).board.svg


@pictures.get("/learn/<name>/<int:number>/board.png")
def send_lesson(name: str, number: int) -> Reply:
    """Send the position of a lesson as a picture."""
    return _send_picture(lessons.draw_lesson(find_lesson(name, number)[0], _get_language()), "public")


def _get_language() -> str:
    chosen = request.args.get("in", SOURCE)
    return chosen if chosen in LANGUAGES else SOURCE


def _send_picture(svg: str, audience: str) -> Reply:
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
    preview, svg = _find_page(request.args.get("url", ""))
    answer: dict[str, Any] = {"type": "link"}
    if svg:
        width, height = drawing.measure_picture(svg)
        answer = {"type": "photo", "url": preview.picture, "width": width, "height": height}
    return jsonify(
        {
            **answer,
            "version": "1.0",
            "title": f"{preview.title} – {preview.text}",
            "provider_name": PROVIDER,
            "provider_url": get_app().settings.address,
            "cache_age": PICTURE_AGE_S,
        }
    )


def _find_page(url: str) -> tuple[Preview, str]:
    """Return the preview of a public page and its picture as SVG, empty if it has none; raise Unknown for others."""
    unknown = Unknown("There is nothing to embed at this address; please use the link for spectators.")
    address = get_app().settings.address
    if not url.startswith(f"{address}/"):
        raise unknown
    try:
        parts = urlsplit(url.removeprefix(address))
        endpoint, words = current_app.url_map.bind("localhost").match(parts.path, "GET")
    except (HTTPException, ValueError):
        raise unknown from None
    match endpoint:
        case "table.show" | "replay.show":
            at = parse_qs(parts.query).get("at", [""])[0] if endpoint == "replay.show" else ""
            return _find_table(words["link"], endpoint, parse_int(at, 2**31 - 1), unknown)
        case "learning.show_lesson":
            shown = find_lesson(words["name"], words["number"])[0]
            title = translate_title(shown.moment.game.META)
            task = lessons.get_task(shown, get_language())
            preview = previews.describe_lesson(words["name"], words["number"], title, task)
            return preview, lessons.draw_lesson(shown, get_language())
    raise unknown


def _find_table(link: str, endpoint: str, entry: int | None, unknown: Unknown) -> tuple[Preview, str]:
    """Return the preview of a table's page or replay, and its board; raise `unknown` for the link of a seat."""
    with get_app().store.reading() as db:
        place = access.find_place(db, link)
        table = snapshots.load_table(get_app(), db, place.table)
        at = table.row.length - 1 if endpoint == "replay.show" and entry is None else entry
        preview = previews.describe_table(place, table, at)
        if preview is None:
            raise unknown
        return preview, _draw_table(db, link, at) if preview.picture else ""
