"""The table of the settings that says which notice goes by which channel: a row for each group, a column for each."""

from __future__ import annotations

from flask import Blueprint, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from service.accounts import preferences
from service.accounts.preferences import Recipient
from service.links import parse_int
from service.notify import channels
from service.people.letter_settings import Mode
from service.store.channel_queries import ChannelRow
from service.web.rendering import get_app

channel_table = Blueprint("channels", __name__, url_prefix="/wishes/<token>/channels")
MAIL_GROUPS: dict[Mode, tuple[str, ...]] = {
    "turn": ("turn", "reminder", "news", "invitation", "end"),
    "digest": ("reminder", "news", "invitation", "end", "digest"),
    "reminders": ("reminder", "news", "invitation", "end"),
    "none": ("invitation",),
}


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
