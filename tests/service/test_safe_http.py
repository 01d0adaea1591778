"""Requests to addresses that players choose reach the Internet, and nothing of the host's own network."""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from service.internet.safe_http import MAX_ANSWER_BYTES, ForbiddenAddress, SafeClient, Unreachable, is_public
from service.settings import load_settings
from tests import receivers
from tests.receivers import Receiver

PRIVATE = """0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 192.0.0.8 192.0.2.1 192.168.1.1
198.18.0.1 203.0.113.5 224.0.0.1 239.1.2.3 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1
::ffff:10.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::7f00:1 2002:7f00:1::1 2002:808:808::1
2001:0:7f00:1::1 2001:db8::1 3fff::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 100::1""".split()
PUBLIC = "8.8.8.8 93.184.216.34 2606:4700:4700::1111 2a00:1450:4001::1 64:ff9b::808:808".split()


@pytest.mark.parametrize("number", PRIVATE)
def test_no_address_of_a_private_network_is_reached_however_it_is_written(number: str, receiver: Receiver) -> None:
    assert not is_public(ipaddress.ip_address(number))
    client = receivers.client(resolve=lambda _: ["8.8.8.8", number], is_allowed=is_public)
    with pytest.raises(ForbiddenAddress, match="not on the public Internet"):
        client.post(receiver.url(), b"", {})
    assert receiver.requests == []


@pytest.mark.parametrize("number", PUBLIC)
def test_addresses_of_the_internet_are_public(number: str) -> None:
    assert is_public(ipaddress.ip_address(number))


@pytest.mark.parametrize(
    "url",
    """http://example.org ftp://example.org https:// https:///path file:///etc/passwd //example.org gopher://a.example
    https://user:password@example.org/ https://example.org@127.0.0.1/ https://example.org:0/ https://example.org:99999/
    https://exämple.org/ https://127.0.0.1/ https://[::1]/ https://[::ffff:127.0.0.1]/ https://169.254.169.254/latest
    https://10.0.0.1:6379/ https://example.org\\@127.0.0.1/ https://[fe80::1%25eth0]/""".split(),
)
def test_an_address_that_is_not_https_on_the_internet_is_refused_before_anything_is_sent(url: str) -> None:
    def connects(_: str) -> list[str]:
        raise AssertionError("no name is questions for")

    with pytest.raises(ForbiddenAddress):
        SafeClient(resolve=connects).post(url, b"secret", {})


@pytest.mark.parametrize("name", ["2130706433", "0x7f.1", "127.1", "017700000001"])
def test_other_spellings_of_a_number_are_names_and_not_addresses(name: str) -> None:
    with pytest.raises(Unreachable):
        SafeClient(resolve=lambda _: []).post(f"https://{name}/", b"", {})


def test_line_breaks_in_an_address_add_no_header(receiver: Receiver) -> None:
    with pytest.raises(ForbiddenAddress):
        receivers.client().post(receiver.url("/ HTTP/1.1\r\nX: y"), b"", {})
    assert receiver.requests == []


def test_a_request_arrives_with_its_name_its_headers_and_its_body(receiver: Receiver) -> None:
    answer = receivers.client().post(receiver.url("/hook?thread=5"), b'{"a": 1}', {"Webhook-Id": "msg_1"})
    assert (answer.status, answer.text) == (200, "thank you")
    (request,) = receiver.requests
    assert (request.method, request.path, request.json) == ("POST", "/hook?thread=5", {"a": 1})
    assert request.headers["Webhook-Id"] == "msg_1"
    assert request.headers["Host"] == f"localhost:{receiver.port}"


def test_a_name_server_that_changes_its_answer_gains_nothing(receiver: Receiver) -> None:
    """The number that was checked is the one that is connected to; the name is questions for once."""
    answers = iter([["127.0.0.1"], ["127.0.0.66"]])  # nothing answers at the second one
    allowed = {ipaddress.ip_address("127.0.0.1")}
    client = receivers.client(resolve=lambda _: next(answers), is_allowed=allowed.__contains__)
    assert client.post(receiver.url(), b"", {}).status == 200
    with pytest.raises(ForbiddenAddress):
        client.post(receiver.url(), b"", {})


def test_the_next_number_is_tried_when_one_does_not_answer(receiver: Receiver) -> None:
    client = receivers.client(resolve=lambda _: ["127.0.0.66", "127.0.0.1"])
    assert client.post(receiver.url(), b"", {}).status == 200


def test_a_redirect_is_an_answer_and_is_not_followed(receiver: Receiver) -> None:
    receiver.mood = "redirect"
    assert receivers.client().post(receiver.url(), b"", {}).status == 302
    assert [request.path for request in receiver.requests] == ["/hook"]


def test_a_huge_answer_is_cut(receiver: Receiver) -> None:
    receiver.mood = "huge"
    assert len(receivers.client().post(receiver.url(), b"", {}).body) == MAX_ANSWER_BYTES


@pytest.mark.parametrize("mood", ["slow", "drip"])
def test_a_slow_answer_is_not_waited_for(receiver: Receiver, mood: str) -> None:
    receiver.mood, began = mood, time.monotonic()
    with pytest.raises(Unreachable, match="in time"):
        receivers.client(timeout_s=0.4).post(receiver.url(), b"", {})
    assert time.monotonic() - began < 2


def test_a_server_that_is_silent_from_the_start_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections and says nothing: no handshake ends
        url = f"https://localhost:{silent.getsockname()[1]}/"
        began = time.monotonic()
        with pytest.raises(Unreachable, match="in time"):
            receivers.client(timeout_s=0.4).post(url, b"", {})
        assert time.monotonic() - began < 2


def test_a_connection_that_is_cut_is_no_answer(receiver: Receiver) -> None:
    receiver.mood = "cut"
    with pytest.raises(Unreachable, match="did not answer"):
        receivers.client().post(receiver.url(), b"", {})


def test_a_server_that_does_not_prove_its_name_gets_nothing() -> None:
    with receivers.run_receiver("other.pem") as stranger:
        with pytest.raises(Unreachable, match="does not prove its name"):
            receivers.client().post(stranger.url(), b"secret", {})
        assert stranger.requests == []


@contextmanager
def run_proxy(port: int) -> Iterator[tuple[str, list[str]]]:
    """Run a proxy that opens tunnels to one port of this machine, and records what it was questions."""
    questions: list[str] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # both ends hang up as they like
            while received := source.recv(65_536):
                target.sendall(received)
            target.shutdown(socket.SHUT_WR)

    def serve(listener: socket.socket) -> None:
        with listener.accept()[0] as inner:
            questions.append(inner.recv(4_096).decode())
            with socket.create_connection(("127.0.0.1", port)) as outer:
                inner.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                threading.Thread(target=pump, args=(inner, outer), daemon=True).start()
                pump(outer, inner)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield f"http://depesche:se%20cret@127.0.0.1:{listener.getsockname()[1]}", questions
        thread.join(5)


def test_a_proxy_is_asked_for_the_checked_number_and_sees_nothing_of_the_request(receiver: Receiver) -> None:
    with run_proxy(receiver.port) as (proxy, questions):
        client = receivers.client(proxy=proxy, resolve=lambda _: ["8.8.8.8"], is_allowed=is_public)
        assert client.post(receiver.url("/secret"), b"secret", {}).status == 200
    assert questions[0].startswith(f"CONNECT 8.8.8.8:{receiver.port} HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic ZGVwZXNjaGU6c2UgY3JldA==" in questions[0]
    assert "secret" not in questions[0].partition("\r\n")[0]
    with pytest.raises(ForbiddenAddress):
        receivers.client(proxy=proxy, resolve=lambda _: ["10.0.0.1"], is_allowed=is_public).post(
            receiver.url(), b"", {}
        )


def test_the_host_names_a_proxy_in_the_settings() -> None:
    assert load_settings({"DEPESCHE_PROXY": "http://proxy:3128"}).proxy == "http://proxy:3128"
