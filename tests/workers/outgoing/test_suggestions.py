"""An answer in the words that a letter suggests is understood, in every language."""

from __future__ import annotations

from random import Random

import pytest

from engine import catalogue
from engine import table as tables
from engine.menu import Choice, Menu, Move, Number, Subset
from service.text import lessons, move_words
from service.text.languages import LANGUAGES
from service.text.narration import Narrator
from workers.incoming.move_parser import NewRemark, parse_move_line
from workers.outgoing import suggestions
from workers.outgoing.suggestions import MoveWriter

NAMES = ("Anna", "Piet Jan", "Émilie", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
STEPS = 60

every_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.mark.parametrize("game", catalogue.find_all().values(), ids=lambda game: game.META.name)
def test_every_move_as_letters_write_it_is_understood(game):
    seats = max(seats for seats in game.META.seats if seats <= 4)
    sample, random, vocabulary = (
        lessons.start_sample(game, seats, b"suggestions"),
        Random(1),
        move_words.make_vocabulary(game, NAMES[:seats]),
    )
    writers = {language: MoveWriter(game, NAMES[:seats], language) for language in LANGUAGES}
    for number, _ in enumerate(lessons.play_randomly(sample, random)):
        for seat in tables.find_seats_to_move(game, sample.table):
            menu = tables.menu(game, sample.table, seat)
            for entry in menu:
                move = entry.pick(random.randrange)
                written = {writer.write(move, entry) for writer in writers.values()}
                assert {parse_move_line(text, menu, vocabulary) for text in written} == {move}, written
        if number > STEPS:
            break


def write_lines(game: str, menu: Menu, language: str, names: tuple[str, ...] = ("Anna", "Berta")) -> list[str]:
    rules = catalogue.find(game)
    verbs = suggestions.list_verbs(menu, MoveWriter(rules, names, language), Narrator(rules, names, language, 0))
    return [line for verb in verbs for line in (verb.label, *(one.text for one in verb.lines))]


def test_a_letter_speaks_its_readers_language():
    road = (Choice("deploy", (("lady", "Iwan"), ("lady", "Boris"), ("officer", "Iwan"))), Choice("flip"))
    assert write_lines("kurier", road, "en") == [
        *("Deploy a courier", "deploy lady Iwan · Boris", "deploy officer Iwan"),
        *("Flip the stack", "flip"),
    ]
    assert write_lines("kurier", road, "nl")[1:3] == ["zet dame Iwan · Boris", "zet officier Iwan"]
    assert write_lines("kurier", road, "fr")[1] == "placer dame Iwan · Boris"
    assert write_lines("kurier", road, "de")[1] == "setze Dame Iwan · Boris"
    writer = MoveWriter(catalogue.find("kurier"), (), "de")
    example = suggestions.find_example(road, writer)
    assert example
    assert example.text == "setze Dame Iwan"
    assert suggestions.find_example(road[1:], writer) is None


def test_a_bare_sign_is_written_as_its_word():
    stones = (Choice("move", (("A1", "Z"), ("A1", "B1"))),)
    assert write_lines("kaiser", stones, "en")[1] == "move A1 fortress · B1"
    assert write_lines("kaiser", stones, "de")[1] == "ziehe A1 Festung · B1"


@every_language
def test_whose_name_is_clear_is_called_by_it(language):
    purses = (Choice("rob", (("purse1",), ("purse2",))),)
    assert "Berta" in write_lines("kurier", purses, language)[1]
    named = write_lines("kurier", purses, language, ("Anna", "anna"))[1]
    assert "nna" not in named
    assert "2" in named
    assert "nna" not in write_lines("kurier", purses, language, ("Anna :-)", "★nna"))[1]


def test_a_long_menu_stays_short():
    cells = tuple((f"{column},0", turn) for column in range(40) for turn in ("0", "90"))
    wide = tuple((f"{column},0",) for column in range(40))
    (verb,) = suggestions.list_verbs(*_carcassonne((Choice("place", cells),)))
    assert len(verb.lines) == suggestions.MAX_LINES
    assert verb.more
    assert verb.lines[0].text == "place 0,0 0° · 90°"
    (verb,) = suggestions.list_verbs(*_carcassonne((Choice("fairy", wide),)))
    assert verb.lines[0].text.endswith("13,0 · …")


def _carcassonne(menu: Menu):
    game = catalogue.find("carcassonne")
    return menu, MoveWriter(game, NAMES[:2], "en"), Narrator(game, NAMES[:2], "en", 0)


def test_a_choice_of_some_and_a_number_say_how_many():
    game = catalogue.find("turfmaster")
    writer, narrator = MoveWriter(game, NAMES[:2], "nl"), Narrator(game, NAMES[:2], "nl", 0)
    menu = (Subset("discard", ("7", "8", "J12"), 2, 2), Number("ride", 1, 6))
    subset, number = suggestions.list_verbs(menu, writer, narrator)
    assert (subset.lines[0].text, subset.amount) == ("afleggen 7, 8, J12", "2 naar keuze")
    assert number.lines[0].text == "rijd 1–6"
    assert suggestions.find_example(menu, writer) == suggestions.Example("afleggen 7 8", "discard 7 8")


@every_language
def test_what_may_be_said_at_any_time_is_understood(language):
    game = catalogue.find("kaiser")
    sample, vocabulary = lessons.start_sample(game, 2, b"suggestions"), move_words.make_vocabulary(game, NAMES[:2])
    offered = (*(entry for entry in tables.list_commands(sample.table, 0) if entry.verb != "resign"), Choice("resign"))
    writer = MoveWriter(game, NAMES[:2], language)
    moves = [parse_move_line(text, offered, vocabulary) for text in suggestions.list_commands(sample.table, 0, writer)]
    commands = [Move(entry.verb) for entry in tables.list_commands(sample.table, 0)]
    assert moves == [*commands, Move("status"), Move("help"), NewRemark("")]


def test_turnings_have_degrees_which_are_understood_and_older_forms_still_are():
    game = catalogue.find("carcassonne")
    menu, vocabulary = (Choice("place", (("1,0", "0"), ("1,0", "90"))),), move_words.make_vocabulary(game, NAMES[:2])
    for text in ("place 1,0 90°", "lege 1,0 90°", "place 1,0 90", "leg 1,0 90°."):
        assert parse_move_line(text, menu, vocabulary) == Move("place", ("1,0", "90")), text


def test_each_move_of_a_line_has_its_tokens_for_a_link():
    (verb,) = suggestions.list_verbs(*_carcassonne((Choice("place", (("1,0", "0"), ("1,0", "90"))),)))
    links = [(link.text, link.move, link.mail) for line in verb.lines for link in line.links]
    assert links == [("0°", "place 1,0 0", "place 1,0 0°"), ("90°", "place 1,0 90", "place 1,0 90°")]
    (alone,) = suggestions.list_verbs(*_carcassonne((Choice("pass"),)))
    assert [(link.text, link.move, link.mail) for line in alone.lines for link in line.links] == [("pass",) * 3]
    assert alone.only_move == "pass"
