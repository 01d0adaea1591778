"""A server in one process has its letters written in the process pool: the same letters, and the same errors."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from engine import catalogue
from engine.catalogue import NotInstalled
from engine.search import LEVELS, levels
from service.app import App
from service.store.connection import is_unavailable
from service.store.schema import letters as letters_owed
from service.store.schema import tables
from service.tables.access import Place
from tests import apps
from tests.apps import FakeTime
from workers import process_pool
from workers.outgoing import emails, post, table_letters
from workers.outgoing.letter import LetterRequest

START_S = 60.0  # on a busy machine, where the pool has a low priority


@pytest.fixture(scope="module", autouse=True)
def pool() -> Iterator[None]:
    process_pool.start()
    yield
    process_pool.stop()


@pytest.fixture
def new_pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A pool for one test, whose process has not started yet."""
    new = process_pool.Pool()
    for name in ("start", "stop", "run", "run_if_started", "list_pids", "end_if_quiet"):
        monkeypatch.setattr(process_pool, name, getattr(new, name))
    process_pool.start()
    yield
    process_pool.stop()


def make_request(app: App, place: Place) -> LetterRequest:
    seat = apps.load_table(app, place.table).seats[place.seat or 0]
    return LetterRequest(place.table, seat.open_since or 0, seat.seat, "turn", "anna@example.org", seat.name)


def split_parts(letter: EmailMessage | None) -> list[tuple[list[tuple[str, str]], bytes]]:
    """Return the headers and contents of all parts, without the random boundaries between them."""
    assert letter is not None
    parts = list(letter.walk())
    return [(part.items(), part.get_payload(decode=True) or b"") for part in parts]


def read_state(app: App, table: str) -> tuple[int, str, int]:
    return app.now(), str(apps.load_table(app, table).row.head), os.getpid()


def test_an_app_that_is_sent_to_the_pool_has_the_same_database_and_the_time_of_that_moment(
    app: App, clock: FakeTime
) -> None:
    places = apps.start_table(app)
    place = places[0]
    for _ in range(2):
        clock.advance(60)
        at, head, process = process_pool.run(read_state, app, place.table)
        assert (at, head) == (clock.at, apps.load_table(app, place.table).row.head)
        assert process != os.getpid()
        place, move = apps.find_move(app, places)
        assert apps.submit(app, place, move).accepted


@pytest.mark.usefixtures("real_pictures")
def test_a_letter_written_aside_is_the_letter_written_here(app: App) -> None:
    place, _ = apps.find_move(app, apps.start_table(app))
    request = make_request(app, place)
    assert split_parts(process_pool.run(table_letters.write, app, request)) == split_parts(
        table_letters.write(app, request)
    )


@pytest.fixture
def write_letter(app: App, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that writes a letter, and returns the process that did."""
    place, _ = apps.find_move(app, apps.start_table(app))
    request = make_request(app, place)
    monkeypatch.setattr(post, "WRITTEN_AT", deque(maxlen=post.MIN_MANY))
    monkeypatch.setattr(post, "write", get_pid)

    return lambda: post.write_here_or_aside(app, request)


def get_pid(_: App, __: LetterRequest) -> int:
    return os.getpid()


def test_many_letters_are_written_aside(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a letter is made in this process, whose interpreter the referee wants."""
    apps.start_table(app)
    wait_for_start()
    write_many(monkeypatch)
    monkeypatch.setattr(emails, "render_png", lambda _: pytest.fail("drawn here"))
    owed = post.claim(app)
    assert owed
    assert all(post.write_or_postpone(app, letter) for letter in owed)


@pytest.mark.usefixtures("new_pool")
def test_few_letters_are_written_in_this_process_and_start_no_other(write_letter: Callable[[], int]) -> None:
    """The second process needs as much memory as half of the service, and a few letters delay few verdicts."""
    assert {write_letter() for _ in range(post.MIN_MANY)} == {os.getpid()}
    assert process_pool.list_pids() == []


@pytest.mark.usefixtures("new_pool")
def test_letters_that_came_long_ago_are_not_many(
    write_letter: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post, "MANY_WITHIN_S", 0.0)
    assert {write_letter() for _ in range(post.MIN_MANY + 1)} == {os.getpid()}
    assert process_pool.list_pids() == []


@pytest.mark.usefixtures("new_pool")
def test_until_the_pool_has_started_letters_are_written_in_this_process(write_letter: Callable[[], int]) -> None:
    """A server that is killed within a second, again and again, sends its letters all the same."""
    assert {write_letter() for _ in range(post.MIN_MANY + 1)} == {os.getpid()}
    wait_for_start()
    (first,) = process_pool.list_pids()
    os.kill(first, signal.SIGKILL)
    assert write_letter() not in (os.getpid(), first)


@pytest.mark.usefixtures("new_pool")
def test_the_process_ends_after_a_quiet_while_and_the_next_work_starts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    first = process_pool.run(os.getpid)
    process_pool.end_if_quiet()
    assert process_pool.list_pids() == [first]
    monkeypatch.setattr(process_pool, "QUIET_S", -1.0)
    process_pool.end_if_quiet()
    assert process_pool.list_pids() == []
    assert not Path(f"/proc/{first}").exists()
    assert process_pool.run(os.getpid) not in (first, os.getpid())


@pytest.mark.usefixtures("new_pool")
def test_a_process_at_work_is_not_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "QUIET_S", -1.0)
    thread = threading.Thread(target=process_pool.run, args=(time.sleep, 0.5), daemon=True)
    thread.start()
    time.sleep(0.1)
    process_pool.end_if_quiet()
    assert process_pool.list_pids()
    thread.join(START_S)


@pytest.mark.usefixtures("new_pool")
def test_a_work_that_kills_its_process_twice_is_done_here() -> None:
    here = os.getpid()
    assert process_pool.run(exit_elsewhere, here) == here


def exit_elsewhere(here: int) -> int:
    if os.getpid() != here:
        os._exit(1)
    return here


class OddError(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def raise_odd() -> None:
    raise OddError("one", "two")


def test_an_error_that_cannot_be_sent_is_told_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="one and two"):
        process_pool.run(raise_odd)


def test_an_error_tells_where_it_was_raised() -> None:
    with pytest.raises(ValueError, match="strange") as caught:
        process_pool.run(int, "strange")
    assert "process_pool.py" in "".join(caught.value.__notes__)


@pytest.mark.usefixtures("new_pool")
def test_the_process_for_bots_loads_neither_database_nor_pages(app: App) -> None:
    """A bot that thinks needs the games alone; the rest would cost as much memory as half of the service."""
    place, _ = apps.find_move(app, apps.start_table(app))
    meta, state = catalogue.find("kaiser").META, apps.load_table(app, place.table).position.state
    process_pool.run(levels.think, meta.name, meta.edition, state, place.seat or 0, LEVELS["easy"], b"1")
    loaded = process_pool.run(eval, "set(__import__('sys').modules)")
    assert not loaded & {"sqlalchemy", "flask", "jinja2", "redis", "PIL"}


@pytest.mark.usefixtures("new_pool")
def test_threads_that_wait_for_the_pool_end_when_it_stops_and_their_letters_are_as_if_never_tried(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A letter that tells how a game went takes many seconds, and a host waits ten."""
    apps.start_table(app)
    wait_for_start()
    write_many(monkeypatch)
    monkeypatch.setattr(post, "write", sleep_long)
    works = [partial(post.send_batch, app), partial(process_pool.run, sleep_long)]
    waiting = [threading.Thread(target=require_exit, args=(work,), daemon=True) for work in works]
    for thread in waiting:
        thread.start()
        time.sleep(0.3)
    process_pool.stop()
    for thread in waiting:
        thread.join(START_S / 2)  # the work would take a minute
        assert not thread.is_alive()
    with app.store.reading() as connection:
        owed = connection.execute(select(letters_owed).where(letters_owed.c.sent_at.is_(None))).all()
    assert {(row.tries, row.outcome) for row in owed} == {(0, "")}
    assert not caplog.text


def write_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the post have written many letters just now."""
    monkeypatch.setattr(post, "WRITTEN_AT", deque([time.monotonic()] * post.MIN_MANY, post.MIN_MANY))


def sleep_long(*_: object) -> None:
    time.sleep(60)


def require_exit(work: Callable[[], object]) -> None:
    with pytest.raises(SystemExit):
        work()


def wait_for_start() -> None:
    end = time.monotonic() + START_S
    while process_pool.run_if_started(os.getpid) == os.getpid():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_letter_whose_game_is_not_installed_waits_as_if_it_were_written_here(app: App) -> None:
    place, _ = apps.find_move(app, apps.start_table(app))
    request = make_request(app, place)
    with app.store.writing() as connection:
        connection.execute(tables.update().values(edition=99))
    with pytest.raises(NotInstalled, match="99"):
        process_pool.run(table_letters.write, app, request)


def test_an_unavailable_database_differs_from_a_letter_that_cannot_be_written(app: App) -> None:
    place, _ = apps.find_move(app, apps.start_table(app))
    request = make_request(app, place)
    app.settings.folder.joinpath("depesche.sqlite").rename(app.settings.folder / "elsewhere")
    with pytest.raises(OperationalError) as caught:
        process_pool.run(table_letters.write, app, request)
    assert is_unavailable(caught.value)
