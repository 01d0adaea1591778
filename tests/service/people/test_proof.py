"""An address is not its owner: a stranger who types another person's address acts at one table alone."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from engine import table as engine_table
from service.app import App
from service.settings import DAY_S
from service.store.schema import letters, people, seats, tables, vacations
from service.tables import access, submitting
from tests import apps
from tests.servers import Sink
from tests.service.people.test_trust import ANNA, BERT, RELAY, VICTIM, add_person
from tests.sites import Site, Visitor
from workers.outgoing import post

FEBRUARY = "2027-02-01 2027-02-14"


@pytest.fixture
def strict(tmp_path: Path, smtp_sink: Sink) -> Iterator[Site]:
    """A server whose letters leave, and that asks for proof."""
    site = Site(tmp_path, **RELAY)
    site.app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    yield site
    site.app.close()


def sign_in(site: Site, person: int) -> Visitor:
    visitor = site.new_visitor()
    visitor.post(f"/enter/{site.app.links.make_sign_in_token(person, 0, site.time)}")
    site.time += 1
    return visitor


def open_for_anybody(site: Site, free: int = 1) -> str:
    """Open a table of Mallory, who is signed in, with free seats; return the address to join it."""
    mallory = {"name": "Mallory", "address": "mallory@example.org", "pace": "3", "players": "free seat\n" * free}
    with site.app.store.reading() as db:
        row = db.execute(select(people.c.id).where(people.c.address == "mallory@example.org")).scalar_one_or_none()
    visitor = sign_in(site, row or add_person(site.app, apps.Invitee("Mallory", "mallory@example.org")))
    link = visitor.post("/new/kaiser", **mallory).location.rsplit("/", 1)[1]
    table = access.find(site.app, link).table
    return f"/join/{site.app.links.make_join_token(table)}"


def join(site: Site, address: str = VICTIM.address, path: str = "") -> str:
    """Join a table under an address, as a stranger; return the seat's link."""
    response = site.new_visitor().post(path or open_for_anybody(site), name="Vera", address=address)
    assert response.status_code == 303, response.text
    return str(response.location.rsplit("/", 1)[1])


def submit(site: Site, link: str, text: str) -> Any:
    submitted = submitting.submit(site.app, access.find(site.app, link), text)
    return submitting.wait_for_verdict(site.app, submitted)


def load(app: App, column: Any) -> list[Any]:
    with app.store.reading() as db:
        return list(db.execute(select(column)).scalars())


def send_all(site: Site, smtp_sink: Sink, to: str = "vera") -> list[str]:
    """Send what is due; return the subjects of the letters to this person."""
    site.time += 3_600
    post.run()
    return [str(one["Subject"]) for one in smtp_sink.letters if to in str(one["To"])]


def confirm(site: Site, person: int, table: str, answer: str) -> str:
    """Answer for the newest seat at this table that has the person's address."""
    token = site.app.links.make_confirm_token(person, VICTIM.address)
    seat = max(one.seat for one in apps.load_table(site.app, table).seats if one.person == person)
    return site.new_visitor().post(f"/confirm/{token}", table=table, seat=str(seat), answer=answer).text


def test_a_typed_address_sends_its_owner_on_no_vacation(strict: Site) -> None:
    add_person(strict.app, VICTIM)
    verdict = submit(strict, join(strict), f"vacation {FEBRUARY}")
    assert not verdict.accepted
    assert "confirm your address first" in str(verdict.why)
    assert load(strict.app, vacations.c.first) == []


def test_nor_does_it_end_a_vacation(strict: Site) -> None:
    victim = add_person(strict.app, VICTIM)
    first, last = FEBRUARY.split()
    with strict.app.store.writing() as db:
        db.execute(vacations.insert(), {"person": victim, "first": first, "last": last})
    assert not submit(strict, join(strict), "home").accepted
    assert load(strict.app, vacations.c.last) == [last]


def test_a_strangers_table_shows_neither_vacations_nor_quiet_hours(strict: Site) -> None:
    victim = add_person(strict.app, VICTIM)
    first, last = FEBRUARY.split()
    rests = '{"zone":"Asia/Tokyo","quiet":[1,23],"weekends":true}'
    with strict.app.store.writing() as db:
        db.execute(vacations.insert(), {"person": victim, "first": first, "last": last})
        db.execute(update(people).where(people.c.id == victim).values(calendar=rests))
    snapshot = apps.load_table(strict.app, access.find(strict.app, join(strict)).table)
    assert snapshot.position.seats[1].vacations == ()
    assert (snapshot.seats[1].calendar, snapshot.seats[1].player_letter_settings) == (None, None)


def test_a_confirmed_seat_gets_its_holders_vacations(strict: Site) -> None:
    victim = add_person(strict.app, VICTIM)
    first, last = FEBRUARY.split()
    with strict.app.store.writing() as db:
        db.execute(vacations.insert(), {"person": victim, "first": first, "last": last})
    table = access.find(strict.app, join(strict)).table
    confirm(strict, victim, table, "yes")
    assert apps.load_table(strict.app, table).position.seats[1].vacations == ((first, last),)


def test_a_typed_address_chooses_no_language_for_its_owner(strict: Site) -> None:
    add_person(strict.app, VICTIM)
    link = join(strict)
    stranger = strict.new_visitor()
    stranger.post("/language", language="fr", back=f"/t/{link}")
    stranger.post(f"/t/{link}/sit", nonce="word")
    assert set(load(strict.app, people.c.language)) == {"en"}


def test_an_owner_gets_one_letter_however_often_a_stranger_asks_and_talks(strict: Site, smtp_sink: Sink) -> None:
    add_person(strict.app, VICTIM)
    path = open_for_anybody(strict)
    link = join(strict, path=path)
    table = access.find(strict.app, link).table
    organiser = access.make_seat_link(strict.app, apps.load_table(strict.app, table).seats[0])
    for number in range(10):
        strict.new_visitor().post(f"/t/{organiser}/talk", text=f"Buy at evil {number}")
        submit(strict, organiser, "pause")
        submit(strict, link, "no")
        strict.time += 60
    assert send_all(strict, smtp_sink) == ["Please confirm your address"]
    assert "evil" not in str(smtp_sink.letters[-1])


def test_a_rematch_needs_the_proof_of_this_very_seat(strict: Site) -> None:
    add_person(strict.app, VICTIM)
    response = strict.new_visitor().post("/play/kaiser", name="Vera", address=VICTIM.address, bots="1")
    link = response.location.rsplit("/", 1)[1]
    assert submit(strict, link, "resign").accepted
    assert strict.new_visitor().post(f"/t/{link}/again").status_code == 422
    assert len(load(strict.app, tables.c.id)) == 1


def test_a_page_looks_the_same_for_a_known_and_an_unknown_address(strict: Site) -> None:
    add_person(strict.app, VICTIM)
    pages = []
    for address in (VICTIM.address, "nora@example.org"):
        link = join(strict, address, open_for_anybody(strict, 2))
        page = strict.new_visitor().get(f"/t/{link}")
        assert f"We wrote to {address}" in page
        pages.append(
            re.sub(r'content="[^"]*"|value="[^"]*"|[0-9a-f]{12,}|[0-9a-z.]{20,}', "", page.replace(address, ""))
        )
    assert pages[0] == pages[1]


def test_a_game_that_a_stranger_joined_is_in_no_record_and_no_list(strict: Site) -> None:
    victim = add_person(strict.app, VICTIM)
    link = join(strict)
    assert submit(strict, link, "resign").accepted
    page = sign_in(strict, victim).get("/my")
    assert "Your results" not in page
    assert f"/t/{link}" not in page


def test_one_yes_is_for_one_table(strict: Site) -> None:
    victim = add_person(strict.app, VICTIM)
    rows = {"name": "Vera", "address": VICTIM.address, "players": BERT.address}
    links = [strict.new_visitor().post("/new/kaiser", **rows).location.rsplit("/", 1)[1] for _ in range(2)]
    first, second = (access.find(strict.app, link).table for link in links)
    confirm(strict, victim, first, "yes")
    assert {table: apps.load_table(strict.app, table).row.awaits_confirmation for table in (first, second)} == {
        first: False,
        second: True,
    }
    strict.app.wakeups.wake("post")
    sign_in(strict, victim)
    assert apps.load_table(strict.app, second).row.awaits_confirmation


def test_a_no_ends_the_letters_of_that_table_for_good(strict: Site, smtp_sink: Sink) -> None:
    victim = add_person(strict.app, VICTIM)
    rows = {"name": "Vera", "address": VICTIM.address, "players": BERT.address}
    opened = access.find(strict.app, strict.new_visitor().post("/new/kaiser", **rows).location.rsplit("/", 1)[1]).table
    joined = access.find(strict.app, join(strict)).table
    for table in (opened, joined):
        assert "You get no letters from that table" in confirm(strict, victim, table, "no")
        token = strict.app.links.make_confirm_token(victim, VICTIM.address)
        for seat in ("0", "1"):
            form = {"table": table, "seat": seat, "answer": "yes"}
            assert strict.new_visitor().post(f"/confirm/{token}", **form).status_code == 404
    assert victim not in load(strict.app, seats.c.person)
    assert load(strict.app, letters.c.kind).count("invitation") == 0
    assert send_all(strict, smtp_sink) == []
    assert send_all(strict, smtp_sink, "bert") == []


def test_a_no_about_a_seat_that_a_guest_took_leaves_the_organiser_of_the_table_alone(strict: Site) -> None:
    victim = add_person(strict.app, VICTIM)
    opened = strict.new_visitor().post("/new/kaiser", name="Anna", address=ANNA.address, players="free seat")
    link = opened.location.rsplit("/", 1)[1]
    place = access.find(strict.app, link)
    join(strict, path=f"/join/{strict.app.links.make_join_token(place.table)}")
    assert apps.load_table(strict.app, place.table).row.awaits_confirmation
    confirm(strict, victim, place.table, "no")
    anna, guest = apps.load_table(strict.app, place.table).seats
    assert (anna.person is not None, guest.person) == (True, None)
    token = strict.app.links.make_confirm_token(anna.person or 0, ANNA.address)
    strict.new_visitor().post(f"/confirm/{token}", table=place.table, seat="0", answer="yes")
    assert not apps.load_table(strict.app, place.table).row.awaits_confirmation


def test_without_an_address_there_is_no_vacation(strict: Site) -> None:
    verdict = submit(strict, join(strict, address=""), f"vacation {FEBRUARY}")
    assert not verdict.accepted
    assert "add your e-mail address" in str(verdict.why)


def test_the_owner_sees_who_opened_each_table_and_when(strict: Site, smtp_sink: Sink) -> None:
    victim = add_person(strict.app, VICTIM)
    join(strict)
    strict.new_visitor().post("/play/kaiser", name="Vera", address=VICTIM.address, bots="1")
    send_all(strict, smtp_sink)
    page = sign_in(strict, victim).get("/my")
    for text in (
        page,
        *(str(one.get_body(("plain",)).get_content()) for one in smtp_sink.letters if "vera" in str(one["To"])),
    ):
        flat = " ".join(text.replace("opened", "Opened").split())
        assert "Opened by Mallory" in flat
        assert "Opened with your address" in flat
        assert "15 Jan 2027" in flat or "2027-01-15" in flat
    assert page.count('value="yes"') == page.count('value="no"') == 2


def test_who_was_invited_by_letter_is_proven_by_sitting_down(strict: Site, smtp_sink: Sink) -> None:
    anna = sign_in(strict, add_person(strict.app))
    rows = {"name": "Anna", "address": ANNA.address, "players": f"Vera <{VICTIM.address}>"}
    table = access.find(strict.app, anna.post("/new/kaiser", **rows).location.rsplit("/", 1)[1]).table
    assert len(send_all(strict, smtp_sink)) == 1
    link = access.make_seat_link(strict.app, apps.load_table(strict.app, table).seats[1])
    guest = strict.new_visitor()
    guest.get(f"/t/{link}")
    assert not apps.load_table(strict.app, table).seats[1].proven
    guest.post(f"/t/{link}/sit", nonce="word")
    assert apps.load_table(strict.app, table).seats[1].proven
    assert "We wrote to" not in guest.get(f"/t/{link}")
    assert submit(strict, link, f"vacation {FEBRUARY}").accepted


def test_a_stranger_does_not_learn_whether_an_address_plays_at_this_table(strict: Site) -> None:
    victim = add_person(strict.app, VICTIM)
    visitor = sign_in(strict, victim)
    answers, pages = list[tuple[int, str]](), list[str]()
    for name, address in (("Nora", "nora@example.org"), ("Wanda", VICTIM.address)):
        path = open_for_anybody(strict, 3)
        own = visitor.post(path, name="Vera", address=VICTIM.address).location.rsplit("/", 1)[1]
        response = strict.new_visitor().post(path, name=name, address=address)
        answers.append((response.status_code, re.sub(r"[0-9a-z]{20,}", "", response.text)))
        page = strict.new_visitor().get(response.location).replace(address, "").replace(name, "")
        pages.append(page[page.index("We wrote to") :][:200])
    assert answers[0] == answers[1]
    assert pages[0] == pages[1]
    sitting = apps.load_table(strict.app, access.find(strict.app, own).table).seats
    assert [seat.proven for seat in sitting if seat.person == victim] == [True, False]


def test_an_owner_who_plays_already_is_told_so_and_has_two_seats_only_by_a_yes(strict: Site, smtp_sink: Sink) -> None:
    path = open_for_anybody(strict, 3)
    victim = add_person(strict.app, VICTIM)
    visitor = sign_in(strict, victim)
    own = visitor.post(path, name="Vera", address=VICTIM.address).location.rsplit("/", 1)[1]
    assert "You have a seat at this table already" in visitor.post(path, name="Second", address=VICTIM.address).text
    table = access.find(strict.app, own).table
    for name in ("Wanda", "Willa"):
        strict.new_visitor().post(path, name=name, address=VICTIM.address)
    send_all(strict, smtp_sink)
    letter = next(one for one in smtp_sink.letters if one["Subject"] == "Please confirm your address")
    assert "You already have a seat at this table" in str(letter.get_body(("plain",)))
    page = visitor.get("/my")
    assert page.count("You already play at this table") == 2
    proven = [(seat.name, seat.proven) for seat in apps.load_table(strict.app, table).seats if seat.person == victim]
    assert proven == [("Vera", True), ("Wanda", False), ("Willa", False)]
    assert "You get no letters" in confirm(strict, victim, table, "no")  # the newest: Willa's
    assert visitor.post("/my/claim", table=table, seat="2", answer="yes").status_code == 303
    proven = [(seat.name, seat.proven) for seat in apps.load_table(strict.app, table).seats if seat.person == victim]
    assert proven == [("Vera", True), ("Wanda", True)]


def test_seats_that_strangers_took_with_an_address_keep_its_owner_out_of_no_table(strict: Site) -> None:
    path = open_for_anybody(strict, 3)
    victim = add_person(strict.app, VICTIM)
    join(strict, path=path)
    response = sign_in(strict, victim).post(path, name="Real Vera", address=VICTIM.address)
    assert response.status_code == 303


def test_the_link_that_confirms_an_address_expires(strict: Site) -> None:
    person = add_person(strict.app, VICTIM)
    join(strict)
    path = f"/confirm/{strict.app.links.make_confirm_token(person, VICTIM.address)}"
    strict.time += 29 * DAY_S
    strict.new_visitor().get(path)
    strict.time += 2 * DAY_S
    assert "ask for a new letter" in strict.new_visitor().get(path, 404)
    visitor = sign_in(strict, person)
    assert 'value="yes"' in visitor.get("/my")


def test_who_is_signed_in_joins_without_a_letter_to_confirm(strict: Site, smtp_sink: Sink) -> None:
    victim = sign_in(strict, add_person(strict.app, VICTIM))
    link = victim.post(open_for_anybody(strict), name="Vera", address=VICTIM.address).location.rsplit("/", 1)[1]
    place = access.find(strict.app, link)
    assert apps.load_table(strict.app, place.table).seats[1].proven
    assert "Please confirm your address" not in send_all(strict, smtp_sink)


def test_an_address_that_is_added_later_gets_letters_when_it_is_proven(strict: Site, smtp_sink: Sink) -> None:
    person, visitor = add_person(strict.app, VICTIM), strict.new_visitor()
    path = visitor.post("/play/kaiser", name="Vera", bots="1").location
    place = access.find(strict.app, path.rsplit("/", 1)[1])
    assert visitor.post(f"{path}/letters", address="vera").status_code == 422
    assert visitor.post(f"{path}/letters", address=VICTIM.address).status_code == 303
    assert f"We wrote to {VICTIM.address}" in visitor.get(path)
    seat = apps.load_table(strict.app, place.table).seats[0]
    assert (seat.person, seat.proven) == (person, False)
    assert send_all(strict, smtp_sink) == ["Please confirm your address"]
    confirm(strict, person, place.table, "yes")
    assert apps.load_table(strict.app, place.table).seats[0].proven
    assert visitor.post(f"{path}/letters", address="other@example.org").status_code == 422


def test_a_guest_joins_without_an_address_adds_one_later_and_corrects_it(strict: Site, smtp_sink: Sink) -> None:
    visitor, person = strict.new_visitor(), add_person(strict.app, VICTIM)
    path = visitor.post(open_for_anybody(strict), name="Vera", address=" ").location
    assert "Get letters when it is your turn" in visitor.get(path)
    let_organiser_move(strict, path.rsplit("/", 1)[1])
    for address in ("vear@example.org", VICTIM.address):
        assert visitor.post(f"{path}/letters", address=address).status_code == 303
    assert send_all(strict, smtp_sink, "vear") == []
    assert send_all(strict, smtp_sink) == ["Please confirm your address"]
    table = access.find(strict.app, path.rsplit("/", 1)[1]).table
    confirm(strict, person, table, "yes")
    assert apps.load_table(strict.app, table).seats[1].proven
    assert len(send_all(strict, smtp_sink)) == 2
    body = smtp_sink.letters[-1].get_body(("plain",))
    assert body
    assert "Vera, it is your turn" in body.get_content()


def let_organiser_move(site: Site, guest: str) -> None:
    """Let the organiser move if it is not yet the turn of the guest with this link."""
    snapshot = apps.load_table(site.app, access.find(site.app, guest).table)
    if 0 in engine_table.find_seats_to_move(snapshot.game, snapshot.position):
        move = next(engine_table.menu(snapshot.game, snapshot.position, 0)[0].iter_moves())
        assert submit(site, access.make_seat_link(site.app, snapshot.seats[0]), str(move)).accepted
