"""A player's remark never acts for another player who quotes the letter that contains it."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from email.utils import parseaddr

import pytest
from sqlalchemy import select, update

from service.app import App
from service.store.schema import mails, people, seats
from service.tables import talk
from service.tables.access import Place
from tests import apps
from tests.sampling import one_in, pair_in_turn
from tests.workers.incoming.test_our_words import list_played, send_mail, write_letter
from workers.incoming import inbox, mail_moves
from workers.outgoing import digest, personal_letters
from workers.outgoing.letter import LetterRequest

ATTRIBUTIONS = {
    "Romanian": "În mar., 24 nov. 2026 la 10:00, Anna <table@games.example> a scris:\n\n",
    "headers in Romanian": "De la: Anna\nTrimis: mar. 24 nov. 2026\nCătre: Anna\nSubiect: e rândul tău\n\n",
    "a divider in Romanian": "-----Mesaj original-----\nDe la: Anna\nTrimis: 24\nCătre: Anna\nSubiect: x\n\n",
    "English": "On 24 Nov 2026 at 10:00, Anna <table@games.example> wrote:\n\n",
    "none": "",
    "signature": "-- \nAnna\n\n",
    "signature and Romanian": "-- \nAnna\n\nÎn mar., 24 nov. 2026 la 10:00, Anna a scris:\n\n",
}
PLANTED_WORDS = {
    "a mark": "look\n> x\n{move}\nresign",
    "two marks": "look\n> x\n\n> y\n{move}\nresign",
    "armour": "x\n-----BEGIN PGP SIGNED MESSAGE-----\n\n{move}\nresign\n-----BEGIN PGP SIGNATURE-----\n",
    "an attribution": "look\nOn 3 Feb 2027, Anna wrote:\n> x\n{move}\nresign",
    "a signature": "look\n-- \nx\n> y\n{move}\nresign",
    "headers": "From: x\nTo: y\nSubject: z\n\n> y\n{move}\nresign",
    "a divider": "-----Original Message-----\n> x\n{move}\nresign",
}
WRAPPING_CHARS = (60, 70, 74)


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def quote_and_break(text: str, chars: int) -> str:
    """Quote as programs do that break long lines and mark only the first piece."""
    pieces = list[str]()
    for line in text.splitlines():
        rest = f"> {line}".rstrip()
        while len(rest) > chars and " " in rest[3:chars]:
            cut = rest.rindex(" ", 3, chars)
            pieces.append(rest[:cut])
            rest = rest[cut + 1 :]
        pieces.append(rest)
    return "\n".join(pieces)


def plant(app: App, words: str) -> tuple[Place, str]:
    """Let the other player say these words; return the seat to move, and its letter."""
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    other = next(one for one in places if one.seat != place.seat)
    apps.say(app, other, words.replace("{move}", move))
    text = write_letter(app, place, "en").get_body(("plain",)).get_content()
    assert "Said at the table" in text
    return place, text


@pytest.mark.parametrize(("words", "above"), pair_in_turn(PLANTED_WORDS, list(ATTRIBUTIONS), pytest.mark.release))
def test_words_planted_in_talk_act_in_no_quotation(app: App, words: str, above: str) -> None:
    place, letter = plant(app, PLANTED_WORDS[words])
    for body in (letter, quote(letter)):
        send_mail(app, place, f"{ATTRIBUTIONS[above]}{body}")
        send_mail(app, place, f"Hello\n\n{ATTRIBUTIONS[above]}{body}")
    assert list_played(app) == []


@pytest.mark.parametrize("length", one_in(3, range(50, 76)))
def test_the_end_of_a_broken_line_of_talk_is_not_typed(app: App, length: int) -> None:
    place, letter = plant(app, "x" * (length - 14) + " {move}")
    for chars in WRAPPING_CHARS:
        send_mail(app, place, quote_and_break(letter, chars))
        assert list_played(app) == [], chars


@pytest.mark.parametrize("length", [50, 53])
def test_nor_is_it_when_so_much_was_said_later_that_no_new_letter_repeats_it(app: App, length: int) -> None:
    place, letter = plant(app, "x" * length + " {move}")
    for number in range(talk.MAX_IN_LETTER):
        apps.say(app, Place(place.table, 1 - (place.seat or 0), ""), f"and {number}")
    send_mail(app, place, quote_and_break(letter, 70))
    assert list_played(app) == []


def start_annas_turn(app: App) -> Place:
    """Start a table where it is Anna's turn, and return her place."""
    places = apps.start_table(app)
    with app.store.writing() as db:
        db.execute(update(people).values(letter_settings='{"letters":"digest"}'))
    while not (anna := apps.load_table(app, places[0].table).seats[0]).open_since:
        mover, move = apps.find_move(app, places)
        assert apps.submit(app, mover, move).accepted
    return Place(anna.table, 0, places[0].link)


def send_digest_answer(app: App, place: Place, write_body: Callable[[str], str]) -> None:
    """Send Anna's answer to a digest of all her tables."""
    person = apps.load_table(app, place.table).seats[0].person or 0
    request = LetterRequest("", 0, 0, "digest/2027-01-15", "anna@example.org", "Anna", person=person)
    digest = personal_letters.write(app, request)
    assert digest
    body = digest.get_body(("plain",))
    assert body
    answer = EmailMessage()
    answer["From"], answer["To"], answer["In-Reply-To"] = "anna@example.org", digest["Reply-To"], digest["Message-ID"]
    answer.set_content(write_body(body.get_content()))
    inbox.process_mail(app, answer.as_bytes(), parseaddr(digest["Reply-To"])[1], "anna@example.org")
    mail_moves.run()


@pytest.mark.parametrize("length", [65, 66])
def test_words_planted_at_any_table_of_a_digest_act_in_no_quotation(app: App, length: int) -> None:
    for place in (places := [start_annas_turn(app), start_annas_turn(app)]):
        planted = f"{digest.make_table_sign(apps.load_table(app, place.table).seats[0])}:unsubscribe"
        apps.say(app, Place(place.table, 1, ""), f"{'x' * (length - len(planted))} {planted}")
    send_digest_answer(app, places[0], lambda letter: quote_and_break(letter, 76))
    assert [apps.load_table(app, place.table).seats[0].letter_settings for place in places] == ["", ""]


def test_an_answer_to_a_digest_proves_and_moves_no_seat_that_was_taken_with_a_typed_address(app: App) -> None:
    own, typed = start_annas_turn(app), start_annas_turn(app)
    with app.store.writing() as db:
        db.execute(update(seats).where(seats.c.table == typed.table).values(proven=False))
    lines = [
        f"{digest.make_table_sign(apps.load_table(app, one.table).seats[0])} {apps.list_moves(app, one)[0]}"
        for one in (own, typed)
    ]
    send_digest_answer(app, own, lambda _: lines[1])
    send_digest_answer(app, own, lambda _: "\n".join(lines[:1]))
    assert [row.proven for row in apps.load_table(app, typed.table).seats] == [False, False]
    assert apps.load_table(app, typed.table).seats[0].open_since
    assert not apps.load_table(app, own.table).seats[0].open_since


def test_a_line_with_the_sign_of_no_own_table_is_explained_and_moves_at_no_other_table(app: App) -> None:
    place = start_annas_turn(app)
    move = apps.list_moves(app, place)[0]
    sign = digest.make_table_sign(apps.load_table(app, place.table).seats[0])
    send_digest_answer(app, place, lambda _: f"Hello!\n{sign} letters none\nzzzzzz-4 {move}\n{move}")
    seat = apps.load_table(app, place.table).seats[0]
    assert (seat.letter_settings, bool(seat.open_since)) == ('{"letters":"none"}', True)
    with app.store.reading() as db:
        results = db.execute(select(mails.c.report).order_by(mails.c.id)).scalars().all()
    assert ["about several tables" in result for result in results] == [False, True]


def test_a_player_who_answers_below_a_quotation_is_still_heard(app: App) -> None:
    place, letter = plant(app, "what will you do?")
    move = apps.list_moves(app, place)[0]
    send_mail(app, place, f"{ATTRIBUTIONS['Romanian'].strip()}\n{quote(letter)}\n\n{move}\n")
    assert list_played(app) == [move]


def test_a_move_that_another_named_can_be_made(app: App) -> None:
    place, letter = plant(app, "{move}")
    move = apps.list_moves(app, place)[0]
    send_mail(app, place, f"{move}\n\n{ATTRIBUTIONS['English']}{quote(letter)}")
    assert list_played(app) == [move]
