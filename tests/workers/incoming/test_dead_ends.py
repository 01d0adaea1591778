"""Courtesy around a move is no obstacle, and a player who writes no move reads how to go on."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from engine import catalogue
from engine.menu import Choice, Move, make_menu
from service.app import App
from service.store.schema import letters, seats, talk
from service.text import move_words
from service.text.languages import Sentence
from tests import apps
from tests.workers.incoming.test_inbox import app, deliver, last_letter, list_mailed_moves, report, rows, start, text
from workers.incoming.move_parser import TALK, Guess, NewRemark, parse_move_line
from workers.outgoing.suggestions import MoveWriter, translate_refusal

assert app  # the fixture
MENU = (Choice("move", (("A14", "A8"), ("A15", "A9"), ("A9", "Z"))), *make_menu("undo"))
EVERYDAY_MOVES = {
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
MISSPELT_MOVES = {"ziehn A14 A8": "move A14 A8", "moev A15 A9": "move A15 A9", "déplcae A9 Z": "move A9 Z"}
ANNOUNCEMENTS = (
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
DECLINATIONS = ("nee bedankt", "no thanks", "Nein danke.", "non merci", "count me out")


@pytest.mark.parametrize(("line", "move"), EVERYDAY_MOVES.items())
def test_courtesy_and_numbers_are_no_obstacle(line: str, move: str) -> None:
    assert str(parse_move_line(line, MENU, make_vocabulary())) == move


def test_a_wish_is_cut_behind_letters_that_fold_into_two() -> None:
    menu = (Choice("figure", (("large", "road"), ("large", "city"))),)
    vocabulary = move_words.make_vocabulary(catalogue.find("carcassonne"), ("Anna", "Berta"))
    meaning = parse_move_line("Figur groß Straße, viel Glück", menu, vocabulary)
    assert str(meaning) == "figure large road"


def test_an_everyday_word_that_begins_like_a_command_does_not_stop_the_mail() -> None:
    menu = (*MENU, *make_menu("pause"))
    assert [parse_move_line(line, menu, make_vocabulary()) for line in ("Fair enough.", "Fair play!")] == [TALK, TALK]


@pytest.mark.parametrize("line", ["say 😀", "Sagen: 😀", "zeggen 😀", "dites : 😀"])
def test_a_remark_may_be_a_picture(line: str) -> None:
    assert parse_move_line(line, MENU, make_vocabulary()) == NewRemark("😀")


@pytest.mark.parametrize(("line", "move"), MISSPELT_MOVES.items())
def test_a_slip_of_the_pen_is_guessed(line: str, move: str) -> None:
    meaning = parse_move_line(line, MENU, make_vocabulary())
    assert isinstance(meaning, Guess)
    assert str(meaning.move) == move


@pytest.mark.parametrize("move", ["A14 A8", "ziehe A14 A8"])
@pytest.mark.parametrize("line", ANNOUNCEMENTS)
def test_words_that_announce_a_move_are_no_obstacle(line: str, move: str) -> None:
    assert str(parse_move_line(line.format(move), MENU, make_vocabulary())) == "move A14 A8"


@pytest.mark.parametrize("move", ["A14 A8", "ziehe A14 A8", "Zug A14-A8?"])
@pytest.mark.parametrize("line", UNKNOWN)
def test_a_move_behind_unknown_words_is_asked_about(line: str, move: str) -> None:
    meaning = parse_move_line(line.format(move), MENU, make_vocabulary())
    assert isinstance(meaning, Guess)
    assert str(meaning.move) == "move A14 A8"


@pytest.mark.parametrize("line", OTHERS)
def test_another_players_idea_is_neither_played_nor_asked_about(line: str) -> None:
    assert not isinstance(parse_move_line(line.format("ziehe A14 A8"), MENU, make_vocabulary()), Guess | Move)


def test_a_player_whose_name_announces_a_move_elsewhere_is_a_player() -> None:
    vocabulary = move_words.make_vocabulary(catalogue.find("kaiser"), ("Mia", "Berta"))
    assert str(parse_move_line("la mia mossa: A14 A8", MENU, make_vocabulary())) == "move A14 A8"
    assert parse_move_line("Mia: A14 A8", MENU, vocabulary) == TALK


@pytest.mark.parametrize("line", ["ziehn A14 A9", "move", "schiebe A1 B2", "Gute Nacht alle zusammen"])
def test_what_is_near_to_nothing_or_to_several_moves_is_not_guessed(line: str) -> None:
    assert not isinstance(
        parse_move_line(line, (Choice("move", (("A14", "A8"), ("A14", "A7"))),), make_vocabulary()), Guess
    )


def make_vocabulary() -> move_words.Vocabulary:
    return move_words.make_vocabulary(catalogue.find("kaiser"), ("Anna", "Berta"))


@pytest.mark.parametrize("line", YES)
def test_an_invitation_is_accepted_as_people_accept(app: App, line: str) -> None:
    place = apps.open_table(app)[1]
    deliver(app, place, line)
    assert apps.load_table(app, place.table).seats[1].status == "taken"


@pytest.mark.parametrize("line", DECLINATIONS)
def test_a_declined_invitation_frees_its_seat_and_the_organiser_gets_a_letter(app: App, line: str) -> None:
    first, second = apps.open_table(app)
    deliver(app, second, line)
    with app.store.reading() as connection:
        seat = connection.execute(select(seats).where(seats.c.table == first.table, seats.c.seat == 1)).one()
    assert (seat.status, seat.person, seat.name) == ("open", None, "")
    (row,) = rows(app, letters, letters.c.kind.like("declined/%"))
    assert row.seat == 0
    assert f"{app.settings.address}/join/{app.links.make_join_token(first.table)}" in row.sentence
    assert '"who":"Berta"' in row.sentence


def test_the_organiser_cannot_decline_and_a_guest_can_only_once(app: App) -> None:
    first, second = apps.open_table(app)
    deliver(app, first, "nein danke")
    assert report(app)[0][1] == "refused"
    deliver(app, second, "sit word")
    deliver(app, second, "nein danke")
    assert report(app)[0][1] == "refused"
    assert apps.load_table(app, first.table).seats[1].status == "taken"


def test_a_guess_is_played_by_yes_and_by_nothing_else(app: App) -> None:
    place, other, move = start(app)
    slip = f"moev {move.partition(' ')[2]}"
    deliver(app, place, slip)
    letter = text(last_letter(app, place))
    assert f"Did you mean this? Then answer with one word: yes {move}" in letter
    deliver(app, place, "Ja!")
    assert list_mailed_moves(app) == [move]
    deliver(app, other, "ja")
    assert list_mailed_moves(app) == [move]


def test_a_guess_about_an_older_position_is_not_played(app: App) -> None:
    place, _, move = start(app)
    deliver(app, place, f"moev {move.partition(' ')[2]}")
    assert apps.submit(app, place, move).accepted
    deliver(app, place, "ja")
    assert list_mailed_moves(app) == []


def test_one_word_passes_a_mail_without_a_move_on_to_the_table(app: App) -> None:
    place, _, _ = start(app)
    deliver(app, place, "Lovely weather here!", "And with you?")
    assert "the other players have not seen it. To tell it to the table, answer with one word: say" in text(
        last_letter(app, place)
    )
    deliver(app, place, "sag")
    with app.store.reading() as connection:
        assert [row.text for row in connection.execute(select(talk)).all()] == ["Lovely weather here!\nAnd with you?"]


def test_a_refusal_uses_the_words_of_its_reader() -> None:
    pen = MoveWriter(catalogue.find("carcassonne"), ("Anna", "Berta"), "fr")
    why = Sentence("After “{said}”, “{bit}” does not fit; write one of these: {following}.", {})
    words_of_the_menu = {"said": "figure meeple", "bit": "Strasse", "following": "road, city-N"}
    meaning = translate_refusal(Sentence(why.sentence, dict(words_of_the_menu)), pen)
    assert meaning.words["bit"] == "Strasse"
    assert meaning.words["said"] == "figurine meeple"
    assert "road" not in str(meaning.words["following"])
