"""The letters of a batch leave over one SMTP session: each is accepted once, or refused alone."""

import re
import select
import smtplib
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from email.message import EmailMessage
from typing import Any

import pytest

from service import timing
from service.app import App
from service.store.schema import letters
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from workers.outgoing import emails, post
from workers.outgoing.emails import Envelope

TIMEOUT_S = 10
QUIET_S = 0.05  # how long nothing more may come before a reply
NAMES = ("anna", "berta", "clara")
THREE = [Envelope("bounce@x.example", f"{name}@y.example", b"To: %s\r\n\r\n.hid\r\n" % name.encode()) for name in NAMES]
Step = tuple[bytes, bytes]
"""The end of what the server waits for, and its reply."""
ACCEPTED, WANTED = b"250 accepted\r\n", b"250 fine\r\n250 fine\r\n354 go on\r\n"
NO_SUCH_USER = b"550 5.1.1 no such user\r\n"
HELLO: Step = (b"\r\n", b"250-hello\r\n250-PIPELINING\r\n250 SIZE\r\n")
FIRST: Step = (b"data\r\n", WANTED)
NEXT: Step = (b"data\r\n", ACCEPTED + WANTED)
LAST: Step = (b"\r\n.\r\n", ACCEPTED)
QUIT: Step = (b"QUIT\r\n", b"221 bye\r\n")


class Script(threading.Thread):
    """A mail server for one session, which takes these steps and then hangs up.

    It replies only when all that a client may send without a reply is there, and fails if more comes.
    """

    def __init__(self, *steps: Step) -> None:
        super().__init__(daemon=True)
        self.steps = steps
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(TIMEOUT_S)
        self.received = b""
        self.failure = ""
        self.start()

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def run(self) -> None:
        with self.listener, self.listener.accept()[0] as connection:
            connection.settimeout(TIMEOUT_S)
            connection.sendall(b"220 hello\r\n")
            for end, reply in self.steps:
                self.wait_for(connection, end)
                if select.select([connection], [], [], QUIET_S)[0] and connection.recv(1, socket.MSG_PEEK):
                    self.failure = f"{connection.recv(100)!r} came before {reply!r}"
                    return
                connection.sendall(reply)

    def wait_for(self, connection: socket.socket, end: bytes) -> None:
        before = len(self.received)
        while not self.received[before:].endswith(end):
            data = connection.recv(100_000)
            if not data:
                return
            self.received += data

    def finish(self) -> None:
        self.join(TIMEOUT_S)
        assert self.failure == ""


@contextmanager
def connect(script: Script) -> Iterator[smtplib.SMTP]:
    with smtplib.SMTP("127.0.0.1", script.port, local_hostname="here", timeout=TIMEOUT_S) as server:
        yield server
    script.finish()


def send(script: Script, envelopes: Sequence[Envelope] = THREE) -> list[Any]:
    with connect(script) as server:
        return list(emails.send_all(server, envelopes))


def test_a_letter_and_the_commands_for_the_next_one_are_sent_without_a_wait() -> None:
    script = Script(HELLO, FIRST, NEXT, NEXT, LAST, QUIT)
    assert send(script) == [None] * 3
    sessions = (
        f"mail FROM:<bounce@x.example> size={len(one.content)}\r\nrcpt TO:<{name}@y.example>\r\ndata\r\n"
        f"To: {name}\r\n\r\n..hid\r\n.\r\n"
        for name, one in zip(NAMES, THREE, strict=True)
    )
    assert script.received.decode() == f"ehlo here\r\n{''.join(sessions)}QUIT\r\n"


@pytest.mark.parametrize("takes_data", [False, True], ids=["data refused", "data taken"])
def test_a_refused_recipient_among_others_is_refused_alone(takes_data: bool) -> None:
    refused = ACCEPTED + b"250 fine\r\n" + NO_SUCH_USER + (b"354 go on\r\n" if takes_data else b"503 nobody\r\n")
    nothing = ((b".\r\n", b"554 no recipient\r\n"),) if takes_data else ()
    script = Script(HELLO, FIRST, (b"data\r\n", refused), *nothing, NEXT, LAST, QUIT)
    first, second, third = send(script)
    assert (first, third) == (None, None)
    assert isinstance(second, smtplib.SMTPRecipientsRefused)
    assert second.recipients == {"berta@y.example": (550, b"5.1.1 no such user")}
    assert b"To: berta" not in script.received
    assert script.received.count(b"rset\r\n") == 1


def test_a_refused_content_is_refused_alone() -> None:
    script = Script(HELLO, FIRST, (b"data\r\n", b"552 too large\r\n" + WANTED), NEXT, LAST, QUIT)
    first, second, third = send(script)
    assert isinstance(first, smtplib.SMTPDataError)
    assert (first.smtp_code, second, third) == (552, None, None)


def test_a_session_that_is_ended_early_sends_nothing_after_the_commands() -> None:
    script = Script(HELLO, FIRST, NEXT, (b"no more", b""))
    with connect(script) as server, closing(emails.send_all(server, THREE)) as results:
        assert next(results) is None
    assert script.received.endswith(b"rcpt TO:<berta@y.example>\r\ndata\r\n")


def test_an_address_brings_no_command() -> None:
    with pytest.raises(ValueError, match="no address"):
        emails.make_envelope(EmailMessage(), "bounce@x.example", "anna@y.example>\r\nrcpt TO:<eve@z.example")


def test_with_and_without_pipelining_the_letters_are_the_same_to_the_byte(smtp_sink: Sink) -> None:
    letter = Envelope("bounce@x.example", "anna@y.example", b"Subject: x\r\n\r\n.\r\n..two\r\na.b\r\n\r\n.end")
    for announces in (True, False):
        smtp_sink.announces_pipelining = announces
        with smtplib.SMTP(smtp_sink.hostname, smtp_sink.port) as server:
            assert list(emails.send_all(server, [letter] * 2)) == [None] * 2
            assert server.has_extn("pipelining") == announces
    assert {envelope.original_content for envelope in smtp_sink.envelopes} == {letter.content + b"\r\n"}
    assert len(smtp_sink.envelopes) == 4


@pytest.mark.parametrize("announces", [True, False])
def test_a_dead_address_in_a_batch_stops_no_other_letter(
    any_app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch, announces: bool
) -> None:
    async def refuse_berta(_: Any, __: Any, envelope: Any, address: str, ___: Any) -> str:
        if address.startswith("berta"):
            return "550 5.1.1 no such user"
        envelope.rcpt_tos.append(address)
        return "250 fine"

    monkeypatch.setattr(smtp_sink, "handle_RCPT", refuse_berta, raising=False)
    smtp_sink.announces_pipelining = announces
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    apps.open_table(any_app, 3)
    post.run()
    assert [outcome.partition(":")[0] for outcome in list_outcomes(any_app)[:3]] == ["sent", "refused", "sent"]
    assert len({letter["Message-ID"] for letter in smtp_sink.letters}) == len(smtp_sink.letters)


def list_outcomes(app: App) -> list[str]:
    with app.store.reading() as db:
        return [row.outcome for row in db.execute(letters.select().order_by(letters.c.id))]


NO_REPLY = b""
LOST = {
    "after the greeting": (0, ()),
    "after the commands": (0, (HELLO, (b"data\r\n", NO_REPLY))),
    "before the content": (0, (HELLO, FIRST)),
    "after the content was accepted": (1, (HELLO, FIRST, (b"data\r\n", ACCEPTED))),
    "between two letters": (1, (HELLO, FIRST, NEXT)),
    "before the last one": (2, (HELLO, FIRST, NEXT, NEXT)),
}


@pytest.mark.parametrize("moment", LOST)
def test_a_lost_connection_neither_loses_nor_doubles_a_letter(
    any_app: App, smtp_sink: Sink, clock: FakeTime, moment: str
) -> None:
    accepted, steps = LOST[moment]
    apps.open_table(any_app, 3)
    script = Script(*steps)
    any_app.relay = f"smtp://127.0.0.1:{script.port}"
    post.send_batch(any_app)
    script.finish()
    assert list_outcomes(any_app).count("sent") == accepted
    sent = set(re.findall(rb"Message-ID: (<.*>)\r", script.received)[:accepted])
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    clock.advance(timing.FIRST_PAUSE_S)
    post.run()
    assert list_outcomes(any_app) == ["sent"] * 3
    later = [letter["Message-ID"].encode() for letter in smtp_sink.letters]
    assert len(later) == 3 - accepted
    assert len(sent.union(later)) == 3


def test_a_letter_whose_acceptance_was_not_heard_is_sent_again_as_the_same_letter(
    any_app: App, smtp_sink: Sink, clock: FakeTime
) -> None:
    apps.open_table(any_app, 2)
    script = Script(HELLO, FIRST, (b"data\r\n", NO_REPLY))
    any_app.relay = f"smtp://127.0.0.1:{script.port}"
    post.send_batch(any_app)
    script.finish()
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    clock.advance(timing.FIRST_PAUSE_S)
    post.run()
    (unheard,) = re.findall(rb"Message-ID: (<.*>)\r", script.received)
    assert sorted(letter["Message-ID"].encode() for letter in smtp_sink.letters).count(unheard) == 1
    assert len(smtp_sink.letters) == 2
