"""A form is one transaction: it finds the place of its link and changes what belongs to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.store import Store
from service.tables.access import Place
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
    ("deal", {}),
    ("sooner", {"step": "3"}),
    ("orders", {"always": "yes"}),
    ("forget", {}),
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
    visitor.get(f"/t/{link}")
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/t/{link}/{form}", **fields)
    assert response.status_code in (204, 303), response.text
    assert begun == ["writing"]


@pytest.mark.parametrize(("form", "fields"), [*SEAT_FORMS, ("whatif", {"at": "3"}), ("again", {}), ("fill", {})])
def test_a_form_with_a_wrong_link_keeps_no_writer_waiting(
    site: Site,
    visitor: Visitor,
    new_table: OpenedTable,
    form: str,
    fields: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = new_table.links[0][:-2] + ("aa" if not new_table.links[0].endswith("aa") else "bb")
    with counting(monkeypatch) as begun:
        for _ in range(2):
            assert visitor.post(f"/t/{wrong}/{form}", **fields).status_code == 404
    assert begun
    assert "writing" not in begun


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
    for step, (seat, move) in enumerate(list_branch_moves(site.find_mover(new_table))):
        assert visitor.post(branch, **{"as": str(seat), "step": str(step), "move": move}).status_code == 303
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)  # the workers' transactions are not counted
    with counting(monkeypatch) as begun:
        response = visitor.post(f"{branch}/{form}", **fields)
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def list_branch_moves(mover: int) -> list[tuple[int, str]]:
    """Return three moves of Kaiser; the last one can be exchanged with the first."""
    own, other = "AB"[mover], "AB"[1 - mover]
    return [(mover, f"move {own}10 {own}3"), (1 - mover, f"move {other}11 {other}6"), (mover, f"move {own}11 {own}6")]


def test_a_branch_begins_and_grows_in_one_transaction_each(
    site: Site, visitor: Visitor, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    mover = site.find_mover(new_table)
    visitor.get(f"/t/{new_table.links[mover]}")
    with counting(monkeypatch) as begun:
        branch = visitor.post(f"/t/{new_table.links[mover]}/whatif", at="3").location
        seat, move = list_branch_moves(mover)[0]
        response = visitor.post(branch, **{"as": str(seat), "step": "0", "move": move})
    assert response.location == f"{branch}?step=1", response.text
    assert begun == ["writing", "writing"]


def test_an_order_goes_to_another_branch_in_one_transaction(
    site: Site, visitor: Visitor, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = 1 - site.find_mover(new_table)
    link, (first, second, third) = new_table.links[seat], list_branch_moves(1 - seat)
    branches = list[str]()
    for given in (first, third):
        branch = visitor.post(f"/t/{link}/whatif", at="3").location
        for step, (mover, move) in enumerate((given, second)):
            assert visitor.post(branch, **{"as": str(mover), "step": str(step), "move": move}).status_code == 303
        assert visitor.post(f"{branch}/orders").status_code == 303
        branches.append(branch)
    place = Place(new_table.table, seat, link)
    (order, *_), number = apps.list_orders(site.app, place), branches[1].rpartition("/")[2]
    visitor.post(f"{branches[1]}/cut", step="1")
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/t/{link}/orders/{order.id}/branch/{number}")
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def test_a_table_is_opened_by_one_transaction(site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)
    form = {"name": "Anna", "address": "anna@example.org", "players": "Bert <bert@example.org>"}
    with counting(monkeypatch) as begun:
        response = visitor.post("/new/kaiser", **form)
    assert response.status_code in (200, 303), response.text
    assert begun[:1] == ["writing"]
    assert begun.count("writing") == 1
    with counting(monkeypatch) as begun:
        response = visitor.post("/play/kaiser", name="Anna", bots="1")
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def test_an_address_is_corrected_by_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strict = Site(tmp_path, smtp="smtp://127.0.0.1:1")  # whose addresses must be proven
    opened = strict.open_table()
    strict.new_visitor().get(f"/t/{opened.links[0]}")
    with counting(monkeypatch) as begun:
        response = strict.new_visitor().post(f"/t/{opened.links[0]}/address", address="anna@example.net")
    strict.app.close()
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


@pytest.mark.parametrize("form", ["feeds", "feeds/close"])
def test_a_calendar_gets_a_new_link_in_one_transaction(
    site: Site, visitor: Visitor, new_table: OpenedTable, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = site.app.links.make_preferences_token(site.load(new_table).seats[0].person or 0, 0)
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/wishes/{token}/connections/{form}")
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def test_a_rematch_is_opened_by_one_transaction(
    site: Site, visitor: Visitor, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(new_table, "resign", 0)
    visitor.get(f"/t/{new_table.links[1]}")
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/t/{new_table.links[1]}/again")
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def test_bots_take_free_seats_in_one_transaction(site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    guests = [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)  # the workers' transactions are not counted
    visitor.get(f"/t/{opened.links[0]}")
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
