"""Mails as people write them: courtesy is no obstacle, and a player who writes no move is told how to go on."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from engine import catalogue
from engine.menu import Choice, Move, make_menu
from service.app import App
from service.store.schema import letters, seats, talk
from service.text import words
from service.text.sentences import Sentence
from tests import apps
from tests.workers.incoming.test_inbox import app, handed_in, last_letter, posted, report, rows, start, text
from workers.incoming.move_parser import TALK, Guess, TalkLine, parse_move_line
from workers.outgoing.answer_hints import MoveWriter, translate_refusal

assert app  # the fixture
MENU = (Choice("move", (("A14", "A8"), ("A15", "A9"), ("A9", "Z"))), *make_menu("undo"))
MEANT = {
    "1. move A14 A8": "move A14 A8",
    "- ziehe A14 A8.": "move A14 A8",
    "ziehe A14 A8, viel Glück!": "move A14 A8",
    "move A14 A8. Good luck!": "move A14 A8",
    "Move A14-A8, please, good luck": "move A14 A8",
    "zet A14 A8. Jouw beurt, en tot morgen!": "move A14 A8",
    "déplace A14 A8 s'il te plaît": "move A14 A8",
    "pls move A14 A8": "move A14 A8",
    "ok, A14 A8": "move A14 A8",
    "doe maar A14 A8": "move A14 A8",
    "Mijn zet is A14 A8": "move A14 A8",
    "A14 A8…": "move A14 A8",
    "A14 A8 :-D": "move A14 A8",
    "A14 A8 xD": "move A14 A8",
    "A14\u2011A8": "move A14 A8",
    "move A14\u2212A8": "move A14 A8",
    "2) A15 A9 - bonne chance !": "move A15 A9",
}
GUESSED = {"ziehn A14 A8": "move A14 A8", "moev A15 A9": "move A15 A9", "déplcae A9 Z": "move A9 Z"}
ANNOUNCED = (
    "my next move: {}",
    "mein Zug: {}",
    "Antwort: {}",
    "volgende zet: {}",
    "mon coup : {}",
    "Mi jugada: {}",
    "手：{}",
)
UNKNOWN = ("Wait: {}", "Later: {}", "Wenn er kommt: {}", "PS: {}", "Xyz: {}")
OTHERS = ("Anna: {}", "Berta thinks: {}", "not yet: {}", "nog niet: {}", "surtout pas : {}")
YES = ("ja gerne", "count me in", "mach mit", "Ja, klar!", "doe mee", "je participe", "ok", "I'm in!", "avec plaisir")
NO = ("nee bedankt", "no thanks", "Nein danke.", "non merci", "count me out")


@pytest.mark.parametrize(("line", "move"), MEANT.items())
def test_courtesy_and_numbers_are_no_obstacle(line: str, move: str) -> None:
    assert str(parse_move_line(line, MENU, words.make_vocabulary(catalogue.find("kaiser"), ("Anna", "Berta")))) == move


def test_an_everyday_word_that_begins_like_a_command_does_not_stop_the_mail() -> None:
    menu = (*MENU, *make_menu("pause"))
    assert [parse_move_line(line, menu, spoken()) for line in ("Fair enough.", "Fair play!")] == [TALK, TALK]


@pytest.mark.parametrize("line", ["say 😀", "Sagen: 😀", "zeggen 😀", "dites : 😀"])
def test_a_remark_may_be_a_picture(line: str) -> None:
    assert parse_move_line(line, MENU, spoken()) == TalkLine("😀")


@pytest.mark.parametrize(("line", "move"), GUESSED.items())
def test_a_slip_of_the_pen_is_guessed(line: str, move: str) -> None:
    found = parse_move_line(line, MENU, words.make_vocabulary(catalogue.find("kaiser"), ("Anna", "Berta")))
    assert isinstance(found, Guess)
    assert str(found.move) == move


@pytest.mark.parametrize("move", ["A14 A8", "ziehe A14 A8"])
@pytest.mark.parametrize("line", ANNOUNCED)
def test_words_that_announce_a_move_are_no_obstacle(line: str, move: str) -> None:
    assert str(parse_move_line(line.format(move), MENU, spoken())) == "move A14 A8"


@pytest.mark.parametrize("move", ["A14 A8", "ziehe A14 A8", "Zug A14-A8?"])
@pytest.mark.parametrize("line", UNKNOWN)
def test_a_move_behind_words_that_nobody_knows_is_asked_about(line: str, move: str) -> None:
    found = parse_move_line(line.format(move), MENU, spoken())
    assert isinstance(found, Guess)
    assert str(found.move) == "move A14 A8"


@pytest.mark.parametrize("line", OTHERS)
def test_a_move_that_somebody_else_thinks_of_is_neither_played_nor_asked_about(line: str) -> None:
    assert not isinstance(parse_move_line(line.format("ziehe A14 A8"), MENU, spoken()), Guess | Move)


def test_a_player_whose_name_announces_a_move_elsewhere_is_a_player() -> None:
    told = words.make_vocabulary(catalogue.find("kaiser"), ("Mia", "Berta"))
    assert str(parse_move_line("la mia mossa: A14 A8", MENU, spoken())) == "move A14 A8"
    assert parse_move_line("Mia: A14 A8", MENU, told) == TALK


@pytest.mark.parametrize("line", ["ziehn A14 A9", "move", "schiebe A1 B2", "Gute Nacht alle zusammen"])
def test_what_is_near_to_nothing_or_to_several_moves_is_not_guessed(line: str) -> None:
    assert not isinstance(parse_move_line(line, (Choice("move", (("A14", "A8"), ("A14", "A7"))),), spoken()), Guess)


def spoken() -> words.Vocabulary:
    return words.make_vocabulary(catalogue.find("kaiser"), ("Anna", "Berta"))


@pytest.mark.parametrize("line", YES)
def test_an_invitation_is_accepted_as_people_accept(app: App, line: str) -> None:
    place = apps.open_table(app)[1]
    posted(app, place, line)
    assert apps.load_table(app, place.table).seats[1].status == "taken"


@pytest.mark.parametrize("line", NO)
def test_an_invitation_is_declined_its_seat_is_free_and_the_organiser_hears_it(app: App, line: str) -> None:
    first, second = apps.open_table(app)
    posted(app, second, line)
    with app.store.reading() as connection:
        seat = connection.execute(select(seats).where(seats.c.table == first.table, seats.c.seat == 1)).one()
    assert (seat.status, seat.person, seat.name) == ("open", None, "")
    (row,) = rows(app, letters, letters.c.kind.like("declined/%"))
    assert row.seat == 0
    assert f"{app.settings.address}/join/{app.links.join(first.table)}" in row.sentence
    assert '"who":"Berta"' in row.sentence


def test_the_organiser_cannot_decline_and_nobody_can_twice(app: App) -> None:
    first, second = apps.open_table(app)
    posted(app, first, "nein danke")
    assert report(app)[0][1] == "refused"
    posted(app, second, "sit word")
    posted(app, second, "nein danke")
    assert report(app)[0][1] == "refused"
    assert apps.load_table(app, first.table).seats[1].status == "taken"


def test_a_guess_is_played_by_yes_and_by_nothing_else(app: App) -> None:
    place, other, move = start(app)
    slip = f"moev {move.partition(' ')[2]}"
    posted(app, place, slip)
    told = text(last_letter(app, place))
    assert f"Did you mean this? Then answer with one word: yes {move}" in told
    posted(app, place, "Ja!")
    assert handed_in(app) == [move]
    posted(app, other, "ja")
    assert handed_in(app) == [move]


def test_a_guess_about_an_older_position_is_not_played(app: App) -> None:
    place, _, move = start(app)
    posted(app, place, f"moev {move.partition(' ')[2]}")
    assert apps.submit(app, place, move).accepted
    posted(app, place, "ja")
    assert handed_in(app) == []


def test_a_mail_without_a_move_can_be_told_to_the_table_by_one_word(app: App) -> None:
    place, _, _ = start(app)
    posted(app, place, "Lovely weather here!", "And with you?")
    assert "nobody else has seen it. To tell it to the table, answer with one word: say" in text(
        last_letter(app, place)
    )
    posted(app, place, "sag")
    with app.store.reading() as connection:
        assert [row.text for row in connection.execute(select(talk)).all()] == ["Lovely weather here!\nAnd with you?"]


def test_a_refusal_uses_the_words_of_its_reader() -> None:
    pen = MoveWriter(catalogue.find("carcassonne"), ("Anna", "Berta"), "fr")
    why = Sentence("After “{said}”, “{bit}” does not fit; write one of these: {following}.", {})
    words_of_the_menu = {"said": "figure meeple", "bit": "Strasse", "following": "road, city-N"}
    found = translate_refusal(Sentence(why.sentence, dict(words_of_the_menu)), pen)
    assert found.words["bit"] == "Strasse"
    assert found.words["said"] == "figurine meeple"
    assert "road" not in str(found.words["following"])
