"""Many submissions judged in one transaction: one table's trouble is its own, and the order at a table stays."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, insert, select

from engine import audit as audits
from engine.games import kaiser
from engine.refusal import Refused
from service.app import App
from service.store.schema import letters, orders, submissions
from service.tables import snapshots, standing_orders, submitting
from service.tables.access import Place
from service.tables.history import replays
from service.tables.submitting import StoredSubmission
from tests import apps
from workers import jobs, referee

TABLES = 12


@contextmanager
def collect_statements(app: App) -> Iterator[list[str]]:
    """Collect the statements that are sent to the database inside the block."""
    statements = list[str]()

    def append(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(statement)

    event.listen(app.store.engine, "before_cursor_execute", append)
    yield statements
    event.remove(app.store.engine, "before_cursor_execute", append)


def submit_moves(app: App, tables: Sequence[list[Place]]) -> list[StoredSubmission]:
    return [submitting.submit(app, *apps.find_move(app, places)) for places in tables]


def assert_sound(app: App, place: Place) -> None:
    snapshot = apps.load_table(app, place.table)
    report = audits.audit(snapshot.game, apps.run_query(app, replays.export_for_place, place))
    assert (report.finding, report.entries) == (None, snapshot.row.length)


def test_many_tables_cost_hardly_more_statements_than_one(any_app: App) -> None:
    tables, counts = [apps.start_table(any_app) for _ in range(TABLES)], []
    for some in (tables[:1], tables[1:]):
        numbers = submit_moves(any_app, some)
        with collect_statements(any_app) as statements:
            referee.judge_batch(any_app)
        assert all(apps.get_verdict(any_app, number).accepted for number in numbers)
        counts.append(len(statements))
    assert counts[0] <= 9
    assert counts[1] <= counts[0] + 1
    for places in tables:
        assert_sound(any_app, places[0])


def test_a_batch_is_one_transaction_of_two_reads_and_one_write(any_app: App) -> None:
    """The seats are read after their tables are locked: one statement would read both as they were before the lock.

    No transaction is begun to look for more, since the claim has counted what waits.
    """
    tables, transactions = [apps.start_table(any_app) for _ in range(TABLES)], list[str]()
    numbers = submit_moves(any_app, tables)
    event.listen(any_app.store.engine, "begin", lambda _: transactions.append("begun"))
    with collect_statements(any_app) as statements:
        referee.run()
    assert transactions == ["begun"]
    assert all(apps.get_verdict(any_app, number).accepted for number in numbers)
    kinds = [statement.split()[0] for statement in statements if not statement.startswith(("BEGIN", "SET LOCAL"))]
    if any_app.store.engine.name == "postgresql":
        assert kinds == ["SELECT", "SELECT", "WITH"]
    else:
        assert kinds == ["SELECT", "SELECT", "INSERT", "UPDATE", "UPDATE", "INSERT", "UPDATE"]


def test_no_savepoint_is_made_for_a_move(any_app: App) -> None:
    places = apps.start_table(any_app)
    submit_moves(any_app, [places])
    submitting.submit(any_app, places[0], "fly to the moon")
    with collect_statements(any_app) as statements:
        referee.judge_batch(any_app)
    assert not any("SAVEPOINT" in statement for statement in statements)


def test_submissions_of_one_table_are_judged_in_their_order(any_app: App) -> None:
    places = apps.start_table(any_app)
    mover, move = apps.find_move(any_app, places)
    seen = apps.count_entries(any_app, mover) - 1
    first, second = (submitting.submit(any_app, mover, move, key, seen) for key in "ab")
    resigned = submitting.submit(any_app, mover, "resign")
    late = submitting.submit(any_app, apps.find_waiting(any_app, places), "resign")
    referee.judge_batch(any_app)
    statements = [apps.get_verdict(any_app, number) for number in (first, second, resigned, late)]
    assert [one.accepted for one in statements] == [True, False, True, False]
    assert (statements[0].seq, statements[2].seq) == (seen + 1, seen + 2)
    assert "over" in statements[3].text
    assert_sound(any_app, mover)


def test_what_was_moved_in_the_same_batch_can_be_taken_back_in_it(any_app: App) -> None:
    tables = [apps.start_table(any_app) for _ in range(3)]
    mover, move = apps.find_move(any_app, tables[1])
    other = next(place for place in tables[1] if place != mover)
    before = apps.load_table(any_app, mover.table).position.state
    numbers = [submitting.submit(any_app, *apps.find_move(any_app, tables[0]))]
    for place, text in ((mover, move), (mover, "undo"), (other, "agree")):
        numbers.append(submitting.submit(any_app, place, text))
    numbers.append(submitting.submit(any_app, *apps.find_move(any_app, tables[2])))
    referee.judge_batch(any_app)
    assert [apps.get_verdict(any_app, number).text for number in numbers] == [""] * len(numbers)
    assert apps.load_table(any_app, mover.table).position.state == before
    for places in tables:
        assert_sound(any_app, places[0])


def test_what_a_refused_command_has_written_is_undone_alone(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [apps.start_table(any_app) for _ in range(3)]
    ordered = standing_orders.add_order

    def refuse(*args: Any) -> Any:
        ordered(*args)
        raise Refused("Not this time.")

    monkeypatch.setattr(standing_orders, "add_order", refuse)
    numbers = submit_moves(any_app, tables[:1])
    bad = submitting.submit(any_app, tables[1][0], "order pass")
    numbers += submit_moves(any_app, tables[2:])
    referee.judge_batch(any_app)
    assert apps.get_verdict(any_app, bad).text == "Not this time."
    assert all(apps.get_verdict(any_app, number).accepted for number in numbers)
    with any_app.store.reading() as connection:
        assert connection.execute(select(orders)).all() == []
    for places in tables:
        assert_sound(any_app, places[0])


def test_a_game_that_raises_takes_no_other_table_with_it(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [apps.start_table(any_app) for _ in range(3)]
    numbers, decide, calls = submit_moves(any_app, tables), kaiser.decide, []

    def sick(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise ZeroDivisionError
        return decide(*args)

    monkeypatch.setattr(kaiser, "decide", sick)
    with collect_statements(any_app) as statements:
        referee.judge_batch(any_app)
    assert [apps.get_verdict(any_app, number).accepted for number in numbers] == [True, False, True]
    assert len(statements) <= 10


def test_what_the_database_does_not_take_is_refused_alone(any_app: App) -> None:
    """The database refuses a letter that is stored already, as it would refuse any faulty row."""
    tables = [apps.start_table(any_app) for _ in range(3)]
    length, seat = apps.count_entries(any_app, tables[1][0]), apps.find_waiting(any_app, tables[1]).seat
    with any_app.store.writing() as connection:
        for kind in ("turn", "over"):
            row = {"table": tables[1][0].table, "seq": length, "seat": seat, "kind": kind, "due_at": 0}
            connection.execute(insert(letters), row)
    numbers = submit_moves(any_app, tables)
    referee.run()
    assert [apps.get_verdict(any_app, number).accepted for number in numbers] == [True, False, True]
    assert "fault of ours" in apps.get_verdict(any_app, numbers[1]).text
    for places in tables:
        assert_sound(any_app, places[0])


def test_an_unreadable_log_does_not_delay_other_tables(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [apps.start_table(any_app) for _ in range(3)]
    numbers, current = submit_moves(any_app, tables), snapshots.complete_position

    def fail_to_load(caches: Any, connection: Any, game: Any, row: Any, *others: Any) -> Any:
        return 1 / 0 if row.id == tables[1][0].table else current(caches, connection, game, row, *others)

    monkeypatch.setattr(snapshots, "complete_position", fail_to_load)
    referee.judge_batch(any_app)
    assert [apps.get_verdict(any_app, number).accepted for number in numbers] == [True, False, True]


def test_what_was_tried_before_is_judged_alone(any_app: App, clock: apps.FakeTime) -> None:
    """Only one submission of a batch can have killed its referee."""
    tables = [apps.start_table(any_app) for _ in range(3)]
    numbers = submit_moves(any_app, tables)
    with any_app.store.writing() as connection:
        tried = submissions.c.id.in_([one.number for one in numbers[:2]])
        connection.execute(submissions.update().values(tries=1).where(tried))
    for judged in range(1, 4):
        referee.judge_batch(any_app)
        assert [submitting.wait_for_verdict(any_app, number) is not None for number in numbers] == [
            place < judged for place in range(3)
        ]


def test_others_moves_are_read_in_one_go(any_app: App, tmp_path: Any, clock: apps.FakeTime) -> None:
    """A referee whose positions are old reads what others added, for all tables at once."""
    tables = [apps.start_table(any_app) for _ in range(4)]
    with apps.run_app(any_app.settings, clock, any_app.redis) as other:
        for places in tables:
            apps.load_table(other, places[0].table)
        jobs.set_app(any_app)
        numbers = submit_moves(any_app, tables)
        referee.run()
        numbers += submit_moves(any_app, tables)
        with collect_statements(other) as statements:
            referee.judge_batch(other)
        assert all(apps.get_verdict(other, number).accepted for number in numbers)
        assert len(statements) <= 11
    jobs.set_app(any_app)
    for places in tables:
        assert_sound(any_app, places[0])
