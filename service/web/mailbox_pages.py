"""The local mailbox page: every letter of a house without a mail relay, with links that work."""

from __future__ import annotations

import re

from flask import Blueprint, Response, abort, make_response, redirect, request, url_for
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service import local_mailbox
from service.settings import EMBEDDED
from service.tables.access import Unknown
from service.web.rendering import get_app, is_local_visitor, page

mailbox = Blueprint("mailbox", __name__, url_prefix="/mailbox")


@mailbox.before_request
def only_when_local() -> None:
    """A house with a relay keeps no mailbox, and every link in it is a key: only this machine may read it."""
    if get_app().settings.smtp != EMBEDDED:
        abort(404)
    if not is_local_visitor():
        raise Unknown("The mailbox can be read on the machine that Depesche runs on only; open it there.")


@mailbox.get("")
def newest() -> Response:
    """The newest letters."""
    return page("mailbox.html", letters=local_mailbox.list_newest(get_app()))


@mailbox.get("/<int:number>")
def letter(number: int) -> Response:
    """One letter."""
    found = local_mailbox.find_letter(get_app(), number)
    if found is None:
        abort(404)
    answerable = bool(found.reply_to and get_app().inbound)
    return page("letter.html", letter=found, answerable=answerable, sent="sent" in request.args)


@mailbox.post("/<int:number>")
def answer(number: int) -> Reply:
    """Answer a letter: the text leaves as a mail and comes in as any answer does."""
    found = local_mailbox.find_letter(get_app(), number)
    if found is None or not found.reply_to or not get_app().inbound:
        abort(404)
    text = request.form.get("text", "").replace("\r\n", "\n").strip()
    if not text:
        raise Refused("Please write a line first, for instance “status”.")
    try:
        local_mailbox.send_reply(get_app(), found, text)
    except (OSError, ValueError) as error:
        raise Refused("Your answer could not be sent; please try again.") from error
    return redirect(url_for("mailbox.letter", number=number, sent=1), 303)


@mailbox.get("/<int:number>/body")
def body(number: int) -> Response:
    """The HTML of a letter as a mail program would show it."""
    found = local_mailbox.find_letter(get_app(), number)
    if found is None:
        abort(404)
    html = re.sub(r"cid:([^\"]+)", lambda cid: url_for("mailbox.picture", number=number, name=cid[1]), found.html)
    response = make_response(html.replace("<head>", '<head><base target="_top">', 1))
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
    )
    return response


@mailbox.get("/<int:number>/picture/<name>")
def picture(number: int, name: str) -> Response:
    """A picture inside a letter."""
    found = local_mailbox.find_letter(get_app(), number)
    if found is None or name not in found.pictures:
        abort(404)
    response = make_response(found.pictures[name])
    response.headers["Content-Type"] = "image/png"
    return response
