"""A locked table delays no other table, however long it is locked, and no worker waits for ever."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import Connection, Select, func, select, update

from service.app import App
from service.settings import DAY_S
from service.store import Store
from service.store.schema import letters, mails, seats, submissions, tables
from service.tables import judging, submitting
from service.tables.access import Place
from tests import apps
from tests.apps import FakeTime
from tests.workers.incoming.test_inbox import address, answer
from workers import clock as clocks
from workers import jobs, referee
from workers.incoming import inbox, mail_moves

LOCK_TIMEOUT = "-c lock_timeout=200ms"  # in production it is two seconds
SOON_S = 10.0  # on a busy machine; without a timeout a statement would wait a minute for a lock


@pytest.fixture
def app(tmp_path: Path, migrated_postgres_url: str, clock: FakeTime) -> Iterator[App]:
    url = f"{migrated_postgres_url}&options={quote(LOCK_TIMEOUT)}"
    with apps.run_app(apps.make_settings(tmp_path, url), clock) as app:
        yield app


@contextmanager
def hold(app: App, rows: Select) -> Iterator[Connection]:
    """Lock these rows in a transaction that lasts as long as this block."""
    other = Store(app.store.url)
    try:
        with other.writing() as connection:
            assert connection.execute(rows.with_for_update()).all()
            yield connection
    finally:
        other.close()


def select_table(place: Place) -> Select:
    return select(tables.c.id).where(tables.c.id == place.table)


def select_seats(place: Place) -> Select:
    return select(seats.c.seat).where(seats.c.table == place.table)


@contextmanager
def finish_soon() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < SOON_S


@pytest.mark.parametrize("rows", [select_table, select_seats], ids=["table", "seats"])
def test_a_held_table_holds_no_verdict_of_another_up(app: App, clock: FakeTime, rows) -> None:
    stuck, free = apps.start_table(app), apps.start_table(app, 3)
    waiting = [submitting.submit(app, *apps.find_move(app, stuck), key=str(number)) for number in range(4)]
    clock.advance(3_600)  # also where they have waited for long
    other = submitting.submit(app, *apps.find_move(app, free))
    with hold(app, rows(stuck[0])), finish_soon():
        for _ in range(referee.MAX_TRIES + 2):
            referee.run()
            if submitting.wait_for_verdict(app, other):
                break
        assert apps.get_verdict(app, other).accepted
        assert submitting.wait_for_verdict(app, waiting[0]) is None
    referee.run()
    assert apps.get_verdict(app, waiting[0]).accepted
    assert not any("several times" in apps.get_verdict(app, number).text for number in waiting)


def test_waiting_for_a_lock_is_no_try(app: App, clock: FakeTime) -> None:
    places = apps.start_table(app)
    number = submitting.submit(app, *apps.find_move(app, places))
    clock.advance(3_600)
    with hold(app, select_seats(places[0])):
        referee.run()
        with app.store.reading() as connection:
            tries = connection.execute(
                select(submissions.c.tries).where(submissions.c.id == number.number)
            ).scalar_one()
    assert tries == 0


@pytest.mark.parametrize("rows", [select_table, select_seats], ids=["table", "seats"])
def test_a_held_table_holds_no_mail_to_another_up(app: App, rows) -> None:
    stuck, free = apps.start_table(app), apps.start_table(app, 3)
    for places in (stuck, free):
        place, move = apps.find_move(app, places)
        inbox.process_mail(app, answer(app, place, move).as_bytes(), address(app, place), "somebody@example.org")
    with hold(app, rows(stuck[0])), finish_soon():
        mail_moves.run()
        with app.store.reading() as connection:
            read = connection.execute(select(mails.c.table).where(mails.c.read_at.is_not(None))).scalars().all()
        assert read == [free[0].table]
    mail_moves.run()
    with app.store.reading() as connection:
        assert connection.execute(select(func.count()).where(mails.c.read_at.is_(None))).scalar_one() == 0


@pytest.mark.parametrize("rows", [select_table, select_seats], ids=["table", "seats"])
def test_a_held_table_stops_no_clock_of_another(app: App, clock: FakeTime, rows) -> None:
    stuck, free = apps.start_table(app, pace=DAY_S), apps.start_table(app, 3, pace=DAY_S)
    before = apps.count_entries(app, free[0])
    clock.advance(DAY_S)
    with hold(app, rows(stuck[0])), finish_soon():
        clocks.tick(app)
        assert apps.count_entries(app, free[0]) == before + 1
    clocks.tick(app)
    with app.store.reading() as connection:
        late = select(func.count()).where(letters.c.kind == "timeout")
        assert connection.execute(late).scalar_one() == 2


def test_every_wait_for_the_database_has_an_end(migrated_postgres_url: str) -> None:
    with closing(Store(migrated_postgres_url)) as store, store.writing() as connection:
        names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
        timeouts = [connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in names]
    assert timeouts == ["2s", "1min", "1min"]


def test_a_forgotten_transaction_loses_its_locks(tmp_path: Path, migrated_postgres_url: str, clock: FakeTime) -> None:
    own = f"{migrated_postgres_url}&options=-c%20idle_in_transaction_session_timeout%3D100"
    with apps.run_app(apps.make_settings(tmp_path, migrated_postgres_url), clock) as app:
        places = apps.start_table(app)
        forgetful = Store(own)
        connection = forgetful.engine.connect()
        connection.execute(update(tables).where(tables.c.id == places[0].table).values(pace=tables.c.pace))
        time.sleep(0.3)
        with finish_soon():
            assert apps.submit(app, *apps.find_move(app, places)).accepted
        connection.invalidate()
        connection.close()
        forgetful.close()


def test_who_passes_a_submission_over_leaves_it_free_for_the_next(app: App) -> None:
    places = apps.start_table(app)
    number = submitting.submit(app, *apps.find_move(app, places))
    with app.store.writing() as slow:  # another referee, which reads while the table is locked, and ends late
        with hold(app, select_table(places[0])):
            assert referee.claim_submissions(slow) == []
        assert referee.judge_batch(app)
    assert apps.get_verdict(app, number).accepted


def test_a_mail_that_was_passed_over_is_free_for_the_next(app: App) -> None:
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    inbox.process_mail(app, answer(app, place, move).as_bytes(), address(app, place), "somebody@example.org")
    with app.store.writing() as slow:
        with hold(app, select_table(places[0])):
            assert mail_moves.claim_mail(slow, []) == []
        assert mail_moves.play_next_mail(app)


def test_after_a_long_shift_too_a_held_table_is_waited_for_a_moment(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, free = apps.start_table(app), apps.start_table(app, 3)
    other = submitting.submit(app, *apps.find_move(app, free))
    number = submitting.submit(app, *apps.find_move(app, stuck))
    judge, lets_go = referee.judge_batch, ExitStack()
    lets_go.enter_context(hold(app, select_table(stuck[0])))

    def slowly(app: App, passed: set[str]) -> bool:
        if submitting.wait_for_verdict(app, other) is None:
            time.sleep(jobs.LOCK_WAIT_S)
        verdicts = judge(app, passed)
        if not verdicts:
            lets_go.close()  # after nothing could be claimed for the first time
        return verdicts

    monkeypatch.setattr(referee, "judge_batch", slowly)
    referee.run()
    assert apps.get_verdict(app, number).accepted


def test_a_job_that_held_a_table_wakes_the_referees_that_skipped_it(app: App) -> None:
    place, _ = apps.start_table(app)
    app.redis.flushall()
    with judging.at_table(app, place.table):
        pass
    assert {"referee", "inbox"} <= apps.list_woken(app)
