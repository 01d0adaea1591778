"""Commands by mail besides moves, in four languages, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from engine import catalogue
from engine.menu import Choice, Move, make_menu
from engine.table_events import (
    VacationEnded,
    VacationTaken,
)
from service.app import App
from service.people import letter_settings
from service.people.letter_settings import TableLetterSettings
from service.store.schema import seats
from service.tables import standing_orders
from service.tables.access import Place
from service.text import move_words
from service.text.languages import LANGUAGES, Sentence, Translator, translate
from tests import apps
from tests.apps import FakeTime
from tests.workers.incoming.test_inbox import deliver, last_letter, list_answer_kinds, text
from workers.incoming.mail_commands import parse_command
from workers.incoming.mail_orders import ConditionalOrder, parse_order
from workers.incoming.move_parser import parse_move_line
from workers.outgoing.letter_parts import list_help

TWO_WEEKS = "vacation 2027-07-01 2027-07-14"
COMMANDS = {
    "vacation 2027-07-01 2027-07-14": TWO_WEEKS,
    "Vakantie van 2027-07-01 tot 2027-07-14": TWO_WEEKS,
    "Vacances du 2027-07-01 au 2027-07-14, merci": TWO_WEEKS,
    "Urlaub 2027-07-01 bis 2027-07-14.": TWO_WEEKS,
    "home": "home",
    "Ik ben thuis!": "home",
    "rentrée": "home",
    "zu Hause": "home",
    "order move A15 A9": "order move A15 A9",
    "opdracht zet a15 a9": "order zet a15 a9",
    "ordre déplacer A15 A9": "order déplacer A15 A9",
    "Auftrag: ziehe A15 A9": "order ziehe A15 A9",
    "cancel": "cancel",
    "schrap 12": "cancel 12",
    "supprime": "cancel",
    "Streiche Auftrag 3": "cancel 3",
    "letters digest": "letters digest",
    "Letters: every turn": "letters turn",
    "brieven overzicht": "letters digest",
    "lettres rappels": "letters reminders",
    "Briefe täglich": "letters digest",
    "keine Briefe bitte": "letters none",
    "Unsubscribe": "letters none",
    "STOP": "letters none",
    "vacation": None,
    "order": None,
    "letters perhaps": None,
}
TALK = (
    "Vacation was great, thank you!",
    "We were on vacation in 2019 with the whole family and the dog",
    "Home is where the heart is",
    "Order of play, as I said",
    "Cancel that thought",
    "Letters like yours are nice",
    "Stop it, all of you",
    "no",
    "",
)


@pytest.fixture
def app(tmp_path, clock: FakeTime) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path, sender="table@games.example"), clock) as app:
        yield app


@pytest.fixture
def vocabulary() -> move_words.Vocabulary:
    return move_words.make_vocabulary(catalogue.find("kaiser"), ("Anna", "Berta"))


def load_table_settings(app: App, place: Place) -> TableLetterSettings:
    own = select(seats.c.letter_settings).where(seats.c.table == place.table, seats.c.seat == place.seat)
    with app.store.reading() as connection:
        return letter_settings.parse_table_settings(connection.execute(own).scalar_one())


def list_events(app: App, place: Place) -> list[object]:
    entries = apps.load_entries(app, apps.load_table(app, place.table))
    return [event for entry in entries for event in entry.events]


def ask(app: App, place: Place, *lines: str) -> str:
    """Deliver a mail with these lines; return the text of the letter that answers it."""
    deliver(app, place, *lines)
    return text(last_letter(app, place))


@pytest.mark.parametrize(("line", "meaning"), COMMANDS.items(), ids=str)
def test_people_ask_in_their_language(vocabulary, line, meaning):
    command = parse_command(line, (Choice("move", (("A15", "A9"),)), *make_menu("undo")), vocabulary)
    if meaning is None:  # an answer says how it is written
        assert "Write" in str(command)
    else:
        assert str(command) == meaning


@pytest.mark.parametrize("line", TALK)
def test_talk_asks_for_nothing(vocabulary, line):
    assert parse_command(line, (), vocabulary) is None


def test_where_stop_is_a_move_it_stops_no_letters():
    vocabulary = move_words.make_vocabulary(catalogue.find("kurier"), ("Anna", "Berta"))
    for offered in ((), make_menu("stop")):
        assert parse_command("stop", offered, vocabulary) is None
        assert parse_command("stop letters", offered, vocabulary) == Move("letters", ("none",))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", catalogue.find_all())
def test_the_commands_of_the_help_are_understood(language, game):
    vocabulary = move_words.make_vocabulary(catalogue.find(game), ("Anna", "Berta"))
    *lines, hint, condition = list_help(Translator(language))
    assert parse_order(condition.command.replace("...", "flip"), vocabulary) == ConditionalOrder(("flip",), "flip")
    assert parse_move_line(hint.command, (), vocabulary) == Move("hint")
    verb = next(iter(vocabulary.game.verbs))
    commands = [parse_command(line.command.replace("...", verb), (), vocabulary) for line in lines]
    expected = [TWO_WEEKS, "home", f"order {verb}", "cancel", "letters digest", "letters none"]
    assert [str(move) for move in commands] == expected
    modes = lines[4].meaning.rpartition(": ")[2].rpartition("\N{NO-BREAK SPACE}:")[2].split(", ")
    assert [str(parse_command(mode, (), vocabulary)) for mode in modes] == [
        "letters turn",
        "letters reminders",
        "letters none",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_forms_that_answers_suggest_are_understood(language):
    vocabulary = move_words.make_vocabulary(catalogue.find("carcassonne"), ("Anna", "Berta"))
    shown = {
        "Write a vacation with its first and last day, such as: vacation 2027-07-01 2027-07-14": "vacation",
        "Write the move after the word order, such as: order pass": "order",
        "To end a vacation early write only: home": "home",
        "No more letters come from this table; your clock runs on. To have them again, write: letters turn": "letters",
    }
    for sentence, verb in shown.items():
        written = translate(language, Sentence(sentence)).rpartition(":")[2].strip()
        command = parse_command(written, (), vocabulary)
        assert isinstance(command, Move), written
        assert command.verb == verb


def test_a_vacation_is_taken_and_ended_by_mail(app):
    place = apps.start_table(app)[0]
    assert "Anna is away from 1 Jul 2027 to 14 Jul 2027." in ask(app, place, TWO_WEEKS)
    assert list_events(app, place)[-1] == VacationTaken(0, "2027-07-01", "2027-07-14")
    assert "Done." in ask(app, place, TWO_WEEKS)
    assert "You are away from 2027-07-01 to 2027-07-14 already." in ask(app, place, "vacation 2027-07-03 2027-07-05")
    assert "Anna does not go away" in ask(app, place, "home")
    assert isinstance(list_events(app, place)[-1], VacationEnded)
    assert "no vacation that could end earlier" in ask(app, place, "home")
    assert "such as: vacation 2027-07-01" in ask(app, place, "vacation 1.7. 14.7.")
    assert list_answer_kinds(app) == ["accepted"] * 2 + ["refused", "accepted", "refused", "refused"]


def test_orders_are_given_listed_and_cancelled_by_mail(app):
    place = apps.find_waiting(app, apps.start_table(app))
    letter = ask(app, place, "opdracht zet A1 A2", "order move B1 B2")
    with app.store.reading() as connection:
        first, second = [order.id for order in standing_orders.list_orders(connection, place.table, place.seat)]
    assert f"Noted as number {first}. As soon as it is possible in your turn, this is done: zet A1 A2" in letter
    assert f"{first}: zet A1 A2; {second}: move B1 B2" in ask(app, place, "status")
    assert f"Order {first} is forgotten." in ask(app, place, f"cancel {first}")
    assert "You have no orders any more." in ask(app, place, "cancel")
    assert "There is no such order" in ask(app, place, "cancel")


def test_an_order_in_ones_own_language_is_carried_out(app):
    place, move = apps.find_move(app, apps.start_table(app))
    verb, start, end = move.split()
    assert verb == "move"
    deliver(app, place, f"Auftrag ziehe {start} {end}")
    assert apps.load_entries(app, apps.load_table(app, place.table))[-1].move == move


def test_letters_of_a_table_are_chosen_by_mail(app):
    place = apps.start_table(app)[0]
    assert "in the one letter of your day" in ask(app, place, "letters digest")
    assert load_table_settings(app, place) == TableLetterSettings("digest")
    assert "No more letters come from this table" in ask(app, place, "stop")
    assert load_table_settings(app, place) == TableLetterSettings("none")
    assert "for every turn of yours" in ask(app, place, "letters turn")
    assert load_table_settings(app, place) == TableLetterSettings()
    assert "letters turn, digest, reminders, or none" in ask(app, place, "letters often")


def test_letters_stop_before_the_game_and_after_it(app):
    place = apps.open_table(app)[0]
    deliver(app, place, "unsubscribe")
    assert load_table_settings(app, place) == TableLetterSettings("none")
    assert "has not begun yet" in ask(app, place, TWO_WEEKS)


def test_a_command_may_accompany_a_move(app):
    place, move = apps.find_move(app, apps.start_table(app))
    letter = ask(app, place, move, "letters digest")
    assert apps.load_entries(app, apps.load_table(app, place.table))[-1].move == move
    assert "in the one letter of your day" in letter


def test_help_lists_what_may_be_asked(app):
    place = apps.start_table(app)[0]
    letter = ask(app, place, "help")
    for line in ("vacation 2027-07-01 2027-07-14: your clocks", "home:", "order ...:", "cancel:", "unsubscribe:"):
        assert line in letter
