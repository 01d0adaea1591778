"""A page that did not change is sent again from memory; after any change of what it shows it is made again."""

import gzip
import re
from collections.abc import Callable
from http import HTTPStatus

import brotli
import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from engine.game import Game
from engine.log import Entry
from service import create_app
from service.memory import LRU
from service.settings import DAY_S
from service.store.schema import people, seats, tables
from service.tables import access, seat_commands
from service.tables.access import Place
from service.tables.opening import OpenedTable
from service.text import narration
from service.text.narration import Chapter, Narrator
from service.timing import HOUR_S, Clock
from service.web import lobby_pages, page_cache, table_pages
from service.web.compression import choose_encoding, compress_with_noise
from tests import apps
from tests.sites import Site, Visitor

KEY = re.compile(r'name="key" value="[^"]+"')  # differs each time a page is made
PACE = Clock(pace=7 * DAY_S, hints=True)


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    new_table = site.start_table(pace=PACE)
    site.submit(new_table, site.list_moves(new_table)[0])
    return new_table


def get_text(client: FlaskClient, path: str) -> str:
    response = client.get(path)
    return f"{response.status_code} {KEY.sub('', response.text)}"


def find_place(site: Site, new_table: OpenedTable, seat: int = 0) -> Place:
    return access.find(site.app, new_table.links[seat])


def change_seat(site: Site, new_table: OpenedTable, deed: Callable[..., None], changed: object) -> None:
    apps.change(site.app, deed, find_place(site, new_table), changed)


def set_column(site: Site, new_table: OpenedTable, seat: int = 0, **columns: object) -> None:
    with site.app.store.writing() as db:
        db.execute(update(seats).where(seats.c.table == new_table.table, seats.c.seat == seat).values(**columns))


def set_person(site: Site, **columns: object) -> None:
    with site.app.store.writing() as db:
        db.execute(update(people).where(people.c.address == "anna@example.org").values(**columns))


def move(site: Site, new_table: OpenedTable) -> None:
    site.submit(new_table, site.list_moves(new_table)[0])


def undo(site: Site, new_table: OpenedTable) -> None:
    mover = site.find_mover(new_table)
    move(site, new_table)
    site.submit(new_table, "undo", mover)


CHANGES: dict[str, Callable[[Site, OpenedTable], object]] = {
    "a move": move,
    "an undo": undo,
    "a pause": lambda site, new_table: site.submit(new_table, "pause", 0),
    "an end": lambda site, new_table: site.submit(new_table, "resign", 1),
    "a standing order": lambda site, new_table: site.submit(new_table, "order pass", 0),
    "a remark": lambda site, new_table: apps.say(site.app, find_place(site, new_table, 1), "Good luck!"),
    "a note": lambda site, new_table: change_seat(site, new_table, seat_commands.store_note, "Keep the lady"),
    "a setting": lambda site, new_table: change_seat(site, new_table, seat_commands.set_at_once, True),
    "no spectators": lambda site, new_table: change_seat(site, new_table, seat_commands.allow_spectators, False),
    "another link": lambda site, new_table: set_column(site, new_table, link="another", link_number=1),
    "a bounce": lambda site, new_table: set_person(site, bounced_at=site.time),
    "a deadline": lambda site, new_table: set_column(
        site, new_table, site.find_mover(new_table), due_at=site.time + HOUR_S
    ),
    "a player who left": lambda site, new_table: set_column(site, new_table, status="bot"),
    "a doubt": lambda site, new_table: set_column(site, new_table, proven=False),
    "a transfer": lambda site, new_table: set_table(site, new_table, moved_to="https://other.example.org"),
    "an hour": lambda site, new_table: setattr(site, "time", site.time + HOUR_S),
    "a notice": lambda site, new_table: site.app.notices.set("banner", "Closed tonight"),
}


def set_table(site: Site, new_table: OpenedTable, **columns: object) -> None:
    with site.app.store.writing() as db:
        db.execute(update(tables).where(tables.c.id == new_table.table).values(**columns))


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_of_what_a_page_shows_is_missed(site: Site, new_table: OpenedTable, change: str) -> None:
    cached = site.flask_app.test_client()
    paths = ["/", *(f"/t/{link}" for link in (*new_table.links, new_table.watch))]
    before = [get_text(cached, path) for path in paths]
    assert [get_text(cached, path) for path in paths] == before
    CHANGES[change](site, new_table)
    after = [get_text(cached, path) for path in paths]
    assert after == [get_text(create_app(site.app).test_client(), path) for path in paths]
    assert after != before, "this changed nothing"


def test_an_unchanged_page_is_not_made_again(
    site: Site, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = site.flask_app.test_client()
    paths = ["/", *(f"/t/{link}" for link in (*new_table.links, new_table.watch))]
    before = [client.get(path).text for path in paths]
    monkeypatch.setattr(table_pages, "make_table_page", None)
    monkeypatch.setattr(lobby_pages, "LobbyPage", None)
    assert [client.get(path).text for path in paths] == before
    assert len(set(before)) == len(before)
    assert len({client.get("/").headers["X-Request-Id"] for _ in range(3)}) == 3


def test_the_lobby_shows_each_new_table_and_each_move_at_once(site: Site, visitor: Visitor) -> None:
    before = visitor.get("/")
    new_table = site.start_table()
    set_table(site, new_table, shown=True, awaits_confirmation=False)
    watched = visitor.get("/")
    assert watched != before
    while visitor.get("/") == watched:  # the page shows who is to move, and the scores
        move(site, new_table)
    assert visitor.get("/") == Visitor(create_app(site.app).test_client()).get("/")


def test_an_entry_is_described_once_to_each_seat_in_each_language(
    site: Site, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    described, describe = list[tuple[int, int | None]](), narration.describe_entries

    def record(game: Game, entries: list[Entry], narrator: Narrator, seat: int | None) -> tuple[Chapter, ...]:
        described.extend((entry.seq, seat) for entry in entries)
        return describe(game, entries, narrator, seat)

    monkeypatch.setattr(narration, "describe_entries", record)
    client, paths = site.flask_app.test_client(), [f"/t/{link}" for link in (*new_table.links, new_table.watch)]
    for _ in range(3):
        move(site, new_table)
        assert len({client.get(path).text for path in paths}) == len(paths)
    assert len(described) == len(set(described)) >= 9
    client.set_cookie("language", "nl")
    before = len(described)
    assert client.get(paths[0]).status_code == HTTPStatus.OK
    assert len(described) > before


def test_visitors_get_no_page_of_another_language_or_theme(site: Site, new_table: OpenedTable) -> None:
    path, clients = f"/t/{new_table.links[0]}", [site.flask_app.test_client() for _ in range(4)]
    clients[3].set_cookie("theme", "dark")
    clients[1].set_cookie("language", "de")
    clients[2].environ_base["HTTP_ACCEPT_LANGUAGE"] = "fr"
    kept = [[get_text(client, path) for client in clients] for _ in range(2)]
    assert kept[0] == kept[1]
    assert len(set(kept[0])) == 4


def test_a_signed_in_player_sees_when_another_table_waits(site: Site, new_table: OpenedTable) -> None:
    path, person = f"/t/{new_table.links[0]}", site.load(new_table).seats[0].person
    client = site.flask_app.test_client()
    client.post(f"/enter/{site.app.links.make_sign_in_token(person, 0, site.time)}")
    before = get_text(client, path)
    other = site.start_table()
    while site.find_mover(other) != 0:
        move(site, other)
    set_column(site, other, proven=True)
    assert "data-next" in get_text(client, path)
    assert "data-next" not in before + get_text(site.flask_app.test_client(), path)
    client.post("/leave")
    assert get_text(client, path) == before


def test_a_page_that_the_browser_has_is_not_sent_again(site: Site, new_table: OpenedTable) -> None:
    client, path = site.flask_app.test_client(), f"/t/{new_table.links[0]}"
    etag = client.get(path).headers["ETag"]
    again = client.get(path, headers={"If-None-Match": etag})
    assert (again.status_code, again.data) == (HTTPStatus.NOT_MODIFIED, b"")
    move(site, new_table)
    assert client.get(path, headers={"If-None-Match": etag}).status_code == HTTPStatus.OK


def test_pages_are_compressed_and_their_length_tells_nothing(site: Site, new_table: OpenedTable) -> None:
    client, path = site.flask_app.test_client(), f"/t/{new_table.links[0]}"
    plain = client.get(path)
    for encoding, decompress in (("gzip", gzip.decompress), ("br", brotli.decompress)):
        sent = [client.get(path, headers={"Accept-Encoding": encoding}) for _ in range(2)]
        assert [decompress(one.data) for one in sent] == [plain.data] * 2
        assert len(sent[0].data) < len(plain.data) / 3
        noisy = [compress_with_noise(plain.data, encoding) for _ in range(500)]
        assert {decompress(one) for one in noisy} == {plain.data}
        assert len({len(one) for one in noisy}) > 80
    assert client.get(path, headers={"Accept-Encoding": "gzip;q=0"}).data == plain.data


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip, deflate", "gzip"),
        ("br;q=0.5, gzip", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("*", "br"),
        ("deflate", ""),
        ("gzip;q=0", ""),
        ("", ""),
    ],
)
def test_the_client_says_how_a_page_is_compressed(header: str, encoding: str) -> None:
    assert choose_encoding(header) == encoding


def test_the_cache_is_bounded_by_bytes() -> None:
    pages = LRU[bytes](10)
    for number in range(5):
        pages.put(number, b"1234", 4)
    assert [number for number in range(5) if pages.get(number)] == [3, 4]


def test_long_cookies_count_as_part_of_the_cache(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Visitors who send cookies of many kilobytes leave no more in memory than others."""
    page = site.new_visitor().get("/")
    monkeypatch.setattr(page_cache, "MAX_BYTES", 5 * len(page.encode()))
    flask_app = create_app(site.app)
    client = flask_app.test_client(use_cookies=False)
    for number in range(20):
        client.get("/", headers={"Cookie": f"x={number}{'y' * 8_000}"})
    cached = flask_app.wsgi_app._pages._values  # type: ignore[attr-defined]
    assert 0 < sum(len(key.cookie) + size for key, (_, size) in cached.items()) <= 2 * page_cache.MAX_BYTES
    assert sum(size for _, size in cached.values()) >= sum(len(key.cookie) for key in cached)
