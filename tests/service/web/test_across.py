"""No link reaches the data of another seat, and no host name of a visitor gets into a letter."""

import pytest
from sqlalchemy import select

from service.store.schema import branches, mailbox, orders
from tests.sites import Site, Visitor

API = "/api/v1"
DEEDS = ("", "/cut", "/fork", "/deal", "/name", "/delete", "/orders", "/forget")
GUESTS = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bert", "address": "bert@example.org"}]
TABLE = {"game": "kaiser", "players": GUESTS}


def test_a_branch_is_out_of_reach_for_other_seats_and_tables(site: Site, visitor: Visitor) -> None:
    app, there = site.start_table(), site.start_table("Clara", "Dora")
    visitor.post(f"/t/{app.links[0]}/whatif", at=str(site.load(app).row.length - 1))
    with site.app.store.reading() as connection:
        (branch,) = connection.execute(select(branches)).all()
    for link in (app.links[1], there.links[0], app.watch):
        own = f"/t/{link}/whatif/{branch.id}"
        assert visitor.client.get(own).status_code in (404, 422)
        assert {visitor.post(f"{own}{deed}", name="mine").status_code for deed in DEEDS} <= {303, 404, 422}
    with site.app.store.reading() as connection:
        assert connection.execute(select(branches)).all() == [branch]


def test_an_order_is_cancelled_by_its_own_seat_alone(site: Site, visitor: Visitor) -> None:
    app, there = site.start_table(), site.start_table("Clara", "Dora")
    seat = 1 - site.find_mover(app)
    site.submit(app, "order pass", seat)
    with site.app.store.reading() as connection:
        (order,) = connection.execute(select(orders)).all()
    for link in (app.links[1 - seat], *there.links):
        answer = visitor.client.post(f"{API}/t/{link}/moves", json={"move": f"cancel {order.id}"})
        assert "no such order" in answer.text
    with site.app.store.reading() as connection:
        assert connection.execute(select(orders)).all() == [order]


def test_only_the_own_seat_reads_a_verdict(site: Site, visitor: Visitor) -> None:
    app, there = site.start_table(), site.start_table("Clara", "Dora")
    seat = site.find_mover(app)
    answer = visitor.client.post(f"{API}/t/{app.links[seat]}/moves", json={"move": site.list_moves(app)[0]})
    for link in (app.links[1 - seat], *there.links, app.watch):
        assert visitor.client.get(f"{API}/t/{link}/submissions/{answer.json['submission']}").status_code == 404  # type: ignore[index]


def test_a_tag_of_another_seat_brings_no_304(site: Site, visitor: Visitor) -> None:
    one, other = site.start_table().links
    for path in (f"{API}/t/%s", f"{API}/t/%s/events"):
        tag = visitor.client.get(path % other).headers["ETag"]
        assert visitor.client.get(path % one, headers={"If-None-Match": tag}).status_code == 200


def test_a_host_header_of_a_visitor_is_in_no_letter_page_or_answer(site: Site, visitor: Visitor) -> None:
    evil = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    made = visitor.client.post(f"{API}/tables", json=TABLE, headers=evil)
    link = made.json["links"][0]  # type: ignore[index]
    for path in (f"/t/{link}", "/", "/api", f"{API}/openapi.json", "/my"):
        answer = visitor.client.get(path, headers=evil)
        assert "evil.example" not in answer.text + answer.headers.get("Location", "")
    site.store_letters()
    with site.app.store.reading() as connection:
        written = connection.execute(select(mailbox.c.raw)).scalars().all()
    assert written
    assert not any(b"evil.example" in letter for letter in written)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_foreign_page_opens_no_table_by_a_simple_request(site: Site, visitor: Visitor, kind: str) -> None:
    """The interface refuses bodies that a browser sends to another origin without asking first."""
    assert visitor.client.post(f"{API}/tables", data=b'{"game":"kaiser"}', content_type=kind).status_code == 415


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_no_redirect_leads_to_another_site(visitor: Visitor, to: str) -> None:
    for field in ("next", "back", "to", "at"):
        answer = visitor.post("/language", language="de", **{field: to})
        assert "evil" not in answer.headers.get("Location", "")
        assert "javascript" not in answer.headers.get("Location", "")


def test_the_same_key_with_another_move_is_the_first_move(site: Site, visitor: Visitor) -> None:
    app = site.start_table()
    link, (first, *_, last) = app.links[site.find_mover(app)], site.list_moves(app)
    answers = [
        visitor.client.post(f"{API}/t/{link}/moves", json={"move": move, "key": "k"}).json for move in (first, last)
    ]
    assert answers[0] == answers[1]
    assert site.load(app).row.length == 5
