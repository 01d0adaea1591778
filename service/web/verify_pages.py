"""The page on which anybody checks a log; the browser does all of it, and nothing is sent here."""

from __future__ import annotations

from flask import Blueprint, Response

from service.web.rendering import page

verify = Blueprint("verify", __name__, url_prefix="/verify")


@verify.get("")
def show() -> Response:
    """Drop a log and old letters, and watch every check."""
    return page("verify.html")
