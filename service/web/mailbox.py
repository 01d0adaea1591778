"""The local mailbox page: every letter of a house without a mail relay, with links that work."""

from __future__ import annotations

import re

from flask import Blueprint, Response, abort, make_response, url_for

from service import mailserver
from service.settings import EMBEDDED
from service.web.pages import house, page

mailbox = Blueprint("mailbox", __name__, url_prefix="/mailbox")


@mailbox.before_request
def only_when_local() -> None:
    """A house with a relay keeps no mailbox."""
    if house().settings.smtp != EMBEDDED:
        abort(404)


@mailbox.get("")
def newest() -> Response:
    """The newest letters."""
    return page("mailbox.html", letters=mailserver.newest(house()))


@mailbox.get("/<int:number>")
def letter(number: int) -> Response:
    """One letter."""
    found = mailserver.one(house(), number)
    return page("letter.html", letter=found) if found else abort(404)


@mailbox.get("/<int:number>/body")
def body(number: int) -> Response:
    """The HTML of a letter as a mail program would show it."""
    found = mailserver.one(house(), number)
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
    found = mailserver.one(house(), number)
    if found is None or name not in found.pictures:
        abort(404)
    response = make_response(found.pictures[name])
    response.headers["Content-Type"] = "image/png"
    return response
