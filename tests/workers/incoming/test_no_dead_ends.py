"""No dead ends, sentence by sentence, in each of four languages: from a mail that comes in to the letter about it."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import select

from service.app import App
from service.store.schema import letters, seats, talk
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from tests import apps
from tests.sampling import one_in
from tests.workers.incoming.test_inbox import app, deliver, last_letter, list_mailed_moves, rows, start, text
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write

assert app  # the fixture
LANGUAGES = ("en", "nl", "fr", "de")
every_language = pytest.mark.parametrize("language", LANGUAGES)
ACCEPT = {
    "en": ("Count me in!", "Yes please", "I'm in", "Sure, gladly!", "Yes, I'd love to."),
    "nl": ("Ja graag", "Ik doe mee!", "Leuk, doe mee", "Prima, ik speel mee.", "Ja hoor"),
    "fr": ("Avec plaisir !", "Oui, volontiers", "Je participe", "D'accord, je joue.", "Je suis partant"),
    "de": ("Ja gerne", "Mach mit", "Ich bin dabei!", "Klar, gern", "Ja, sehr gerne!"),
}
DECLINE = {
    "en": ("No thanks", "Count me out.", "Sorry, no", "No, thank you!", "Not this time"),
    "nl": ("Nee bedankt", "Nee, dank je", "Sorry, nee", "Liever niet", "Deze keer niet"),
    "fr": ("Non merci", "Désolé, non", "Non, pas cette fois", "Sans moi", "Pas cette fois"),
    "de": ("Nein danke", "Leider nein", "Nein, diesmal nicht", "Ohne mich", "Diesmal nicht"),
}
NOT_YES = (
    "Absolutely not",
    "Sure not!",
    "Natürlich nicht",
    "Zeker niet",
    "Bien sûr que non",
    "Of course not",
    "Gern, nur nicht jetzt",
)
MOVE = {"en": "move", "nl": "zet", "fr": "déplace", "de": "ziehe"}
TYPO = {"en": "moev", "nl": "verzte", "fr": "déplcae", "de": "ziehn"}
YES = {"en": "yes", "nl": "ja", "fr": "oui", "de": "ja"}
SAY = {"en": "say", "nl": "zeg", "fr": "dis", "de": "sag"}
COURTESY = {
    "en": ("1. {}", "{}, good luck!", "{} please", "Please {}", "{}.", "Hi all, {}", "{} :-)", "OK, {}"),
    "nl": ("1. {}", "{}, veel succes!", "{} alsjeblieft", "Graag {}", "{}.", "Hoi allemaal, {}", "{} ;-)", "Oké, {}"),
    "fr": ("1. {}", "{}, bonne chance !", "{} s'il te plaît", "{}, merci", "{}.", "Salut, {}", "{} :)", "Bon, {}"),
    "de": ("1. {}", "{}, viel Glück!", "{} bitte", "Bitte {}", "{}.", "Hallo, {}", "{} 🙂", "Na gut: {}"),
}


def open_with_guest(app: App) -> tuple[Place, Place]:
    first, second = apps.open_table(app)
    return first, second


@pytest.mark.parametrize("line", one_in(2, itertools.chain(*ACCEPT.values())))
def test_an_invitation_is_accepted_by_what_people_say(app: App, line: str) -> None:
    place = open_with_guest(app)[1]
    deliver(app, place, line, "", "Bert")
    assert apps.load_table(app, place.table).seats[1].status == "taken"


@pytest.mark.parametrize("line", one_in(2, itertools.chain(*DECLINE.values())))
def test_it_is_declined_by_what_people_say_and_the_seat_is_free(app: App, line: str) -> None:
    place = open_with_guest(app)[1]
    deliver(app, place, line)
    with app.store.reading() as connection:
        seat = connection.execute(select(seats).where(seats.c.table == place.table, seats.c.seat == 1)).one()
    assert (seat.status, seat.person) == ("open", None)
    assert len(rows(app, letters, letters.c.kind.like("declined/%"))) == 1


@pytest.mark.parametrize("line", NOT_YES)
def test_a_yes_with_a_no_in_it_takes_no_seat(app: App, line: str) -> None:
    place = open_with_guest(app)[1]
    deliver(app, place, line)
    assert apps.load_table(app, place.table).seats[1].status != "taken"


@every_language
def test_one_word_passes_a_mail_without_a_move_on_and_no_player_has_read_it_before(app: App, language: str) -> None:
    place, _, _ = start(app)
    deliver(app, place, "Lovely weather here!")
    letter = text(last_letter(app, place, language))
    assert "Lovely weather here!" in letter
    assert letter.partition("Lovely weather here!")[2].split(".")[0].strip() != ""
    assert SAY[language] in letter.partition("Lovely weather here!")[2][:240].split()
    deliver(app, place, SAY[language])
    with app.store.reading() as connection:
        assert [row.text for row in connection.execute(select(talk)).all()] == ["Lovely weather here!"]


@every_language
def test_a_typo_is_asked_about_in_the_words_of_its_reader_and_one_word_plays_it(app: App, language: str) -> None:
    place, _, move = start(app)
    where = move.partition(" ")[2]
    deliver(app, place, f"{TYPO[language]} {where}")
    assert list_mailed_moves(app) == []
    letter = text(last_letter(app, place, language))
    assert f"{where}" in letter
    assert YES[language] in letter
    deliver(app, place, YES[language].capitalize() + "!")
    assert list_mailed_moves(app) == [move]


@pytest.mark.parametrize(
    ("language", "form"), one_in(2, [(one, form) for one, forms in COURTESY.items() for form in forms])
)
def test_courtesy_is_no_obstacle(app: App, language: str, form: str) -> None:
    place, _, move = start(app)
    deliver(app, place, form.format(f"{MOVE[language]} {move.partition(' ')[2]}"))
    assert list_mailed_moves(app) == [move]


def tiles(app: App) -> Place:
    """The place on turn at a new table of Carcassonne, whose tokens differ most from language to language."""
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES[:2]]
    places = [access.find(app, link) for link in apps.open_new(app, "carcassonne", {}, guests).links]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    return apps.find_move(app, places)[0]


@every_language
def test_a_refusal_has_no_word_of_another_language(app: App, language: str) -> None:
    place = tiles(app)
    assert apps.submit(app, place, apps.list_moves(app, place)[0]).accepted
    deliver(app, place, "figure meeple volcano")
    whole = last_letter(app, place, language).get_body(("plain",)).get_content()
    letter = " ".join(whole.partition("volcano")[2].split("\n\n")[1:3])
    assert letter.strip()
    if language != "en":
        assert not {"figure", "road", "city", "field", "meeple road"} & set(letter.replace(",", " ").split())


@every_language
def test_an_answer_from_another_address_gets_a_hint_of_the_right_one(app: App, language: str) -> None:
    place, _, move = start(app)
    deliver(app, place, move, From="anna@work.example")
    assert list_mailed_moves(app) == []
    (row,) = rows(app, letters, letters.c.kind.like("stranger/%"))
    order = LetterRequest(row.table, row.seq, row.seat, row.kind, "a@x.org", "Anna", language, row.sentence)
    letter = text(write(app, order))
    assert "anna@work.example" in letter
    assert apps.load_address(app, place) in letter


@pytest.mark.parametrize("sender", ["Anna.Example@googlemail.com", "annaexample+depesche@gmail.com"])
def test_the_domains_and_plus_addresses_of_gmail_are_one_box(app: App, sender: str) -> None:
    guests = [Invitee("Anna", "anna.example@gmail.com"), Invitee("Bert", "bert.example@gmail.com")]
    places = [access.find(app, link) for link in apps.open_new(app, "kaiser", {}, guests).links]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    place, move = apps.find_move(app, places)
    deliver(app, place, move, From=sender if place.seat == 0 else sender.lower().replace("anna", "bert"))
    assert list_mailed_moves(app) == [move]


def test_an_answer_that_leaves_the_turn_open_says_so_with_its_deadline(app: App) -> None:
    place = tiles(app)
    deliver(app, place, apps.list_moves(app, place)[0])
    letter = text(last_letter(app, place))
    assert "your answer has been played, and it is still your turn" in letter
    assert "You have time until" in letter
