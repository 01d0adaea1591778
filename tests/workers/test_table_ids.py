"""Every statement of a move names its table, so that tables can be spread over machines."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from sqlalchemy import event

from service.app import App
from service.tables import submitting
from tests import apps
from workers import referee

MOVES = 12
# An idle referee looks for the next table among all tables at once.
QUEUE = "accepted IS NULL"
Statement = tuple[str, Sequence[Any]]


@pytest.fixture
def statements(any_app: App) -> Iterator[list[Statement]]:
    """The statements sent to the database, each as often as it has rows of parameters."""
    collected = list[Statement]()

    def append(_: Any, __: Any, statement: str, given: Any, ___: Any, many: bool) -> None:
        collected.extend(
            (kind, tuple(row.values()) if isinstance(row, dict) else row) for kind, row in _rows(statement, given, many)
        )

    event.listen(any_app.store.engine, "before_cursor_execute", append)
    yield collected
    event.remove(any_app.store.engine, "before_cursor_execute", append)


def _rows(statement: str, given: Any, many: bool) -> Iterator[tuple[str, Any]]:
    """The rows of parameters, each with its statement; a whole batch has them in JSON, one list for each kind."""
    if statement.startswith("WITH"):
        lists = {name: json.loads(rows) for name, rows in given.items() if name.endswith("_rows")}
        yield from ((f"INSERT or UPDATE {name}", row) for name, rows in lists.items() for row in rows)
    else:
        yield from ((statement, row) for row in (given if many else [given]))


def test_each_statement_of_a_move_names_its_table_except_the_query_of_the_queue(
    any_app: App, statements: list[Statement]
) -> None:
    places = apps.start_table(any_app)
    turns = [apps.find_move(any_app, places)]
    statements.clear()
    for _ in range(MOVES):
        submission = submitting.submit(any_app, *turns[-1])
        referee.run()
        assert apps.get_verdict(any_app, submission).accepted
        made = list(statements)
        turns.append(apps.find_move(any_app, places))
        statements[:] = made
    others = [
        one for one in statements if QUEUE not in one[0] and not one[0].startswith(("PRAGMA", "BEGIN", "SET LOCAL"))
    ]
    astray = [statement for statement, given in others if places[0].table not in given]
    assert astray == []
    assert len(others) >= 7 * MOVES


def test_a_batch_names_for_each_row_its_own_table(any_app: App, statements: list[Statement]) -> None:
    tables = [apps.start_table(any_app) for _ in range(4)]
    submissions = [submitting.submit(any_app, *apps.find_move(any_app, places)) for places in tables]
    statements.clear()
    referee.judge_batch(any_app)
    made = list(statements)
    assert all(apps.get_verdict(any_app, one).accepted for one in submissions)
    writes = [one for one in made if one[0].startswith(("INSERT", "UPDATE"))]
    named = [[table for places in tables if (table := places[0].table) in given] for _, given in writes]
    assert all(len(names) == 1 for names in named)
    assert set(Counter(names[0] for names in named).values()) == {len(writes) // len(tables)}
