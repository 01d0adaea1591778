"""The page on which the organiser lets chats follow a table."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.notify import table_hooks, webhooks
from service.people import proof
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.rows import TableHookRow, TableRow
from service.store.schema import table_hooks as hook_table
from service.tables import access
from service.tables.access import Unknown
from service.web.connection_pages import (
    KINDS,
    ReceiverForm,
    ReceiverRow,
    TriedReceiver,
    describe_outcome,
    describe_receiver,
    fill_form,
    is_mended,
    parse_target,
)
from service.web.rendering import get_app, get_language, render

following = Blueprint("following", __name__, url_prefix="/t/<link>/followers")


class FollowersPage(Struct, frozen=True):
    """Everything `followers.html` shows: the chats that follow a table."""

    link: str
    stored: bool
    error: Refused | None
    receivers: tuple[ReceiverRow, ...]
    kinds: tuple[tuple[str, str], ...]
    form: ReceiverForm
    pictures: bool
    tried: TriedReceiver | None


@following.get("")
def show(link: str) -> Response:
    """Show the chats that follow this table."""
    with get_app().store.reading() as db:
        page = _load_page(db, link, _find_own_table(db, link)[0].id)
    return render("followers.html", page)


@following.post("")
def add(link: str) -> Reply:
    """Let a chat follow this table."""
    app = get_app()
    with app.store.reading() as db:
        row, person = _find_own_table(db, link)
    try:
        table_hooks.add(app, person, row, parse_target(), get_language(), pictures="pictures" in request.form)
    except Refused as refused:
        with app.store.reading() as db:
            page = _load_page(db, link, row.id, error=refused)
        return render("followers.html", page, 422)
    return redirect(url_for("following.show", link=link, stored=1), 303)


@following.post("/<int:channel>/test")
def test(link: str, channel: int) -> Response:
    """Send a test to a chat, and show its answer; a chat that was switched off follows again if it takes the test."""
    app = get_app()
    with app.store.reading() as db:
        hook = _find_hook(db, link, channel)
    outcome = webhooks.try_out(app, webhooks.Target(hook.kind, hook.address, hook.secret), get_language())
    mended = is_mended(hook, outcome)
    with app.store.writing() if mended else app.store.reading() as db:
        if mended:
            table_hooks.switch_on(db, hook, app.now())
        page = _load_page(db, link, hook.table, tried=describe_outcome(webhooks.NAMES[hook.kind], outcome))
    return render("followers.html", page)


@following.post("/<int:channel>/remove")
def remove(link: str, channel: int) -> Reply:
    """Let a chat follow this table no longer."""
    access.check_link(get_app(), link)
    with get_app().store.writing() as db:
        hook = _find_hook(db, link, channel)
        table_hooks.remove(db, hook.table, hook.id)
    return redirect(url_for("following.show", link=link, stored=1), 303)


def _find_own_table(db: Connection, link: str) -> tuple[TableRow, ProvenPerson]:
    """Return the table of this link and its organiser; raise Refused for other players, and without spectators."""
    place = access.find_place(db, link)
    row, seats = queries.find_table(db, place.table), queries.list_seats(db, place.table)
    if access.require_seat(place) != queries.find_organiser(seats):
        raise Refused("Only the player who opened this table can let chats follow it.")
    assert row is not None
    if not row.watched:
        raise Refused("A chat sees what spectators see; please allow spectators first.")
    return row, proof.require_holder(seats[access.require_seat(place)])


def _find_hook(db: Connection, link: str, number: int) -> TableHookRow:
    hook = table_hooks.find(db, _find_own_table(db, link)[0].id, number)
    if hook is None:
        raise Unknown("This receiver is not in your list any more.")
    return hook


def _load_page(
    db: Connection, link: str, table: str, *, error: Refused | None = None, tried: TriedReceiver | None = None
) -> FollowersPage:
    hooks = table_hooks.list_hooks(db, hook_table.c.table == table)
    return FollowersPage(
        link=link,
        stored=bool(request.args.get("stored")),
        error=error,
        receivers=tuple(describe_receiver(hook, webhooks.NAMES[hook.kind]) for hook in hooks),
        kinds=KINDS,
        form=fill_form(error),
        pictures=not error or "pictures" in request.form,
        tried=tried,
    )
