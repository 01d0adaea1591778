"""Redis or the database goes away and comes back: two lines in the log, and no work waits longer than that."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog
from redis import Redis
from sqlalchemy import select

from service.app import App
from service.store.schema import letters
from service.tables import submitting
from tests import apps
from tests.apps import FakeTime
from tests.chaos import machines
from tests.conftest import or_skip
from tests.servers import Sink
from workers import beacon_rounds, bots, clock, jobs, processes, referee
from workers.incoming import inbox, mail_moves
from workers.outgoing import post

# A worker's thread that listens to a Redis which is killed may end in the middle of reading; its worker is replaced.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

REDIS_OUTAGE = ["Redis does not answer", "Redis answers again"]
SOON_S = 20.0  # on a busy machine; a worker of RQ would otherwise pause for a minute


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """The lines of the log."""
    lines: list[str] = []

    def append(_: object, __: str, event: structlog.typing.EventDict) -> str:
        lines.append(str(event["event"]))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[append])
    yield lines
    structlog.configure(**before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # of RQ's own thread, as it ends
def test_a_redis_outage_is_logged_once_and_wakeups_arrive_at_once_after_it(
    tmp_path: Path, lines: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as stack:
        server, url = stack.enter_context(or_skip(machines.killable_redis))
        redis = stack.enter_context(Redis.from_url(url))
        app = stack.enter_context(apps.run_app(apps.make_settings(tmp_path), FakeTime(), redis))
        stop = threading.Event()
        working = threading.Thread(target=processes.run_thread, args=(app, "referee", stop))
        working.start()
        places = apps.start_table(app)
        server.kill()
        for _ in range(10):
            app.wakeups.wake("post")
            app.verdicts.publish({1: b"so"})
            time.sleep(0.05)
        server.start()
        began = time.monotonic()
        number = submitting.submit(app, *apps.find_move(app, places))
        while submitting.wait_for_verdict(app, number, 0.5) is None:
            assert time.monotonic() < began + SOON_S
        stop.set()
        jobs.request_stop()
        working.join(SOON_S)
        assert not working.is_alive()
    # A worker that still reads from the dead connection when Redis is back makes two outages of one.
    assert lines in (REDIS_OUTAGE, 2 * REDIS_OUTAGE)
    output = capfd.readouterr()
    assert "Traceback" not in output.out + output.err


def test_a_database_outage_is_logged_once_and_costs_no_letter_an_attempt(
    tmp_path: Path, lines: list[str], smtp_sink: Sink
) -> None:
    with or_skip(machines.killable_postgres) as server:
        chosen = apps.make_settings(tmp_path, server.url, smtp=f"smtp://{smtp_sink.hostname}:{smtp_sink.port}")
        with apps.run_app(chosen, time_of := FakeTime()) as app:
            places = apps.start_table(app, 3, bots=1)
            server.kill()
            for _ in range(10):
                clock.tick(app)
                for work in (referee.run, mail_moves.run, bots.run, post.run, beacon_rounds.run):
                    work()
                assert (
                    inbox.receive(app, b"From: a@b\n\nx", f"play+{'a' * 16}.0.x@localhost", "a@b")
                    == inbox.REPLY_TRY_LATER
                )
            server.start()
            time_of.advance(1)
            post.run()
            with app.store.reading() as connection:
                assert set(connection.execute(select(letters.c.outcome)).scalars()) <= {"sent", "overtaken"}
            assert places
    assert lines == ["The database does not answer", "The database answers again"]


def test_a_database_that_goes_while_a_letter_is_written_costs_the_letter_no_try(
    app: App, clock: FakeTime, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    apps.open_table(app)
    write = post.write
    monkeypatch.setattr(post, "write", _fail)
    for _ in range(post.MAX_TRIES + post.MAX_STARTS):
        post.run()
    monkeypatch.setattr(post, "write", write)
    post.run()
    assert len(smtp_sink.letters) == 2


def _fail(app: App, order: object) -> None:
    with app.store.reading() as connection:
        connection.exec_driver_sql("SELECT * FROM nowhere")
