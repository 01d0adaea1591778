"""Golden logs: finished games that no later change may alter."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine import audit, catalogue, log, record, table_events
from service.internet.beacon import is_signed
from tests.golden import make
from tests.golden.make import load_file

FOLDER = Path(make.__file__).parent
FILES = sorted(FOLDER.glob("*/*.json"))


def name_file(path):
    return f"{path.parent.name}/{path.stem}"


every_file = pytest.mark.parametrize("path", FILES, ids=name_file)


@every_file
def test_the_log_passes_the_audit(path):
    export = load_file(path)
    report = audit.audit(catalogue.find(path.parent.name, export.edition), export, verify_signature=is_signed)
    assert report.finding is None
    assert report.replayed == len(export.entries)
    assert path.stat().st_size <= make.MAX_FILE_BYTES


@every_file
def test_events_alone_lead_to_the_same_end(path):
    export = load_file(path)
    game = catalogue.find(export.game, export.edition)
    entries = [msgspec.convert(exported.entry, log.get_entry_type(game)) for exported in export.entries]
    table = record.fold(game, entries)
    assert table.phase == "over"
    assert table.places == entries[-1].events[-1].places
    standing = game.standing(table.state)
    left = [seat for seat, chair in enumerate(table.seats) if chair.status == "resigned"]
    if standing[0].place is not None and not left:
        assert table.places == tuple(seat.place for seat in standing)


@pytest.mark.parametrize("name", catalogue.find_all())
def test_every_game_has_golden_logs(name):
    assert {path.stem for path in FILES if path.parent.name == name} >= {
        plan.name for plan in make.load_plans(catalogue.find(name))
    }


def test_the_golden_logs_have_every_event_of_a_table():
    happened = {
        event["type"] for path in FILES for exported in load_file(path).entries for event in exported.entry["events"]
    }
    assert {kind.__struct_config__.tag for kind in table_events.TABLE_EVENTS} <= happened


def test_a_plan_makes_the_same_log_every_time():
    game = catalogue.find("kaiser")
    plan = next(plan for plan in make.load_plans(game) if plan.name == "abandoned")
    assert make.format_file(make.play(game, plan)) == make.format_file(make.play(game, plan))
