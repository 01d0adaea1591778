"""Every game's README names its people, and every numbered paragraph of its book has a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from engine import catalogue, scenario
from engine import menu as menus
from engine import options as choices
from engine.contract.cases import play_case
from engine.refusal import Refused
from tests.engine.cases import make_cases

TESTS = Path(__file__).parent / "games"

every_game = pytest.mark.parametrize("game", catalogue.find_all().values(), ids=catalogue.find_all().keys())


def page(game):
    return (Path(game.__file__).parent / "README.md").read_text("utf-8")


def book(game):
    """The rules, in English."""
    return (Path(game.__file__).parent / "book" / "en.md").read_text("utf-8")


def paragraphs(game):
    """The numbers that head a paragraph, as in `### 2.3 The way must be free`."""
    return re.findall(r"^### (\d+\.\d+)\b", book(game), re.MULTILINE)


def cited_by_tests(game):
    """The paragraph every test is named for, by the test's name."""
    files = [TESTS / f"test_{game.META.name}.py", *TESTS.glob(f"test_{game.META.name}_*.py")]
    names = [
        node.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    found = {name: re.match(r"test_(\d+)_(\d+)_", name) for name in names}
    return {name: f"{match[1]}.{match[2]}" for name, match in found.items() if match}


def numbered(game):
    """Every number that can be cited: of paragraphs and of chapters."""
    return set(paragraphs(game)) | set(re.findall(r"^## (\d+)\b", book(game), re.MULTILINE))


@every_game
def test_paragraphs_are_numbered_in_order_and_once(game):
    numbers = [tuple(map(int, number.split("."))) for number in paragraphs(game)]
    assert numbers
    assert numbers == sorted(set(numbers))


@every_game
def test_every_paragraph_has_a_test(game):
    assert set(paragraphs(game)) - set(cited_by_tests(game).values()) == set()


@every_game
def test_no_test_cites_a_paragraph_that_is_not_there(game):
    known = set(paragraphs(game))
    assert {name for name, number in cited_by_tests(game).items() if number not in known} == set()


@every_game
def test_the_rules_cite_only_paragraphs_that_are_there(game):
    known = set(paragraphs(game)) | {number.split(".")[0] for number in paragraphs(game)}
    for file in Path(game.__file__).parent.glob("*.py"):
        cited = set(re.findall(r"§\s?(\d+(?:\.\d+)?)", file.read_text("utf-8")))
        assert cited <= known, file.name


@every_game
def test_designer_and_publisher_are_named(game):
    words = " ".join(page(game).split())
    assert game.META.title in words
    assert game.META.designer in words
    assert game.META.publisher in words
    assert str(game.META.year) in words


@every_game
def test_whose_words_and_art_these_are_is_said(game):
    words = " ".join(page(game).split())
    assert "own words" in words
    assert "not affiliated" in words


@every_game
def test_every_option_cites_a_paragraph_that_is_there(game):
    cited = {option.name: option.rule for option in choices.describe(game.META.options)}
    assert {name: rule for name, rule in cited.items() if rule not in numbered(game)} == {}


def menus_of(game):
    """What could be chosen in random games with every seat count and every option."""
    for case in make_cases():
        if case.game is game:
            for position in play_case(case, b"a lantern"):
                for seat in range(case.seats):
                    yield game.menu(position.state, seat)


@every_game
def test_every_choice_and_its_refusal_cite_a_paragraph_that_is_there(game):
    known, entries = numbered(game), {}
    for menu in menus_of(game):
        entries.update({(entry.verb, entry.rule): entry for entry in menu})
    assert {verb for verb, rule in entries if rule not in known} == set()
    for (verb, rule), entry in entries.items():
        if not entry.allows(()):
            with pytest.raises(Refused) as refused:
                menus.parse_move((entry,), f"{verb} nonsense-7 nonsense-8")
            assert refused.value.rule == rule


@every_game
def test_what_a_game_objects_to_cites_a_paragraph_that_is_there(game):
    variants = {tuple(sorted(case.chosen)) for case in make_cases() if case.game is game}
    for chosen in variants | {()}:
        for seats in game.META.seats:
            why = game.objection(choices.parse(game.META.options, dict(chosen)), seats)
            assert why is None or why.rule in numbered(game)


@every_game
def test_refusals_in_the_worked_examples_cite_paragraphs_that_are_there(game, monkeypatch):
    heard = []
    init = Refused.__init__

    def listening(self, sentence, /, **words):
        init(self, sentence, **words)
        heard.append(self.rule)

    monkeypatch.setattr(Refused, "__init__", listening)
    for path in sorted((TESTS.parents[1] / "scenarios" / game.META.name).iterdir()):
        scenario.run(scenario.load(path))
    assert {rule for rule in heard if rule} <= numbered(game)
