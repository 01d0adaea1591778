"""Every game's README names its people, and every numbered paragraph of its book has a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from engine import catalogue, scenario
from engine import menu as menus
from engine.contract.cases import play_case
from engine.options import describe as describe_options
from engine.options import parse as parse_options
from engine.refusal import Refused
from tests.engine.cases import make_cases

TESTS = Path(__file__).parent / "games"

every_game = pytest.mark.parametrize("game", catalogue.find_all().values(), ids=catalogue.find_all().keys())


def load_page(game):
    return (Path(game.__file__).parent / "README.md").read_text("utf-8")


def load_book(game):
    """Load the rules, in English."""
    return (Path(game.__file__).parent / "book" / "en.md").read_text("utf-8")


def find_paragraphs(game):
    """Return the numbers of paragraphs, as in `### 2.3 The way must be free`."""
    return re.findall(r"^### (\d+\.\d+)\b", load_book(game), re.MULTILINE)


def find_cited_by_tests(game):
    """Return the paragraph of every test, by the test's name."""
    files = [TESTS / f"test_{game.META.name}.py", *TESTS.glob(f"test_{game.META.name}_*.py")]
    names = [
        node.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    matches = {name: re.match(r"test_(\d+)_(\d+)_", name) for name in names}
    return {name: f"{match[1]}.{match[2]}" for name, match in matches.items() if match}


def find_numbers(game):
    """Return all numbers of paragraphs and chapters."""
    return set(find_paragraphs(game)) | set(re.findall(r"^## (\d+)\b", load_book(game), re.MULTILINE))


@every_game
def test_paragraphs_are_numbered_in_order_and_once(game):
    numbers = [tuple(map(int, number.split("."))) for number in find_paragraphs(game)]
    assert numbers
    assert numbers == sorted(set(numbers))


@every_game
def test_every_paragraph_has_a_test(game):
    assert set(find_paragraphs(game)) - set(find_cited_by_tests(game).values()) == set()


@every_game
def test_no_test_cites_a_missing_paragraph(game):
    all_numbers = set(find_paragraphs(game))
    assert {name for name, number in find_cited_by_tests(game).items() if number not in all_numbers} == set()


@every_game
def test_the_rules_cite_only_existing_paragraphs(game):
    all_numbers = set(find_paragraphs(game)) | {number.split(".")[0] for number in find_paragraphs(game)}
    for file in Path(game.__file__).parent.glob("*.py"):
        cited = set(re.findall(r"§\s?(\d+(?:\.\d+)?)", file.read_text("utf-8")))
        assert cited <= all_numbers, file.name


@every_game
def test_designer_and_publisher_are_named(game):
    words = " ".join(load_page(game).split())
    assert game.META.title in words
    assert game.META.designer in words
    assert game.META.publisher in words
    assert str(game.META.year) in words


@every_game
def test_the_source_of_texts_and_art_is_named(game):
    words = " ".join(load_page(game).split())
    assert "own words" in words
    assert "not affiliated" in words


@every_game
def test_every_option_cites_an_existing_paragraph(game):
    cited = {option.name: option.rule for option in describe_options(game.META.options)}
    assert {name: rule for name, rule in cited.items() if rule not in find_numbers(game)} == {}


def iter_menus(game):
    """Yield the menus of random games with every number of seats and every option."""
    for case in make_cases():
        if case.game is game:
            for position in play_case(case, b"a lantern"):
                for seat in range(case.seats):
                    yield game.menu(position.state, seat)


@every_game
def test_every_menu_entry_and_its_refusal_cite_an_existing_paragraph(game):
    all_numbers, entries = find_numbers(game), {}
    for menu in iter_menus(game):
        entries.update({(entry.verb, entry.rule): entry for entry in menu})
    assert {verb for verb, rule in entries if rule not in all_numbers} == set()
    for (verb, rule), entry in entries.items():
        if not entry.allows(()):
            with pytest.raises(Refused) as refused:
                menus.parse_move((entry,), f"{verb} nonsense-7 nonsense-8")
            assert refused.value.rule == rule


@every_game
def test_every_objection_cites_an_existing_paragraph(game):
    variants = {tuple(sorted(case.chosen)) for case in make_cases() if case.game is game}
    for chosen in variants | {()}:
        for seats in game.META.seats:
            why = game.objection(parse_options(game.META.options, dict(chosen)), seats)
            assert why is None or why.rule in find_numbers(game)


@every_game
def test_refusals_in_worked_examples_cite_existing_paragraphs(game, monkeypatch):
    rules = []
    init = Refused.__init__

    def record_rule(self, sentence, /, **words):
        init(self, sentence, **words)
        rules.append(self.rule)

    monkeypatch.setattr(Refused, "__init__", record_rule)
    for path in sorted((TESTS.parents[1] / "scenarios" / game.META.name).iterdir()):
        scenario.run(scenario.load(path))
    assert {rule for rule in rules if rule} <= find_numbers(game)
