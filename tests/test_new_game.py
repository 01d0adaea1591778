"""A fifth game, made outside the tree by `depesche new-game`: tested, played by page and mail, and then taken away."""

from __future__ import annotations

import html
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine import audit, canonical_json, catalogue, log
from engine.log import Export
from service import create_app
from service.accounts import my_tables
from service.app import App
from service.people import register
from service.tables import access, archive
from tests import apps

ROOT = Path(__file__).parents[1]
NAME = "fifth_game"


def run(*command: object, at: Path, site: Path | None = None) -> str:
    """A command that has to succeed; what it prints."""
    paths = [str(path) for path in (site, ROOT) if path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=at, env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, and with `site`, where it is installed."""
    folder = tmp_path_factory.mktemp("elsewhere")
    run("-m", "service.cli", "new-game", NAME, "--title", "The Fifth Game", at=folder)
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-deps")
    run(*pip, "--no-build-isolation", "--target", folder / "site", folder / NAME, at=folder)
    return folder


def test_its_book_is_sound_in_four_languages(made: Path) -> None:
    told = run("-m", "service.cli", "book", NAME, at=made, site=made / "site")
    assert told == "Nothing has to be mended.\n"


def test_it_keeps_the_contract_and_its_own_rules(made: Path) -> None:
    told = run("-m", "pytest", "-q", "-p", "no:cacheprovider", at=made / NAME, site=made / "site")
    assert " passed" in told
    assert "skipped" not in told


def test_its_words_are_translated(made: Path) -> None:
    assert run("-m", "service.cli", "catalogues", NAME, at=made, site=made / "site") == ""


@pytest.fixture(scope="module")
def played(made: Path) -> dict[str, list[str]]:
    """The links of a finished and of a running table, in the house `made / "house"`."""
    found: dict[str, list[str]] = json.loads(
        run("-m", "tests.play_new_game", NAME, made / "app", at=made, site=made / "site")
    )
    return found


@pytest.fixture(scope="module")
def without(made: Path, played: dict[str, list[str]]) -> Iterator[App]:
    """The same house in this process, where nobody installed the game."""
    assert NAME not in catalogue.games()
    with apps.run_app(apps.make_settings(made / "app", games=NAME), apps.FakeTime()) as app:
        yield app


def log_of(app: App, link: str) -> Export:
    return archive.export_for(app, access.find(app, link))


def test_without_its_package_a_table_is_listed(without: App) -> None:
    with without.store.writing() as connection:
        anna = register.person(connection, "anna@example.org", "Anna", 0)
    assert [one.game for one in my_tables.running(without, anna)] == [NAME]
    assert [one.game for one in my_tables.finished(without, anna)] == [NAME]


def test_without_its_package_a_page_says_what_is_missing_and_gives_the_log(
    without: App, played: dict[str, list[str]]
) -> None:
    client = create_app(without).test_client()
    answered = client.get(f"/t/{played['over'][0]}")
    assert answered.status_code == 422
    assert f"“{NAME}”, which is not installed here" in answered.text
    assert f"/t/{played['over'][0]}/log" in answered.text


def test_without_its_package_a_finished_log_is_checked_all_but_its_moves(
    without: App, played: dict[str, list[str]]
) -> None:
    report = audit.audit(None, log_of(without, played["over"][0]))
    assert report.finding is None
    assert report.proven == report.entries > 8
    assert any("NOT CHECKED: the moves" in sentence for sentence in audit.describe(report))


def test_without_its_package_a_running_log_hides_what_only_the_rules_can_tell(
    without: App, played: dict[str, list[str]]
) -> None:
    export = log_of(without, played["running"][0])
    assert audit.audit(None, export).finding is None
    told = [event["type"] for link in export.entries for event in link.entry["events"]]
    assert told
    assert all(kind.startswith("table.") for kind in told)
    assert not export.entries[-1].whole
    assert export.entries[-1].entry["draws"] == []


def resealed(export: Export, seq: int, **fields: object) -> Export:
    """The log with another entry, sealed as if it had always been there."""
    entry = {**export.entries[seq].entry, **fields}
    digest = log.digest(bytes.fromhex(export.seed or ""), seq, canonical_json.encode(entry))
    links = list(export.entries)
    links[seq] = replace(links[seq], entry=entry, digest=digest)
    return replace(export, entries=tuple(links), head=log.compute_head(link.digest for link in links))


def test_a_draw_that_was_changed_is_found_without_the_rules(without: App, played: dict[str, list[str]]) -> None:
    export = log_of(without, played["over"][0])
    number = next(number for number, link in enumerate(export.entries) if link.entry["draws"])
    (label, size, result), *rest = export.entries[number].entry["draws"]
    assert audit.audit(None, resealed(export, number)).finding is None
    report = audit.audit(None, resealed(export, number, draws=[[label, size, (result + 1) % size], *rest]))
    assert report.finding
    assert report.finding.seq == number
    assert "gives" in report.finding.sentence


@contextmanager
def developing(made: Path) -> Iterator[str]:
    """`depesche dev` at work; the address of its page."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folders := made / "folders").mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(made / "site"), str(ROOT))), "TMPDIR": str(folders)}
    command = [sys.executable, "-m", "service.cli", "dev", "--port", str(port)]
    with subprocess.Popen(command, cwd=made / NAME, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert NAME in process.stdout.readline()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
    assert not list(folders.iterdir())


def shown(address: str, wanted: str) -> str:
    """The page, as soon as it shows this."""
    for _ in range(200):
        with suppress(OSError), urllib.request.urlopen(f"{address}/?moves=2", timeout=20) as page:
            text = html.unescape(page.read().decode())
            if wanted in text:
                return text
        time.sleep(0.1)
    raise AssertionError(f"“{wanted}” is not shown")


def test_an_author_sees_every_seat_and_what_each_change_breaks(made: Path) -> None:
    rules, told = (made / NAME / NAME / name for name in ("__init__.py", "templates/told.txt"))
    written, prose = rules.read_text("utf-8"), told.read_text("utf-8")
    with developing(made) as address:
        page = shown(address, "it is your turn")
        assert page.count('class="seat"') == 3
        assert "What is broken" not in page
        told.write_text(prose.replace("wins the trick", "takes it all"), "utf-8")
        assert "What is broken" not in shown(address, "takes it all")
        rules.write_text(written.replace("raise TypeError(event)", "raise ValueError(event)"), "utf-8")
        assert "an unknown event is a loud fault" in shown(address, "What is broken")
        rules.write_text(written + "\nno Python\n", "utf-8")
        shown(address, "SyntaxError")
        rules.write_text(written, "utf-8")
        told.write_text(prose, "utf-8")
        assert "What is broken" not in shown(address, "wins the trick")
