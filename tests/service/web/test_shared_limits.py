"""One deed has one limit, whichever form, interface or address of a visitor's network it comes from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
