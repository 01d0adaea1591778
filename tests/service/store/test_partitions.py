"""The largest tables in parts: the same shape, the same house, and back again."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from engine import audit as audits
from engine.refusal import Refused
from service import cli
from service.house import House
from service.store import partitions
from service.tables import archive, snapshots
from tests import houses
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
    return [list(connection.execute(text(SHAPE), {"name": name})) for name in partitions.LARGEST]


@pytest.fixture
def house(tmp_path: Path, laid_postgres_url: str, clock: houses.Clock, smtp_sink: Sink) -> Any:
    chosen = houses.settings(tmp_path, laid_postgres_url, smtp=f"smtp://{smtp_sink.hostname}:{smtp_sink.port}")
    with houses.standing(chosen, clock) as here:
        yield here


def divide(house: House, parts: int) -> None:
    with house.store.writing() as connection:
        partitions.divide(connection, parts)


def played(house: House, places: list[Any], moves: int) -> None:
    """So many moves, and every letter."""
    for _ in range(moves):
        assert houses.judged(house, *houses.on_turn(house, places)).accepted
        post.deliver()


def test_a_house_in_parts_goes_on_and_comes_back_in_one_piece(house: House, smtp_sink: Sink) -> None:
    places = houses.seated(house, 3)
    played(house, places, 4)
    with house.store.reading() as connection:
        whole = shapes(connection)
    for parts in (4, 7, 1):
        divide(house, parts)
        with house.store.reading() as connection:
            assert partitions.count(connection) == parts
            assert shapes(connection) == whole
        before, sent = houses.length(house, places[0]), len(smtp_sink.letters)
        played(house, places, 3)
        played(house, houses.seated(house), 2)
        assert houses.length(house, places[0]) >= before + 3
        assert len(smtp_sink.letters) > sent
        report = audits.audit(snapshots.look(house, places[0].table).game, archive.export_for(house, places[0]))
        assert report.finding is None


def test_rows_lie_in_the_part_of_their_table(house: House) -> None:
    divide(house, 4)
    for _ in range(12):
        houses.seated(house)
    with house.store.reading() as connection:
        rows = connection.execute(text('SELECT tableoid, count(DISTINCT "table") FROM entries GROUP BY 1')).all()
        plan = connection.execute(text("EXPLAIN (FORMAT JSON) SELECT * FROM entries WHERE \"table\" = 'x'")).scalar()
    assert len(rows) > 1
    assert sum(row.count for row in rows) == 12
    assert "Append" not in json.dumps(plan)  # one table, one part


@pytest.mark.parametrize(("parts", "why"), [(0, "Choose 1 to 256"), (257, "Choose 1"), (1, "nothing to do")])
def test_a_number_of_parts_that_makes_no_sense_changes_nothing(house: House, parts: int, why: str) -> None:
    with pytest.raises(Refused, match=why):
        divide(house, parts)


def test_sqlite_is_not_laid_in_parts(tmp_path: Path, clock: houses.Clock) -> None:
    with houses.standing(houses.settings(tmp_path), clock) as here, pytest.raises(Refused, match="one file"):
        divide(here, 4)


def test_the_command_lays_a_house_in_parts(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_DATABASE", house.settings.database)
    assert cli.main(["partition", "3"]) == 0
    assert capsys.readouterr().out == "entries, submissions, letters: 3 parts each.\n"
    assert cli.main(["partition", "3"]) == 2
    assert "laid out so already" in capsys.readouterr().err
    with house.store.reading() as connection:
        assert partitions.count(connection) == 3
