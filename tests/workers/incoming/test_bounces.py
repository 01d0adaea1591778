"""An address that bounces gets no more letters, its tables read so, and a mail from it ends this."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Row, select, update
from structlog.testing import capture_logs

from service import create_app
from service.app import App
from service.store.schema import letters, people, seats
from service.tables import access, joining
from service.tables.access import Place
from service.tables.opening import Invitee
from tests import apps
from tests.servers import Sink
from workers.incoming import bounce_reports, inbox
from workers.outgoing import emails, post

SAMPLES = Path(__file__).parent / "bounces"
LOST_SAMPLES = """postfix postfix_no_such_domain exim gmail exchange outlook sendmail exim_without_report qmail
words_alone""".split()
HARMLESS = {
    "postfix_delayed": "still trying",
    "delivered": "still trying",
    "postfix_given_up": "not because its address",
    "exim_spam": "not because its address",
    "gmail_unauthenticated": "not because its address",
    "exchange_full": "not because its address",
    "vacation": "reports nothing",
}


@pytest.fixture
def posted(any_app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch) -> App:
    """An app with a relay and with pictures that take no time."""
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    return any_app


@pytest.fixture
def refusing(smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The refusals of the mail server, by address."""
    answers: dict[str, str] = {}

    async def answer(server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address not in answers:
            envelope.rcpt_tos.append(address)
        return answers.get(address, "250 fine")

    monkeypatch.setattr(smtp_sink, "handle_RCPT", answer, raising=False)
    return answers


def person(app: App, name: str = "anna") -> Row[Any]:
    with app.store.reading() as connection:
        return connection.execute(select(people).where(people.c.address == f"{name}@example.org")).one()


def rows(app: App, kind: str = "%") -> list[Row[Any]]:
    with app.store.reading() as connection:
        return list(connection.execute(select(letters).where(letters.c.kind.like(kind)).order_by(letters.c.id)).all())


def outcomes(app: App, name: str) -> list[str]:
    with app.store.reading() as connection:
        seat = (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
        own = (
            select(letters.c.outcome)
            .select_from(letters.join(seats, seat))
            .where(seats.c.person == person(app, name).id)
        )
        return list(connection.execute(own.order_by(letters.c.id)).scalars())


def headline(message: EmailMessage) -> str:
    return str(message.get_body(("plain",)).get_content().splitlines()[0])


# Refused at once


def test_an_address_that_does_not_exist_is_marked_and_not_written_to_again(
    posted: App, smtp_sink: Sink, refusing: dict[str, str]
) -> None:
    refusing["anna@example.org"] = "550 5.1.1 <anna@example.org>: Recipient address rejected: User unknown"
    apps.open_table(posted)
    post.run()
    assert person(posted).bounced_at == posted.now()
    assert person(posted).bounce.startswith("550 5.1.1 ")
    refusing.clear()
    apps.open_table(posted)
    post.run()
    first, *others = outcomes(posted, "anna")
    assert first.startswith("refused")
    assert set(others) == {"address bounced"}
    assert {letter["To"].addresses[0].addr_spec for letter in smtp_sink.letters} == {"berta@example.org"}


def test_the_other_players_of_each_running_table_get_a_letter(
    posted: App, smtp_sink: Sink, refusing: dict[str, str]
) -> None:
    tables = [apps.start_table(posted, 3), apps.start_table(posted, 2), apps.open_table(posted, 2)]
    post.run()
    smtp_sink.letters.clear()
    refusing["berta@example.org"] = "550 No such user here"
    third = apps.open_table(posted)
    post.run()
    post.run()  # the refusal has woken it again
    notices = [letter for letter in smtp_sink.letters if "come back" in headline(letter)]
    assert {headline(letter) for letter in notices} == {"Letters to Berta come back."}
    assert len(notices) == 2 + 1 + 1 + 1
    shown = create_app(posted).test_client()
    for places in (*tables, third):
        assert "letters come back" in shown.get(f"/t/{places[0].link}").text


@pytest.mark.parametrize(
    "answer",
    [
        "550 5.7.1 Message rejected due to content restrictions",
        "554 5.7.1 Service unavailable; Client host blocked using a block list",
        "550 rejected because of our policy",
        "552 5.2.2 Mailbox full",
        "550 5.1.8 Sender address rejected: Domain not found",
        "553 5.1.7 bad sender",
        "550 relay not permitted, see 5.1.1.7",
    ],
)
def test_a_server_that_dislikes_a_letter_says_nothing_about_the_address(
    app: App, smtp_sink: Sink, refusing: dict[str, str], answer: str
) -> None:
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    refusing["anna@example.org"] = answer
    apps.open_table(app)
    post.run()
    assert outcomes(app, "anna")[0].startswith("refused")
    assert person(app).bounced_at is None


def test_a_letter_refused_for_its_content_marks_no_address(posted: App, smtp_sink: Sink) -> None:
    smtp_sink.refuse("550 5.1.1 no")
    apps.open_table(posted)
    post.run()
    assert person(posted).bounced_at is None


# Sent back later


@contextmanager
def listening(app: App) -> Iterator[smtplib.LMTP]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = inbox.make_lmtp_server(app, "127.0.0.1", port)
    server.start()
    try:
        with smtplib.LMTP("127.0.0.1", port) as client:
            yield client
    finally:
        server.stop()


def come_back(app: App, sample: str, number: int = 0, recipient: str = "") -> list[str]:
    """A letter comes back, by default the first that was sent; what the log says."""
    address = recipient or f"{app.links.make_bounce_address(number or rows(app)[0].id)}@localhost"
    sender = "anna@example.org" if sample in ("vacation", "words_alone") else ""
    with capture_logs() as logs:
        assert inbox.receive(app, (SAMPLES / f"{sample}.eml").read_bytes(), address, sender) == inbox.REPLY_OK
    return [str(log.get("why", "")) for log in logs]


def test_every_sample_is_expected_to_mean_something() -> None:
    assert {path.stem for path in SAMPLES.glob("*.eml")} == {*LOST_SAMPLES, *HARMLESS}


@pytest.mark.parametrize("sample", LOST_SAMPLES)
def test_a_letter_that_comes_back_marks_its_address(app: App, smtp_sink: Sink, sample: str) -> None:
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    apps.open_table(app)
    post.run()
    come_back(app, sample)
    assert person(app).bounced_at == app.now()
    assert person(app, "berta").bounced_at is None
    assert [row.seat for row in rows(app, "unreachable/0")] == [1]


@pytest.mark.parametrize("sample", HARMLESS)
def test_what_is_late_full_or_disliked_changes_nothing_and_is_logged(app: App, smtp_sink: Sink, sample: str) -> None:
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    apps.open_table(app)
    post.run()
    (why,) = come_back(app, sample)
    assert HARMLESS[sample] in why
    assert person(app).bounced_at is None
    assert rows(app, "unreachable/%") == []


def test_a_letter_comes_back_by_a_real_conversation_to_the_address_it_was_sent_from(
    posted: App, smtp_sink: Sink
) -> None:
    apps.open_table(posted)
    post.run()
    with listening(posted) as client:
        client.sendmail("", [smtp_sink.envelopes[0].mail_from or ""], (SAMPLES / "postfix.eml").read_text())
    assert person(posted).bounce.startswith("smtp; 550 5.1.1 <anna@example.org>")
    post.run()
    assert headline(smtp_sink.letters[-1]) == "Letters to Anna come back."


def test_the_same_report_again_changes_nothing(app: App) -> None:
    apps.open_table(app)
    come_back(app, "postfix")
    first = person(app)
    apps.open_table(app)
    assert come_back(app, "gmail") == ["It is known already that letters to this person come back."]
    assert person(app) == first
    assert len(rows(app, "unreachable/%")) == 1


def test_a_forged_report_changes_nothing(app: App) -> None:
    apps.open_table(app)
    right = f"{app.links.make_bounce_address(1)}@localhost"
    for wrong in (
        right.replace("+1.", "+2."),
        "bounce+1.@localhost",
        "bounce+99.abc@localhost",
        "bounce+1.é@localhost",
    ):
        assert come_back(app, "postfix", recipient=wrong)
    assert person(app).bounced_at is None
    assert person(app, "berta").bounced_at is None


def test_a_damaged_report_is_read_as_far_as_it_goes_and_never_offered_again(app: App) -> None:
    apps.open_table(app)
    random, address = Random(11), f"{app.links.make_bounce_address(1)}@localhost"
    for sample in sorted(SAMPLES.glob("*.eml")):
        for _ in range(20):
            raw = bytearray(sample.read_bytes())
            at = random.randrange(len(raw))
            raw[at : at + random.randrange(300)] = random.choice([b"", b"\x00\xff" * 9, b"\n\n", b"--=_x\n", b"(" * 90])
            assert inbox.receive(app, bytes(raw), address, "") == inbox.REPLY_OK


def test_a_report_of_parts_within_parts_is_not_followed_for_ever(app: App) -> None:
    apps.open_table(app)
    deep = "".join(f'Content-Type: multipart/mixed; boundary="b{level}"\n\n--b{level}\n' for level in range(200))
    assert inbox.receive(app, deep.encode(), f"{app.links.make_bounce_address(1)}@localhost", "") == inbox.REPLY_OK
    assert person(app).bounced_at is None


def test_a_letter_to_the_former_player_does_not_mark_the_new_one(app: App) -> None:
    from service.timing import Clock
    from workers import clock as timekeeping

    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES[:3]]
    opened = apps.open_new(app, "kaiser", {}, guests, Clock(86_400, late="seat", offer_after=1))
    for link in opened.links:
        apps.submit(app, access.find(app, link), "sit word")
    app.now.advance(86_400)  # type: ignore[attr-defined]  # a clock for tests
    timekeeping.tick(app)
    snapshot = apps.load_table(app, opened.table)
    seat = next(number for number, chair in enumerate(snapshot.position.seats) if chair.offered)
    letter = next(row.id for row in rows(app, "invitation") if row.seat == seat)
    joining.take_offered_seat(
        app, joining.make_offer_token(app, snapshot.seats[seat]), Invitee("Fritz", "fritz@example.org")
    )
    sitting = person(app, apps.NAMES[seat].lower())
    with app.store.writing() as db:
        db.execute(update(letters).where(letters.c.id == letter).values(recipient=sitting.id))
    come_back(app, "postfix", letter)
    assert person(app, "fritz").bounced_at is None
    assert person(app, apps.NAMES[seat].lower()).bounced_at is not None


def test_a_letter_to_a_guest_who_declined_does_not_mark_the_next_guest(posted: App, smtp_sink: Sink) -> None:
    guests = [Invitee("Anna", "anna@example.org"), Invitee("Berta", "berta@example.org")]
    opened = apps.open_new(posted, "kaiser", {}, guests)
    post.run()
    letter = next(row.id for row in rows(posted, "invitation") if row.seat == 1)
    assert apps.submit(posted, access.find(posted, opened.links[1]), "refuse").accepted
    joining.join(posted, posted.links.make_join_token(opened.table), Invitee("Fritz", "fritz@example.org"))
    come_back(posted, "postfix", letter)
    assert person(posted, "fritz").bounced_at is None
    assert person(posted, "berta").bounced_at is not None


# Well again


def test_a_mail_from_the_address_lets_letters_leave_again(
    posted: App, smtp_sink: Sink, refusing: dict[str, str]
) -> None:
    places = apps.open_table(posted)
    come_back(posted, "exim")
    assert person(posted).bounced_at is not None
    answer(posted, places[0])
    assert person(posted).bounced_at is None
    assert person(posted).bounce == ""
    post.run()
    assert {letter["To"].addresses[0].addr_spec for letter in smtp_sink.letters} == {
        "anna@example.org",
        "berta@example.org",
    }
    assert [row.outcome for row in rows(posted, "unreachable/%")] == ["overtaken"]


def answer(app: App, place: Place) -> None:
    message = EmailMessage()
    message["From"], message["Message-ID"] = apps.load_address(app, place), "<one@example.org>"
    message.set_content("help")
    address = app.links.make_reply_address(app.settings, apps.load_table(app, place.table).seats[place.seat or 0])
    assert inbox.process_mail(app, message.as_bytes(), address, "anna@example.org") is not None


@pytest.mark.parametrize(
    ("code", "answer", "lost"),
    [
        (550, "5.1.1 unknown", True),
        (550, "5.2.1 The email account that you tried to reach is disabled", True),
        (550, "5.4.1 Recipient address rejected: Access denied", True),
        (550, "Requested action not taken: mailbox unavailable", True),
        (551, "User not local", True),
        (450, "4.2.1 try later", False),
        (554, "5.7.1 no", False),
        (554, "delivery error", False),
        (552, "too much", False),
    ],
)
def test_an_answer_of_a_mail_server_is_classified(code: int, answer: str, lost: bool) -> None:
    assert bounce_reports.is_dead(code, answer) is lost
