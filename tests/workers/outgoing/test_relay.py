"""The relay gets our letters and its password only after it has proven its name by TLS, where that is asked for."""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from service import cli
from tests.servers import Sink, free_port
from workers.outgoing import emails

CERTIFICATES = Path(__file__).parents[2] / "certificates"


class Relay:
    """A mail server with a certificate, which records the passwords that it gets."""

    def __init__(self, certificate: str) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(CERTIFICATES / certificate)
        self.passwords: list[Any] = []

    def authenticator(self, *given: Any) -> AuthResult:
        self.passwords.append(given[-1])
        return AuthResult(success=True)


@contextmanager
def standing(certificate: str, at_once: bool = False) -> Iterator[tuple[Relay, int]]:
    relay = Relay(certificate)
    words: dict[str, Any] = {"ssl_context": relay.context} if at_once else {"tls_context": relay.context}
    words |= {"authenticator": relay.authenticator, "auth_require_tls": False}
    server = Controller(object(), hostname="127.0.0.1", port=free_port(), **words)
    server._trigger_server = lambda: create_connection(("127.0.0.1", server.port)).close()  # type: ignore[method-assign]
    server.start()
    try:
        yield relay, server.port
    finally:
        server.stop()


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine trusts one certificate, which is made out to localhost."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "ours.pem"))


@pytest.mark.parametrize("scheme", ["smtp+tls", "smtps"])
@pytest.mark.parametrize(
    ("certificate", "host"), [("other.pem", "localhost"), ("ours.pem", "127.0.0.1")], ids=["untrusted", "other name"]
)
def test_a_relay_that_cannot_prove_its_name_gets_no_password(
    trusting: None, scheme: str, certificate: str, host: str
) -> None:
    with standing(certificate, scheme == "smtps") as (relay, port), pytest.raises(ssl.SSLCertVerificationError):
        emails.connect(f"{scheme}://me:word@{host}:{port}")
    assert relay.passwords == []


@pytest.mark.parametrize("scheme", ["smtp+tls", "smtps"])
def test_a_relay_that_proves_its_name_gets_it(trusting: None, scheme: str) -> None:
    with standing("ours.pem", scheme == "smtps") as (relay, port):
        emails.connect(f"{scheme}://me:word@localhost:{port}").quit()
    assert [(one.login, one.password) for one in relay.passwords] == [(b"me", b"word")]


def test_an_unknown_kind_of_relay_gets_nothing() -> None:
    with standing("ours.pem") as (relay, port), pytest.raises(smtplib.SMTPNotSupportedError):
        emails.connect(f"smtp+starttls://me:word@localhost:{port}")
    assert relay.passwords == []


def doctor_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], smtp: str
) -> tuple[int, str]:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path))
    monkeypatch.setenv("DEPESCHE_SMTP", smtp)
    monkeypatch.setenv("DEPESCHE_SENDER", "The Club <table@example.org>")
    monkeypatch.setenv("DEPESCHE_ADDRESS", "https://games.example.org")
    status = cli.main(["doctor", "--mail", "anna@example.net"])
    return status, capsys.readouterr().out


def test_the_doctor_sends_a_letter_and_says_what_came_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], smtp_sink: Sink
) -> None:
    status, output = doctor_writes(monkeypatch, tmp_path, capsys, f"smtp://{smtp_sink.hostname}:{smtp_sink.port}")
    assert status == 0
    assert "ok:      letter to anna@example.net, from table@example.org, unencrypted: 250 " in output
    assert "List-Unsubscribe, List-Unsubscribe-Post" in output
    (letter,) = smtp_sink.letters
    assert str(letter["From"]) == "The Club <table@example.org>"
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_says_that_the_way_was_encrypted(
    trusting: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with standing("ours.pem") as (_, port):
        _, output = doctor_writes(monkeypatch, tmp_path, capsys, f"smtp+tls://localhost:{port}")
    assert "by TLSv1." in output


def test_the_doctor_repeats_why_a_relay_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], smtp_sink: Sink
) -> None:
    async def refuse(*_: Any) -> str:
        return "554 5.7.1 This sender is not welcome"

    monkeypatch.setattr(smtp_sink, "handle_DATA", refuse, raising=False)
    status, output = doctor_writes(monkeypatch, tmp_path, capsys, f"smtp://{smtp_sink.hostname}:{smtp_sink.port}")
    assert status == 1
    assert "FAILED:  letter to anna@example.net" in output
    assert "554 5.7.1 This sender is not welcome" in output


def test_without_a_relay_the_doctor_sends_nothing_and_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path))
    assert cli.main(["doctor", "--mail", "anna@example.net"]) == 2
    assert "name a mail server with DEPESCHE_SMTP" in capsys.readouterr().err
