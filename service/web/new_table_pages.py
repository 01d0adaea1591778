"""Opening tables: the form for a new table, the short form for a game against bots, and the rematch."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from flask import Blueprint, Response, redirect, request, url_for
from markupsafe import Markup
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine.game import Meta, objection
from engine.options import Option, describe
from engine.refusal import Refused
from service.settings import DAY_S, LUCK_CHOICES
from service.tables import joining, opening
from service.tables.opening import Invitee, NewTable
from service.text import rulebook
from service.text.languages import translate, translate_in_game
from service.timing import Clock
from service.web import guest_list, new_table_form
from service.web.current_request import get_app, get_language, name_visitor
from service.web.lobby_pages import find_game
from service.web.rendering import render, translate_title
from service.web.signed_in import load_signed_in

new_table = Blueprint("new_table", __name__)
COOKIE = "table"  # the settings of the last table that was opened on this device; no names and no addresses
COOKIE_MAX_AGE_S, COOKIE_MAX_CHARS = 365 * DAY_S, 3_000
SETTINGS = (
    *("pace", "late", "bank", "increment", "grace", "offer_after", "spare_weekends", "automatic", "luck"),
    *("watched", "asked.watched", "shown", "seeking", "hints"),
)
LINES = {"bot": guest_list.BOT, "seat": guest_list.FREE_SEAT}
RADIO_VALUES = 4  # an option with more values is a list
LIST_VALUES = 24  # an option with more values is a number
DEFAULT_PACE = "3"  # days
DEFAULT_INCREMENT = "24"  # hours
MAX_KEY_CHARS = 80  # of the key that makes opening twice the same as once
MAX_BOT_DIGITS = 2  # of the number of bots
RULE_FIELDS = ("option.", "asked.")  # “asked.…” says that the form had a switch, which sends nothing while it is off


class TimeFields(Struct, frozen=True):
    """The part of the form about time that is folded at first."""

    late: str
    bank: str
    increment: str
    grace: str
    offer_after: str
    spare_weekends: bool
    automatic: bool

    @property
    def is_changed(self) -> bool:
        """Whether one of these differs from its default; the increment only counts if there is a bank."""
        typed = (self.bank, self.grace, self.offer_after, self.spare_weekends, self.automatic)
        return self.late != "move" or any(typed)


class OptionValue(Struct, frozen=True):
    """A value of an option, with its words."""

    value: str
    label: str
    chosen: bool
    default: bool


class OptionField(Struct, frozen=True):
    """An option of the game's rules, as a field of the form."""

    name: str
    kind: Literal["switch", "radio", "list", "number"]
    label: str
    about: Markup
    chosen: str
    is_on: bool  # of a switch
    is_changed: bool  # whether it differs from its default
    values: tuple[OptionValue, ...]
    least: int | None  # of numbers; None for other options
    most: int | None


class NewTablePage(Struct, frozen=True):
    """Everything `new_table.html` shows."""

    game: Meta
    title: str
    error: Refused | None
    key: str
    name: str
    address: str
    is_signed_in: bool  # whether the organiser is signed in
    players: str
    is_unfolded: bool  # whether the settings are
    seeking: bool  # whether the lobby offers the free seats
    pace: str  # days for each move; “0” is no limit
    paces: tuple[str, ...]  # to choose from
    time: TimeFields
    late: tuple[str, ...]  # what may happen to a late player, to choose from
    luck: str
    lucks: tuple[str, ...]
    watched: bool
    shown: bool  # whether the lobby shows the game to all
    hints: bool
    options: tuple[OptionField, ...]
    nonce: str  # the organiser's word for the dice


class BotGamePage(Struct, frozen=True):
    """Everything `bot_game.html` shows."""

    game: Meta
    title: str
    error: Refused | None
    key: str
    name: str
    address: str
    bots: str
    choices: tuple[str, ...]  # of the number of bots
    level: str


@new_table.get("/new/<name>")
def show(name: str) -> Response:
    """Show the form for a new table, with the settings of the last one; a signed-in player is filled in."""
    person = load_signed_in()
    own = {"name": person.name, "address": person.address} if person else {}
    return _render_new_table(name, {**_load_settings(name), **own})


@new_table.post("/new/<name>")
def open_table(name: str) -> Reply:
    """Open the table and go to the first player's seat."""
    form = request.form.to_dict()
    try:
        guests = new_table_form.parse_guests(form)
    except Refused as refused:
        return _render_new_table(name, form, refused)
    try:
        opened = opening.open_table(get_app(), _make_new_table(name, form, guests))
    except Refused as refused:
        return _render_new_table(name, form, refused, is_unfolded=True)  # a setting may be the reason
    links = [link for link in opened.links if link]  # bots have none; the organiser's is the first
    response = redirect(url_for("table.show", link=links[0]), 303)
    _store_settings(response, name, form)
    return response


@new_table.post("/new/<name>/players")
def add_player(name: str) -> Response:
    """Add a bot or a free seat to the box for players; without a script, the button leads here."""
    form = request.form.to_dict()
    line = translate(get_language(), LINES.get(form.get("add", ""), guest_list.BOT))
    return _render_new_table(name, {**form, "players": guest_list.append_line(form.get("players", ""), line)})


@new_table.get("/new/<name>/players")
def return_to_form(name: str) -> Reply:
    """Go back to the form, for instance after the language was changed there."""
    return redirect(url_for("new_table.show", name=name))


def _make_new_table(name: str, form: Mapping[str, str], guests: list[Invitee]) -> NewTable:
    """Put the table together that the form describes, for the visitor of this request."""
    person = load_signed_in()
    return NewTable(
        game=name,
        chosen=new_table_form.parse_options(name, form),
        guests=guests,
        clock=opening.make_clock(get_app(), new_table_form.parse_clock(form)),
        language=get_language(),
        key=form.get("key", "")[:MAX_KEY_CHARS],
        visitor=name_visitor(),
        watched=new_table_form.is_watched(form),
        signed_in=person.proof if person else None,
        luck=new_table_form.parse_chance_source(form),
        seeking=bool(form.get("seeking")),
        shown=bool(form.get("shown")),
    )


def _parse_cookie() -> dict[str, str]:
    """Return what the cookie stores: settings such as `pace`, and rules of games, named “GAME:option.NAME”."""
    return dict(parse_qsl(request.cookies.get(COOKIE, "")[:COOKIE_MAX_CHARS]))


def _load_settings(name: str) -> dict[str, str]:
    """Load the settings of the last table; the rules are those of the last table of this game."""
    loaded = dict[str, str]()
    prefix = f"{name}:"
    for key, value in _parse_cookie().items():
        if key in SETTINGS:
            loaded[key] = value
        elif key.startswith(prefix):
            loaded[key.removeprefix(prefix)] = value
    return loaded


def _store_settings(response: Reply, name: str, form: Mapping[str, str]) -> None:
    """Store the settings of this table on the device, with its rules and those of other games; no rules if too long."""
    settings = {key: form[key] for key in SETTINGS if form.get(key)}
    rules = dict[str, str]()
    for key, value in form.items():
        if key.startswith(RULE_FIELDS) and key not in SETTINGS:  # “asked.watched” is a setting
            rules[f"{name}:{key}"] = value
    for key, value in _parse_cookie().items():
        if ":" in key and not key.startswith(f"{name}:"):  # a rule of another game
            rules[key] = value
    text = urlencode({**settings, **rules})
    if len(text) > COOKIE_MAX_CHARS:
        text = urlencode(settings)
    response.set_cookie(
        COOKIE,
        text,
        max_age=COOKIE_MAX_AGE_S,
        path="/new",
        secure=get_app().settings.address.startswith("https"),
        httponly=True,
        samesite="Lax",
    )


@new_table.get("/play/<name>")
def show_bot_game(name: str) -> Response:
    """Show the form for a game against bots; a signed-in player's name and address are filled in."""
    return _render_bot_game(name)


@new_table.post("/play/<name>")
def open_bot_game(name: str) -> Reply:
    """Open a table with bots, sit down, and go to the board."""
    form = request.form
    person = load_signed_in()
    try:
        me = Invitee(form.get("name", ""), form.get("address", ""), nonce=secrets.token_hex(8), who="person")
        level = new_table_form.parse_level(form.get("level", ""))
        bots = [Invitee(f"Bot {number}", level=level) for number in range(1, _parse_bots(name, form) + 1)]
        new = NewTable(
            game=name,
            chosen={},
            guests=[me, *bots],
            clock=Clock(pace=0),
            language=get_language(),
            key=form.get("key", "")[:MAX_KEY_CHARS],
            visitor=name_visitor(),
            signed_in=person.proof if person else None,
        )
        opened = opening.open_table(get_app(), new)
    except Refused as refused:
        return _render_bot_game(name, refused)
    return redirect(url_for("table.show", link=opened.links[0]), 303)


@new_table.post("/t/<link>/again")
def play_again(link: str) -> Reply:
    """Open a new table for the same players, and go to one's seat there."""
    own = joining.open_rematch(get_app(), link, get_language())
    return redirect(url_for("table.show", link=own), 303)


# The number of bots


def _parse_bots(name: str, form: Mapping[str, str]) -> int:
    """Return the number of bots, which may have digits of any script; raise Refused if the game does not allow it."""
    text = form.get("bots", "")
    is_number = text.isdecimal() and len(text) <= MAX_BOT_DIGITS
    if not is_number or int(text) not in _list_bot_numbers(name):
        raise Refused("Please choose how many bots play.")
    return int(text)


# What is shown


def _render_new_table(
    name: str, form: Mapping[str, str], error: Refused | None = None, *, is_unfolded: bool = False
) -> Response:
    """Render the form as it was sent, or with the settings that it is to have at first.

    A new form gets a `key`, so that it opens one table even if it is sent twice; `nonce` is the organiser's word for
    the dice. The lobby offers the seats of a table that is `seeking`, and shows the game of a table that is `shown`.
    """
    game = find_game(name).META
    page = NewTablePage(
        game=game,
        title=translate_title(game),
        error=error,
        key=form.get("key") or secrets.token_hex(16),
        name=form.get("name", ""),
        address=form.get("address", ""),
        is_signed_in=load_signed_in() is not None,
        players=form.get("players", ""),
        is_unfolded=is_unfolded,
        seeking=bool(form.get("seeking")),
        pace=form.get("pace", DEFAULT_PACE),
        paces=tuple(new_table_form.PACES),
        time=_make_time_fields(form),
        late=new_table_form.LATE_CHOICES,
        luck=form.get("luck", get_app().settings.luck),
        lucks=LUCK_CHOICES,
        watched=new_table_form.is_watched(form),
        shown=bool(form.get("shown")),
        hints=bool(form.get("hints")),
        options=tuple(_make_option_field(game.name, option, form) for option in describe(game.options)),
        nonce=form.get("nonce", ""),
    )
    return render("new_table.html", page, 422 if error else 200)


def _make_time_fields(form: Mapping[str, str]) -> TimeFields:
    """Return the part about time as the form has it; what it lacks has its default."""
    return TimeFields(
        late=form.get("late", "move"),
        bank=form.get("bank", ""),
        increment=form.get("increment", DEFAULT_INCREMENT),
        grace=form.get("grace", ""),
        offer_after=form.get("offer_after", ""),
        spare_weekends=bool(form.get("spare_weekends")),
        automatic=bool(form.get("automatic")),
    )


def _make_option_field(game: str, option: Option, form: Mapping[str, str]) -> OptionField:
    """Make the field of an option: as the form sent it, else with the default."""
    default, sent = str(option.default), form.get(f"option.{option.name}")
    chosen = default if sent is None else sent
    was_asked = bool(form.get(f"asked.{option.name}"))  # a switch that is off sends nothing
    is_on = (sent == "on") if was_asked else bool(option.default)
    is_switch = option.kind == "switch"
    is_changed = (is_on != option.default) if is_switch else (chosen != default)
    about = translate_in_game(get_language(), game, option.about)
    return OptionField(
        name=option.name,
        kind=_choose_kind_of_field(option),
        label=translate_in_game(get_language(), game, option.label),
        about=rulebook.link_citations(about, url_for("rules.show", name=game)),
        chosen=chosen,
        is_on=is_on,
        is_changed=is_changed,
        values=tuple(_make_value(game, value, chosen, default) for value in map(str, option.values)),
        least=option.least,
        most=option.most,
    )


def _make_value(game: str, value: str, chosen: str, default: str) -> OptionValue:
    label = translate_in_game(get_language(), game, value.replace("_", " "))
    return OptionValue(value, label, value == chosen, value == default)


def _choose_kind_of_field(option: Option) -> Literal["switch", "radio", "list", "number"]:
    """Choose a field by the kind of an option, and by how many values it has."""
    if option.kind == "switch":
        return "switch"
    if option.kind == "word" and len(option.values) <= RADIO_VALUES:
        return "radio"
    return "number" if len(option.values) > LIST_VALUES else "list"


def _render_bot_game(name: str, error: Refused | None = None) -> Response:
    """Render the form as it was sent, or as the address fills it in, else with the signed-in player's name."""
    game = find_game(name).META
    person = load_signed_in()
    form = request.values
    choices = tuple(map(str, _list_bot_numbers(name)))
    page = BotGamePage(
        game=game,
        title=translate_title(game),
        error=error,
        key=request.form.get("key") or secrets.token_hex(16),  # not from an address, which several people may open
        name=form.get("name", person.name if person else ""),
        address=form.get("address", person.address if person else ""),
        bots=form.get("bots", choices[0]),
        choices=choices,
        level=form.get("level", "normal"),
    )
    return render("bot_game.html", page, 422 if error else 200)


def _list_bot_numbers(name: str) -> list[int]:
    """Return the numbers of bots that this game allows with its default options."""
    game = find_game(name)
    options = game.META.options()
    return [seats - 1 for seats in game.META.seats if seats > 1 and not objection(game, options, seats)]
