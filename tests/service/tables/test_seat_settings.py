"""Settings of a seat: private notes, moves without confirmation, and consent to spectators."""

import html
import json

import pytest
from sqlalchemy import select, update

from service.people import letter_settings
from service.people.letter_settings import LetterSettings, TableLetterSettings
from service.store.schema import people, seats
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee, OpenedTable
from tests import apps
from tests.sites import ROWS, Site, Visitor
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write

SECRET = "castle him in the south"


def send(visitor: Visitor, link: str, what: str, status: int = 303, **fields: str) -> str:
    """Send one of the forms; the page that comes back."""
    response = visitor.post(f"/t/{link}/{what}", **fields)
    assert response.status_code == status, response.text
    return html.unescape(visitor.get(response.location) if status == 303 else response.text)


# Notes


def test_a_note_is_kept_and_shown_to_its_writer(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    assert f"{SECRET}\nand wait</textarea>" in send(visitor, opened.links[0], "note", note=f"{SECRET}\r\nand wait\r\n")
    assert SECRET not in send(visitor, opened.links[0], "note", note="")


def test_a_note_is_shown_to_its_own_seat_alone(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    send(visitor, opened.links[0], "note", note=SECRET)
    for over in (False, True):
        if over:
            site.submit(opened, "resign", 1)
        for link in (opened.links[1], opened.watch):
            for path in (f"/t/{link}", f"/t/{link}/replay", f"/t/{link}/log.json", f"/api/v1/t/{link}"):
                assert SECRET not in visitor.get(path), path
        for path in ("/replay", "/log.json"):
            assert SECRET not in visitor.get(f"/t/{opened.links[0]}{path}")
        for seat, kind in ((0, "turn"), (1, "turn"), (0, "over"), (1, "over")):
            since = site.load(opened).seats[seat].open_since or 0
            letter = write(site.app, LetterRequest(opened.table, since, seat, kind, "a@example.org", "A"))
            assert SECRET not in (letter.as_string() if letter else "")


def test_a_note_too_long_or_unreadable_is_refused(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    assert "at most 4000 letters; this one has 4001" in send(visitor, opened.links[0], "note", 422, note="x" * 4_001)
    assert "without control characters" in send(visitor, opened.links[0], "note", 422, note="a\x00")
    assert "only players can do this" in send(visitor, opened.watch, "note", 422, note="mine")


# Moving without asking again


def test_moving_without_asking_again_is_one_switch_at_this_table(site: Site, visitor: Visitor) -> None:
    opened, other = site.start_table(), site.start_table()
    link = opened.links[site.find_mover(opened)]
    assert " data-at-once" not in visitor.get(f"/t/{link}")
    assert " data-at-once" in send(visitor, link, "at-once", wanted="yes")
    assert " data-at-once" not in visitor.get(f"/t/{other.links[site.find_mover(other)]}")
    assert " data-at-once" not in send(visitor, link, "at-once", wanted="no")
    assert "only players can do this" in send(visitor, opened.watch, "at-once", 422, wanted="yes")


def test_the_switch_leaves_what_else_is_wished_for_at_this_table(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    own = (seats.c.table == opened.table, seats.c.seat == 0)
    with site.app.store.writing() as connection:
        connection.execute(
            update(seats)
            .where(*own)
            .values(letter_settings=letter_settings.dump_settings(TableLetterSettings(plain=True)))
        )
    send(visitor, opened.links[0], "at-once", wanted="yes")
    with site.app.store.reading() as connection:
        stored = connection.execute(select(seats.c.letter_settings).where(*own)).scalar_one()
    assert letter_settings.parse_table_settings(stored) == TableLetterSettings(plain=True, at_once=True)


def test_who_wants_it_everywhere_may_be_asked_again_at_one_table(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    with site.app.store.writing() as connection:
        connection.execute(
            update(people).values(letter_settings=letter_settings.dump_settings(LetterSettings(at_once=True)))
        )
    link = opened.links[site.find_mover(opened)]
    assert " data-at-once" in visitor.get(f"/t/{link}")
    assert " data-at-once" not in send(visitor, link, "at-once", wanted="no")


# Who may look on


def place(site: Site, location: str) -> Place:
    return access.find(site.app, location.rsplit("/", 1)[1])


@pytest.mark.parametrize(
    ("fields", "watched"),
    [({"asked__watched": "1", "watched": "on"}, True), ({"asked__watched": "1"}, False), ({}, True)],
)
def test_a_new_table_may_be_looked_on_unless_its_organiser_says_no(
    site: Site, visitor: Visitor, fields: dict[str, str], watched: bool
) -> None:
    table = place(site, visitor.post("/new/kaiser", **ROWS, **fields).location).table
    assert apps.load_table(site.app, table).row.allows_spectators is watched
    visitor.get(f"/t/{site.app.links.make_watch_token(table)}", 200 if watched else 404)


def test_the_interface_for_bots_can_close_a_table_too(visitor: Visitor) -> None:
    guests = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bot"}]
    for watched, status in ((True, 200), (False, 404)):
        body = json.dumps({"game": "kaiser", "players": guests, "watched": watched})
        opened = visitor.client.post("/api/v1/tables", data=body, content_type="application/json").json
        assert opened
        visitor.get(f"/t/{opened['watch']}", status)


def test_a_table_without_spectators_shows_no_link_for_them(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    assert opened.watch in visitor.get(f"/t/{opened.links[0]}")
    assert opened.watch not in send(visitor, opened.links[0], "watched", wanted="no")
    assert opened.watch not in visitor.get(f"/t/{opened.links[1]}")
    for path in ("", "/replay", "/pulse", "/log.json"):
        assert "Spectators are not allowed at this table" in visitor.get(f"/t/{opened.watch}{path}", 404)
    assert "Spectators are not allowed at this table" in visitor.get(f"/api/v1/t/{opened.watch}", 404)
    assert opened.watch in send(visitor, opened.links[0], "watched", wanted="yes")
    visitor.get(f"/t/{opened.watch}")


def test_only_the_organiser_says_who_may_look_on(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    refusals = {opened.links[1]: "Only the player who opened this table", opened.watch: "only players can do this"}
    for link, sentence in refusals.items():
        assert "/watched" not in visitor.get(f"/t/{link}")
        assert sentence in send(visitor, link, "watched", 422, wanted="no")
    assert site.load(opened).row.allows_spectators


def test_a_spectator_gets_no_form_no_talk_and_no_notes(site: Site, visitor: Visitor) -> None:
    gathering, opened = site.open_table(), site.start_table()
    for one in (gathering, opened):
        send(visitor, one.links[0], "talk", text="between us")
        page = visitor.get(f"/t/{one.watch}")
        for word in ("between us", 'name="text"', 'name="note"', "/at-once", "/released"):
            assert word not in page
    assert has_no_links(opened, visitor.get(f"/t/{opened.watch}"))


def has_no_links(opened: OpenedTable, page: str) -> bool:
    return not any(link in page for link in opened.links)


def test_the_player_who_opened_a_table_is_its_organiser_also_behind_a_bot(site: Site, visitor: Visitor) -> None:
    guests = [Invitee("Bot"), Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org")]
    opened = apps.open_new(site.app, "kaiser", {}, guests)
    send(visitor, opened.links[1], "watched", wanted="no")
    assert not apps.load_table(site.app, opened.table).row.allows_spectators
    assert "Only the player who opened" in send(visitor, opened.links[2], "watched", 422, wanted="yes")


@pytest.mark.parametrize("place", [0, 1])
def test_who_plays_without_an_address_is_the_organiser_too(site: Site, visitor: Visitor, place: int) -> None:
    guests = [Invitee("Bot"), Invitee("Bot 2")]
    guests.insert(place, Invitee("Anna", nonce="word", who="person"))
    opened = apps.open_new(site.app, "kaiser", {}, guests)
    send(visitor, opened.links[place], "watched", wanted="no")
    assert not apps.load_table(site.app, opened.table).row.allows_spectators
