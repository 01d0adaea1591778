"""A person's data to take along, and the page on which the account is deleted."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, make_response, request, session
from msgspec import Struct

from engine.refusal import Refused
from service.accounts import leaving, my_tables
from service.people.proof import SignedIn
from service.web.current_request import get_app
from service.web.rendering import render
from service.web.signed_in import require_signed_in

leaving_pages = Blueprint("leaving", __name__, url_prefix="/my")


class DeletePage(Struct, frozen=True):
    """Everything `delete.html` shows; `running` counts the games that deleting ends."""

    address: str
    running: int
    error: Refused | None = None


class DeletedPage(Struct, frozen=True):
    """The page `deleted.html`, which always says the same."""


@leaving_pages.get("/export.json")
def export() -> Response:
    """Send everything that this server stores about me."""
    belongings = leaving.export_person(get_app(), require_signed_in().proof)
    response = make_response(msgspec.json.format(msgspec.json.encode(belongings), indent=1))
    response.headers["Content-Type"] = "application/json"
    response.headers["Content-Disposition"] = 'attachment; filename="depesche.json"'
    response.headers["Cache-Control"] = "no-store"
    return response


@leaving_pages.get("/delete")
def ask_to_delete() -> Response:
    """Show what deleting my account means, and the form for it."""
    return _render_deletion(require_signed_in())


@leaving_pages.post("/delete")
def delete_account() -> Response:
    """Delete my account, if the form repeats its address."""
    person = require_signed_in()
    try:
        leaving.delete_person(get_app(), person.proof, request.form.get("address", ""))
    except Refused as refused:
        return _render_deletion(person, refused)
    session.clear()
    return render("deleted.html", DeletedPage())


def _render_deletion(person: SignedIn, error: Refused | None = None) -> Response:
    """Render the form that deletes the account, with an error if the address was typed wrongly."""
    with get_app().store.reading() as db:
        running = len(my_tables.list_running(get_app(), db, person.id))
    return render("delete.html", DeletePage(person.address, running, error), 422 if error else 200)
