"""Runs a WSGI application, such as Flask's, in a pool of threads behind an ASGI server."""

from __future__ import annotations

import asyncio
import io
import ipaddress
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Coroutine[Any, Any, None]]
WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Headers = list[tuple[bytes, bytes]]
Result = TypeVar("Result")

MAX_HEADER_BYTES = 16 * 1024
MAX_BODY_BYTES = 128 * 1024  # Flask refuses more than half of it, with a page that says so
WITHOUT_BODY = (204, 304)
FORWARDED_HEADERS = {
    b"forwarded",
    b"x-forwarded-by",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-port",
    b"x-forwarded-proto",
}
UNKNOWN_PROXY = "depesche.unknown_proxy"  # set in the environment where the words of a proxy were left out


class BodyTooLarge(Exception):
    """The body of a request is longer than MAX_BODY_BYTES."""


class ThreadedWsgi:
    """An ASGI application that answers each request with a WSGI application, in a thread.

    A thread gets a request only when its body is complete, so clients that send slowly hold no thread.
    """

    def __init__(self, wsgi_app: WsgiApp, threads: int, trust_proxy: bool = False) -> None:
        self._wsgi_app = wsgi_app
        self._trust_proxy = trust_proxy
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="request")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a request and answer it; a request that is too large, or broken off, is not passed on."""
        body = await read_request(scope, receive, send)
        if body is not None:
            await self.answer(scope, body, send)

    async def answer(self, scope: Scope, body: bytes, send: Send, extra: Mapping[str, Any] | None = None) -> None:
        """Answer a request whose body is complete; `extra` is added to its environment."""
        environ = {**make_environ(scope, body, self._trust_proxy), **(extra or {})}
        status, headers, content = await self.run(self._call, environ)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)

    def _call(self, environ: dict[str, Any]) -> tuple[int, Headers, bytes]:
        """Call the WSGI application and return status, headers and content."""
        status_line = ""
        given_headers = list[tuple[str, str]]()

        def start_response(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            nonlocal status_line, given_headers
            status_line, given_headers = status, headers

        chunks = self._wsgi_app(environ, start_response)
        try:
            content = b"".join(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        status = int(status_line.split()[0])
        headers = [(name.lower(), value) for name, value in given_headers]
        # An answer to HEAD keeps the length of the content that a GET would get.
        if status not in WITHOUT_BODY and environ["REQUEST_METHOD"] != "HEAD":
            headers = [(name, value) for name, value in headers if name != "content-length"]
            headers.append(("content-length", str(len(content))))
        return status, [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers], content


async def send_text(send: Send, status: int, text: str, close: bool = False) -> None:
    """Send a short answer in plain text; with `close` the connection ends after it."""
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    headers.append((b"content-length", str(len(body)).encode()))
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def read_request(scope: Scope, receive: Receive, send: Send) -> bytes | None:
    """Read the body of a request; return None if it was too large, which is answered, or if the client went away."""
    if measure_header(scope) > MAX_HEADER_BYTES:
        await send_text(send, 431, "The headers of this request are too large.\n", close=True)
        return None
    try:
        return await _read_body(scope, receive)
    except BodyTooLarge:
        await send_text(send, 413, "The body of this request is too large.\n", close=True)
        return None


def measure_header(scope: Scope) -> int:
    """Return how many bytes the header of a request has."""
    target = len(scope["raw_path"]) + len(scope["query_string"])
    return target + sum(len(name) + len(value) for name, value in scope["headers"])


async def _read_body(scope: Scope, receive: Receive) -> bytes | None:
    """Read the whole body; return None if the client goes away meanwhile, and raise BodyTooLarge if it is too long."""
    announced = dict(scope["headers"]).get(b"content-length", b"0")
    if int(announced) > MAX_BODY_BYTES:
        raise BodyTooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return bytes(body)


def name_network(address: str) -> str:
    """Return the network of one customer: an IPv4 address, or 64 bits of an IPv6 address; empty if it is no address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return ""
    plain = getattr(ip, "ipv4_mapped", None) or ip  # IPv4 may be written as IPv6
    prefix_bits = 64 if plain.version == 6 else 32
    return str(ipaddress.ip_network((plain, prefix_bits), strict=False))


def make_environ(scope: Scope, body: bytes, trust_proxy: bool) -> dict[str, Any]:
    """Make the WSGI environment of a request; what a proxy would say of its client is left out unless trusted."""
    server_name, server_port = scope.get("server") or ("localhost", 80)
    client_address, _port = scope.get("client") or ("", 0)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": "/" + unquote_to_bytes(scope["raw_path"]).decode("latin-1").lstrip("/"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server_name,
        "SERVER_PORT": str(server_port),
        "REMOTE_ADDR": client_address,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": io.BytesIO(body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    if not trust_proxy and any(name in FORWARDED_HEADERS for name, _ in scope["headers"]):
        environ[UNKNOWN_PROXY] = True
    if body:
        environ["CONTENT_LENGTH"] = str(len(body))
    for name, value in scope["headers"]:
        may_lie = not trust_proxy and name in FORWARDED_HEADERS
        if not may_lie and b"_" not in name:  # `x_forwarded_for` would have the same key as the real one
            _add_header(environ, name.decode("latin-1"), value.decode("latin-1"))
    return environ


def _add_header(environ: dict[str, Any], name: str, value: str) -> None:
    """Add a header to the environment; a header that comes several times has all its values, joined by commas."""
    if name in ("content-length", "transfer-encoding"):  # the body is here, whole
        return
    key = "CONTENT_TYPE" if name == "content-type" else f"HTTP_{name.upper().replace('-', '_')}"
    environ[key] = f"{environ[key]}, {value}" if key in environ else value
