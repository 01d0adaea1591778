"""The page of a table reads the database once: few transactions, and nothing is read twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from engine import catalogue
from service.tables.opening import OpenedTable
from service.text.languages import SOURCE
from tests.sites import Site, Visitor

pytestmark = pytest.mark.parametrize("game", sorted(catalogue.find_all()))


class Cost:
    """The transactions and SELECTs of one engine."""

    def __init__(self) -> None:
        self.transactions = 0
        self.selects: list[str] = []

    def count_begin(self, _: Any) -> None:
        self.transactions += 1

    def count_statement(self, _: Any, __: Any, statement: str, *___: Any) -> None:
        if statement.startswith("SELECT"):
            self.selects.append(statement)


@contextmanager
def measuring(site: Site) -> Iterator[Cost]:
    """Measure what is done inside; it may begin two transactions."""
    cost, engine = Cost(), site.app.store.engine
    listeners = (("begin", cost.count_begin), ("before_cursor_execute", cost.count_statement))
    for name, listener in listeners:
        event.listen(engine, name, listener)
    yield cost
    for name, listener in listeners:
        event.remove(engine, name, listener)
    assert 1 <= cost.transactions <= 2


@pytest.fixture
def new_table(site: Site, game: str) -> OpenedTable:
    new_table = site.start_table(game=game)
    for _ in range(3):
        site.submit(new_table, site.list_moves(new_table)[0])
    return new_table


def test_a_running_game_costs_two_transactions_and_seven_selects(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    for link in (*new_table.links, new_table.watch):
        visitor.get(f"/t/{link}")
        with measuring(site) as cost:
            visitor.get(f"/t/{link}?new")  # with a query the page is not taken from the cache
        assert len(cost.selects) <= 7, cost.selects
        assert len(set(cost.selects)) == len(cost.selects)


def test_signed_in_and_with_a_verdict_it_costs_nine_selects(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    seat = site.find_mover(new_table)
    link, person = new_table.links[seat], site.load(new_table).seats[seat].person
    visitor.post(f"/enter/{site.app.links.make_sign_in_token(person, 0, site.time)}")
    visitor.get("/")  # the notices of the host are cached from now on
    response = visitor.post(f"/t/{link}", move="order pass")
    with measuring(site) as cost:
        page = visitor.get(response.location)
    assert len(cost.selects) <= 9, cost.selects
    assert f'lang="{SOURCE}"' in page
