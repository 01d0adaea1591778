"""Fixtures that all tests share. A test names the real servers it needs; without one it is skipped, in CI it fails."""

import inspect
import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
import redis
from playwright.sync_api import Browser

from engine import catalogue
from engine.game import Game
from service.app import App
from tests import apps, chance, receivers, sampling, servers, services, speed
from tests.databases import MigratedDatabase
from tests.receivers import Receiver
from tests.sites import Site, Visitor
from tests.windows import Windows
from workers.outgoing import emails

T = TypeVar("T")
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

NO_SKIPS = os.environ.get("DEPESCHE_NO_SKIPS") == "1"
SLOW_FILES = {"test_survival.py", "test_example_bot.py", "test_new_game.py", "test_every_step.py"}  # without a browser
# These run on both databases for every change: their promises are about statements, locks and lost processes.
BOTH_DATABASES = re.compile(r"/store/|test_(race|trust|every_step|start)\.py$")
SERVER_MARKS = {"chromium": "browser", "postgres_server": "postgres", "redis_url": "redis"}

speed.skip_repeated_work()


@contextmanager
def or_skip(server: Callable[[], AbstractContextManager[T]]) -> Iterator[T]:
    """Run a server for this block; skip the test if this machine lacks it."""
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
    """The name of a migrated database; to copy it takes a third of the time of migrating another."""
    with servers.fresh_database(postgres_server, "migrated") as url:
        apps.migrate(url)
        yield "migrated"


@pytest.fixture
def new_postgres_url(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """A migrated database that no other test has used, for tests of its files and its statistics."""
    with servers.fresh_database(postgres_server, f"test_{next(numbers)}", postgres_template) as url:
        yield url


@pytest.fixture(scope="session")
def shared_database(postgres_server: str, postgres_template: str) -> Iterator[MigratedDatabase]:
    database = MigratedDatabase(postgres_server, postgres_template)
    yield database
    database.drop()


@pytest.fixture
def migrated_postgres_url(shared_database: MigratedDatabase) -> Iterator[str]:
    """A migrated database without rows."""
    yield shared_database.prepare()
    shared_database.clean()


either_database = pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])


@either_database
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'depesche.sqlite'}"


@either_database
def migrated_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated database of each kind, without rows."""
    if request.param == "postgres":
        return str(request.getfixturevalue("migrated_postgres_url"))
    return f"sqlite:///{tmp_path / 'depesche.sqlite'}"


@pytest.fixture
def real_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the boards in letters; in other tests a picture is one point."""
    monkeypatch.setattr(emails, "render_png", speed.draw_png)


@pytest.fixture
def clock() -> apps.FakeTime:
    """The time of the fixture `app`, advanced by hand."""
    return apps.FakeTime()


@pytest.fixture
def app(tmp_path: Path, clock: apps.FakeTime) -> Iterator[App]:
    """An app on SQLite, used by the jobs of this process."""
    with apps.run_app(apps.make_settings(tmp_path), clock) as app:
        yield app


@pytest.fixture
def any_app(tmp_path: Path, migrated_url: str, clock: apps.FakeTime) -> Iterator[App]:
    """The same app, once on SQLite and once on PostgreSQL."""
    with apps.run_app(apps.make_settings(tmp_path, migrated_url), clock) as app:
        yield app


@pytest.fixture
def smtp_sink() -> Iterator[servers.Sink]:
    """A mail server that stores what it receives: `.hostname`, `.port`, `.letters`, `.refuse()`."""
    with servers.smtp_server() as sink:
        yield sink


@pytest.fixture(scope="module")
def receiver_server() -> Iterator[Receiver]:
    with receivers.run_receiver() as receiver:
        yield receiver


@pytest.fixture
def receiver(receiver_server: Receiver, request: pytest.FixtureRequest) -> Receiver:
    """An HTTPS server in its first mood, which the app or the site of the test may send to."""
    receiver_server.reset()
    for name in {"app", "any_app", "site"} & fixtures_of(request.node):
        used = request.getfixturevalue(name)
        (used.app if name == "site" else used).client = receivers.client(timeout_s=1.0)
    return receiver_server


class KeptBrowser:
    """The browser of this process: started by the first test that needs it, closed before the next file without one."""

    def __init__(self) -> None:
        self.files: set[Path] = set()  # with tests that need it
        self._running = ExitStack()
        self._browser: Browser | None = None
        self._windows: Windows | None = None

    def get(self) -> Browser:
        if self._browser is None:
            self._browser = self._running.enter_context(or_skip(servers.chromium_browser))
        return self._browser

    def get_windows(self, address: str) -> Windows:
        """Return the windows at this address; the services of a process have the same one, if they can."""
        browser = self.get()
        if self._windows and self._windows.address != address:
            self._windows.close()
            self._windows = None
        self._windows = self._windows or Windows(browser, address)
        return self._windows

    def close(self) -> None:
        self._running.close()
        self._browser = self._windows = None


kept_browser = KeptBrowser()


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """A real browser; a test opens a `new_context()` or `new_page()` in it."""
    return kept_browser.get()


def pytest_runtest_setup(item: pytest.Item) -> None:
    chance.begin(f"{item.path.name}::{item.name}")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close the browser before files without one: while Playwright runs, its thread cannot run another asyncio loop."""
    if nextitem is None or nextitem.path not in kept_browser.files:
        kept_browser.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[services.RunningService]:
    """A whole service at an address of this machine."""
    with services.run_service(tmp_path_factory.mktemp("app")) as running:
        yield running


@pytest.fixture(scope="module")
def windows_of_service(chromium: Browser, service: services.RunningService) -> Windows:
    return kept_browser.get_windows(service.address)


@pytest.fixture
def visit(windows_of_service: Windows) -> Iterator[services.Visit]:
    """A function that opens a page as if in a separate browser; errors of its scripts fail the test."""
    with windows_of_service.opening() as open_page:
        yield open_page


@pytest.hookimpl(tryfirst=True)  # before pytest and the plugins call `parametrize`
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    sampling.select_values(metafunc)


@pytest.hookimpl(tryfirst=True)  # before pytest reads the marks, and xdist the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_other_databases(items)
    for item in items:
        for fixture in SERVER_MARKS.keys() & fixtures_of(item):
            item.add_marker(SERVER_MARKS[fixture])
        # Tests of one case share a worker, which plays its games once; so do tests of one file, for its fixtures.
        item.add_marker(pytest.mark.xdist_group(str(sampling.case_of(item) or item.nodeid.split("::")[0])))
    sort_slow_first(items)


def mark_other_databases(items: list[pytest.Item]) -> None:
    """Mark for a release what `make test` runs on the other database: the first case of a test runs on PostgreSQL,
    and all others on SQLite, where they take a quarter of the time.
    """
    first_cases = dict[str, str]()
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if "migrated_url" not in params or BOTH_DATABASES.search(str(item.path)):
            continue
        database, name = params["migrated_url"], item.nodeid.partition("[")[0]
        case = item.nodeid.removeprefix(name).replace(database, "")
        if not {"release", "soak"} & {mark.name for mark in item.iter_markers()}:
            first_cases.setdefault(name, case)
        if database != ("postgres" if first_cases.get(name, case) == case else "sqlite"):
            item.add_marker(pytest.mark.release)


def sort_slow_first(items: list[pytest.Item]) -> None:
    """Put files with browsers first, then files with databases: all workers end at the same time, with short files."""
    browsers, databases = (
        {item.path for item in items if fixtures_of(item) & fixtures}
        for fixtures in ({"chromium"}, {"postgres_server", "redis_server"})
    )
    kept_browser.files = browsers
    items.sort(
        key=lambda item: (item.path in browsers or item.path.name in SLOW_FILES, item.path in databases), reverse=True
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    speed.freeze_collected()


def fixtures_of(item: Any) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return fail_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return fail_skips((yield))


def fail_skips(report: Report) -> Report:
    """Make a skip a failure if DEPESCHE_NO_SKIPS=1; an expected failure stays one."""
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"a skip, which DEPESCHE_NO_SKIPS=1 forbids: {report.longreprtext}"
    return report


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """An app with its pages, whose referee judges at once."""
    site = Site(tmp_path)
    yield site
    site.app.close()


@pytest.fixture
def visitor(site: Site) -> Visitor:
    return site.new_visitor()


@pytest.fixture
def use_games(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that makes these the only games of the catalogue."""

    def use(**games: Game) -> None:
        monkeypatch.setattr(catalogue, "find_all", lambda: games)
        monkeypatch.setattr(catalogue, "find", inspect.unwrap(catalogue.find))  # which remembers what it has found

    return use
