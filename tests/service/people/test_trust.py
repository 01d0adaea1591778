"""A stranger can do almost nothing with the address of another person."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import event, insert, select, update

from engine.refusal import Refused
from service.accounts import addresses, leaving, preferences, signing_in
from service.app import App
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store.schema import letters, people, seats
from service.tables import access, joining, submitting
from service.tables.access import Place, Unknown
from service.tables.opening import Invitee, OpenedTable
from service.timing import HOUR_S, Clock
from tests import apps
from tests.servers import Sink
from tests.sites import Site
from workers import clock, referee
from workers.outgoing import personal_letters, post
from workers.outgoing.letter import LetterRequest

ANNA = Invitee("Anna", "anna@example.org")
BERT = Invitee("Bert", "bert@example.org")
VICTIM = Invitee("Vera", "vera@example.org")
ANYBODY = Invitee("", who="anybody")
RELAY = {"smtp": "smtp://127.0.0.1:1"}


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Site]:
    """A site whose letters leave."""
    site = Site(tmp_path, **RELAY)
    yield site
    site.app.close()


def add_person(app: App, guest: Invitee = ANNA, *, proven: bool = True) -> int:
    """Store a person and return the number of its row."""
    row = {"address": guest.address, "name": guest.name, "since": 0, "confirmed_at": 1 if proven else None}
    with app.store.writing() as connection:
        return int(connection.execute(insert(people).returning(people.c.id), row).scalar_one())


def person(app: App, guest: Invitee = VICTIM) -> int:
    with app.store.reading() as connection:
        return int(connection.execute(select(people.c.id).where(people.c.address == guest.address)).scalar_one())


def proven(app: App, guest: Invitee = VICTIM) -> bool:
    with app.store.reading() as connection:
        query = select(seats.c.proven).where(seats.c.person == person(app, guest))
        return any(connection.execute(query).scalars())


def send_due_letters(app: App, guest: Invitee = VICTIM) -> int:
    """Send all letters that are due to this person now, and return how many there were."""
    with app.store.writing() as connection:
        own = select(seats.c.seat).where(
            seats.c.table == letters.c.table, seats.c.seat == letters.c.seat, seats.c.person == person(app, guest)
        )
        due = update(letters).where(letters.c.sent_at.is_(None), letters.c.due_at <= app.now())
        leaving = due.where((letters.c.person == person(app, guest)) | own.exists())
        return int(connection.execute(leaving.values(sent_at=app.now(), outcome="sent")).rowcount)


def offer_seat(site: Site) -> tuple[OpenedTable, str]:
    """A table of Anna and Bert where Anna's seat is offered."""
    add_person(site.app)
    opened = site.open_table("Anna", "Bert", pace=Clock(HOUR_S, offer_after=1))
    for seat in site.load(opened).seats:
        submitting.submit(site.app, Place(opened.table, seat.seat, ""), "sit word", "sit")
    site.time += 2 * HOUR_S
    clock.tick(site.app)
    snapshot = site.load(opened)
    free = next(seat for seat in snapshot.seats if snapshot.position.seats[seat.seat].offered)
    return opened, joining.make_offer_token(site.app, free)


# Proof


def test_joining_with_anothers_address_proves_nothing_however_often_one_sits_down(strict: Site) -> None:
    add_person(strict.app)
    opened = apps.open_new(strict.app, "kaiser", {}, [ANNA, BERT, ANYBODY], 0)
    link = joining.join(strict.app, opened.join, VICTIM)
    strict.new_visitor().post(f"/t/{link}/sit", nonce="word")
    strict.flask_app.test_client().post(f"/api/v1/t/{link}/sit", json={})
    assert not proven(strict.app)


def test_a_substitute_is_asked_whether_his_address_is_right(strict: Site) -> None:
    opened, token = offer_seat(strict)
    link = joining.take_offered_seat(strict.app, token, VICTIM)
    strict.new_visitor().post(f"/t/{link}/sit", nonce="word")
    assert not proven(strict.app)
    order = LetterRequest("", 0, 0, f"confirm/{opened.table}", VICTIM.address, "Vera", person=person(strict.app))
    letter = personal_letters.write(strict.app, order)
    assert letter
    text = letter.get_body(("plain",))
    assert text
    assert "If you sat down there, say yes" in " ".join(str(text.get_content()).split())


def test_nor_does_playing_again_with_anothers_address(strict: Site) -> None:
    anna = ProvenPerson(add_person(strict.app))
    opened = apps.open_new(strict.app, "kaiser", {}, [ANNA, ANYBODY], 0, signed_in=anna)
    link = joining.join(strict.app, opened.join, VICTIM)
    strict.submit(opened, "sit word", 0)
    strict.submit(opened, "resign", 1)
    joining.open_rematch(strict.app, opened.links[0])
    with pytest.raises(Refused, match="confirm your address first"):
        joining.open_rematch(strict.app, link)
    apps.confirm_all(strict.app, strict.app.links.make_confirm_token(person(strict.app), VICTIM.address))
    assert access.find(strict.app, joining.open_rematch(strict.app, link)).seat == 1


def test_a_wish_for_a_rematch_shows_no_one_anothers_seat(strict: Site) -> None:
    anna, _ = [ProvenPerson(add_person(strict.app, guest)) for guest in (ANNA, BERT)]
    opened = apps.open_new(strict.app, "kaiser", {}, [ANNA, BERT], 0, signed_in=anna)
    for seat in (0, 1):
        strict.submit(opened, "sit word", seat)
    strict.submit(opened, "resign", 1)
    own = joining.open_rematch(strict.app, opened.links[0])
    guests = [{"name": guest.name, "address": guest.address} for guest in (ANNA, BERT)]
    options = strict.load(opened).position.options
    for key in (f"again/{opened.table}", opened.table):
        body = {"game": "kaiser", "players": guests, "options": options, "key": key}
        response = strict.flask_app.test_client().post("/api/v1/tables", json=body)
        assert response.status_code == 201
        assert own not in response.text


# The keys to a person's letters


def test_a_seat_taken_in_somebodys_name_does_not_open_his_letters(strict: Site) -> None:
    add_person(strict.app, VICTIM)
    visitor, wishes = strict.new_visitor(), strict.app.links.make_preferences_token(person(strict.app))
    response = visitor.post("/play/kaiser", name="Mallory", address=VICTIM.address, bots="1")
    page = visitor.get(response.location)
    assert "<svg" in page
    assert "at the foot of every letter" in page
    assert wishes not in page
    visitor.post(f"/enter/{strict.app.links.make_sign_in_token(person(strict.app), 0, strict.time)}")
    assert wishes in visitor.get(response.location)


def test_the_link_to_the_own_settings_is_the_newest_also_at_a_seat_that_is_not_proven(strict: Site) -> None:
    number = add_person(strict.app, VICTIM)
    with strict.app.store.writing() as db:
        signing_in.renew_settings_link(db, ProvenPerson(number), (), keep_feeds=False)
    visitor = strict.new_visitor()
    response = visitor.post("/play/kaiser", name="Mallory", address=VICTIM.address, bots="1")
    visitor.post(f"/enter/{strict.app.links.make_sign_in_token(number, 0, strict.time)}")
    link = re.search(r'href="(/wishes/[^"?]+)', visitor.get(response.location))
    assert link
    visitor.get(link[1])


def test_no_letter_settings_of_an_erased_person_are_stored(strict: Site) -> None:
    number = add_person(strict.app, VICTIM)
    visitor, wishes = strict.new_visitor(), strict.app.links.make_preferences_token(number)
    visitor.get(f"/wishes/{wishes}")
    leaving.delete_person(strict.app, ProvenPerson(number), VICTIM.address)
    visitor.get(f"/wishes/{wishes}", 404)
    assert visitor.post(f"/wishes/{wishes}/stop").status_code == 404
    with strict.app.store.writing() as connection:
        assert not addresses.record_bounce(connection, number, "550 no vera@example.org here", strict.time)


# Floods


def test_correcting_an_address_to_and_fro_sends_few_letters(strict: Site) -> None:
    for number in range(4):
        organiser = Invitee("Mallory", f"mallory{number}@example.org")
        opened = apps.open_new(strict.app, "kaiser", {}, [organiser, BERT], 0)
        link = opened.links[0]
        if number == 3:
            break
        addresses.correct_address(strict.app, link, VICTIM.address)
        assert send_due_letters(strict.app) == 1
        addresses.correct_address(strict.app, link, f"mallory{number}@example.com")
    with pytest.raises(Refused, match="confirm your address first"):
        addresses.correct_address(strict.app, link, VICTIM.address)
    with pytest.raises(Refused, match="confirm your address first"):
        apps.open_new(strict.app, "kaiser", {}, [VICTIM, BERT], 0)
    strict.time += DAY_S
    addresses.correct_address(strict.app, link, VICTIM.address)


def count_letters_in_a_day(site: Site, smtp_sink: Sink, guest: Invitee) -> int:
    """Let a day pass, send what is due each hour, and count the letters to this guest."""
    smtp_sink.letters.clear()
    for _ in range(24):
        post.run()
        site.time += HOUR_S
    return sum(guest.address in str(one["To"]) for one in smtp_sink.letters)


def test_tables_kept_in_store_do_not_flood_anybody_on_one_day(tmp_path: Path, smtp_sink: Sink) -> None:
    site = Site(tmp_path, smtp=f"smtp://{smtp_sink.hostname}:{smtp_sink.port}", invitations_per_day=3)
    anna = add_person(site.app)
    stored = [apps.open_new(site.app, "kaiser", {}, [ANNA, ANYBODY], 0, signed_in=ProvenPerson(anna)) for _ in range(5)]
    site.time += 2 * DAY_S
    for opened in stored:
        joining.join(site.app, opened.join, VICTIM)
    assert count_letters_in_a_day(site, smtp_sink, VICTIM) == 3
    assert count_letters_in_a_day(site, smtp_sink, VICTIM) == 2
    site.app.close()


def test_offered_seats_do_not_flood_anybody_either(tmp_path: Path, smtp_sink: Sink) -> None:
    site = Site(tmp_path, smtp=f"smtp://{smtp_sink.hostname}:{smtp_sink.port}", invitations_per_day=1)
    _, token = offer_seat(site)
    apps.open_new(site.app, "kaiser", {}, [BERT, VICTIM], 0, signed_in=ProvenPerson(person(site.app, BERT)))
    joining.take_offered_seat(site.app, token, VICTIM)
    assert count_letters_in_a_day(site, smtp_sink, VICTIM) == 1
    site.app.close()


def test_who_asks_for_a_letter_waits_for_the_disk_whether_he_is_known_or_not(any_app: App) -> None:
    add_person(any_app)
    statements = [list_statements(any_app, address) for address in ("anna@example.org", "nobody@example.org")]
    assert [words[-2:] for words in statements] == [["INSERT", "DELETE"]] * 2


def list_statements(app: App, address: str) -> list[str]:
    """Return the statements of the database when a person asks for a sign-in letter."""
    statements = list[str]()

    def append(*arguments: object) -> None:
        statements.append(str(arguments[2]).split()[0])

    event.listen(app.store.engine, "before_cursor_execute", append)
    signing_in.send_sign_in_letter(app, address)
    event.remove(app.store.engine, "before_cursor_execute", append)
    return [word for word in statements if word in ("INSERT", "DELETE", "UPDATE")]


# Races


def stop_letters(app: App, person: int) -> None:
    """Stop all letters to a person."""
    with app.store.writing() as db:
        token = app.links.make_preferences_token(person)
        preferences.stop_letters(db, preferences.load_recipient(app, db, token))


def test_who_sits_down_while_he_is_being_forgotten_is_forgotten_there_too(
    any_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = apps.start_table(any_app)
    opened = apps.open_new(any_app, "kaiser", {}, [BERT, ANYBODY], 0)
    give_up, once = leaving._give_up, [True]

    def act_meanwhile(app: App, number: int, table: str, seat: int) -> None:
        give_up(app, number, table, seat)
        if once.pop() if once else False:
            joining.join(app, opened.join, ANNA)

    monkeypatch.setattr(leaving, "_give_up", act_meanwhile)
    leaving.delete_person(any_app, ProvenPerson(person(any_app, ANNA)), ANNA.address)
    assert apps.load_table(any_app, first.table).names[0] == "Seat 1"
    assert apps.load_table(any_app, opened.table).names[1] == "Seat 2"
    with any_app.store.reading() as connection:
        assert ANNA.address not in connection.execute(select(people.c.address)).scalars().all()


def test_a_link_renewed_while_the_seat_is_taken_stays_with_one_of_the_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path)
    opened, token = offer_seat(site)
    snapshot, seat = joining.find_offered_seat(site.app, token)
    apps.renew_link(site.app, snapshot.seats[seat].person, opened.table, seat)
    monkeypatch.setattr(joining, "find_offered_seat", lambda *_: (snapshot, seat))
    with pytest.raises(Unknown, match="no longer offered"):
        joining.take_offered_seat(site.app, token, VICTIM)
    site.app.close()


def test_simultaneous_requests_end_in_answers_and_never_in_faults(any_app: App) -> None:
    """Joins, openings, confirmations, letters, moves and a farewell of the same few people, all at the same time."""
    app, number = any_app, add_person(any_app)
    opened = apps.open_new(app, "kaiser", {}, [BERT, ANYBODY, ANYBODY], 0)
    playing = apps.start_table(any_app)
    proof, seat = any_app.links.make_confirm_token(number, ANNA.address), playing[1]
    kinds: list[Callable[[int], object]] = [
        lambda n: joining.join(app, opened.join, Invitee(f"Guest {n}", f"guest{n % 3}@example.org")),
        lambda n: apps.open_new(app, "kaiser", {}, [Invitee("Cleo", f"cleo{n % 2}@example.org"), ANNA, VICTIM], 0),
        lambda _: apps.confirm_all(app, proof),
        lambda _: signing_in.send_sign_in_letter(app, ANNA.address),
        lambda n: apps.say(app, seat, f"word {n}"),
        lambda _: (submitting.submit(app, seat, "resign"), referee.run()),
        lambda n: (
            leaving.delete_person(app, ProvenPerson(number), ANNA.address)
            if n == 11
            else apps.load_table(app, opened.table)
        ),
        lambda n: stop_letters(app, number),
    ]
    gate = Barrier(8)

    def act(worker: int) -> None:
        gate.wait(10)
        for n in range(worker * 2, worker * 2 + 2):
            for step in range(len(kinds)):
                with suppress(Refused):
                    kinds[(worker + step) % len(kinds)](n)

    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(act, range(8)):
            pass
    sitting = [seat.person for seat in apps.load_table(app, opened.table).seats]
    assert len(set(sitting)) == len(sitting)
    assert number not in [seat.person for seat in apps.load_table(app, playing[0].table).seats]
