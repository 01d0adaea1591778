"""People's own side: signing in by a letter, my tables, taking everything along, and leaving."""

import json
import re
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from engine import audit
from service.accounts import leaving, my_tables, signing_in
from service.people.proof import ProvenPerson
from service.store.schema import letters, mailbox, metadata, people, seats, talk
from service.tables import access, submitting
from service.tables.access import Unknown
from service.tables.history.replays import Archive
from service.timing import HOUR_S
from tests import apps
from tests.sites import PageChecker, Site, Visitor

ANNA = "anna@example.org"


def person(site: Site, address: str = ANNA) -> int:
    with site.app.store.reading() as connection:
        return int(connection.execute(select(people.c.id).where(people.c.address == address)).scalar_one())


def personal(site: Site) -> list[str]:
    """The kinds of letters that are owed to people rather than to seats."""
    with site.app.store.reading() as connection:
        query = select(letters.c.kind).where(letters.c.person.is_not(None)).order_by(letters.c.id)
        return list(connection.execute(query).scalars())


def token(site: Site, address: str = ANNA) -> str:
    """Return the sign-in link of the newest letter."""
    with site.app.store.reading() as connection:
        row = connection.execute(select(people).where(people.c.address == address)).one()
    return site.app.links.make_sign_in_token(row.id, row.sessions, site.time)


def sign_in(site: Site, address: str = ANNA) -> Visitor:
    visitor = site.new_visitor()
    assert visitor.post(f"/enter/{token(site, address)}").status_code == 303
    return visitor


# Signing in


def test_who_asks_for_a_letter_learns_nothing_about_an_address(site: Site, visitor: Visitor) -> None:
    site.open_table()
    pages = [visitor.post("/enter", address=one).text for one in (ANNA, "nobody@example.org")]
    assert "If we know this address, a letter with a link is on its way." in pages[0]
    clean = [re.sub(r'value="[^"]*"', "", page) for page in pages]
    assert clean[0] == clean[1]
    assert personal(site) == [f"enter/{site.time}"]


@pytest.mark.parametrize("typed", ["anna@example.org", "Anna@Example.org", " ANNA@example.org "])
def test_an_address_is_known_however_it_is_capitalised(site: Site, visitor: Visitor, typed: str) -> None:
    site.open_table()
    visitor.post("/enter", address=typed)
    assert len(personal(site)) == 1


def test_no_address_gets_more_than_a_few_letters_an_hour(site: Site, visitor: Visitor) -> None:
    site.open_table()
    for _ in range(10):
        site.time += 60
        assert visitor.post("/enter", address=ANNA).status_code == 200
    assert len(personal(site)) == 3
    site.time += HOUR_S
    visitor.post("/enter", address=ANNA)
    assert len(personal(site)) == 4


def test_an_invalid_address_is_refused(visitor: Visitor) -> None:
    response = visitor.post("/enter", address="anna")
    assert response.status_code == 422
    assert "is not an e-mail address" in response.text


def test_the_button_signs_in_and_the_link_alone_does_not(site: Site, visitor: Visitor) -> None:
    site.open_table()
    address = f"/enter/{token(site)}"
    for _ in range(3):
        assert "Welcome back, Anna" in visitor.get(address)
    assert visitor.client.get("/my").status_code == 303
    response = visitor.post(address)
    assert response.location == "/my"
    cookie = response.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Expires=" in cookie
    assert ANNA in visitor.get("/my")


def test_a_link_signs_in_once_and_for_an_hour(site: Site, visitor: Visitor) -> None:
    site.open_table()
    first = token(site)
    site.time += HOUR_S
    visitor.get(f"/enter/{first}", 404)
    assert visitor.post(f"/enter/{first}").status_code == 404
    second = token(site)
    assert visitor.post(f"/enter/{second}").status_code == 303
    assert site.new_visitor().post(f"/enter/{second}").status_code == 404


def test_of_two_who_use_a_link_at_once_one_comes_in(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.open_table()
    app, once = site.app, token(site)
    seen = signing_in.find_person(app, once)
    monkeypatch.setattr(signing_in, "find_person", lambda *_: seen)
    signing_in.sign_in(app, once)
    with pytest.raises(Unknown):
        signing_in.sign_in(app, once)


def test_a_forged_link_does_not_sign_in(site: Site, visitor: Visitor) -> None:
    site.open_table()
    number = person(site)
    for forged in (
        f"{number}.{site.time}.x",
        f"{number}",
        "x.y.z",
        "é",
        f"{number}.{site.time}.é",
        f"99.{site.time}.x",
    ):
        visitor.get(f"/enter/{forged}", 404)
        assert visitor.post(f"/enter/{forged}").status_code == 404


def test_signing_out_everywhere_ends_every_visit_and_every_link(site: Site) -> None:
    site.open_table()
    one = sign_in(site)
    site.time += 1
    other, unused = sign_in(site), token(site)
    one.post("/leave")
    assert one.client.get("/my").status_code == 303
    assert other.client.get("/my").status_code == 200
    other.post("/leave", everywhere="on")
    assert other.client.get("/my").status_code == 303
    one.get(f"/enter/{unused}", 404)


def test_who_has_not_signed_in_sees_nothing_of_anybody(site: Site, visitor: Visitor) -> None:
    site.open_table()
    assert visitor.client.get("/my").location == "/enter"
    for path in ("/my/export.json", "/my/delete"):
        visitor.get(path, 422)
    for path in ("/my/link", "/my/delete"):
        assert visitor.post(path).status_code == 422


# My tables


def test_mine_to_move_come_first_then_waiting_then_gathering_then_finished(site: Site) -> None:
    done = site.start_table("Anna", "Olga")
    site.submit(done, "resign", 1)
    site.open_table("Anna", "Gustav")
    games = [site.start_table("Anna", "Bert")]
    while {site.find_mover(one) for one in games} != {0, 1}:
        games.append(site.start_table("Anna", f"Bert{len(games)}"))
    mover = [site.find_mover(one) for one in games]
    page = sign_in(site).get("/my")
    headings = [page.index(f"<h2>{words}</h2>") for words in ("Waiting for others", "Not begun yet", "Finished")]
    assert headings == sorted(headings)
    for opened, turn in zip(games, mover, strict=True):
        assert (page.index(opened.links[0]) < headings[0]) == (turn == 0)
    assert page.index("Gustav") > headings[1]
    assert page.index("Olga") > headings[2]
    assert "place 1" in page
    assert PageChecker(page).faults == []


def test_the_table_that_is_due_first_is_listed_first(site: Site) -> None:
    for pace in (5, 1, 3, 0, 2, 4):
        site.start_table("Anna", f"Bert{pace}", pace=pace * 86_400)
    own = [one.due_at for one in apps.load(site.app, my_tables.list_running, person(site)) if one.to_move]
    assert own == sorted(own, key=lambda due: (due is None, due))


def test_finished_games_come_a_page_at_a_time(site: Site) -> None:
    for number in range(my_tables.PAGE_ROWS + 3):
        site.submit(site.start_table("Anna", f"Bert{number}"), "resign", 1)
        site.time += 1
    visitor = sign_in(site)
    first, second = visitor.get("/my"), visitor.get("/my?page=1")
    assert (first.count("place 1 ·"), second.count("place 1 ·")) == (my_tables.PAGE_ROWS, 3)
    assert f"Bert{my_tables.PAGE_ROWS + 2}<" in first
    assert "Bert0<" in second
    for odd in ("-1", "x", "99999", "٣"):
        visitor.get(f"/my?page={odd}")


def test_statistics_count_places_and_opponents(site: Site) -> None:
    for loser, other in ((1, "Bert"), (0, "Bert"), (1, "Clara")):
        site.submit(site.start_table("Anna", other), "resign", loser)
    site.start_table("Anna", "Bert")
    record = apps.run_query(site.app, my_tables.load_record, person(site))
    assert record.games == {"kaiser": {1: 2, 2: 1}}
    assert record.opponents == (my_tables.Opponent("Bert", 2, 1, 1), my_tables.Opponent("Clara", 1, 1, 0))


def test_an_imported_game_has_its_places(site: Site, tmp_path: Path) -> None:
    opened = site.start_table()
    site.submit(opened, "resign", 1)
    export = Archive(site.app.store, site.app.links).export(opened.table)
    (tmp_path / "other").mkdir()
    other = Site(tmp_path / "other")
    Archive(other.app.store, other.app.links).import_(export)
    with other.app.store.reading() as connection:
        assert list(connection.execute(select(seats.c.place).order_by(seats.c.seat)).scalars()) == [1, 2]
    other.app.close()


def test_a_new_link_ends_the_old_one(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    mail = site.app.links.make_answer_token(opened.table, 0, 0)
    response = sign_in(site).post("/my/link", table=opened.table, seat=0)
    assert response.status_code == 303
    visitor.get(f"/t/{opened.links[0]}", 404)
    new = apps.load(site.app, my_tables.list_running, person(site))[0].link
    assert new != opened.links[0]
    visitor.get(f"/t/{new}")
    with site.app.store.reading() as db, pytest.raises(Unknown):
        access.find_by_reply_address(site.app, db, mail)


@pytest.mark.parametrize(("table", "seat"), [("", "1"), ("own", "1"), ("own", "x"), ("own", "-1"), ("no", "0")])
def test_a_player_gets_no_new_link_for_anothers_seat(site: Site, visitor: Visitor, table: str, seat: str) -> None:
    opened = site.start_table()
    where = opened.table if table == "own" else table
    assert sign_in(site).post("/my/link", table=where, seat=seat).status_code == 422
    visitor.get(f"/t/{opened.links[1]}")


# Taking everything along, and leaving


def wordy(site: Site) -> None:
    """Anna leaves words of hers in every table of the database that can hold them."""
    number = person(site)
    with site.app.store.writing() as connection:
        own = connection.execute(select(seats.c.table, seats.c.seat).where(seats.c.person == number)).all()
        for table, seat in own:
            connection.execute(insert(talk), {"table": table, "seat": seat, "at": 1, "text": "hello from Annchen"})
        connection.execute(seats.update().where(seats.c.person == number).values(note="Annchen plans"))
        connection.execute(insert(mailbox), {"at": 1, "recipient": ANNA, "raw": b"Dear Annchen"})


def test_the_export_holds_everything_that_is_kept(site: Site) -> None:
    opened = site.start_table()
    site.submit(opened, "vacation 2027-02-01 2027-02-03", 0)
    wordy(site)
    export = json.loads(sign_in(site).get("/my/export.json"))
    assert export["address"] == ANNA
    assert export["vacations"] == [["2027-02-01", "2027-02-03"]]
    (table,) = export["tables"]
    assert (table["note"], table["talk"]) == ("Annchen plans", ["hello from Annchen"])
    assert table["link"].endswith(f"/t/{opened.links[0]}")
    assert "bert@example.org" not in json.dumps(export)


def dump_database(site: Site) -> str:
    """Return all rows of the database as text."""
    with site.app.store.reading() as connection:
        return "\n".join(str(row) for one in metadata.sorted_tables for row in connection.execute(select(one)))


def test_who_is_deleted_leaves_no_word_behind_and_every_game_whole(site: Site) -> None:
    finished, three, two = (
        site.start_table(),
        site.start_table("Anna", "Bert", "Clara"),
        site.start_table("Anna", "Dora"),
    )
    site.submit(finished, "resign", 1)
    waiting = site.open_table("Anna", "Emil")
    site.submit(three, "vacation 2027-02-01 2027-02-03", 0)
    site.submit(three, "order pass", 0)
    wordy(site)
    archive = Archive(site.app.store, site.app.links)
    before = archive.export(finished.table)
    visitor = sign_in(site)
    assert "You have 3 running games" in visitor.get("/my/delete")
    page = visitor.post("/my/delete", address="Anna@example.org").text
    assert "You have been deleted" in page
    assert visitor.client.get("/my").status_code == 303
    left = dump_database(site)
    assert re.search(r"anna", left, re.IGNORECASE) is None
    assert "order pass" not in left
    assert archive.export(finished.table) == before
    for opened in (finished, three, two, waiting):
        visitor.get(f"/t/{opened.links[0]}", 404)
        assert audit.audit(site.load(opened).game, archive.export_whole(opened.table), running=True).finding is None
    assert site.load(three).position.seats[0].status == "resigned"
    assert site.load(three).names == ("Seat 1", "Bert", "Clara")
    assert site.load(two).position.phase == "over"
    assert site.load(waiting).position.seats[0].status == "bot"


def test_deleting_needs_the_address_typed(site: Site) -> None:
    site.start_table()
    visitor = sign_in(site)
    for typed in ("", "bert@example.org", "é"):
        response = visitor.post("/my/delete", address=typed)
        assert response.status_code == 422
        assert "This is not your address" in response.text
    assert ANNA in visitor.get("/my")


def test_who_sat_down_and_is_deleted_before_the_game_began_is_replaced(site: Site) -> None:
    opened = site.open_table("Anna", "Bert", "Clara")
    for seat in (0, 1):
        submitting.submit(site.app, access.find(site.app, opened.links[seat]), "sit word", "sit")
    leaving.delete_person(site.app, ProvenPerson(person(site)), ANNA)
    assert site.load(opened).position.seats[0].status == "bot"
    submitting.submit(site.app, access.find(site.app, opened.links[2]), "sit word", "sit")
    assert site.load(opened).position.phase == "playing"


def test_an_erased_player_who_returns_is_a_new_person(site: Site) -> None:
    site.start_table()
    old, link = person(site), token(site)
    wishes = site.app.links.make_preferences_token(old)
    leaving.delete_person(site.app, ProvenPerson(old), ANNA)
    site.open_table()
    assert person(site) != old
    assert site.app.links.make_preferences_token(person(site)) != wishes
    site.new_visitor().get(f"/enter/{link}", 404)


def test_deleting_twice_is_deleting_once(site: Site) -> None:
    opened = site.start_table("Anna", "Bert", "Clara")
    app, number = site.app, person(site)
    leaving.delete_person(app, ProvenPerson(number), ANNA)
    leaving._give_up(app, number, opened.table, 0)
    with site.app.store.reading() as connection:
        assert connection.execute(select(func.count()).where(seats.c.person == number)).scalar_one() == 0
