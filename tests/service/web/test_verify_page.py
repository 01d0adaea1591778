"""The page /verify: a log and old letters are checked in the browser, and nothing is sent."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Page, expect

from engine import log as logs
from service.tables.history.replays import Archive
from service.text.languages import LANGUAGES, load_translations
from tests.axe import find_violations
from tests.engine import second_verifier
from tests.services import RunningService, Visit

SENTENCE = ("Receipt after %(length)s entry:", "Receipt after %(length)s entries:")


def finish_game(service: RunningService, folder: Path) -> tuple[Path, logs.Export]:
    """Resign at a new table; return the file of its log, as a player downloads it."""
    opened = service.start_table()
    service.submit(opened.links[0], "resign")
    export = Archive(service.app.store, service.app.links).export(opened.table)
    path = folder / "game.json"
    path.write_bytes(msgspec.json.encode(export))
    return path, export


def open_log(visit: Visit, path: Path) -> Page:
    page = visit("/verify")
    page.set_input_files("#log", path)
    return page


def test_a_sound_log_and_its_letters(service: RunningService, visit: Visit, tmp_path: Path) -> None:
    path, export = finish_game(service, tmp_path)
    page = open_log(visit, path)
    expect(page.get_by_role("status")).to_contain_text("This log is sound.")
    expect(page.locator(".checks li")).to_have_count(8)
    page.fill(
        "#pasted", f"> Receipt after 4 entries:\n> {logs.compute_heads([link.digest for link in export.entries])[3]}"
    )
    expect(page.locator(".receipts")).to_contain_text("after 4 entries agrees with this log")
    page.fill("#pasted", f"Quittung nach 4 Einträgen: {'ab' * 32}")
    expect(page.locator(".receipts")).to_contain_text("after 4 entries contradicts this log")
    expect(page.get_by_role("status")).to_have_class("note bad")
    assert find_violations(page) == []


def test_the_first_entry_that_fails_is_named(service: RunningService, visit: Visit, tmp_path: Path) -> None:
    path, _ = finish_game(service, tmp_path)
    plain = json.loads(path.read_text("utf-8"))
    plain["entries"][3]["entry"]["move"] = "resign"
    path.write_text(json.dumps(plain), "utf-8")
    page = open_log(visit, path)
    expect(page.get_by_role("status")).to_contain_text("The first fault is in entry 3.")
    expect(page.locator(".checks li.bad")).to_have_count(1)


def test_nothing_is_sent(service: RunningService, visit: Visit, tmp_path: Path) -> None:
    path, _ = finish_game(service, tmp_path)
    page = visit("/verify")
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.set_input_files("#log", path)
    expect(page.get_by_role("status")).to_contain_text("This log is sound.")
    assert urls == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("length", [1, 17, 250])
def test_receipts_are_found_in_every_language(language: str, length: int) -> None:
    sentence = load_translations(language).ngettext(*SENTENCE, length) % {"length": length}
    receipts = second_verifier.ask(letter=f"7 letters, 2027-01-31.\n> {sentence}\n> {'0a' * 32}\n")
    assert receipts == [{"table": "", "length": length, "hash": "0a" * 32}]


def test_the_rounds_of_a_public_beacon_are_checked_in_the_browser(visit: Visit, tmp_path: Path) -> None:
    """The page loads the curve from its own server, and only if a log needs it."""
    golden = Path(__file__).parents[2] / "golden/kurier/beacon.json"
    page = open_log(visit, golden)
    expect(page.get_by_role("status")).to_contain_text("22 rounds of a public beacon")
    forged = tmp_path / "forged.json"
    forged.write_text(golden.read_text("utf-8").replace('"round":', '"round":1', 1), "utf-8")
    page.set_input_files("#log", forged)
    expect(page.get_by_role("status")).to_contain_text("The first fault is in entry")
