"""Drawing pages: the one environment all templates share, and what every page may use."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from flask import Response, current_app, make_response, request, url_for
from flask_wtf.csrf import generate_csrf

from engine.options import describe
from engine.refusal import Refused
from service import numbers
from service.app import App
from service.settings import EMBEDDED
from service.text import lessons, rulebook
from service.text.drawing import environment
from service.text.languages import LANGUAGES, SOURCE, Spoken

COOKIE = "language"


def get_app() -> App:
    """The house this application serves."""
    found: App = current_app.extensions["app"]
    return found


def language() -> str:
    """The reader's language: as chosen on a page, else the first that the browser asks for and we speak."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else request.accept_languages.best_match(LANGUAGES) or SOURCE


def page(template: str, status: int = 200, tongue: str = "", **words: Any) -> Response:
    """A page from `templates/pages`, in the reader's language unless it is said in which."""
    spoken = tongue or language()
    drawn = environment(spoken).get_template(f"pages/{template}")
    here = request.full_path.rstrip("?")
    shared = {"url_for": url_for, "csrf_token": generate_csrf, "settings": get_app().settings, "here": here}
    shared["mailbox"] = get_app().settings.smtp == EMBEDDED and visited_from_here()
    shared["banner"] = get_app().notices.read().banner
    shared |= {"cited": rulebook.cited, "describe": describe, "lessons_exist": lessons.exist}
    response = make_response(drawn.render(**shared, **words), status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Language"] = spoken
    response.vary.update(("Accept-Language", "Cookie"))
    return response


def visited_from_here() -> bool:
    """Whether a visitor sits at this machine: by who connects, by who is said to, and by the name he asked for.

    Where the house has an address with TLS, a web server stands in front, and behind it everybody seems to be here.
    """
    direct = request.environ.get("werkzeug.proxy_fix.orig", {}).get("REMOTE_ADDR", request.remote_addr)
    asked = urlsplit(f"//{request.host}").hostname or ""
    public = get_app().settings.address.startswith("https:") or "Forwarded" in request.headers
    return (
        not public and _is_here(direct) and _is_here(request.remote_addr) and (asked == "localhost" or _is_here(asked))
    )


def _is_here(address: str | None) -> bool:
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)


def problem(spoken: Spoken, status: int, log: str = "", moved: str = "") -> Response:
    """A page that says what is wrong and what to do, with the way to a log, or to the game in another house."""
    return page("problem.html", status, spoken=spoken, code=status, log=log, moved=moved)


def whole(text: str) -> int:
    """A small whole number as people type it."""
    number = numbers.read(text, 9_999)
    if number is None:
        raise Refused("Please give a whole number, not “{text}”.", text=text[:20])
    return number
