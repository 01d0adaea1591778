"""The largest tables in parts: the same shape, the same house, and back again."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from engine import audit as audits
from engine.refusal import Refused
from service import cli
from service.app import App
from service.store import maintenance
from service.tables.history import replays
from tests import apps
from tests.servers import Sink
from workers.outgoing import post

SHAPE = """
SELECT 'column', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = CAST(CAST(:name AS text) AS regclass) AND a.attnum > 0
UNION ALL SELECT 'key', conname, pg_get_constraintdef(oid), NULL, NULL FROM pg_constraint
WHERE conrelid = CAST(CAST(:name AS text) AS regclass) AND contype <> 'n'
UNION ALL SELECT 'index', indexname, replace(indexdef, ' ON ONLY ', ' ON '), NULL, NULL FROM pg_indexes
WHERE tablename = CAST(:name AS text)
ORDER BY 1, 2
"""


def shapes(connection: Connection) -> list[list[Any]]:
    return [list(connection.execute(text(SHAPE), {"name": name})) for name in maintenance.PARTITIONED_TABLES]


@pytest.fixture
def app(tmp_path: Path, new_postgres_url: str, clock: apps.FakeTime, smtp_sink: Sink) -> Any:
    chosen = apps.make_settings(tmp_path, new_postgres_url, smtp=f"smtp://{smtp_sink.hostname}:{smtp_sink.port}")
    with apps.run_app(chosen, clock) as app:
        yield app


def divide(app: App, parts: int) -> None:
    with app.store.writing() as connection:
        maintenance.partition_tables(connection, parts)


def play(app: App, places: list[Any], moves: int) -> None:
    """Make this number of moves, and send every letter."""
    for _ in range(moves):
        assert apps.submit(app, *apps.find_move(app, places)).accepted
        post.run()


def test_a_partitioned_database_goes_on_and_is_restored_whole(app: App, smtp_sink: Sink) -> None:
    places = apps.start_table(app, 3)
    play(app, places, 4)
    with app.store.reading() as connection:
        whole = shapes(connection)
    for parts in (4, 7, 1):
        divide(app, parts)
        with app.store.reading() as connection:
            assert maintenance.count_partitions(connection) == parts
            assert shapes(connection) == whole
        before, sent = apps.count_entries(app, places[0]), len(smtp_sink.letters)
        play(app, places, 3)
        play(app, apps.start_table(app), 2)
        assert apps.count_entries(app, places[0]) >= before + 3
        assert len(smtp_sink.letters) > sent
        report = audits.audit(
            apps.load_table(app, places[0].table).game, apps.run_query(app, replays.export_for_place, places[0])
        )
        assert report.finding is None


def test_rows_lie_in_the_part_of_their_table(app: App) -> None:
    divide(app, 4)
    for _ in range(12):
        apps.start_table(app)
    with app.store.reading() as connection:
        rows = connection.execute(text('SELECT tableoid, count(DISTINCT "table") FROM entries GROUP BY 1')).all()
        plan = connection.execute(text("EXPLAIN (FORMAT JSON) SELECT * FROM entries WHERE \"table\" = 'x'")).scalar()
    assert len(rows) > 1
    assert sum(row.count for row in rows) == 12
    assert "Append" not in json.dumps(plan)  # one table, one part


@pytest.mark.parametrize(("parts", "why"), [(0, "Choose 1 to 256"), (257, "Choose 1"), (1, "nothing to do")])
def test_a_number_of_parts_that_makes_no_sense_changes_nothing(app: App, parts: int, why: str) -> None:
    with pytest.raises(Refused, match=why):
        divide(app, parts)


def test_sqlite_is_not_laid_in_parts(tmp_path: Path, clock: apps.FakeTime) -> None:
    with apps.run_app(apps.make_settings(tmp_path), clock) as app, pytest.raises(Refused, match="one file"):
        divide(app, 4)


def test_the_command_partitions_the_tables(
    app: App, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_DATABASE", app.settings.database)
    assert cli.main(["partition", "3"]) == 0
    assert capsys.readouterr().out == "entries, submissions, letters: 3 partitions each.\n"
    assert cli.main(["partition", "3"]) == 2
    assert "as many partitions already" in capsys.readouterr().err
    with app.store.reading() as connection:
        assert maintenance.count_partitions(connection) == 3
