"""Letter settings and quiet hours, behind the capability link in the foot of every letter."""

from __future__ import annotations

import functools
from typing import Any, get_args
from zoneinfo import available_timezones

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.accounts import preferences
from service.accounts.preferences import Recipient, TableOfRecipient
from service.people import vacations
from service.people.letter_settings import LetterSettings, Mode, TableLetterSettings
from service.text.languages import LANGUAGES, in_game
from service.timing import HOUR, Calendar
from service.web.language_pages import spoken
from service.web.rendering import get_app, language, page, parse_small_int

letters = Blueprint("preferences", __name__, url_prefix="/wishes/<token>")
MODES: tuple[Mode, ...] = get_args(Mode)
CONTINENTS = "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific".split()


@letters.get("")
def show(token: str) -> Response:
    """All settings; with `?table=` also those of one table."""
    return _page(_reader(token))


@letters.post("")
def keep(token: str) -> Reply:
    """Store the settings for all tables."""
    one = _reader(token)
    try:
        preferences.keep(get_app(), one, _settings(one), _calendar(), request.form.get("language", one.language))
    except Refused as refused:
        return _page(one, refused)
    return _back(token)


@letters.post("/here")
def keep_here(token: str) -> Reply:
    """Store the settings of one table."""
    form = request.form
    plain: bool | UnsetType = {"yes": True, "no": False}.get(form.get("plain", ""), UNSET)
    letters = _mode(form["letters"]) if form.get("letters") else UNSET
    one = _reader(token)
    known = preferences.seated(get_app(), one, _table())
    before = known.otherwise if known else TableLetterSettings()
    preferences.keep_at(get_app(), one, _table(), replace(before, letters=letters, plain=plain))
    return _back(token)


@letters.post("/vacation")
def leave(token: str) -> Reply:
    """Go on vacation, at all tables."""
    one, days = _reader(token), [request.form.get(name, "") for name in ("first", "last")]
    try:
        preferences.leave(get_app(), one, vacations.read(days))
    except Refused as refused:
        return _page(one, refused)
    return _back(token)


@letters.post("/home")
def come_home(token: str) -> Reply:
    """Come home early, or do not go."""
    one = _reader(token)
    try:
        preferences.come_home(get_app(), one)
    except Refused as refused:
        return _page(one, refused)
    return _back(token)


@letters.post("/again")
def again(token: str) -> Reply:
    """Write to this address again, though letters to it came back."""
    preferences.again(get_app(), _reader(token))
    return _back(token)


@letters.get("/stop")
def ask(token: str) -> Response:
    """One button, which stops the letters of a table, or all: mail scanners follow links, so a look stops nothing."""
    return _stop_page(_reader(token))


@letters.post("/stop")
def stop(token: str) -> Response:
    """Stop them, as the button does and as mail programs do by themselves (RFC 8058); twice is as good as once."""
    one = _reader(token)
    before = preferences.stop(get_app(), one, _table())
    return _stop_page(one, stopped=True, before="turn" if before == "none" else before)


@letters.post("/resume")
def resume(token: str) -> Reply:
    """Have letters again as before."""
    preferences.set_letters(get_app(), _reader(token), _mode(request.form.get("letters", "")), _table())
    return _back(token)


@letters.get("/language")
def offer(token: str) -> Response:
    """One button, in the language that it chooses; a GET changes nothing, because mail scanners follow links."""
    tongue = request.args.get("in", "")
    _reader(token)
    return page("language.html", tongue=tongue if tongue in LANGUAGES else "", token=token)


@letters.post("/language")
def speak(token: str) -> Reply:
    """Write to this person in this language, and show him the pages in it too."""
    tongue = request.form.get("language", "")
    preferences.speak(get_app(), _reader(token), tongue)
    return spoken(redirect(url_for("preferences.show", token=token, kept=1), 303), tongue)


def _reader(token: str) -> Recipient:
    return preferences.reader(get_app(), token)


def _table() -> str:
    return request.args.get("table", "")


def _at(one: Recipient) -> dict[str, Any]:
    """The table that is meant, if the reader sits there, and what its game is called."""
    table = _table()
    found = preferences.seated(get_app(), one, table) if table else None
    return {"at": found, "title": _title(found), "table": table}


def _title(found: TableOfRecipient | None) -> str:
    return in_game(language(), found.game, found.title) if found else ""


def _back(token: str) -> Reply:
    return redirect(url_for("preferences.show", token=token, table=_table() or None, kept=1), 303)


def _page(one: Recipient, error: Refused | None = None) -> Response:
    """The page with the present settings, or with what was wrong in the form."""
    return page(
        "preferences.html",
        422 if error else 200,
        token=get_app().links.preferences(one.id),
        reader=one,
        letter_settings=one.settings,
        calendar=one.calendar,
        vacations=preferences.away(get_app(), one),
        zones=zones(),
        **_at(one),
        form=request.form,
        error=error,
        kept=bool(request.args.get("kept")),
    )


def _stop_page(one: Recipient, **words: Any) -> Response:
    if _table():
        preferences.check_seated(get_app(), one, _table())
    return page("stop.html", token=get_app().links.preferences(one.id), **_at(one), **words)


def _settings(one: Recipient) -> LetterSettings:
    form = request.form
    hour = parse_small_int(form.get("hour") or str(one.settings.hour))
    if hour > 23:
        raise Refused("A day has the hours 0 to 23.")
    return LetterSettings(_mode(form.get("letters", "")), hour, bool(form.get("plain")), bool(form.get("at_once")))


def _mode(text: str) -> Mode:
    if text not in MODES:
        raise Refused("Letters come for every turn, once a day, as reminders alone, or not at all; please choose one.")
    return text


def _calendar() -> Calendar:
    """The calendar that the form describes."""
    form = request.form
    hours = [form.get(name, "") for name in ("quiet_from", "quiet_until")]
    quiet = (parse_small_int(hours[0]), parse_small_int(hours[1])) if all(hours) and hours[0] != hours[1] else None
    remind = tuple(sorted({parse_small_int(word) * HOUR for word in form.get("remind", "").split()}, reverse=True))
    return Calendar(form.get("zone", "").strip() or "UTC", quiet, bool(form.get("weekends")), remind)


@functools.cache
def zones() -> tuple[str, ...]:
    """The time zones that are called after places."""
    return tuple(sorted(name for name in available_timezones() if name.partition("/")[0] in CONTINENTS))
