"""My tables: signing in by a letter, tables to move at, finished games, and deleting the account."""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Blueprint, Response, make_response, redirect, request, session, url_for
from werkzeug.wrappers import Response as Reply

from engine import catalogue
from engine.refusal import Refused
from service import numbers
from service.accounts import leaving, my_tables
from service.accounts import signing_in as accounts
from service.accounts.signing_in import Visit
from service.web.rendering import get_app, page

account = Blueprint("account", __name__)
KEPT = "visit"


def visitor() -> Any:
    """The person who has signed in on this device; None where there is none."""
    kept = session.get(KEPT)
    return accounts.visitor(get_app(), Visit(*kept)) if kept else None


@account.get("/enter")
def sign_in() -> Response:
    """Where to ask for a letter that signs in."""
    return page("enter.html", asked=False, error=None, form=request.form)


@account.post("/enter")
def send_link() -> Response:
    """Owe the letter; the answer is the same whether we know the address or not."""
    try:
        accounts.send_link(get_app(), request.form.get("address", ""))
    except Refused as refused:
        return page("enter.html", 422, asked=False, error=refused, form=request.form)
    return page("enter.html", asked=True, error=None, form=request.form)


@account.get("/enter/<token>")
def ask(token: str) -> Response:
    """One button, because mail scanners follow links: a GET signs nobody in."""
    return page("entering.html", person=accounts.invited(get_app(), token))


@account.post("/enter/<token>")
def enter(token: str) -> Reply:
    """Sign in on this device."""
    visit = accounts.enter(get_app(), token)
    session.clear()
    session.permanent = True
    session[KEPT] = [visit.person, visit.sessions]
    return redirect(url_for("account.tables"), 303)


@account.post("/leave")
def sign_out() -> Reply:
    """Sign out here, or wherever one has signed in."""
    person = visitor()
    if person and request.form.get("everywhere"):
        accounts.leave_everywhere(get_app(), person.id)
    session.clear()
    return redirect(url_for("lobby.welcome"), 303)


@account.get("/my")
def tables() -> Reply:
    """All tables of the person who has signed in."""
    person = visitor()
    if person is None:
        return redirect(url_for("account.sign_in"), 303)
    at = numbers.read(request.args.get("page", ""), 9_999) or 0
    app = get_app()
    running, over = my_tables.running(app, person.id), my_tables.finished(app, person.id, at)
    return page(
        "my.html",
        person=person,
        groups=_grouped(running),
        questioned=my_tables.questioned(app, person.id),
        proof=app.links.confirm(person.id, person.address),
        over=over[: my_tables.PAGE],
        older=at + 1 if len(over) > my_tables.PAGE else None,
        newer=at - 1 if at else None,
        record=my_tables.played(app, person.id),
        titles={name: game.META.title for name, game in catalogue.games().items()},
        renewed=request.args.get("renewed", ""),
    )


def _grouped(running: list[my_tables.MyTable]) -> dict[str, list[my_tables.MyTable]]:
    """Tables where I am to move first, then those that wait for others, then those with empty seats."""
    return {
        "move": [one for one in running if one.to_move],
        "wait": [one for one in running if not one.to_move and one.phase == "playing"],
        "gathering": [one for one in running if one.phase != "playing"],
    }


@account.post("/my/link")
def renew() -> Reply:
    """A new link for a seat of mine."""
    person, form = _known(), request.form
    accounts.renew(get_app(), person.id, form.get("table", ""), numbers.read(form.get("seat", "")))
    return redirect(url_for("account.tables", renewed=form.get("table", "")), 303)


@account.get("/my/export.json")
def export() -> Response:
    """Everything this house knows about me."""
    kept = leaving.belongings(get_app(), _known().id)
    response = make_response(msgspec.json.format(msgspec.json.encode(kept), indent=1))
    response.headers["Content-Type"] = "application/json"
    response.headers["Content-Disposition"] = 'attachment; filename="depesche.json"'
    response.headers["Cache-Control"] = "no-store"
    return response


@account.get("/my/delete")
def ask_to_delete() -> Response:
    """What deleting me means, and the form for it."""
    person = _known()
    return page("delete.html", person=person, error=None, running=len(my_tables.running(get_app(), person.id)))


@account.post("/my/delete")
def delete() -> Response:
    """Forget me."""
    person = _known()
    try:
        leaving.leave(get_app(), person.id, request.form.get("address", ""))
    except Refused as refused:
        running = len(my_tables.running(get_app(), person.id))
        return page("delete.html", 422, person=person, error=refused, running=running)
    session.clear()
    return page("delete.html", person=None, error=None, running=0)


def _known() -> Any:
    person = visitor()
    if person is None:
        raise Refused("Please sign in first: write your address under “My tables”, and we send you a link.")
    return person
