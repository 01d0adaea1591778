"""A real HTTPS server for what we send to addresses that players choose; it has moods, and records each request."""

import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from msgspec import Struct

from service.internet.safe_http import SafeClient

CERTIFICATES = Path(__file__).parent / "certificates"
HOST = "localhost"  # of the trusted certificate


class ReceivedRequest(Struct):
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """The server; `mood` is the next answers' status, or redirect, huge, slow, drip or cut."""

    def __init__(self, port: int) -> None:
        self.port, self.requests = port, list[ReceivedRequest]()
        self.reset()

    def reset(self) -> None:
        """Forget all requests, and be in a good mood."""
        self.mood, self.answer, self.headers = "200", b"thank you", dict[str, str]()
        self.requests.clear()

    def url(self, path: str = "/hook") -> str:
        return f"https://{HOST}:{self.port}{path}"


def client(timeout_s: float = 8.0, **others: Any) -> SafeClient:
    """Return a client that may reach this machine under the name of the certificate, and trusts it."""
    tls = ssl.create_default_context(cafile=str(CERTIFICATES / "ours.pem"))
    given: dict[str, Any] = {"resolve": lambda _: ["127.0.0.1"], "is_allowed": lambda _: True, "tls": tls}
    return SafeClient(timeout_s=timeout_s, **{**given, **others})


@contextmanager
def run_receiver(certificate: str = "ours.pem") -> Iterator[Receiver]:
    """Run the server until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATES / certificate)
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is what we test
    server.receiver = receiver = Receiver(server.server_port)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    """Answers as the receiver's mood is."""

    timeout = 10

    def do_POST(self) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        receiver.requests.append(ReceivedRequest(self.command, self.path, dict(self.headers), body))
        with suppress(OSError):
            self._answer(receiver)

    do_GET = do_PUT = do_POST  # noqa: N815 - as the standard library calls them

    def _answer(self, receiver: Receiver) -> None:
        match receiver.mood:
            case "cut":
                self.close_connection = True
            case "slow":
                time.sleep(5)
            case "drip":
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                for number in range(100):
                    self.wfile.write(f"X-{number}: .\r\n".encode())
                    time.sleep(0.05)
            case "huge":
                self._send(200, {"Content-Length": "1000000000"})
                for _ in range(1_000):
                    self.wfile.write(b"x" * 100_000)
            case "redirect":
                self._send(302, {"Location": receiver.url("/elsewhere")})
            case status:
                self._send(int(status), receiver.headers)
                self.wfile.write(receiver.answer)

    def _send(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing."""
