"""The page of a person's calendar, feed, webhooks and chats, behind the link in every letter."""

from __future__ import annotations

import re

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.accounts import my_tables, preferences
from service.notify import channels, webhooks
from service.notify.webhooks import Target
from service.people.proof import ProvenPerson
from service.store.channel_queries import ChannelRow
from service.tables.access import Unknown
from service.web.current_request import get_app
from service.web.receiver_forms import (
    NAMED_KINDS,
    ReceiverForm,
    ReceiverRow,
    TriedReceiver,
    copy_form,
    describe_outcome,
    describe_receiver,
    parse_target,
    works_again,
)
from service.web.rendering import render

connections = Blueprint("connections", __name__, url_prefix="/wishes/<token>/connections")


class ConnectionsPage(Struct, frozen=True):
    """Everything `connections.html` shows; the addresses of calendar and feed are empty while they are closed."""

    token: str
    stored: bool  # whether a change was just stored
    error: Refused | None
    calendar: str  # https
    webcal: str  # the same for programs that subscribe to calendars
    feed: str
    receivers: tuple[ReceiverRow, ...]
    kinds: tuple[tuple[str, str], ...]  # of receivers to choose from, with their names
    form: ReceiverForm
    tried: TriedReceiver | None


@connections.get("")
def show(token: str) -> Response:
    """Show calendar and feed, webhooks and chats."""
    with get_app().store.reading() as db:
        page = _load_page(db, preferences.load_recipient(get_app(), db, token).person, token)
    return render("connections.html", page)


@connections.post("/feeds")
def open_feeds(token: str) -> Reply:
    """Make new addresses of calendar and feed; the former ones stop working."""
    app = get_app()
    with app.store.writing() as db:
        my_tables.open_feeds(db, preferences.load_recipient(app, db, token).person, app.now())
    app.wakeups.wake("post")
    return _show_stored(token)


@connections.post("/feeds/close")
def close_feeds(token: str) -> Reply:
    """Close calendar and feed."""
    app = get_app()
    with app.store.writing() as db:
        my_tables.close_feeds(db, preferences.load_recipient(app, db, token).person)
    return _show_stored(token)


@connections.post("/receivers")
def add_receiver(token: str) -> Reply:
    """Add a webhook or a chat."""
    app = get_app()
    person = preferences.find_recipient(app, token).person
    try:
        webhooks.add(app, person, request.form.get("label", ""), parse_target())
    except Refused as refused:
        with app.store.reading() as db:
            page = _load_page(db, person, token, error=refused)
        return render("connections.html", page, 422)
    return _show_stored(token)


@connections.post("/receivers/<int:channel>/test")
def try_receiver(token: str, channel: int) -> Response:
    """Send a test to a receiver, and show its answer; a receiver that takes the test is switched on again."""
    app = get_app()
    with app.store.reading() as db:
        recipient = preferences.load_recipient(app, db, token)
        row = _find_receiver(db, recipient.person, channel)
    outcome = webhooks.try_out(app, Target(row.kind, row.address, row.secret), recipient.language)
    is_mended = works_again(row, outcome)
    transaction = app.store.writing() if is_mended else app.store.reading()
    with transaction as db:
        if is_mended:
            channels.switch_on(db, row)
        page = _load_page(db, recipient.person, token, tried=describe_outcome(row.label, outcome))
    return render("connections.html", page)


@connections.post("/receivers/<int:channel>/remove")
def remove_receiver(token: str, channel: int) -> Reply:
    """Remove a receiver, and the messages on their way to it."""
    app = get_app()
    person = preferences.find_recipient(app, token).person
    with app.store.writing() as db:
        channels.remove(db, person, _find_receiver(db, person, channel).id)
    return _show_stored(token)


def _find_receiver(db: Connection, person: ProvenPerson, number: int) -> ChannelRow:
    """Find a webhook or chat of a person; raise Unknown for any other channel."""
    channel = channels.find_own(db, person, number)
    if channel is None or channel.kind not in webhooks.BUILDERS:
        raise Unknown("This receiver is not in your list any more.")
    return channel


def _load_page(
    db: Connection,
    person: ProvenPerson,
    token: str,
    *,
    error: Refused | None = None,
    tried: TriedReceiver | None = None,
) -> ConnectionsPage:
    """Load the page; `error` is why its form was refused, and `tried` is the answer to a test."""
    app = get_app()
    calendar = ""
    feed = ""
    feeds_token = my_tables.find_token(app, db, person)
    if feeds_token:
        calendar = app.settings.address + url_for("feeds.send_calendar", token=feeds_token)
        feed = app.settings.address + url_for("feeds.send_turns", token=feeds_token)
    own = channels.list_own(db, person)
    receivers = tuple(describe_receiver(one, one.label) for one in own if one.kind in webhooks.BUILDERS)
    return ConnectionsPage(
        token=token,
        stored=bool(request.args.get("stored")),
        error=error,
        calendar=calendar,
        webcal=re.sub("^https?:", "webcal:", calendar),
        feed=feed,
        receivers=receivers,
        kinds=NAMED_KINDS,
        form=copy_form(),
        tried=tried,
    )


def _show_stored(token: str) -> Reply:
    return redirect(url_for("connections.show", token=token, stored=1), 303)
