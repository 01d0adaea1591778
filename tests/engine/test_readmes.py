"""Every game's README names its people, and every numbered paragraph of it has a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from engine import catalogue

TESTS = Path(__file__).parent / "games"

every_game = pytest.mark.parametrize("game", catalogue.games().values(), ids=catalogue.games().keys())


def page(game):
    return (Path(game.__file__).parent / "README.md").read_text("utf-8")


def paragraphs(game):
    """The numbers that head a paragraph, as in `### 2.3 The way must be free`."""
    return re.findall(r"^### (\d+\.\d+)\b", page(game), re.MULTILINE)


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
