"""One deed has one limit, whichever form, interface or address of a visitor's network it comes from."""

from collections.abc import Iterator
from pathlib import Path

import fakeredis
import pytest
import redis

from service import create_app
from service.app import App
from service.web import rate_limits
from service.web.rate_limits import Limit, RateLimits
from tests import apps
from tests.sites import Site

ANNA = {"name": "Anna", "address": "anna@example.org"}


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Site]:
    """A server that lets a visitor open two tables an hour, and a seat move three times a minute."""
    site = Site(tmp_path, opens_per_hour=2, moves_per_minute=3)
    yield site
    site.app.close()


def test_all_ways_to_open_a_table_share_a_limit(narrow: Site) -> None:
    visitor = narrow.new_visitor()
    body = {"game": "kaiser", "players": [ANNA, {"name": "Bot"}]}
    codes = [
        visitor.post("/play/kaiser", **ANNA, bots="1").status_code,
        visitor.client.post("/api/v1/tables", json=body).status_code,
        visitor.post("/new/kaiser", **ANNA, players="bot").status_code,
        visitor.post("/enter", address=ANNA["address"]).status_code,
    ]
    assert codes == [303, 201, 429, 429]


def test_all_ways_to_move_share_a_limit(narrow: Site) -> None:
    visitor = narrow.new_visitor()
    link = visitor.post("/play/kaiser", **ANNA, bots="1").location.rsplit("/", 1)[1]
    codes = [
        visitor.post(f"/t/{link}", move="pass").status_code,
        visitor.client.post(f"/api/v1/t/{link}/moves", json={"move": "pass"}).status_code < 429,
        visitor.post(f"/t/{link}/sit", nonce="word").status_code,
        visitor.client.post(f"/api/v1/t/{link}/moves", json={"move": "pass"}).status_code,
    ]
    assert codes == [303, True, 303, 429]


def test_a_network_of_one_customer_is_one_visitor(narrow: Site) -> None:
    codes = []
    for address in ("2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:1:ffff::3", "2001:db8:1:2::1"):
        visitor = narrow.new_visitor()
        visitor.client.environ_base["REMOTE_ADDR"] = address
        codes.append(visitor.post("/play/kaiser", **ANNA, bots="1").status_code)
    assert codes == [303, 303, 429, 303]


# Several processes

MOVES, NOTHING = Limit("moves", 100, 60), Limit("nothing", 100, 0)


def test_processes_count_together_and_each_learns_of_the_others_within_a_second(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redis.Redis.from_url(redis_url) as client:
        first, second = RateLimits(client), RateLimits(client)
        assert [first.use(MOVES, "a").used for _ in range(3)] == [1, 2, 3]
        assert second.use(MOVES, "a").used == 2  # two of the first process are not added yet
        monkeypatch.setattr(rate_limits, "SYNC_AFTER_S", 0)
        assert [one.use(MOVES, "a").used for one in (first, second, first)] == [5, 6, 7]
        assert second.use(MOVES, "b").used == 1
        ends = [one.use(MOVES, "a").ends_at for one in (first, second)]
        assert ends[0] == pytest.approx(ends[1], abs=0.1)


def test_the_limit_of_a_server_holds_for_all_its_processes(tmp_path: Path, redis_url: str) -> None:
    settings = apps.make_settings(tmp_path, redis=redis_url, opens_per_hour=2)
    processes = [App(settings) for _ in range(2)]
    processes[0].open()
    clients = [create_app(process).test_client() for process in processes]
    codes = [client.post("/play/kaiser", data=ANNA | {"bots": "1"}).status_code for client in clients * 2]
    for process in processes:
        process.close()
    assert codes[:2] == [303, 303]
    assert 429 in codes[2:]


def test_without_redis_a_process_limits_alone() -> None:
    server = fakeredis.FakeServer()
    limits = RateLimits(fakeredis.FakeRedis(server=server))
    server.connected = False
    assert [limits.use(MOVES, "a").used for _ in range(3)] == [1, 2, 3]


def test_a_new_period_begins_at_nothing(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        limits = RateLimits(client)
        assert [limits.use(MOVES, "a").used, limits.use(NOTHING, "b").used] == [1, 1]
        assert [limits.use(MOVES, "a").used, limits.use(NOTHING, "b").used] == [2, 1]


def test_a_program_learns_how_many_moves_are_left(narrow: Site) -> None:
    visitor = narrow.new_visitor()
    link = visitor.post("/play/kaiser", **ANNA, bots="1").location.rsplit("/", 1)[1]
    answers = [visitor.client.post(f"/api/v1/t/{link}/moves", json={"move": "pass"}) for _ in range(4)]
    headers = [answer.headers for answer in answers]
    assert [one["X-RateLimit-Limit"] for one in headers] == ["3"] * 4
    assert [one["X-RateLimit-Remaining"] for one in headers] == ["2", "1", "0", "0"]
    assert ["Retry-After" in one for one in headers] == [False, False, False, True]
    assert 0 < int(headers[-1]["Retry-After"]) <= 60
