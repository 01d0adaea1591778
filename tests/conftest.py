"""Fixtures that all tests share. A test names the real server it wants; without one it is skipped, in CI it fails."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
import redis
from playwright.sync_api import Browser, Page

from service.app import App
from tests import apps, running, sampling, servers, thrift
from tests.browsing import SOON
from tests.visiting import Hall, Visitor
from workers.outgoing import pictures

T = TypeVar("T")
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

NO_SKIPS = os.environ.get("DEPESCHE_NO_SKIPS") == "1"
LONGEST = {"test_survival.py", "test_example_bot.py", "test_new_game.py", "test_every_step.py"}  # without a browser
SERVER_MARKS = {"chromium": "browser", "postgres_server": "postgres", "redis_url": "redis"}

thrift.begin()


@contextmanager
def or_skip(server: Callable[[], AbstractContextManager[T]]) -> Iterator[T]:
    try:
        running = server()
        value = running.__enter__()
    except servers.Unavailable as missing:
        pytest.skip(str(missing))
    try:
        yield value
    finally:
        running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    with or_skip(servers.redis_server) as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """An empty Redis."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
    return redis_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with or_skip(servers.postgres_server) as url:
        yield url


numbers = count(1)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """An empty PostgreSQL database, as SQLAlchemy names it."""
    with servers.fresh_database(postgres_server, f"test_{next(numbers)}") as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """The name of a database in today's shape, to be copied: that takes a third of the time of making one."""
    with servers.fresh_database(postgres_server, "laid") as url:
        apps.lay(url)
        yield "laid"


@pytest.fixture
def laid_postgres_url(postgres_server: str, postgres_template: str) -> Iterator[str]:
    with servers.fresh_database(postgres_server, f"test_{next(numbers)}", postgres_template) as url:
        yield url


either = pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])


@either
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind the store knows."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'depesche.sqlite'}"


@either
def laid_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind in today's shape, without rows."""
    if request.param == "postgres":
        return str(request.getfixturevalue("laid_postgres_url"))
    return f"sqlite:///{tmp_path / 'depesche.sqlite'}"


@pytest.fixture
def real_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters with their boards drawn, which in other tests are a point."""
    monkeypatch.setattr(pictures, "png", thrift.drawn)


@pytest.fixture
def clock() -> apps.Clock:
    """The time in `house`, moved by hand."""
    return apps.Clock()


@pytest.fixture
def app(tmp_path: Path, clock: apps.Clock) -> Iterator[App]:
    """A house on SQLite whose jobs are those of this process."""
    with apps.standing(apps.settings(tmp_path), clock) as app:
        yield app


@pytest.fixture
def any_app(tmp_path: Path, laid_url: str, clock: apps.Clock) -> Iterator[App]:
    """The same house, once on SQLite and once on PostgreSQL."""
    with apps.standing(apps.settings(tmp_path, laid_url), clock) as app:
        yield app


@pytest.fixture
def smtp_sink() -> Iterator[servers.Sink]:
    """A mail server that keeps what it is sent: `.hostname`, `.port`, `.letters`, `.refuse()`."""
    with servers.smtp_server() as sink:
        yield sink


@pytest.fixture(scope="module")  # no longer: while Playwright runs, its thread cannot run another asyncio loop
def chromium() -> Iterator[Browser]:
    """A real browser; take a `new_context()` or `new_page()` for each test."""
    with or_skip(servers.chromium_browser) as browser:
        yield browser


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[running.Running]:
    with running.running(tmp_path_factory.mktemp("app")) as found:
        yield found


@pytest.fixture
def visit(chromium: Browser, service: running.Running) -> Iterator[running.Visit]:
    """Opens a page in a browser of its own; nothing may go wrong in it unnoticed."""
    faults: list[str] = []
    contexts = []

    def opened(path: str = "/", **how: Any) -> Page:
        context = chromium.new_context(base_url=service.address, **{"reduced_motion": "reduce", **how})
        contexts.append(context)
        context.set_default_timeout(SOON)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.hookimpl(tryfirst=True)  # before pytest reads the marks, and xdist the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    sampling.cases_take_turns(items)
    for item in items:
        for fixture in SERVER_MARKS.keys() & wanted(item):
            item.add_marker(SERVER_MARKS[fixture])
        # On one worker: what shares a case, for its games are played once, or a file, for what it makes once.
        item.add_marker(pytest.mark.xdist_group(str(sampling.case_of(item) or item.nodeid.split("::")[0])))
    longest_first(items)


def longest_first(items: list[pytest.Item]) -> None:
    """Files with browsers, then files with databases, so that all workers end at the same time with short ones."""
    browsers, databases = (
        {item.path for item in items if wanted(item) & fixtures}
        for fixtures in ({"chromium"}, {"postgres_server", "redis_server"})
    )
    items.sort(
        key=lambda item: (item.path in browsers or item.path.name in LONGEST, item.path in databases), reverse=True
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    thrift.collected()


def wanted(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return no_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return no_skips((yield))


def no_skips(report: Report) -> Report:
    """The same report, but with DEPESCHE_NO_SKIPS=1 a skip is a failure; an expected failure stays one."""
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"a skip, which DEPESCHE_NO_SKIPS=1 forbids: {report.longreprtext}"
    return report


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    hall = Hall(tmp_path)
    yield hall
    hall.app.close()


@pytest.fixture
def visitor(hall: Hall) -> Visitor:
    return hall.visitor()
