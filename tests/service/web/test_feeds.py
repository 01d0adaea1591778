"""Calendar and feeds: what programs read, behind which address, and that no link in them acts."""

import re
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import icalendar
import pytest
from sqlalchemy import select

from service.accounts import leaving, my_tables, preferences, signing_in
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store.schema import people, seats
from service.tables import access, seat_commands
from service.tables.opening import OpenedTable
from service.text.feed_formats import CalendarEvent, write_calendar
from service.timing import Calendar
from tests import apps
from tests.sites import Site, Visitor

ATOM = {"atom": "http://www.w3.org/2005/Atom"}
ZONE = ZoneInfo("America/New_York")


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    return site.start_table(pace=3 * DAY_S)


def find_mover(site: Site, new_table: OpenedTable) -> tuple[ProvenPerson, str]:
    """Return the person to move, as one who has proven the address, and the token of the feeds."""
    with site.app.store.reading() as db:
        own = select(seats.c.person).where(seats.c.table == new_table.table, seats.c.open_since.is_not(None))
        person = ProvenPerson(db.execute(own).scalar_one())
    apps.change(site.app, my_tables.open_feeds, person, site.app.now())
    return person, apps.load(site.app, my_tables.find_token, person)


def load_events(visitor: Visitor, token: str) -> list[icalendar.Event]:
    return icalendar.Calendar.from_ical(visitor.get(f"/calendar/{token}.ics")).walk("VEVENT")


def load_feed(visitor: Visitor, path: str) -> ElementTree.Element:
    return ElementTree.fromstring(visitor.get(path))


def list_texts(element: ElementTree.Element, path: str) -> list[str]:
    return [one.text or "" for one in element.findall(path, ATOM)]


def load_deadline(site: Site, new_table: OpenedTable) -> datetime:
    with site.app.store.reading() as db:
        own = select(seats.c.due_at).where(seats.c.table == new_table.table, seats.c.open_since.is_not(None))
        return datetime.fromtimestamp(db.execute(own).scalar_one(), UTC)


def test_a_calendar_has_the_deadlines_of_all_own_turns(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    _, token = find_mover(site, new_table)
    other = site.start_table(pace=DAY_S)
    events = load_events(visitor, token)
    own = [one for one in (new_table, other) if site.find_mover(one) == site.find_mover(new_table)]
    assert [event.decoded("dtstart") for event in events] == sorted(load_deadline(site, one) for one in own)
    assert "Kaiser" in str(events[-1]["summary"])
    assert str(events[-1]["description"]).startswith("with ")


def test_a_move_that_is_made_takes_its_deadline_out_of_the_calendar(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    _, token = find_mover(site, new_table)
    (event,) = load_events(visitor, token)
    mover = site.find_mover(new_table)
    while site.find_mover(new_table) == mover:
        site.submit(new_table, site.list_moves(new_table)[0])
    assert load_events(visitor, token) == []
    while site.find_mover(new_table) != mover:
        site.submit(new_table, site.list_moves(new_table)[0])
    (later,) = load_events(visitor, token)
    assert later["uid"] != event["uid"]


def test_a_deadline_is_the_same_moment_in_every_time_zone_also_where_summer_time_ends(
    site: Site, visitor: Visitor
) -> None:
    """New York's clocks go back on the first Sunday of November; the quiet hours there move the deadline to 8:00."""
    site.time = int(datetime(2027, 11, 4, 3, 0, tzinfo=ZONE).timestamp())
    new_table = site.start_table(pace=3 * DAY_S)
    person, token = find_mover(site, new_table)
    apps.change_calendar(site.app, person, Calendar("America/New_York", (0, 8)))
    (event,) = load_events(visitor, token)
    due = event.decoded("dtstart")
    assert due == datetime(2027, 11, 7, 8, tzinfo=ZONE)
    assert due.utcoffset() == timedelta(0)
    assert due == load_deadline(site, new_table)


def test_a_vacation_moves_the_deadline_in_the_calendar(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    person, token = find_mover(site, new_table)
    (before,) = load_events(visitor, token)
    with site.app.store.reading() as db:
        number = db.execute(select(people.c.settings_number).where(people.c.id == person.id)).scalar_one()
    recipient = preferences.find_recipient(site.app, site.app.links.make_preferences_token(person.id, number))
    today = datetime.fromtimestamp(site.time, UTC).date()
    span = (today + timedelta(days=1)).isoformat(), (today + timedelta(days=5)).isoformat()
    preferences.start_vacation(site.app, recipient, span)
    (after,) = load_events(visitor, token)
    assert after.decoded("dtstart") - before.decoded("dtstart") == timedelta(days=5)
    assert after["uid"] == before["uid"]
    assert after.decoded("dtstart").date() > date.fromisoformat(span[1])


def test_a_table_that_rests_has_no_deadline(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    _, token = find_mover(site, new_table)
    site.submit(new_table, "pause", 0)
    site.submit(new_table, "agree", 1)
    assert site.load(new_table).position.paused
    assert load_events(visitor, token) == []


def test_a_new_address_ends_the_old_one_and_closing_ends_both(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    person, token = find_mover(site, new_table)
    settings = f"/wishes/{site.app.links.make_preferences_token(person.id)}/connections"
    assert f"/calendar/{token}.ics" in visitor.get(settings)
    visitor.post(f"{settings}/feeds")
    newer = apps.load(site.app, my_tables.find_token, person)
    assert newer != token
    for path in (f"/calendar/{token}.ics", f"/turns/{token}.atom"):
        visitor.get(path, 404)
    visitor.get(f"/calendar/{newer}.ics")
    visitor.post(f"{settings}/feeds/close")
    for path in (f"/calendar/{newer}.ics", f"/turns/{newer}.atom"):
        visitor.get(path, 404)
    assert "/calendar/" not in visitor.get(settings)
    visitor.post(f"{settings}/feeds")  # an address that was closed never works again
    visitor.get(f"/calendar/{newer}.ics", 404)


def test_no_link_that_acts_is_in_a_calendar_or_a_feed(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    _, token = find_mover(site, new_table)
    files = visitor.get(f"/calendar/{token}.ics") + visitor.get(f"/turns/{token}.atom")
    joined = re.sub(r"\r\n ", "", files)
    assert not [link for link in new_table.links if link in joined]
    assert f"/my/table/{new_table.table}" in joined
    assert "@example.org" not in joined


def test_the_link_in_a_calendar_leads_to_the_table_once_its_owner_is_signed_in(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    path, anna = f"/my/table/{new_table.table}", site.app.links
    assert visitor.client.get(path).location == "/enter"
    with site.app.store.reading() as db:
        number = db.execute(select(people.c.id).where(people.c.name == "Anna")).scalar_one()
    visitor.post(f"/enter/{anna.make_sign_in_token(number, 0, site.time)}")
    assert visitor.client.get(path).location == f"/t/{new_table.links[0]}"
    others = site.start_table("Bert", "Clara")
    assert visitor.client.get(f"/my/table/{others.table}").location == "/my"


def test_a_program_that_asks_again_gets_nothing_until_something_changes(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    _, token = find_mover(site, new_table)
    watch = site.app.links.make_watch_token(new_table.table)
    for path in (f"/calendar/{token}.ics", f"/turns/{token}.atom", f"/t/{watch}/feed.atom"):
        tag = visitor.client.get(path).headers["ETag"]
        assert visitor.client.get(path, headers={"If-None-Match": tag}).status_code == 304
        site.submit(new_table, site.list_moves(new_table)[0])
        site.time += 60


def test_the_feed_of_own_turns_is_valid_and_in_the_language_of_its_reader(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    person, token = find_mover(site, new_table)
    with site.app.store.reading() as db:
        settings_number = db.execute(select(people.c.settings_number).where(people.c.id == person.id)).scalar_one()
    recipient = preferences.find_recipient(site.app, site.app.links.make_preferences_token(person.id, settings_number))
    preferences.set_language(site.app, recipient, "de")
    feed = load_feed(visitor, f"/turns/{token}.atom")
    assert feed.tag == f"{{{ATOM['atom']}}}feed"
    assert list_texts(feed, "atom:entry/atom:title") == ["Kaiser, König, Edelmann: Du bist am Zug"]
    assert (
        len(list_texts(feed, "atom:id") + list_texts(feed, "atom:updated") + list_texts(feed, "atom:author/atom:name"))
        == 3
    )
    assert list_texts(feed, "atom:entry/atom:id")[0].startswith("tag:localhost,")
    datetime.fromisoformat(list_texts(feed, "atom:entry/atom:updated")[0])


def test_the_feed_of_a_table_tells_what_spectators_may_know(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    for _ in range(3):
        site.submit(new_table, site.list_moves(new_table)[0])
    watch = site.app.links.make_watch_token(new_table.table)
    feed = load_feed(visitor, f"/t/{watch}/feed.atom?in=en")
    ids, titles = list_texts(feed, "atom:entry/atom:id"), list_texts(feed, "atom:entry/atom:title")
    assert len(ids) == len(set(ids)) == len(titles) > 3
    assert list_texts(feed, "atom:title") == ["Kaiser, König, Edelmann: Anna, Bert"]
    link = feed.findall("atom:entry/atom:link", ATOM)[0].get("href", "")
    assert visitor.get(link.removeprefix(site.app.settings.address))
    visitor.get(f"/t/{new_table.links[0]}/feed.atom", 404)
    apps.change(site.app, seat_commands.allow_spectators, access.find(site.app, new_table.links[0]), False)
    visitor.get(f"/t/{watch}/feed.atom", 404)


def test_spectators_find_the_feed_and_players_do_not(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    watch = site.app.links.make_watch_token(new_table.table)
    assert f"/t/{watch}/feed.atom" in visitor.get(f"/t/{watch}")
    assert "feed.atom" not in visitor.get(f"/t/{new_table.links[0]}")


def test_a_deleted_person_has_no_calendar_any_more(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    person, token = find_mover(site, new_table)
    with site.app.store.reading() as db:
        address = db.execute(select(people.c.address).where(people.c.id == person.id)).scalar_one()
    signing_in.sign_out_everywhere(site.app, person)
    assert f"/calendar/{token}.ics" in leaving.export_person(site.app, person).calendar_address
    leaving.delete_person(site.app, person, address)
    visitor.get(f"/calendar/{token}.ics", 404)


@pytest.mark.parametrize(
    "text", ["a, b; c\\d", "line\nline", "ж" * 80, "x" * 300, "nul\0\x1b", "Tour\u00a03\u202f: 5", "emoji 🎲" * 20, ""]
)
def test_any_text_in_a_calendar_is_read_back_by_another_program(text: str) -> None:
    written = write_calendar(
        text, 3_600, [CalendarEvent("id@host", 1_800_000_000, 1_799_999_999, text, text, "https://h/")]
    )
    assert all(len(line.encode()) <= 75 for line in written.split("\r\n"))
    calendar = icalendar.Calendar.from_ical(written)
    (event,) = calendar.walk("VEVENT")
    clean = text.replace("\0", "").replace("\x1b", "")
    assert (str(event["summary"]), str(event["description"])) == (clean, clean)
    assert event.decoded("dtstart") == datetime.fromtimestamp(1_800_000_000, UTC)
    assert event.decoded("dtstamp") == datetime.fromtimestamp(1_799_999_999, UTC)
