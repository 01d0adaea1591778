"""A game created outside the repository by `depesche new-game` is tested, played by page and mail, and uninstalled."""

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
from service.tables import access
from service.tables.history import replays
from tests import apps

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[1]
NAME = "fifth_game"


def run(*command: object, at: Path, site: Path | None = None) -> str:
    """Run a command that has to succeed; return its output."""
    paths = [str(path) for path in (site, ROOT) if path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=at, env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, and with `site`, where it is installed."""
    folder = tmp_path_factory.mktemp("package")
    run("-m", "service.cli", "new-game", NAME, "--title", "The Fifth Game", at=folder)
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-deps")
    run(*pip, "--no-build-isolation", "--target", folder / "site", folder / NAME, at=folder)
    return folder


def test_its_rules_have_no_errors_in_four_languages(package: Path) -> None:
    output = run("-m", "service.cli", "book", NAME, at=package, site=package / "site")
    assert output == "Nothing has to be corrected.\n"


def test_it_keeps_the_contract_and_its_own_rules(package: Path) -> None:
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", at=package / NAME, site=package / "site")
    assert " passed" in output
    assert "skipped" not in output


def test_its_words_are_translated(package: Path) -> None:
    assert run("-m", "service.cli", "catalogues", NAME, at=package, site=package / "site") == ""


@pytest.fixture(scope="module")
def played(package: Path) -> dict[str, list[str]]:
    """The links of a finished and of a running table, in the database of `package / "app"`."""
    links: dict[str, list[str]] = json.loads(
        run("-m", "tests.play_new_game", NAME, package / "app", at=package, site=package / "site")
    )
    return links


@pytest.fixture(scope="module")
def app_without(package: Path, played: dict[str, list[str]]) -> Iterator[App]:
    """The same app in this process, where the game is not installed."""
    assert NAME not in catalogue.find_all()
    with apps.run_app(apps.make_settings(package / "app", games=NAME), apps.FakeTime()) as app:
        yield app


def log_of(app: App, link: str) -> Export:
    return apps.run_query(app, replays.export_for_place, access.find(app, link))


def test_without_its_package_a_table_is_listed(app_without: App) -> None:
    with app_without.store.writing() as connection:
        anna = register.find_or_create_person(connection, "anna@example.org", "Anna", 0)
    assert [one.game for one in apps.load(app_without, my_tables.list_running, anna)] == [NAME]
    assert [one.game for one in apps.load(app_without, my_tables.list_finished, anna)] == [NAME]


def test_without_its_package_a_page_names_it_and_offers_the_log(app_without: App, played: dict[str, list[str]]) -> None:
    client = create_app(app_without).test_client()
    response = client.get(f"/t/{played['over'][0]}")
    assert response.status_code == 422
    assert f"“{NAME}”, which is not installed here" in response.text
    assert f"/t/{played['over'][0]}/log" in response.text


def test_without_its_package_a_finished_log_is_audited_except_its_moves(
    app_without: App, played: dict[str, list[str]]
) -> None:
    report = audit.audit(None, log_of(app_without, played["over"][0]))
    assert report.finding is None
    assert report.proven == report.entries > 8
    assert any("NOT CHECKED: the moves" in sentence for sentence in audit.describe(report))


def test_without_its_package_a_running_log_contains_events_of_the_table_only(
    app_without: App, played: dict[str, list[str]]
) -> None:
    export = log_of(app_without, played["running"][0])
    assert audit.audit(None, export).finding is None
    types = [event["type"] for link in export.entries for event in link.entry["events"]]
    assert types
    assert all(kind.startswith("table.") for kind in types)
    assert not export.entries[-1].whole
    assert export.entries[-1].entry["draws"] == []


def reseal(export: Export, seq: int, **fields: object) -> Export:
    """Return the log with one changed entry, sealed again as if it had always been there."""
    entry = {**export.entries[seq].entry, **fields}
    digest = log.compute_digest(bytes.fromhex(export.seed or ""), seq, canonical_json.encode(entry))
    links = list(export.entries)
    links[seq] = replace(links[seq], entry=entry, digest=digest)
    return replace(export, entries=tuple(links), head=log.compute_head(link.digest for link in links))


def test_a_changed_draw_is_reported_without_the_rules(app_without: App, played: dict[str, list[str]]) -> None:
    export = log_of(app_without, played["over"][0])
    number = next(number for number, link in enumerate(export.entries) if link.entry["draws"])
    (label, size, result), *rest = export.entries[number].entry["draws"]
    assert audit.audit(None, reseal(export, number)).finding is None
    report = audit.audit(None, reseal(export, number, draws=[[label, size, (result + 1) % size], *rest]))
    assert report.finding
    assert report.finding.seq == number
    assert "gives" in report.finding.sentence


@contextmanager
def run_dev(package: Path) -> Iterator[str]:
    """Run `depesche dev`; yield the address of its page."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folders := package / "folders").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(package / "site"), str(ROOT))),
        "TMPDIR": str(folders),
    }
    command = [sys.executable, "-m", "service.cli", "dev", "--port", str(port)]
    with subprocess.Popen(command, cwd=package / NAME, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert NAME in process.stdout.readline()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
    assert not list(folders.iterdir())


def wait_for_text(address: str, expected: str) -> str:
    """Return the page as soon as it shows a text."""
    for _ in range(200):
        with suppress(OSError), urllib.request.urlopen(f"{address}/?moves=2", timeout=20) as page:
            text = html.unescape(page.read().decode())
            if expected in text:
                return text
        time.sleep(0.1)
    raise AssertionError(f"“{expected}” is not shown")


def test_dev_shows_every_seat_and_the_errors_of_each_change(package: Path) -> None:
    rules, sentences = (package / NAME / NAME / name for name in ("__init__.py", "templates/sentences.txt"))
    written, prose = rules.read_text("utf-8"), sentences.read_text("utf-8")
    with run_dev(package) as address:
        page = wait_for_text(address, "it is your turn")
        assert page.count('class="seat"') == 3
        assert "What is broken" not in page
        sentences.write_text(prose.replace("wins the trick", "takes it all"), "utf-8")
        assert "What is broken" not in wait_for_text(address, "takes it all")
        rules.write_text(written.replace("raise TypeError(event)", "raise ValueError(event)"), "utf-8")
        assert "evolve raises an error for an unknown event" in wait_for_text(address, "What is broken")
        rules.write_text(written + "\nno Python\n", "utf-8")
        wait_for_text(address, "SyntaxError")
        rules.write_text(written, "utf-8")
        sentences.write_text(prose, "utf-8")
        assert "What is broken" not in wait_for_text(address, "wins the trick")
