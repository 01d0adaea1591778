"""The language and the colours of the pages, which the browser remembers in cookies."""

from __future__ import annotations

import re
from contextlib import suppress

from flask import Blueprint, abort, redirect, request
from werkzeug.wrappers import Response as Reply

from service.settings import DAY_S
from service.tables import access
from service.tables.access import Unknown
from service.text.languages import LANGUAGES
from service.web.current_request import LANGUAGE_COOKIE, get_app
from service.web.rendering import COLOURS

language_choice = Blueprint("language", __name__)
COOKIE_AGE_S = 365 * DAY_S
OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]*")  # of this server: "//" and "/\" would lead to another one
SEAT_PATH = re.compile(r"/t/([0-9a-z]+)")  # of a page of a table, with the link


@language_choice.post("/language")
def choose_language() -> Reply:
    """Show pages in this language from now on, write letters to this seat in it, and go back to the page before."""
    chosen, back = request.form.get("language", ""), request.form.get("back", "")
    if chosen not in LANGUAGES or not OWN_PATH.fullmatch(back):
        abort(400)
    seat = SEAT_PATH.match(back)
    if seat:
        with suppress(Unknown), access.writing_at(get_app(), seat[1]) as (db, place):
            access.set_language(db, place, chosen)
    return set_cookie(redirect(back, 303), LANGUAGE_COOKIE, chosen)


@language_choice.post("/look")
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
