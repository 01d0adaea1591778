"""A small DNS client, for the few records that letters need: it asks one question of the machine's name servers.

The standard library only looks up addresses of hosts. This is the part of RFC 1035 that TXT, MX and addresses take.
"""

from __future__ import annotations

import secrets
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

Kind = Literal["A", "AAAA", "MX", "TXT"]
KINDS: Mapping[Kind, int] = {"A": 1, "AAAA": 28, "MX": 15, "TXT": 16}
INTERNET, RECURSE, TRUNCATED, NO_SUCH_NAME = 1, 0x0100, 0x0200, 3
HEADER, RECORD = struct.Struct("!6H"), struct.Struct("!HHIH")
POINTER = 0xC0  # a name goes on at an earlier place of the message
PATIENCE = 3.0  # seconds for an answer
STRANGE = 5  # answers to other questions that are passed over, for anybody may send some
RESOLV_CONF = Path("/etc/resolv.conf")
Server = tuple[str, int]


class NotAnswered(Exception):
    """No name server could say whether there is such a record."""


def name_servers(file: Path = RESOLV_CONF) -> list[Server]:
    """Whom this machine asks."""
    with suppress(OSError):
        lines = [line.split() for line in file.read_text("ascii", "ignore").splitlines()]
        return [(words[1], 53) for words in lines if words[:1] == ["nameserver"] and len(words) > 1]
    return []


def ask(name: str, kind: Kind, servers: Sequence[Server]) -> list[str]:
    """The records of this kind under this name; none where there are none."""
    query = _query(name, kind)
    why = "this machine has no name server; see /etc/resolv.conf"
    for server in servers:
        try:
            answer = _by_datagram(server, query)
            if _header(answer)[1] & TRUNCATED:
                answer = _by_stream(server, query)
            return list(_records(answer, kind))
        except NotAnswered as error:
            why = f"{server[0]} {error}"
        except OSError as error:
            why = f"{server[0]}: {error.strerror or error}"
        except (struct.error, IndexError, UnicodeError):
            why = f"{server[0]} answers what is no answer"
    raise NotAnswered(why)


def _query(name: str, kind: Kind) -> bytes:
    labels = name.rstrip(".").encode("idna").split(b".")
    asked = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    return (
        HEADER.pack(secrets.randbelow(2**16), RECURSE, 1, 0, 0, 0) + asked + struct.pack("!HH", KINDS[kind], INTERNET)
    )


def _by_datagram(server: Server, query: bytes) -> bytes:
    with _connected(server, socket.SOCK_DGRAM) as asking:
        asking.send(query)
        for _ in range(STRANGE):
            answer = asking.recv(4096)
            if answer[:2] == query[:2] and answer[12 : len(query)] == query[12:]:
                return answer
        raise NotAnswered("answers another question")


def _by_stream(server: Server, query: bytes) -> bytes:
    with _connected(server, socket.SOCK_STREAM) as asking, asking.makefile("rb") as heard:
        asking.sendall(struct.pack("!H", len(query)) + query)
        (length,) = struct.unpack("!H", heard.read(2))
        return heard.read(length)


def _connected(server: Server, kind: socket.SocketKind) -> socket.socket:
    family = socket.AF_INET6 if ":" in server[0] else socket.AF_INET
    made = socket.socket(family, kind)
    made.settimeout(PATIENCE)
    try:
        made.connect(server)
    except OSError:
        made.close()
        raise
    return made


def _header(answer: bytes) -> tuple[int, ...]:
    return HEADER.unpack_from(answer)


def _records(answer: bytes, kind: Kind) -> Iterator[str]:
    _, flags, questions, count, *_ = _header(answer)
    if (status := flags & 0x0F) not in (0, NO_SUCH_NAME):
        raise NotAnswered(f"answers with error {status}")
    at = HEADER.size
    for _ in range(questions):
        at = _name(answer, at)[1] + 4
    for _ in range(count):
        at = _name(answer, at)[1]
        found, _, _, length = RECORD.unpack_from(answer, at)
        at += RECORD.size
        if at + length > len(answer):
            raise NotAnswered("answers with half a record")
        if found == KINDS[kind]:
            yield READERS[kind](answer, at, length)
        at += length


def _name(answer: bytes, at: int) -> tuple[str, int]:
    """A name, and where it ends; one that goes on elsewhere does so further to the front each time."""
    labels: list[str] = []
    while (length := answer[at]) != 0:
        if length >= POINTER:
            elsewhere = int.from_bytes(answer[at : at + 2]) & 0x3FFF
            if elsewhere >= at:
                raise NotAnswered("answers with a name that has no end")
            rest = _name(answer, elsewhere)[0]
            return ".".join(filter(None, [*labels, rest])), at + 2
        labels.append(answer[at + 1 : at + 1 + length].decode("ascii", "replace"))
        at += 1 + length
    return ".".join(labels), at + 1


def _text(answer: bytes, at: int, length: int) -> str:
    """The strings of a TXT record, which belong together."""
    found, end = b"", at + length
    while at < end:
        found += answer[at + 1 : at + 1 + answer[at]]
        at += 1 + answer[at]
    return found.decode("utf-8", "replace")


def _host(answer: bytes, at: int, _: int) -> str:
    return _name(answer, at + 2)[0]  # behind its preference


def _address(answer: bytes, at: int, length: int) -> str:
    return str(ip_address(answer[at : at + length]))


READERS: Mapping[Kind, Callable[[bytes, int, int], str]] = {"A": _address, "AAAA": _address, "MX": _host, "TXT": _text}
