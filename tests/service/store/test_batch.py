"""A batch gathers entries, writes them in sets, and undoes what an error leaves."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import IntegrityError

from engine.log import SealedEntry
from service.app import App
from service.store import queries
from service.store.batch import Addition, Batch, OwedLetter, SeatUpdate
from service.store.schema import entries, talk
from tests import apps


class Struck(Exception):
    pass


@contextmanager
def closing_batch(connection: Connection) -> Iterator[Batch]:
    """A batch that is flushed at the end."""
    batch = Batch(connection)
    yield batch
    batch.flush()


def make_addition(table: str, seq: int, *owed: OwedLetter) -> Addition:
    return Addition(table, SealedEntry(seq, "{}", f"digest {seq}", f"hash {seq}"), "gathering", 5, letters=owed)


def lengths(app: App, *tables: str) -> list[int]:
    with app.store.reading() as connection:
        rows = [queries.find_table(connection, table) for table in tables]
        counted = select(func.count()).select_from(entries)
        stored = [connection.execute(counted.where(entries.c.table == table)).scalar_one() for table in tables]
    assert [row.length for row in rows if row] == stored
    return stored


@pytest.fixture
def two(any_app: App) -> tuple[str, str]:
    """Two tables with one entry each."""
    return apps.open_table(any_app)[0].table, apps.open_table(any_app)[0].table


def test_several_entries_of_several_tables(any_app: App, two: tuple[str, str]) -> None:
    left, right = two
    with any_app.store.writing() as connection, closing_batch(connection) as batch:
        for addition in (make_addition(left, 1), make_addition(right, 1), make_addition(left, 2)):
            batch.append(addition)
    assert lengths(any_app, left, right) == [3, 2]
    with any_app.store.reading() as connection:
        row = queries.find_table(connection, left)
        assert row
        assert row.head == "hash 2"


def test_of_several_changes_of_a_seat_the_last_one_counts(any_app: App, two: tuple[str, str]) -> None:
    with any_app.store.writing() as connection, closing_batch(connection) as batch:
        for seq, status in ((1, "taken"), (2, "resigned")):
            batch.append(
                Addition(two[0], make_addition(two[0], seq).entry, "gathering", 5, [SeatUpdate(0, status, seq)])
            )
    with any_app.store.reading() as connection:
        assert queries.list_seats(connection, two[0])[0].status == "resigned"


def test_flush_writes_what_was_appended_before_it(any_app: App, two: tuple[str, str]) -> None:
    with any_app.store.writing() as connection, closing_batch(connection) as batch:
        batch.append(make_addition(two[0], 1))
        assert queries.list_entries(connection, two[0], 1) == []
        assert [entry.hash for entry in queries.list_entries(batch.flush(), two[0], 1)] == ["hash 1"]


def test_an_attempt_that_fails_leaves_what_was_before_it(any_app: App, two: tuple[str, str]) -> None:
    left, right = two
    with any_app.store.writing() as connection, closing_batch(connection) as batch:
        batch.append(make_addition(left, 1))
        with suppress(Struck), batch.savepoint():
            batch.append(make_addition(right, 1))
            raise Struck
    assert lengths(any_app, left, right) == [2, 1]


def test_an_attempt_that_wrote_and_fails_leaves_what_was_before_it(any_app: App, two: tuple[str, str]) -> None:
    left, right = two
    remark = {"table": right, "seat": 0, "at": 5, "text": "gone"}
    with any_app.store.writing() as connection, closing_batch(connection) as batch:
        batch.append(make_addition(left, 1))
        with suppress(Struck), batch.savepoint():
            batch.append(make_addition(right, 1))
            batch.flush().execute(insert(talk), remark)
            batch.append(make_addition(right, 2))
            raise Struck
        batch.append(make_addition(left, 2))
    assert lengths(any_app, left, right) == [3, 1]
    with any_app.store.reading() as connection:
        assert connection.execute(select(talk)).all() == []


def test_of_attempts_within_another_each_is_undone_alone(any_app: App, two: tuple[str, str]) -> None:
    left, right = two
    with any_app.store.writing() as connection, closing_batch(connection) as batch, batch.savepoint():
        batch.append(make_addition(left, 1))
        with suppress(Struck), batch.savepoint():
            batch.append(make_addition(right, 1))
            batch.flush()
            raise Struck
        with batch.savepoint():
            batch.append(make_addition(left, 2))
            batch.flush()
            batch.append(make_addition(right, 1))
    assert lengths(any_app, left, right) == [3, 2]


def test_a_failed_write_is_not_lost_if_the_caller_goes_on_after_the_error(any_app: App, two: tuple[str, str]) -> None:
    left, right = two

    def go_on() -> None:
        with any_app.store.writing() as connection, closing_batch(connection) as batch:
            batch.append(make_addition(left, 0))  # the table has an entry with this number already
            with suppress(IntegrityError), batch.savepoint():
                batch.append(make_addition(right, 1))
                batch.flush()

    with pytest.raises(IntegrityError):
        go_on()
    assert lengths(any_app, left, right) == [1, 1]


def test_an_attempt_whose_own_writing_fails_is_undone_alone(any_app: App, two: tuple[str, str]) -> None:
    left, right = two
    twice = (OwedLetter(0, "turn", 5), OwedLetter(0, "turn", 6))
    with any_app.store.writing() as connection, closing_batch(connection) as batch:
        batch.append(make_addition(left, 1))
        with suppress(IntegrityError), batch.savepoint():
            batch.append(make_addition(right, 1, *twice))
            batch.flush()
    assert lengths(any_app, left, right) == [2, 1]
