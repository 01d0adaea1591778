"""A locked table holds no other table up, however long it is locked; and no worker waits for ever."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, Select, func, select, update

from service.bells import JOBS
from service.house import House
from service.settings import DAY
from service.store import Store
from service.store.schema import letters, mails, seats, submissions, tables
from service.tables import judging, submitting
from service.tables.access import Place
from tests import houses
from tests.houses import Clock
from tests.workers.incoming.test_inbox import address, answer
from workers import clock as clocks
from workers import jobs, referee
from workers.incoming import inbox, mail_moves

SOON = 5.0  # seconds; a lock that somebody holds would be waited for much longer
Held = tuple[House, list[Place], list[Place]]


@pytest.fixture
def house(tmp_path: Path, laid_postgres_url: str, clock: Clock) -> Iterator[House]:
    with houses.standing(houses.settings(tmp_path, laid_postgres_url), clock) as here:
        yield here


@contextmanager
def held(here: House, rows: Select) -> Iterator[Connection]:
    """A transaction that locked these rows and does not end."""
    other = Store(here.store.url)
    try:
        with other.writing() as connection:
            assert connection.execute(rows.with_for_update()).all()
            yield connection
    finally:
        other.close()


def row_of(place: Place) -> Select:
    return select(tables.c.id).where(tables.c.id == place.table)


def seats_of(place: Place) -> Select:
    return select(seats.c.seat).where(seats.c.table == place.table)


@contextmanager
def soon() -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < SOON


@pytest.mark.parametrize("rows", [row_of, seats_of], ids=["table", "seats"])
def test_a_held_table_holds_no_verdict_of_another_up(house: House, clock: Clock, rows) -> None:
    stuck, free = houses.seated(house), houses.seated(house, 3)
    waiting = [submitting.submit(house, *houses.on_turn(house, stuck), key=str(number)) for number in range(4)]
    clock.move(3_600)  # also where they have waited for long
    other = submitting.submit(house, *houses.on_turn(house, free))
    with held(house, rows(stuck[0])), soon():
        for _ in range(referee.TRIES + 2):
            referee.hear()
            if submitting.verdict(house, other):
                break
        assert houses.verdict(house, other).accepted
        assert submitting.verdict(house, waiting[0]) is None
    referee.hear()
    assert houses.verdict(house, waiting[0]).accepted
    assert not any("several times" in houses.verdict(house, number).said for number in waiting)


def test_waiting_for_a_lock_is_no_try(house: House, clock: Clock) -> None:
    places = houses.seated(house)
    number = submitting.submit(house, *houses.on_turn(house, places))
    clock.move(3_600)
    with held(house, seats_of(places[0])):
        referee.hear()
        with house.store.reading() as connection:
            tries = connection.execute(
                select(submissions.c.tries).where(submissions.c.id == number.number)
            ).scalar_one()
    assert tries == 0


@pytest.mark.parametrize("rows", [row_of, seats_of], ids=["table", "seats"])
def test_a_held_table_holds_no_mail_to_another_up(house: House, rows) -> None:
    stuck, free = houses.seated(house), houses.seated(house, 3)
    for places in (stuck, free):
        place, move = houses.on_turn(house, places)
        inbox.take(house, answer(house, place, move).as_bytes(), address(house, place), "somebody@example.org")
    with held(house, rows(stuck[0])), soon():
        mail_moves.hear()
        with house.store.reading() as connection:
            read = connection.execute(select(mails.c.table).where(mails.c.read_at.is_not(None))).scalars().all()
        assert read == [free[0].table]
    mail_moves.hear()
    with house.store.reading() as connection:
        assert connection.execute(select(func.count()).where(mails.c.read_at.is_(None))).scalar_one() == 0


@pytest.mark.parametrize("rows", [row_of, seats_of], ids=["table", "seats"])
def test_a_held_table_stops_no_clock_of_another(house: House, clock: Clock, rows) -> None:
    stuck, free = houses.seated(house, pace=DAY), houses.seated(house, 3, pace=DAY)
    before = houses.length(house, free[0])
    clock.move(DAY)
    with held(house, rows(stuck[0])), soon():
        clocks.tick(house)
        assert houses.length(house, free[0]) == before + 1
    clocks.tick(house)
    with house.store.reading() as connection:
        late = select(func.count()).where(letters.c.kind == "timeout")
        assert connection.execute(late).scalar_one() == 2


def test_every_wait_for_the_database_has_an_end(house: House) -> None:
    with house.store.writing() as connection:
        for name in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"):
            assert connection.exec_driver_sql(f"SHOW {name}").scalar_one() != "0"


def test_whoever_forgets_a_transaction_loses_its_locks(tmp_path: Path, laid_postgres_url: str, clock: Clock) -> None:
    own = f"{laid_postgres_url}&options=-c%20idle_in_transaction_session_timeout%3D200"
    with houses.standing(houses.settings(tmp_path, laid_postgres_url), clock) as here:
        places = houses.seated(here)
        forgetful = Store(own)
        connection = forgetful.engine.connect()
        connection.execute(update(tables).where(tables.c.id == places[0].table).values(pace=tables.c.pace))
        time.sleep(0.6)
        with soon():
            assert houses.judged(here, *houses.on_turn(here, places)).accepted
        connection.invalidate()
        connection.close()
        forgetful.close()


def test_who_passes_a_submission_over_leaves_it_free_for_the_next(house: House) -> None:
    places = houses.seated(house)
    number = submitting.submit(house, *houses.on_turn(house, places))
    with house.store.writing() as slow:  # another referee, which looks while the table is held, and takes long to go
        with held(house, row_of(places[0])):
            assert slow.execute(referee.NEXT).first() is None
        assert referee.hear_some(house)
    assert houses.verdict(house, number).accepted


def test_a_mail_that_was_passed_over_is_free_for_the_next(house: House) -> None:
    places = houses.seated(house)
    place, move = houses.on_turn(house, places)
    inbox.take(house, answer(house, place, move).as_bytes(), address(house, place), "somebody@example.org")
    with house.store.writing() as slow:
        with held(house, row_of(places[0])):
            assert slow.execute(mail_moves.NEXT).first() is None
        assert mail_moves.hear_one(house)


def test_after_a_long_shift_too_a_held_table_is_waited_for_a_moment(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, free = houses.seated(house), houses.seated(house, 3)
    other = submitting.submit(house, *houses.on_turn(house, free))
    number = submitting.submit(house, *houses.on_turn(house, stuck))
    judged, lets_go = referee.hear_some, ExitStack()
    lets_go.enter_context(held(house, row_of(stuck[0])))

    def slowly(here: House, passed: set[str]) -> bool:
        if submitting.verdict(here, other) is None:
            time.sleep(jobs.LINGER)
        found = judged(here, passed)
        if not found:
            lets_go.close()  # after nothing could be claimed for the first time
        return found

    monkeypatch.setattr(referee, "hear_some", slowly)
    referee.hear()
    assert houses.verdict(house, number).accepted


def test_whoever_held_a_table_rings_for_those_who_passed_it_over(house: House) -> None:
    place, _ = houses.seated(house)
    for name in ("referee", "inbox"):
        house.bells.answered(name)
    queue = house.bells.queue("referee")
    queue.empty()
    with judging.at_table(house, place.table):
        pass
    assert {job.func_name for job in queue.jobs} == {JOBS["referee"], JOBS["inbox"]}
