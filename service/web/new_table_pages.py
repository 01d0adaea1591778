"""Opening tables: the form for a new table, the short form for a game against bots, and the rematch."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Literal

from flask import Blueprint, Response, redirect, request, url_for
from markupsafe import Markup
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine.game import Meta, objection
from engine.options import Option, describe
from engine.refusal import Refused
from service.settings import DAY_S, LUCK_CHOICES
from service.tables import access, joining, opening
from service.tables.opening import ChanceSource, Invitee, NewTable, Strength, Who
from service.text import numbers, rulebook
from service.text.languages import LANGUAGES, translate_in_game
from service.timing import HOUR_S, Clock
from service.web.account_pages import visitor
from service.web.lobby_pages import find_game
from service.web.rendering import game_title, get_app, language, name_visitor, render

new_table = Blueprint("new_table", __name__)
GUEST_ROWS = 8
ROWS_SHOWN = 3  # at least; the others are folded
RADIO_VALUES = 4  # an option with more values is a list
LIST_VALUES = 24  # an option with more values is a number
PACES = {"1": DAY_S, "3": 3 * DAY_S, "7": 7 * DAY_S, "0": 0}
DEFAULT_PACE = "3"
LATE_CHOICES = ("move", "seat", "resign", "skip")


class GuestRow(Struct, frozen=True):
    """A row of the form, as filled in so far."""

    name: str = ""
    address: str = ""
    who: Who = "person"
    level: Strength = ""
    language: str = ""

    @property
    def is_filled(self) -> bool:
        return bool(self.name.strip() or self.address.strip() or self.who != "person")


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
    is_on: bool
    values: tuple[OptionValue, ...]
    least: int | None
    most: int | None


class NewTablePage(Struct, frozen=True):
    """Everything `new.html` shows."""

    game: Meta
    title: str
    error: Refused | None
    key: str
    guests: tuple[GuestRow, ...]
    rows_shown: int
    seeking: bool
    pace: str
    paces: tuple[str, ...]
    time: TimeFields
    late: tuple[str, ...]
    luck: str
    lucks: tuple[str, ...]
    watched: bool
    shown: bool
    hints: bool
    options: tuple[OptionField, ...]
    nonce: str


class BotGamePage(Struct, frozen=True):
    """Everything `play.html` shows."""

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
    """Show the form for a new table; a signed-in player's name and address are filled in."""
    person = visitor()
    return _new_table_page(name, {"name.0": person.name, "address.0": person.address} if person else {})


@new_table.post("/new/<name>")
def open_table(name: str) -> Reply:
    """Open the table and go to the first player's seat."""
    form, person = request.form, visitor()
    try:
        new = NewTable(
            game=name,
            chosen=_parse_options(name, form),
            guests=_parse_guests(form),
            clock=opening.make_clock(get_app(), _parse_clock(form)),
            language=language(),
            key=form.get("key", "")[:80],
            visitor=name_visitor(),
            watched=_is_watched(form),
            signed_in=person.proof if person else None,
            luck=_parse_luck(form),
            seeking=bool(form.get("seeking")),
            shown=bool(form.get("shown")),
        )
        opened = opening.open_table(get_app(), new)
    except Refused as refused:
        return _new_table_page(name, form, refused)
    first = next(link for link in opened.links if link)
    return redirect(url_for("table.show", link=first), 303)


@new_table.get("/play/<name>")
def show_bot_game(name: str) -> Response:
    """Show the form for a game against bots; a signed-in player's name and address are filled in."""
    return _bot_game_page(name)


@new_table.post("/play/<name>")
def open_bot_game(name: str) -> Reply:
    """Open a table with bots, sit down, and go to the board."""
    form, person = request.form, visitor()
    try:
        me = Invitee(form.get("name", ""), form.get("address", ""), secrets.token_hex(8), "person")
        level = parse_level(form.get("level", ""))
        bots = [Invitee(f"Bot {number}", level=level) for number in range(1, _parse_bots(name, form) + 1)]
        new = NewTable(
            game=name,
            chosen={},
            guests=[me, *bots],
            clock=Clock(0),
            language=language(),
            key=form.get("key", "")[:80],
            visitor=name_visitor(),
            signed_in=person.proof if person else None,
        )
        opened = opening.open_table(get_app(), new)
    except Refused as refused:
        return _bot_game_page(name, refused)
    return redirect(url_for("table.show", link=opened.links[0]), 303)


@new_table.post("/t/<link>/again")
def play_again(link: str) -> Reply:
    """Open a new table for the same players, and go to one's seat there."""
    own = joining.open_rematch(get_app(), access.find(get_app(), link), language())
    return redirect(url_for("table.show", link=own), 303)


# What was sent


def _parse_options(name: str, form: Mapping[str, str]) -> dict[str, str]:
    """Return the chosen options of the game; a checkbox that the form showed and did not send is off."""
    chosen = dict[str, str]()
    for option in describe(find_game(name).META.options):
        sent = form.get(f"option.{option.name}", "")
        if option.kind == "switch" and form.get(f"asked.{option.name}"):
            chosen[option.name] = "on" if sent else "off"
        elif sent:
            chosen[option.name] = sent
    return chosen


def _parse_luck(form: Mapping[str, str]) -> ChanceSource:
    """Return where the dice come from; empty, which means the server's default, if the form does not say."""
    luck: Any = form.get("luck", "")
    return luck if luck in LUCK_CHOICES else ""


def _parse_guests(form: Mapping[str, str]) -> list[Invitee]:
    """Return the guests of the form; the first person opens the table and sits down at once."""
    guests = [guest for guest in _guest_rows(form) if guest.is_filled]
    for guest in guests:
        if guest.who == "person" and not guest.address.strip():
            raise Refused("Please give an e-mail address for {name}, or choose “a bot”.", name=guest.name)
    invited = [_invite(guest, number) for number, guest in enumerate(guests)]
    return opening.give_first_word(invited, form.get("nonce", "").strip() or secrets.token_hex(8))


def _invite(guest: GuestRow, number: int) -> Invitee:
    """Make a guest of a row; a bot without a name is called by its number."""
    name = guest.name if guest.name.strip() or guest.who != "bot" else f"Bot {number}"
    return Invitee(name, guest.address, who=guest.who, level=guest.level, language=guest.language)


def _parse_clock(form: Mapping[str, str]) -> Clock:
    """Return how time is kept; a bank of time replaces the time for each move."""
    bank = _parse_number(form, "bank", 365) * DAY_S
    late: Any = form.get("late", "")
    return Clock(
        pace=0 if bank else PACES.get(form.get("pace", ""), 3 * DAY_S),
        bank=bank,
        increment=_parse_number(form, "increment", 720) * HOUR_S,
        grace=_parse_number(form, "grace", 168) * HOUR_S,
        late=late if late in LATE_CHOICES else "move",
        offer_after=_parse_number(form, "offer_after", 20),
        spare_weekends=bool(form.get("spare_weekends")),
        automatic=bool(form.get("automatic")),
        hints=bool(form.get("hints")),
    )


def _is_watched(form: Mapping[str, str]) -> bool:
    """Return whether spectators are allowed; yes, if the form did not ask."""
    return bool(form.get("watched")) or not form.get("asked.watched")


def _parse_number(form: Mapping[str, str], name: str, most: int) -> int:
    """Parse a whole number of the form; an empty field is 0."""
    text = form.get(name, "").strip()
    if not text:
        return 0
    number = numbers.parse_int(text, most)
    if number is None:
        raise Refused("Please give a whole number from 0 to {most}, not “{text}”.", most=most, text=text[:20])
    return number


def _parse_bots(name: str, form: Mapping[str, str]) -> int:
    text = form.get("bots", "")
    number = int(text) if text.isdecimal() and len(text) <= 2 else None  # digits of any script
    if number not in _bot_numbers(name):
        raise Refused("Please choose how many bots play.")
    return number


def _parse_who(text: str) -> Who:
    """Return the kind of guest that a form names; a person if it names none."""
    match text:
        case "bot" | "anybody":
            return text
    return "person"


def parse_level(text: str) -> Strength:
    """Return the level of a bot that a form names; empty, which means normal, if it names none."""
    match text:
        case "easy" | "normal" | "strong":
            return text
    return ""


# What is shown


def _new_table_page(name: str, form: Mapping[str, str], error: Refused | None = None) -> Response:
    game = find_game(name).META
    guests = _guest_rows(form)[: max(game.seats)]
    page = NewTablePage(
        game=game,
        title=game_title(game),
        error=error,
        key=form.get("key") or secrets.token_hex(16),
        guests=tuple(guests),
        rows_shown=max(min(game.seats) + 1, ROWS_SHOWN),
        seeking=bool(form.get("seeking")),
        pace=form.get("pace", DEFAULT_PACE),
        paces=tuple(PACES),
        time=_time_fields(form),
        late=LATE_CHOICES,
        luck=form.get("luck", get_app().settings.luck),
        lucks=LUCK_CHOICES,
        watched=_is_watched(form),
        shown=bool(form.get("shown")),
        hints=bool(form.get("hints")),
        options=tuple(_option_field(game.name, option, form) for option in describe(game.options)),
        nonce=form.get("nonce", ""),
    )
    return render("new.html", page, 422 if error else 200)


def _guest_rows(form: Mapping[str, str]) -> list[GuestRow]:
    return [
        GuestRow(
            form.get(f"name.{row}", ""),
            form.get(f"address.{row}", ""),
            _parse_who(form.get(f"who.{row}", "")),
            parse_level(form.get(f"level.{row}", "")),
            chosen if (chosen := form.get(f"language.{row}", "")) in LANGUAGES else "",
        )
        for row in range(GUEST_ROWS)
    ]


def _time_fields(form: Mapping[str, str]) -> TimeFields:
    return TimeFields(
        late=form.get("late", "move"),
        bank=form.get("bank", ""),
        increment=form.get("increment", "24"),
        grace=form.get("grace", ""),
        offer_after=form.get("offer_after", ""),
        spare_weekends=bool(form.get("spare_weekends")),
        automatic=bool(form.get("automatic")),
    )


def _option_field(game: str, option: Option, form: Mapping[str, str]) -> OptionField:
    default = str(option.default)
    chosen = form.get(f"option.{option.name}", default)
    switched = form.get(f"option.{option.name}") == "on" if form.get(f"asked.{option.name}") else bool(option.default)
    about = translate_in_game(language(), game, option.about)
    return OptionField(
        name=option.name,
        kind=_kind_of_field(option),
        label=translate_in_game(language(), game, option.label),
        about=rulebook.link_citations(about, url_for("rules.show", name=game)),
        chosen=chosen,
        is_on=switched,
        values=tuple(
            OptionValue(
                value, translate_in_game(language(), game, value.replace("_", " ")), value == chosen, value == default
            )
            for value in map(str, option.values)
        ),
        least=option.least,
        most=option.most,
    )


def _kind_of_field(option: Option) -> Literal["switch", "radio", "list", "number"]:
    if option.kind == "switch":
        return "switch"
    if option.kind == "word" and len(option.values) <= RADIO_VALUES:
        return "radio"
    return "number" if len(option.values) > LIST_VALUES else "list"


def _bot_game_page(name: str, error: Refused | None = None) -> Response:
    game, person, form = find_game(name).META, visitor(), request.values
    choices = tuple(map(str, _bot_numbers(name)))
    page = BotGamePage(
        game=game,
        title=game_title(game),
        error=error,
        key=request.form.get("key") or secrets.token_hex(16),
        name=form.get("name", person.name if person else ""),
        address=form.get("address", person.address if person else ""),
        bots=form.get("bots", choices[0]),
        choices=choices,
        level=form.get("level", "normal"),
    )
    return render("play.html", page, 422 if error else 200)


def _bot_numbers(name: str) -> list[int]:
    """Return the numbers of bots that this game allows with its default options."""
    game = find_game(name)
    options = game.META.options()
    return [seats - 1 for seats in game.META.seats if seats > 1 and not objection(game, options, seats)]
