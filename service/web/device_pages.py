"""Notifications on a device, and what a browser needs to install Depesche: manifest and service worker."""

from __future__ import annotations

import json
from typing import Any

from flask import Blueprint, Response, request, url_for

from engine.refusal import Refused
from service.notify import channels
from service.notify.channels import NewChannel
from service.people import proof
from service.safe_http import parse_url
from service.store import push_keys, queries
from service.store.push_keys import PUSH, decode, dump_public, encode, parse_public
from service.tables import access
from service.text.languages import Translator
from service.text.templates import TEMPLATES
from service.web.account_pages import find_visitor
from service.web.rendering import get_app, get_language

devices = Blueprint("devices", __name__)
AUTH_BYTES = 16
MAX_KEY_CHARS = 200
DESCRIPTION = "Board games by letter"
ICONS = (("192.png", "192x192", "any"), ("512.png", "512x512", "any"), ("maskable.png", "512x512", "maskable"))
WORKER = TEMPLATES / "static/service-worker.js"
BACKGROUND, THEME = "#f6efe2", "#a3291e"


@devices.get("/manifest.webmanifest")
def show_manifest() -> Response:
    """Describe Depesche to a browser that installs it on a home screen."""
    icons = [
        {"src": url_for("static", filename=f"icons/{name}"), "sizes": size, "type": "image/png", "purpose": purpose}
        for name, size, purpose in ICONS
    ]
    about = {"name": get_app().settings.sender_name, "short_name": get_app().settings.sender_name}
    appearance = {"display": "standalone", "background_color": BACKGROUND, "theme_color": THEME, "icons": icons}
    start = {"id": "/", "start_url": url_for("account.show_tables"), "scope": "/", "lang": get_language()}
    described = {**about, "description": Translator(get_language()).gettext(DESCRIPTION), **start, **appearance}
    return Response(json.dumps(described), mimetype="application/manifest+json")


@devices.get("/service-worker.js")
def show_worker() -> Response:
    """Send the service worker, which works for all pages because of its address."""
    response = Response(WORKER.read_bytes(), mimetype="text/javascript")
    response.headers["Cache-Control"] = "no-cache"
    return response


@devices.get("/push-key")
def show_key() -> Response:
    """Send the public key that a browser subscribes with."""
    with get_app().store.reading() as db:
        key = push_keys.load_key(db)
    return Response(encode(dump_public(key)), mimetype="text/plain")


@devices.post("/t/<link>/device")
def add(link: str) -> Response:
    """Add a browser's subscription for the player of a seat.

    Who is signed in gets the notices of all own tables there; otherwise the seat's link proves this seat alone.
    """
    app, form = get_app(), request.form
    with access.writing_at(app, link) as (db, place):
        if place.seat is None:
            raise Refused("Only players get messages about a table.")
        endpoint, secret = form.get("endpoint", ""), _parse_secret(form.get("p256dh", ""), form.get("auth", ""))
        parse_url(endpoint)
        seat = queries.list_seats(db, place.table)[place.seat]
        holder, visitor = proof.require_reader(app.settings, seat), find_visitor(db)
        new = NewChannel(PUSH, form.get("label", ""), endpoint, secret, table=place.table, link_number=seat.link_number)
        if visitor is not None and visitor.id == holder.id:
            new = NewChannel(PUSH, form.get("label", ""), endpoint, secret)
        channels.add(db, holder, new, app.now())
    app.wakeups.wake("post")
    return Response(status=204)


@devices.post("/t/<link>/device/remove")
def remove(link: str) -> Response:
    """Remove a browser's subscription, which its address proves."""
    with access.writing_at(get_app(), link) as (db, _):
        channels.remove_address(db, PUSH, request.form.get("endpoint", ""))
    return Response(status=204)


def _parse_secret(p256dh: str, auth: str) -> str:
    """Return a subscription's keys as they are stored; raise Refused if a browser did not make them."""
    try:
        if len(p256dh) > MAX_KEY_CHARS or len(decode(auth)) != AUTH_BYTES:
            raise ValueError
        parse_public(decode(p256dh))
    except ValueError:
        raise Refused("The browser sent no proper subscription; please reload the page and try again.") from None
    secret: dict[str, Any] = {"p256dh": p256dh, "auth": auth}
    return json.dumps(secret)
