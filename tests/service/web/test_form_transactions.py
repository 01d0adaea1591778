"""A form is one transaction: it finds the place of its link and changes what belongs to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.notify import channels
from service.people import proof, register
from service.settings import DAY_S
from service.store import Store, channel_queries
from service.store.schema import seats
from service.tables import access, joining
from service.tables.access import Place
from service.tables.opening import Invitee, OpenedTable
from service.timing import Clock
from tests import apps
from tests.receivers import Receiver
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
LINK_FORMS = [
    ("whatif", {"at": "3"}),
    ("whatif/1/orders", {}),
    ("again", {}),
    ("fill", {}),
    ("letters", {"address": "vera@example.org"}),
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


@pytest.mark.parametrize(("form", "fields"), [*SEAT_FORMS, *LINK_FORMS])
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


@pytest.fixture
def strict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site that asks for the proof of addresses, whose workers are not counted."""
    site = Site(tmp_path, smtp="smtp://127.0.0.1:1")
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)
    site.new_visitor().get("/")  # the notices of the host are cached from now on
    yield site
    site.app.close()


def sign_in(site: Site, address: str) -> tuple[int, Visitor]:
    """Add a person with this address, and sign in."""
    with site.app.store.writing() as db:
        person = register.find_or_create_person(db, address, "Vera", site.time)
    visitor = site.new_visitor()
    visitor.post(f"/enter/{site.app.links.make_sign_in_token(person, 0, site.time)}")
    return person, visitor


def test_a_player_gives_an_address_in_one_transaction(strict: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is signed in is found in the same one, and needs no letter that asks."""
    _, visitor = sign_in(strict, "vera@example.org")
    path = strict.new_visitor().post("/play/kaiser", name="Vera", bots="1").location
    visitor.get(path)
    with counting(monkeypatch) as begun:
        assert visitor.post(f"{path}/letters", address="vera@example.org").status_code == 303
    assert begun == ["writing"]
    assert apps.load_table(strict.app, access.find(strict.app, path.rpartition("/")[2]).table).seats[0].proven


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_claim_is_answered_by_one_transaction_that_reads_and_one_that_writes(
    strict: Site, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")]
    joins = [apps.open_new(strict.app, "kaiser", {}, guests, 0).join for _ in range(2)]
    for join in joins:
        joining.join(strict.app, join, Invitee("Vera", "vera@example.org"))
    person, visitor = sign_in(strict, "vera@example.org")
    apps.owe_confirm_letter(strict.app, person)
    first, second = apps.load(strict.app, lambda _, db: proof.list_claims(db, person))
    path = f"/confirm/{strict.app.links.make_confirm_token(person, 'vera@example.org')}"
    with counting(monkeypatch) as begun:
        visitor.get(path)
    assert begun == ["reading"]
    with counting(monkeypatch) as begun:
        response = visitor.post(path, table=first.table, seat=str(first.seat), answer=answer)
    assert begun == ["reading", "writing"]
    assert second.table in response.text
    assert f'value="{first.table}"' not in response.text
    with counting(monkeypatch) as begun:
        assert visitor.post("/my/claim", table=second.table, seat=str(second.seat), answer=answer).status_code == 303
    assert begun == ["reading", "writing"]


def test_links_are_renewed_in_the_transaction_that_finds_the_visitor(
    site: Site, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = site.load(new_table).seats[0]
    visitor = site.new_visitor()
    visitor.post(f"/enter/{site.app.links.make_sign_in_token(seat.person or 0, 0, site.time)}")
    visitor.get("/")  # the notices of the host are cached from now on
    for form, fields in (("link", {"table": new_table.table, "seat": "0"}), ("settings-link", {})):
        with counting(monkeypatch) as begun:
            assert visitor.post(f"/my/{form}", **fields).status_code == 303
        assert begun == ["writing"]
        with counting(monkeypatch) as begun:
            assert site.new_visitor().post(f"/my/{form}", **fields).status_code == 422
        assert begun == []


def test_a_free_seat_is_taken_by_one_transaction(strict: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    guests = [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")]
    opened = apps.open_new(strict.app, "kaiser", {}, guests, 0)
    _, visitor = sign_in(strict, "vera@example.org")
    with counting(monkeypatch) as begun:
        response = visitor.post(f"/join/{opened.join}", name="Vera", address="vera@example.org")
    assert response.status_code == 303, response.text
    assert begun == ["writing"]


def test_a_receiver_is_added_tested_and_removed_by_two_transactions_each(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test is sent between the two, while nothing is locked; after it the second one loads the page."""
    monkeypatch.setattr(site.app.wakeups, "wake", lambda queue: True)
    with site.app.store.writing() as db:
        db.execute(seats.update().values(proven=True))
    wishes = f"/wishes/{site.app.links.make_preferences_token(site.load(new_table).seats[0].person or 0)}"
    chat, followers = {"kind": "discord", "address": receiver.url()}, f"/t/{new_table.links[0]}/followers"
    visitor.get(f"/t/{new_table.links[0]}")
    for path, fields, expected in (
        (f"{wishes}/connections/receivers", chat, ["reading", "writing"]),
        (f"{wishes}/connections/receivers/1/test", {}, ["reading", "reading"]),
        (f"{wishes}/channels/test", {"channel": "1"}, ["reading", "reading"]),
        (f"{wishes}/channels", {"has1": "1"}, ["reading", "writing"]),
        (f"{wishes}/connections/receivers/1/remove", {}, ["reading", "writing"]),
        (followers, chat, ["reading", "writing"]),
        (f"{followers}/1/test", {}, ["reading", "reading"]),
        (f"{followers}/1/remove", {}, ["writing"]),
    ):
        with counting(monkeypatch) as begun:
            response = visitor.post(path, **fields)
        assert response.status_code in (200, 303), (path, response.text)
        assert begun == expected, path


@pytest.mark.parametrize(("form", "fields"), [("connections/receivers/1/test", {}), ("channels/test", {"channel": 1})])
def test_a_receiver_that_failed_is_switched_on_by_the_transaction_that_loads_the_page(
    site: Site,
    visitor: Visitor,
    new_table: OpenedTable,
    receiver: Receiver,
    form: str,
    fields: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = f"/wishes/{site.app.links.make_preferences_token(site.load(new_table).seats[0].person or 0)}"
    visitor.post(f"{path}/connections/receivers", kind="discord", address=receiver.url())
    with site.app.store.writing() as db:
        channels.switch_off(db, next(iter(channel_queries.list_channels(db))), site.time, "500")
    visitor.get(path)  # the notices of the host are cached from now on
    with counting(monkeypatch) as begun:
        assert visitor.post(f"{path}/{form}", **fields).status_code == 200
    assert begun == ["reading", "writing"]


def test_pages_of_settings_read_once(
    site: Site, visitor: Visitor, new_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = site.app.links.make_preferences_token(site.load(new_table).seats[0].person or 0)
    visitor.get("/")  # the notices of the host are cached from now on
    for path in ("", f"?table={new_table.table}", "/connections", "/stop", f"/stop?table={new_table.table}"):
        with counting(monkeypatch) as begun:
            visitor.get(f"/wishes/{token}{path}")
        assert begun == ["reading"], path


def test_settings_are_stored_at_once_and_each_running_clock_by_itself(
    site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = site.start_table(pace=DAY_S)
    seat = site.load(opened).seats[site.find_mover(opened)]
    token = site.app.links.make_preferences_token(seat.person or 0)
    with site.app.store.writing() as db:
        db.execute(seats.update().values(proven=True))
    with counting(monkeypatch) as begun:
        assert visitor.post(f"/wishes/{token}", letters="turn", language="en", remind="4").status_code == 303
    assert begun == ["reading", "writing", "writing"]
