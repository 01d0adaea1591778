"""Cached pages are answered by the event loop as Flask's views would answer them, and none of them holds a thread."""

import re
import threading
import time
from collections.abc import Iterator

import brotli
import pytest
from msgspec.structs import replace
from sqlalchemy import update
from sqlalchemy.exc import OperationalError

from service import create_app
from service.app import App
from service.links import hash_token
from service.store.fingerprints import TableParts
from service.store.schema import seats
from service.tables.access import Place
from service.web.page_cache import PageCache
from tests import apps
from tests.web_server import Answer, ServedApp

OF_ONE_ANSWER = ("date", "x-request-id")
KEY = re.compile(rb'name="key" value="[^"]+"')  # differs each time a page is made
CLIENTS = 8


class PageSite(ServedApp):
    """A served app whose pages are compared."""

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        status, fields, content = self.send(method, path, **headers)
        return status, {name: text for name, text in fields.items() if name not in OF_ONE_ANSWER}, content

    def get_made(self, path: str) -> bytes:
        """Return the page as another process makes it."""
        answer = create_app(self.app).test_client(use_cookies=False).get(path)
        return KEY.sub(b"", answer.data)


@pytest.fixture
def site(any_app: App) -> Iterator[PageSite]:
    site = PageSite(any_app)
    with site.serving():
        yield site


@pytest.fixture
def place(site: PageSite) -> Place:
    return apps.start_table(site.app)[0]


def change_name(site: PageSite, place: Place, name: str) -> None:
    with site.app.store.writing() as db:
        db.execute(update(seats).where(seats.c.table == place.table, seats.c.seat == 1).values(name=name))


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"Accept-Encoding": "gzip"},
        {"Accept-Encoding": "gzip, br"},
        {"Accept-Language": "de", "Cookie": "theme=dark"},
        {"If-None-Match": "W/1"},
        {"Content-Length": "0"},  # as some programs say that they send no body
    ],
)
def test_a_page_is_the_same_from_the_event_loop_as_from_flask(
    site: PageSite, place: Place, chosen: dict[str, str]
) -> None:
    for path in ("/", f"/t/{place.link}"):
        first = site.get(path, **chosen)
        before = site.flask_calls
        assert [site.get(path, **chosen) for _ in range(3)] == [first] * 3
        assert site.flask_calls == before
        assert first[0] == 200
        etag = first[1]["etag"]
        status, headers, content = site.get(path, **{**chosen, "If-None-Match": etag})
        assert (status, content, headers["etag"]) == (304, b"", etag)
        assert site.flask_calls == before


def test_brotli_is_chosen_before_gzip(site: PageSite, place: Place) -> None:
    path = f"/t/{place.link}"
    plain, zipped = site.get(path), site.get(path, Accept_Encoding="gzip, deflate, br")
    assert zipped[1]["content-encoding"] == "br"
    assert brotli.decompress(zipped[2]) == plain[2]
    assert len(zipped[2]) < len(site.get(path, Accept_Encoding="gzip")[2]) < len(plain[2]) / 3


def test_a_change_is_on_the_next_page(site: PageSite, place: Place) -> None:
    path = f"/t/{place.link}"
    for name in ("Berta", "Cecilia", "Dora"):
        change_name(site, place, name)
        page = site.get(path)[2]
        assert name.encode() in page
        assert KEY.sub(b"", page) == site.get_made(path)
        assert site.get(path)[2] == page


@pytest.mark.parametrize(
    "unusual", [{"method": "HEAD"}, {"method": "POST"}, {"Expect": "100-continue"}, {"User-Agent": "Slackbot 1.0"}]
)
def test_an_unusual_request_is_left_to_flask(site: PageSite, place: Place, unusual: dict[str, str]) -> None:
    path = f"/t/{place.link}"
    site.get(path)
    before = site.flask_calls
    site.get(path, **unusual)
    assert site.flask_calls == before + 1


def test_another_cookie_is_another_page(site: PageSite, place: Place) -> None:
    path = f"/t/{place.link}"
    light, dark = (site.get(path, Cookie=f"theme={theme}")[2] for theme in ("light", "dark"))
    assert light != dark
    assert [site.get(path, Cookie=f"theme={theme}")[2] for theme in ("light", "dark")] == [light, dark]
    assert site.flask_calls == 2


def test_pages_that_are_asked_for_together_are_checked_together(
    site: PageSite, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first check is held up until all others wait; the second one answers them all, by one look."""
    path, released, loads = f"/t/{place.link}", threading.Event(), list[TableParts]()
    expected, check, load = site.get(path), PageCache.check_all, TableParts.load
    sizes = list[int]()

    def hold_first(cache: PageCache, pages: list[object]) -> list[bool]:
        sizes.append(len(pages))
        assert released.wait(10)
        return check(cache, pages)  # type: ignore[arg-type]

    monkeypatch.setattr(PageCache, "check_all", hold_first)
    monkeypatch.setattr(TableParts, "load", lambda parts, db: (loads.append(parts), load(parts, db))[1])
    answers = list[Answer]()
    clients = [threading.Thread(target=lambda: answers.append(site.get(path))) for _ in range(CLIENTS)]
    clients[0].start()
    while not sizes:
        time.sleep(0.01)
    for client in clients[1:]:
        client.start()
    time.sleep(0.3)
    released.set()
    for client in clients:
        client.join()
    assert answers == [expected] * CLIENTS
    assert sizes == [1, CLIENTS - 1]
    assert loads == [TableParts(place.table, "")] * 2


def test_a_database_that_fails_is_told_of_by_flask(
    site: PageSite, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, threads = f"/t/{place.link}", site.flask_calls
    site.get(path)

    def fail(*_: object) -> None:
        raise OperationalError("", {}, Exception("gone"))

    monkeypatch.setattr(TableParts, "load", fail)
    assert site.get(path)[0] >= 500
    assert site.flask_calls == threads + 2


def test_the_links_of_two_visitors_who_are_signed_in_are_checked_apart() -> None:
    one, other = (TableParts("table", hash_token(key)) for key in ("one", "other"))
    assert one != other
    assert one == replace(other, visit=one.visit)
