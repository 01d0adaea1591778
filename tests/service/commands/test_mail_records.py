"""The doctor asks a real name server for the DNS records that letters need."""

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service import cli
from service.commands import mail_records
from service.commands.mail_records import NameServer, NotAnswered, Zone, fetch_records, list_name_servers
from service.commands.terminal import CheckResult
from service.settings import Settings
from tests import servers
from tests.conftest import or_skip

SPF = "txt-record=example.org,v=spf1 mx -all"
DMARC = "txt-record=_dmarc.example.org,v=DMARC1; p=none"
LONG_KEY = ",".join(
    "".join("AbCd"[(place + part) % 4] for place in range(250)) for part in range(4)
)  # beyond a datagram
DKIM = f"txt-record=post._domainkey.example.org,v=DKIM1; k=rsa; p=,{LONG_KEY}"
ADDRESS = "host-record=games.example.org,192.0.2.7,2001:db8::7"
MX = "mx-host=example.org,mail.example.org,10"
RECORDS = (SPF, DMARC, DKIM, ADDRESS, MX)
SETTINGS = Settings(
    smtp="smtp://mail",
    sender="play@example.org",
    address="https://games.example.org",
    dkim="post",
    imap="imaps://a:b@c/",
)


def check(*records: str, settings: Settings = SETTINGS) -> list[CheckResult]:
    with or_skip(lambda: servers.dns_server(*records)) as server:
        return list(Zone(settings, [server]).check())


def test_a_complete_zone_is_ok() -> None:
    findings = check(*RECORDS)
    assert [finding.verdict for finding in findings] == ["ok"] * 5
    sentences = " ".join(finding.what for finding in findings)
    for word in (
        "games.example.org is 192.0.2.7, 2001:db8::7",
        "v=spf1 mx -all",
        "post._domainkey",
        "p=none",
        "mail.example",
    ):
        assert word in sentences


def test_each_missing_record_is_named() -> None:
    findings = check()
    assert [finding.verdict for finding in findings] == ["warning"] * 5
    for finding, record in zip(findings, ("A <", "v=spf1", "v=DKIM1", "v=DMARC1", "MX 10"), strict=True):
        assert record in finding.mend


@pytest.mark.parametrize(
    ("instead", "of", "word"),
    [
        (["txt-record=example.org,v=spf1 +all"], SPF, "lets every server send"),
        ([SPF, "txt-record=example.org,v=spf1 a -all"], SPF, "2 SPF records"),
        (["txt-record=example.org,v=spf10 mx -all"], SPF, "no SPF record"),
        (["txt-record=post._domainkey.example.org,v=DKIM1; p="], DKIM, "which revokes it"),
        (["txt-record=other._domainkey.example.org,v=DKIM1; p=abc"], DKIM, "there is no key at post._domainkey"),
        (["txt-record=_dmarc.example.org,v=DMARC1; p=perhaps"], DMARC, "sets no policy"),
        (["txt-record=_dmarc.example.org,sp=none"], DMARC, "no DMARC record"),
    ],
)
def test_a_wrong_record_is_reported(instead: list[str], of: str, word: str) -> None:
    faults = [finding for finding in check(*(one for one in RECORDS if one != of), *instead) if finding.verdict != "ok"]
    assert [word in finding.what and bool(finding.mend) for finding in faults] == [True]


def test_the_policy_of_the_parent_domain_counts() -> None:
    records = [one.replace("example.org,", "letters.example.org,") for one in (SPF, MX)]
    key = DKIM.replace("_domainkey.", "_domainkey.letters.")
    settings = Settings(smtp="smtp://mail", sender="play@letters.example.org", dkim="post", imap="imaps://a:b@c/")
    findings = check(*records, key, DMARC, settings=settings)
    assert [finding.verdict for finding in findings] == ["ok"] * 4
    assert any(finding.what.startswith("DMARC of example.org") for finding in findings)


def test_without_a_selector_the_host_has_to_check_dkim() -> None:
    settings = Settings(smtp="smtp://mail", sender="play@example.org")
    (finding,) = [finding for finding in check(SPF, DMARC, settings=settings) if finding.verdict != "ok"]
    assert (finding.verdict, "DEPESCHE_DKIM" in finding.mend) == ("look", True)


def test_the_command_asks_the_given_server(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"SMTP": "smtp://127.0.0.1:1", "SENDER": "play@example.org", "DKIM": "post", "FOLDER": str(tmp_path)}
    for name, text in words.items():
        monkeypatch.setenv(f"DEPESCHE_{name}", text)
    with or_skip(lambda: servers.dns_server(*RECORDS)) as (host, port):
        cli.main(["doctor", "--json", "--dns", f"{host}:{port}"])
    findings = [one for one in json.loads(capsys.readouterr().out) if one["about"] == "dns"]
    assert [one["verdict"] for one in findings] == ["ok"] * 3


def test_a_silent_server_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_records, "TIMEOUT_S", 0.1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent, or_skip(lambda: servers.dns_server(SPF)) as server:
        silent.bind(("127.0.0.1", 0))
        assert fetch_records("example.org", "TXT", [silent.getsockname(), server]) == ["v=spf1 mx -all"]
        with pytest.raises(NotAnswered, match="timed out"):
            fetch_records("example.org", "TXT", [silent.getsockname()])
        (finding,) = Zone(SETTINGS, [silent.getsockname()]).check()
        assert "no name server answers" in finding.what


@contextmanager
def run_server(answer: bytes) -> Iterator[NameServer]:
    """Run a server that answers one question with these bytes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            query, sender = server.recvfrom(512)
            server.sendto(query[:2] + answer[:10] + query[12:] + answer[10:], sender)

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
def test_a_malformed_answer_gives_no_record(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_records, "TIMEOUT_S", 0.2)
    with run_server(answer) as server, pytest.raises(NotAnswered):
        fetch_records("example.org", "TXT", [server])


def test_the_servers_of_this_machine_are_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("# ours\nsearch example.org\nnameserver 192.0.2.53\nnameserver\nnameserver 2001:db8::53\n")
    assert list_name_servers(file) == [("192.0.2.53", 53), ("2001:db8::53", 53)]
    assert list_name_servers(file.parent / "none") == []
