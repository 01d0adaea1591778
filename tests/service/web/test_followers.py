"""Chats that follow a table: opened by the organiser, in order, at least once, and with no more than spectators see."""

import pytest
from sqlalchemy import select

from service.accounts import addresses, leaving
from service.notify import followers
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store.rows import FollowerRow
from service.store.schema import followers as follower_table
from service.store.schema import letters, people, seats
from service.tables import access, seat_commands
from service.tables.opening import Invitee, OpenedTable
from tests import apps
from tests.receivers import Receiver
from tests.sites import Site, Visitor
from workers import clock
from workers.outgoing import follower_news, personal_letters
from workers.outgoing.letter import LetterRequest


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    started = site.start_table()
    with access.writing_at(site.app, started.links[0]) as (db, place):
        addresses.prove_by_invitation(site.app, db, place)
    with site.app.store.writing() as db:
        db.execute(seats.update().values(proven=True))
    return started


def follow(visitor: Visitor, new_table: OpenedTable, receiver: Receiver, kind: str = "discord", **others: str) -> None:
    response = visitor.post(f"/t/{new_table.links[0]}/followers", kind=kind, address=receiver.url(), **others)
    assert response.status_code == 303, response.text


def load_follower(site: Site) -> FollowerRow:
    (follower,) = apps.load(site.app, lambda _, db: followers.list_followers(db))
    return follower


def send_all(site: Site) -> None:
    while follower_news.send_batch(site.app):
        pass


def list_texts(receiver: Receiver) -> list[str]:
    return [request.json["embeds"][0]["description"] for request in receiver.requests]


def test_a_chat_gets_each_move_once_and_the_link_for_spectators(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver)
    send_all(site)
    assert receiver.requests == []  # it follows from now on
    names = []
    for _ in range(2):
        names.append(site.load(new_table).names[site.find_mover(new_table)])
        site.submit(new_table, site.list_moves(new_table)[0])
        send_all(site)
    texts = list_texts(receiver)
    assert len(texts) == 2
    assert all(name in text for name, text in zip(names, texts, strict=True))
    bodies = b"".join(request.body for request in receiver.requests).decode()
    assert f"/t/{site.app.links.make_watch_token(new_table.table)}" in bodies
    assert not [link for link in new_table.links if link in bodies]
    assert "board.png" not in bodies


def test_the_picture_of_the_board_is_sent_on_request_and_can_be_loaded(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver, pictures="on")
    site.submit(new_table, site.list_moves(new_table)[0])
    send_all(site)
    url = receiver.requests[0].json["embeds"][0]["image"]["url"]
    response = visitor.client.get(url.removeprefix(site.app.settings.address))
    assert response.content_type == "image/png"


def test_news_without_an_answer_is_sent_again_as_the_same_message_and_loses_nothing(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver, kind="webhook")
    receiver.mood = "503"
    site.submit(new_table, site.list_moves(new_table)[0])
    send_all(site)
    site.submit(new_table, site.list_moves(new_table)[0])
    site.time += 60
    receiver.mood = "200"
    send_all(site)
    first, again, later = receiver.requests
    assert first.headers["Webhook-Id"] == again.headers["Webhook-Id"] != later.headers["Webhook-Id"]
    assert first.body == again.body
    assert load_follower(site).next_seq == site.load(new_table).row.length
    assert load_follower(site).failures == 0


@pytest.mark.parametrize(
    ("answer", "headers"),
    [(b"no\0 such\r room", {}), (b"", {"Retry-After": f"1 Jan {'9' * 40} 00:00:00 GMT"})],
    ids=["a NUL, which PostgreSQL does not store", "a moment that no clock has"],
)
def test_a_strange_answer_counts_as_a_failure_and_holds_up_no_other_chat(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver, answer: bytes, headers: dict[str, str]
) -> None:
    follow(visitor, new_table, receiver)
    receiver.mood, receiver.answer, receiver.headers = "503", answer, headers
    site.submit(new_table, site.list_moves(new_table)[0])
    send_all(site)
    follower = load_follower(site)
    assert follower.failures == 1
    assert follower.error.isprintable()
    assert visitor.post(f"/t/{new_table.links[0]}/followers/{follower.id}/test").status_code == 200


def test_a_worker_that_dies_with_news_in_hand_leaves_it_to_the_next(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver)
    site.submit(new_table, site.list_moves(new_table)[0])
    with site.app.store.writing() as db:
        assert followers.lease(db, site.time, 120)
    send_all(site)
    assert receiver.requests == []  # the lease is another's
    site.time += 121
    assert "followers" in apps.load(site.app, clock.find_due).queues
    send_all(site)
    assert len(receiver.requests) == 1


def test_a_move_wakes_the_worker_that_sends_the_news_only_if_a_chat_follows(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    woken, wake = list[str](), site.app.wakeups.wake

    def note(queue: str) -> bool:
        woken.append(queue)
        return wake(queue)

    site.app.wakeups.wake = note
    site.submit(new_table, site.list_moves(new_table)[0])
    assert "followers" not in woken
    follow(visitor, new_table, receiver)
    site.submit(new_table, site.list_moves(new_table)[0])
    assert "followers" in woken


def test_a_new_link_of_the_organiser_ends_the_chats_that_the_old_one_added(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver)
    organiser, other = site.load(new_table).seats
    apps.renew_link(site.app, other.person, new_table.table, other.seat)
    assert load_follower(site)
    apps.renew_link(site.app, organiser.person, new_table.table, organiser.seat)
    assert apps.load(site.app, lambda _, db: followers.list_followers(db)) == []


def test_a_chat_that_is_gone_is_switched_off_and_the_organiser_gets_a_letter(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver)
    receiver.mood = "404"  # a webhook of Discord that was deleted
    site.submit(new_table, site.list_moves(new_table)[0])
    send_all(site)
    follower = load_follower(site)
    assert follower.disabled_at == site.time
    kind = f"follower/{follower.id}/{site.time}"
    with site.app.store.reading() as db:
        assert kind in db.execute(select(letters.c.kind).where(letters.c.person == follower.person)).scalars().all()
    request = LetterRequest("", 0, 0, kind, "anna@example.org", "Anna", person=follower.person)
    letter = personal_letters.write(site.app, request)
    assert letter is not None
    assert letter["Subject"] == "“Discord” is switched off"
    assert "switched off" in visitor.get(f"/t/{new_table.links[0]}/followers")
    receiver.mood = "200"
    visitor.post(f"/t/{new_table.links[0]}/followers/{follower.id}/test")  # after a test that works, it is on again
    assert load_follower(site).disabled_at is None
    send_all(site)
    assert load_follower(site).next_seq == site.load(new_table).row.length


def test_only_the_organiser_of_a_table_with_spectators_opens_it_to_a_chat(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver)
    for path in ("", f"/{load_follower(site).id}/test", f"/{load_follower(site).id}/remove"):
        assert visitor.post(f"/t/{new_table.links[1]}/followers{path}").status_code == 422
    apps.change(site.app, seat_commands.allow_spectators, access.find(site.app, new_table.links[0]), False)
    site.submit(new_table, site.list_moves(new_table)[0])
    send_all(site)
    assert receiver.requests == []
    assert visitor.post(f"/t/{new_table.links[0]}/followers").status_code == 422


def test_the_organiser_finds_the_chats_on_the_page_of_a_table_whose_first_seat_is_a_bots(
    site: Site, visitor: Visitor
) -> None:
    guests = [Invitee("Robin"), Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    for link in opened.links[1:]:
        visitor.submit(link, "sit word")
    assert f"/t/{opened.links[1]}/followers" in visitor.get(f"/t/{opened.links[1]}")
    assert "/followers" not in visitor.get(f"/t/{opened.links[2]}")


def test_a_chat_is_tried_and_removed(site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver) -> None:
    follow(visitor, new_table, receiver)
    path = f"/t/{new_table.links[0]}/followers/{load_follower(site).id}"
    assert "The test reached" in visitor.post(f"{path}/test").text
    assert visitor.post(f"{path}/remove").status_code == 303
    assert apps.load(site.app, lambda _, db: followers.list_followers(db)) == []


def test_a_chat_learns_no_more_than_spectators_of_a_game_with_hidden_hands(
    site: Site, visitor: Visitor, receiver: Receiver
) -> None:
    new_table = site.start_table("Anna", "Bert", game="turfmaster")
    with site.app.store.writing() as db:
        db.execute(seats.update().values(proven=True))
    follow(visitor, new_table, receiver)
    site.submit(new_table, site.list_moves(new_table)[0])
    send_all(site)
    watched = visitor.get(f"/t/{site.app.links.make_watch_token(new_table.table)}/feed.atom?in=en")
    assert all(text.replace("\\", "") in watched.replace("&amp;", "&") for text in list_texts(receiver))


def test_followers_are_in_the_organisers_download_and_are_erased_with_the_organiser(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver
) -> None:
    follow(visitor, new_table, receiver)
    person = ProvenPerson(load_follower(site).person)
    assert leaving.export_person(site.app, person).followers[0].address == receiver.url()
    with site.app.store.reading() as db:
        address = db.execute(select(people.c.address).where(people.c.id == person.id)).scalar_one()
    leaving.delete_person(site.app, person, address)
    with site.app.store.reading() as db:
        assert db.execute(select(follower_table.c.id)).all() == []


@pytest.mark.parametrize("day", range(4))
def test_failures_of_days_switch_a_chat_off_and_failures_of_hours_do_not(
    site: Site, visitor: Visitor, new_table: OpenedTable, receiver: Receiver, day: int
) -> None:
    follow(visitor, new_table, receiver)
    receiver.mood = "500"
    site.submit(new_table, site.list_moves(new_table)[0])
    for _ in range(12):
        send_all(site)
        site.time += day * DAY_S // 10 + 1
    assert (load_follower(site).disabled_at is not None) == (day == 3)
