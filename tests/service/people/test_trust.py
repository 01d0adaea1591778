"""What a stranger can do with the address of another person: next to nothing, and not often."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import event, insert, select, update

from engine.refusal import Refused
from service.accounts import bounces, confirming, leaving, preferences, signing_in
from service.house import House
from service.settings import DAY
from service.store.schema import letters, people, seats
from service.tables import access, joining, opening, rematch, snapshots, submitting, substitutes, talk
from service.tables.access import Place, Unknown
from service.tables.opening import Invited, Opened
from service.timing import HOUR, Clock
from tests import houses
from tests.visiting import Hall
from workers import clock, referee
from workers.outgoing import personal_letters
from workers.outgoing.envelopes import LetterOrder

ANNA = Invited("Anna", "anna@example.org")
BERT = Invited("Bert", "bert@example.org")
VICTIM = Invited("Vera", "vera@example.org")
ANYBODY = Invited("", who="anybody")
RELAY = {"smtp": "smtp://127.0.0.1:1"}


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Hall]:
    """A house whose letters leave."""
    hall = Hall(tmp_path, **RELAY)
    yield hall
    hall.house.close()


def known(here: House, guest: Invited = ANNA, *, proven: bool = True) -> int:
    """A person this house knows."""
    row = {"address": guest.address, "name": guest.name, "since": 0, "confirmed_at": 1 if proven else None}
    with here.store.writing() as connection:
        return int(connection.execute(insert(people).returning(people.c.id), row).scalar_one())


def person(here: House, guest: Invited = VICTIM) -> int:
    with here.store.reading() as connection:
        return int(connection.execute(select(people.c.id).where(people.c.address == guest.address)).scalar_one())


def proven(here: House, guest: Invited = VICTIM) -> bool:
    with here.store.reading() as connection:
        found = select(people.c.confirmed_at).where(people.c.address == guest.address)
        return connection.execute(found).scalar_one() is not None


def sent(here: House, guest: Invited = VICTIM) -> int:
    """All that is due to this person now leaves; the result is how many letters that were."""
    with here.store.writing() as connection:
        own = select(seats.c.seat).where(
            seats.c.table == letters.c.table, seats.c.seat == letters.c.seat, seats.c.person == person(here, guest)
        )
        due = update(letters).where(letters.c.sent_at.is_(None), letters.c.due_at <= here.now())
        leaving = due.where((letters.c.person == person(here, guest)) | own.exists())
        return int(connection.execute(leaving.values(sent_at=here.now(), outcome="sent")).rowcount)


def offered(hall: Hall) -> tuple[Opened, str]:
    """A table of Anna and Bert where Anna's seat is offered."""
    known(hall.house)
    opened = hall.open("Anna", "Bert", pace=Clock(HOUR, offer_after=1))
    for seat in hall.look(opened).seats:
        submitting.submit(hall.house, Place(opened.table, seat.seat, ""), "sit word", "sit")
    hall.time += 2 * HOUR
    clock.expire(hall.house)
    look = hall.look(opened)
    free = next(seat for seat in look.seats if look.table.seats[seat.seat].offered)
    return opened, substitutes.link(hall.house, free)


# Proof


def test_joining_with_anothers_address_proves_nothing_however_often_one_sits_down(strict: Hall) -> None:
    known(strict.house)
    opened = opening.open_table(strict.house, "kaiser", {}, [ANNA, BERT, ANYBODY], 0)
    link = joining.join(strict.house, opened.join, VICTIM)
    strict.visitor().post(f"/t/{link}/sit", nonce="word")
    strict.app.test_client().post(f"/api/v1/t/{link}/sit", json={})
    assert not proven(strict.house)


def test_a_substitute_is_asked_whether_his_address_is_right(strict: Hall) -> None:
    opened, token = offered(strict)
    link = substitutes.take(strict.house, token, VICTIM)
    strict.visitor().post(f"/t/{link}/sit", nonce="word")
    assert not proven(strict.house)
    order = LetterOrder("", 0, 0, f"confirm/{opened.table}", VICTIM.address, "Vera", person=person(strict.house))
    letter = personal_letters.write(strict.house, order)
    assert letter
    text = letter.get_body(("plain",))
    assert text
    assert "You sat down at a table of Kaiser" in " ".join(str(text.get_content()).split())


def test_nor_does_playing_again_with_anothers_address(strict: Hall) -> None:
    known(strict.house)
    opened = opening.open_table(strict.house, "kaiser", {}, [ANNA, ANYBODY], 0)
    link = joining.join(strict.house, opened.join, VICTIM)
    strict.do(opened, "sit word", 0)
    strict.do(opened, "resign", 1)
    rematch.lay(strict.house, Place(opened.table, 0, ""))
    with pytest.raises(Refused, match="confirm your address first"):
        rematch.lay(strict.house, access.find(strict.house, link))
    confirming.confirm(strict.house, strict.house.links.confirm(person(strict.house), VICTIM.address))
    assert access.find(strict.house, rematch.lay(strict.house, access.find(strict.house, link))).seat == 1


def test_nobody_is_shown_anothers_seat_for_wishing_to_play_again_as_he_did(strict: Hall) -> None:
    for guest in (ANNA, BERT):
        known(strict.house, guest)
    opened = strict.open()
    for seat in (0, 1):
        strict.do(opened, "sit word", seat)
    strict.do(opened, "resign", 1)
    own = rematch.lay(strict.house, Place(opened.table, 0, ""))
    guests = [{"name": guest.name, "address": guest.address} for guest in (ANNA, BERT)]
    options = strict.look(opened).table.options
    for key in (f"again/{opened.table}", opened.table):
        body = {"game": "kaiser", "players": guests, "options": options, "key": key}
        response = strict.app.test_client().post("/api/v1/tables", json=body)
        assert response.status_code == 201
        assert own not in response.text


# The keys to somebody's letters


def test_a_seat_taken_in_somebodys_name_does_not_open_his_letters(strict: Hall) -> None:
    known(strict.house, VICTIM)
    visitor, wishes = strict.visitor(), strict.house.links.preferences(person(strict.house))
    response = visitor.post("/play/kaiser", name="Mallory", address=VICTIM.address, bots="1")
    page = visitor.get(response.location)
    assert "<svg" in page
    assert "at the foot of every letter" in page
    assert wishes not in page
    visitor.post(f"/enter/{strict.house.links.enter(person(strict.house), 0, strict.time)}")
    assert wishes in visitor.get(response.location)


def test_of_somebody_forgotten_no_wishes_are_kept_and_nothing_is_noted(strict: Hall) -> None:
    number = known(strict.house, VICTIM)
    visitor, wishes = strict.visitor(), strict.house.links.preferences(number)
    visitor.get(f"/wishes/{wishes}")
    leaving.leave(strict.house, number, VICTIM.address)
    visitor.get(f"/wishes/{wishes}", 404)
    assert visitor.post(f"/wishes/{wishes}/stop").status_code == 404
    with strict.house.store.writing() as connection:
        assert not bounces.note(connection, number, "550 no vera@example.org here", strict.time)


# Floods


def test_correcting_an_address_to_and_fro_writes_to_nobody_often(strict: Hall) -> None:
    for number in range(4):
        organiser = Invited("Mallory", f"mallory{number}@example.org")
        opened = opening.open_table(strict.house, "kaiser", {}, [organiser, BERT], 0)
        place = access.find(strict.house, opened.links[0])
        if number == 3:
            break
        confirming.correct(strict.house, place, VICTIM.address)
        assert sent(strict.house) == 1
        confirming.correct(strict.house, place, f"mallory{number}@example.com")
    with pytest.raises(Refused, match="confirm your address first"):
        confirming.correct(strict.house, place, VICTIM.address)
    with pytest.raises(Refused, match="confirm your address first"):
        opening.open_table(strict.house, "kaiser", {}, [VICTIM, BERT], 0)
    strict.time += DAY
    confirming.correct(strict.house, place, VICTIM.address)


def test_tables_kept_in_store_do_not_flood_anybody_on_one_day(tmp_path: Path) -> None:
    hall = Hall(tmp_path, **RELAY, invitations_per_day=3)
    anna = known(hall.house)
    stored = [opening.open_table(hall.house, "kaiser", {}, [ANNA, ANYBODY], 0, opener=anna) for _ in range(5)]
    hall.time += 2 * DAY
    for opened in stored[:3]:
        joining.join(hall.house, opened.join, VICTIM)
    with pytest.raises(Refused, match="invited very often"):
        joining.join(hall.house, stored[3].join, VICTIM)
    assert sent(hall.house) == 3
    hall.time += DAY
    joining.join(hall.house, stored[4].join, VICTIM)
    hall.house.close()


def test_offered_seats_do_not_flood_anybody_either(tmp_path: Path) -> None:
    hall = Hall(tmp_path, **RELAY, invitations_per_day=1)
    _, token = offered(hall)
    opening.open_table(hall.house, "kaiser", {}, [ANNA, VICTIM], 0)
    with pytest.raises(Refused, match="invited very often"):
        substitutes.take(hall.house, token, VICTIM)
    hall.house.close()


def test_who_asks_for_a_letter_waits_for_the_disk_whether_he_is_known_or_not(any_house: House) -> None:
    known(any_house)
    statements = [asked(any_house, address) for address in ("anna@example.org", "nobody@example.org")]
    assert [words[-2:] for words in statements] == [["INSERT", "DELETE"]] * 2


def asked(here: House, address: str) -> list[str]:
    """The statements that the question for a letter makes the database run."""
    told = list[str]()

    def tell(*said: object) -> None:
        told.append(str(said[2]).split()[0])

    event.listen(here.store.engine, "before_cursor_execute", tell)
    signing_in.send_link(here, address)
    event.remove(here.store.engine, "before_cursor_execute", tell)
    return [word for word in told if word in ("INSERT", "DELETE", "UPDATE")]


# Races


def test_who_sits_down_while_he_is_being_forgotten_is_forgotten_there_too(
    any_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = houses.seated(any_house)
    opened = opening.open_table(any_house, "kaiser", {}, [BERT, ANYBODY], 0)
    give_up, once = leaving._give_up, [True]

    def meanwhile(house: House, number: int, table: str, seat: int) -> None:
        give_up(house, number, table, seat)
        if once.pop() if once else False:
            joining.join(house, opened.join, ANNA)

    monkeypatch.setattr(leaving, "_give_up", meanwhile)
    leaving.leave(any_house, person(any_house, ANNA), ANNA.address)
    assert snapshots.look(any_house, first.table).names[0] == "Seat 1"
    assert snapshots.look(any_house, opened.table).names[1] == "Seat 2"
    with any_house.store.reading() as connection:
        assert ANNA.address not in connection.execute(select(people.c.address)).scalars().all()


def test_a_link_renewed_while_the_seat_is_taken_stays_with_one_of_the_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = Hall(tmp_path)
    opened, token = offered(hall)
    look, seat = substitutes.offered(hall.house, token)
    signing_in.renew(hall.house, look.seats[seat].person, opened.table, seat)
    monkeypatch.setattr(substitutes, "offered", lambda *_: (look, seat))
    with pytest.raises(Unknown, match="no longer offered"):
        substitutes.take(hall.house, token, VICTIM)
    hall.house.close()


def test_whatever_comes_at_once_ends_in_an_answer_and_never_in_a_fault(any_house: House) -> None:
    """Joins, openings, confirmations, letters, moves and a farewell of the same few people, all at the same time."""
    house, number = any_house, known(any_house)
    opened = opening.open_table(house, "kaiser", {}, [BERT, ANYBODY, ANYBODY], 0)
    playing = houses.seated(any_house)
    proof, seat = any_house.links.confirm(number, ANNA.address), playing[1]
    kinds: list[Callable[[int], object]] = [
        lambda n: joining.join(house, opened.join, Invited(f"Guest {n}", f"guest{n % 3}@example.org")),
        lambda n: opening.open_table(
            house, "kaiser", {}, [Invited("Cleo", f"cleo{n % 2}@example.org"), ANNA, VICTIM], 0
        ),
        lambda _: confirming.confirm(house, proof),
        lambda _: signing_in.send_link(house, ANNA.address),
        lambda n: talk.say(house, seat, f"word {n}"),
        lambda _: (submitting.submit(house, seat, "resign"), referee.hear()),
        lambda n: leaving.leave(house, number, ANNA.address) if n == 23 else bounces.unreachable(house, opened.table),
        lambda n: preferences.stop(house, preferences.reader(house, any_house.links.preferences(number))),
    ]
    gate = Barrier(8)

    def hurry(worker: int) -> None:
        gate.wait(10)
        for n in range(worker * 4, worker * 4 + 4):
            for step in range(len(kinds)):
                with suppress(Refused):
                    kinds[(worker + step) % len(kinds)](n)

    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(hurry, range(8)):
            pass
    sitting = [seat.person for seat in snapshots.look(house, opened.table).seats]
    assert len(set(sitting)) == len(sitting)
    assert number not in [seat.person for seat in snapshots.look(house, playing[0].table).seats]
