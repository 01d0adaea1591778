"""Confirming an address: one button behind a link in a letter, and a form to correct a mistyped address."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as Reply

from service.accounts import confirming as proofs
from service.tables import access
from service.web.rendering import get_app, page

confirming = Blueprint("confirming", __name__)


@confirming.get("/confirm/<token>")
def ask(token: str) -> Response:
    """One button, because mail scanners follow links: a GET confirms nothing."""
    return page("confirm.html", person=proofs.asked(get_app(), token), links=None)


@confirming.post("/confirm/<token>")
def confirm(token: str) -> Response:
    """Confirm the address, and send the letters that waited for it."""
    person = proofs.asked(get_app(), token)
    return page("confirm.html", person=person, links=proofs.confirm(get_app(), token))


@confirming.post("/t/<link>/address")
def correct(link: str) -> Reply:
    """Correct the organiser's own address."""
    proofs.correct(get_app(), access.find(get_app(), link), request.form.get("address", ""))
    return redirect(url_for("table.show", link=link), 303)
