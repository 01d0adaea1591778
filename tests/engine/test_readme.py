"""The README for authors is true: its game is High Card of the tests, and its examples are correct."""

from __future__ import annotations

import doctest
import re
import sys
import tomllib
import types
from pathlib import Path
from random import Random

import msgspec
import pytest

from engine import bots, scenario, table_events
from engine.scenario import SENTENCES
from engine.table import RESERVED_VERBS
from tests.engine import highcard
from tests.engine.ledger import play_on, start_table

PAGE = (Path(__file__).parents[2] / "engine/README.md").read_text("utf-8")


def find_blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def split_lines(code):
    return [line for line in code.splitlines() if line.strip()]


@pytest.fixture
def game_of_page(monkeypatch):
    """Build the game of a reader who copied every piece of the page into one file."""
    module = types.ModuleType("highcard")
    monkeypatch.setitem(sys.modules, "highcard", module)
    exec(compile("\n".join(find_blocks("python")), "engine/README.md", "exec"), vars(module))
    return module


def test_the_game_on_the_page_is_the_game_in_the_tests():
    assert split_lines("\n".join(find_blocks("python"))) == split_lines(Path(highcard.__file__).read_text("utf-8"))


def play_out(game, seats):
    played = bots.play_out(game, game.Options(), seats, b"x")
    return [(str(move), msgspec.to_builtins(events)) for _, move, _, events in played]


def test_the_game_on_the_page_plays(game_of_page):
    for seats in game_of_page.META.seats:
        assert play_out(game_of_page, seats) == play_out(highcard, seats)


def test_the_examples_have_the_printed_results(game_of_page):
    text = msgspec.json.encode(play_on(start_table(highcard, 3), Random(1)).export()).decode()
    example = doctest.DocTestParser().get_doctest(PAGE, {"text": text}, "engine/README.md", "engine/README.md", 0)
    assert len(example.examples) > 20
    report = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)


def test_the_scenario_on_the_page_holds():
    (text,) = find_blocks("toml")
    scenario.run(msgspec.convert(tomllib.loads(text), scenario.Scenario), highcard)


def test_every_sentence_of_a_scenario_is_on_the_page():
    sentences = re.findall(r"`([^`\n]+)`", PAGE.split("## 8 ")[1].split("## 9 ")[0])
    for pattern in SENTENCES:
        assert any(re.fullmatch(pattern, sentence) for sentence in sentences), pattern


def test_every_name_of_the_contract_is_on_the_page():
    for name in "META State Event View objection setup menu decide upkeep evolve view hear redeal standing".split():
        assert f"| `{name}" in PAGE


def test_every_command_of_the_table_and_every_event_is_on_the_page():
    for verb in RESERVED_VERBS:
        assert re.search(rf"`{verb}\b", PAGE), verb
    for event in table_events.TABLE_EVENTS:
        fields = ", ".join(
            f"{field.name}=false" if field.default is False else field.name for field in msgspec.structs.fields(event)
        )
        assert f"`{event.__name__}({fields})`" in PAGE
