"""The page of a person's calendar, feed and webhooks, behind the link in every letter, and the form of a receiver."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.accounts import my_tables, preferences
from service.notify import channels, webhooks
from service.notify.webhooks import HookOutcome, Target
from service.people.proof import ProvenPerson
from service.store.channel_queries import ChannelRow
from service.store.rows import TableHookRow
from service.tables.access import Unknown
from service.text.languages import Sentence
from service.web.rendering import get_app, render

connections = Blueprint("connections", __name__, url_prefix="/wishes/<token>/connections")
KINDS = tuple(webhooks.NAMES.items())
MAX_ANSWER_CHARS = 400  # of the answer to a test


class ConnectionsPage(Struct, frozen=True):
    """Everything `connections.html` shows; the addresses of calendar and feed are empty while they are closed."""

    token: str
    stored: bool
    error: Refused | None
    calendar: str  # https
    webcal: str  # the same for programs that subscribe to calendars
    feed: str
    receivers: tuple[ReceiverRow, ...]
    kinds: tuple[tuple[str, str], ...]
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
    """Send a test to a receiver, and show its answer; after a test that works, it is switched on again."""
    app = get_app()
    with app.store.reading() as db:
        recipient = preferences.load_recipient(app, db, token)
        row = _find_receiver(db, recipient.person, channel)
    outcome = webhooks.try_out(app, Target(row.kind, row.address, row.secret), recipient.language)
    mended = is_mended(row, outcome)
    with app.store.writing() if mended else app.store.reading() as db:
        if mended:
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
    app = get_app()
    secret = my_tables.find_token(app, db, person)
    own = channels.list_own(db, person)
    receivers = tuple(describe_receiver(one, one.label) for one in own if one.kind in webhooks.BUILDERS)
    calendar = app.settings.address + url_for("feeds.send_calendar", token=secret) if secret else ""
    return ConnectionsPage(
        token=token,
        stored=bool(request.args.get("stored")),
        error=error,
        calendar=calendar,
        webcal=f"webcal:{calendar.partition(':')[2]}" if calendar else "",
        feed=app.settings.address + url_for("feeds.send_turns", token=secret) if secret else "",
        receivers=receivers,
        kinds=KINDS,
        form=fill_form(error),
        tried=tried,
    )


def _show_stored(token: str) -> Reply:
    return redirect(url_for("connections.show", token=token, stored=1), 303)


class ReceiverRow(Struct, frozen=True):
    """A webhook or a chat in the list; the error is that of its last failure."""

    number: int
    kind: str
    label: str
    host: str
    secret: str  # of Standard Webhooks, which its program has to know
    error: str
    is_off: bool


class TriedReceiver(Struct, frozen=True):
    """The answer to a test: the status and the text, or why there was none."""

    label: str
    worked: bool
    status: int
    text: str
    why: Sentence


class ReceiverForm(Struct, frozen=True):
    """The form for a receiver as it was filled in."""

    kind: str
    label: str
    address: str


def parse_target() -> Target:
    """Return the receiver that the form describes; raise Refused with the reason if there can be none."""
    form = request.form
    return webhooks.make_target(form.get("kind", ""), form.get("address", ""), form.get("token", ""))


def fill_form(error: Refused | None) -> ReceiverForm:
    """Return the form as it was filled in if it was refused, else an empty one."""
    return ReceiverForm(*(request.form.get(name, "") if error else "" for name in ("kind", "label", "address")))


def describe_receiver(receiver: ChannelRow | TableHookRow, label: str) -> ReceiverRow:
    """Describe a channel of a person or a chat of a table in the list."""
    return ReceiverRow(
        number=receiver.id,
        kind=webhooks.NAMES[receiver.kind],
        label=label,
        host=urlsplit(receiver.address).hostname or "",
        secret=webhooks.get_newest_secret(receiver.secret) if receiver.kind == "webhook" else "",
        error=receiver.error,
        is_off=receiver.disabled_at is not None,
    )


def describe_outcome(label: str, outcome: HookOutcome) -> TriedReceiver:
    """Describe the answer of a receiver to a test."""
    worked = outcome.outcome == "sent"
    return TriedReceiver(label, worked, outcome.status, outcome.text[:MAX_ANSWER_CHARS], outcome.why)


def is_mended(receiver: ChannelRow | TableHookRow, outcome: HookOutcome) -> bool:
    """Return whether a receiver that failed has taken a test, so that it can be switched on again."""
    return outcome.outcome == "sent" and bool(receiver.failures or receiver.disabled_at is not None)
