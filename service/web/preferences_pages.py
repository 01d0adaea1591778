"""Letter settings, quiet hours and vacations, behind the link at the foot of every letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from flask import Blueprint, Response, redirect, request, url_for
from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service import timing
from service.accounts import preferences
from service.accounts.preferences import Recipient, TableOfRecipient
from service.notify import channels, web_push, webhooks
from service.notify.webhooks import Target
from service.numbers import parse_small_int
from service.people import letter_settings
from service.people.letter_settings import LetterSettings, Mode, Span
from service.store.push_keys import PUSH
from service.tables.access import Unknown
from service.text.languages import translate_in_game
from service.timing import HOUR_S, Calendar
from service.web import channel_pages
from service.web.channel_pages import ChannelGrid
from service.web.current_request import LANGUAGE_COOKIE, find_language_argument, get_app, get_language
from service.web.receiver_forms import TriedReceiver, describe_outcome, works_again
from service.web.rendering import join_names, render, set_cookie

letters = Blueprint("preferences", __name__, url_prefix="/wishes/<token>")
MODES: tuple[Mode, ...] = get_args(Mode)


class SettingsForm(Struct, frozen=True):
    """The settings for all tables as the form shows them: the stored ones, or those that were typed wrongly."""

    letters: str
    hour: str
    plain: bool
    language: str
    remind: str  # hours before a deadline, with spaces between them
    zone: str
    zone_is_guessed: bool  # whether a script may fill in the browser's zone
    quiet_from: str
    quiet_until: str
    weekends: bool
    at_once: bool
    talk: bool
    mail_waits: bool
    presence: bool


class TableSettings(Struct, frozen=True):
    """The settings of one table; empty ones are as everywhere."""

    title: str
    names: str  # of the other players
    letters: str
    plain: str  # yes or no


class PreferencesPage(Struct, frozen=True):
    """Everything `preferences.html` shows."""

    token: str
    table: str | None
    stored: bool
    error: Refused | None
    bounced: bool
    at_table: TableSettings | None
    form: SettingsForm
    zones: tuple[str, ...]
    vacations: tuple[Span, ...]
    vacation_days: int  # in a year
    first_day: str
    last_day: str
    channels: ChannelGrid
    tried: TriedReceiver | None


class StopPage(Struct, frozen=True):
    """Everything `stop_letters.html` shows: the button that stops the letters of a table, or all."""

    token: str
    table: str | None
    at_table: TableSettings | None


class StoppedPage(Struct, frozen=True):
    """Everything `letters_stopped.html` shows; `former_letters` is when letters came until now, to go back to it."""

    token: str
    table: str | None
    at_table: TableSettings | None
    former_letters: Mode


class LanguagePage(Struct, frozen=True):
    """Everything `language.html` shows: buttons that choose the language of letters."""

    token: str


@letters.get("")
def show(token: str) -> Response:
    """Show all settings; with `?table=` also those of one table."""
    with get_app().store.reading() as db:
        page = _load_page(db, token, preferences.load_recipient(get_app(), db, token))
    return render("preferences.html", page)


@letters.post("")
def store(token: str) -> Reply:
    """Store the settings for all tables."""
    recipient = _find_recipient(token)
    form = request.form
    try:
        settings, calendar = _parse_settings(form, recipient), _parse_calendar(form)
        language = form.get("language", recipient.language)
        preferences.store_preferences(get_app(), recipient, settings, calendar, language)
    except Refused as refused:
        return _render_refusal(token, recipient, refused)
    return _show_stored(token)


@letters.post("/here")
def store_at_table(token: str) -> Reply:
    """Store the settings of one table; UNSET, for an empty field, means the person's general setting."""
    form = request.form
    plain: bool | UnsetType = {"yes": True, "no": False}.get(form.get("plain", ""), UNSET)
    mode = _parse_mode(form["letters"]) if form.get("letters") else UNSET
    recipient = _find_recipient(token)
    preferences.change_table_settings(get_app(), recipient, _get_table_id() or "", letters=mode, plain=plain)
    return _show_stored(token)


@letters.post("/vacation")
def start_vacation(token: str) -> Reply:
    """Go on vacation, at every table."""
    recipient = _find_recipient(token)
    form = request.form
    days = [form.get("first", ""), form.get("last", "")]
    try:
        preferences.start_vacation(get_app(), recipient, letter_settings.parse_vacation(days))
    except Refused as refused:
        return _render_refusal(token, recipient, refused)
    return _show_stored(token)


@letters.post("/home")
def end_vacation(token: str) -> Reply:
    """End the current vacation, or cancel the next one."""
    recipient = _find_recipient(token)
    try:
        preferences.end_vacation(get_app(), recipient)
    except Refused as refused:
        return _render_refusal(token, recipient, refused)
    return _show_stored(token)


@letters.post("/again")
def write_again(token: str) -> Reply:
    """Write to this address again, though letters to it came back."""
    preferences.resume_letters(get_app(), _find_recipient(token))
    return _show_stored(token)


@letters.post("/channels/test")
def try_channel(token: str) -> Response:
    """Send a test to a browser, a webhook or a chat, and show its answer.

    After a test that works the channel is on again; a channel that is gone is removed or switched off.
    """
    app = get_app()
    with app.store.reading() as db:
        recipient = preferences.load_recipient(app, db, token)
        row = channels.find_own(db, recipient.person, channel_pages.parse_channel_number())
    if row is None:
        raise Unknown("This receiver is not in your list any more.")
    if row.kind == PUSH:
        outcome = web_push.try_out(app, row, recipient.language)
    else:
        outcome = webhooks.try_out(app, Target(row.kind, row.address, row.secret), recipient.language)
    is_gone = outcome.outcome == "gone"
    is_mended = works_again(row, outcome)
    transaction = app.store.writing() if is_gone or is_mended else app.store.reading()
    with transaction as db:
        if is_gone:
            channels.record_gone(db, row, app.now(), outcome.summary)
        elif is_mended:
            channels.switch_on(db, row)
        page = _load_page(db, token, recipient, tried=describe_outcome(row.label, outcome))
    return render("preferences.html", page)


@letters.get("/stop")
def ask_to_stop(token: str) -> Response:
    """Show a button that stops the letters of a table, or all; mail scanners follow links, so a GET stops nothing."""
    table = _get_table_id()
    with get_app().store.reading() as db:
        recipient = preferences.load_recipient(get_app(), db, token)
        at_table = _describe_table(preferences.require_table(db, recipient, table)) if table else None
    return render("stop_letters.html", StopPage(token, table, at_table))


@letters.post("/stop")
def stop(token: str) -> Response:
    """Stop the letters, for the button and for mail programs (RFC 8058); a second request changes nothing."""
    recipient, table = _find_recipient(token), _get_table_id()
    with get_app().store.writing() as db:
        former_letters = preferences.stop_letters(db, recipient, table or "")
        at_table = _load_table_settings(db, recipient, table)
    if former_letters == "none":  # a second request: what the first one stopped is not known any more
        former_letters = "turn"
    return render("letters_stopped.html", StoppedPage(token, table, at_table, former_letters))


@letters.post("/resume")
def restore_letters(token: str) -> Reply:
    """Send letters again as before they were stopped."""
    recipient, mode = _find_recipient(token), _parse_mode(request.form.get("letters", ""))
    preferences.set_letters(get_app(), recipient, mode, _get_table_id() or "")
    return _show_stored(token)


@letters.get("/language")
def ask_for_language(token: str) -> Response:
    """Show a button in the language that it chooses; mail scanners follow links, so a GET changes nothing."""
    _find_recipient(token)  # refuses a wrong token
    return render("language.html", LanguagePage(token), in_language=find_language_argument())


@letters.post("/language")
def set_language(token: str) -> Reply:
    """Write to this person in this language, and show the pages in it too."""
    chosen = request.form.get("language", "")
    preferences.set_language(get_app(), _find_recipient(token), chosen)
    return set_cookie(redirect(url_for("preferences.show", token=token, stored=1), 303), LANGUAGE_COOKIE, chosen)


def _find_recipient(token: str) -> Recipient:
    return preferences.find_recipient(get_app(), token)


def _get_table_id() -> str | None:
    """Return the id of the table that the address names; None if it names none."""
    return request.args.get("table") or None


def _show_stored(token: str) -> Reply:
    return redirect(url_for("preferences.show", token=token, table=_get_table_id(), stored=1), 303)


# What was sent


def _parse_settings(form: Mapping[str, str], recipient: Recipient) -> LetterSettings:
    """Parse the letter settings of the form; the hour of the digest stays as it is if the form leaves it empty."""
    hour = parse_small_int(form.get("hour") or str(recipient.settings.hour))
    if hour > 23:
        raise Refused("A day has the hours 0 to 23.")
    mode = _parse_mode(form.get("letters", ""))
    ticked = {name: bool(form.get(name)) for name in ("plain", "at_once", "talk", "mail_waits", "presence")}
    return LetterSettings(mode, hour, **ticked)


def _parse_mode(text: str) -> Mode:
    """Parse the choice when letters come; raise Refused if it is none."""
    if text not in MODES:
        raise Refused("Letters come for every turn, once a day, as reminders alone, or not at all; please choose one.")
    return text


def _parse_calendar(form: Mapping[str, str]) -> Calendar:
    """Parse the calendar of the form; quiet hours need two different hours, and the earliest reminder comes first."""
    begin, end = form.get("quiet_from", ""), form.get("quiet_until", "")
    has_quiet_hours = begin and end and begin != end
    quiet = (parse_small_int(begin), parse_small_int(end)) if has_quiet_hours else None
    hours_before = {parse_small_int(word) for word in form.get("remind", "").split()}
    return Calendar(
        zone=form.get("zone", "").strip() or "UTC",
        quiet=quiet,
        weekends=bool(form.get("weekends")),
        remind=tuple(hours * HOUR_S for hours in sorted(hours_before, reverse=True)),
    )


# What is shown


def _render_refusal(token: str, recipient: Recipient, error: Refused) -> Response:
    """Render the page again, with the reason why one of its forms was refused."""
    with get_app().store.reading() as db:
        page = _load_page(db, token, recipient, error=error)
    return render("preferences.html", page, 422)


def _load_page(
    db: Connection,
    token: str,
    recipient: Recipient,
    *,
    error: Refused | None = None,
    tried: TriedReceiver | None = None,
) -> PreferencesPage:
    """Load the page; `error` is why one of its forms was refused, and `tried` is the answer to a test."""
    form = request.form
    table = _get_table_id()
    was_form_refused = error is not None and "zone" in form  # the other forms of the page have no zone
    return PreferencesPage(
        token=token,
        table=table,
        stored=bool(request.args.get("stored")),
        error=error,
        bounced=recipient.bounced,
        at_table=_load_table_settings(db, recipient, table),
        form=_copy_form(form) if was_form_refused else _make_form(recipient),
        zones=timing.list_zones(),
        vacations=tuple(preferences.list_vacations(get_app(), db, recipient)),
        vacation_days=get_app().settings.vacation,
        first_day=form.get("first", ""),
        last_day=form.get("last", ""),
        channels=channel_pages.load_grid(db, recipient),
        tried=tried,
    )


def _load_table_settings(db: Connection, recipient: Recipient, table: str | None) -> TableSettings | None:
    """Load the settings of a table; None without a table, or if the recipient has no seat there."""
    own_table = preferences.find_table(db, recipient, table) if table else None
    return _describe_table(own_table) if own_table else None


def _describe_table(table: TableOfRecipient) -> TableSettings:
    """Describe a table and its settings; an empty setting means the person's general one."""
    mode, plain = table.own_settings.letters, table.own_settings.plain
    return TableSettings(
        title=translate_in_game(get_language(), table.game, table.title),
        names=join_names(table.names),
        letters="" if mode is UNSET else mode,
        plain=_describe_plain(plain),
    )


def _describe_plain(plain: bool | UnsetType) -> str:
    """Return the value of the form for this setting; empty means the person's general setting."""
    if plain is UNSET:
        return ""
    return "yes" if plain else "no"


def _copy_form(form: Mapping[str, str]) -> SettingsForm:
    """Return the form as it was sent, to show it again."""
    return SettingsForm(
        letters=form.get("letters", ""),
        hour=form.get("hour", ""),
        plain="plain" in form,
        language=form.get("language", ""),
        remind=form.get("remind", ""),
        zone=form.get("zone", ""),
        zone_is_guessed=False,
        quiet_from=form.get("quiet_from", ""),
        quiet_until=form.get("quiet_until", ""),
        weekends="weekends" in form,
        at_once="at_once" in form,
        talk="talk" in form,
        mail_waits="mail_waits" in form,
        presence="presence" in form,
    )


def _make_form(recipient: Recipient) -> SettingsForm:
    """Fill the form with the settings that are stored."""
    settings, calendar = recipient.settings, recipient.calendar
    quiet_from = quiet_until = ""
    if calendar.quiet:
        quiet_from, quiet_until = map(str, calendar.quiet)
    return SettingsForm(
        letters=settings.letters,
        hour=str(settings.hour),
        plain=settings.plain,
        language=recipient.language,
        remind=" ".join(str(seconds // HOUR_S) for seconds in calendar.remind),
        zone=calendar.zone,
        zone_is_guessed=calendar.zone == "UTC",  # the default, which the person has hardly chosen
        quiet_from=quiet_from,
        quiet_until=quiet_until,
        weekends=calendar.weekends,
        at_once=settings.at_once,
        talk=settings.talk,
        mail_waits=settings.mail_waits,
        presence=settings.presence,
    )
