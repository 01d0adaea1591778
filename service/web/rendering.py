"""Rendering pages: each template gets one struct, `page`, and `site`, which the frame of every page shows.

The language and the colours of the pages are chosen by forms, and remembered by the browser in cookies.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import jinja2
from flask import Blueprint, Response, abort, make_response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy.exc import OperationalError
from werkzeug.wrappers import Response as Reply

from engine.game import Meta
from engine.refusal import Refused
from service.settings import DAY_S, EMBEDDED
from service.store import queries
from service.tables import access
from service.tables.access import Unknown
from service.text import languages
from service.text.languages import LANGUAGES, translate_in_game
from service.text.templates import FragmentCache, get_environment
from service.web.current_request import LANGUAGE_COOKIE, get_app, get_language, is_local_visitor

View = Callable[..., Any]


def from_replica(view: View) -> View:
    """Let a view read from the replica (`replica=True`) if there is one and the page may be a moment old.

    If the replica is away, or behind, call the view again: it then reads from the database itself.
    """

    @functools.wraps(view)
    def call(**arguments: str) -> Any:
        has_replica = get_app().store.replica is not None
        is_general = "link" not in arguments  # not about one table
        if has_replica and (is_general or _is_over(arguments["link"])):
            with suppress(OperationalError, Refused):  # the replica is away, or behind
                return view(**arguments, replica=True)
        return view(**arguments, replica=False)

    return call


def _is_over(link: str) -> bool:
    """Return whether a game is over; of a running game every reader wants to see the last move."""
    with get_app().store.reading() as db:
        row = queries.find_table(db, access.find_place(db, link).table)
    return row is not None and row.phase == "over"


MAX_FRAGMENTS = 4_000  # of pages in one language, half a kilobyte each
COLOURS = {"theme": ("light", "dark"), "board": ("strong", "soft", "distinct")}  # by their cookies


class Site(Struct, frozen=True):
    """The parts of a page that are the same on all pages of one request."""

    path: str  # of this request; the form that changes the language leads back to it
    mailbox: bool  # whether there is a link to the local mailbox
    banner: str  # the host's notice
    host: str  # the name of this server on the web
    theme: str  # light or dark; empty: as on the device
    board: str  # strong, soft or distinct; empty: natural


def join_names(names: Iterable[str]) -> str:
    """Return names as a list in a sentence, in the language of the page: “Anna, Berta and Clara”."""
    return languages.join_words(get_language(), names)


def translate_title(game: Meta) -> str:
    """Return the title of a game in the reader's language."""
    return translate_in_game(get_language(), game.name, game.title)


def render(template: str, page: Struct, status: int = 200, in_language: str = "") -> Response:
    """Render `templates/pages/` + `template` with its struct, in the reader's language unless another is given."""
    shown_in = in_language or get_language()
    text = make_page_environment(shown_in).get_template(f"pages/{template}").render(page=page, site=_make_site())
    return _make_html_response(text, status, shown_in)


@functools.cache
def make_page_environment(in_language: str) -> jinja2.Environment:
    """Return the environment of all pages in one language, with the functions that templates may call."""
    pages = get_environment(in_language).overlay()
    pages.globals = {
        **pages.globals,
        "url_for": url_for,
        "cached": FragmentCache(MAX_FRAGMENTS),
    }
    return pages


def _make_site() -> Site:
    """Return what the frame of the page shows, for this request."""
    app = get_app()
    return Site(
        path=request.full_path.rstrip("?"),
        mailbox=app.settings.smtp == EMBEDDED and is_local_visitor(app, request),
        banner=app.notices.get().banner,
        host=urlsplit(app.settings.address).netloc,
        theme=_find_colours("theme"),
        board=_find_colours("board"),
    )


def _find_colours(kind: str) -> str:
    """Return the colours that this reader chose; empty for the usual ones."""
    chosen = request.cookies.get(kind, "")
    return chosen if chosen in COLOURS[kind] else ""


def _make_html_response(text: str, status: int, in_language: str) -> Response:
    """Make a response that names its language, and that depends on the reader's language and cookies."""
    response = make_response(text, status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Language"] = in_language
    response.vary.update(("Accept-Language", "Cookie"))
    return response


appearance = Blueprint("appearance", __name__)
COOKIE_AGE_S = 365 * DAY_S
OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]*")  # of this server: "//" and "/\" would lead to another one
SEAT_PATH = re.compile(r"/t/([0-9a-z]+)")  # of a page of a table, with the link


@appearance.post("/language")
def choose_language() -> Reply:
    """Show pages in this language from now on, write letters to this seat in it, and go back to the page before."""
    chosen, back = request.form.get("language", ""), request.form.get("back", "")
    if chosen not in LANGUAGES or not OWN_PATH.fullmatch(back):
        abort(400)
    match = SEAT_PATH.match(back)
    if match:
        link = match[1]
        # An unknown link is the address of an error page, which has the languages too.
        with suppress(Unknown), access.writing_at(get_app(), link) as (db, place):
            access.set_language(db, place, chosen)
    return set_cookie(redirect(back, 303), LANGUAGE_COOKIE, chosen)


@appearance.post("/look")
def choose_look() -> Reply:
    """Show pages or boards in other colours from now on, and go back to the page before."""
    kind = "theme" if "theme" in request.form else "board"
    chosen, back = request.form.get(kind, ""), request.form.get("back", "")
    if chosen not in ("", *COLOURS[kind]) or not OWN_PATH.fullmatch(back):
        abort(400)
    return set_cookie(redirect(back, 303), kind, chosen)


def set_cookie(response: Reply, cookie: str, chosen: str) -> Reply:
    """Set the cookie that makes the browser remember a choice."""
    is_https = get_app().settings.address.startswith("https")
    response.set_cookie(cookie, chosen, max_age=COOKIE_AGE_S, samesite="Lax", httponly=True, secure=is_https)
    return response
