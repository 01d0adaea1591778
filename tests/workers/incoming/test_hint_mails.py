"""Hints by mail: one word in four languages, and an answer that names the move as its reader would write it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.menu import Move
from service.house import House
from service.store.schema import hints as rows_of_hints
from service.tables import access, opening, snapshots
from service.tables.access import Place
from service.tables.opening import Invited
from service.text import words
from service.timing import Clock as TableClock
from tests import houses
from tests.houses import Clock
from tests.workers.incoming.test_inbox import answered, last_letter, posted, report, rows, text
from workers.incoming.move_parser import understand

WORDS = ["hint", "Tip!", "a hint, please", "een tip graag", "un conseil svp", "Indice ?", "Tipp bitte", "Hinweis"]


@pytest.fixture
def here(tmp_path, clock: Clock) -> Iterator[House]:
    with houses.standing(houses.settings(tmp_path, sender="table@games.example"), clock) as here:
        yield here


def table(here: House, agreed: bool = True) -> list[Place]:
    guests = [Invited(name, f"{name.lower()}@example.org") for name in ("Anna", "Bert")]
    made = opening.open_table(here, "kaiser", {}, guests, TableClock(0, hints=agreed))
    places = [access.find(here, link) for link in made.links]
    for place in places:
        houses.judged(here, place, "sit word")
    return places


@pytest.mark.parametrize("line", WORDS)
def test_one_word_asks_for_a_hint(here, line):
    look = snapshots.look(here, table(here)[0].table)
    assert understand(line, (), words.of(look.game, look.names)) == Move("hint")


def test_the_answer_names_a_move_that_can_be_sent_back(here):
    places = table(here)
    place, _ = houses.on_turn(here, places)
    posted(here, place, "hint")
    assert report(here) == [("hint", "hint")]
    assert answered(here) == ["accepted"]
    told = text(last_letter(here, place)).partition("answer with this line: ")[2]
    line = " ".join(told.split()[:3])
    assert line in houses.moves(here, place)
    before = houses.length(here, place)
    posted(here, place, line)
    assert houses.length(here, place) == before + 1


def test_the_answer_is_in_the_words_of_its_reader(here):
    place, _ = houses.on_turn(here, table(here))
    posted(here, place, "Tipp")
    letter = text(last_letter(here, place, "de"))
    assert "antworte mit dieser Zeile: ziehe " in letter
    (hint,) = rows(here, rows_of_hints)
    assert hint.move.partition(" ")[2] in letter


def test_the_letter_written_again_tells_the_same(here):
    place, _ = houses.on_turn(here, table(here))
    posted(here, place, "hint")
    assert text(last_letter(here, place)) == text(last_letter(here, place))


def test_where_the_table_has_none_the_answer_says_so(here):
    place, _ = houses.on_turn(here, table(here, agreed=False))
    posted(here, place, "hint")
    assert report(here) == [("hint", "refused")]
    assert "did not agree" in text(last_letter(here, place))
    assert rows(here, rows_of_hints) == []


def test_out_of_turn_the_answer_says_so(here):
    place = houses.waiting(here, table(here))
    posted(here, place, "hint")
    assert "for your own turn" in text(last_letter(here, place))


def test_letters_name_the_word_where_there_are_hints(here):
    for agreed in (True, False):
        place, _ = houses.on_turn(here, table(here, agreed))
        posted(here, place, "help")
        assert ("status, help, hint, say" in text(last_letter(here, place))) == agreed


def test_a_word_about_hints_is_talk(here):
    look = snapshots.look(here, table(here)[0].table)
    spoken = words.of(look.game, look.names)
    for line in ("thanks for the hint about the restaurant", "Good move!", "Bon coup !"):
        assert understand(line, (), spoken) == "talk"
