"""Texts for visitors to read: the rules of each game, lessons to learn it, and the guide for players."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response, request
from markupsafe import Markup
from msgspec import Struct

from engine import catalogue
from engine.game import Meta
from engine.options import describe
from service.tables.access import Unknown
from service.text import lessons, rulebook
from service.text.guide import Guide, load_guide
from service.text.languages import LANGUAGES
from service.text.lessons import Attempt, Lesson
from service.text.narration import Narrator
from service.text.rulebook import Rulebook, RulesChapter
from service.web.menu_forms import Offer, make_offers
from service.web.previews import Preview, describe_lesson
from service.web.rendering import game_title, language, render

rules = Blueprint("rules", __name__, url_prefix="/rules")
learning = Blueprint("learning", __name__, url_prefix="/learn")
guide = Blueprint("guide", __name__)
MAX_ATTEMPT_CHARS = 200


class RulebooksPage(Struct, frozen=True):
    """Everything `rulebooks.html` shows."""

    games: tuple[Meta, ...]


class RulesPage(Struct, frozen=True):
    """Everything `rules.html` shows; `additions` are keys of chapters that an organiser can choose."""

    game: Meta
    title: str
    book: Rulebook
    additions: frozenset[str]
    has_lessons: bool


class ChapterPage(Struct, frozen=True):
    """Everything `rules_short.html` and `rules_paragraph.html` show: one chapter or paragraph of a book."""

    game: Meta
    title: str
    chapter: RulesChapter
    language: str


class HelpPage(Struct, frozen=True):
    """Everything `help.html` shows."""

    guide: Guide


class LessonPage(Struct, frozen=True):
    """Everything `lesson.html` shows: a position, a task, and what came of the move that was tried."""

    game: Meta
    title: str
    number: int
    count: int
    task: str
    board: Markup
    description: str
    choices: tuple[Offer, ...]  # those made of steps
    typed: str
    attempt: Attempt | None
    preview: Preview

    @property
    def is_solved(self) -> bool:
        return self.attempt is not None and self.attempt.verdict == "solved"


@rules.get("")
def books() -> Response:
    """List the rulebooks."""
    return render("rulebooks.html", RulebooksPage(tuple(game.META for game in catalogue.find_all().values())))


@rules.get("/<name>")
def show(name: str) -> Response:
    """Show the rules of one game."""
    game = _find_game(name)
    page = RulesPage(
        game=game,
        title=game_title(game),
        book=rulebook.load_rulebook(name, language()),
        additions=_additions(game),
        has_lessons=lessons.has_lessons(name),
    )
    return render("rules.html", page)


def _additions(game: Meta) -> frozenset[str]:
    """Return the chapters about options that are off by default; each is printed from a page of its own."""
    switches = (option for option in describe(game.options) if option.kind == "switch")
    return frozenset(option.rule for option in switches if not option.default and option.rule.isdecimal())


@rules.get("/<name>/short")
def short(name: str) -> Response:
    """Show the rules on one page, to print and to put beside the table."""
    return render("rules_short.html", _chapter_page(name, "short"))


@rules.get("/<name>/things.json")
def things(name: str) -> Response:
    """Send which paragraph explains each thing on the board, for the question “What is this?”."""
    _find_game(name)
    return jsonify(rulebook.load_things(name))


@rules.get("/<name>/<key>")
def paragraph(name: str, key: str) -> Response:
    """Show one paragraph by itself, for a page that opens it where it is cited."""
    return render("rules_paragraph.html", _chapter_page(name, key))


@rules.get("/<name>/<spoken>/<example>-<any(before, after):when>.svg")
def picture(name: str, spoken: str, example: str, when: str) -> Response:
    """Send a picture of the board before or after an example of a book."""
    _find_game(name)
    if spoken not in LANGUAGES or example not in lessons.list_scenarios(name):
        raise Unknown("There is no such picture in this book.")
    response = make_response(lessons.draw_picture(name, example, spoken, when))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


def _find_game(name: str) -> Meta:
    if name not in catalogue.find_all():
        raise Unknown("There are no rules of “{name}” here; please choose a game from the list of rules.", name=name)
    return catalogue.find(name).META


def _chapter_page(name: str, key: str) -> ChapterPage:
    game = _find_game(name)
    book = rulebook.load_rulebook(name, language())
    if key not in book.places:
        raise Unknown("There is no paragraph “{key}” in these rules; please look in their contents.", key=key[:20])
    return ChapterPage(game, game_title(game), book.places[key], book.language)


@guide.get("/help")
def show_help() -> Response:
    """Show the guide for players."""
    return render("help.html", HelpPage(load_guide(language())))


# Lessons


@learning.get("/<name>")
def first(name: str) -> Response:
    """Show the first lesson."""
    return show_lesson(name, 1)


@learning.get("/<name>/<int:number>")
def show_lesson(name: str, number: int) -> Response:
    """Show a lesson, and the result of the move that the address tries; the browser stores which ones are solved."""
    lesson, count = find_lesson(name, number)
    words = request.args.get("say", "")[:MAX_ATTEMPT_CHARS].split()
    move = request.args.get("move", "")[:MAX_ATTEMPT_CHARS].strip()
    attempt = lessons.try_move(lesson, move, language()) if move else None
    game, view = lesson.stage.game, lesson.stage.game.view(lesson.stage.state, lesson.seat)
    narrator = Narrator(game, lesson.names, language(), lesson.seat, view=view)
    board = attempt.picture if attempt and attempt.picture else lessons.draw_lesson(lesson, language())
    page = LessonPage(
        game=game.META,
        title=game_title(game.META),
        number=number,
        count=count,
        task=lessons.get_sentence(lesson, language()),
        board=Markup(board),  # noqa: S704 - drawn by our own templates
        description=narrator.describe_board(view),
        choices=tuple(offer for offer in make_offers(lesson.menu, narrator, words) if offer.kind == "steps"),
        typed=move or " ".join(words),
        attempt=attempt,
        preview=describe_lesson(name, number, game_title(game.META), lessons.get_sentence(lesson, language())),
    )
    return render("lesson.html", page)


def find_lesson(name: str, number: int) -> tuple[Lesson, int]:
    """Return a lesson of a game, and how many the game has."""
    all_lessons = lessons.load_lessons(name) if name in catalogue.find_all() else ()
    if not 0 < number <= len(all_lessons):
        raise Unknown("There is no such lesson; please choose a game and begin with its first one.")
    return all_lessons[number - 1], len(all_lessons)
