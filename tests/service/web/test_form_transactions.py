"""A form is one transaction: it finds the place of its link and changes what belongs to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from service.store import Store
from service.tables.opening import Invitee, OpenedTable
from service.timing import Clock
from tests import apps
from tests.sites import Site, Visitor

SEAT_FORMS = [
    ("talk", {"text": "Hello"}),
    ("note", {"note": "Keep the lady"}),
    ("at-once", {"wanted": "yes"}),
    ("presence", {"wanted": "no"}),
    ("watched", {"wanted": "no"}),
    ("device/remove", {"endpoint": "https://push.example/1"}),
    ("hint", {}),
]
BRANCH_FORMS = [
    ("name", {"name": "A thought"}),
    ("cut", {"step": "0"}),
    ("take-out", {"step": "1"}),
    ("fork", {"step": "0"}),
    ("delete", {}),
]


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the transactions that are begun inside."""
    begun = list[str]()

    def count(name: str) -> Any:
        begin = getattr(Store, name)

        def begin_counted(*words: Any, **others: Any) -> Any:
            begun.append(name)
            return begin(*words, **others)

        return begin_counted

    with monkeypatch.context() as patch:
        for name in ("reading", "writing", "peeking"):
            patch.setattr(Store, name, count(name))
        yield begun


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    return site.start_table(pace=Clock(hints=True))


@pytest.mark.parametrize(("form", "fields"), SEAT_FORMS)
def test_a_form_of_a_seat_is_one_transaction(
    site: Site,
    visitor: Visitor,
    new_table: OpenedTable,
    form: str,
    fields: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = new_table.links[site.find_mover(new_table) if form == "hint" else 0]  # the first seat is the organiser's
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/t/{link}/{form}", **fields)
    assert response.status_code in (204, 303), response.text
    assert begun == ["writing"]


@pytest.mark.parametrize(("form", "fields"), BRANCH_FORMS)
def test_a_form_of_a_branch_is_one_transaction(
    site: Site,
    visitor: Visitor,
    new_table: OpenedTable,
    form: str,
    fields: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = new_table.links[site.find_mover(new_table)]
    branch = visitor.post(f"/t/{link}/whatif", at="3").location
    with counting(monkeypatch) as begun:
        response = visitor.post(f"{branch}/{form}", **fields)
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def test_a_rematch_is_opened_by_one_transaction(
    site: Site, visitor: Visitor, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(new_table, "resign", 0)
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/t/{new_table.links[1]}/again")
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def test_bots_take_free_seats_in_one_transaction(site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    guests = [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)  # the workers' transactions are not counted
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/t/{opened.links[0]}/fill")
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


@pytest.mark.parametrize(
    ("form", "fields"), [("here", {"letters": "digest"}), ("stop", {}), ("resume", {"letters": "turn"})]
)
def test_settings_of_letters_find_the_person_and_change_them(
    site: Site,
    visitor: Visitor,
    new_table: OpenedTable,
    form: str,
    fields: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person = site.load(new_table).seats[0].person
    token = site.app.links.make_preferences_token(person or 0, 0)
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/wishes/{token}/{form}?table={new_table.table}", **fields)
    assert response.status_code in (200, 303), response.text
    assert begun[:2] == ["reading", "writing"]
    assert begun.count("writing") == 1


def test_a_player_who_is_here_is_noted_by_a_second_transaction_only_when_that_is_due(
    site: Site, visitor: Visitor, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages say it every minute; only what is written every five minutes takes a lock."""
    for expected in (["reading", "writing"], ["reading"]):
        with counting(monkeypatch) as begun:
            assert visitor.client.put(f"/t/{new_table.links[0]}/here").status_code == 204
        assert begun == expected


def test_a_move_is_found_stored_and_judged_in_transactions_of_its_own(
    site: Site, visitor: Visitor, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row must be committed before the referee is woken, and nothing may be locked while the page waits."""
    site.judging = False
    link = new_table.links[site.find_mover(new_table)]
    move = site.list_moves(new_table)[0]
    with counting(monkeypatch) as begun:
        visitor.post(f"/t/{link}", move=move)
    assert begun[:2] == ["peeking", "writing"]
