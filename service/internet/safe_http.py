"""Requests to addresses that players choose, such as webhooks: https only, and never into the host's own network.

The name of an address is resolved once, each of its IP addresses is checked, and the connection goes to a checked one:
a name server that changes its answer gains nothing. A request follows no redirect, and has a bounded time and answer.
"""

from __future__ import annotations

import base64
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct

from engine.refusal import Refused

TIMEOUT_S = 8.0  # for the whole request, from the first question to a name server to the end of the answer
CONNECT_TIMEOUT_S = 3.0  # for each IP address of a host
DNS_TIMEOUT_S = 3.0
MAX_ANSWER_BYTES = 16 * 1024
MAX_HEADER_CHARS = 200
MAX_URL_CHARS = 2_000
FIRST_TRIED = 2  # so many IP addresses of a host are tried, and the last one
HTTPS_PORT = 443
PROXY_PORT = 3128
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # an IPv4 address in its last 32 bits (RFC 6052)
INTERNET = ipaddress.ip_network("2000::/3")  # all IPv6 addresses of the Internet are in here
# Those for protocols, which some versions of Python call public, of 6to4, of Teredo and its like, and two for
# documentation.
SPECIAL = [
    ipaddress.ip_network(text) for text in ("192.0.0.0/24", "2002::/16", "2001::/23", "2001:db8::/32", "3fff::/20")
]
IpAddress = IPv4Address | IPv6Address
Resolve = Callable[[str], list[str]]


class ForbiddenAddress(Refused):
    """An address that no request is sent to; trying again does not help."""


class Unreachable(Refused):
    """A request that was not answered; trying again later may help."""


class HttpAnswer(Struct, frozen=True):
    """The answer to a request; `body` is cut to MAX_ANSWER_BYTES."""

    status: int
    body: bytes
    headers: Mapping[str, str]  # with names in small letters

    @property
    def text(self) -> str:
        """The body as text; its control characters become blanks, because PostgreSQL stores no NUL."""
        text = self.body.decode("utf-8", "replace")
        return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)


def is_public(ip_address: IpAddress) -> bool:
    """Return whether an address belongs to the Internet, and not to a private network or to this machine."""
    if isinstance(ip_address, IPv6Address):
        if ip_address.ipv4_mapped is not None:
            return False  # no name server has a reason to give an IPv4 address in this form
        if ip_address in NAT64:
            return is_public(IPv4Address(int(ip_address) & 0xFFFF_FFFF))
        if ip_address not in INTERNET:
            return False
    is_special = ip_address.is_multicast or ip_address.is_reserved or ip_address.is_private or ip_address.is_link_local
    return ip_address.is_global and not is_special and not any(ip_address in network for network in SPECIAL)


def resolve(host: str) -> list[str]:
    """Ask the name servers of this machine for the addresses of a host: those of IPv4 first, then those of IPv6.

    Raise Unreachable if its name is not found.
    """
    from dns.exception import DNSException  # 2 MB that a server without webhooks does not need
    from dns.resolver import NoResolverConfiguration, resolve_name

    try:
        ip_addresses = list(resolve_name(host, lifetime=DNS_TIMEOUT_S, search=False).addresses())
    except (DNSException, NoResolverConfiguration, OSError, ValueError) as error:
        raise Unreachable("The name {host} was not found.", host=host) from error
    return sorted(ip_addresses, key=lambda ip_address: ":" in ip_address)


class SafeClient:
    """Sends requests to addresses that players choose; `proxy` is the host's own HTTP proxy, such as http://proxy:3128.

    Tests replace the name server, the check of addresses and the trusted certificates.
    """

    def __init__(
        self,
        proxy: str = "",
        resolve: Resolve = resolve,
        is_allowed: Callable[[IpAddress], bool] = is_public,
        tls: ssl.SSLContext | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._proxy = urlsplit(proxy) if proxy else None
        self._resolve = resolve
        self._is_allowed = is_allowed
        self._given_tls = tls
        self._timeout_s = timeout_s

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._given_tls or ssl.create_default_context()  # which reads all certificates

    def check(self, url: str) -> None:
        """Raise ForbiddenAddress if no request may be sent to this address, or Unreachable if its name is not found."""
        self._find_ip_addresses(parse_url(url))

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        """Send a POST request and return the answer; raise ForbiddenAddress or Unreachable if there is none."""
        return self.request("POST", url, body, headers)

    def request(self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> HttpAnswer:
        """Send a request and return the answer; raise ForbiddenAddress or Unreachable if there is none."""
        ends_at = time.monotonic() + self._timeout_s
        parts = parse_url(url)
        ip_addresses = self._find_ip_addresses(parts)
        connection = _Connection(
            parts.hostname or "", parts.port or HTTPS_PORT, ip_addresses, self._tls, self._proxy, ends_at
        )
        try:
            with connection.closed_in_time():
                target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
                connection.request(method, target, body or None, {"Connection": "close", **(headers or {})})
                answer = _read_answer(connection.getresponse())
                connection.count_seconds_left()  # raises if the time cut the answer, of which a part may look whole
                return answer
        except ssl.SSLCertVerificationError as error:
            why = error.verify_message
            raise Unreachable("{host} does not prove its name: {why}.", host=parts.hostname, why=why) from error
        except (OSError, HTTPException, ValueError) as error:
            if time.monotonic() >= ends_at or isinstance(error, TimeoutError):
                raise Unreachable("{host} did not answer in time.", host=parts.hostname) from error
            raise Unreachable("{host} did not answer.", host=parts.hostname) from error

    def _find_ip_addresses(self, parts: SplitResult) -> list[str]:
        """Return the IP addresses of a host to try: the first FIRST_TRIED, and the last one.

        Raise ForbiddenAddress unless all of the host's addresses are allowed, or Unreachable if it has none.
        """
        host = parts.hostname or ""
        ip_addresses = [host] if _parse_ip_address(host) else self._resolve(host)
        parsed = [_parse_ip_address(ip_address) for ip_address in ip_addresses]
        if not ip_addresses:
            raise Unreachable("The name {host} was not found.", host=host)
        if not all(ip_address is not None and self._is_allowed(ip_address) for ip_address in parsed):
            raise ForbiddenAddress("{host} is not on the public Internet; please use another address.", host=host)
        first, others = ip_addresses[:FIRST_TRIED], ip_addresses[FIRST_TRIED:]
        return [*first, *others[-1:]]  # the last may be the only IPv6 address


def parse_url(url: str) -> SplitResult:
    """Parse an https address; raise ForbiddenAddress for anything else."""
    has_good_letters = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if has_good_letters and len(url) <= MAX_URL_CHARS:
        with suppress(ValueError):
            parts = urlsplit(url)
            if parts.scheme == "https" and parts.hostname and parts.port != 0 and "@" not in parts.netloc:
                return parts
    raise ForbiddenAddress("Please use an address that begins with https:// and has no user or password in it.")


def _parse_ip_address(text: str) -> IpAddress | None:
    """Parse an IP address; None if the text is anything else, such as a name."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _read_answer(response: HTTPResponse) -> HttpAnswer:
    """Read an answer, cut to the sizes that are allowed."""
    body = response.read(MAX_ANSWER_BYTES)
    headers = {name.lower(): value[:MAX_HEADER_CHARS] for name, value in response.getheaders()}
    return HttpAnswer(response.status, body, headers)


class _Connection(HTTPSConnection):
    """A connection to one of the checked IP addresses of a host; the certificate has to prove the name."""

    def __init__(
        self,
        host: str,
        port: int,
        ip_addresses: list[str],
        tls: ssl.SSLContext,
        proxy: SplitResult | None,
        ends_at: float,
    ) -> None:
        super().__init__(host, port, context=tls)
        self._ip_addresses, self._tls, self._proxy, self._ends_at = ip_addresses, tls, proxy, ends_at
        self._raw: socket.socket | None = None  # what `_stop` ends when the time is over
        self._stopped = False

    def connect(self) -> None:
        """Connect to the first IP address that answers; called by `request`."""
        for place, ip_address in enumerate(self._ip_addresses, 1):
            try:
                self._raw = self._open(ip_address)
                break
            except OSError:
                if place == len(self._ip_addresses):
                    raise
        assert self._raw is not None
        self._raw.settimeout(self.count_seconds_left())
        self.sock = self._tls.wrap_socket(self._raw, server_hostname=self.host, do_handshake_on_connect=False)
        self._raw = self.sock  # which `_stop` ends as well
        self.sock.do_handshake()

    def _open(self, ip_address: str) -> socket.socket:
        """Open a connection to a checked IP address, through a tunnel if there is a proxy."""
        timeout_s = min(CONNECT_TIMEOUT_S, self.count_seconds_left())
        if self._proxy is None:
            return socket.create_connection((ip_address, self.port), timeout_s)
        assert self._proxy.hostname
        raw = socket.create_connection((self._proxy.hostname, self._proxy.port or PROXY_PORT), timeout_s)
        self._raw = raw  # for `_stop`, which may end it while the tunnel is opened
        _open_tunnel(raw, f"[{ip_address}]" if ":" in ip_address else ip_address, self.port, self._proxy)
        return raw

    def count_seconds_left(self) -> float:
        """Return the seconds that are left; raise TimeoutError if there are none."""
        left = self._ends_at - time.monotonic()
        if left <= 0 or self._stopped:
            raise TimeoutError
        return left

    @contextmanager
    def closed_in_time(self) -> Iterator[None]:
        """Close the connection at the end of the block, and when its time is over.

        The timeout of a socket is not enough: it is for one read, and a slow answer may take many.
        """
        timer = threading.Timer(max(0.0, self._ends_at - time.monotonic()), self._stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.close()

    def _stop(self) -> None:
        """End the connection, because its time is over."""
        self._stopped = True
        if self._raw is not None:
            _shut_down(self._raw)


def _shut_down(raw: socket.socket) -> None:
    """End a connection that another thread is reading from."""
    with suppress(OSError):
        # The method of an SSLSocket would take its TLS state away from the thread that reads.
        socket.socket.shutdown(raw, socket.SHUT_RDWR)


def _open_tunnel(raw: socket.socket, host: str, port: int, proxy: SplitResult) -> None:
    """Ask a proxy for a tunnel to a checked IP address (RFC 9110, section 9.3.6)."""
    head = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}"]
    if proxy.username:
        password = base64.b64encode(f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()).decode()
        head.append(f"Proxy-Authorization: Basic {password}")
    raw.sendall("\r\n".join([*head, "", ""]).encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        received = raw.recv(1)  # not one byte of what follows belongs to the proxy
        answer += received
        if not received or len(answer) > MAX_ANSWER_BYTES:
            raise OSError("the proxy opens no tunnel")
    _version, _, rest = answer.partition(b" ")
    status, _, _reason = rest.partition(b" ")
    if status != b"200":
        raise OSError("the proxy refuses the tunnel")
