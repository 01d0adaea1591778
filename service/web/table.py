"""The table: what a seat sees and may do, and what has happened."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec
from flask import Blueprint, Response, make_response, redirect, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Reply

from engine import table as tables
from engine.menu import Entry, Menu
from engine.record import Table
from engine.refusal import Refused
from service import bounces, chronicle, people, substitutes, timing
from service.desk import Look, Place
from service.drawing import Scene, Voice, board_svg, board_text, players
from service.languages import in_game
from service.timing import Calendar
from service.web import offer
from service.web.pages import house, language, page

table = Blueprint("table", __name__, url_prefix="/t/<link>")
LATEST = 40


@table.get("")
def show(link: str) -> Response:
    """The page of a seat, or of somebody who looks on."""
    place = house().desk.find(link)
    look = house().desk.look(place.table)
    said = _said(place)
    if look.table.phase != "playing" and look.table.phase != "over":
        return page("gathering.html", **_common(place, look), said=said, nonce=secrets.token_hex(4))
    menu = _menu(place, look)
    scene, voice = _scene(place, look, look.table, menu), _voice(place, look)
    entries = house().desk.entries(look, max(0, look.row.length - 400))
    commands = tables.commands(look.table, place.seat) if place.seat is not None else ()
    return page(
        "table.html",
        **_common(place, look),
        said=said,
        svg=Markup(board_svg(scene)),  # noqa: S704 - our own template, which escapes what goes in
        text=board_text(scene),
        alt=voice.alt(scene.view),
        standing=look.game.standing(look.table.state),
        offers=offer.offers(scene.menu, voice, request.args.get("say", "").split()),
        menu=offer.as_data(scene.menu),
        labels=_labels(scene, voice),
        saying=request.args.get("say", "").split(),
        commands=[(entry.verb, voice.verb(entry.verb)) for entry in commands],
        asked=look.table.asked,
        pausing=look.table.pausing,
        paused=look.table.paused,
        away=_away(look),
        offered=_offered(place, look),
        **_own_time(place, look),
        since=_told(look, voice, chronicle.since_own_move(entries, place.seat), place.seat),
        chapters=_told(look, voice, entries, place.seat)[-LATEST:][::-1],
        places=_places(look),
        seen=look.row.length - 1,
        key=secrets.token_hex(8),
    )


@table.post("")
def move(link: str) -> Reply:
    """Hand a move in, wait a moment for the verdict, and go back to the page with it."""
    place = house().desk.find(link)
    form = request.form
    words = {name: form.getlist(name) for name in ("move", "verb", "arg")}
    text = " ".join(" ".join(word.split()) for name in ("move", "verb", "arg") for word in words[name])
    seen = int(form["seen"]) if form.get("seen", "").isdecimal() and len(form["seen"]) < 9 else None
    key = form.get("key", "")
    submission = house().desk.submit(place, text, f"{key[:16]}/{text}" if key else "", seen)
    house().desk.verdict(submission)
    return redirect(url_for("table.show", link=link, said=submission), 303)


@table.get("/pulse")
def pulse(link: str) -> Reply:
    """How far the table has come: little to ask for, so that an open page may ask often."""
    row = house().desk.look(house().desk.find(link).table).row
    response = make_response({"length": row.length, "head": row.head})
    response.set_etag(row.head)
    response.headers["Cache-Control"] = "no-cache"
    return response.make_conditional(request)


@table.post("/sit")
def sit(link: str) -> Reply:
    """Take the seat, with a word of one's own for the dice."""
    place = house().desk.find(link)
    nonce = people.clean_nonce(request.form.get("nonce", ""), secrets.token_hex(8))
    house().desk.speak(place, language())
    submission = house().desk.submit(place, f"sit {nonce}", f"sit/{link}")
    house().desk.verdict(submission)
    return redirect(url_for("table.show", link=link, said=submission), 303)


@table.get("/replay")
def replay(link: str) -> Response:
    """The game as it was after any entry, as this seat could see it then; after the end as any seat could."""
    place = house().desk.find(link)
    look = house().desk.look(place.table)
    entries = house().desk.entries(look)
    first = next((entry.seq for entry in entries if entry.move == "start"), None)
    if first is None:
        raise Refused("There is nothing to replay yet; the game has not begun.")
    at = _within(request.args.get("at", ""), first, entries[-1].seq)
    eyes = _eyes(place, look)
    seat = Place(place.table, eyes, link)
    then = house().desk.past(look, at)
    scene, voice = _scene(seat, look, then), _voice(seat, look)
    told = _told(look, voice, entries, eyes)
    return page(
        "replay.html",
        **_common(place, look),
        svg=Markup(board_svg(scene)),  # noqa: S704 - our own template, which escapes what goes in
        text=board_text(scene),
        alt=voice.alt(scene.view),
        standing=look.game.standing(then.state),
        at=at,
        first=first,
        last=entries[-1].seq,
        eyes=eyes,
        chapter=next((chapter for chapter in told if chapter.seq == at), None),
        chapters=[chapter for chapter in told if chapter.seq >= first],
        hash=house().desk.receipt(look, at),
    )


@table.get("/log.json")
def download(link: str) -> Response:
    """The log as this seat may keep it."""
    export = house().desk.export(house().desk.find(link))
    response = make_response(msgspec.json.format(msgspec.json.encode(export), indent=1))
    response.headers["Content-Type"] = "application/json"
    response.headers["Content-Disposition"] = f'attachment; filename="{export.game}-{export.table}.json"'
    return response


def _common(place: Place, look: Look) -> dict[str, Any]:
    return {
        "link": place.link,
        "me": place.seat,
        "meta": look.game.META,
        "title": in_game(language(), look.game.META.name, look.game.META.title),
        "row": look.row,
        "phase": look.table.phase,
        "seats": look.seats,
        "players": players(look.names),
        "options": look.table.options,
        "clock": look.clock,
        "now": house().now(),
        "unreachable": bounces.unreachable(house().desk, look.row.id),
        "watch": url_for("table.show", link=house().links.watch(look.row.id)),
    }


def _menu(place: Place, look: Look) -> Menu:
    """What this reader may do in the game; who has given the seat up, nothing more."""
    if place.seat is None or look.table.seats[place.seat].status == "resigned":
        return ()
    return tables.menu(look.game, look.table, place.seat)


def _own_time(place: Place, look: Look) -> dict[str, Any]:
    """What this seat has ordered, and where its holder says when he rests and what he wants to be written."""
    person = None if place.seat is None else look.seats[place.seat].person
    if person is None:
        return {"orders": (), "wishes": ""}
    wishes = url_for("wishes.show", token=house().links.wishes(person), table=look.row.id)
    return {"orders": house().desk.orders(place), "wishes": wishes}


def _offered(place: Place, look: Look) -> list[tuple[int, str]]:
    """The free seats and where to take them; for players only."""
    if place.seat is None or look.table.phase == "over":
        return []
    free = [seat for seat in look.seats if look.table.seats[seat.seat].offered]
    desk = house().desk
    return [(seat.seat, url_for("substitutes.show", token=substitutes.link(desk, seat))) for seat in free]


def _away(look: Look) -> dict[int, tuple[str, str]]:
    """Who is on vacation today, by UTC, or soon; said beside the name."""
    day = timing.today(Calendar(), house().now()).isoformat()
    coming = {
        number: next((span for span in chair.away if span[1] >= day), None)
        for number, chair in enumerate(look.table.seats)
    }
    return {seat: span for seat, span in coming.items() if span}


def _scene(place: Place, look: Look, table: Table, menu: Menu = ()) -> Scene:
    view = look.game.view(table.state, place.seat)
    return Scene(look.game, view, players(look.names), place.seat, menu, language())


def _voice(place: Place, look: Look) -> Voice:
    return Voice(look.game, look.names, language(), place.seat)


def _labels(scene: Scene, voice: Voice) -> dict[str, dict[str, Any]]:
    """Every word of the menu as people say it, verb by verb, for the script."""
    return {entry.verb: {"verb": voice.verb(entry.verb), "tokens": _words(entry, voice)} for entry in scene.menu}


def _words(entry: Entry, voice: Voice) -> dict[str, str]:
    sequences = getattr(entry, "options", ()) or (getattr(entry, "items", ()),)
    tokens = dict.fromkeys(token for args in sequences for token in args)
    return {token: voice.token(entry.verb, token) for token in tokens}


def _told(look: Look, voice: Voice, entries: list[Any], seat: int | None) -> list[chronicle.Chapter]:
    return list(chronicle.chapters(look.game, entries, voice, seat))


def _places(look: Look) -> list[tuple[int, int]]:
    return sorted((place, seat) for seat, place in enumerate(look.table.places))


def _eyes(place: Place, look: Look) -> int | None:
    """Through whose eyes the game is seen: one's own, or after the end anybody's."""
    chosen = request.args.get("as", "")
    if look.table.phase == "over" and chosen.isdecimal() and int(chosen) < len(look.seats):
        return int(chosen)
    return place.seat


def _within(text: str, first: int, last: int) -> int:
    return min(max(int(text), first), last) if text.isdecimal() and len(text) < 9 else last


def _said(place: Place) -> Any:
    """The verdict this page was sent back with: None where there is none, "waiting" where it is still to come."""
    number = request.args.get("said", "")
    if not number.isdecimal() or len(number) > 15:
        return None
    return house().desk.heard(place, int(number))
