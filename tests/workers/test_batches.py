"""Many submissions judged in one transaction: one table's trouble is its own, and the order at a table stays."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, insert, select

from engine import audit as audits
from engine.games import kaiser
from engine.refusal import Refused
from service.house import House
from service.store.schema import letters, orders, submissions
from service.tables import archive, snapshots, standing_orders, submitting
from service.tables.access import Place
from service.tables.submitting import Handed
from tests import houses
from workers import jobs, referee

MANY = 12


@contextmanager
def statements(here: House) -> Iterator[list[str]]:
    """What is said to the database meanwhile."""
    said = list[str]()

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        said.append(statement)

    event.listen(here.store.engine, "before_cursor_execute", note)
    yield said
    event.remove(here.store.engine, "before_cursor_execute", note)


def handed_in(here: House, tables: Sequence[list[Place]]) -> list[Handed]:
    return [submitting.submit(here, *houses.on_turn(here, places)) for places in tables]


def sound(here: House, place: Place) -> None:
    look = snapshots.look(here, place.table)
    report = audits.audit(look.game, archive.export_for(here, place))
    assert (report.finding, report.entries) == (None, look.row.length)


def test_many_tables_cost_hardly_more_statements_than_one(any_house: House) -> None:
    tables, counts = [houses.seated(any_house) for _ in range(MANY)], []
    for some in (tables[:1], tables[1:]):
        numbers = handed_in(any_house, some)
        with statements(any_house) as said:
            referee.hear_some(any_house)
        assert all(houses.verdict(any_house, number).accepted for number in numbers)
        counts.append(len(said))
    assert counts[0] <= 9
    assert counts[1] <= counts[0] + 1
    for places in tables:
        sound(any_house, places[0])


def test_no_savepoint_is_made_for_a_move(any_house: House) -> None:
    places = houses.seated(any_house)
    handed_in(any_house, [places])
    submitting.submit(any_house, places[0], "fly to the moon")
    with statements(any_house) as said:
        referee.hear_some(any_house)
    assert not any("SAVEPOINT" in statement for statement in said)


def test_submissions_of_one_table_are_judged_in_their_order(any_house: House) -> None:
    places = houses.seated(any_house)
    mover, move = houses.on_turn(any_house, places)
    seen = houses.length(any_house, mover) - 1
    first, second = (submitting.submit(any_house, mover, move, key, seen) for key in "ab")
    resigned = submitting.submit(any_house, mover, "resign")
    late = submitting.submit(any_house, houses.waiting(any_house, places), "resign")
    referee.hear_some(any_house)
    said = [houses.verdict(any_house, number) for number in (first, second, resigned, late)]
    assert [one.accepted for one in said] == [True, False, True, False]
    assert (said[0].seq, said[2].seq) == (seen + 1, seen + 2)
    assert "over" in said[3].said
    sound(any_house, mover)


def test_what_was_moved_in_the_same_batch_can_be_taken_back_in_it(any_house: House) -> None:
    tables = [houses.seated(any_house) for _ in range(3)]
    mover, move = houses.on_turn(any_house, tables[1])
    other = next(place for place in tables[1] if place != mover)
    before = snapshots.look(any_house, mover.table).table.state
    numbers = [submitting.submit(any_house, *houses.on_turn(any_house, tables[0]))]
    for place, text in ((mover, move), (mover, "undo"), (other, "agree")):
        numbers.append(submitting.submit(any_house, place, text))
    numbers.append(submitting.submit(any_house, *houses.on_turn(any_house, tables[2])))
    referee.hear_some(any_house)
    assert [houses.verdict(any_house, number).said for number in numbers] == [""] * len(numbers)
    assert snapshots.look(any_house, mover.table).table.state == before
    for places in tables:
        sound(any_house, places[0])


def test_what_a_refused_command_has_written_is_undone_alone(any_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [houses.seated(any_house) for _ in range(3)]
    ordered = standing_orders.give

    def refused(*args: Any) -> Any:
        ordered(*args)
        raise Refused("Not this time.")

    monkeypatch.setattr(standing_orders, "give", refused)
    numbers = handed_in(any_house, tables[:1])
    bad = submitting.submit(any_house, tables[1][0], "order pass")
    numbers += handed_in(any_house, tables[2:])
    referee.hear_some(any_house)
    assert houses.verdict(any_house, bad).said == "Not this time."
    assert all(houses.verdict(any_house, number).accepted for number in numbers)
    with any_house.store.reading() as connection:
        assert connection.execute(select(orders)).all() == []
    for places in tables:
        sound(any_house, places[0])


def test_a_game_that_raises_takes_no_other_table_with_it(any_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [houses.seated(any_house) for _ in range(3)]
    numbers, decide, calls = handed_in(any_house, tables), kaiser.decide, []

    def sick(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise ZeroDivisionError
        return decide(*args)

    monkeypatch.setattr(kaiser, "decide", sick)
    with statements(any_house) as said:
        referee.hear_some(any_house)
    assert [houses.verdict(any_house, number).accepted for number in numbers] == [True, False, True]
    assert len(said) <= 10


def test_what_the_database_does_not_take_is_refused_alone(any_house: House) -> None:
    """A letter that is owed already stands for whatever a fault of ours may let the database refuse."""
    tables = [houses.seated(any_house) for _ in range(3)]
    length, seat = houses.length(any_house, tables[1][0]), houses.waiting(any_house, tables[1]).seat
    with any_house.store.writing() as connection:
        for kind in ("turn", "over"):
            row = {"table": tables[1][0].table, "seq": length, "seat": seat, "kind": kind, "due_at": 0}
            connection.execute(insert(letters), row)
    numbers = handed_in(any_house, tables)
    referee.hear()
    assert [houses.verdict(any_house, number).accepted for number in numbers] == [True, False, True]
    assert "fault of ours" in houses.verdict(any_house, numbers[1]).said
    for places in tables:
        sound(any_house, places[0])


def test_a_log_that_cannot_be_read_holds_nobody_up(any_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [houses.seated(any_house) for _ in range(3)]
    numbers, current = handed_in(any_house, tables), referee.clerk.positions.current

    def broken(caches: Any, connection: Any, game: Any, row: Any, *others: Any) -> Any:
        return 1 / 0 if row.id == tables[1][0].table else current(caches, connection, game, row, *others)

    monkeypatch.setattr(referee.clerk.positions, "current", broken)
    referee.hear_some(any_house)
    assert [houses.verdict(any_house, number).accepted for number in numbers] == [True, False, True]


def test_what_was_tried_before_is_judged_alone(any_house: House, clock: houses.Clock) -> None:
    """Of many that waited in one batch only one can be what ended their referee."""
    tables = [houses.seated(any_house) for _ in range(3)]
    numbers = handed_in(any_house, tables)
    with any_house.store.writing() as connection:
        tried = submissions.c.id.in_([one.number for one in numbers[:2]])
        connection.execute(submissions.update().values(tries=1).where(tried))
    for judged in range(1, 4):
        referee.hear_some(any_house)
        assert [submitting.verdict(any_house, number) is not None for number in numbers] == [
            place < judged for place in range(3)
        ]


def test_others_moves_are_read_in_one_go(any_house: House, tmp_path: Any, clock: houses.Clock) -> None:
    """A referee whose positions are old reads what others added, for all tables at once."""
    tables = [houses.seated(any_house) for _ in range(4)]
    with houses.standing(any_house.settings, clock, any_house.redis) as other:
        for places in tables:
            snapshots.look(other, places[0].table)
        jobs.work_for(any_house)
        numbers = handed_in(any_house, tables)
        referee.hear()
        numbers += handed_in(any_house, tables)
        with statements(other) as said:
            referee.hear_some(other)
        assert all(houses.verdict(other, number).accepted for number in numbers)
        assert len(said) <= 11
    jobs.work_for(any_house)
    for places in tables:
        sound(any_house, places[0])
