"""The host's page shows the state of the server, no secrets of games, and the repairs that a host can do."""

import re
import time

import pytest
from sqlalchemy import event, insert, select, update
from standardwebhooks import Webhook, WebhookVerificationError

from engine import catalogue
from service import cli
from service.accounts import addresses
from service.hosting import overview
from service.notify import channels, webhooks
from service.notify.webhooks import Target
from service.people import register
from service.people.proof import ProvenPerson
from service.store import channel_queries, queries
from service.store.batch import OwedLetter
from service.store.schema import deliveries, followers, letters, people, seats, tables
from tests import apps
from tests.receivers import Receiver
from tests.sites import ROWS, PageChecker, Site, Visitor
from workers.outgoing import personal_letters
from workers.outgoing.letter import LetterRequest


@pytest.fixture
def door(site: Site) -> str:
    return f"/host/{overview.get_link(site.app)}"


def test_the_page_shows_the_state_of_the_server(site: Site, visitor: Visitor, door: str) -> None:
    playing, gathering = site.start_table(), site.open_table("Carla", "Dirk")
    page = visitor.get(door)
    assert playing.table in page
    assert gathering.table in page
    assert "1 table gathering, 1 table playing" in page or "1 table playing, 1 table gathering" in page
    assert "Carla and Dirk" in page  # whom the second waits for


def test_each_field_has_a_name_and_nothing_is_between_it_and_its_button(
    site: Site, visitor: Visitor, door: str
) -> None:
    opened = site.start_table()
    page = visitor.get(f"{door}?table={opened.table}")
    assert "<input" in page
    assert PageChecker(page).faults == []
    assert "placeholder" not in page


def test_it_shows_no_link_no_draw_and_no_note(site: Site, visitor: Visitor, door: str) -> None:
    opened = site.start_table(game="kurier")
    page = visitor.get(f"{door}?table={opened.table}")
    snapshot = site.load(opened)
    secrets = [*opened.links, opened.watch, snapshot.row.seed.hex()]
    assert not [secret for secret in secrets if secret in page]


@pytest.mark.parametrize("game", catalogue.find_all())
def test_it_reads_nothing_that_holds_a_hand_or_a_draw(site: Site, visitor: Visitor, door: str, game: str) -> None:
    """Hands and draws are in entries, and nowhere else; plans, hints, talk and notes are their players' own."""
    opened, statements = site.start_table(game=game), list[str]()
    event.listen(site.app.store.engine, "before_cursor_execute", lambda *words: statements.append(words[2]))
    page = visitor.get(f"{door}?table={opened.table}")
    assert opened.table in page
    read = set(re.findall(r'\b(?:FROM|JOIN)\s+"?(\w+)', " ".join(statements)))
    assert {"tables", "seats", "letters", "people"} <= read
    assert not read & {"entries", "submissions", "orders", "branches", "hints", "talk", "mails", "mailbox"}


def test_what_its_tables_hold_of_seeds_links_and_notes_is_not_on_it(site: Site, visitor: Visitor, door: str) -> None:
    opened = site.start_table()
    secret = "a word of my own, for me alone"
    with site.app.store.writing() as connection:
        connection.execute(update(seats).values(note=secret))
        rows = [*connection.execute(select(tables)).all(), *connection.execute(select(seats)).all()]
    page = visitor.get(f"{door}?table={opened.table}")
    secrets = [
        getattr(row, name, None)
        for row in rows
        for name in ("seed", "commitment", "head", "spectator_link", "link", "note")
    ]
    texts = [value.hex() if isinstance(value, bytes) else value for value in secrets]
    assert secret in texts
    assert not [text for text in texts if text and text in page]


def test_only_the_newest_link_of_the_host_opens_the_page(site: Site, visitor: Visitor, door: str) -> None:
    assert "This is not the host&#39;s link" in visitor.get("/host/abcdefghijklmnopqrstuvwxyz234567", 404)
    newer = f"/host/{overview.get_link(site.app, renew=True)}"
    visitor.get(door, 404)
    visitor.get(newer)
    assert visitor.post(f"{door}/notice", name="banner", words="mine").status_code == 404
    assert site.app.notices.get().banner == ""


def test_a_banner_is_on_every_page_until_it_is_taken_down(site: Site, visitor: Visitor, door: str) -> None:
    visitor.post(f"{door}/notice", name="banner", words="Closed <b>on Sunday</b>")
    assert "Closed &lt;b&gt;on Sunday&lt;/b&gt;" in visitor.get("/")
    visitor.post(f"{door}/notice", name="banner", words="")
    assert "Closed" not in visitor.get("/")


def test_a_closed_house_opens_no_tables_and_those_that_are_open_go_on(site: Site, visitor: Visitor, door: str) -> None:
    opened = site.start_table()
    visitor.post(f"{door}/notice", name="closed", words="We are moving house until Monday.")
    page = visitor.post("/new/kaiser", **ROWS)
    assert page.status_code == 422
    assert "No new tables are opened here for now: We are moving house until Monday." in page.text
    site.submit(opened, site.list_moves(opened)[0])


def test_bots_finish_a_table_that_its_players_left(site: Site, visitor: Visitor, door: str) -> None:
    opened = site.start_table()
    assert visitor.post(f"{door}/finish/{opened.table}").status_code == 303
    assert [seat.status for seat in site.load(opened).position.seats] == ["bot", "bot"]
    gathering = site.open_table()
    refused = visitor.post(f"{door}/finish/{gathering.table}")
    assert "Only a table that is being played can be finished." in refused.text


def test_an_address_that_takes_no_letters_is_replaced(site: Site, visitor: Visitor, door: str) -> None:
    opened = site.start_table()
    with site.app.store.writing() as connection:
        person = connection.execute(select(people.c.id).where(people.c.address == "bert@example.org")).scalar_one()
        addresses.record_bounce(connection, person, "550 no such user", site.time)
        queries.owe_letter(connection, opened.table, 2, OwedLetter(1, "turn", site.time))
        connection.execute(
            update(letters)
            .where(letters.c.seat == 1, letters.c.kind == "turn")
            .values(sent_at=site.time, outcome="address bounced")
        )
    assert "550 no such user" in visitor.get(door)
    taken = visitor.post(f"{door}/readdress/{person}", address="anna@example.org")
    assert "This address is taken" in taken.text
    assert visitor.post(f"{door}/readdress/{person}", address="bert@example.net").status_code == 303
    with site.app.store.reading() as connection:
        row = connection.execute(select(people).where(people.c.id == person)).one()
        lost = connection.execute(select(letters.c.sent_at).where(letters.c.seat == 1, letters.c.kind == "turn"))
        assert (row.address, row.bounced_at, row.confirmed_at) == ("bert@example.net", None, None)
        assert set(lost.scalars()) == {None}
    assert visitor.post(f"{door}/readdress/999", address="x@example.net").status_code == 422


def test_a_refused_letter_is_tried_again(site: Site, visitor: Visitor, door: str) -> None:
    opened = site.start_table()
    with site.app.store.writing() as connection:
        queries.owe_letter(connection, opened.table, 2, OwedLetter(0, "turn", site.time))
        conditions = (letters.c.seat == 0, letters.c.kind == "turn")
        connection.execute(update(letters).where(*conditions).values(sent_at=site.time, outcome="refused: 550 spam"))
        number = connection.execute(select(letters.c.id).where(*conditions)).scalars().first()
    assert "refused: 550 spam" in visitor.get(door)
    assert visitor.post(f"{door}/send/{number}").status_code == 303
    with site.app.store.writing() as connection:
        row = connection.execute(select(letters).where(letters.c.id == number)).one()
        assert (row.sent_at, row.outcome) == (None, "")
        connection.execute(update(letters).where(letters.c.id == number).values(sent_at=site.time, outcome="sent"))
    assert "This letter was sent already" in visitor.post(f"{door}/send/{number}").text


def test_the_command_prints_a_link_that_opens(
    site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(site.app.settings.folder))
    assert cli.main(["host-link", "--renew"]) == 0
    address = capsys.readouterr().out.strip()
    assert address.startswith("http://127.0.0.1:8765/host/")
    visitor.get(address.removeprefix("http://127.0.0.1:8765"))


def test_the_command_prints_and_renews_the_key_of_web_push(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(site.app.settings.folder))
    keys = []
    for words in (["push-key"], ["push-key"], ["push-key", "--renew"]):
        assert cli.main(words) == 0
        keys.append(capsys.readouterr().out.split()[-1])
    assert keys[0] == keys[1] != keys[2]


def test_the_host_sees_what_left_by_which_channel(site: Site, visitor: Visitor, door: str) -> None:
    table = site.open_table().table
    with site.app.store.writing() as db:
        person = register.find_or_create_person(db, "anna@example.org", "Anna", site.time)
        row = {"person": person, "kind": "push", "label": "x", "address": "https://x", "groups": "", "created_at": 0}
        channel = channel_queries.insert_channel(db, row)
        given = {"table": "", "channel": channel, "created_at": 0, "due_at": 0, "ended_at": site.time}
        outcomes = ("sent", "sent", "refused: 413", "withdrawn")
        db.execute(insert(deliveries), [{**given, "letter": n, "outcome": one} for n, one in enumerate(outcomes)])
        letter = {"kind": "turn", "due_at": 0, "sent_at": site.time}
        words = ("sent", "sent", "sent", "refused: 550 no", "overtaken")
        db.execute(insert(letters), [{**letter, "seq": n, "seat": 0, "outcome": one} for n, one in enumerate(words)])
        follower = {"table": table, "person": person, "kind": "discord", "address": "https://x"}
        numbers = {"language": "en", "next_seq": 0, "created_at": 0, "due_at": 0, "sent": 4, "failed": 2}
        db.execute(insert(followers), {**follower, **numbers})
    page = visitor.get(door)
    assert "<tr><td>push</td><td>2</td><td>1</td></tr>" in page
    assert "<tr><td>letters</td><td>3</td><td>1</td></tr>" in page
    assert "<tr><td>chats of tables</td><td>4</td><td>2</td></tr>" in page


def test_the_command_signs_all_people_out(
    site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(site.app.settings.folder))
    with site.app.store.writing() as db:
        person = register.find_or_create_person(db, "anna@example.org", "Anna", site.time)
    visitor.post(f"/enter/{site.app.links.make_sign_in_token(person, 0, site.time)}")
    assert visitor.client.get("/my").status_code == 200
    unused = site.app.links.make_sign_in_token(person, 0, site.time + 1)
    assert cli.main(["renew", "sessions"]) == 0
    assert "Visits that have ended: 1" in capsys.readouterr().out
    assert visitor.client.get("/my").status_code == 303
    site.time += 1
    assert visitor.post(f"/enter/{unused}").status_code == 404


def test_the_command_renews_the_secrets_of_webhooks_and_no_message_is_missed(
    site: Site, visitor: Visitor, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(site.app.settings.folder))
    opened = site.start_table()
    person = ProvenPerson(site.load(opened).seats[0].person or 0)
    number = webhooks.add(site.app, person, "My bot", webhooks.make_target("webhook", receiver.url(), ""))
    secrets = list[str]()
    for _ in range(3):
        channel = apps.run_query(site.app, channels.find_own, person, number)
        secrets.append(webhooks.get_newest_secret(channel.secret))
        site.app.now = lambda: int(time.time())
        assert webhooks.try_out(site.app, Target("webhook", receiver.url(), channel.secret), "en").outcome == "sent"
        for secret in secrets[-2:]:  # a program that knows only the former one takes it, too
            Webhook(secret).verify(receiver.requests[-1].body, dict(receiver.requests[-1].headers))
        assert cli.main(["renew", "webhooks"]) == 0
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify(receiver.requests[-1].body, dict(receiver.requests[-1].headers))
    with site.app.store.reading() as db:
        owed = db.execute(select(letters.c.kind).where(letters.c.kind.startswith("secret/"))).scalars().all()
    assert len(owed) >= 1
    request = LetterRequest("", 0, 0, owed[0], "anna@example.org", "Anna", person=person.id)
    letter = personal_letters.compose(site.app, request)
    assert letter is not None
    assert letter.subject == "“My bot” has a new secret"
