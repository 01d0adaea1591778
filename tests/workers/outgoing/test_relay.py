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

from tests.servers import free_port
from workers.outgoing import post

CERTIFICATES = Path(__file__).parents[2] / "certificates"


class Relay:
    """A mail server with a certificate, which notes who told it a password."""

    def __init__(self, certificate: str) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(CERTIFICATES / certificate)
        self.told: list[Any] = []

    def authenticator(self, *said: Any) -> AuthResult:
        self.told.append(said[-1])
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
        post.connect(f"{scheme}://me:word@{host}:{port}")
    assert relay.told == []


@pytest.mark.parametrize("scheme", ["smtp+tls", "smtps"])
def test_a_relay_that_proves_its_name_gets_it(trusting: None, scheme: str) -> None:
    with standing("ours.pem", scheme == "smtps") as (relay, port):
        post.connect(f"{scheme}://me:word@localhost:{port}").quit()
    assert [(told.login, told.password) for told in relay.told] == [(b"me", b"word")]


def test_an_unknown_kind_of_relay_gets_nothing() -> None:
    with standing("ours.pem") as (relay, port), pytest.raises(smtplib.SMTPNotSupportedError):
        post.connect(f"smtp+starttls://me:word@localhost:{port}")
    assert relay.told == []
