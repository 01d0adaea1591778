"""A copy restores a destroyed server, and never overwrites an existing one."""

import os
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest

from engine import catalogue
from engine.audit import audit
from engine.refusal import Refused
from service import cli
from service.app import App
from service.settings import Settings
from service.store import maintenance
from service.store.schema import REVISION
from service.tables import access, submitting
from service.tables.history import replays
from service.tables.opening import Invitee
from tests import apps, servers
from workers import referee

GUESTS = [Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org")]


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the programs of the PostgreSQL that the tests run where the app finds them."""
    monkeypatch.setenv("PATH", f"{servers.find_postgres_programs()}:{os.environ['PATH']}")


def fill(app: App) -> list[str]:
    """A table of each game, begun; the links of their first seats."""
    links = []
    for game in catalogue.find_all():
        opened = apps.open_new(app, game, {}, GUESTS, 0)
        for link in opened.links:
            submitting.submit(app, access.find(app, link), "sit word", "sit")
        links.append(opened.links[0])
    referee.run()
    return links


def move_settings(settings: Settings, folder: Path, database: str = "") -> Settings:
    return Settings(folder=folder, database=database, secret="", confirm=settings.confirm)


def sound(app: App) -> int:
    """Return the number of tables, and require that every log is sound."""
    book = replays.Archive(app.store, app.links)
    for table in book.list_tables():
        export = book.export_whole(table)
        assert audit(catalogue.find(export.game), export, running=True).finding is None
    return len(book.list_tables())


@pytest.mark.usefixtures("programs")
def test_a_destroyed_server_is_restored_with_every_table_and_link(
    any_app: App, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    links = fill(any_app)
    maintenance.save_backup(any_app.settings, tmp_path / "copy", any_app.now())
    again = ""
    if not any_app.store.url.startswith("sqlite"):
        again = request.getfixturevalue("postgres_url")
    settings = move_settings(any_app.settings, tmp_path / "new", again)
    assert maintenance.restore_backup(settings, tmp_path / "copy").at == any_app.now()
    any_app.store.engine.dispose()
    with apps.run_app(settings, any_app.now) as app:
        app.open()
        assert sound(app) == len(links)
        for link in links:
            assert access.find(app, link).seat == 0


def test_a_copy_shows_one_moment_while_the_server_goes_on(app: App, tmp_path: Path) -> None:
    fill(app)
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            fill(app)

    with closing(app):
        busy = threading.Thread(target=go_on)
        busy.start()
        try:
            maintenance.save_backup(app.settings, tmp_path / "copy", app.now())
        finally:
            stop.set()
            busy.join()
    maintenance.restore_backup(move_settings(app.settings, tmp_path / "new"), tmp_path / "copy")
    with apps.run_app(move_settings(app.settings, tmp_path / "new"), app.now) as app:
        assert sound(app) >= len(catalogue.find_all())


def test_only_its_owner_reads_a_copy(app: App, tmp_path: Path) -> None:
    maintenance.save_backup(app.settings, tmp_path / "copy", app.now())
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o600
    maintenance.restore_backup(move_settings(app.settings, tmp_path / "new"), tmp_path / "copy")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "new").iterdir()} == {0o600}


def test_a_copy_never_overwrites_a_server(app: App, tmp_path: Path) -> None:
    maintenance.save_backup(app.settings, tmp_path / "copy", app.now())
    before = (tmp_path / "depesche.sqlite").read_bytes()
    with pytest.raises(Refused, match="There is a database already: "):
        maintenance.restore_backup(app.settings, tmp_path / "copy")
    assert (tmp_path / "depesche.sqlite").read_bytes() == before


def test_another_secret_is_refused_and_nothing_is_made(app: App, tmp_path: Path) -> None:
    maintenance.save_backup(app.settings, tmp_path / "copy", app.now())
    with pytest.raises(Refused, match="The backup has another secret than DEPESCHE_SECRET"):
        maintenance.restore_backup(
            Settings(folder=tmp_path / "new", secret="of quite another house"), tmp_path / "copy"
        )
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (b'{"format":2,"kind":"sqlite","revision":"%s","at":0}' % REVISION.encode(), "made by a newer Depesche"),
        (b'{"format":1,"kind":"sqlite","revision":"9999_later","at":0}', "made by a newer Depesche"),
        (
            b'{"format":1,"kind":"postgresql","revision":"%s","at":0}' % REVISION.encode(),
            "This backup has a postgresql database",
        ),
    ],
)
def test_what_this_version_cannot_restore_is_refused(app: App, tmp_path: Path, change: bytes, sentence: str) -> None:
    maintenance.save_backup(app.settings, tmp_path / "copy", app.now())
    with ZipFile(tmp_path / "copy") as whole, ZipFile(tmp_path / "other", "w") as other:
        for name in (maintenance.SECRET, maintenance.DATABASE):
            other.writestr(name, whole.read(name))
        other.writestr(maintenance.CONTENTS, change)
    with pytest.raises(Refused, match=sentence):
        maintenance.restore_backup(move_settings(app.settings, tmp_path / "new"), tmp_path / "other")


@pytest.mark.parametrize("damage", [lambda copy: copy[: len(copy) // 2], lambda copy: b"", lambda copy: b"no copy"])
def test_a_damaged_copy_is_refused(app: App, tmp_path: Path, damage) -> None:
    maintenance.save_backup(app.settings, tmp_path / "copy", app.now())
    (tmp_path / "copy").write_bytes(damage((tmp_path / "copy").read_bytes()))
    with pytest.raises(Refused, match="is no complete backup"):
        maintenance.restore_backup(move_settings(app.settings, tmp_path / "new"), tmp_path / "copy")
    assert not (tmp_path / "new").exists()


@pytest.mark.postgres
def test_the_password_of_a_database_is_in_no_list_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def run(command: list[str], **kwargs: object) -> subprocess.CompletedProcess[bytes]:
        called.append(command)
        assert kwargs["env"]["PGPASSWORD"] == "geheim"  # type: ignore[index]
        return subprocess.CompletedProcess(command, 1, b"", b"no such server\n")

    monkeypatch.setattr(maintenance.subprocess, "run", run)
    monkeypatch.setattr(maintenance.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(Refused, match="pg_dump failed: no such server"):
        maintenance._dump(
            maintenance.make_url("postgresql+psycopg://depesche:geheim@db:5433/house?sslmode=require"), Path("x")
        )
    assert "geheim" not in str(called)


def test_the_command_line_copies_and_restores(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(app)
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path))
    monkeypatch.setenv("DEPESCHE_SECRET", app.secret)
    assert cli.main(["backup", str(tmp_path / "copy")]) == 0
    assert "has the whole server" in capsys.readouterr().out
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path / "new"))
    assert cli.main(["restore", str(tmp_path / "copy")]) == 0
    assert cli.main(["audit", "--all"]) == 0
    assert cli.main(["restore", str(tmp_path / "copy")]) == 2
    assert "There is a database already" in capsys.readouterr().err


def test_a_missing_database_is_not_copied_and_an_older_copy_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path / "empty"))
    assert cli.main(["backup", str(tmp_path / "copy")]) == 2
    assert "There is no database in" in capsys.readouterr().err
    (tmp_path / "copy").write_text("an older one")
    assert cli.main(["backup", str(tmp_path / "copy")]) == 2
    assert "exists already" in capsys.readouterr().err
    assert not (tmp_path / "empty").exists()
