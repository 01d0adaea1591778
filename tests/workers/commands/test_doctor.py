"""`depesche doctor` reports what fails, and which settings are hardly intended."""

import json
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import insert, text, update

from service import cli
from service.app import App
from service.commands.terminal import CheckResult
from service.internet.safe_http import SafeClient
from service.people import register
from service.settings import Settings
from service.store import channel_queries
from service.store.schema import followers, letters, tables
from tests import apps, servers
from tests.receivers import Receiver
from workers.commands import checkups
from workers.commands.checkups import OVERDUE_S
from workers.commands.doctor import check_settings
from workers.incoming import inbox


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path))
    return tmp_path


def test_an_embedded_server_is_ok(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    output = capsys.readouterr().out
    assert output.count("ok:") == 3
    assert "FAILED" not in output
    assert "warning" not in output


def test_it_only_looks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    assert "not there yet; the first start makes it" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_programs_get_the_same_findings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert {one["verdict"] for one in findings} <= {"ok", "warning"}
    assert {"database", "redis", "disk"} == {one["about"] for one in findings}


def test_everything_that_is_not_well_comes_with_how_to_mend_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"DATABASE": "postgresql+psycopg://depesche@127.0.0.1:1/depesche", "REDIS": "redis://127.0.0.1:1/0"}
    wrong |= {"SMTP": "smtp://127.0.0.1:1", "IMAP": "imaps://me:hidden@127.0.0.1:1/INBOX", "INBOUND": "127.0.0.1:1"}
    for name, address in wrong.items():
        monkeypatch.setenv(f"DEPESCHE_{name}", address)
    assert cli.main(["doctor", "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert {one["about"] for one in findings if one["verdict"] == "failed"} == {"database", "redis", "smtp", "inbound"}
    assert all(bool(one["mend"]) == (one["verdict"] != "ok") for one in findings)
    assert "hidden" not in json.dumps(findings)


def test_a_mail_server_that_is_not_there_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_SMTP", "smtp://127.0.0.1:1")
    assert cli.main(["doctor"]) == 1
    assert "FAILED:  mail server" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        (Settings(require_authentication=True), "every answer is refused"),
        (Settings(smtp="smtp://mail", sender="a@b.org"), "their links lead to http://127.0.0.1:8765"),
        (Settings(smtp="smtp://mail", sender="a@b.org", address="http://b.org"), "use https"),
        (Settings(smtp="smtp://mail", address="https://b.org"), "cannot answer"),
    ],
)
def test_settings_that_are_hardly_intended_are_warnings(settings: Settings, word: str) -> None:
    assert [word in oddity.what + oddity.mend for oddity in check_settings(settings)] == [True]


def test_sensible_settings_are_no_warnings() -> None:
    assert not list(check_settings(Settings(smtp="smtp://mail", address="https://b.org", sender="a@b.org")))


def test_letters_that_are_not_sent_are_noticed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from service.tables.opening import Invitee

    app = App(Settings(folder=folder, smtp="smtp://127.0.0.1:1", confirm=False))
    app.open()
    apps.open_new(app, "kaiser", {}, [Invitee("Anna", "anna@example.org"), Invitee("Bot 1")])
    with app.store.writing() as connection:
        connection.execute(update(letters).values(due_at=app.now() - OVERDUE_S - 1))
    app.close()
    assert cli.main(["doctor"]) == 0
    assert "warning: letters that are not sent: 1\n" in capsys.readouterr().out


def find_findings(app: App, about: str) -> list[CheckResult]:
    return [finding for finding in checkups.check_all(app.settings) if finding.about == about]


def test_a_working_server_is_ok_in_every_part(any_app: App) -> None:
    any_app.open()
    findings = list(checkups.check_all(any_app.settings))
    assert {finding.verdict for finding in findings} == {"ok"}
    assert {finding.about for finding in findings} >= {"database", "schema", "secret", "redis", "clock", "disk"}


def test_a_database_of_another_version_is_odd_and_not_renewed_by_looking(app: App) -> None:
    with app.store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999_later'"))
    (finding,) = find_findings(app, "schema")
    assert (finding.verdict, "depesche backup" in finding.mend) == ("warning", True)
    assert app.store.find_revision() == "9999_later"


def test_a_secret_that_others_can_read_and_another_one(tmp_path: Path) -> None:
    app = App(Settings(folder=tmp_path))
    app.open()
    (tmp_path / "secret").chmod(0o644)
    (finding,) = find_findings(app, "secret")
    assert (finding.verdict, finding.mend) == ("warning", f"chmod 600 {tmp_path / 'secret'}")
    (tmp_path / "secret").write_text("quite another secret than before")
    (finding,) = find_findings(app, "secret")
    assert finding.verdict == "FAILED"
    (tmp_path / "secret").unlink()
    (finding,) = find_findings(app, "secret")
    assert "missing" in finding.what
    app.close()


def test_a_clock_that_was_set_back_is_noticed(app: App) -> None:
    (place, _) = apps.start_table(app)
    for ahead, verdict in ((0, "ok"), (600, "warning")):
        with app.store.writing() as connection:
            moved = update(tables).where(tables.c.id == place.table)
            connection.execute(moved.values(moved_at=int(time.time()) + ahead))
        (finding,) = find_findings(app, "clock")
        assert (finding.verdict, "in the future" in finding.what) == (verdict, verdict == "warning")


@pytest.mark.parametrize(("free", "verdict"), [(10 * 2**20, "FAILED"), (100 * 2**20, "warning"), (10 * 2**30, "ok")])
def test_a_disk_is_measured(app: App, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str) -> None:
    monkeypatch.setattr(checkups.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert [finding.verdict for finding in find_findings(app, "disk")] == [verdict]


def test_the_ear_for_answers_is_asked(app: App) -> None:
    ear = inbox.make_lmtp_server(app, "127.0.0.1", servers.free_port())
    ear.start()
    (finding,) = checkups._check_inbound(replace(app.settings, inbound=f"127.0.0.1:{ear.port}"))
    assert finding.verdict == "ok"
    ear.stop()
    (finding,) = checkups._check_inbound(replace(app.settings, inbound=f"127.0.0.1:{ear.port}"))
    assert (finding.verdict, "start Depesche" in finding.mend) == ("warning", True)


def test_another_program_on_the_mail_port_is_reported(app: App) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"

        def greet() -> None:
            with listener.accept()[0] as visitor:
                visitor.sendall(b"SSH-2.0-other\r\n")

        threading.Thread(target=greet, daemon=True).start()
        (finding,) = checkups._check_inbound(replace(app.settings, inbound=place))
        assert "another program answers: “SSH-2.0-other”" in finding.what


@pytest.mark.parametrize("server", ["nine", "127.0.0.1:many", "127.0.0.1:99999", "dns.example.org"])
def test_a_name_server_is_an_address(server: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--dns", server]) == 2
    assert f"“{server}” is no name server" in capsys.readouterr().err


def test_the_servers_behind_all_channels_are_asked_those_of_table_chats_too(
    app: App, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = apps.start_table(app)[0]
    with app.store.writing() as db:
        person = register.find_or_create_person(db, "anna@example.org", "Anna", app.now())
        row = {"person": person, "label": "x", "groups": "", "created_at": 0}
        for kind, address in (("ntfy", receiver.url("/games")), ("telegram", "-100123")):
            channel_queries.insert_channel(db, {**row, "kind": kind, "address": address})
        row = {"table": place.table, "person": person, "kind": "discord", "address": receiver.url(), "language": "en"}
        db.execute(insert(followers), {**row, "next_seq": 0, "created_at": 0, "due_at": 0})
    asked = list[str]()

    def answer(self: SafeClient, method: str, url: str, *others: Any) -> None:
        asked.append(url)

    monkeypatch.setattr(SafeClient, "request", answer)
    results = list(checkups.check_channels(app.settings))
    assert [one.verdict for one in results] == ["ok"] * 3
    server = receiver.url("/")
    assert sorted(asked) == sorted([server, server, "https://api.telegram.org/"])
    assert any("discord" in one.what for one in results)
