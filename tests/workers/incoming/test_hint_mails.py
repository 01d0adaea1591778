"""Hints by mail: one word in four languages, and an answer that names the move as its reader would write it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.menu import Move
from service.app import App
from service.store.schema import hints as rows_of_hints
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from service.text import move_words
from service.timing import Clock
from tests import apps
from tests.apps import FakeTime
from tests.workers.incoming.test_inbox import deliver, last_letter, list_answer_kinds, report, rows, text
from workers.incoming.move_parser import parse_move_line

WORDS = ["hint", "Tip!", "a hint, please", "een tip graag", "un conseil svp", "Indice ?", "Tipp bitte", "Hinweis"]


@pytest.fixture
def app(tmp_path, clock: FakeTime) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path, sender="table@games.example"), clock) as app:
        yield app


def table(app: App, agreed: bool = True) -> list[Place]:
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in ("Anna", "Bert")]
    made = apps.open_new(app, "kaiser", {}, guests, Clock(0, hints=agreed))
    places = [access.find(app, link) for link in made.links]
    for place in places:
        apps.submit(app, place, "sit word")
    return places


@pytest.mark.parametrize("line", WORDS)
def test_one_word_asks_for_a_hint(app, line):
    snapshot = apps.load_table(app, table(app)[0].table)
    assert parse_move_line(line, (), move_words.make_vocabulary(snapshot.game, snapshot.names)) == Move("hint")


def test_the_answer_names_a_move_that_can_be_sent_back(app):
    places = table(app)
    place, _ = apps.find_move(app, places)
    deliver(app, place, "hint")
    assert report(app) == [("hint", "hint")]
    assert list_answer_kinds(app) == ["accepted"]
    command = text(last_letter(app, place)).partition("answer with this line: ")[2]
    line = " ".join(command.split()[:3])
    assert line in apps.list_moves(app, place)
    before = apps.count_entries(app, place)
    deliver(app, place, line)
    assert apps.count_entries(app, place) == before + 1


def test_the_answer_is_in_the_words_of_its_reader(app):
    place, _ = apps.find_move(app, table(app))
    deliver(app, place, "Tipp")
    letter = text(last_letter(app, place, "de"))
    assert "antworte mit dieser Zeile: ziehe " in letter
    (hint,) = rows(app, rows_of_hints)
    assert hint.move.partition(" ")[2] in letter


def test_the_letter_written_again_tells_the_same(app):
    place, _ = apps.find_move(app, table(app))
    deliver(app, place, "hint")
    assert text(last_letter(app, place)) == text(last_letter(app, place))


def test_where_the_table_has_none_the_answer_says_so(app):
    place, _ = apps.find_move(app, table(app, agreed=False))
    deliver(app, place, "hint")
    assert report(app) == [("hint", "refused")]
    assert "did not agree" in text(last_letter(app, place))
    assert rows(app, rows_of_hints) == []


def test_out_of_turn_the_answer_says_so(app):
    place = apps.find_waiting(app, table(app))
    deliver(app, place, "hint")
    assert "for your own turn" in text(last_letter(app, place))


def test_letters_name_the_word_where_there_are_hints(app):
    for agreed in (True, False):
        place, _ = apps.find_move(app, table(app, agreed))
        deliver(app, place, "help")
        assert ("status, help, hint, say" in text(last_letter(app, place))) == agreed


def test_a_word_about_hints_is_talk(app):
    snapshot = apps.load_table(app, table(app)[0].table)
    vocabulary = move_words.make_vocabulary(snapshot.game, snapshot.names)
    for line in ("thanks for the hint about the restaurant", "Good move!", "Bon coup !"):
        assert parse_move_line(line, (), vocabulary) == "talk"
