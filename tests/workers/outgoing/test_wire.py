"""Letters as the relay gets them: the bytes on the wire say what the letter says, to several independent parsers."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.utils import parseaddr
from random import Random

import fast_mail_parser
import pytest
from sqlalchemy import update

from service.app import App
from service.settings import DAY_S
from service.store.schema import people, seats
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from tests import apps
from tests.sampling import one_of
from tests.servers import Sink
from workers.incoming import mail_results
from workers.incoming.mail_results import MailResult, PlayedMail
from workers.outgoing import emails, personal_letters, table_letters
from workers.outgoing.letter import LetterRequest
from workers.outgoing.owed import LETTER_KINDS

LONG_MESSAGE_ID = f"<{'A1b2C3=' * 28}@mail.of.a.very.long.name.example.org>"
PERSONAL = set(personal_letters.WRITERS)
BY_NUMBER = {"accepted": "accepted/1", "refused": "refused/1", "unreachable": "unreachable/1"}
KINDS = sorted(BY_NUMBER.get(kind, kind) for kind in LETTER_KINDS.keys() - PERSONAL)
TIME_LEFT = {
    "en": "until [MTWFS][a-z]+day.*3 days left",
    "nl": "[a-z]+dag .*[Nn]og 3 dagen",
    "de": "[A-Z][a-z]+(tag|woch), .*[Nn]och 3 Tage",
    "fr": "(lun|mar|mercre|jeu|vendre|same)di.*3 jours|dimanche.*3 jours",
}
EXACT = ("List-Unsubscribe", "List-Unsubscribe-Post", "In-Reply-To", "References", "Message-ID", "Reply-To")


@pytest.fixture
def relay_app(tmp_path, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch):
    """An app whose address, secret and host are long, and whose letters are never too late."""
    monkeypatch.setattr(emails, "render_png", lambda svg: b"\x89PNG a picture")
    monkeypatch.setattr(table_letters, "is_overtaken", lambda *_: False)
    sender = "Depesche of the Club <depesche@letters.a-long-name-of-a-club.example.org>"
    chosen = apps.make_settings(
        tmp_path, sender=sender, address="https://games.a-long-name-of-a-club.example.org/board/games"
    )
    with apps.run_app(chosen, apps.FakeTime()) as app:
        app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
        yield app


def write(app: App, order: LetterRequest) -> EmailMessage:
    message = table_letters.write(app, order) if order.table else personal_letters.write(app, order)
    assert message is not None
    return message


def send(app: App, sink: Sink, order: LetterRequest) -> bytes:
    """The letter as the relay got it."""
    with emails.connect(app.relay) as server:
        server.send_message(write(app, order), "bounce@example.org", [order.address])
    return bytes(sink.envelopes[-1].content)


def read_header(parsed: dict[str, list[str]], name: str) -> str:
    return " ".join(" ".join(parsed.get(name, [""])).split())


@pytest.mark.parametrize("language", one_of(["de", "fr"], "de"))
def test_headers_for_programs_are_the_same_to_every_parser(relay_app, smtp_sink, monkeypatch, language) -> None:
    monkeypatch.setattr(
        table_letters,
        "load_answered_mail",
        lambda *_: PlayedMail(LONG_MESSAGE_ID, ("x",), MailResult((mail_results.LineResult("x", "help"),))),
    )
    guests = [Invitee("Zoë Ångström, „die Böse“", "anna@example.org"), Invitee("Berta", "berta@example.org")]
    places = [access.find(relay_app, link) for link in apps.open_new(relay_app, "kaiser", {}, guests).links]
    for place in places:
        assert apps.submit(relay_app, place, "sit word").accepted
    place, _ = apps.find_move(relay_app, places)
    seat = apps.load_table(relay_app, place.table).seats[place.seat]
    apps.say(relay_app, Place(place.table, 1 - (place.seat or 0), ""), "Grüße, „Zoë“!")
    for kind in KINDS:
        order = LetterRequest(
            place.table, 7, seat.seat, kind, "anna@example.org", seat.name, language, person=seat.person
        )
        assert_same_to_all(write(relay_app, order), send(relay_app, smtp_sink, order))


def assert_same_to_all(written: EmailMessage, raw: bytes) -> None:
    """Three parsers that share nothing read in these bytes what the letter says."""
    rust = fast_mail_parser.parse_email(raw)
    modern, old = message_from_bytes(raw, policy=policy.default), message_from_bytes(raw)
    assert raw.isascii()
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    for name in EXACT:
        if name in written:
            value = " ".join(str(written[name]).split())
            assert f"{name}: =?".encode() not in raw
            assert {read_header(rust.headers, name), " ".join(str(old[name]).split()), str(modern[name])} == {value}, (
                name
            )
    for name in ("Subject", "From", "To", "List-Id"):
        if name in written:
            value = " ".join(
                str(written[name]).replace('"', "").split()
            )  # of a name with a comma, as the standard library shows it
            theirs = {" ".join(text.split()) for text in (read_header(rust.headers, name), str(modern[name]))}
            assert {one.replace('"', "") for one in theirs} == {value}, name
    inline = re.search(rb"\r\nContent-Disposition: inline;[^\r]*(\r\n [^\r]*)?filename=\"board.png\"", raw)
    assert inline or not any(part.get_content_type() == "image/png" for part in written.walk())
    assert rust.text_plain[0].replace("\r\n", "\n").strip() == written.get_body(("plain",)).get_content().strip()


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
def test_letters_to_a_person_are_the_same_to_every_parser(relay_app, smtp_sink, language) -> None:
    guests = [Invitee("Zoë Ångström, „die Böse“", "anna@example.org"), Invitee("Berta =?x?=", "berta@example.org")]
    opened = apps.open_new(relay_app, "kaiser", {}, guests, 3 * DAY_S)
    places = [access.find(relay_app, link) for link in opened.links]
    for place in places:
        assert apps.submit(relay_app, place, "sit word").accepted
    with relay_app.store.writing() as connection:
        connection.execute(update(people).values(letter_settings='{"letters":"digest"}', confirmed_at=None))
    place, _ = apps.find_move(relay_app, places)
    seat = apps.load_table(relay_app, place.table).seats[place.seat]
    other = apps.load_table(relay_app, place.table).seats[1 - place.seat]
    confirm = f"confirm/{place.table}"
    for kind in (f"enter/{relay_app.now()}", "digest/2027-01-15", f"replaced/{place.table}/{other.seat}", confirm):
        if kind == confirm:
            with relay_app.store.writing() as connection:
                connection.execute(update(seats).values(proven=False))
        order = LetterRequest("", 0, 0, kind, "anna@example.org", seat.name, language, person=seat.person)
        written = write(relay_app, order)
        assert_same_to_all(written, send(relay_app, smtp_sink, order))
        if kind.startswith("digest"):
            text = written.get_body(("plain",)).get_content()
            assert re.search(TIME_LEFT[language], text), text


def test_a_list_has_a_name_without_a_bare_comma(relay_app, smtp_sink) -> None:
    place = apps.open_table(relay_app)[0]
    raw = send(
        relay_app, smtp_sink, LetterRequest(place.table, 0, 0, "invitation", "anna@example.org", "Anna", person=1)
    )
    message = message_from_bytes(raw, policy=policy.default)
    assert message["List-Id"] == f"Kaiser König Edelmann <{place.table}.letters.a-long-name-of-a-club.example.org>"
    assert message["From"] == '"Depesche of the Club: invitation" <depesche@letters.a-long-name-of-a-club.example.org>'
    assert message["Reply-To"].startswith(f"Depesche of the Club <play+{place.table}.0.")
    assert message["X-Auto-Response-Suppress"] == "OOF, AutoReply"


WORDS = (
    "Élodie,",
    "François",
    "Müller",
    "and",
    "Kim",
    "[abc123]",
    "König",
    "“die",
    "Böse”",
    "Ё",
    "金",
    "x" * 70,
    "é" * 40,
)


def test_no_blank_of_a_subject_or_name_is_lost() -> None:
    random = Random(7)
    for _ in range(1_000):
        text = " ".join(random.choices(WORDS, k=random.randint(1, 14)))
        made = emails.EmailMessage(emails.WirePolicy())
        made["Subject"] = text
        made["To"] = emails.Address(text, addr_spec="anna@example.org")
        raw = made.as_bytes()
        old, modern = message_from_bytes(raw), message_from_bytes(raw, policy=policy.default)
        subject, to = ("".join(old[header].splitlines()).strip() for header in ("Subject", "To"))
        assert str(make_header(decode_header(subject))) == str(modern["Subject"]).strip() == text
        name, address = parseaddr(to)
        assert (str(make_header(decode_header(name))), address) == (text, "anna@example.org")
        assert max(map(len, raw.splitlines())) <= 998


def test_no_word_of_a_name_becomes_a_header() -> None:
    made = emails.EmailMessage(emails.WirePolicy())
    made["To"] = emails.Address("=?utf-8?q?x=0D=0ABcc:_all?=", addr_spec="anna@example.org")
    made["References"] = "<a@b>\t<c@d>"
    assert message_from_bytes(made.as_bytes()).keys() == ["To", "References"]
