"""Learning a game: one small position after the other, without an account; what was solved is kept in the browser."""

from __future__ import annotations

from flask import Blueprint, Response, request
from markupsafe import Markup

from engine import catalogue
from service.tables.access import Unknown
from service.text import lessons
from service.text.drawing import Voice
from service.text.lessons import Lesson
from service.web.menu_forms import offers
from service.web.rendering import language, page

learning = Blueprint("learning", __name__, url_prefix="/learn")

LONGEST = 200  # characters of a try


@learning.get("/<name>")
def first(name: str) -> Response:
    """The first lesson."""
    return show(name, 1)


@learning.get("/<name>/<int:number>")
def show(name: str, number: int) -> Response:
    """A lesson: its position, what is asked, and what came of the move that was tried; nothing is kept here."""
    lesson, count = _find(name, number)
    said = request.args.get("say", "")[:LONGEST].split()
    tried = request.args.get("move", "")[:LONGEST].strip()
    spoken = language()
    outcome = lessons.attempt(lesson, tried, spoken) if tried else None
    board = outcome.picture if outcome and outcome.picture else lessons.board(lesson, spoken)
    view = lesson.stage.game.view(lesson.stage.state, lesson.seat)
    voice = Voice(lesson.stage.game, lesson.names, spoken, lesson.seat, view=view)
    return page(
        "lesson.html",
        game=lesson.stage.game.META,
        number=number,
        count=count,
        told=lessons.told(lesson, spoken),
        alt=voice.alt(view),
        board=Markup(board),  # noqa: S704 - drawn by our own templates
        offers=offers(lesson.menu, voice, said),
        said=said,
        tried=tried,
        outcome=outcome,
    )


def _find(name: str, number: int) -> tuple[Lesson, int]:
    found = lessons.of(name) if name in catalogue.find_all() else ()
    if not 0 < number <= len(found):
        raise Unknown("There is no such lesson; please choose a game and begin with its first one.")
    return found[number - 1], len(found)
