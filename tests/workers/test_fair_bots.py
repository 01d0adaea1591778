"""One visitor's bots and hints do not hold up another's: who got least is next, unvisited tables last."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from sqlalchemy import update

from service import create_app
from service.app import App
from service.store.schema import submissions, tables
from service.tables.access import Place
from tests import apps
from workers import bots, referee

CROWD = 26


@pytest.fixture
def order(any_app: App, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables whose bots thought, in order; each thought takes a moment."""
    thought = list[str]()

    def move(app: App, place: Place) -> None:
        thought.append(place.table)
        time.sleep(0.002)

    monkeypatch.setattr(bots, "_move", move)
    return thought


def open_tables(app: App, visitor: str, number: int) -> list[str]:
    """Open tables where a bot has to move, as this visitor."""
    opened = list[str]()
    while len(opened) < number:
        place = apps.start_table(app, 2, bots=1)[0]
        if apps.list_moves(app, place):
            assert apps.submit(app, place, apps.list_moves(app, place)[0]).accepted
        opened.append(place.table)
    with app.store.writing() as db:
        db.execute(update(tables).where(tables.c.id.in_(opened)).values(visitor=visitor))
    return opened


def leave(app: App, names: Sequence[str]) -> None:
    """Let the last visit to these tables be long ago."""
    past = app.now() - bots.VISIT_S
    with app.store.writing() as db:
        db.execute(update(tables).where(tables.c.id.in_(names)).values(opened_at=past))
        db.execute(update(submissions).where(submissions.c.table.in_(names)).values(at=past))


def test_a_crowd_of_one_visitor_waits_in_turn_with_another(any_app: App, order: list[str]) -> None:
    open_tables(any_app, "crowd", CROWD)
    (other,) = open_tables(any_app, "other", 1)
    bots.run()
    assert len(order) == CROWD + 1
    assert order.index(other) <= 1


def test_a_table_that_comes_while_a_crowd_thinks_is_next(
    any_app: App, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_tables(any_app, "crowd", CROWD)
    move, late = bots._move, list[str]()

    def move_and_open(app: App, place: Place) -> None:
        move(app, place)
        if not late:
            late.extend(open_tables(app, "other", 1))

    monkeypatch.setattr(bots, "_move", move_and_open)
    bots.run()
    assert order[1] == late[0]


def test_bots_of_unvisited_tables_think_last(any_app: App, order: list[str]) -> None:
    left = open_tables(any_app, "one", 3)
    leave(any_app, left)
    visited = open_tables(any_app, "other", 3)
    bots.run()
    assert set(order[:3]) == set(visited)
    assert set(order[3:]) == set(left)


def test_many_hints_of_one_visitor_do_not_hold_up_anothers(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    answered_tables = list[str]()
    monkeypatch.setattr(
        bots, "_answer_hint", lambda app, number, table: (answered_tables.append(table), time.sleep(0.002))
    )
    places = [apps.find_move(any_app, apps.start_table(any_app))[0] for _ in range(6)]
    monkeypatch.setattr("service.tables.snapshots.can_ask_hint", lambda *_: True)
    with any_app.store.writing() as db:
        db.execute(update(tables).values(visitor="crowd"))
        db.execute(update(tables).where(tables.c.id == places[-1].table).values(visitor="other"))
    for place in places:
        apps.ask_hint(any_app, place)
    bots.run()
    assert len(answered_tables) == 6
    assert answered_tables.index(places[-1].table) <= 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
    ],
)
def test_the_organiser_is_known_by_network_and_its_address_is_not_stored(
    app: App, one: str, other: str, same: bool
) -> None:
    client = create_app(app).test_client()
    players = [{"name": name, "address": f"{name}@example.org"} for name in ("anna", "bert")]
    body = {"game": "kaiser", "players": players}
    names = set[str]()
    for address in (one, other):
        answer = client.post("/api/v1/tables", json=body, environ_overrides={"REMOTE_ADDR": address})
        assert answer.status_code == 201
        names.add(apps.load_table(app, answer.json["table"]).row.visitor)
    assert len(names) == (1 if same else 2)
    assert not any(address in name for name in names for address in (one, other))


def test_real_bots_of_a_crowd_let_another_visitor_move(app: App) -> None:
    crowd = open_tables(app, "crowd", 4)
    (other,) = open_tables(app, "other", 1)
    bots.run()
    referee.run()
    assert all(apps.load_table(app, table).position.length > 0 for table in (*crowd, other))


def test_a_second_worker_knows_for_whom_the_first_thought(any_app: App, order: list[str]) -> None:
    (crowd,), (other,) = open_tables(any_app, "crowd", 1), open_tables(any_app, "other", 1)
    bots.Shares(any_app.redis, any_app.now).add("crowd", 5.0)  # by another process
    bots.run()
    assert order == [other, crowd]


def test_without_redis_a_worker_counts_its_own_thoughts(app: App) -> None:
    shares = bots.Shares(Redis(host="127.0.0.1", port=1, retry=Retry(NoBackoff(), 0)), app.now)
    shares.add("crowd", 5.0)
    assert shares.load() == {"crowd": 5.0}
