"""The doctor asks a real name server what the world is told of letters from here."""

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from service import cli, dns_client
from service.commands.findings import Finding
from service.commands.mail_records import Zone
from service.dns_client import NotAnswered, Server, ask
from service.settings import Settings
from tests import servers
from tests.conftest import or_skip

SPF = "txt-record=example.org,v=spf1 mx -all"
DMARC = "txt-record=_dmarc.example.org,v=DMARC1; p=none"
LONG = ",".join("".join("AbCd"[(place + part) % 4] for place in range(250)) for part in range(4))  # beyond a datagram
DKIM = f"txt-record=post._domainkey.example.org,v=DKIM1; k=rsa; p=,{LONG}"
HOUSE = "host-record=games.example.org,192.0.2.7,2001:db8::7"
MX = "mx-host=example.org,mail.example.org,10"
ALL = (SPF, DMARC, DKIM, HOUSE, MX)
SETTINGS = Settings(
    smtp="smtp://mail",
    sender="play@example.org",
    address="https://games.example.org",
    dkim="post",
    imap="imaps://a:b@c/",
)


def look(*records: str, settings: Settings = SETTINGS) -> list[Finding]:
    with or_skip(lambda: servers.dns_server(*records)) as server:
        return list(Zone(settings, [server]).look())


def test_a_zone_with_every_record_is_well() -> None:
    found = look(*ALL)
    assert [finding.verdict for finding in found] == ["well"] * 5
    said = " ".join(finding.what for finding in found)
    for word in (
        "games.example.org is 192.0.2.7, 2001:db8::7",
        "v=spf1 mx -all",
        "post._domainkey",
        "p=none",
        "mail.example",
    ):
        assert word in said


def test_a_zone_with_nothing_in_it_says_which_records_to_add() -> None:
    found = look()
    assert [finding.verdict for finding in found] == ["odd"] * 5
    for finding, record in zip(found, ("A <", "v=spf1", "v=DKIM1", "v=DMARC1", "MX 10"), strict=True):
        assert record in finding.mend


@pytest.mark.parametrize(
    ("instead", "of", "word"),
    [
        (["txt-record=example.org,v=spf1 +all"], SPF, "lets everybody send"),
        ([SPF, "txt-record=example.org,v=spf1 a -all"], SPF, "2 SPF records"),
        (["txt-record=example.org,v=spf10 mx -all"], SPF, "no SPF record"),
        (["txt-record=post._domainkey.example.org,v=DKIM1; p="], DKIM, "which revokes it"),
        (["txt-record=other._domainkey.example.org,v=DKIM1; p=abc"], DKIM, "there is no key at post._domainkey"),
        (["txt-record=_dmarc.example.org,v=DMARC1; p=perhaps"], DMARC, "says nothing"),
        (["txt-record=_dmarc.example.org,sp=none"], DMARC, "no DMARC record"),
    ],
)
def test_a_record_that_does_not_do_is_told(instead: list[str], of: str, word: str) -> None:
    odd = [finding for finding in look(*(one for one in ALL if one != of), *instead) if finding.verdict != "well"]
    assert [word in finding.what and bool(finding.mend) for finding in odd] == [True]


def test_a_policy_of_the_domain_above_holds() -> None:
    records = [one.replace("example.org,", "letters.example.org,") for one in (SPF, MX)]
    key = DKIM.replace("_domainkey.", "_domainkey.letters.")
    settings = Settings(smtp="smtp://mail", sender="play@letters.example.org", dkim="post", imap="imaps://a:b@c/")
    found = look(*records, key, DMARC, settings=settings)
    assert [finding.verdict for finding in found] == ["well"] * 4
    assert any(finding.what.startswith("DMARC of example.org") for finding in found)


def test_without_a_selector_the_host_is_asked_to_look() -> None:
    settings = Settings(smtp="smtp://mail", sender="play@example.org")
    (finding,) = [finding for finding in look(SPF, DMARC, settings=settings) if finding.verdict != "well"]
    assert (finding.verdict, "DEPESCHE_DKIM" in finding.mend) == ("look", True)


def test_the_command_asks_the_server_that_is_named(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"SMTP": "smtp://127.0.0.1:1", "SENDER": "play@example.org", "DKIM": "post", "FOLDER": str(tmp_path)}
    for name, text in words.items():
        monkeypatch.setenv(f"DEPESCHE_{name}", text)
    with or_skip(lambda: servers.dns_server(*ALL)) as (host, port):
        cli.main(["doctor", "--json", "--dns", f"{host}:{port}"])
    told = [one for one in json.loads(capsys.readouterr().out) if one["about"] == "dns"]
    assert [one["verdict"] for one in told] == ["well"] * 3


def test_a_server_that_says_nothing_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_client, "PATIENCE", 0.1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent, or_skip(lambda: servers.dns_server(SPF)) as server:
        silent.bind(("127.0.0.1", 0))
        assert ask("example.org", "TXT", [silent.getsockname(), server]) == ["v=spf1 mx -all"]
        with pytest.raises(NotAnswered, match="timed out"):
            ask("example.org", "TXT", [silent.getsockname()])
        (finding,) = Zone(SETTINGS, [silent.getsockname()]).look()
        assert "nothing could be asked" in finding.what


@contextmanager
def answering(answer: bytes) -> Iterator[Server]:
    """A server that gives this behind every question."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            query, whom = server.recvfrom(512)
            server.sendto(query[:2] + answer[:10] + query[12:] + answer[10:], whom)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()


HEAD = struct.pack("!5H", 0x8180, 1, 1, 0, 0)


@pytest.mark.parametrize(
    "answer",
    [
        HEAD,
        HEAD + b"\xc0\xff",
        HEAD + b"\xc0\x1d" + b"\0" * 12,  # a name that is its own end
        HEAD + b"\x3fabc",
        HEAD + b"\xc0\x0c" + struct.pack("!HHIH", 16, 1, 0, 9) + b"\xff",
        struct.pack("!5H", 0x8182, 1, 0, 0, 0),  # the server failed
        struct.pack("!5H", 0x8180, 1, 60_000, 0, 0),
    ],
)
def test_an_answer_that_is_none_is_no_record(answer: bytes) -> None:
    with answering(answer) as server, pytest.raises(NotAnswered):
        ask("example.org", "TXT", [server])


def test_the_machines_servers_are_read_from_its_file(tmp_path: object) -> None:
    from pathlib import Path

    file = Path(str(tmp_path)) / "resolv.conf"
    file.write_text("# ours\nsearch example.org\nnameserver 192.0.2.53\nnameserver\nnameserver 2001:db8::53\n")
    assert dns_client.name_servers(file) == [("192.0.2.53", 53), ("2001:db8::53", 53)]
    assert dns_client.name_servers(file.parent / "none") == []
