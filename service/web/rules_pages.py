"""The rules to read: a book for each game, where every paragraph can be pointed at, and its pictures."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response

from engine import catalogue
from engine.game import Meta
from engine.options import describe
from service.tables.access import Unknown
from service.text import examples, rulebook
from service.text.languages import LANGUAGES
from service.web.rendering import language, page

rules = Blueprint("rules", __name__, url_prefix="/rules")


@rules.get("")
def books() -> Response:
    """The rulebooks there are."""
    return page("rulebooks.html", games=[game.META for game in catalogue.find_all().values()])


@rules.get("/<name>")
def show(name: str) -> Response:
    """The rules of one game."""
    meta = _meta(name)
    return page("rules.html", game=meta, book=rulebook.read(name, language()), additions=_additions(meta))


def _additions(meta: Meta) -> frozenset[str]:
    """The chapters of what a table only plays with when its opener says so; each prints from a page of its own."""
    switches = (option for option in describe(meta.options) if option.kind == "switch")
    return frozenset(option.rule for option in switches if not option.default and option.rule.isdecimal())


@rules.get("/<name>/short")
def short(name: str) -> Response:
    """The rules on one page, to print and to lay beside the table."""
    chapter = _chapter(name, "short")
    return page("rules_short.html", game=_meta(name), chapter=chapter, book=rulebook.read(name, language()))


@rules.get("/<name>/things.json")
def things(name: str) -> Response:
    """Which paragraph tells what a thing on the board is, for the question “What is this?”."""
    _meta(name)
    return jsonify(rulebook.things(name))


@rules.get("/<name>/<key>")
def paragraph(name: str, key: str) -> Response:
    """One paragraph by itself, for a page that opens it where it is cited."""
    chapter = _chapter(name, key)
    return page("rules_paragraph.html", game=_meta(name), chapter=chapter, book=rulebook.read(name, language()))


@rules.get("/<name>/<spoken>/<example>-<any(before, after):when>.svg")
def picture(name: str, spoken: str, example: str, when: str) -> Response:
    """The board before or after an example of a book."""
    _meta(name)
    if spoken not in LANGUAGES or example not in examples.names(name):
        raise Unknown("There is no such picture in this book.")
    response = make_response(examples.picture(name, example, spoken, when))
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


def _meta(name: str) -> Meta:
    if name not in catalogue.find_all():
        raise Unknown("There are no rules of “{name}” here; please choose a game from the list of rules.", name=name)
    return catalogue.find(name).META


def _chapter(name: str, key: str) -> rulebook.RulesChapter:
    _meta(name)
    places = rulebook.read(name, language()).places
    if key not in places:
        raise Unknown("There is no paragraph “{key}” in these rules; please look in their contents.", key=key[:20])
    return places[key]
