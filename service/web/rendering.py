"""Drawing pages: the one environment all templates share, and what every page may use."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, make_response, request, url_for
from flask_wtf.csrf import generate_csrf

from engine.options import describe
from engine.refusal import Refused
from service import numbers
from service.house import House
from service.text import rulebook
from service.text.drawing import environment
from service.text.languages import LANGUAGES, SOURCE, Spoken

COOKIE = "language"


def house() -> House:
    """The house this application serves."""
    found: House = current_app.extensions["house"]
    return found


def language() -> str:
    """The reader's language: as chosen on a page, else the first that the browser asks for and we speak."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else request.accept_languages.best_match(LANGUAGES) or SOURCE


def page(template: str, status: int = 200, **words: Any) -> Response:
    """A page from `templates/pages`."""
    spoken = language()
    drawn = environment(spoken).get_template(f"pages/{template}")
    here = request.full_path.rstrip("?")
    shared = {"url_for": url_for, "csrf_token": generate_csrf, "settings": house().settings, "here": here}
    shared |= {"cited": rulebook.cited, "describe": describe}
    response = make_response(drawn.render(**shared, **words), status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Language"] = spoken
    response.vary.update(("Accept-Language", "Cookie"))
    return response


def problem(spoken: Spoken, status: int, log: str = "") -> Response:
    """A page that says in one sentence what is wrong and what to do, with the way to a log that can still be had."""
    return page("problem.html", status, spoken=spoken, code=status, log=log)


def whole(text: str) -> int:
    """A small whole number as people type it."""
    number = numbers.read(text, 9_999)
    if number is None:
        raise Refused("Please give a whole number, not “{text}”.", text=text[:20])
    return number
