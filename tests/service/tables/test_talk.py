"""Table talk: who may say what, who reads it where, and that it travels with letters and comes by mail."""

import html
import re
from email.message import EmailMessage
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from engine.refusal import Refused
from service import create_app
from service.app import App
from service.store.schema import letters, tables
from service.store.schema import talk as talk_table
from service.tables import seat_commands, talk
from service.tables.access import Place
from service.tables.opening import Invitee, OpenedTable
from service.timing import HOUR_S
from tests import apps
from tests.apps import FakeTime
from tests.sites import Site, Visitor
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write


def say(visitor: Visitor, link: str, text: str) -> str:
    """Say something on the page; the page that comes back."""
    response = visitor.post(f"/t/{link}/talk", text=text)
    assert response.status_code == 303, response.text
    return visitor.get(response.location)


def refuse_remark(visitor: Visitor, link: str, text: str) -> str:
    """The page that says why something cannot be said."""
    response = visitor.post(f"/t/{link}/talk", text=text)
    assert response.status_code == 422
    return html.unescape(response.text)


def list_remarks(site: Site, opened: OpenedTable) -> list[str]:
    with site.app.store.reading() as connection:
        return [remark.text for remark in talk.list_newest(connection, opened.table)]


def test_what_one_player_says_the_others_read_with_his_name_the_newest_last(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    say(visitor, opened.links[0], "Good luck!")
    site.time += 60
    say(visitor, opened.links[1], "And to you.")
    page = visitor.get(f"/t/{opened.links[1]}")
    words = page[page.index('class="words"') :]
    assert re.findall(r'class="who">(\w+)</span>', words)[:2] == ["Anna", "Bert"]
    assert words.index("Good luck!") < words.index("And to you.")


def test_a_table_has_the_number_of_its_last_remark_also_if_an_earlier_one_is_stored_later(app: App) -> None:
    place = apps.start_table(app)[0]
    for text in ("Good luck!", "And to you."):
        apps.say(app, place, text)
    last = apps.load_table(app, place.table).row.last_remark
    with app.store.writing() as connection:
        assert talk.list_newest(connection, place.table)[-1].id == last
        connection.execute(update(tables).where(tables.c.id == place.table).values(last_remark=last + 9))
    apps.say(app, place, "So?")
    assert apps.load_table(app, place.table).row.last_remark == last + 9


def test_a_player_without_an_address_can_be_talked_to_and_a_bot_cannot(site: Site, visitor: Visitor) -> None:
    opened = apps.open_new(site.app, "kaiser", {}, [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")], 0)
    guest = site.new_visitor().post(f"/join/{opened.join}", name="Bert").location
    for link in (f"/t/{opened.links[0]}", guest):
        visitor.post(f"{link}/sit")
    only_bots = "Only bots sit with you"
    assert only_bots not in visitor.get(f"/t/{opened.links[0]}")
    assert only_bots not in visitor.get(guest)
    assert only_bots in visitor.get(visitor.post("/play/kaiser", name="Anna", bots="1").location)


def test_people_talk_before_the_game_and_after_it(site: Site, visitor: Visitor) -> None:
    gathering, over = site.open_table(), site.start_table()
    assert "Who else comes?" in say(visitor, gathering.links[0], "Who else comes?")
    site.submit(over, "resign", 0)
    assert "Again?" in say(visitor, over.links[1], "Again?")


def test_a_spectator_neither_talks_nor_reads_nor_notices_what_is_said(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    before = visitor.client.get(f"/t/{opened.watch}/pulse").headers["ETag"]
    say(visitor, opened.links[0], "between ourselves")
    assert "only players can do this" in refuse_remark(visitor, opened.watch, "Hello")
    for path in ("", "/replay", "/log.json", "/pulse"):
        assert "between ourselves" not in visitor.get(f"/t/{opened.watch}{path}")
    assert visitor.client.get(f"/t/{opened.watch}/pulse").headers["ETag"] == before


def test_the_pulse_beats_when_something_is_said(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    path = f"/t/{opened.links[1]}/pulse"
    before = visitor.client.get(path)
    say(visitor, opened.links[0], "Wake up!")
    after = visitor.client.get(path, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.json is not None
    assert before.json is not None
    assert after.json["talk"] > before.json["talk"] == 0
    assert after.json["length"] == before.json["length"]


def test_a_remark_is_plain_text(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    page = say(
        visitor, opened.links[0], "<b>look</b> https://example.org/x\r\n\r\n\r\n\r\nsecond\tparagraph 👩\u200d🌾"
    )
    assert "&lt;b&gt;look&lt;/b&gt;" in page
    assert 'href="https://example.org' not in page
    assert list_remarks(site, opened) == ["<b>look</b> https://example.org/x\n\nsecond paragraph 👩\u200d🌾"]


def test_a_remark_keeps_the_no_break_spaces_of_french(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    say(visitor, opened.links[0], "Bien joué\u202f! Regarde\u00a0: deux points")
    assert list_remarks(site, opened) == ["Bien joué\u202f! Regarde\u00a0: deux points"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "this was empty"),
        (" \r\n\t", "this was empty"),
        ("x" * 1_001, "at most 1000 letters; this one has 1001"),
        ("a\x00b", "without control characters"),
        ("a\u202eb", "without control characters"),
        ("a\x1b[2Jb", "without control characters"),
    ],
)
def test_an_impossible_remark_gets_a_sentence(site: Site, visitor: Visitor, text: str, why: str) -> None:
    opened = site.start_table()
    assert why in refuse_remark(visitor, opened.links[0], text)
    assert list_remarks(site, opened) == []


def test_the_number_of_remarks_is_limited(app: App, clock: apps.FakeTime) -> None:
    one, other = apps.start_table(app)
    for number in range(talk.MAX_REMARKS_AN_HOUR):
        apps.say(app, one, f"word {number}")
    with pytest.raises(talk.Refused, match="let the others have a word"):
        apps.say(app, one, "and another thing")
    apps.say(app, other, "At last")
    clock.advance(HOUR_S)
    apps.say(app, one, "as I was saying")


def letter(app: App, place: Place, kind: str = "turn") -> EmailMessage:
    assert place.seat is not None
    seat = apps.load_table(app, place.table).seats[place.seat]
    order = LetterRequest(place.table, seat.open_since or 0, place.seat, kind, "guest@example.org", seat.name)
    message = write(app, order)
    assert message is not None
    return message


def body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    assert part is not None
    return str(part.get_content())


def mark_sent(app: App, place: Place, at: int) -> None:
    with app.store.writing() as connection:
        own = (letters.c.table == place.table, letters.c.seat == place.seat)
        connection.execute(update(letters).where(*own).values(sent_at=at, outcome="sent"))


def test_talk_travels_once_with_the_next_letter_in_both_of_its_forms(app: App, clock: apps.FakeTime) -> None:
    places = apps.start_table(app)
    reader, _ = apps.find_move(app, places)
    talker = apps.find_waiting(app, places)
    apps.say(app, talker, "Well played,\n<i>friend</i>")
    apps.say(app, reader, "mine")
    message = letter(app, reader)
    name = apps.load_table(app, talker.table).names[talker.seat or 0]
    assert f"{name}: Well played,\n  <i>friend</i>" in body(message, "plain")
    assert "&lt;i&gt;friend&lt;/i&gt;" in body(message, "html")
    assert "mine" not in body(message, "plain")
    clock.advance(60)
    mark_sent(app, reader, clock())
    clock.advance(60)
    assert "Well played" not in body(letter(app, reader), "plain")
    apps.say(app, talker, "Hurry up")
    assert "Hurry up" in body(letter(app, reader, "timeout"), "plain")


def test_no_letter_is_written_for_talk_alone(app: App) -> None:
    places = apps.start_table(app)
    with app.store.reading() as connection:
        before = connection.execute(select(letters.c.id)).all()
        apps.say(app, places[0], "Anybody there?")
        assert connection.execute(select(letters.c.id)).all() == before


def test_an_invitation_contains_no_remarks(app: App) -> None:
    organiser, guest = apps.open_table(app)
    apps.say(app, organiser, "Buy my watches")
    assert "watches" not in body(letter(app, guest, "invitation"), "plain")


def test_what_was_said_last_is_shown_however_much_was_said(app: App) -> None:
    place = apps.start_table(app)[0]
    rows = [{"table": place.table, "seat": 1, "at": apps.NOON, "text": f"word {number}"} for number in range(60)]
    with app.store.writing() as connection:
        connection.execute(insert(talk_table), rows)
        shown = [remark.text for remark in talk.list_newest(connection, place.table)]
        remarks = [remark.text for remark in talk.list_unsent(connection, place.table, 0)]
    assert (shown[0], shown[-1], len(shown)) == ("word 10", "word 59", talk.MAX_SHOWN)
    assert (remarks[-1], len(remarks)) == ("word 59", talk.MAX_IN_LETTER)


def test_what_one_seat_says_in_a_day_is_bounded_for_each_table(any_app: App, clock: FakeTime) -> None:
    place, other = apps.start_table(any_app)
    most = talk.MAX_CHARS_A_DAY // talk.MAX_REMARK_CHARS
    for _ in range(most):
        apps.say(any_app, place, "é" * talk.MAX_REMARK_CHARS)
        clock.advance(60)
    with pytest.raises(Refused, match="go on tomorrow"):
        apps.say(any_app, place, "one more")
    apps.say(any_app, other, "another seat")
    clock.advance(86_400)
    apps.say(any_app, place, "tomorrow")


def test_a_note_is_one_text_and_is_written_as_often_a_minute_as_a_player_moves(tmp_path: Path) -> None:
    with apps.run_app(apps.make_settings(tmp_path, moves_per_minute=5), FakeTime()) as app:
        place = apps.start_table(app)[0]
        client = create_app(app).test_client()
        for page in ("note", "talk"):
            codes = [
                client.post(f"/t/{place.link}/{page}", data={page: "x", "text": "x"}).status_code for _ in range(7)
            ]
            assert codes.count(429) == 2
        with pytest.raises(Refused):
            apps.change(app, seat_commands.store_note, place, "x" * (seat_commands.MAX_NOTE_CHARS + 1))
