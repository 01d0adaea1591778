"""A person's own pages: proving an address, signing in by a letter, and my tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from flask import Blueprint, Response, abort, redirect, request, session, url_for
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine import catalogue
from engine.refusal import Refused
from service.accounts import addresses, my_tables, signing_in
from service.accounts.addresses import AnsweredClaim
from service.accounts.my_tables import MyTable, Opponent, PlayerRecord
from service.notify import channels
from service.numbers import parse_int
from service.people import proof
from service.people.proof import ProvenPerson, SeatClaim, SignedIn
from service.tables import access, judging
from service.text.languages import Sentence, translate, translate_in_game
from service.web.current_request import get_app, get_language
from service.web.rendering import join_names, render
from service.web.signed_in import (
    VISIT,
    begin_visit,
    find_visit_key,
    load_signed_in,
    require_signed_in,
    writing_as_signed_in,
)

account = Blueprint("account", __name__)
FREE_SEAT = Sentence("a free seat")
MAX_PAGE = 9_999  # number of a page of finished games


class ClaimRow(Struct, frozen=True):
    """A table where a seat has my address, and where I have not confirmed that I sit there."""

    table: str
    seat: int
    title: str
    organiser: str
    names: str  # of the other players
    at: int  # when it was opened
    opened: bool  # whether the table was opened with my address
    plays_already: bool  # whether I have another seat there


class ConfirmPage(Struct, frozen=True):
    """Everything `confirm.html` shows."""

    address: str
    token: str
    claims: tuple[ClaimRow, ...]  # without an answer so far
    answered: Literal["", "yes", "no"] = ""  # the answer that was just given for one; empty if none was
    link: str = ""  # to the table that was just confirmed; empty if none was


class EnterPage(Struct, frozen=True):
    """Everything `sign_in.html` shows: the form that asks for a sign-in letter."""

    sent: bool
    address: str
    error: Refused | None = None


class EnteringPage(Struct, frozen=True):
    """Everything `confirm_sign_in.html` shows: the button that signs in."""

    name: str
    address: str


class MyTableRow(Struct, frozen=True):
    """A table in a list of mine."""

    table: str
    seat: int
    link: str
    title: str
    names: str  # of the other players
    phase: str
    to_move: bool
    waiting_for: str  # whom the table waits for, if it is not me
    due_at: int | None
    at: int  # when it ended; of a running table, when it was opened
    place: int | None  # None until the end


class RecordRow(Struct, frozen=True):
    """How often I played a game, and how often I got each place."""

    title: str
    played: int
    won: int
    places: tuple[tuple[int, int], ...]  # place and how often


class MyTablesPage(Struct, frozen=True):
    """Everything `my_tables.html` shows."""

    name: str
    address: str
    renewed: Literal["", "seat", "settings"]  # what has a new link
    claims: tuple[ClaimRow, ...]
    channels: tuple[tuple[int, str], ...]  # number and label
    has_feeds: bool
    to_move: tuple[MyTableRow, ...]
    waiting: tuple[MyTableRow, ...]
    gathering: tuple[MyTableRow, ...]
    over: tuple[MyTableRow, ...]
    newer: int | None  # number of the page with later games
    older: int | None
    record: tuple[RecordRow, ...]
    opponents: tuple[Opponent, ...]

    @property
    def running(self) -> tuple[MyTableRow, ...]:
        """All tables that have not ended, also those that have not begun."""
        return self.to_move + self.waiting + self.gathering


# Proving an address


@account.get("/confirm/<token>")
def ask_to_confirm(token: str) -> Response:
    """Show the buttons “yes” and “no” for each table; mail scanners follow links, so a GET changes nothing."""
    app = get_app()
    with app.store.reading() as db:
        person, address = addresses.find_claimed_person(app, db, token)
        claims = proof.list_claims(db, person.id)
    return _render_claims(token, address, claims)


@account.post("/confirm/<token>")
def confirm(token: str) -> Response:
    """Confirm the seat that the form names, and send the letters that waited; or refuse it, if the form says so."""
    app = get_app()
    with app.store.reading() as db:
        person, address = addresses.find_claimed_person(app, db, token)
    answer = _answer_claim(person)
    is_confirmed = answer.link != ""  # only a confirmed seat gives its link
    return _render_claims(token, address, answer.unanswered, "yes" if is_confirmed else "no", answer.link)


def _answer_claim(person: ProvenPerson) -> AnsweredClaim:
    """Confirm the seat that the form names, or refuse it; return the link of a confirmed seat, and the open claims."""
    table, seat = request.form.get("table", ""), parse_int(request.form.get("seat", ""))
    if seat is None:
        abort(400)
    if request.form.get("answer") == "yes":
        return addresses.confirm_seat(get_app(), person, table, seat)
    return addresses.refuse_seat(get_app(), person, table, seat)


def _render_claims(
    token: str, address: str, claims: Iterable[SeatClaim], answered: Literal["", "yes", "no"] = "", link: str = ""
) -> Response:
    """Render the seats that are still to be confirmed; `answered` and `link` are of the answer that was just given."""
    return render("confirm.html", ConfirmPage(address, token, tuple(map(_make_claim_row, claims)), answered, link))


def _make_claim_row(claim: SeatClaim) -> ClaimRow:
    """Describe a table where a seat has the reader's address, in the reader's language."""
    return ClaimRow(
        table=claim.table,
        seat=claim.seat,
        title=_find_title(claim.game),
        organiser=claim.organiser,
        names=join_names(claim.others),
        at=claim.at,
        opened=claim.opened,
        plays_already=claim.plays_already,
    )


@account.post("/t/<link>/address")
def correct_address(link: str) -> Reply:
    """Correct the address of an organiser who has not confirmed it yet."""
    addresses.correct_address(get_app(), link, request.form.get("address", ""))
    return redirect(url_for("table.show", link=link), 303)


@account.post("/t/<link>/letters")
def add_address(link: str) -> Reply:
    """Give an address to a player who has none, or another one to a player whose address is not proven yet."""
    with judging.at_seat(get_app(), link) as (work, place):  # which stores and publishes the table in `locked`
        seat, address = access.require_seat(place), request.form.get("address", "")
        work.locked = addresses.add_address(work.locked, seat, address, find_visit_key())
    return redirect(url_for("table.show", link=link), 303)


# Signing in


@account.get("/enter")
def sign_in() -> Response:
    """Show the form that asks for a letter to sign in."""
    return render("sign_in.html", EnterPage(sent=False, address=""))


@account.post("/enter")
def send_link() -> Response:
    """Send the letter; the answer is the same whether the address is registered or not."""
    address = request.form.get("address", "")
    try:
        signing_in.send_sign_in_letter(get_app(), address)
    except Refused as refused:
        return render("sign_in.html", EnterPage(sent=False, address=address, error=refused), 422)
    return render("sign_in.html", EnterPage(sent=True, address=address))


@account.get("/enter/<token>")
def ask_to_enter(token: str) -> Response:
    """Show a button; mail scanners follow links, so a GET does not sign in."""
    person = signing_in.find_person(get_app(), token)
    return render("confirm_sign_in.html", EnteringPage(person.name, person.address))


@account.post("/enter/<token>")
def complete_sign_in(token: str) -> Reply:
    """Sign in on this device."""
    key = signing_in.sign_in(get_app(), token)
    begin_visit(key)
    return redirect(url_for("account.show_tables"), 303)


@account.post("/leave")
def sign_out() -> Reply:
    """Sign out on this device, or on all if the form says `everywhere`."""
    person = load_signed_in()
    if person and request.form.get("everywhere"):
        signing_in.sign_out_everywhere(get_app(), person.proof)
    elif person:
        signing_in.sign_out(get_app(), session[VISIT])
    session.clear()
    return redirect(url_for("lobby.show_lobby"), 303)


# My tables


@account.get("/my")
def show_tables() -> Reply:
    """Show all tables of the signed-in person."""
    person = load_signed_in()
    if person is None:
        return redirect(url_for("account.sign_in"), 303)
    number = parse_int(request.args.get("page", ""), MAX_PAGE) or 0  # page 0 has the latest games
    return render("my_tables.html", _make_my_tables_page(person, number))


@account.get("/my/table/<table>")
def go_to_table(table: str) -> Reply:
    """Go to one of my tables, or to their list if I have no seat there; calendars, feeds and webhooks link here."""
    person = load_signed_in()
    if person is None:
        return redirect(url_for("account.sign_in"), 303)
    with get_app().store.reading() as db:
        link = my_tables.find_link(get_app(), db, person.id, table)
    return redirect(url_for("table.show", link=link) if link else url_for("account.show_tables"), 303)


@account.post("/my/claim")
def answer_claim() -> Reply:
    """Confirm a seat that was taken with my address, and go to its table; or refuse it, and go to my tables."""
    link = _answer_claim(require_signed_in().proof).link
    return redirect(url_for("table.show", link=link) if link else url_for("account.show_tables"), 303)


@account.post("/my/link")
def renew_seat_link() -> Reply:
    """Give one of my seats a new link; the old one stops working."""
    table, seat = request.form.get("table", ""), parse_int(request.form.get("seat", ""))
    with writing_as_signed_in() as (db, person):
        signing_in.renew_link(get_app(), db, person.proof, table, seat)
    return redirect(url_for("account.show_tables", renewed=table), 303)


@account.post("/my/settings-link")
def renew_settings_link() -> Reply:
    """Give me a new link to my letter settings, and remove the channels and feeds that the form does not keep."""
    numbers = map(parse_int, request.form.getlist("kept"))
    channels_to_keep = [number for number in numbers if number is not None]
    with writing_as_signed_in() as (db, person):
        signing_in.renew_settings_link(db, person.proof, channels_to_keep, keep_feeds="feeds" in request.form)
    return redirect(url_for("account.show_tables", renewed="settings"), 303)


def _make_my_tables_page(person: SignedIn, number: int) -> MyTablesPage:
    """Make the page with all running games, and the finished games of page `number`; page 0 has the latest."""
    app = get_app()
    with app.store.reading() as db:
        running = list(map(_make_table_row, my_tables.list_running(app, db, person.id)))
        over = list(map(_make_table_row, my_tables.list_finished(app, db, person.id, number)))
        claims = tuple(map(_make_claim_row, proof.list_claims(db, person.id)))
        record = my_tables.load_record(db, person.id)
        own_channels = channels.list_own(db, person.proof)
        has_feeds = bool(my_tables.find_token(app, db, person.proof))
    return MyTablesPage(
        name=person.name,
        address=person.address,
        renewed=_find_renewed(),
        claims=claims,
        channels=tuple((one.id, one.label) for one in own_channels),
        has_feeds=has_feeds,
        to_move=tuple(one for one in running if one.to_move),
        waiting=tuple(one for one in running if not one.to_move and one.phase == "playing"),
        gathering=tuple(one for one in running if one.phase != "playing"),
        over=tuple(over[: my_tables.PAGE_ROWS]),
        newer=number - 1 if number > 0 else None,
        older=number + 1 if len(over) > my_tables.PAGE_ROWS else None,  # one row more was loaded than is shown
        record=_make_record_rows(record),
        opponents=record.opponents if record.games else (),
    )


def _find_renewed() -> Literal["", "seat", "settings"]:
    """Return what has a new link, empty if nothing has; for a seat, the address has the id of its table."""
    match request.args.get("renewed", ""):
        case "":
            return ""
        case "settings":
            return "settings"
    return "seat"


def _make_table_row(table: MyTable) -> MyTableRow:
    """Describe a table of the reader; a player who is still missing is called a free seat."""
    waits = table.phase == "playing" and not table.to_move
    return MyTableRow(
        table=table.table,
        seat=table.seat,
        link=table.link,
        title=_find_title(table.game),
        names=join_names(name or translate(get_language(), FREE_SEAT) for name in table.others),
        phase=table.phase,
        to_move=table.to_move,
        waiting_for=join_names(table.to_move_names) if waits else "",
        due_at=table.due_at,
        at=table.at,
        place=table.place,
    )


def _make_record_rows(record: PlayerRecord) -> tuple[RecordRow, ...]:
    """List the reader's results by game; a win is a first place, also a shared one."""
    return tuple(
        RecordRow(
            title=_find_title(game),
            played=sum(times_by_place.values()),
            won=times_by_place.get(1, 0),
            places=tuple(times_by_place.items()),
        )
        for game, times_by_place in record.games.items()
    )


def _find_title(game: str) -> str:
    """Return the title of a game in the reader's language; its name if it is not installed."""
    games: Mapping[str, Any] = catalogue.find_all()
    if game not in games:
        return game
    return translate_in_game(get_language(), game, games[game].META.title)
