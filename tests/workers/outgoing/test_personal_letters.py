"""Letters that belong to a person: signing in, confirming an address; and tables whose letters wait for that."""

from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from typing import Any

import pytest
from sqlalchemy import Row, func, select, update

from service import timing
from service.app import App
from service.people import register as persons
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.schema import letters, people, seats, tables
from service.text.languages import LANGUAGES
from service.timing import Calendar
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from workers.outgoing import emails, personal_letters, post
from workers.outgoing.letter import AnswerLinks, BoardSection, DigestTurn, LetterPicture, LetterRequest, PersonalLetter
from workers.outgoing.personal_letters import build_message


@pytest.fixture
def relay_app(any_app: App, smtp_sink: Sink) -> App:
    """An app with a relay."""
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    return any_app


def anna(app: App, language: str = "en") -> Row[Any]:
    """A person we know."""
    with app.store.writing() as connection:
        number = persons.find_or_create_person(connection, "anna@example.org", "Anna", app.now(), language)
        return connection.execute(select(people).where(people.c.id == number)).one()


def owe(app: App, person: int, kind: str) -> None:
    with app.store.writing() as connection:
        queries.owe_personal_letter(connection, person, kind, app.now())


def text(message: EmailMessage) -> str:
    return " ".join(message.get_body(("plain",)).get_content().split())


def outcomes(app: App) -> list[str]:
    with app.store.reading() as connection:
        return list(connection.execute(select(letters.c.outcome).order_by(letters.c.id)).scalars())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_letter_for_signing_in_has_a_link_good_for_an_hour(
    relay_app: App, smtp_sink: Sink, clock: FakeTime, language: str
) -> None:
    person = anna(relay_app, language)
    owe(relay_app, person.id, f"enter/{clock.at}")
    post.run()
    (letter,) = smtp_sink.letters
    token = relay_app.links.make_sign_in_token(person.id, person.sessions, clock.at)
    link = f"{relay_app.settings.address}/enter/{token}"
    assert link in text(letter)
    assert link in letter.get_body(("html",)).get_content()
    assert letter["Content-Language"] == language
    assert letter["To"].addresses[0].addr_spec == "anna@example.org"
    assert "Reply-To" not in letter
    assert "List-Unsubscribe" not in letter


def test_moments_in_a_personal_letter_are_those_of_its_readers_zone(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    person = anna(relay_app)
    with relay_app.store.writing() as connection:
        connection.execute(update(people).values(calendar=timing.dump_calendar(Calendar("America/New_York"))))
    owe(relay_app, person.id, f"enter/{clock.at}")
    post.run()
    assert "good until 15 Jan 2027, 04:00 (America/New York)" in text(smtp_sink.letters[0])


def test_a_link_for_signing_in_that_is_no_longer_good_is_not_sent(
    relay_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    owe(relay_app, anna(relay_app).id, f"enter/{clock.at}")
    clock.advance(3600)
    post.run()
    assert outcomes(relay_app) == ["overtaken"]
    assert smtp_sink.letters == []


def test_the_letter_that_asks_for_confirmation_names_the_table_and_whom_it_invites(
    relay_app: App, smtp_sink: Sink
) -> None:
    person = anna(relay_app)
    first, _ = apps.open_table(relay_app)
    post.run()
    with relay_app.store.writing() as connection:
        connection.execute(update(seats).where(seats.c.seat == 0).values(proven=False, status="taken"))
    smtp_sink.letters.clear()
    owe(relay_app, person.id, f"confirm/{first.table}")
    post.run()
    (letter,) = smtp_sink.letters
    assert f"/confirm/{relay_app.links.make_confirm_token(person.id, 'anna@example.org')}" in text(letter)
    assert "with Berta" in text(letter)
    assert letter["Subject"] == "Please confirm your address"
    # It has no address for answers, so it asks for none.
    assert letter["Reply-To"] is None
    assert "Answer on this page: http" in text(letter)
    assert "answer no" not in text(letter)


def test_who_has_confirmed_is_not_asked(relay_app: App, smtp_sink: Sink) -> None:
    person = anna(relay_app)
    with relay_app.store.writing() as connection:
        connection.execute(update(people).where(people.c.id == person.id).values(confirmed_at=relay_app.now()))
    owe(relay_app, person.id, "confirm")
    post.run()
    assert outcomes(relay_app) == ["overtaken"]
    assert smtp_sink.letters == []


def test_a_personal_letter_is_owed_once_however_many_owe_it(relay_app: App) -> None:
    person = anna(relay_app)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(owe, relay_app, person.id, "digest/2027-01-15") for _ in range(8)]:
            done.result()
    with relay_app.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(letters)).scalar_one() == 1


def test_the_letters_of_a_held_table_wait_until_it_is_released(relay_app: App, smtp_sink: Sink) -> None:
    places = apps.open_table(relay_app)
    post.run()
    with relay_app.store.writing() as connection:
        connection.execute(update(tables).values(awaits_confirmation=True))
        connection.execute(update(seats).where(seats.c.seat == 0).values(proven=False))
    for place in places:
        assert apps.submit(relay_app, place, "sit word").accepted
    organiser = anna(relay_app).id
    owe(relay_app, organiser, f"confirm/{places[0].table}")
    smtp_sink.letters.clear()
    post.run()
    assert [letter["Subject"] for letter in smtp_sink.letters] == ["Please confirm your address"]
    apps.confirm_all(relay_app, relay_app.links.make_confirm_token(organiser, "anna@example.org"))
    post.run()
    assert "it is your turn" in text(smtp_sink.letters[-1])
    assert len(smtp_sink.letters) == 2


def test_only_who_opened_a_table_releases_it(relay_app: App) -> None:
    apps.open_table(relay_app)
    with relay_app.store.writing() as connection:
        connection.execute(update(tables).values(awaits_confirmation=True))
        connection.execute(update(seats).values(proven=False))
        berta = connection.execute(select(people.c.id).where(people.c.address == "berta@example.org")).scalar_one()
    apps.confirm_seats(relay_app, ProvenPerson(berta))
    with relay_app.store.reading() as connection:
        assert all(connection.execute(select(tables.c.awaits_confirmation)).scalars())


def test_a_digest_that_would_be_too_long_has_fewer_boards(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    picture, links = LetterPicture("board", "a@b", "<svg/>", "a board"), AnswerLinks("page", "a@b", "m", "s", 1)
    board = BoardSection("board", (), picture)
    turns = tuple(DigestTurn(f"{number}", "link", links=links, board=board) for number in range(3))
    letter = PersonalLetter(subject="s", headline="h", text="t", reason="r", turns=turns)
    request = LetterRequest("", 0, 0, "digest/2027-01-15", "anna@example.org", "Anna", person=1)
    whole = build_message(app, request, letter).get_body(("html",)).get_content()
    monkeypatch.setattr(personal_letters, "MAX_HTML_BYTES", 1)
    short = build_message(app, request, letter).get_body(("html",)).get_content()
    assert whole.count("<img") == 3
    assert short.count("<img") == 0
    assert short.count("<h2") == whole.count("<h2")
