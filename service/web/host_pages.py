"""The host's page, behind a link of its own: how the house is, and what can be mended.

It is in English, like the command line.
"""

from __future__ import annotations

from flask import Blueprint, Response, request, url_for
from werkzeug.utils import redirect
from werkzeug.wrappers import Response as Reply

from engine.refusal import Refused
from service.hosting import overview, remedies
from service.store.notices import NAMES
from service.tables.access import Unknown
from service.web.rendering import get_app, page

host = Blueprint("host", __name__, url_prefix="/host/<token>")


@host.before_request
def only_for_the_host() -> None:
    """The link is the key; one that was renewed opens nothing any more."""
    if not remedies.opens(get_app(), str((request.view_args or {}).get("token", ""))):
        raise Unknown("This is not the host's link; make one with: depesche host-link")


@host.get("")
def show(token: str) -> Response:
    """The house at this moment."""
    wanted = request.args.get("table", "").strip()
    found = overview.look(get_app(), wanted)
    return page("host.html", found=found, token=token, wanted=wanted, notices=get_app().notices.read())


@host.post("/notice")
def notice(token: str) -> Reply:
    """Put a notice up, or take it down."""
    name = next((name for name in NAMES if name == request.form.get("name")), None)
    if name is None:
        raise Refused("There are two notices: the banner, and that no tables are opened.")
    get_app().notices.put(name, " ".join(request.form.get("words", "").split()))
    return _back(token)


@host.post("/finish/<table>")
def finish(token: str, table: str) -> Reply:
    """Have a table played to its end by bots."""
    remedies.finish(get_app(), table)
    return _back(token)


@host.post("/readdress/<int:person>")
def readdress(token: str, person: int) -> Reply:
    """Replace an address that takes no letters."""
    remedies.readdress(get_app(), person, request.form.get("address", ""))
    return _back(token)


@host.post("/send/<int:letter>")
def send(token: str, letter: int) -> Reply:
    """Try a letter once more."""
    remedies.send_again(get_app(), letter)
    return _back(token)


def _back(token: str) -> Reply:
    return redirect(url_for("host.show", token=token), 303)
