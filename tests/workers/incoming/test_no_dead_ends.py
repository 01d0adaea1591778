"""No dead ends, sentence by sentence, in each of four languages: from a mail that comes in to the letter about it."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from service.house import House
from service.store.schema import letters, seats, talk
from service.tables import access, opening, snapshots
from service.tables.access import Place
from service.tables.opening import Invited
from tests import houses
from tests.workers.incoming.test_inbox import handed_in, here, last_letter, posted, rows, start, text
from workers.outgoing.envelopes import LetterOrder
from workers.outgoing.letters import write

assert here  # the fixture
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


def invited(here: House) -> tuple[Place, Place]:
    first, second = houses.opened(here)
    return first, second


@pytest.mark.parametrize("line", [line for lines in ACCEPT.values() for line in lines])
def test_an_invitation_is_accepted_by_what_people_say(here: House, line: str) -> None:
    place = invited(here)[1]
    posted(here, place, line, "", "Bert")
    assert snapshots.look(here, place.table).seats[1].status == "taken"


@pytest.mark.parametrize("line", [line for lines in DECLINE.values() for line in lines])
def test_it_is_declined_by_what_people_say_and_the_seat_is_free(here: House, line: str) -> None:
    place = invited(here)[1]
    posted(here, place, line)
    with here.store.reading() as connection:
        seat = connection.execute(select(seats).where(seats.c.table == place.table, seats.c.seat == 1)).one()
    assert (seat.status, seat.person) == ("open", None)
    assert len(rows(here, letters, letters.c.kind.like("declined/%"))) == 1


@pytest.mark.parametrize("line", NOT_YES)
def test_a_yes_with_a_no_in_it_takes_no_seat(here: House, line: str) -> None:
    place = invited(here)[1]
    posted(here, place, line)
    assert snapshots.look(here, place.table).seats[1].status != "taken"


@every_language
def test_a_mail_without_a_move_is_passed_on_by_one_word_and_nobody_has_seen_it_before(
    here: House, language: str
) -> None:
    place, _, _ = start(here)
    posted(here, place, "Lovely weather here!")
    told = text(last_letter(here, place, language))
    assert "Lovely weather here!" in told
    assert told.partition("Lovely weather here!")[2].split(".")[0].strip() != ""
    assert SAY[language] in told.partition("Lovely weather here!")[2][:240].split()
    posted(here, place, SAY[language])
    with here.store.reading() as connection:
        assert [row.text for row in connection.execute(select(talk)).all()] == ["Lovely weather here!"]


@every_language
def test_a_typo_is_asked_about_in_the_words_of_its_reader_and_one_word_plays_it(here: House, language: str) -> None:
    place, _, move = start(here)
    where = move.partition(" ")[2]
    posted(here, place, f"{TYPO[language]} {where}")
    assert handed_in(here) == []
    told = text(last_letter(here, place, language))
    assert f"{where}" in told
    assert YES[language] in told
    posted(here, place, YES[language].capitalize() + "!")
    assert handed_in(here) == [move]


@pytest.mark.parametrize(("language", "form"), [(one, form) for one, forms in COURTESY.items() for form in forms])
def test_courtesy_is_no_obstacle(here: House, language: str, form: str) -> None:
    place, _, move = start(here)
    posted(here, place, form.format(f"{MOVE[language]} {move.partition(' ')[2]}"))
    assert handed_in(here) == [move]


def tiles(here: House) -> Place:
    """The place on turn at a new table of Carcassonne, whose tokens differ most from language to language."""
    guests = [Invited(name, f"{name.lower()}@example.org") for name in houses.NAMES[:2]]
    places = [access.find(here, link) for link in opening.open_table(here, "carcassonne", {}, guests).links]
    for place in places:
        assert houses.judged(here, place, "sit word").accepted
    return houses.on_turn(here, places)[0]


@every_language
def test_a_refusal_has_no_word_of_another_language(here: House, language: str) -> None:
    place = tiles(here)
    assert houses.judged(here, place, houses.moves(here, place)[0]).accepted
    posted(here, place, "figure meeple volcano")
    whole = last_letter(here, place, language).get_body(("plain",)).get_content()
    told = " ".join(whole.partition("volcano")[2].split("\n\n")[1:3])
    assert told.strip()
    if language != "en":
        assert not {"figure", "road", "city", "field", "meeple road"} & set(told.replace(",", " ").split())


@every_language
def test_an_answer_from_another_address_is_told_which_one_plays_here(here: House, language: str) -> None:
    place, _, move = start(here)
    posted(here, place, move, From="anna@work.example")
    assert handed_in(here) == []
    (row,) = rows(here, letters, letters.c.kind.like("stranger/%"))
    order = LetterOrder(row.table, row.seq, row.seat, row.kind, "a@x.org", "Anna", language, row.said)
    told = text(write(here, order))
    assert "anna@work.example" in told
    assert access.owner(here, place) in told


@pytest.mark.parametrize("sender", ["Anna.Example@googlemail.com", "annaexample+depesche@gmail.com"])
def test_the_domains_and_plus_addresses_of_gmail_are_one_box(here: House, sender: str) -> None:
    guests = [Invited("Anna", "anna.example@gmail.com"), Invited("Bert", "bert.example@gmail.com")]
    places = [access.find(here, link) for link in opening.open_table(here, "kaiser", {}, guests).links]
    for place in places:
        assert houses.judged(here, place, "sit word").accepted
    place, move = houses.on_turn(here, places)
    posted(here, place, move, From=sender if place.seat == 0 else sender.lower().replace("anna", "bert"))
    assert handed_in(here) == [move]
