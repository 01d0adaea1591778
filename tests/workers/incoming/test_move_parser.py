"""A line of a mail is a move, something like a move that does not fit, or talk."""

from __future__ import annotations

import pytest

from engine import catalogue
from engine.menu import Choice, Move, make_menu
from engine.refusal import Refused
from service.text import move_words
from workers.incoming.move_parser import TALK, Guess, parse_move_line

ROAD = (
    Choice("deploy", (("lady", "Baikal-Bar"), ("lady", "Wolga-Wirtshaus"), ("officer", "Baikal-Bar"))),
    Choice("flip"),
    Choice("travel", (("Rachmann-Hof", "lady", "palace"), ("Iwan", "lady", "Olga"))),
    Choice("rob", (("purse1",), ("purse2",))),
    Choice("resign", ((), ("yes",))),
    *make_menu("undo"),
)
CLOISTER = (Choice("figure", (("meeple", "cloister"), ("meeple", "cloister-lying"))),)
STONES = (Choice("move", (("A15", "A9"), ("A15", "A12"), ("A9", "Z"))), *make_menu("undo"))
SPOKEN_LINES = {
    "deploy lady Baikal": "deploy lady Baikal-Bar",
    "I deploy the lady in Baikal-Bar, please": "deploy lady Baikal-Bar",
    "Ik zet de dame in in Baikal Bar": "deploy lady Baikal-Bar",
    "Je place la dame à Baikal-Bar, merci": "deploy lady Baikal-Bar",
    "Ich setze die Dame in die Baikal-Bar": "deploy lady Baikal-Bar",
    "My move: deploy lady Baikal": "deploy lady Baikal-Bar",
    "deploy lady -> Baikal-Bar": "deploy lady Baikal-Bar",
    "officer baikal": None,
    "travel Rachmann Hof": "travel Rachmann-Hof lady palace",
    "reis iwan": "travel Iwan lady Olga",
    "rob Berta": "rob purse2",
    "voler la bourse 1": "rob purse1",
    "beraube Piet Jan": "rob purse1",
    "draai om": "flip",
    "Ich decke auf": "flip",
    "FLIP!!!": "flip",
    "fli": "flip",
    "f": None,
    "R.": None,
    "res": None,
    "undo": "undo",
    "Undo please": "undo",
    "Bitte rückgängig": "undo",
    "zuru\u0308cknehmen": "undo",
    "resign": "resign",
    "geef op": "resign",
    "aufgeben ja": "resign yes",
    "status?": "status",
    "Stand bitte": "status",
    "help my horse": None,
    "faire une pause": "pause",
    "Beste allen,": None,
    "de groeten": None,
    "Groetjes, P": None,
    "d'accord": None,
    "Ja!": None,
    "Thanks": None,
    "Sent with love": None,
    "Stop it, all of you, really": None,
    "Flip a coin and see": None,
    "": None,
    "- - -": None,
}
MISFITS = {
    "deploy": "goes on with one of these: lady, officer",
    "deploy lady Iwan": "“Iwan” does not fit",
    "deplyo lady Baikal": "“deplyo” is not one of your moves",
    "trun": "“trun” is not one of your moves",
    "stop": "“stop” is not one of your moves",
    "halt": "“halt” is not one of your moves",
    "flip twice": "leave out “twice”",
    "undo that": "leave out “that”",
    "Travel by Iwan, him and his dog": "does not fit",
}
ON_STONES = {
    "A15 A9": "move A15 A9",
    "a15-a9": "move A15 A9",
    "A15 to A9": "move A15 A9",
    "mijn zet: A15 A9": "move A15 A9",
    "my move A15 A12": "move A15 A12",
    "Zug A15 nach A12": "move A15 A12",
    "a9 Festung": "move A9 Z",
    "ziehe a9 Festung": "move A9 Z",
    "12 days off": None,
}


@pytest.mark.parametrize(("line", "move"), SPOKEN_LINES.items(), ids=str)
def test_people_write_as_they_speak(line, move):
    meaning = parse_move_line(line, ROAD, move_words.make_vocabulary(catalogue.find("kurier"), ("Piet Jan", "Berta")))
    assert str(meaning) == (move or TALK)


@pytest.mark.parametrize(("line", "move"), ON_STONES.items(), ids=str)
def test_the_only_verb_may_be_left_out_where_numbers_tell(line, move):
    meaning = parse_move_line(line, STONES, move_words.make_vocabulary(catalogue.find("kaiser"), ("Anna", "Berta")))
    assert str(meaning) == (move or TALK)


@pytest.mark.parametrize(("line", "why"), MISFITS.items(), ids=str)
def test_what_begins_like_a_move_and_is_none_is_not_passed_over(line, why):
    meaning = parse_move_line(line, ROAD, move_words.make_vocabulary(catalogue.find("kurier"), ("Anna", "Berta")))
    if isinstance(meaning, Guess):
        meaning = meaning.why
    assert isinstance(meaning, Refused)
    assert why in str(meaning)


@pytest.mark.parametrize("line", ["flip?", "rob purse1 ?", "Should I deploy lady Baikal-Bar?", "drehe um？"])
def test_a_question_is_not_played(line):
    meaning = parse_move_line(line, ROAD, move_words.make_vocabulary(catalogue.find("kurier"), ("Anna", "Berta")))
    assert not isinstance(meaning, Move)
    assert not isinstance(meaning, Guess) or "question" in str(meaning.why)
    assert parse_move_line("undo?", ROAD, move_words.make_vocabulary(catalogue.find("kurier"), ())) == Move("undo")


@pytest.mark.parametrize("line", ["1. ?", "2) !", "1. (…)"])
def test_a_number_before_signs_alone_is_talk(line):
    vocabulary = move_words.make_vocabulary(catalogue.find("kaiser"), ("Anna", "Berta"))
    assert parse_move_line(line, STONES, vocabulary) == TALK


def test_a_pause_that_the_table_offers_is_a_command_of_the_table():
    vocabulary = move_words.make_vocabulary(catalogue.find("kurier"), ("Anna", "Berta"))
    assert parse_move_line("pauze", (*ROAD, *make_menu("pause")), vocabulary) == Move("pause")


COMPOUND_WORDS = ("figuur meeple klooster-liggend", "Figur Meeple Kloster-liegend", "figurine partisan abbaye-couché")


@pytest.mark.parametrize("line", COMPOUND_WORDS)
def test_every_word_of_a_composed_one_is_understood_in_the_language_of_its_writer(line):
    meaning = parse_move_line(line, CLOISTER, move_words.make_vocabulary(catalogue.find("carcassonne"), ()))
    assert str(meaning) == "figure meeple cloister-lying"
