"""A server starts as its settings say, or it stops with one sentence that says what to do."""

from contextlib import closing
from pathlib import Path

import pytest

from engine.refusal import Refused
from service import cli, create_app, settings
from service.app import App
from service.settings import Settings
from tests import apps
from tests.servers import free_port

SECRET, OTHER_SECRET = "a house for tests", "another house for tests"


def app(folder: Path, secret: str, database: str) -> App:
    return App(Settings(folder=folder, secret=secret, database=database))


def test_a_process_with_another_secret_does_not_start(tmp_path: Path, migrated_url: str) -> None:
    apps.copy_template(migrated_url)
    for _ in range(2):
        with closing(app(tmp_path, SECRET, migrated_url)) as first:
            first.open()
    with (
        closing(app(tmp_path, OTHER_SECRET, migrated_url)) as second,
        pytest.raises(Refused, match="made with another secret"),
    ):
        second.open()


def test_two_folders_without_a_common_secret_do_not_write_dead_links(tmp_path: Path, migrated_url: str) -> None:
    apps.copy_template(migrated_url)
    one, two = (App(Settings(folder=tmp_path / name, database=migrated_url)) for name in "ab")
    with closing(one), closing(two):
        one.open()
        with pytest.raises(Refused, match="DEPESCHE_SECRET"):
            two.open()


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 64])
def test_a_secret_that_could_be_guessed_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "secret").write_bytes(content)
    with pytest.raises(Refused, match="at least 16 characters"):
        settings.load_secret(Settings(folder=tmp_path))


def test_a_short_secret_in_the_settings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="DEPESCHE_SECRET"):
        settings.load_secret(Settings(folder=tmp_path, secret="geheim"))


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"DEPESCHE_SMPT": "smtp://mail"}, "Did you mean DEPESCHE_SMTP?"),
        ({"DEPESCHE_XYLOPHONE": "1"}, "There is no setting DEPESCHE_XYLOPHONE"),
        ({"DEPESCHE_SMTP": "smtp+starttls://me:word@mail"}, "smtp+tls://"),
        ({"DEPESCHE_SMTP": "smtp://mail:99999"}, "DEPESCHE_SMTP"),
        ({"DEPESCHE_REDIS": "localhost:6379"}, "redis://"),
        ({"DEPESCHE_DATABASE": "mysql://db/x"}, "postgresql+psycopg://"),
        ({"DEPESCHE_ADDRESS": "games.example.org"}, "https://"),
        ({"DEPESCHE_SENDER": "depesche"}, "DEPESCHE_SENDER"),
        ({"DEPESCHE_PORT": "99999"}, "from 1 to 65535"),
        ({"DEPESCHE_THINKING": "nan"}, "DEPESCHE_THINKING"),
        ({"DEPESCHE_PACE": "-1"}, "DEPESCHE_PACE"),
        ({"DEPESCHE_LEASE": "0"}, "DEPESCHE_LEASE"),
    ],
)
def test_an_impossible_setting_stops_the_start(chosen: dict[str, str], sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        settings.load_settings(chosen)
    assert sentence in str(refused.value)
    assert "word" not in str(refused.value).replace("password", "")


def test_a_setting_without_a_value_is_none() -> None:
    assert settings.load_settings({"DEPESCHE_SMTP": "", "DEPESCHE_PORT": " "}) == Settings()


@pytest.mark.parametrize("command", ["web", "worker", "clock", "inbound"])
def test_one_process_of_several_needs_a_redis_for_all(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path))
    assert cli.main([command]) == 2
    assert "name it with DEPESCHE_REDIS" in capsys.readouterr().err


DOWN = [
    ("worker", {"DEPESCHE_DATABASE": "postgresql+psycopg://me:hidden-word@127.0.0.1:1/x"}, "Connection refused"),
    ("clock", {"DEPESCHE_DATABASE": "sqlite:////proc/none/x.sqlite"}, "unable to open database file"),
    ("serve", {"DEPESCHE_FOLDER": "/proc/none"}, "/proc/none: "),
]


@pytest.mark.parametrize(("command", "chosen", "sentence"), DOWN)
def test_what_the_host_can_mend_is_one_sentence_and_no_traceback(
    command: str,
    chosen: dict[str, str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    beside = {"DEPESCHE_FOLDER": str(tmp_path), "DEPESCHE_REDIS": f"redis://127.0.0.1:{free_port()}"}
    for name, text in {**beside, **chosen}.items():
        monkeypatch.setenv(name, text)
    assert cli.main([command]) == 2
    output = capsys.readouterr().err
    assert sentence in output
    assert len(output.splitlines()) == 1
    assert "hidden-word" not in output


LOCAL_VISITOR, REMOTE_VISITOR = {"REMOTE_ADDR": "127.0.0.1"}, {"REMOTE_ADDR": "192.0.2.7"}
FORGED_HEADERS = {"X-Forwarded-For": "127.0.0.1", "Host": "localhost"}


@pytest.mark.parametrize(
    ("others", "visitor", "headers", "status"),
    [
        ({}, LOCAL_VISITOR, {}, 200),
        ({}, {"REMOTE_ADDR": "::1"}, {"Host": "[::1]:8765"}, 200),
        ({}, LOCAL_VISITOR, {"Host": "127.0.0.1:8765"}, 200),
        ({}, REMOTE_VISITOR, {}, 404),
        ({}, LOCAL_VISITOR, {"X-Forwarded-For": "192.0.2.7", "Host": "localhost"}, 404),
        ({}, LOCAL_VISITOR, {"X-Forwarded-Proto": "https", "Host": "localhost"}, 404),
        ({}, LOCAL_VISITOR, {"X-Real-IP": "192.0.2.7", "Host": "localhost"}, 404),
        ({}, LOCAL_VISITOR, {"Via": "1.1 proxy", "Host": "localhost"}, 404),
        ({}, LOCAL_VISITOR, {"Forwarded": "for=192.0.2.7", "Host": "localhost"}, 404),
        ({}, REMOTE_VISITOR, FORGED_HEADERS, 404),
        ({"proxies": 1}, REMOTE_VISITOR, FORGED_HEADERS, 404),
        ({"proxies": 1}, LOCAL_VISITOR, {"X-Forwarded-For": "192.0.2.7"}, 404),
        ({}, LOCAL_VISITOR, {"Host": "evil.example"}, 404),
        ({"address": "https://games.example.org"}, LOCAL_VISITOR, {}, 404),
    ],
)
def test_the_mailbox_answers_to_this_machine_only(
    others: dict[str, object], visitor: dict[str, str], headers: dict[str, str], status: int, tmp_path: Path
) -> None:
    with closing(apps.make_app(apps.make_settings(tmp_path, **others), apps.FakeTime())) as app:
        client = create_app(app).test_client()
        response = client.get("/mailbox", headers=headers, environ_overrides=visitor)
        assert response.status_code == status
        lobby = client.get("/", headers=headers, environ_overrides=visitor)
        assert (b'href="/mailbox"' in lobby.data) == (status == 200)
