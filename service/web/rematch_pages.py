"""Playing again: one button under a game that is over."""

from __future__ import annotations

from flask import Blueprint, redirect, url_for
from werkzeug.wrappers import Response as Reply

from service.tables import access
from service.tables import rematch as tables
from service.web.rendering import get_app, language

again = Blueprint("again", __name__, url_prefix="/t/<link>")


@again.post("/again")
def lay(link: str) -> Reply:
    """Lay the table again, and go to one's seat there."""
    return redirect(url_for("table.show", link=tables.lay(get_app(), access.find(get_app(), link), language())), 303)
