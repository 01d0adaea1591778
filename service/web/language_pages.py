"""The choice of a language: kept in a cookie, and for a player also used in his letters."""

from __future__ import annotations

import re
from contextlib import suppress

from flask import Blueprint, abort, redirect, request
from werkzeug.wrappers import Response as Reply

from service.tables import access
from service.tables.access import Unknown
from service.text.languages import LANGUAGES
from service.web.rendering import COOKIE, get_app

language_choice = Blueprint("language", __name__)
YEAR = 365 * 86_400
OURS = re.compile(r"/(?![/\\])[\x21-\x7e]*")
SEAT = re.compile(r"/t/([0-9a-z]+)")


@language_choice.post("/language")
def speak() -> Reply:
    """Choose this language from now on, and go back to the page before."""
    chosen, back = request.form.get("language", ""), request.form.get("back", "")
    if chosen not in LANGUAGES or not OURS.fullmatch(back):
        abort(400)
    seat = SEAT.match(back)
    if seat:
        with suppress(Unknown):
            access.speak(get_app(), access.find(get_app(), seat[1]), chosen)
    return spoken(redirect(back, 303), chosen)


def spoken(response: Reply, chosen: str) -> Reply:
    """The same response, which makes the browser remember the language."""
    safe = get_app().settings.address.startswith("https")
    response.set_cookie(COOKIE, chosen, max_age=YEAR, samesite="Lax", httponly=True, secure=safe)
    return response
