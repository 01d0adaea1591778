"""The table: what a seat sees and may do, and what has happened."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from itertools import islice
from typing import Any

import msgspec
from flask import Blueprint, Response, make_response, redirect, request, url_for
from werkzeug.wrappers import Response as Reply

from engine import table as tables
from engine.menu import Menu
from engine.record import Table
from service import beacon as beacons
from service import numbers, timing
from service.accounts import bounces, confirming, my_tables
from service.people import register
from service.plans import branch_orders
from service.settings import EMBEDDED
from service.store.queries import Verdict
from service.tables import (
    access,
    hints,
    lookahead,
    replays,
    score_course,
    snapshots,
    standing_orders,
    submitting,
    substitutes,
)
from service.tables.access import Place, Unknown
from service.tables.hints import GoodMove
from service.tables.replays import Viewpoint
from service.tables.snapshots import Snapshot
from service.text import board_cache, chronicle
from service.text.drawing import Scene, Voice, players, stage
from service.timing import Calendar
from service.web import live, menu_forms
from service.web.about_table import about_table, chairs
from service.web.account_pages import visitor
from service.web.joining_pages import waiting
from service.web.rendering import get_app, language, page
from service.web.seat_pages import around, heading, spoken

table = Blueprint("table", __name__, url_prefix="/t/<link>")
LATEST = 40
FAR = 200  # entries that are looked through for them


@table.get("")
def show(link: str) -> Response:
    """The page of a player or a spectator."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    common = {**_common(place, look), **around(place, look), "said": _said(place, look)}
    if look.table.phase != "playing" and look.table.phase != "over":
        return page("gathering.html", **common, nonce=secrets.token_hex(4))
    menu = snapshots.open_menu(look.game, look.table, place.seat)
    scene, voice = _scene(place, look, look.table, menu), _voice(place, look)
    board = board_cache.staged(get_app().caches.stages, (place.table, look.row.length), scene, voice)
    entries, since = _latest(place, look)
    commands = tables.list_commands(look.table, place.seat) if place.seat is not None else ()
    return page(
        "table.html",
        **common,
        stage=board.stage,
        text=board.text,
        alt=board.alt,
        standing=look.game.standing(look.table.state),
        **_begun(place, look, scene.menu, voice),
        others=_others(place, look),
        commands=[(entry.verb, voice.verb(entry.verb)) for entry in commands],
        asked=look.table.undo_request,
        pausing=look.table.pause_request,
        paused=look.table.paused,
        away=_away(look),
        offered=_offered(place, look),
        **_own_time(place, look),
        since=_told(look, voice, since, place.seat),
        chapters=_told(look, voice, reversed(entries), place.seat, LATEST),
        places=_places(look),
        score_word=voice.score_word(),
        **_end(look, voice),
    )


@table.get("/board.svg")
def picture(link: str) -> Response:
    """The board as this seat sees it, as a picture for lists of tables."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    if look.table.phase not in ("playing", "over"):
        raise Unknown("The game has not begun yet.")
    board = board_cache.staged(
        get_app().caches.stages, (place.table, look.row.length), _scene(place, look, look.table), _voice(place, look)
    )
    response = make_response(board.stage.world.partition("</svg>")[0] + "</svg>")
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "private, max-age=60"
    return response


@table.get("/then")
def then(link: str) -> Response:
    """The world as this seat saw it after an earlier entry, and what was told of that entry."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    seen = replays.world(get_app(), look, Viewpoint(place.seat, language()), numbers.read(request.args.get("at", "")))
    response = page("then.html", **msgspec.structs.asdict(seen))
    response.headers["Cache-Control"] = "private, max-age=3600"
    return response


@table.get("/foresee")
def foresee(link: str) -> Response:
    """The choices of this seat after a move it has not made; nothing if its turn would end or chance decides."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    if place.seat is None:
        return make_response("", 204)
    after = lookahead.foreseen(look, place.seat, request.args.get("move", ""))
    if after is None:
        return make_response("", 204)
    menu = look.game.menu(after, place.seat)
    scene = Scene(look.game, look.game.view(after, place.seat), players(look.names), place.seat, menu, language())
    voice = _voice(place, look)
    turn = menu_forms.make_turn_form(look.game.META.name, menu, voice)
    return page("foreseen.html", stage=stage(scene), turn=turn)


@table.post("")
def move(link: str) -> Reply:
    """Hand a move in, wait a moment for the verdict, and go back to the page with it."""
    app, form = get_app(), request.form
    place = access.find(app, link)
    words = {name: form.getlist(name) for name in ("move", "verb", "arg")}
    text = " ".join(" ".join(word.split()) for name in ("move", "verb", "arg") for word in words[name])
    seen = numbers.read(form.get("seen", ""), 2**31 - 1)
    key = form.get("key", "")
    handed = submitting.submit(app, place, text, f"{key[:16]}/{text}" if key else "", seen)
    submitting.wait_for_verdict(app, handed)
    return redirect(url_for("table.show", link=link, said=handed.number), 303)


@table.post("/hint")
def hint(link: str) -> Reply:
    """Ask for a good move, wait a moment for it, and go back to the page with it."""
    place = access.find(get_app(), link)
    number = hints.ask(get_app(), place)
    hints.wait(get_app(), place, number)
    return redirect(url_for("table.show", link=link, hint=number), 303)


@table.get("/pulse")
def pulse(link: str) -> Reply:
    """The length and head of the log: a small answer, because open pages ask often."""
    place = access.find(get_app(), link)
    row = snapshots.look(get_app(), place.table).row
    said = spoken(place)
    response = make_response({"length": row.length, "head": row.head, "talk": said})
    response.set_etag(f"{row.head}.{said}")
    response.headers["Cache-Control"] = "private, no-cache"
    return response.make_conditional(request)


@table.post("/sit")
def sit(link: str) -> Reply:
    """Take the seat, with a word of one's own for the dice."""
    place = access.find(get_app(), link)
    nonce = register.clean_nonce(request.form.get("nonce", ""), secrets.token_hex(8))
    access.speak(get_app(), place, language())
    confirming.by_seat(get_app(), place)
    handed = submitting.sit(get_app(), place, nonce)
    submitting.wait_for_verdict(get_app(), handed)
    return redirect(url_for("table.show", link=link, said=handed.number), 303)


def _laid_out(menu: Menu) -> list[str]:
    """The move, whole or begun, that the address proposes; empty if the menu does not allow it now."""
    said = request.args.get("say", "").split()
    return said if menu_forms.fits(menu, said) else []


def _is_too_late(place: Place, look: Snapshot, saying: list[str]) -> bool:
    """Whether the address is from a letter about another turn, or proposes a move that is not possible any more."""
    asked, turn = request.args.get("say", ""), numbers.read(request.args.get("turn", ""))
    if not asked or turn is None or place.seat is None or look.table.phase == "over":
        return False
    return not saying or look.seats[place.seat].open_since != turn


def _common(place: Place, look: Snapshot) -> dict[str, Any]:
    unreachable = bounces.unreachable(get_app(), look.row.id)
    watch = url_for("table.show", link=get_app().links.watch(look.row.id)) if look.row.watched else ""
    return {
        **heading(place, look),
        "row": look.row,
        "seats": look.seats,
        "dice": _dice(look),
        "now": get_app().now(),
        "unreachable": unreachable,
        "about": about_table(look, watch if place.seat is not None else ""),
        "chairs": chairs(look, place.seat, unreachable),
        "live": live.PATH + get_app().links.live(look.row.id, "watch" if place.seat is None else "seat"),
        **waiting(place, look),
    }


def _dice(look: Snapshot) -> dict[str, Any] | None:
    """The round of the public beacon that the table waits for, and whether it is missing for long."""
    beacon, waited = look.table.beacon, look.table.waiting_command
    if beacon is None or waited is None:
        return None
    due = beacon.time_of(waited.round)
    late = get_app().now() >= due + beacons.LATE
    return {"round": waited.round, "entry": waited.seq, "due": due, "late": late, "sealing": look.table.seal_request}


def _hint(place: Place, look: Snapshot) -> GoodMove | None:
    """The hint this page was sent back with; None once the game went on."""
    number = numbers.read(request.args.get("hint", ""))
    hint = None if number is None else hints.find(get_app(), place, number)
    return hint if hint and hint.length == look.table.length else None


def _begun(place: Place, look: Snapshot, menu: Menu, voice: Voice) -> dict[str, Any]:
    """The menu as forms, begun with what a letter laid out or was chosen so far, or with a good move."""
    hint = _hint(place, look)
    move = hint.move if hint else None
    saying = [move.verb, *move.args] if move else _laid_out(menu)
    path, hidden = url_for("table.show", link=place.link), {"seen": look.row.length - 1, "key": secrets.token_hex(8)}
    name = look.game.META.name
    return {
        "turn": menu_forms.make_turn_form(name, menu, voice, saying, path, f"{path}?", hidden),
        "too_late": _is_too_late(place, look, saying),
        "hint": hint,
        "hinted": [menu_forms.sentence(one, voice) for one in hint.moves] if hint else [],
        "hints": place.seat is not None and hints.allowed(look, place.seat),
    }


def _own_time(place: Place, look: Snapshot) -> dict[str, Any]:
    """The orders of this seat, and the address of its player's settings."""
    person = None if place.seat is None else look.seats[place.seat].person
    if person is None:
        return {"orders": (), "intentions": (), "preferences": ""}
    orders = [order for order in standing_orders.of_seat(get_app(), place) if not order.after]
    intentions = branch_orders.intentions(get_app(), place)
    return {"orders": orders, "intentions": intentions, "preferences": _preferences(person, look.row.id)}


def _preferences(person: int, table: str) -> str | None:
    """Where this person says what he wants to be written: told to nobody but himself.

    Who has the seat may have come there with another's address, and must not stop all of that other's letters.
    """
    if not _is_here(person):
        return None
    return url_for("preferences.show", token=get_app().links.preferences(person), table=table)


def _is_here(person: int) -> bool:
    """Whether this person has signed in on this device; in a house without letters there is nothing to prove."""
    known = visitor()
    return get_app().settings.smtp == EMBEDDED or (known is not None and known.id == person)


def _others(place: Place, look: Snapshot) -> list[str]:
    """The other tables that wait for the player of this seat, the most urgent first; only he is told, signed in."""
    person = None if place.seat is None else look.seats[place.seat].person
    known = visitor()
    if person is None or known is None or known.id != person:
        return []
    waiting = my_tables.waiting(get_app(), person)
    return [url_for("table.show", link=one.link) for one in waiting if one.table != place.table]


def _offered(place: Place, look: Snapshot) -> list[tuple[int, str]]:
    """The free seats and where to take them; for players only."""
    if place.seat is None or look.table.phase == "over":
        return []
    free = [seat for seat in look.seats if look.table.seats[seat.seat].offered]
    app = get_app()
    return [(seat.seat, url_for("joining.show_offer", token=substitutes.link(app, seat))) for seat in free]


def _away(look: Snapshot) -> dict[int, tuple[str, str]]:
    """Who is on vacation today, by UTC, or soon; said beside the name."""
    day = timing.today(Calendar(), get_app().now()).isoformat()
    coming = {
        number: next((span for span in chair.vacations if span[1] >= day), None)
        for number, chair in enumerate(look.table.seats)
    }
    return {seat: span for seat, span in coming.items() if span}


def _scene(place: Place, look: Snapshot, table: Table, menu: Menu = ()) -> Scene:
    view = look.game.view(table.state, place.seat)
    return Scene(look.game, view, players(look.names), place.seat, menu, language())


def _voice(place: Place, look: Snapshot) -> Voice:
    view = look.game.view(look.table.state, place.seat) if look.table.phase in ("playing", "over") else None
    return Voice(look.game, look.names, language(), place.seat, marked=True, view=view)


def _latest(place: Place, look: Snapshot) -> tuple[list[Any], list[Any]]:
    """What happened last, and of it what happened since this seat's last move; nothing of that when all is over."""
    entries = snapshots.entries(get_app(), look, max(0, look.row.length - FAR))
    return entries, [] if look.table.phase == "over" else chronicle.since_own_move(entries, place.seat)


def _told(
    look: Snapshot, voice: Voice, entries: Iterable[Any], seat: int | None, most: int | None = None
) -> list[chronicle.Chapter]:
    return list(islice(chronicle.chapters(look.game, entries, voice, seat), most))


def _end(look: Snapshot, voice: Voice) -> dict[str, Any]:
    """How the scores came about, once all is over."""
    if look.table.phase != "over":
        return {"course": (), "sources": ()}
    course, sources = score_course.of(get_app(), look), score_course.sources(get_app(), look)
    return {"course": course, "sources": sources, "source_word": voice.source}


def _places(look: Snapshot) -> list[tuple[int, int]]:
    return sorted((place, seat) for seat, place in enumerate(look.table.places))


def _said(place: Place, look: Snapshot) -> Any:
    """The verdict that the page shows: “waiting” until there is one, None once the game has gone on."""
    number = numbers.read(request.args.get("said", ""))
    with get_app().store.reading() as db:
        said = None if number is None else submitting.find_verdict(db, place, number)
    return None if isinstance(said, Verdict) and _outdated(said, place, look) else said


def _outdated(said: Verdict, place: Place, look: Snapshot) -> bool:
    """Whether another seat has moved since, so that it is this seat's turn again."""
    if said.seq is None or place.seat is None or not look.seats[place.seat].open_since:
        return False
    later = snapshots.entries(get_app(), look, said.seq + 1)
    return any(entry.seat not in (None, place.seat) for entry in later)
