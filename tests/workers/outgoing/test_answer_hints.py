"""What a letter says may be answered is understood, word for word, in every language."""

from __future__ import annotations

from random import Random

import pytest

from engine import catalogue
from engine import table as tables
from engine.menu import Choice, Menu, Move, Number, Subset
from service.text import samples, words
from service.text.drawing import Voice
from service.text.languages import LANGUAGES
from workers.incoming.move_parser import TalkLine, understand
from workers.outgoing import answer_hints
from workers.outgoing.answer_hints import MoveWriter

NAMES = ("Anna", "Piet Jan", "Émilie", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
STEPS = 60

every_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.mark.parametrize("game", catalogue.find_all().values(), ids=lambda game: game.META.name)
def test_every_move_as_letters_write_it_is_understood(game):
    seats = max(seats for seats in game.META.seats if seats <= 4)
    sample, random, spoken = samples.started(game, seats, b"hints"), Random(1), words.of(game, NAMES[:seats])
    pens = {language: MoveWriter(game, NAMES[:seats], language) for language in LANGUAGES}
    for number, _ in enumerate(samples.played(sample, random)):
        for seat in tables.find_seats_to_move(game, sample.table):
            menu = tables.menu(game, sample.table, seat)
            for entry in menu:
                move = entry.pick(random.randrange)
                written = {pen.write(move, entry) for pen in pens.values()}
                assert {understand(text, menu, spoken) for text in written} == {move}, written
        if number > STEPS:
            break


def written(game: str, menu: Menu, language: str, names: tuple[str, ...] = ("Anna", "Berta")) -> list[str]:
    found = catalogue.find(game)
    told = answer_hints.list_hints(menu, MoveWriter(found, names, language), Voice(found, names, language, 0))
    return [line for hint in told for line in (hint.label, *(one.text for one in hint.lines))]


def test_a_letter_speaks_its_readers_language():
    road = (Choice("deploy", (("lady", "Iwan"), ("lady", "Boris"), ("officer", "Iwan"))), Choice("flip"))
    assert written("kurier", road, "en") == [
        *("Deploy a courier", "deploy lady Iwan · Boris", "deploy officer Iwan"),
        *("Flip the stack", "flip"),
    ]
    assert written("kurier", road, "nl")[1:3] == ["zet dame Iwan · Boris", "zet officier Iwan"]
    assert written("kurier", road, "fr")[1] == "déployer dame Iwan · Boris"
    assert written("kurier", road, "de")[1] == "setze Dame Iwan · Boris"
    pen = MoveWriter(catalogue.find("kurier"), (), "de")
    assert answer_hints.find_example(road, pen)[0] == "setze Dame Iwan"
    assert answer_hints.find_example(road[1:], pen) == ("", "")


def test_a_bare_sign_is_written_as_its_word():
    stones = (Choice("move", (("A1", "Z"), ("A1", "B1"))),)
    assert written("kaiser", stones, "en")[1] == "move A1 fortress · B1"
    assert written("kaiser", stones, "de")[1] == "ziehe A1 Festung · B1"


@every_language
def test_whose_name_is_clear_is_called_by_it(language):
    purses = (Choice("rob", (("purse1",), ("purse2",))),)
    assert "Berta" in written("kurier", purses, language)[1]
    named = written("kurier", purses, language, ("Anna", "anna"))[1]
    assert "nna" not in named
    assert "2" in named
    assert "nna" not in written("kurier", purses, language, ("Anna :-)", "★nna"))[1]


def test_a_long_menu_stays_short():
    cells = tuple((f"{column},0", turn) for column in range(40) for turn in ("0", "90"))
    wide = tuple((f"{column},0",) for column in range(40))
    (hint,) = answer_hints.list_hints(*_carcassonne((Choice("place", cells),)))
    assert len(hint.lines) == answer_hints.MAX_LINES
    assert hint.more
    assert hint.lines[0].text == "place 0,0 0° · 90°"
    (hint,) = answer_hints.list_hints(*_carcassonne((Choice("fairy", wide),)))
    assert hint.lines[0].text.endswith("13,0 · …")


def _carcassonne(menu: Menu):
    game = catalogue.find("carcassonne")
    return menu, MoveWriter(game, NAMES[:2], "en"), Voice(game, NAMES[:2], "en", 0)


def test_so_many_of_these_and_a_number_are_told():
    game = catalogue.find("turfmaster")
    pen, voice = MoveWriter(game, NAMES[:2], "nl"), Voice(game, NAMES[:2], "nl", 0)
    menu = (Subset("discard", ("7", "8", "J12"), 2, 2), Number("ride", 1, 6))
    subset, number = answer_hints.list_hints(menu, pen, voice)
    assert (subset.lines[0].text, subset.amount) == ("afleggen 7, 8, J12", "2 naar keuze")
    assert number.lines[0].text == "rijd 1–6"
    assert answer_hints.find_example(menu, pen) == ("afleggen 7 8", "discard 7 8")


@every_language
def test_what_may_be_said_at_any_time_is_understood(language):
    game = catalogue.find("kaiser")
    sample, spoken = samples.started(game, 2, b"hints"), words.of(game, NAMES[:2])
    offered = (*(entry for entry in tables.list_commands(sample.table, 0) if entry.verb != "resign"), Choice("resign"))
    pen = MoveWriter(game, NAMES[:2], language)
    found = [understand(said, offered, spoken) for said in answer_hints.list_commands(sample.table, 0, pen)]
    commands = [Move(entry.verb) for entry in tables.list_commands(sample.table, 0)]
    assert found == [*commands, Move("status"), Move("help"), TalkLine("")]


def test_turnings_have_degrees_which_are_understood_and_older_forms_still_are():
    game = catalogue.find("carcassonne")
    menu, spoken = (Choice("place", (("1,0", "0"), ("1,0", "90"))),), words.of(game, NAMES[:2])
    for text in ("place 1,0 90°", "lege 1,0 90°", "place 1,0 90", "leg 1,0 90°."):
        assert understand(text, menu, spoken) == Move("place", ("1,0", "90")), text


def test_each_move_of_a_line_is_told_with_its_token_for_a_link():
    (hint,) = answer_hints.list_hints(*_carcassonne((Choice("place", (("1,0", "0"), ("1,0", "90"))),)))
    assert [line.ends for line in hint.lines] == [(("0°", "place 1,0 0"), ("90°", "place 1,0 90"))]
    (alone,) = answer_hints.list_hints(*_carcassonne((Choice("pass"),)))
    assert [line.move for line in alone.lines] == ["pass"]
