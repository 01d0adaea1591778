"""Opening tables: seats for anybody, games against bots, once for each wish, and no letter in a stranger's name."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from pathlib import Path
from threading import Barrier

import msgspec
import pytest
from sqlalchemy import func, select, update

from engine.refusal import Refused
from engine.search import LEVELS, Level, levels
from service.accounts import addresses, my_tables
from service.people import register
from service.people.proof import ProvenPerson
from service.store.schema import letters, people, seats, tables
from service.tables import access, joining, submitting
from service.tables.access import Unknown
from service.tables.opening import Invitee, OpenedTable
from tests import apps
from tests.servers import Sink
from tests.sites import ROWS, PageChecker, Site, Visitor
from workers import bots
from workers.incoming import inbox
from workers.outgoing import post

ANNA = Invitee("Anna", "anna@example.org")
BERT = Invitee("Bert", "bert@example.org")
CLARA = Invitee("Clara", "clara@example.org")
ANYBODY = Invitee("", who="anybody")
RELAY = {"smtp": "smtp://127.0.0.1:1"}


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Site]:
    """A site whose letters leave, and which therefore asks for the proof of addresses."""
    site = Site(tmp_path, **RELAY)
    yield site
    site.app.close()


def open_for(site: Site, *guests: Invitee, key: str = "", by: str = "") -> OpenedTable:
    sign_in = ProvenPerson(person(site, by)) if by else None
    return apps.open_new(site.app, "kaiser", {}, guests, 0, key=key, signed_in=sign_in)


def count(site: Site) -> int:
    with site.app.store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(tables)).scalar_one())


def person(site: Site, address: str) -> int:
    with site.app.store.reading() as connection:
        return int(connection.execute(select(people.c.id).where(people.c.address == address)).scalar_one())


def list_personal_letters(site: Site, address: str) -> list[str]:
    """Return the kinds of the letters to this person that belong to no seat."""
    with site.app.store.reading() as connection:
        own = select(letters.c.kind).where(letters.c.person == person(site, address)).order_by(letters.c.id)
        return list(connection.execute(own).scalars())


def list_due_letters(site: Site) -> list[str]:
    """Return the kinds of the table letters that are due now."""
    with site.app.store.reading() as connection:
        due = select(letters.c.kind).where(letters.c.due_at <= site.time, letters.c.table != "")
        return sorted(connection.execute(due).scalars())


def list_invited_names(site: Site) -> list[str]:
    """Return the names of the people whose invitations are due now."""
    with site.app.store.reading() as connection:
        joined = letters.join(seats, (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat))
        due = (letters.c.kind == "invitation", letters.c.due_at <= site.time)
        return sorted(connection.execute(select(seats.c.name).select_from(joined).where(*due)).scalars())


def make_proof(site: Site, address: str) -> str:
    return site.app.links.make_confirm_token(person(site, address), address)


def confirm_person(site: Site, address: str) -> int:
    """Store a person who has proven this address; return the number of the row."""
    with site.app.store.writing() as connection:
        number = register.find_or_create_person(connection, address, "Anna", site.time)
        connection.execute(update(people).where(people.c.id == number).values(confirmed_at=site.time))
    return number


def sign_in(site: Site, number: int) -> Visitor:
    visitor = site.new_visitor()
    visitor.post(f"/enter/{site.app.links.make_sign_in_token(number, 0, site.time)}")
    return visitor


# Open tables


def test_anybody_with_the_link_takes_a_free_seat(site: Site) -> None:
    visitor = site.new_visitor()
    rows = {**ROWS, "players": "free seat\nfree seat"}
    response = visitor.post("/new/kaiser", **rows)
    page = visitor.get(response.location)
    assert "for anyone with the link" in page
    address = re.search(r'value="http://[^/"]+(/join/[^"]+)"', page)
    assert address
    assert PageChecker(visitor.get(address[1])).faults == []
    for name, text in (("Bert", "You have sat down"), ("Clara", "data-stage")):
        response = visitor.post(address[1], name=name, address=f"{name.lower()}@example.org")
        assert response.status_code == 303
        assert text in visitor.get(response.location)
    visitor.get(address[1], 404)
    own = response.location.rsplit("/", 1)[1]
    snapshot = apps.load_table(site.app, access.find(site.app, own).table)
    assert snapshot.names == ("Anna", "Bert", "Clara")
    assert [chair.status for chair in snapshot.position.seats] == ["taken", "taken", "taken"]


# Bots and their levels


def test_bots_have_the_level_that_the_form_chose(site: Site) -> None:
    visitor = site.new_visitor()
    own = visitor.post("/new/kaiser", **{**ROWS, "players": "bot strong\nbot\nHal (easy bot)"}).location.rsplit("/", 1)[
        1
    ]
    snapshot = apps.load_table(site.app, access.find(site.app, own).table)
    assert snapshot.names == ("Anna", "Bot 1", "Bot 2", "Hal")
    assert [seat.level for seat in snapshot.seats] == ["", "strong", "", "easy"]


def test_a_game_against_bots_asks_for_their_level(site: Site) -> None:
    visitor = site.new_visitor()
    assert PageChecker(visitor.get("/play/kurier")).faults == []
    own = visitor.post("/play/kurier", name="Anna", bots="2", level="easy").location.rsplit("/", 1)[1]
    snapshot = apps.load_table(site.app, access.find(site.app, own).table)
    assert [seat.level for seat in snapshot.seats] == ["", "easy", "easy"]


@pytest.mark.parametrize(("language", "words"), [("nl", "een sterke bot"), ("de", "ein starker Bot")])
def test_a_level_is_named_in_the_language_of_the_reader(site: Site, language: str, words: str) -> None:
    visitor = site.new_visitor()
    own = visitor.post("/play/kaiser", name="Anna", bots="1", level="strong").location
    visitor.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
    page = visitor.get(own)
    assert words in page
    assert "(strong)" not in page


def test_a_bot_moves_on_its_level_and_its_choice_can_be_made_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = []

    def think(game: str, edition: int, state: object, seat: int, level: Level, seed: bytes, but: object) -> str:
        requests.append((level.evaluations, seed))
        return "a move"

    monkeypatch.setattr(levels, "think", think)
    opened = open_for(site, ANNA, Invitee("Hal", level="strong"), Invitee("Sal"))
    snapshot = apps.load_table(site.app, opened.table)
    for seat in (1, 1, 2, 0):
        bots.choose(site.app, snapshot, seat)
    strong, normal = (LEVELS[name].evaluations for name in ("strong", "normal"))
    assert [evaluations for evaluations, _ in requests] == [strong, strong, normal, normal]
    assert requests[0] == requests[1]
    assert len({seed for _, seed in requests}) == 3


def test_an_address_that_is_refused_leaves_the_settings_folded(site: Site) -> None:
    guests = "Kim <kim@example.org>\nJürgen <jürgen@example.org>\nbot\nbot"
    page = site.new_visitor().post("/new/kaiser", **{**ROWS, "players": guests})
    assert "“jürgen@example.org” is not an e-mail address" in page.text
    assert '<details class="settings">' in page.text
    assert 'rows="4"' in page.text


# Links to free seats


def test_only_the_organiser_sees_the_link_that_gives_seats_away(site: Site) -> None:
    opened = open_for(site, ANNA, BERT, ANYBODY)
    assert opened.links[2] == ""
    pages = [site.new_visitor().get(f"/t/{link}") for link in (*opened.links[:2], opened.watch)]
    assert [f"/join/{opened.join}" in page for page in pages] == [True, False, False]


def test_a_guest_who_joins_gets_the_link_by_letter_too(site: Site) -> None:
    opened = open_for(site, ANNA, ANYBODY)
    joining.join(site.app, opened.join, BERT)
    with site.app.store.reading() as connection:
        own = select(letters.c.kind).where(letters.c.table == opened.table, letters.c.seat == 1)
        assert list(connection.execute(own).scalars()) == ["invitation"]


def test_one_of_two_guests_gets_the_last_seat(site: Site) -> None:
    opened, both = open_for(site, ANNA, ANYBODY), Barrier(2)

    def try_it(guest: Invitee) -> str:
        both.wait(10)
        try:
            return joining.join(site.app, opened.join, guest)
        except Unknown as unknown:
            return str(unknown)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(try_it, (BERT, CLARA)))
    assert len([answer for answer in answers if " " not in answer]) == 1
    assert site.load(opened).names[1] in ("Bert", "Clara")


@pytest.mark.parametrize(
    ("guest", "sentence"),
    [
        (Invitee("Bertha", "anna@example.org"), "You have a seat at this table already"),
        (Invitee("ANNA", "other@example.org"), "is called ANNA already"),
        (Invitee("Bert", "no"), "is not an e-mail address"),
        (Invitee("Bert", "bert@example"), "“bert@example” is not an e-mail address"),
        (Invitee("Bert", ".bert@example.org"), "“.bert@example.org” is not an e-mail address"),
        (Invitee("Bert", "bert.@example.org"), "“bert.@example.org” is not an e-mail address"),
        (Invitee("", "bert@example.org"), "Please give every player a name"),
    ],
)
def test_a_guest_cannot_join_twice_or_under_anothers_name(site: Site, guest: Invitee, sentence: str) -> None:
    opened = open_for(site, ANNA, ANYBODY)
    response = site.new_visitor().post(f"/join/{opened.join}", name=guest.name, address=guest.address)
    assert response.status_code == 422
    assert sentence in response.text


def test_a_table_that_is_not_open_cannot_be_joined(site: Site) -> None:
    opened = open_for(site, ANNA, BERT)
    assert opened.join == ""
    for token in (site.app.links.make_join_token(opened.table), f"{opened.table}.x", "x", "é"):
        site.new_visitor().get(f"/join/{token}", 404)


def test_bots_take_the_free_seats_when_the_organiser_waits_no_longer(site: Site) -> None:
    opened, visitor = open_for(site, ANNA, ANYBODY, Invitee("Bot 1"), ANYBODY), site.new_visitor()
    visitor.post(f"/t/{opened.links[0]}/sit", nonce="word")
    assert visitor.post(f"/t/{opened.watch}/fill").status_code == 422
    page = visitor.get(visitor.post(f"/t/{opened.links[0]}/fill").location)
    snapshot = site.load(opened)
    assert snapshot.position.phase == "playing"
    assert len(set(snapshot.names)) == 4
    assert "<svg" in page


@pytest.mark.parametrize(
    ("guests", "sentence"),
    [
        ((ANYBODY, ANNA), "put your own name before"),
        ((ANYBODY, ANYBODY), "At least one player"),
        ((Invitee("Anna", who="person"), ANYBODY), "you can play against bots only"),
        ((Invitee("Anna", who="person"), BERT), "you can play against bots only"),
        ((ANNA, Invitee("Bert", who="person")), "you can play against bots only"),
    ],
)
def test_the_organiser_needs_an_address_except_in_a_game_against_bots(
    site: Site, guests: object, sentence: str
) -> None:
    with pytest.raises(Refused, match=sentence):
        open_for(site, *guests)  # type: ignore[misc]


# Against bots


def test_from_the_lobby_to_the_board_in_one_form(site: Site) -> None:
    visitor = site.new_visitor()
    assert "/play/kaiser" in visitor.get("/")
    page = visitor.get("/play/kaiser")
    assert PageChecker(page).faults == []
    response = visitor.post("/play/kaiser", name="Anna", bots="2")
    page = visitor.get(response.location)
    assert "<svg" in page
    assert "keep the address of this page" in page
    assert "Vacation" not in page
    place = access.find(site.app, response.location.rsplit("/", 1)[1])
    snapshot = apps.load_table(site.app, place.table)
    assert [chair.status for chair in snapshot.position.seats] == ["taken", "bot", "bot"]
    assert snapshot.position.seats[0].nonce
    assert snapshot.clock.pace == 0


def test_who_gives_no_address_gets_no_letter_and_plays_to_the_end(site: Site) -> None:
    visitor = site.new_visitor()
    link = visitor.post("/play/kaiser", name="Anna", bots="1").location.rsplit("/", 1)[1]
    with site.app.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(letters)).scalar_one() == 0
    visitor.submit(link, "vacation 2027-02-01 2027-02-03")
    assert "Bot 1 wins" in visitor.submit(link, "resign")


def test_an_address_brings_letters_against_bots_too(site: Site) -> None:
    location = site.new_visitor().post("/play/kaiser", name="Anna", address="anna@example.org", bots="1").location
    opened = access.find(site.app, location.rsplit("/", 1)[1]).table
    while apps.load_table(site.app, opened).seats[0].open_since is None:
        bots.run()
    assert list_due_letters(site) == ["turn"]


@pytest.mark.parametrize("bots", ["0", "9", "x", "", "٢"])
def test_so_many_bots_as_the_game_seats(site: Site, bots: str) -> None:
    response = site.new_visitor().post("/play/kaiser", name="Anna", bots=bots)
    assert response.status_code == (303 if bots == "٢" else 422)


# Once


def test_a_form_sent_twice_opens_one_table(site: Site) -> None:
    visitor = site.new_visitor()
    key = re.search(r'name="key" value="([^"]+)"', visitor.get("/new/kaiser"))
    assert key
    places = {visitor.post("/new/kaiser", **ROWS, key=key[1]).location for _ in range(2)}
    assert len(places) == 1
    other = visitor.post("/new/kaiser", **{**ROWS, "name": "Annabel"}, key=key[1])
    assert other.location not in places
    assert count(site) == 2


def test_two_at_once_with_one_wish_open_one_table(site: Site) -> None:
    both = Barrier(2)

    def try_it(_: int) -> OpenedTable:
        both.wait(10)
        return open_for(site, ANNA, BERT, key="0123456789abcdef")

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(try_it, range(2))
    assert one == other
    assert count(site) == 1


def test_without_a_key_the_same_twice_is_two_tables(site: Site) -> None:
    assert open_for(site, ANNA, BERT).table != open_for(site, ANNA, BERT).table


def test_the_api_takes_a_key_and_seats_for_anybody(site: Site) -> None:
    client = site.flask_app.test_client()
    players = [{"name": "Anna", "address": "anna@example.org"}, {"who": "anybody"}]
    body = {"game": "kaiser", "players": players, "key": "0123456789abcdef"}
    first, again = (client.post("/api/v1/tables", json=body) for _ in range(2))
    assert first.json == again.json
    assert first.json
    assert site.new_visitor().get(f"/join/{first.json['join']}")
    assert client.post("/api/v1/tables", json={**body, "key": "1"}).status_code == 422


# Whose address is it?


def test_no_invitation_leaves_before_the_organiser_has_confirmed_his_address(strict: Site) -> None:
    visitor = strict.new_visitor()
    response = visitor.post("/new/kaiser", **ROWS)
    page = visitor.get(response.location)
    assert "We wrote to anna@example.org" in page
    assert "is invited as soon as" in page
    table = access.find(strict.app, response.location.rsplit("/", 1)[1]).table
    assert list_personal_letters(strict, "anna@example.org") == [f"confirm/{table}"]
    assert list_due_letters(strict) == []
    address = f"/confirm/{make_proof(strict, 'anna@example.org')}"
    for _ in range(2):
        assert "Yes, that is me" in visitor.get(address)
    assert list_due_letters(strict) == []
    page = visitor.post(address, table=table, seat="0", answer="yes").text
    assert "letters are on their way" in page
    assert response.location in page
    assert list_invited_names(strict) == ["Bert"]
    assert "We wrote to" not in visitor.get(response.location)
    assert visitor.post(address, table=table, seat="0", answer="yes").status_code == 200


def test_the_organiser_sits_down_without_an_invitation_if_no_letter_leaves(site: Site) -> None:
    site.new_visitor().post("/new/kaiser", **ROWS)
    assert list_invited_names(site) == ["Bert"]


def test_the_organiser_sits_down_without_an_invitation(strict: Site) -> None:
    strict.new_visitor().post("/new/kaiser", **ROWS)
    apps.confirm_all(strict.app, make_proof(strict, ROWS["address"]))
    assert list_invited_names(strict) == ["Bert"]
    opened = open_for(strict, msgspec.structs.replace(ANNA, nonce="word"), CLARA, by=ANNA.address)
    assert [seat.status for seat in strict.load(opened).seats] == ["taken", "invited"]
    assert list_invited_names(strict) == ["Bert", "Clara"]


def test_an_organiser_who_is_not_seated_gets_the_link_of_the_own_table(strict: Site) -> None:
    open_for(strict, ANNA, BERT)
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    assert list_invited_names(strict) == ["Anna", "Bert"]


def test_a_stranger_who_types_an_address_seats_no_one_there(strict: Site) -> None:
    number = confirm_person(strict, ANNA.address)
    visitor = sign_in(strict, number)
    strict.new_visitor().post("/new/kaiser", **ROWS)
    strict.new_visitor().post("/play/kaiser", name="Anna", address=ANNA.address, bots="1")
    assert apps.load(strict.app, my_tables.list_running, number) == []
    assert apps.load(strict.app, my_tables.list_turns, number) == []
    page = visitor.get("/my")
    assert page.count("Opened with your address:") == 2
    apps.confirm_all(strict.app, make_proof(strict, ANNA.address))
    assert len(apps.load(strict.app, my_tables.list_running, number)) == 2
    assert "Was this you?" not in visitor.get("/my")


def test_a_game_that_a_stranger_lost_with_a_typed_address_counts_for_no_player(strict: Site) -> None:
    number = confirm_person(strict, ANNA.address)
    link = (
        strict.new_visitor()
        .post("/play/kaiser", name="Anna", address=ANNA.address, bots="1")
        .location.rsplit("/", 1)[1]
    )
    submitting.submit(strict.app, access.find(strict.app, link), "resign", "end")
    assert apps.load(strict.app, my_tables.list_finished, number) == []
    assert apps.run_query(strict.app, my_tables.load_record, number).games == {}
    apps.confirm_all(strict.app, make_proof(strict, ANNA.address))
    assert apps.run_query(strict.app, my_tables.load_record, number).games == {"kaiser": {2: 1}}


def test_forms_show_a_signed_in_player_who_plays_without_another_proof(strict: Site) -> None:
    visitor = sign_in(strict, confirm_person(strict, ANNA.address))
    for path in ("/new/kaiser", "/play/kaiser"):
        assert 'value="anna@example.org"' in visitor.get(path)
        assert 'value="anna@example.org"' not in strict.new_visitor().get(path)
    link = visitor.post("/play/kaiser", name="Anna", address=ANNA.address, bots="1").location.rsplit("/", 1)[1]
    assert not apps.load_table(strict.app, access.find(strict.app, link).table).row.awaits_confirmation


def test_the_api_seats_an_organiser_who_gives_a_word(site: Site) -> None:
    players = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bert", "address": "bert@example.org"}]
    body = {"game": "kaiser", "players": players}
    for word, expected in (("", ["Anna", "Bert"]), ("hat", ["Anna", "Bert", "Bert"])):
        answer = site.flask_app.test_client().post("/api/v1/tables", json={**body, "nonce": word}).json
        assert answer
        assert [seat.status for seat in apps.load_table(site.app, answer["table"]).position.seats] == [
            "taken" if word else "empty",
            "empty",
        ]
        assert list_invited_names(site) == expected


def test_once_confirmed_every_later_table_that_one_opens_signed_in_is_open_at_once(strict: Site) -> None:
    open_for(strict, ANNA, BERT)
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    opened = open_for(strict, ANNA, CLARA, by="anna@example.org")
    assert not strict.load(opened).row.awaits_confirmation
    assert len(list_due_letters(strict)) == 4


def test_a_proof_releases_all_tables_of_its_organiser_and_no_others(strict: Site) -> None:
    mine, more = open_for(strict, ANNA, BERT), open_for(strict, Invitee("Bot"), ANNA)
    other = open_for(strict, BERT, ANNA)
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    assert [strict.load(one).row.awaits_confirmation for one in (mine, more, other)] == [False, False, True]


def test_a_forged_proof_proves_nothing(strict: Site) -> None:
    open_for(strict, ANNA, BERT)
    number = person(strict, "anna@example.org")
    of_another = strict.app.links.make_confirm_token(number, "bert@example.org")
    for forged in (of_another, f"{number}.x", "x", "é", "9" * 30 + ".x"):
        strict.new_visitor().get(f"/confirm/{forged}", 404)
        assert strict.new_visitor().post(f"/confirm/{forged}").status_code == 404


def test_a_mistyped_address_is_corrected_by_the_organiser_alone(strict: Site) -> None:
    opened = open_for(strict, Invitee("Anna", "ana@example.org"), BERT)
    visitor, path = strict.new_visitor(), f"/t/{opened.links[0]}/address"
    old = make_proof(strict, "ana@example.org")
    assert visitor.post(f"/t/{opened.watch}/address", address="x@example.org").status_code == 422
    assert visitor.post(path, address="bert@example.org").status_code == 422
    response = visitor.post(path, address="anna@example.org")
    assert "We wrote to anna@example.org" in visitor.get(response.location)
    visitor.get(f"/confirm/{old}", 404)
    with strict.app.store.reading() as connection:
        assert "ana@example.org" not in connection.execute(select(people.c.address)).scalars().all()
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    assert list_due_letters(strict) == ["invitation", "invitation"]
    assert visitor.post(path, address="x@example.org").status_code == 422


def test_a_seat_taken_by_a_mailed_link_proves_the_address(strict: Site) -> None:
    opened = open_for(strict, ANNA, BERT)
    assert opened.links[1] == ""
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    link = access.make_seat_link(strict.app, strict.load(opened).seats[1])
    strict.new_visitor().post(f"/t/{link}/sit", nonce="word")
    assert not strict.load(open_for(strict, BERT, CLARA, by="bert@example.org")).row.awaits_confirmation


def test_the_organisers_own_seat_proves_nothing(strict: Site) -> None:
    opened = open_for(strict, ANNA, BERT)
    strict.new_visitor().post(f"/t/{opened.links[0]}/sit", nonce="word")
    assert strict.load(opened).row.awaits_confirmation


def test_signing_in_asks_about_each_table_and_confirms_none(strict: Site) -> None:
    opened = open_for(strict, ANNA, BERT)
    page = sign_in(strict, person(strict, "anna@example.org")).get("/my")
    assert "Was this you?" in page
    assert strict.load(opened).row.awaits_confirmation


def test_a_guest_with_an_unproven_address_is_asked_first(strict: Site) -> None:
    open_for(strict, ANNA, BERT)
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    opened = open_for(strict, ANNA, ANYBODY)
    response = strict.new_visitor().post(f"/join/{opened.join}", name="Clara", address="clara@example.org")
    assert list_personal_letters(strict, "clara@example.org") == [f"confirm/{opened.table}"]
    assert "We wrote to clara@example.org" in strict.new_visitor().get(response.location)


def test_what_is_for_an_unproven_address_waits_for_its_proof(strict: Site, smtp_sink: Sink) -> None:
    strict.app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    open_for(strict, ANNA, BERT)
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    opened = open_for(strict, ANNA, ANYBODY, by="anna@example.org")
    joining.join(strict.app, opened.join, CLARA)
    strict.new_visitor().post(f"/t/{opened.links[0]}/sit", nonce="word")
    while strict.find_mover(opened) == 0:
        strict.submit(opened, strict.list_moves(opened)[0])
    strict.time += 120
    post.run()
    to = [str(letter["To"]) for letter in smtp_sink.letters]
    assert [one for one in to if "clara" in one] == ["Clara <clara@example.org>"]
    assert "If you sat down there, say yes" in " ".join(
        smtp_sink.letters[-1].get_body(("plain",)).get_content().split()
    )
    apps.confirm_all(strict.app, make_proof(strict, "clara@example.org"))
    post.run()
    subjects = [str(letter["Subject"]) for letter in smtp_sink.letters if "clara" in str(letter["To"])]
    assert len(subjects) == 2
    assert subjects[0] == "Please confirm your address"


def test_an_answer_by_mail_proves_the_address(strict: Site) -> None:
    open_for(strict, ANNA, BERT)
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    opened = open_for(strict, ANNA, CLARA)
    to = strict.app.links.make_reply_address(strict.app.settings, strict.load(opened).seats[1])
    mail = EmailMessage()
    mail["From"], mail["To"] = "clara@example.org", to
    mail.set_content("sit")
    inbox.process_mail(strict.app, mail.as_bytes(), to, "clara@example.org")
    assert strict.load(opened).seats[1].proven


# Floods


def test_an_unconfirmed_address_can_hold_only_a_few_tables(strict: Site) -> None:
    for _ in range(3):
        open_for(strict, ANNA, BERT)
    with pytest.raises(Refused, match="confirm your address first"):
        open_for(strict, ANNA, BERT)
    other = open_for(strict, CLARA, BERT)
    with pytest.raises(Refused, match="confirm your address first"):
        addresses.correct_address(strict.app, other.links[0], "anna@example.org")


def test_the_number_of_new_tables_in_an_hour_is_limited(tmp_path: Path) -> None:
    site = Site(tmp_path, **RELAY, opens_per_hour=4, confirm=False)
    for _ in range(4):
        open_for(site, ANNA, Invitee("Bot"))
    with pytest.raises(Refused, match="a little too much"):
        open_for(site, ANNA, Invitee("Bot"))
    open_for(site, BERT, ANNA)
    site.time += 3600
    open_for(site, ANNA, BERT)
    site.app.close()
