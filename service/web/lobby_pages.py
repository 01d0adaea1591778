"""The lobby: choose a game, name the players, and a table is open."""

from __future__ import annotations

import functools
import itertools
import secrets
from collections.abc import Mapping
from random import Random
from typing import Any

from flask import Blueprint, Response, make_response, redirect, request, url_for
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine import catalogue
from engine.game import Game, objection
from engine.options import Option, describe
from engine.refusal import Refused
from service import numbers
from service.settings import DAY, LUCK
from service.tables import lobby as listing
from service.tables import opening
from service.tables.access import Unknown
from service.tables.opening import Invited, Luck, Strength, Who
from service.tables.snapshots import Snapshot
from service.text import samples
from service.text.drawing import Scene, players, stage
from service.text.languages import LANGUAGES, SOURCE
from service.timing import HOUR, Clock
from service.web.account_pages import visitor
from service.web.rendering import get_app, language, page

lobby = Blueprint("lobby", __name__)
ROWS = 8
EARLY = 16
PACES = {"1": DAY, "3": 3 * DAY, "7": 7 * DAY, "0": 0}
LATE = ("move", "seat", "resign", "skip")


class GuestRow(Struct, frozen=True):
    """A row of the form, as filled in so far."""

    name: str = ""
    address: str = ""
    who: Who = "person"
    level: Strength = ""
    language: str = ""

    @property
    def named(self) -> bool:
        """Whether anything was said of this seat."""
        return bool(self.name.strip() or self.address.strip() or self.who != "person")


@lobby.get("/")
def welcome() -> Response:
    """The games there are, the tables with seats for anybody, and games to look on at."""
    app = get_app()
    offers = [_listed(look, app.links.join(look.row.id)) for look in listing.seeking(app)]
    games = [_listed(look, app.links.watch(look.row.id)) for look in listing.shown(app)]
    return page("lobby.html", games=[game.META for game in catalogue.games().values()], offers=offers, watched=games)


def _listed(look: Snapshot, token: str) -> dict[str, Any]:
    """A table as the lobby shows it, with the link that leads there."""
    standing = look.game.standing(look.table.state) if look.table.phase == "playing" else ()
    return {
        "token": token,
        "meta": look.game.META,
        "players": players(look.names),
        "seats": look.seats,
        "scores": [one.score for one in standing],
        "clock": look.clock,
        "length": look.row.length,
    }


@lobby.get("/picture/<name>.svg")
def picture(name: str) -> Response:
    """A board of that game, as its sign in the lobby."""
    spoken = request.args.get("in", SOURCE)
    response = make_response(drawn(name, spoken if spoken in LANGUAGES else SOURCE))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


@lobby.get("/new/<name>")
def new(name: str) -> Response:
    """The form for a new table of one game; who has signed in on this device stands in it."""
    person = visitor()
    return _form(name, {"name.0": person.name, "address.0": person.address} if person else {}, None, 200)


@lobby.post("/new/<name>")
def open_table(name: str) -> Reply:
    """Open the table and lead the first player to his seat."""
    form = request.form
    options = _options(name)
    chosen = {option.name: form.get(f"option.{option.name}", "") for option in options}
    chosen = {name: value for name, value in chosen.items() if value}
    for option in options:
        if option.kind == "switch" and form.get(f"asked.{option.name}"):
            chosen[option.name] = "on" if form.get(f"option.{option.name}") else "off"
    try:
        key, watched, guests = form.get("key", "")[:80], _watched(form), _invited(form)
        app, signed_in = get_app(), visitor()
        opener = signed_in.id if signed_in else None
        time, luck = _clock(form), _luck(form)
        in_lobby = (bool(form.get("seeking")), bool(form.get("shown")))
        opened = opening.open_table(app, name, chosen, guests, time, language(), key, watched, opener, luck, *in_lobby)
    except Refused as refused:
        return _form(name, form, refused, 422)
    first = next(link for link in opened.links if link)
    return redirect(url_for("table.show", link=first), 303)


def _luck(form: Mapping[str, str]) -> Luck:
    """How the table draws; a form without the question leaves it to the house."""
    found: Any = form.get("luck", "")
    return found if found in LUCK else ""


def _invited(form: Mapping[str, str]) -> list[Invited]:
    """The guests of the form; the opener, who is the first person of it, sits down at once."""
    guests = [guest for guest in _guests(form) if guest.named]
    for guest in guests:
        if guest.who == "person" and not guest.address.strip():
            raise Refused("Please give an e-mail address for {name}, or choose “a bot”.", name=guest.name)
    invited = [_invitation(one, row) for row, one in enumerate(guests)]
    return opening.opened_by_first(invited, form.get("nonce", "").strip() or secrets.token_hex(8))


def _invitation(guest: GuestRow, row: int) -> Invited:
    """A bot without a name is called by its place."""
    name = guest.name if guest.name.strip() or guest.who != "bot" else f"Bot {row}"
    return Invited(name, guest.address, who=guest.who, level=guest.level, language=guest.language)


def _clock(form: Mapping[str, str]) -> Clock:
    """How time is kept; a bank of time takes the place of a time for each move."""
    bank = _number(form, "bank", 365) * DAY
    late: Any = form.get("late", "")
    return Clock(
        pace=0 if bank else PACES.get(form.get("pace", ""), 3 * DAY),
        bank=bank,
        increment=_number(form, "increment", 720) * HOUR,
        grace=_number(form, "grace", 168) * HOUR,
        late=late if late in LATE else "move",
        offer_after=_number(form, "offer_after", 20),
        spare_weekends=bool(form.get("spare_weekends")),
        automatic=bool(form.get("automatic")),
        hints=bool(form.get("hints")),
    )


def _watched(form: Mapping[str, str]) -> bool:
    """Whether spectators are allowed; yes, where the form did not ask."""
    return bool(form.get("watched")) or not form.get("asked.watched")


def _number(form: Mapping[str, str], name: str, most: int) -> int:
    """A whole number of the form; what is left empty is 0."""
    text = form.get(name, "").strip()
    if not text:
        return 0
    number = numbers.read(text, most)
    if number is None:
        raise Refused("Please give a whole number from 0 to {most}, not “{text}”.", most=most, text=text[:20])
    return number


def _form(name: str, form: Mapping[str, str], error: Refused | None, status: int) -> Response:
    game = game_of(name)
    return page(
        "new.html",
        status,
        game=game.META,
        options=_options(name),
        form=form,
        guests=_guests(form),
        paces=list(PACES),
        late=LATE,
        luck=LUCK,
        error=error,
        key=form.get("key") or secrets.token_hex(16),
    )


def game_of(name: str) -> Game:
    """The game of that name, as an address has it."""
    if name not in catalogue.games():
        raise Unknown("There is no game “{name}” here; please choose one of those in the lobby.", name=name)
    return catalogue.find(name)


def _options(name: str) -> tuple[Option, ...]:
    return describe(game_of(name).META.options)


@functools.cache
def drawn(name: str, spoken: str) -> str:
    """The board of a game some moves after its beginning, as all may see it."""
    game = game_of(name)
    most = max(seats for seats in game.META.seats if not objection(game, game.META.options(), seats))
    sample = samples.started(game, most, b"lobby".ljust(32))
    for _ in itertools.islice(samples.played(sample, Random(7)), EARLY):  # noqa: S311 - a picture, not dice
        pass
    seats = players(["" for _ in sample.table.seats])
    world = stage(Scene(game, game.view(sample.table.state, None), seats, language=spoken)).world
    return world.partition("</svg>")[0] + "</svg>"


def _guests(form: Mapping[str, str]) -> list[GuestRow]:
    return [
        GuestRow(
            form.get(f"name.{row}", ""),
            form.get(f"address.{row}", ""),
            who(form.get(f"who.{row}", "")),
            level(form.get(f"level.{row}", "")),
            spoken if (spoken := form.get(f"language.{row}", "")) in LANGUAGES else "",
        )
        for row in range(ROWS)
    ]


def who(text: str) -> Who:
    """Who sits there as a form names it; anything else is a person."""
    match text:
        case "bot" | "anybody":
            return text
    return "person"


def level(text: str) -> Strength:
    """The level of a bot as a form names it; anything else is normal."""
    match text:
        case "easy" | "normal" | "strong":
            return text
    return ""
