"""The page where a person opens and closes the own calendar and feed, behind the link in every letter."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.accounts import feeds, preferences
from service.web.rendering import get_app, render

connections = Blueprint("connections", __name__, url_prefix="/wishes/<token>/connections")


class ConnectionsPage(Struct, frozen=True):
    """Everything `connections.html` shows; the addresses of calendar and feed are empty while they are closed."""

    token: str
    stored: bool
    error: Refused | None
    calendar: str  # https
    webcal: str  # the same for programs that subscribe to calendars
    feed: str


@connections.get("")
def show(token: str) -> Response:
    """Show the addresses of calendar and feed."""
    return _show_page(token)


@connections.post("/feeds")
def open_feeds(token: str) -> Reply:
    """Make new addresses of calendar and feed; the former ones stop working."""
    feeds.open_feeds(get_app(), preferences.find_recipient(get_app(), token).person)
    return _show_stored(token)


@connections.post("/feeds/close")
def close_feeds(token: str) -> Reply:
    """Close calendar and feed."""
    feeds.close_feeds(get_app(), preferences.find_recipient(get_app(), token).person)
    return _show_stored(token)


def _show_page(token: str, error: Refused | None = None) -> Response:
    app = get_app()
    recipient = preferences.find_recipient(app, token)
    with app.store.reading() as db:
        secret = feeds.find_token(app, db, recipient.person)
    calendar = app.settings.address + url_for("feeds.calendar", token=secret) if secret else ""
    page = ConnectionsPage(
        token=token,
        stored=bool(request.args.get("stored")),
        error=error,
        calendar=calendar,
        webcal=f"webcal:{calendar.partition(':')[2]}" if calendar else "",
        feed=app.settings.address + url_for("feeds.turns", token=secret) if secret else "",
    )
    return render("connections.html", page, 422 if error else 200)


def _show_stored(token: str) -> Reply:
    return redirect(url_for("connections.show", token=token, stored=1), 303)
