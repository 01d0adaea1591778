"""A mail that cannot be stored holds up no mail behind it: it is cleaned on its way in, or set aside for the host."""

import smtplib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from service.accounts import leaving
from service.app import App
from service.hosting import overview
from service.people.proof import ProvenPerson
from service.store.schema import letters, mails, people, refused_mails, seats
from tests import apps
from tests.apps import FakeTime
from tests.sampling import pair_in_turn
from tests.workers.incoming.test_bounces import SAMPLES, listening
from workers.incoming import inbox, mail_headers, reply_text

CONTROLS = (b"\x00", b"\x01\x1f", b"\x0b", b"\xc2\x85", b"\xed\xa0\x80")


def load(sample: str) -> bytes:
    return (SAMPLES / f"{sample}.eml").read_bytes().replace(b"\n", b"\r\n")


def make_bounce_address(app: App) -> str:
    with app.store.reading() as db:
        number = db.execute(select(letters.c.id).order_by(letters.c.id)).scalars().first()
    return f"{app.links.make_bounce_address(number or 0)}@localhost"


@pytest.mark.parametrize(
    ("controls", "sample"), pair_in_turn(CONTROLS, ("postfix", "gmail", "qmail"), pytest.mark.release)
)
def test_a_report_with_control_characters_marks_its_address(any_app: App, sample: str, controls: bytes) -> None:
    apps.open_table(any_app)
    raw = load(sample).replace(b"550 ", b"550 " + controls, 2)
    with listening(any_app) as client:
        assert client.sendmail("", [make_bounce_address(any_app)], raw) == {}
    with any_app.store.reading() as db:
        (reason,) = db.execute(select(people.c.bounce).where(people.c.bounced_at.is_not(None))).scalars()
    assert "550" in reason
    assert all(letter.isprintable() for letter in reason)


@pytest.mark.parametrize(
    ("controls", "field"),
    pair_in_turn(CONTROLS, ("Subject", "Message-ID", "In-Reply-To", "body"), pytest.mark.release),
)
def test_an_answer_with_control_characters_is_stored(any_app: App, field: str, controls: bytes) -> None:
    place = apps.start_table(any_app)[0]
    fields = {
        "From": "anna@example.org",
        "Subject": "Re: you",
        "Message-ID": "<one@example.org>",
        "In-Reply-To": "<a@b>",
    }
    head = [f"{name}: {value}".encode() + controls * (name == field) for name, value in fields.items()]
    charset = b"Content-Type: text/plain; charset=utf-8"
    body = b"status" + controls * (field == "body")
    raw = b"\r\n".join([*head, charset, b"", body, b""])
    seat = apps.load_table(any_app, place.table).seats[place.seat or 0]
    recipient = any_app.links.make_reply_address(any_app.settings, seat)
    with listening(any_app) as client:
        client.sendmail("anna@example.org", [recipient], raw)
    with any_app.store.reading() as db:
        stored = db.execute(select(mails.c.lines, mails.c.message_id)).all()
        assert db.execute(select(refused_mails.c.id)).all() == []
    assert [row.message_id for row in stored if row.lines.startswith('["status')] == ["<one@example.org>"]


def test_a_charset_that_hides_half_characters_is_stored(any_app: App) -> None:
    apps.open_table(any_app)
    report = "From: mailer-daemon@a\nContent-Type: text/plain; charset=utf-7\n\n550 5.1.1 +2AA- no such user\n"
    assert inbox.receive(any_app, report.encode(), make_bounce_address(any_app), "") == inbox.REPLY_OK
    with any_app.store.reading() as db:
        assert db.execute(select(people.c.id).where(people.c.bounced_at.is_not(None))).all() != []


@pytest.fixture
def strict_app(tmp_path: Path, migrated_postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """An app on PostgreSQL whose mails are not cleaned, so that the database refuses a NUL."""
    for module in (mail_headers, reply_text):
        monkeypatch.setattr(module, "blank_controls", lambda text: text)
    with apps.run_app(apps.make_settings(tmp_path, migrated_postgres_url), FakeTime()) as app:
        yield app


def refuse_one(app: App, words: bytes = b"") -> None:
    raw = load("postfix").replace(b"550 5.1.1", b"550 5.1.1 \x00") + words
    with listening(app) as client:
        assert client.sendmail("", [make_bounce_address(app)], raw) == {}  # not 451: it would come again for ever


def test_what_the_database_refuses_is_set_aside_counted_and_shown(strict_app: App) -> None:
    apps.open_table(strict_app)
    refuse_one(strict_app)
    (refused,) = overview.load_overview(strict_app).refused_mails
    assert refused.why == "DataError"
    assert "bounce" not in refused.recipient
    assert strict_app.metrics.load()["mails_refused|DataError|count"] == 1
    with strict_app.store.reading() as db:
        assert b"550 5.1.1 \x00" in db.execute(select(refused_mails.c.raw)).scalar_one()


def test_mails_set_aside_are_few_and_go_with_their_person(strict_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MAX_REFUSED_MAILS", 2)
    apps.open_table(strict_app)
    for number in range(4):
        refuse_one(strict_app, b"%d" % number)
    assert len(overview.load_overview(strict_app).refused_mails) == 2
    with strict_app.store.reading() as db:
        person = db.execute(select(people.c.id).where(people.c.address == "anna@example.org")).scalar_one()
    leaving.delete_person(strict_app, ProvenPerson(person), "anna@example.org")
    assert overview.load_overview(strict_app).refused_mails == []


def test_while_the_database_cannot_be_reached_the_mail_server_keeps_the_mail(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps.open_table(app)
    with app.store.writing() as db:
        db.execute(text("ALTER TABLE people RENAME TO away"))  # the error is an OperationalError, as in an outage
    with listening(app) as client, pytest.raises(smtplib.SMTPDataError) as refusal:
        client.sendmail("", [make_bounce_address(app)], load("postfix"))
    assert refusal.value.smtp_code == 451


@pytest.mark.parametrize("transaction", range(2))
def test_an_outage_in_any_transaction_of_a_mail_leaves_it_with_the_mail_server(
    app: App, monkeypatch: pytest.MonkeyPatch, transaction: int
) -> None:
    place = apps.start_table(app)[0]
    with app.store.reading() as db:
        seat = db.execute(select(seats).where(seats.c.table == place.table, seats.c.seat == place.seat)).one()
    answer = (
        app,
        b"From: anna@example.org\r\n\r\nstatus\r\n",
        app.links.make_reply_address(app.settings, seat),
        "anna@example.org",
    )
    begun = 0

    def fail_once(begin: Callable[..., Any]) -> Callable[..., Any]:
        def begin_or_fail(*args: Any, **kwargs: Any) -> Any:
            nonlocal begun
            begun += 1
            if begun == transaction + 1:
                raise OperationalError("", {}, Exception("the server closed the connection"))
            return begin(*args, **kwargs)

        return begin_or_fail

    for name in ("reading", "writing"):
        monkeypatch.setattr(app.store, name, fail_once(getattr(app.store, name)))
    assert inbox.receive(*answer) == inbox.REPLY_TRY_LATER
    assert inbox.receive(*answer) == inbox.REPLY_OK
    with app.store.reading() as db:
        assert len(db.execute(select(mails)).all()) == 1
