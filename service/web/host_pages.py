"""Pages for the host: the state of the server with what can be mended, and the local mailbox.

The host's page is in English, like the command line.
"""

from __future__ import annotations

import re

from flask import Blueprint, Response, abort, make_response, redirect, request, url_for
from msgspec import Struct
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.hosting import local_mailbox, overview, remedies
from service.hosting.local_mailbox import StoredLetter
from service.hosting.overview import Overview
from service.settings import EMBEDDED
from service.store.notices import NAMES, Notices
from service.tables.access import Unknown
from service.web.rendering import get_app, is_local_visitor, render

host = Blueprint("host", __name__, url_prefix="/host/<token>")
mailbox = Blueprint("mailbox", __name__, url_prefix="/mailbox")


class HostPage(Struct, frozen=True):
    """Everything `host.html` shows."""

    token: str
    overview: Overview
    notices: Notices
    table: str  # the id that was searched for


class MailboxPage(Struct, frozen=True):
    """Everything `mailbox.html` shows."""

    letters: tuple[StoredLetter, ...]


class LetterPage(Struct, frozen=True):
    """Everything `letter.html` shows."""

    letter: StoredLetter
    can_answer: bool
    answered: bool


# The host's page


@host.before_request
def check_link() -> None:
    """Raise Unknown unless the address has the host's newest link."""
    if not remedies.is_host_link(get_app(), str((request.view_args or {}).get("token", ""))):
        raise Unknown("This is not the host's link; make one with: depesche host-link")


@host.get("")
def show(token: str) -> Response:
    """Show the state of the server."""
    app, table = get_app(), request.args.get("table", "").strip()
    return render("host.html", HostPage(token, overview.load_overview(app, table), app.notices.get(), table))


@host.post("/notice")
def store_notice(token: str) -> Reply:
    """Store a notice; an empty one is taken down."""
    name = next((name for name in NAMES if name == request.form.get("name")), None)
    if name is None:
        raise Refused("There are two notices: the banner, and that no tables are opened.")
    get_app().notices.set(name, " ".join(request.form.get("words", "").split()))
    return _show_again(token)


@host.post("/finish/<table>")
def finish(token: str, table: str) -> Reply:
    """Let bots play a table to its end."""
    remedies.finish_table(get_app(), table)
    return _show_again(token)


@host.post("/readdress/<int:person>")
def readdress(token: str, person: int) -> Reply:
    """Replace an address that takes no letters."""
    remedies.change_address(get_app(), person, request.form.get("address", ""))
    return _show_again(token)


@host.post("/send/<int:letter>")
def send(token: str, letter: int) -> Reply:
    """Try to send a letter once more."""
    remedies.send_again(get_app(), letter)
    return _show_again(token)


def _show_again(token: str) -> Reply:
    return redirect(url_for("host.show", token=token), 303)


# The local mailbox


@mailbox.before_request
def check_visitor() -> None:
    """Refuse visitors from elsewhere: the mailbox is full of links that are keys. With a mail relay there is none."""
    if get_app().settings.smtp != EMBEDDED:
        abort(404)
    if not is_local_visitor():
        raise Unknown("The mailbox can be read on the machine that Depesche runs on only; open it there.")


@mailbox.get("")
def newest() -> Response:
    """Show the newest letters."""
    return render("mailbox.html", MailboxPage(tuple(local_mailbox.list_newest(get_app()))))


@mailbox.get("/<int:number>")
def letter(number: int) -> Response:
    """Show one letter."""
    letter = _find_letter(number)
    return render("letter.html", LetterPage(letter, _can_answer(letter), "sent" in request.args))


@mailbox.post("/<int:number>")
def answer(number: int) -> Reply:
    """Answer a letter: the text leaves as an e-mail and comes in as any answer does."""
    letter = _find_letter(number)
    if not _can_answer(letter):
        abort(404)
    text = request.form.get("text", "").replace("\r\n", "\n").strip()
    if not text:
        raise Refused("Please write a line first, for instance “status”.")
    try:
        local_mailbox.send_reply(get_app(), letter, text)
    except (OSError, ValueError) as error:
        raise Refused("Your answer could not be sent; please try again.") from error
    return redirect(url_for("mailbox.letter", number=number, sent=1), 303)


@mailbox.get("/<int:number>/body")
def body(number: int) -> Response:
    """Send the HTML of a letter as a mail program would show it."""
    html = _find_letter(number).html
    html = re.sub(r"cid:([^\"]+)", lambda cid: url_for("mailbox.picture", number=number, name=cid[1]), html)
    response = make_response(html.replace("<head>", '<head><base target="_top">', 1))
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
    )
    return response


@mailbox.get("/<int:number>/picture/<name>")
def picture(number: int, name: str) -> Response:
    """Send a picture of a letter."""
    pictures = _find_letter(number).pictures
    if name not in pictures:
        abort(404)
    response = make_response(pictures[name])
    response.headers["Content-Type"] = "image/png"
    return response


def _find_letter(number: int) -> StoredLetter:
    letter = local_mailbox.find_letter(get_app(), number)
    if letter is None:
        abort(404)
    return letter


def _can_answer(letter: StoredLetter) -> bool:
    return bool(letter.reply_to and get_app().inbound)
