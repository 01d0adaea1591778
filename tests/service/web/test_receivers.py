"""Webhooks and chats of a player: added, tried and removed in the settings, and sent the news of the games."""

import re

import pytest
from sqlalchemy import select

from service.accounts import leaving
from service.internet.safe_http import SafeClient
from service.notify import channels
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store.channel_queries import ChannelRow
from service.store.schema import channels as channel_table
from service.store.schema import letters, people, seats
from service.tables.opening import OpenedTable
from tests import apps, receivers
from tests.receivers import Receiver
from tests.sites import Site, Visitor
from workers.outgoing import channel_deliveries, post


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    return site.start_table(pace=3 * DAY_S)


def find_mover(site: Site, new_table: OpenedTable) -> ProvenPerson:
    with site.app.store.reading() as db:
        own = select(seats.c.person).where(seats.c.table == new_table.table, seats.c.open_since.is_not(None))
        return ProvenPerson(db.execute(own).scalar_one())


def make_path(site: Site, person: ProvenPerson) -> str:
    return f"/wishes/{site.app.links.make_preferences_token(person.id)}/connections"


def list_channels(site: Site, person: ProvenPerson) -> list[ChannelRow]:
    return apps.load(site.app, lambda _, db: channels.list_own(db, person))


def add(site: Site, visitor: Visitor, person: ProvenPerson, receiver: Receiver, kind: str = "webhook") -> ChannelRow:
    response = visitor.post(f"{make_path(site, person)}/receivers", kind=kind, address=receiver.url(), label="My bot")
    assert response.status_code == 303, response.text
    return list_channels(site, person)[-1]


def send_all(site: Site) -> None:
    while channel_deliveries.send_batch(site.app):
        pass


def test_a_turn_reaches_the_webhook_of_its_player_and_has_no_link_that_acts(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    person = find_mover(site, new_table)
    add(site, visitor, person, receiver)
    send_all(site)
    turns = [request.json for request in receiver.requests if request.json["type"] == "turn"]
    assert [turn["data"]["table"] for turn in turns] == [new_table.table]
    assert turns[0]["data"]["url"] == f"{site.app.settings.address}/my/table/{new_table.table}"
    assert turns[0]["data"]["deadline"]
    bodies = b"".join(request.body for request in receiver.requests)
    assert not [link for link in new_table.links if link.encode() in bodies]
    assert b"@example.org" not in bodies


def test_a_message_without_an_answer_is_sent_again_with_the_same_id(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    add(site, visitor, find_mover(site, new_table), receiver)
    receiver.mood = "500"
    send_all(site)
    assert list_channels(site, find_mover(site, new_table))[0].failures > 0
    receiver.mood = "200"
    site.time += 60
    send_all(site)
    ids = [request.headers["Webhook-Id"] for request in receiver.requests]
    assert len(ids) == 2 * len(set(ids))
    assert list_channels(site, find_mover(site, new_table))[0].failures == 0


def test_a_receiver_that_is_gone_is_switched_off_and_its_owner_gets_a_letter(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    person = find_mover(site, new_table)
    channel = add(site, visitor, person, receiver)
    receiver.mood = "410"
    send_all(site)
    assert list_channels(site, person)[0].disabled_at == site.time
    with site.app.store.reading() as db:
        owed = db.execute(select(letters.c.kind).where(letters.c.person == person.id)).scalars().all()
    assert f"channel/{channel.id}/{site.time}" in owed
    assert "switched off" in visitor.get(make_path(site, person))
    post.run()
    site.time += 60
    settings = make_path(site, person).rpartition("/")[0]
    assert "It answered 410" in visitor.post(f"{settings}/channels/test", channel=channel.id).text
    with site.app.store.reading() as db:  # its owner knows that it is off, and gets no second letter
        assert db.execute(select(letters.c.kind).where(letters.c.person == person.id)).scalars().all() == owed
    receiver.mood = "200"
    visitor.post(f"{make_path(site, person)}/receivers/{channel.id}/test")  # after a test that works, it is on again
    assert (list_channels(site, person)[0].disabled_at, list_channels(site, person)[0].error) == (None, "")


def test_the_test_button_shows_the_answer(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    person = find_mover(site, new_table)
    path = f"{make_path(site, person)}/receivers/{add(site, visitor, person, receiver, 'slack').id}/test"
    receiver.answer = b"<b>fine</b>"
    page = visitor.post(path).text
    assert "The test reached" in page
    assert "&lt;b&gt;fine&lt;/b&gt;" in page
    assert "This is a test." in receiver.requests[-1].json["text"]
    receiver.mood, receiver.answer = "403", b"no_permission"
    page = visitor.post(path).text
    assert "It answered 403" in page
    assert "no_permission" in page
    site.app.client = receivers.client(resolve=lambda _: ["10.0.0.1"], is_allowed=lambda _: False)
    assert "localhost is not on the public Internet" in visitor.post(path).text


def test_a_private_address_is_refused_when_it_is_added(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    site.app.client = SafeClient(resolve=lambda _: ["192.168.0.7"])
    person = find_mover(site, new_table)
    for address in ("https://router.example.org/", "https://127.0.0.1/", "http://example.org/", "https://[::1]:6379/"):
        response = visitor.post(f"{make_path(site, person)}/receivers", kind="webhook", address=address)
        assert response.status_code == 422
        assert address in response.text  # what was typed stays in the form
    assert list_channels(site, person) == []


def test_no_one_else_can_try_or_remove_a_receiver(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    person = find_mover(site, new_table)
    channel = add(site, visitor, person, receiver)
    with site.app.store.reading() as db:
        other = ProvenPerson(db.execute(select(people.c.id).where(people.c.id != person.id)).scalars().first())
    for action in ("test", "remove"):
        assert visitor.post(f"{make_path(site, other)}/receivers/{channel.id}/{action}").status_code == 404
    assert receiver.requests == []
    assert visitor.post(f"{make_path(site, person)}/receivers/{channel.id}/remove").status_code == 303
    assert list_channels(site, person) == []


def test_the_secret_of_a_standard_webhook_is_shown_and_the_token_of_a_chat_is_not(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    person = find_mover(site, new_table)
    secret = add(site, visitor, person, receiver).secret
    visitor.post(f"{make_path(site, person)}/receivers", kind="gotify", address=receiver.url(""), token="AbCdEf")
    page = visitor.get(make_path(site, person))
    assert re.search(r"whsec_[\w+/=]{32}", page)
    assert secret in page
    assert "AbCdEf" not in page


def test_receivers_are_in_a_players_download_and_are_erased_with_the_player(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    person = find_mover(site, new_table)
    add(site, visitor, person, receiver)
    assert leaving.export_person(site.app, person).channels[0].address == receiver.url()
    with site.app.store.reading() as db:
        address = db.execute(select(people.c.address).where(people.c.id == person.id)).scalar_one()
    leaving.delete_person(site.app, person, address)
    with site.app.store.reading() as db:
        assert db.execute(select(channel_table.c.id)).all() == []
