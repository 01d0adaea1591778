"""The page on which the organiser lets chats follow a table."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.notify import followers, webhooks
from service.notify.webhooks import Target
from service.people import proof
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.rows import FollowerRow, TableRow
from service.store.schema import followers as follower_table
from service.tables import access
from service.tables.access import Unknown
from service.web.current_request import get_app, get_language
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

follower_page = Blueprint("followers", __name__, url_prefix="/t/<link>/followers")


class OwnTable(Struct, frozen=True):
    """A table that the holder of the link has opened, and this organiser."""

    row: TableRow
    organiser: ProvenPerson


class FollowersPage(Struct, frozen=True):
    """Everything `followers.html` shows: the chats that follow a table."""

    link: str
    stored: bool  # whether a change was just stored
    error: Refused | None
    receivers: tuple[ReceiverRow, ...]
    kinds: tuple[tuple[str, str], ...]  # of chats to choose from, with their names
    form: ReceiverForm
    pictures: bool  # whether the form asks for pictures of the board
    tried: TriedReceiver | None


@follower_page.get("")
def show(link: str) -> Response:
    """Show the chats that follow this table."""
    with get_app().store.reading() as db:
        page = _load_page(db, link, _find_own_table(db, link).row.id)
    return render("followers.html", page)


@follower_page.post("")
def add(link: str) -> Reply:
    """Let a chat follow this table."""
    app = get_app()
    with app.store.reading() as db:
        own = _find_own_table(db, link)
    pictures = "pictures" in request.form
    try:
        followers.add(app, own.organiser, own.row, parse_target(), get_language(), pictures=pictures)
    except Refused as refused:
        with app.store.reading() as db:
            page = _load_page(db, link, own.row.id, error=refused)
        return render("followers.html", page, 422)
    return redirect(url_for("followers.show", link=link, stored=1), 303)


@follower_page.post("/<int:number>/test")
def send_test(link: str, number: int) -> Response:
    """Send a test to a chat, and show its answer; a chat that was switched off follows again if it takes the test."""
    app = get_app()
    with app.store.reading() as db:
        follower = _find_follower(db, link, number)
    outcome = webhooks.try_out(app, Target(follower.kind, follower.address, follower.secret), get_language())
    is_mended = works_again(follower, outcome)
    transaction = app.store.writing() if is_mended else app.store.reading()
    with transaction as db:
        if is_mended:
            followers.switch_on(db, follower, app.now())
        page = _load_page(db, link, follower.table, tried=describe_outcome(webhooks.NAMES[follower.kind], outcome))
    return render("followers.html", page)


@follower_page.post("/<int:number>/remove")
def remove(link: str, number: int) -> Reply:
    """Let a chat follow this table no longer."""
    access.check_link(get_app(), link)
    with get_app().store.writing() as db:
        follower = _find_follower(db, link, number)
        followers.remove(db, follower.table, follower.id)
    return redirect(url_for("followers.show", link=link, stored=1), 303)


def _find_own_table(db: Connection, link: str) -> OwnTable:
    """Return the table of an organiser's link; raise Refused for other links, or if the table has no spectators."""
    place = access.find_place(db, link)
    seat = access.require_seat(place)
    row, seats = queries.find_table(db, place.table), queries.list_seats(db, place.table)
    if seat != queries.find_organiser(seats):
        raise Refused("Only the player who opened this table can let chats follow it.")
    assert row is not None
    if not row.allows_spectators:
        raise Refused("A chat sees what spectators see; please allow spectators first.")
    return OwnTable(row, proof.require_holder(seats[seat]))


def _find_follower(db: Connection, link: str, number: int) -> FollowerRow:
    """Find a chat that follows the organiser's table, by its number; raise Unknown if it follows no longer."""
    follower = followers.find(db, _find_own_table(db, link).row.id, number)
    if follower is None:
        raise Unknown("This receiver is not in your list any more.")
    return follower


def _load_page(
    db: Connection, link: str, table: str, *, error: Refused | None = None, tried: TriedReceiver | None = None
) -> FollowersPage:
    """Load the page; `error` is why its form was refused, and `tried` is the answer to a test."""
    chats = followers.list_followers(db, follower_table.c.table == table)
    return FollowersPage(
        link=link,
        stored=bool(request.args.get("stored")),
        error=error,
        receivers=tuple(describe_receiver(chat, webhooks.NAMES[chat.kind]) for chat in chats),
        kinds=NAMED_KINDS,
        form=copy_form(),
        pictures=error is None or "pictures" in request.form,  # ticked until a form says otherwise
        tried=tried,
    )
