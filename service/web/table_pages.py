"""The table: its page, the forms beside the board, and what the page's script asks for."""

from __future__ import annotations

import math
import secrets

from flask import Blueprint, Response, make_response, redirect, request, url_for
from msgspec import Struct
from sqlalchemy import Connection
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Request
from werkzeug.wrappers import Response as Reply

from service.accounts import addresses
from service.links import hash_token
from service.numbers import MAX_ENTRY, parse_int
from service.people import register
from service.settings import DAY_S
from service.store.batch import Verdict
from service.store.fingerprints import TableParts
from service.tables import access, branch_orders, hints, judging, seat_commands, snapshots, submitting, talk
from service.tables.access import Place, Unknown
from service.tables.history import replays
from service.tables.history.replays import Viewpoint
from service.tables.snapshots import Snapshot
from service.tables.submitting import MoveText
from service.text import drawing
from service.text.drawing import Scene, Stage, draw_stage, list_players
from service.text.narration import Chapter
from service.web.current_request import get_app, get_language
from service.web.menu_forms import ScriptMenu, make_script_menu
from service.web.page_cache import cache_page
from service.web.rendering import render
from service.web.signed_in import find_visit_key
from service.web.table_frame import find_join_address
from service.web.table_view import TablePage, make_gathering_page, make_narrator, make_scene, make_table_page

table = Blueprint("table", __name__, url_prefix="/t/<link>")
STARTED_PHASES = ("playing", "over")
MINUTE_S = 60
PAGE_KEY_CHARS = 16  # of the key in the forms of a page


class PastStagePage(Struct, frozen=True):
    """The world after an earlier entry, for the stage of the table."""

    at: int
    first: int  # the entry with which the game begins
    last: int  # the last entry
    scores: str  # in the order of seats, with spaces between
    stage: Stage
    chapters: tuple[Chapter, ...]


class StockPage(Struct, frozen=True):
    """The things that may still come up, and the way back to the table."""

    title: str
    table_address: str
    drawing: str


class ForeseenPage(Struct, frozen=True):
    """The board after a move that is not made yet, and the choices that its seat then has."""

    stage: Stage
    choices: ScriptMenu


@table.get("")
def show(link: str) -> Response:
    """Show the table to a player or a spectator."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        access.note_link(app, link)  # so that the forms of the page need no query to check their link
        snapshot = snapshots.load_table(app, db, place.table)
        if snapshot.position.phase not in STARTED_PHASES:
            gathering = make_gathering_page(db, place, snapshot, find_join_address(place, snapshot))
            return render("gathering.html", gathering)
        page = make_table_page(db, place, snapshot)
        _cache(db, place, page)
    return render("table.html", page)


def _cache(db: Connection, place: Place, page: TablePage) -> None:
    """Let the page be sent again until a time on it changes; not a page with orders or a round that is awaited."""
    own = page.own_orders
    has_orders = own is not None and bool(own.unconditional or own.of_branches)
    awaits_round = page.frame.dice is not None
    if has_orders or awaits_round:
        return  # the parts below do not tell when these change
    key, now = find_visit_key(), get_app().now()
    parts = TableParts(place.table, hash_token(key) if key else "")
    seen_ago = [row.seen_ago for row in page.players if row.seen_ago is not None]
    changes = [now + access.find_next_presence_change(ago) for ago in seen_ago]
    cache_page(db, parts, min([_find_expiry(now, page.due_at), *changes]))


def _find_expiry(now: int, due_at: int | None) -> int:
    """Return when the times on the page become wrong: at midnight (UTC), or when one minute less is left.

    The page shows the minutes until `due_at`; None if the page has no deadline.
    """
    tomorrow = now - now % DAY_S + DAY_S
    if due_at is None or due_at <= now:
        return tomorrow
    minutes_left = math.ceil((due_at - now) / MINUTE_S)
    return min(tomorrow, due_at - (minutes_left - 1) * MINUTE_S)


def _load_started(link: str) -> tuple[Place, Snapshot]:
    """Load the place and the table of a link; raise Unknown if the game has not begun."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        snapshot = snapshots.load_table(app, db, place.table)
    if snapshot.position.phase not in STARTED_PHASES:
        raise Unknown("The game has not begun yet.")
    return place, snapshot


@table.get("/board.svg")
def send_picture(link: str) -> Response:
    """Send the board as this seat sees it, as a picture for lists of tables."""
    place, snapshot = _load_started(link)
    position = (place.table, snapshot.row.length)
    board = drawing.draw_staged_board(
        get_app().caches.staged_boards, position, make_scene(place, snapshot), make_narrator(place, snapshot)
    )
    response = make_response(board.stage.world_picture)
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "private, max-age=60"
    return response


@table.get("/then")
def show_earlier(link: str) -> Response:
    """Show the stage as this seat saw it after an entry, by default the last one, and the sentences about the entry."""
    app, entry = get_app(), parse_int(request.args.get("at", ""))
    with app.store.reading() as db:
        place = access.find_place(db, link)
        snapshot = snapshots.load_table(app, db, place.table)
        past = replays.load_past_stage(app, db, snapshot, Viewpoint(place.seat, get_language()), entry)
    page = PastStagePage(
        at=past.at,
        first=past.first,
        last=past.last,
        scores=" ".join(str(one.score) for one in past.standing),
        stage=past.stage,
        chapters=past.chapters,
    )
    response = render("past_stage.html", page)
    response.headers["Cache-Control"] = "private, max-age=3600"  # the script names an entry, which does not change
    return response


@table.get("/stock")
def show_stock(link: str) -> Response:
    """Show which tiles, cards or coins may still come up, as far as this reader may know it."""
    place, snapshot = _load_started(link)
    scene = make_scene(place, snapshot)
    stage = draw_stage(scene)
    page = StockPage(
        title=stage.stock, table_address=url_for("table.show", link=link), drawing=drawing.draw_stock(scene)
    )
    return render("stock.html", page)


@table.get("/foresee")
def foresee(link: str) -> Response:
    """Show the choices of this seat after a move it has not made; nothing if its turn would end or chance decides."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        snapshot = snapshots.load_table(app, db, place.table)
    seat = place.seat
    after = None if seat is None else hints.imagine_move(snapshot, seat, request.args.get("move", ""))
    if seat is None or after is None:
        return make_response("", 204)
    game = snapshot.game
    menu = game.menu(after, seat)
    players = list_players(snapshot.names)
    scene = Scene(game, game.view(after, seat), players, me=seat, menu=menu, language=get_language())
    page = ForeseenPage(draw_stage(scene), make_script_menu(menu, make_narrator(place, snapshot)))
    return render("foreseen.html", page)


@table.get("/pulse")
def send_pulse(link: str) -> Reply:
    """Send the length and head of the log, and the last remark's number: a small answer, as open pages ask often."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        row = snapshots.load_row(db, place.table)
        last_remark = 0 if place.seat is None else row.last_remark  # spectators do not see the talk
    response = make_response({"length": row.length, "head": row.head, "talk": last_remark})
    response.set_etag(f"{row.head}.{last_remark}")
    response.headers["Cache-Control"] = "private, no-cache"
    return response.make_conditional(request)


@table.post("")
def move(link: str) -> Reply:
    """Submit a move, wait a moment for the verdict, and show the table with it."""
    app = get_app()
    text, key, seen = read_move(request)
    place = access.find(app, link)
    submitted = submitting.submit(app, place, text, key, seen)
    verdict = submitting.wait_for_verdict(app, submitted)
    was_refused_before = verdict is not None and not verdict.accepted and not submitted.new
    if was_refused_before:  # the page was sent again, with the same key; meanwhile the move may have become possible
        page_key = key.partition("/")[0]
        refused_count = submitting.count_refused(app, place, page_key)
        new_key = f"{page_key}/{refused_count}/{text}"
        submitted = submitting.submit(app, place, text, new_key, seen)
        verdict = submitting.wait_for_verdict(app, submitted)
    return answer_move(request, link, submitted.number, verdict)


def read_move(posted: Request) -> MoveText:
    """Return the move in a form of the table's page: its text, its key, and the entry last seen.

    The key is empty if the form has none, and the entry is None.
    """
    form = posted.form
    text = join_move_fields(form)
    page_key = form.get("key", "")[:PAGE_KEY_CHARS].replace("/", "")
    key = f"{page_key}/{text}" if page_key else ""  # each move of a page is stored once
    seen = parse_int(form.get("seen", ""), MAX_ENTRY)
    return text, key, seen


def join_move_fields(fields: MultiDict[str, str]) -> str:
    """Join the fields of a form that together are the text of a move: a whole move, or a verb and its arguments."""
    values = [value for name in ("move", "verb", "arg") for value in fields.getlist(name)]
    return " ".join(" ".join(value.split()) for value in values)


def answer_move(posted: Request, link: str, number: int, verdict: Verdict | None) -> Reply:  # noqa: ARG001  # as a program's
    """Lead back to the table's page, which loads the verdict; the arguments are as in `operations.answer_move`."""
    return redirect(f"/t/{link}?said={number}", 303)


@table.post("/sit")
def sit(link: str) -> Reply:
    """Take the seat, with a word of the player's own for the dice."""
    app = get_app()
    with access.writing_at(app, link) as (db, place):
        nonce = register.clean_nonce(request.form.get("nonce", ""), secrets.token_hex(8))
        addresses.prove_by_invitation(app, db, place)
        access.set_language(db, place, get_language())
    app.wakeups.wake("post")  # letters wait for the proof
    submitted = submitting.sit(app, place, nonce)
    submitting.wait_for_verdict(app, submitted)
    return redirect(url_for("table.show", link=link, said=submitted.number), 303)


@table.post("/hint")
def ask_for_hint(link: str) -> Reply:
    """Ask for a good move, and show the table, which looks again until it is found: no thread waits for a bot."""
    app = get_app()
    with access.writing_at(app, link) as (db, place):
        number = hints.ask(app, db, place)
    app.wakeups.wake("bots")
    return redirect(url_for("table.show", link=link, hint=number), 303)


seat_forms = Blueprint("seat", __name__, url_prefix="/t/<link>")


@seat_forms.post("/talk")
def say(link: str) -> Reply:
    """Say something to the others at the table."""
    app = get_app()
    with access.writing_at(app, link) as (db, place):
        talk.say(db, place, request.form.get("text", ""), app.now())
    app.wakeups.announce(place.table, topic="talk")
    return _show_section(link, "talk")


@seat_forms.post("/note")
def store_note(link: str) -> Reply:
    """Store a private note; an empty text deletes it."""
    with access.writing_at(get_app(), link) as (db, place):
        seat_commands.store_note(db, place, request.form.get("note", ""))
    return _show_section(link, "note")


@seat_forms.post("/at-once")
def choose_confirmation(link: str) -> Reply:
    """Choose whether whole moves are made without being confirmed."""
    with access.writing_at(get_app(), link) as (db, place):
        seat_commands.set_at_once(db, place, _is_wanted())
    return _show_section(link, "own")


@seat_forms.post("/presence")
def show_presence(link: str) -> Reply:
    """Choose whether the others see when this player was last here."""
    with access.writing_at(get_app(), link) as (db, place):
        seat_commands.set_presence(db, place, _is_wanted())
    return _show_section(link, "own")


@seat_forms.put("/here")
def note_presence(link: str) -> Response:
    """Note that the player is here, if the others may know it; the page's script sends this now and then."""
    access.store_presence(get_app(), link)
    return make_response("", 204)


@seat_forms.post("/watched")
def allow_spectators(link: str) -> Reply:
    """Allow or forbid spectators, which only the organiser may do."""
    with access.writing_at(get_app(), link) as (db, place):
        seat_commands.allow_spectators(db, place, _is_wanted())
    return _show_section(link, "own")


@seat_forms.post("/released")
def release(link: str) -> Reply:
    """Agree to show the finished game in the gallery, or take that back."""
    with access.writing_at(get_app(), link) as (db, place):
        seat_commands.release(db, place, _is_wanted())
    return _show_section(link, "released")


@seat_forms.post("/orders/<int:number>/sooner")
def move_order_up(link: str, number: int) -> Reply:
    """Try a standing order before the order in front of it."""
    with access.writing_at(get_app(), link) as (db, place):
        seat_commands.move_order_up(db, place, number)
    return _show_section(link, "plan")


@seat_forms.post("/orders/branches/<int:number>/sooner")
def move_branch_up(link: str, number: int) -> Reply:
    """Try the standing orders of a branch before those of the branch in front of it."""
    with access.writing_at(get_app(), link) as (db, place):
        seat_commands.move_branch_up(db, place, number)
    return _show_section(link, "plan")


@seat_forms.post("/orders/<int:number>/branch/<int:branch>")
def move_order_to_branch(link: str, number: int, branch: int) -> Reply:
    """Move a standing order to the end of another branch, or exchange it with the last order there."""
    with judging.at_seat(get_app(), link) as (work, place):  # which stores and publishes the table in `locked`
        work.locked = branch_orders.move_order(work.locked, place, number, branch)
    return _show_section(link, "plan")


def _is_wanted() -> bool:
    return request.form.get("wanted") == "yes"


def _show_section(link: str, section: str) -> Reply:
    return redirect(url_for("table.show", link=link, _anchor=section), 303)
