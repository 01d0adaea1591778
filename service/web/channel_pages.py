"""Ways beside mail: the table that says which notice goes by which channel, and notifications on this device.

A browser needs a manifest and a service worker to install Depesche.
"""

from __future__ import annotations

import json
from typing import Any

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.accounts import preferences
from service.accounts.preferences import Recipient
from service.internet.safe_http import parse_url
from service.notify import channels
from service.notify.channels import NewChannel
from service.numbers import parse_int
from service.people import proof
from service.people.letter_settings import Mode
from service.store import push_keys, queries
from service.store.channel_queries import ChannelRow
from service.store.push_keys import PUSH, decode, dump_public, encode, parse_public
from service.tables import access
from service.text.languages import Translator
from service.text.templates import TEMPLATES
from service.web.rendering import get_app, get_language
from service.web.visitors import find_visitor

channel_table = Blueprint("channels", __name__, url_prefix="/wishes/<token>/channels")
MAIL_GROUPS: dict[Mode, tuple[str, ...]] = {
    "turn": ("turn", "reminder", "news", "invitation", "end"),
    "digest": ("reminder", "news", "invitation", "end", "digest"),
    "reminders": ("reminder", "news", "invitation", "end"),
    "none": ("invitation",),
}
devices = Blueprint("devices", __name__)
AUTH_BYTES = 16
MAX_KEY_CHARS = 200
DESCRIPTION = "Board games by letter"
ICONS = (("192.png", "192x192", "any"), ("512.png", "512x512", "any"), ("maskable.png", "512x512", "maskable"))
WORKER = TEMPLATES / "static/service-worker.js"
BACKGROUND, THEME = "#f6efe2", "#a3291e"


class ChannelColumn(Struct, frozen=True):
    """A channel of the table: its groups, when it last took a notice, and why it does not work."""

    number: int
    kind: str
    label: str
    groups: tuple[str, ...]
    is_for_one_table: bool
    ok_at: int | None
    error: str
    is_off: bool


class ChannelTable(Struct, frozen=True):
    """The rows and columns of the table; `mail` are the groups that come as letters."""

    groups: tuple[str, ...]
    mail: tuple[str, ...]
    columns: tuple[ChannelColumn, ...]


def make_table(db: Connection, recipient: Recipient) -> ChannelTable:
    """Make the table of a person's channels."""
    columns = tuple(_make_column(row) for row in channels.list_own(db, recipient.person))
    by_mail = MAIL_GROUPS[recipient.settings.letters] + ("talk",) * recipient.settings.talk
    return ChannelTable(channels.GROUPS, by_mail, columns)


def _make_column(row: ChannelRow) -> ChannelColumn:
    return ChannelColumn(
        number=row.id,
        kind=row.kind,
        label=row.label,
        groups=tuple(row.groups.split()),
        is_for_one_table=bool(row.table),
        ok_at=row.ok_at,
        error=row.error,
        is_off=row.disabled_at is not None,
    )


@channel_table.post("")
def store(token: str) -> Reply:
    """Store which groups go by which channel; a channel of which no box is ticked gets nothing."""
    app, recipient = get_app(), preferences.find_recipient(get_app(), token)
    with app.store.writing() as db:
        for row in channels.list_own(db, recipient.person):
            if f"has{row.id}" in request.form:  # it was there when the page was shown
                channels.choose_groups(db, row, request.form.getlist(f"groups{row.id}"))
    return _show_stored(token)


@channel_table.post("/remove")
def remove(token: str) -> Reply:
    """Remove a channel."""
    app, recipient = get_app(), preferences.find_recipient(get_app(), token)
    with app.store.writing() as db:
        channels.remove(db, recipient.person, _parse_number())
    return _show_stored(token)


@channel_table.post("/on")
def switch_on(token: str) -> Reply:
    """Send notices to a channel again that was switched off."""
    app, recipient = get_app(), preferences.find_recipient(get_app(), token)
    with app.store.writing() as db:
        row = channels.find_own(db, recipient.person, _parse_number())
        if row is not None:
            channels.switch_on(db, row)
    return _show_stored(token)


def _parse_number() -> int:
    return parse_int(request.form.get("channel", "")) or 0


def _show_stored(token: str) -> Reply:
    return redirect(url_for("preferences.show", token=token, stored=1, _anchor="channels"), 303)


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
def add_device(link: str) -> Response:
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
def remove_device(link: str) -> Response:
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
