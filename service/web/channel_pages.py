"""Ways beside mail: the grid that says which notice goes by which channel, and notifications on this device.

A browser needs a manifest and a service worker to install Depesche.
"""

from __future__ import annotations

import json

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from msgspec.structs import replace
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
from service.store.push_keys import PUSH, decode_base64url, dump_public, encode_base64url, parse_public
from service.tables import access
from service.text.languages import Translator
from service.text.templates import TEMPLATES
from service.web.current_request import get_app, get_language
from service.web.signed_in import find_signed_in

channel_forms = Blueprint("channels", __name__, url_prefix="/wishes/<token>/channels")
# The groups of notices that come by mail, for each choice of letters.
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
    """A channel as a column of the grid: its groups, when it last took a notice, and why it does not work."""

    number: int
    kind: str
    label: str
    groups: tuple[str, ...]
    is_for_one_table: bool
    ok_at: int | None
    error: str
    is_off: bool


class ChannelGrid(Struct, frozen=True):
    """The groups of notices as rows, and channels as columns; `mail` are the groups that come as letters."""

    groups: tuple[str, ...]
    mail: tuple[str, ...]
    columns: tuple[ChannelColumn, ...]


def load_grid(db: Connection, recipient: Recipient) -> ChannelGrid:
    """Load the grid of a person's channels."""
    columns = tuple(_make_column(row) for row in channels.list_own(db, recipient.person))
    by_mail = MAIL_GROUPS[recipient.settings.letters]
    if recipient.settings.talk:
        by_mail = (*by_mail, "talk")
    return ChannelGrid(channels.GROUPS, by_mail, columns)


def _make_column(row: ChannelRow) -> ChannelColumn:
    """Describe a channel as a column of the grid."""
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


@channel_forms.post("")
def store(token: str) -> Reply:
    """Store which groups go by which channel; a channel of which no box is ticked gets nothing."""
    app, recipient = get_app(), preferences.find_recipient(get_app(), token)
    with app.store.writing() as db:
        for row in channels.list_own(db, recipient.person):
            if f"has{row.id}" in request.form:  # it was there when the page was shown
                channels.choose_groups(db, row, request.form.getlist(f"groups{row.id}"))
    return _show_stored(token)


@channel_forms.post("/remove")
def remove(token: str) -> Reply:
    """Remove a channel."""
    app, recipient = get_app(), preferences.find_recipient(get_app(), token)
    with app.store.writing() as db:
        channels.remove(db, recipient.person, parse_channel_number())
    return _show_stored(token)


@channel_forms.post("/on")
def switch_on(token: str) -> Reply:
    """Send notices to a channel again that was switched off."""
    app, recipient = get_app(), preferences.find_recipient(get_app(), token)
    with app.store.writing() as db:
        row = channels.find_own(db, recipient.person, parse_channel_number())
        if row is not None:
            channels.switch_on(db, row)
    return _show_stored(token)


def parse_channel_number() -> int:
    """Return the number of the channel that the form names; 0, which no channel has, if it names none."""
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
    name = get_app().settings.sender_name
    manifest = {
        "name": name,
        "short_name": name,
        "description": Translator(get_language()).gettext(DESCRIPTION),
        "id": "/",
        "start_url": url_for("account.show_tables"),
        "scope": "/",
        "lang": get_language(),
        "display": "standalone",
        "background_color": BACKGROUND,
        "theme_color": THEME,
        "icons": icons,
    }
    return Response(json.dumps(manifest), mimetype="application/manifest+json")


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
    return Response(encode_base64url(dump_public(key)), mimetype="text/plain")


@devices.post("/t/<link>/device")
def add_device(link: str) -> Response:
    """Add a browser's subscription for the player of a seat.

    It gets the notices of all tables of a player who is signed in here, and else those of this table alone, because
    the seat's link proves no more.
    """
    app = get_app()
    form = request.form
    with access.writing_at(app, link) as (db, place):
        if place.seat is None:
            raise Refused("Only players get messages about a table.")
        secret = _parse_secret(form.get("p256dh", ""), form.get("auth", ""))
        endpoint = form.get("endpoint", "")
        parse_url(endpoint)  # refuses all but an https address
        seat = queries.list_seats(db, place.table)[place.seat]
        player, signed_in = proof.require_reader(app.settings, seat), find_signed_in(db)
        device = NewChannel(PUSH, form.get("label", ""), endpoint, secret)
        if signed_in is None or signed_in.id != player.id:
            device = replace(device, table=place.table, link_number=seat.link_number)
        channels.add(db, player, device, app.now())
    app.wakeups.wake("post")
    return Response(status=204)


@devices.post("/t/<link>/device/remove")
def remove_device(link: str) -> Response:
    """Remove the subscription with this address, which only its own browser knows."""
    with access.writing_at(get_app(), link) as (db, _):
        channels.remove_address(db, PUSH, request.form.get("endpoint", ""))
    return Response(status=204)


def _parse_secret(p256dh: str, auth: str) -> str:
    """Return a subscription's keys as they are stored; raise Refused if a browser did not make them."""
    try:
        if len(p256dh) > MAX_KEY_CHARS or len(decode_base64url(auth)) != AUTH_BYTES:
            raise ValueError
        parse_public(decode_base64url(p256dh))
    except ValueError:
        raise Refused("The browser sent no proper subscription; please reload the page and try again.") from None
    return json.dumps({"p256dh": p256dh, "auth": auth})
