"""Texts for visitors to read: the rules of each game, and the guide for players."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response
from msgspec import Struct

from engine import catalogue
from engine.game import Meta
from engine.options import describe
from service.tables.access import Unknown
from service.text import lessons, rulebook
from service.text.languages import LANGUAGES
from service.text.rulebook import Guide, Rulebook, RulesChapter, load_guide
from service.web.current_request import get_language
from service.web.rendering import render, translate_title

rules = Blueprint("rules", __name__, url_prefix="/rules")
guide = Blueprint("guide", __name__)
MAX_QUOTED_CHARS = 20  # of a wrong key that a refusal repeats


class RulebooksPage(Struct, frozen=True):
    """Everything `rulebooks.html` shows."""

    games: tuple[Meta, ...]


class RulesPage(Struct, frozen=True):
    """Everything `rules.html` shows."""

    game: Meta
    title: str
    book: Rulebook
    additions: frozenset[str]  # keys of the chapters that are not printed with the book
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


@rules.get("")
def list_books() -> Response:
    """List the rulebooks."""
    return render("rulebooks.html", RulebooksPage(tuple(game.META for game in catalogue.find_all().values())))


@rules.get("/<name>")
def show(name: str) -> Response:
    """Show the rules of one game."""
    game = _find_game(name)
    page = RulesPage(
        game=game,
        title=translate_title(game),
        book=rulebook.load_rulebook(name, get_language()),
        additions=_list_additions(game),
        has_lessons=lessons.has_lessons(name),
    )
    return render("rules.html", page)


def _list_additions(game: Meta) -> frozenset[str]:
    """Return the keys of the chapters about switches that are off by default, which are not printed with the book."""
    off_switches = (option for option in describe(game.options) if option.kind == "switch" and not option.default)
    rules_of_switches = {option.rule for option in off_switches}
    return frozenset(rule for rule in rules_of_switches if rule.isdecimal())  # “24” is a chapter, “24.4” a paragraph


@rules.get("/<name>/short")
def show_short(name: str) -> Response:
    """Show the rules on one page, to print and to put beside the table."""
    return render("rules_short.html", _make_chapter_page(name, "short"))


@rules.get("/<name>/things.json")
def send_things(name: str) -> Response:
    """Send which paragraph explains each thing on the board, for the question “What is this?”."""
    _find_game(name)
    return jsonify(rulebook.load_things(name))


@rules.get("/<name>/<key>")
def show_paragraph(name: str, key: str) -> Response:
    """Show one paragraph by itself, for a page that opens it where it is cited."""
    return render("rules_paragraph.html", _make_chapter_page(name, key))


@rules.get("/<name>/<spoken>/<example>-<any(before, after):when>.svg")
def send_picture(name: str, spoken: str, example: str, when: str) -> Response:
    """Send a picture of the board before or after an example of a book."""
    _find_game(name)
    if spoken not in LANGUAGES or example not in lessons.list_scenarios(name):
        raise Unknown("There is no such picture in this book.")
    response = make_response(lessons.draw_picture(name, example, spoken, when))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


def _find_game(name: str) -> Meta:
    """Return the facts about a game; raise Unknown if there is none of this name."""
    if name not in catalogue.find_all():
        raise Unknown("There are no rules of “{name}” here; please choose a game from the list of rules.", name=name)
    return catalogue.find(name).META


def _make_chapter_page(name: str, key: str) -> ChapterPage:
    """Make the page of one chapter or paragraph; raise Unknown if the book has none with this key."""
    game = _find_game(name)
    book = rulebook.load_rulebook(name, get_language())
    if key not in book.by_key:
        raise Unknown(
            "There is no paragraph “{key}” in these rules; please look in their contents.", key=key[:MAX_QUOTED_CHARS]
        )
    return ChapterPage(game, translate_title(game), book.by_key[key], book.language)


@guide.get("/help")
def show_help() -> Response:
    """Show the guide for players."""
    return render("help.html", HelpPage(load_guide(get_language())))
