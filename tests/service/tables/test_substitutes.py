"""Offered seats: when they are, who may take them, and what becomes of those who sat there."""

import pytest
from sqlalchemy import select, update

from engine.table_events import (
    Offered,
    Substituted,
    VacationTaken,
)
from service.settings import DAY_S
from service.store.schema import letters, seats
from service.tables import access, joining
from service.tables.access import Unknown
from service.tables.opening import Invitee, OpenedTable
from service.timing import Clock
from tests import apps
from tests.sites import Site, Visitor
from workers.clock import tick
from workers.outgoing import personal_letters
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write

FRITZ = Invitee("Fritz", "fritz@example.org")


def late(site: Site, opened: OpenedTable) -> int:
    """The player on turn lets his time run out."""
    turn = site.find_mover(opened)
    site.time += DAY_S
    tick(site.app)
    return turn


def start_offered(site: Site, **how: object) -> tuple[OpenedTable, int]:
    """A table of three where a player has missed a deadline, so that others may take his seat."""
    opened = site.start_table("Anna", "Bert", "Clara", pace=Clock(DAY_S, **{"late": "seat", "offer_after": 1, **how}))
    return opened, late(site, opened)


def token(site: Site, opened: OpenedTable, seat: int) -> str:
    return joining.make_offer_token(site.app, site.load(opened).seats[seat])


def kinds(site: Site, opened: OpenedTable, seat: int) -> list[str]:
    with site.app.store.reading() as connection:
        own = (letters.c.table == opened.table, letters.c.seat == seat, letters.c.kind != "invitation")
        return list(connection.execute(select(letters.c.kind).where(*own).order_by(letters.c.id)).scalars())


def events(site: Site, opened: OpenedTable) -> list[object]:
    return [event for entry in apps.load_entries(site.app, site.load(opened)) for event in entry.events]


def test_a_seat_is_offered_after_so_many_misses_in_a_row(site: Site) -> None:
    opened = site.start_table(pace=Clock(DAY_S, offer_after=2))
    missed = [0, 0]
    while Offered(0) not in events(site, opened) and Offered(1) not in events(site, opened):
        missed[late(site, opened)] += 1
    seat = missed.index(2)
    assert Offered(seat) in events(site, opened)
    assert kinds(site, opened, seat)[-1] == "offered"
    assert "offer" in kinds(site, opened, 1 - seat)


def test_who_moves_in_between_is_not_offered(site: Site) -> None:
    opened = site.start_table(pace=Clock(DAY_S, offer_after=2))
    for _ in range(3):
        seat = late(site, opened)
        while site.load(opened).position.last.seat != seat or site.load(opened).seats[seat].misses:
            site.submit(opened, site.list_moves(opened)[0])
        while site.find_mover(opened) != seat:
            site.submit(opened, site.list_moves(opened)[0])
    assert not [event for event in events(site, opened) if isinstance(event, Offered)]


def test_a_seat_that_was_lost_is_offered_at_once(site: Site) -> None:
    opened, seat = start_offered(site, late="resign", offer_after=5)
    assert site.load(opened).position.seats[seat].offered


def test_a_substitute_takes_the_seat_by_its_link_and_plays_on(site: Site, visitor: Visitor) -> None:
    opened, seat = start_offered(site)
    other = (seat + 1) % 3
    address = f"/offer/{token(site, opened, seat)}"
    assert address in visitor.get(f"/t/{opened.links[other]}")
    assert address not in visitor.get(f"/t/{opened.watch}")
    page = visitor.get(address)
    assert "is free" in page
    assert "<svg" in page
    response = visitor.post(address, name="Fritz", address="fritz@example.org")
    assert response.status_code == 303
    page = visitor.get(response.location)
    assert "It is your turn" in page
    assert "A substitute plays on as Fritz" in page
    assert site.load(opened).position.seats[seat].status == "taken"
    assert kinds(site, opened, seat)[-2:] == ["seat", "turn"]
    row = site.load(opened).seats[seat]
    assert (row.name, row.due_at, row.misses) == ("Fritz", site.time + DAY_S, 0)


def test_a_replaced_player_gets_a_letter_and_leaves_no_settings(site: Site) -> None:
    opened, seat = start_offered(site)
    with site.app.store.writing() as connection:
        own = (seats.c.table == opened.table, seats.c.seat == seat)
        before = connection.execute(select(seats.c.person).where(*own)).scalar_one()
        connection.execute(update(seats).where(*own).values(note="a plan", letter_settings='{"letters":"none"}'))
    joining.take_offered_seat(site.app, token(site, opened, seat), FRITZ)
    with site.app.store.reading() as connection:
        (row,) = connection.execute(select(letters).where(letters.c.person.is_not(None))).all()
        settings = connection.execute(select(seats.c.note, seats.c.letter_settings).where(*own)).one()
    assert (row.person, row.kind) == (before, f"replaced/{opened.table}/{seat}/1")
    assert tuple(settings) == ("", "")
    message = personal_letters.write(site.app, LetterRequest("", 0, 0, row.kind, "x@example.org", "X", person=before))
    assert message is not None
    assert "Fritz plays on in your seat" in message["Subject"]


def test_the_old_link_and_the_offer_are_dead_afterwards(site: Site, visitor: Visitor) -> None:
    opened, seat = start_offered(site)
    old, address = opened.links[seat], f"/offer/{token(site, opened, seat)}"
    before = site.app.links.make_answer_token(opened.table, seat, 0)
    visitor.post(address, name="Fritz", address="fritz@example.org")
    visitor.get(f"/t/{old}", 404)
    visitor.get(address, 404)
    assert visitor.post(address, name="Franz", address="franz@example.org").status_code == 404
    with site.app.store.reading() as db, pytest.raises(Unknown):
        access.find_by_reply_address(site.app, db, before)


def test_a_player_who_comes_back_keeps_the_seat(site: Site, visitor: Visitor) -> None:
    opened, seat = start_offered(site)
    address = f"/offer/{token(site, opened, seat)}"
    visitor.submit(opened.links[seat], "back")
    visitor.get(address, 404)
    assert site.load(opened).seats[seat].misses == 0


def test_a_substitute_needs_another_name_and_no_other_seat(site: Site, visitor: Visitor) -> None:
    opened, seat = start_offered(site)
    other = site.load(opened).seats[(seat + 1) % 3].name
    address = f"/offer/{token(site, opened, seat)}"
    for name, whose in (("Fritz", f"{other.lower()}@example.org"), (other.upper(), "x@example.org"), ("Fritz", "no")):
        response = visitor.post(address, name=name, address=whose)
        assert response.status_code == 422
        assert 'role="alert"' in response.text
    assert not [event for event in events(site, opened) if event == Substituted(seat)]


def test_a_seat_that_is_not_offered_cannot_be_taken(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    for forged in (
        token(site, opened, 0),
        f"{opened.table}.0.x",
        f"{opened.table}.9.x",
        f"{opened.table}",
        "x.y.z",
        "é",
    ):
        visitor.get(f"/offer/{forged}", 404)


def test_of_two_one_is_too_late(site: Site) -> None:
    opened, seat = start_offered(site)
    offer = token(site, opened, seat)
    joining.take_offered_seat(site.app, offer, FRITZ)
    with pytest.raises(Unknown):
        joining.take_offered_seat(site.app, offer, Invitee("Franz", "franz@example.org"))


def test_the_table_reads_of_a_substitutes_vacations(site: Site) -> None:
    second_table = site.start_table("Fritz", "Franz")
    site.submit(second_table, "vacation 2027-02-01 2027-02-03", 0)
    opened, seat = start_offered(site)
    joining.take_offered_seat(site.app, token(site, opened, seat), FRITZ)
    assert events(site, opened)[-1] == VacationTaken(seat, "2027-02-01", "2027-02-03")


@pytest.mark.parametrize("how", ["seat", "resign"])
def test_letters_say_what_befell_a_seat(site: Site, how: str) -> None:
    opened, seat = start_offered(site, late=how)
    snapshot = site.load(opened)
    letters_by_kind = {}
    for kind, whose in ((kind, one) for one in range(3) for kind in kinds(site, opened, one)):
        order = LetterRequest(
            opened.table, snapshot.row.length - 1, whose, kind, "x@example.org", snapshot.names[whose]
        )
        letter = write(site.app, order)
        if letter:
            letters_by_kind[kind] = [
                part.get_content() for part in letter.walk() if part.get_content_type().startswith("text/")
            ]
    assert (
        set(letters_by_kind)
        == {"seat": {"relieved", "offer", "offered"}, "resign": {"forfeited", "offer", "offered"}}[how]
    )
    for texts in letters_by_kind.values():
        assert texts[0].strip()
    for text in letters_by_kind["offer"]:
        assert f"/offer/{token(site, opened, seat)}" in text
    sentence = {"seat": "a bot plays for you until you come back", "resign": "and with it your seat"}[how]
    for text in letters_by_kind["relieved" if how == "seat" else "forfeited"]:
        assert sentence in text
