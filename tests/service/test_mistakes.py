"""Mistakes of a host: each stops the start with one sentence and status 2, and nothing is made or changed."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from service import cli
from service.store import Store
from tests import apps
from tests.servers import free_port

GOOD = {"DEPESCHE_REDIS": "redis://127.0.0.1:1", "DEPESCHE_SECRET": "a house for tests"}
SERVE, WORKER, CLOCK, WEB, INBOUND = ["serve"], ["worker"], ["clock"], ["web"], ["inbound"]
NUMBERS = (
    "port", "proxies", "pace", "reminder", "vacation", "verdict_wait", "thinking", "lease", "opens_per_hour",
    "moves_per_minute", "invitations_per_day", "gather", "answers_per_hour",
)  # fmt: skip
SWITCHES = ("confirm", "require_authentication")
MISTAKES: list[tuple[list[str], dict[str, str], str]] = [
    *((SERVE, {name: "many"}, name.upper()) for name in NUMBERS),
    *((SERVE, {name: "-1"}, name.upper()) for name in NUMBERS),
    *((SERVE, {name: "9" * 30}, name.upper()) for name in NUMBERS),
    *((SERVE, {name: "٣٣"}, name.upper()) for name in ("port", "pace", "lease")),
    *((SERVE, {name: "1_000"}, name.upper()) for name in ("port", "pace", "reminder")),
    *((SERVE, {name: "perhaps"}, name.upper()) for name in SWITCHES),
    (SERVE, {"port": "99999"}, "from 1 to 65535"),
    (SERVE, {"thinking": "nan"}, "THINKING"),
    (SERVE, {"verdict_wait": "inf"}, "VERDICT_WAIT"),
    (SERVE, {"reminder": "1.5"}, "REMINDER"),
    (SERVE, {"smpt": "smtp://mail"}, "Did you mean DEPESCHE_SMTP?"),
    (SERVE, {"xylophone": "1"}, "There is no setting DEPESCHE_XYLOPHONE"),
    (SERVE, {"smtp": "mail.example.org"}, "SMTP"),
    (SERVE, {"smtp": "smtp+starttls://me:hidden-word@mail"}, "smtp+tls://"),
    (SERVE, {"smtp": "smtp://mail:99999"}, "SMTP"),
    (SERVE, {"smtp": "smtp://"}, "SMTP"),
    (SERVE, {"smtp": "smtp://mäil example"}, "SMTP"),
    (SERVE, {"address": "games.example.org"}, "ADDRESS"),
    (SERVE, {"address": "ftp://games.example.org"}, "ADDRESS"),
    (SERVE, {"address": "https://"}, "ADDRESS"),
    (SERVE, {"address": "https://games.example.org\r\nX: y"}, "ADDRESS"),
    (SERVE, {"address": "https://games.example.org/?a=b"}, "ADDRESS"),
    (SERVE, {"sender": "depesche"}, "SENDER"),
    (SERVE, {"sender": "dépêche@example.org"}, "SENDER"),
    (SERVE, {"sender": "Depesche\r\nBcc: x@y.org <a@b.org>"}, "SENDER"),
    (SERVE, {"host": "no.such.host.invalid"}, "cannot be listened on"),
    (SERVE, {"host": "256.1.1.1"}, "cannot be listened on"),
    (SERVE, {"inbound": "8024"}, "INBOUND"),
    (SERVE, {"inbound": "127.0.0.1:99999"}, "INBOUND"),
    (SERVE, {"inbound": "127.0.0.1:mail"}, "INBOUND"),
    (SERVE, {"secret": "short"}, "SECRET"),
    (SERVE, {"folder": "/proc/none"}, "/proc/none"),
    (SERVE, {"folder": "/dev/null"}, "/dev/null"),
    (SERVE, {"folder": "/dev/null/below"}, "/dev/null"),
    (SERVE, {"games": "../kaiser"}, "../kaiser"),
    ([*SERVE, "--port", "99999"], {}, "65535"),
    ([*SERVE, "--port", "-1"], {}, "port"),
    ([*SERVE, "--port", "0"], {}, "port"),
    ([*SERVE, "--host", "no.such.host.invalid"], {}, "cannot be listened on"),
    (WORKER, {"redis": "localhost:6379"}, "redis://"),
    (WORKER, {"redis": "http://cache"}, "redis://"),
    (WORKER, {"redis": "redis://cache:port/0"}, "redis://"),
    (WORKER, {"redis": "embedded"}, "name it with DEPESCHE_REDIS"),
    (WORKER, {"database": "mysql://db/x"}, "postgresql+psycopg://"),
    (WORKER, {"database": "depesche"}, "postgresql+psycopg://"),
    (WORKER, {"database": "postgresql+psycopg://me:hidden-word@127.0.0.1:1/x"}, "onnection refused"),
    (WORKER, {"database": "postgresql+psycopg://me:hidden-word@no.such.host.invalid/x"}, "database"),
    (WORKER, {"database": "postgresql+psycopg://me:hidden-word@127.0.0.1:99999/x"}, "postgresql+psycopg://"),
    (WORKER, {"database": "sqlite:////proc/none/x.sqlite"}, "unable to open database file"),
    (WORKER, {"database": "sqlite:////dev/null/x.sqlite"}, "unable to open database file"),
    ([*WORKER, "--queues", "referee,trumpet"], {}, "trumpet"),
    ([*WORKER, "--queues", ""], {}, "queue"),
    ([*WEB, "--bind", "8000"], {}, "--bind"),
    ([*WEB, "--bind", "127.0.0.1:99999"], {}, "--bind"),
    ([*WEB, "--bind", "no.such.host.invalid:80"], {}, "cannot be listened on"),
    ([*WEB, "--workers", "0"], {}, "workers"),
    ([*WEB, "--threads", "-4"], {}, "threads"),
    ([*INBOUND, "--bind", "lmtp"], {}, "--bind"),
    ([*INBOUND, "--bind", "256.0.0.1:24"], {}, "cannot be listened on"),
    (["srve"], {}, "srve"),
    ([*CLOCK, "--queues", "all"], {}, "--queues"),
]


@pytest.mark.parametrize(("command", "chosen", "sentence"), MISTAKES, ids=[str(one[:2])[:60] for one in MISTAKES])
def test_a_mistake_is_one_sentence_and_nothing_is_made(
    command: list[str],
    chosen: dict[str, str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "app"
    refuse_start(command, {"folder": str(folder), **chosen}, sentence, monkeypatch, capfd)
    assert not list(tmp_path.rglob("*")), "something was made"


def refuse_start(
    command: list[str],
    chosen: dict[str, str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, text in (GOOD | {f"DEPESCHE_{name.upper()}": text for name, text in chosen.items()}).items():
        monkeypatch.setenv(name, text)
    try:
        status = cli.main(command)
    except SystemExit as ended:  # argparse ends so
        status = int(str(ended.code))
    output = capfd.readouterr()
    assert status == 2
    assert sentence in output.err
    assert "Traceback" not in output.err + output.out
    assert "hidden-word" not in output.err + output.out
    assert len(output.err.splitlines()) <= 3, output.err


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_a_port_that_another_has_is_refused_before_anything_is_made(
    taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = {"folder": str(tmp_path / "app")}
    refuse_start(["serve", "--port", str(taken)], chosen, "cannot be listened on", monkeypatch, capfd)
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("command", ["web", "inbound"])
def test_a_port_that_another_has_is_refused(
    command: str, taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = {"folder": str(tmp_path)}
    refuse_start([command, "--bind", f"127.0.0.1:{taken}"], chosen, "cannot be listened on", monkeypatch, capfd)


def test_a_folder_that_is_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app").write_text("mine")
    refuse_start(["serve"], {"folder": str(tmp_path / "app")}, str(tmp_path / "app"), monkeypatch, capfd)
    assert (tmp_path / "app").read_text() == "mine"


@pytest.mark.parametrize("content", [b"short", b"\xff" * 64, b"SQLite format 3\x00"])
def test_a_database_that_is_none_is_refused_and_left_alone(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "depesche.sqlite").write_bytes(content)
    refuse_start(["serve", "--port", str(free_port())], {"folder": str(tmp_path)}, "database", monkeypatch, capfd)
    assert (tmp_path / "depesche.sqlite").read_bytes() == content


def test_a_database_of_another_version_is_refused_and_left_alone(
    tmp_path: Path, migrated_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    apps.copy_template(migrated_url)
    with closing(Store(migrated_url)) as store, store.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999_later'")
    refuse_start(
        ["clock"],
        {"folder": str(tmp_path), "database": migrated_url},
        "Another version of Depesche",
        monkeypatch,
        capfd,
    )
    with closing(Store(migrated_url)) as store, store.reading() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one() == "9999_later"


def test_a_database_that_is_not_there_is_refused(
    tmp_path: Path, migrated_postgres_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    missing = migrated_postgres_url.replace("/test_", "/no_such_")
    refuse_start(["worker"], {"folder": str(tmp_path), "database": missing}, "does not exist", monkeypatch, capfd)


def test_a_role_that_is_not_there_is_refused(
    tmp_path: Path, migrated_postgres_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stranger = migrated_postgres_url.replace("//postgres@", "//nobody-here:hidden-word@")
    refuse_start(["worker"], {"folder": str(tmp_path), "database": stranger}, "nobody-here", monkeypatch, capfd)
