"""Letters of Depesche that come back inside a mail, quoted in any way, make no move."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from sqlalchemy import select

from engine import catalogue
from service.app import App
from service.store.schema import mails, submissions
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from service.text.languages import LANGUAGES
from tests import apps
from tests.sampling import pair_in_turn
from workers.incoming import inbox, mail_moves, reply_text
from workers.outgoing import emails, personal_letters
from workers.outgoing.letter import LetterRequest
from workers.outgoing.owed import LETTER_KINDS
from workers.outgoing.table_letters import write

ITALIAN = "Da: Depesche <table@games.example>\nInviato: mercoledì 3 febbraio 2027 10:00\nA: Anna\nOggetto: R: Zug\n\n"
FINNISH = "Depesche kirjoitti 3.2.2027 klo 10.00:\n\n"
WAYS = {
    "bare": lambda letter: letter,
    "below a greeting": lambda letter: f"Buongiorno!\n\n{letter}",
    "Italian headers": lambda letter: f"{ITALIAN}{letter}",
    "Finnish attribution": lambda letter: f"{FINNISH}{letter}",
    "wrapped anew": lambda letter: "\n".join(textwrap.fill(line, 50) for line in letter.splitlines()),
    "indented": lambda letter: textwrap.indent(letter, "    "),
    "after seventy lines": lambda letter: "Blah blah!\n" * 70 + letter,
}


@pytest.fixture
def app(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    with apps.run_app(
        apps.make_settings(tmp_path, sender="table@games.example", answers_per_hour=1_000), apps.FakeTime()
    ) as app:
        yield app


def open_table(app: App, game: str) -> Place:
    """Open a table of this game; return the place of the player to move."""
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES[:2]]
    places = [access.find(app, link) for link in apps.open_new(app, game, {}, guests).links]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    return apps.find_move(app, places)[0]


def write_letter(app: App, place: Place, language: str, kind: str = "turn") -> EmailMessage:
    seat = apps.load_table(app, place.table).seats[place.seat or 0]
    order = LetterRequest(
        place.table, seat.open_since or 0, seat.seat, kind, apps.load_address(app, place), seat.name, language
    )
    message = write(app, order)
    assert message is not None
    return message


def send_mail(app: App, place: Place, body: str, subtype: str = "plain") -> None:
    message = EmailMessage()
    message["From"] = apps.load_address(app, place)
    message["To"] = app.links.make_reply_address(app.settings, apps.load_table(app, place.table).seats[place.seat or 0])
    message["Subject"] = "R: Zug"
    message.set_content(body, subtype=subtype)
    assert inbox.process_mail(app, message.as_bytes(), str(message["To"]), "anna@example.org")
    mail_moves.run()


def list_played(app: App) -> list[str]:
    with app.store.reading() as connection:
        return list(connection.execute(select(submissions.c.move).where(submissions.c.by_mail)).scalars())


@pytest.mark.parametrize(("game", "language"), pair_in_turn(catalogue.find_all(), list(LANGUAGES), pytest.mark.release))
def test_no_line_of_our_letter_plays_however_it_is_quoted(app: App, game: str, language: str) -> None:
    place = open_table(app, game)
    letter = write_letter(app, place, language)
    text, html = (letter.get_body((form,)).get_content() for form in ("plain", "html"))
    for name, way in WAYS.items():
        send_mail(app, place, way(text))
        assert list_played(app) == [], name
    send_mail(app, place, html.replace("depesche-letter", "x"), "html")
    assert list_played(app) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_move_above_a_letter_that_nothing_marks_is_played(app: App, way: str) -> None:
    place = open_table(app, "kaiser")
    move = apps.list_moves(app, place)[1]
    body = f"{move}\n\n{WAYS[way](write_letter(app, place, 'de').get_body(('plain',)).get_content())}"
    send_mail(app, place, body)
    assert list_played(app) == [move]


def test_every_letter_of_a_table_is_recognised_by_its_first_lines(app: App) -> None:
    place = open_table(app, "kaiser")
    apps.say(app, Place(place.table, 1 - (place.seat or 0), ""), "Hello!")
    before = {"asked", "pausing", "paused", "sealing", "unlit", "offer", "offered", "relieved", "unreachable"}
    kinds = LETTER_KINDS.keys() - before - personal_letters.WRITERS.keys()  # those before need a story
    for language in LANGUAGES:
        for kind in sorted(kinds):
            lines = write_letter(app, place, language, kind).get_body(("plain",)).get_content().splitlines()
            assert reply_text.find_letter(lines) in range(4), (language, kind)


def test_typed_lines_are_not_taken_for_the_words_of_letters(app: App) -> None:
    assert reply_text.find_letter(["abandonner oui", "resign yes", "ja, klar", "Viel Glück, Anna!"]) is None
    with app.store.reading() as connection:
        assert connection.execute(select(mails)).all() == []
