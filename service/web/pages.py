"""Drawing pages: the one environment all templates share, and what every page may use."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, make_response, request, url_for
from flask_wtf.csrf import generate_csrf

from service.drawing import environment
from service.house import House

LANGUAGES = ("en",)


def house() -> House:
    """The house this application serves."""
    found: House = current_app.extensions["house"]
    return found


def language() -> str:
    """The reader's language, as far as we speak it."""
    return request.accept_languages.best_match(LANGUAGES) or "en"


def page(template: str, status: int = 200, **words: Any) -> Response:
    """A page from `templates/pages`."""
    drawn = environment(language()).get_template(f"pages/{template}")
    settings = house().settings
    response = make_response(
        drawn.render(url_for=url_for, csrf_token=generate_csrf, settings=settings, here=request.path, **words), status
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def problem(sentence: str, status: int) -> Response:
    """A page that says in one sentence what is wrong and what to do."""
    return page("problem.html", status, sentence=sentence, code=status)
