"""Answers are fetched from an ordinary mailbox at a real IMAP server, which is stopped and started again."""

from __future__ import annotations

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from imap_tools.idle import IdleManager
from imap_tools.mailbox import MailBoxUnencrypted
from sqlalchemy import select
from structlog.testing import capture_logs

from engine.refusal import Refused
from service import cli, settings
from service.app import App
from service.store.schema import letters, mails, people, submissions
from service.tables import access
from service.tables.access import Place
from tests import apps, servers
from tests.apps import FakeTime
from tests.servers import Sink
from workers.incoming import mail_headers, mail_moves, mailbox_polling
from workers.incoming.mail_headers import MailHeaders
from workers.outgoing import emails, post
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write
from workers.processes import run_embedded

CERTIFICATES = Path(__file__).parents[2] / "certificates"
SOON_S = 60.0  # on a busy machine; a server that announces no mail is asked again after 120 seconds
HOST = "friends.example"
OUTAGE = ["mailbox not reached", "mailbox reached again"]


class Mailbox:
    """A mailbox at a real server, which can be stopped and started."""

    def __init__(self, folder: Path, idle: bool = True) -> None:
        self.folder = folder
        self.program = servers.IMAP_PROGRAM if idle else servers.WITHOUT_IDLE + servers.IMAP_PROGRAM
        self.port = servers.free_port()
        self.server = ExitStack()
        user, password = quote(servers.IMAP_USER), quote(servers.IMAP_PASSWORD, safe="")
        self.url = f"imap://{user}:{password}@127.0.0.1:{self.port}/INBOX"

    def start(self) -> None:
        self.server.enter_context(servers.imap_server(self.folder, self.port, self.program))

    def stop(self) -> None:
        self.server.close()

    @contextmanager
    def connect(self) -> Iterator[MailBoxUnencrypted]:
        box = MailBoxUnencrypted("127.0.0.1", self.port, timeout=10)
        box.client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # otherwise each mail waits 40 ms
        with box.login_utf8(servers.IMAP_USER, servers.IMAP_PASSWORD):
            yield box

    def add_mails(self, *messages: EmailMessage) -> None:
        with self.connect() as box:
            for message in messages:
                box.append(message.as_bytes())

    def count_unread(self) -> int:
        with self.connect() as box:
            return len(box.uids("UNSEEN", charset=None))

    def empty(self) -> None:
        with self.connect() as box:
            box.delete(box.uids(charset=None))


@pytest.fixture(scope="module")
def imap_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mailbox]:
    mailbox = Mailbox(tmp_path_factory.mktemp("imap") / "mails")
    mailbox.start()
    yield mailbox
    mailbox.stop()


@pytest.fixture
def mailbox(imap_server: Mailbox) -> Mailbox:
    """An empty mailbox; a test that stops its server starts it again."""
    imap_server.empty()
    return imap_server


@contextmanager
def run_app_with(tmp_path: Path, clock: FakeTime, mailbox: Mailbox, **others: Any) -> Iterator[App]:
    words = {"sender": f"Friends <friends@{HOST}>", "imap": mailbox.url, **others}
    with apps.run_app(apps.make_settings(tmp_path, **words), clock) as app:
        yield app


@pytest.fixture
def app(tmp_path: Path, clock: FakeTime, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    monkeypatch.setattr(mailbox_polling, "FIRST_PAUSE_S", 0.2)
    clock.at = int(time.time())  # as in the mailbox, which the first look asks for the mails of the last days
    with run_app_with(tmp_path, clock, mailbox) as app:
        yield app


def write_letter(app: App, place: Place) -> EmailMessage:
    """Write the letter that began this player's turn."""
    seat = apps.load_table(app, place.table).seats[place.seat or 0]
    owner = apps.load_address(app, place)
    made = write(app, LetterRequest(place.table, seat.open_since, seat.seat, "turn", owner, seat.name))
    assert made is not None
    return made


def answer(app: App, place: Place, body: str, number: int = 1) -> EmailMessage:
    """Write an answer to that letter, as mail programs make it."""
    letter, message = write_letter(app, place), EmailMessage()
    message["From"] = str(letter["To"])
    message["To"] = letter["Reply-To"].addresses[0].addr_spec
    message["Subject"] = f"Re: {letter['Subject']}"
    message["In-Reply-To"] = str(letter["Message-ID"])
    message["Message-ID"] = f"<{number}@phone.example>"
    message.set_content(body)
    return message


def fetch_mails(app: App) -> None:
    """Fetch the new mails once and play them."""
    with mailbox_polling.open_mailbox(app.settings) as opened:
        mailbox_polling.fetch_new(app, opened)
    mail_moves.run()


def list_played(app: App) -> list[str]:
    own = select(submissions.c.move).where(submissions.c.by_mail, submissions.c.accepted).order_by(submissions.c.id)
    with app.store.reading() as connection:
        return list(connection.execute(own).scalars())


def count_stored(app: App) -> int:
    with app.store.reading() as connection:
        return len(connection.execute(select(mails.c.id)).all())


def wait_until(condition: Callable[[], Any], seconds: float = SOON_S) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "the condition did not hold in time"
        time.sleep(0.05)


@contextmanager
def run_watch(app: App) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=mailbox_polling.watch, args=(app, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(SOON_S)


def test_an_answer_is_played_once_and_the_mailbox_stays_as_it_was(app: App, mailbox: Mailbox) -> None:
    place, move = apps.find_move(app, apps.start_table(app))
    note = EmailMessage()
    note["From"], note["To"], note["Subject"] = "aunt@example.org", f"friends@{HOST}", "Coffee?"
    note.set_content(move)
    mailbox.add_mails(note, answer(app, place, move))
    for _ in range(3):
        fetch_mails(app)
    assert list_played(app) == [move]
    assert count_stored(app) == 1
    assert mailbox.count_unread() == 2


def test_a_process_that_ends_before_its_note_plays_nothing_twice(
    app: App, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, move = apps.find_move(app, apps.start_table(app))
    mailbox.add_mails(answer(app, place, move))
    with monkeypatch.context() as cut:
        cut.setattr(mailbox_polling, "_store_last_uid", lambda *_: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            fetch_mails(app)
    assert count_stored(app) == 1
    fetch_mails(app)
    assert list_played(app) == [move]
    assert count_stored(app) == 1


def test_a_mail_that_the_book_cannot_take_is_fetched_again(
    app: App, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, move = apps.find_move(app, apps.start_table(app))
    mailbox.add_mails(answer(app, place, move))
    with monkeypatch.context() as full:
        full.setattr(mailbox_polling.inbox, "_store", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(mailbox_polling.NotStored):
            fetch_mails(app)
    assert count_stored(app) == 0
    fetch_mails(app)
    assert list_played(app) == [move]


def test_a_mailbox_with_new_numbering_plays_no_mail_twice(app: App, mailbox: Mailbox) -> None:
    place, move = apps.find_move(app, apps.start_table(app))
    mailbox.add_mails(answer(app, place, move))
    fetch_mails(app)
    with mailbox_polling.open_mailbox(app.settings) as opened:
        before = opened.numbering
    mailbox.stop()
    (mailbox.folder / "box" / "dovecot-uidlist").unlink()
    mailbox.start()
    with mailbox_polling.open_mailbox(app.settings) as opened:
        assert opened.numbering != before
    mailbox.add_mails(answer(app, place, "say hello", 2))
    fetch_mails(app)
    assert list_played(app) == [move]
    assert count_stored(app) == 2


def test_a_mail_with_unreadable_headers_does_not_delay_the_next_one(app: App, mailbox: Mailbox) -> None:
    place, move = apps.find_move(app, apps.start_table(app))
    deep = answer(app, place, move, 7).as_bytes().replace(b"From: ", b"From: " + b"(" * 3_000)
    with mailbox.connect() as box:
        box.append(deep)
    mailbox.add_mails(answer(app, place, move))
    fetch_mails(app)
    assert list_played(app) == [move]


def test_the_service_in_one_process_plays_new_mail_as_soon_as_the_server_tells_of_it(
    app: App, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    idling, poll = threading.Event(), IdleManager.poll
    monkeypatch.setattr(IdleManager, "poll", lambda self, timeout: idling.set() or poll(self, timeout))
    place, move = apps.find_move(app, apps.start_table(app))
    with run_embedded(app):
        assert idling.wait(SOON_S)
        mailbox.add_mails(answer(app, place, move))
        wait_until(lambda: list_played(app) == [move])


def test_a_lost_mailbox_is_logged_in_one_line_and_opened_again(
    app: App, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, open_mailbox = list[object](), mailbox_polling.open_mailbox
    monkeypatch.setattr(mailbox_polling, "open_mailbox", lambda chosen: tries.append(chosen) or open_mailbox(chosen))
    place, move = apps.find_move(app, apps.start_table(app))
    with capture_logs() as lines, run_watch(app):
        wait_until(lambda: tries)
        mailbox.stop()
        lost_at = len(tries)
        wait_until(lambda: len(tries) >= lost_at + 2)
        mailbox.start()
        mailbox.add_mails(answer(app, place, move))
        wait_until(lambda: count_stored(app) == 1)
    events = [line["event"] for line in lines if line["event"].startswith("mailbox ")]
    # A server that is slow to stop is reached once more meanwhile, which is another outage.
    assert events in (OUTAGE, 2 * OUTAGE)
    mail_moves.run()
    assert list_played(app) == [move]


def test_a_line_that_is_cut_leaves_no_connection_behind(app: App, mailbox: Mailbox) -> None:
    with mailbox_polling.open_mailbox(app.settings) as opened:
        opened.box.client.socket().shutdown(socket.SHUT_RDWR)
    assert opened.box.client.socket().fileno() == -1


def test_where_no_plus_is_delivered_the_subject_tells_the_seat(tmp_path: Path, app: App, mailbox: Mailbox) -> None:
    with run_app_with(tmp_path / "subject", FakeTime(), mailbox, answer_to="subject") as other:
        other.now = app.now
        place, move = apps.find_move(other, apps.start_table(other))
        message = answer(other, place, move)
        assert message["To"] == f"friends@{HOST}"
        mailbox.add_mails(message)
        fetch_mails(other)
        assert list_played(other) == [move]


@pytest.mark.parametrize("header", ["Subject", "In-Reply-To"])
def test_one_of_subject_and_answered_letter_is_enough_and_both_need_their_proof(
    tmp_path: Path, clock: FakeTime, mailbox: Mailbox, header: str
) -> None:
    with run_app_with(tmp_path, clock, mailbox, answer_to="subject") as app:
        place, move = apps.find_move(app, apps.start_table(app))
        message = answer(app, place, move)
        value = str(message[header])
        for name in {"Subject", "In-Reply-To"} - {header}:
            message.replace_header(name, "my move")
        (recipient,) = mailbox_polling.find_recipients(MailHeaders.from_message(message), b"")
        with app.store.reading() as db:
            token = recipient.removeprefix("play+").removesuffix("@")
            assert access.find_by_reply_address(app, db, token) == place
        seat = apps.load_table(app, place.table).seats[place.seat or 0]
        proof = app.links.make_subject_mark(app.settings, seat).rpartition(".")[2]
        message.replace_header(header, value.replace(proof, "a" * 26))
        mailbox_polling.receive_mail(app, message.as_bytes())
        assert count_stored(app) == 0


def test_a_letter_that_comes_back_to_an_ordinary_mailbox_is_recognised(
    app: App, mailbox: Mailbox, smtp_sink: Sink
) -> None:
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    apps.open_table(app)
    post.run()
    assert {envelope.mail_from for envelope in smtp_sink.envelopes} == {f"friends@{HOST}"}
    first = smtp_sink.letters[0]
    report = EmailMessage()
    report["From"], report["To"], report["Return-Path"] = "mailer-daemon@example.org", f"friends@{HOST}", "<>"
    report.set_content("It could not be delivered.")
    raw = report.as_bytes().replace(b"text/plain", b"multipart/report; boundary=x") + (
        b"\n--x\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\nAction: failed\n"
        b"Status: 5.1.1\n\n--x\nContent-Type: message/rfc822\n\n" + first.as_bytes() + b"\n--x--\n"
    )
    with mailbox.connect() as box:
        box.append(raw)
    fetch_mails(app)
    with app.store.reading() as connection:
        bounced = connection.execute(select(people.c.address).where(people.c.bounced_at.is_not(None))).scalars().all()
        assert connection.execute(select(letters.c.kind).where(letters.c.kind.like("unreachable%"))).first()
    assert list(bounced) == [first["To"].addresses[0].addr_spec]


def test_an_id_made_at_a_large_provider_names_no_letter(app: App) -> None:
    message = EmailMessage()
    message["Message-ID"] = f"<5D6BD7C5-3A51-4B5A-8E66-8D2C3B9E0B11@{HOST}>"
    mail_headers.refuse_own_letters(MailHeaders.from_message(message), app.settings)
    place, _ = apps.find_move(app, apps.start_table(app))
    own = write_letter(app, place)
    message.replace_header("Message-ID", str(own["Message-ID"]))
    with pytest.raises(mail_headers.Ignored, match="letter of our own"):
        mail_headers.refuse_own_letters(MailHeaders.from_message(message), app.settings)


@contextmanager
def serve_encrypted(mailbox: Mailbox, certificate: str) -> Iterator[tuple[int, list[bytes]]]:
    """Serve the same mailbox behind TLS from the first byte, and collect the bytes that clients send."""
    context, received = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), list[bytes]()
    context.load_cert_chain(CERTIFICATES / certificate)

    def forward(source: socket.socket, target: socket.socket, received: list[bytes]) -> None:
        with suppress(OSError):  # either side may hang up first
            while data := source.recv(65536):
                received.append(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        try:
            client = context.wrap_socket(listener.accept()[0], server_side=True)
        except OSError:
            return
        with client, socket.create_connection(("127.0.0.1", mailbox.port)) as behind:
            threading.Thread(target=forward, args=(behind, client, []), daemon=True).start()
            forward(client, behind, received)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], received
    thread.join(5)


def test_the_password_goes_only_to_a_server_that_proves_its_name(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "ours.pem"))
    for certificate, trusted in (("ours.pem", True), ("other.pem", False)):
        with serve_encrypted(mailbox, certificate) as (port, received):
            url = re.sub(r"^imap://(.*)@.*?/", rf"imaps://\1@localhost:{port}/", mailbox.url)
            chosen = settings.check_settings(settings.Settings(imap=url))
            if trusted:
                with mailbox_polling.open_mailbox(chosen) as opened:
                    assert mailbox_polling.supports_idle(opened.box)
            else:
                with pytest.raises(ssl.SSLCertVerificationError), mailbox_polling.open_mailbox(chosen):
                    pass
        assert bool(received) is trusted


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"DEPESCHE_IMAP": "pop://a:b@host"}, "an address like imaps://user:password@mail.example.org/INBOX"),
        ({"DEPESCHE_IMAP": "imaps://mail.example.org"}, "needs a user and a password"),
        ({"DEPESCHE_IMAP": "imap://a:b@mail.example.org"}, "write imaps:// instead of imap://"),
        ({"DEPESCHE_ANSWER_TO": "reply"}, "play, plus or subject"),
    ],
)
def test_a_mailbox_that_could_not_be_used_is_refused_in_a_sentence(words: dict[str, str], sentence: str) -> None:
    with pytest.raises(Refused, match=re.escape(sentence)):
        settings.load_settings(words)


def test_the_first_look_goes_back_some_days_and_no_further(app: App, mailbox: Mailbox, clock: FakeTime) -> None:
    place, move = apps.find_move(app, apps.start_table(app))
    mailbox.add_mails(answer(app, place, move))
    clock.advance(30 * settings.DAY_S)
    fetch_mails(app)
    assert count_stored(app) == 0


def test_the_doctor_opens_the_mailbox_and_says_how_soon_answers_are_noticed(
    mailbox: Mailbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path / "app"))
    monkeypatch.setenv("DEPESCHE_IMAP", mailbox.url)
    assert cli.main(["doctor"]) == 0
    assert f"ok:      mailbox 127.0.0.1:{mailbox.port}/INBOX: an answer is noticed at once" in capsys.readouterr().out
    monkeypatch.setenv("DEPESCHE_IMAP", mailbox.url.replace(f"//{servers.IMAP_USER}:", "//nobody:"))
    assert cli.main(["doctor"]) == 1
    output = capsys.readouterr().out
    assert "FAILED:  mailbox" in output
    assert quote(servers.IMAP_PASSWORD, safe="") not in output
