"""Notifications on a device: who may add one, what it gets, and the table of the settings; and the installable page."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from service.store import channel_queries
from service.store.channel_queries import ChannelRow
from service.store.push_keys import encode_base64url
from service.store.schema import people, seats
from service.tables.opening import OpenedTable
from tests import apps, receivers
from tests.receivers import Receiver
from tests.servers import Sink
from tests.service.notify.test_web_push import AUTH, Browser
from tests.sites import Site, Visitor
from workers.outgoing import post

ENDPOINT = "https://push.example.org/abc"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    one = Site(tmp_path)
    one.app.open()
    yield one
    one.app.close()


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    return site.start_table("Anna", "Berta")


def list_channels(site: Site) -> list[ChannelRow]:
    return apps.run_query(site.app, channel_queries.list_channels)


def subscribe(visitor: Visitor, link: str | None, **others: str) -> int:
    keys = {"p256dh": encode_base64url(Browser().public), "auth": encode_base64url(AUTH)}
    given = {"endpoint": ENDPOINT, "label": "Firefox, Linux", **keys, **others}
    return visitor.post(f"/t/{link}/device", **given).status_code


def find_person(site: Site, new_table: OpenedTable, seat: int) -> int:
    own = select(seats.c.person).where(seats.c.table == new_table.table, seats.c.seat == seat)
    with site.app.store.reading() as db:
        return int(db.execute(own).scalar_one())


def test_the_link_of_a_seat_brings_the_notices_of_that_table_alone(site: Site, new_table: OpenedTable) -> None:
    assert subscribe(site.new_visitor(), new_table.links[0]) == 204
    (one,) = list_channels(site)
    assert (one.kind, one.table, one.link_number) == ("push", new_table.table, 0)
    assert one.person == find_person(site, new_table, 0)


def test_a_browser_that_subscribes_twice_is_one_device(site: Site, new_table: OpenedTable) -> None:
    visitor = site.new_visitor()
    assert [subscribe(visitor, new_table.links[0]) for _ in range(2)] == [204, 204]
    assert len(list_channels(site)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"endpoint": "http://push.example.org/abc"},
        {"endpoint": "https://user:password@push.example.org/"},
        {"p256dh": "x"},
        {"p256dh": encode_base64url(b"\4" + b"x" * 64)},
        {"auth": encode_base64url(b"short")},
    ],
)
def test_a_subscription_that_no_browser_made_is_refused(
    site: Site, new_table: OpenedTable, wrong: dict[str, str]
) -> None:
    assert subscribe(site.new_visitor(), new_table.links[0], **wrong) == 422
    assert list_channels(site) == []


def test_a_spectator_gets_no_notices(site: Site, new_table: OpenedTable) -> None:
    assert subscribe(site.new_visitor(), new_table.watch) == 422


def open_settings(site: Site, person: int) -> str:
    with site.app.store.reading() as db:
        number = db.execute(select(people.c.settings_number).where(people.c.id == person)).scalar_one()
    return f"/wishes/{site.app.links.make_preferences_token(person, number)}"


def test_the_settings_are_a_table_of_groups_by_channels(site: Site, new_table: OpenedTable) -> None:
    visitor = site.new_visitor()
    subscribe(visitor, new_table.links[0])
    settings, (one,) = open_settings(site, find_person(site, new_table, 0)), list_channels(site)
    page = visitor.get(settings)
    assert page.count(f'name="groups{one.id}"') == 7
    assert "Firefox, Linux" in page
    form = {f"has{one.id}": "1", f"groups{one.id}": "reminder"}
    assert visitor.post(f"{settings}/channels", **form).status_code == 303
    assert list_channels(site)[0].groups == "reminder"
    assert visitor.post(f"{settings}/channels/remove", channel=one.id).status_code == 303
    assert list_channels(site) == []


def test_one_persons_settings_reach_no_others_channels(site: Site, new_table: OpenedTable) -> None:
    visitor = site.new_visitor()
    subscribe(visitor, new_table.links[0])
    other, (one,) = open_settings(site, find_person(site, new_table, 1)), list_channels(site)
    visitor.post(f"{other}/channels", **{f"has{one.id}": "1"})
    visitor.post(f"{other}/channels/remove", channel=one.id)
    assert list_channels(site) == [one]


def test_the_page_can_be_installed(site: Site) -> None:
    visitor = site.new_visitor()
    manifest = json.loads(visitor.get("/manifest.webmanifest"))
    assert manifest["start_url"] == "/my"
    for icon in manifest["icons"]:
        with visitor.client.get(icon["src"]) as answer:
            assert answer.status_code == 200
    assert "addEventListener" in visitor.get("/service-worker.js")
    assert len(visitor.get("/push-key")) == 87


def test_the_owner_of_a_seat_is_told_by_letter_of_each_device_and_removes_it_there(
    tmp_path: Path, smtp_sink: Sink
) -> None:
    site = Site(tmp_path, smtp=f"smtp://{smtp_sink.hostname}:{smtp_sink.port}", confirm=False)
    site.app.open()
    new_table, visitor = site.start_table("Anna", "Berta"), site.new_visitor()
    assert [subscribe(visitor, new_table.links[0]) for _ in range(2)] == [204, 204]
    post.run()
    (letter,) = [one for one in smtp_sink.letters if "was added" in one["Subject"]]
    assert letter["To"].addresses[0].addr_spec == "anna@example.org"
    settings = open_settings(site, find_person(site, new_table, 0))
    text = "".join(letter.get_body(("plain",)).get_content().split())
    assert f"{site.app.settings.address}{settings}#channels" in text
    visitor.post(f"{settings}/channels/remove", channel=list_channels(site)[0].id)
    assert list_channels(site) == []
    site.app.close()


def test_a_test_reaches_a_device_and_its_answer_is_shown(
    site: Site, new_table: OpenedTable, receiver: Receiver
) -> None:
    visitor, browser = site.new_visitor(), Browser()
    subscribe(visitor, new_table.links[0], endpoint=receiver.url("/push"), p256dh=encode_base64url(browser.public))
    settings, (one,) = open_settings(site, find_person(site, new_table, 0)), list_channels(site)
    assert "Send a test" in visitor.get(settings)
    receiver.mood = "201"
    page = visitor.post(f"{settings}/channels/test", channel=one.id).text
    assert "The test reached “Firefox, Linux”." in page
    shown = json.loads(browser.decrypt(receiver.requests[-1].body))["notification"]
    assert shown["body"] == "This is a test. Your games will be announced here."
    receiver.mood = "500"
    assert "It answered 500" in visitor.post(f"{settings}/channels/test", channel=one.id).text
    receiver.mood = "410"
    assert "It answered 410" in visitor.post(f"{settings}/channels/test", channel=one.id).text
    assert list_channels(site) == []
    assert visitor.post(f"{settings}/channels/test", channel=one.id).status_code == 404


def test_a_new_link_to_the_settings_ends_what_the_owner_does_not_keep(site: Site, new_table: OpenedTable) -> None:
    person = find_person(site, new_table, 0)
    settings = open_settings(site, person)
    owner, thief = site.new_visitor(), site.new_visitor()
    subscribe(owner, new_table.links[0])
    site.app.client = receivers.client()
    hook = {"kind": "ntfy", "address": "https://ntfy.example.org/stolen", "label": "Mine"}
    assert thief.post(f"{settings}/connections/receivers", **hook).status_code == 303
    thief.post(f"{settings}/connections/feeds")
    calendar = site.app.links.make_feeds_token(person, 1)
    thief.get(f"/calendar/{calendar}.ics")
    owner.post(f"/enter/{site.app.links.make_sign_in_token(person, 0, site.time)}")
    page = owner.get("/my")
    assert "Mine" in page
    assert "Calendar and feed" in page
    device = next(one for one in list_channels(site) if one.kind == "push")
    owner.post("/my/settings-link", kept=str(device.id))
    assert [one.kind for one in list_channels(site)] == ["push"]
    assert thief.client.get(f"/calendar/{calendar}.ics").status_code == 404
    assert thief.post(f"{settings}/connections/receivers", **hook).status_code == 404
