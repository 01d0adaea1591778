"""When a player was last at the table: the other players see it in rough steps, unless it is kept private."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from sqlalchemy import event

from service.settings import DAY_S
from service.store import queries
from service.tables import access, seat_commands
from service.tables.opening import OpenedTable
from service.timing import HOUR_S
from tests import apps
from tests.services import RunningService, Visit
from tests.sites import Site, Visitor

MINUTE_S = 60


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    return site.start_table()


def be_here(site: Site, new_table: OpenedTable, seat: int = 1) -> None:
    """Send what the page of this seat sends now and then."""
    assert site.flask_app.test_client().put(f"/t/{new_table.links[seat]}/here").status_code == 204


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (5 * MINUTE_S, "here now"),
        (40 * MINUTE_S, "last seen less than an hour ago"),
        (90 * MINUTE_S, "last seen an hour ago"),
        (23 * HOUR_S, "last seen 23 hours ago"),
        (30 * HOUR_S, "last seen a day ago"),
        (9 * DAY_S, "last seen 9 days ago"),
    ],
)
def test_the_others_see_about_how_long_ago_a_player_was_here(
    site: Site, visitor: Visitor, new_table: OpenedTable, ago: int, words: str
) -> None:
    visitor.get(f"/t/{new_table.links[0]}")
    be_here(site, new_table)
    site.time += ago
    assert words in visitor.get(f"/t/{new_table.links[0]}")
    for link in (new_table.links[1], new_table.watch):  # neither the player nor a spectator
        page = visitor.get(f"/t/{link}")
        assert "last seen" not in page
        assert "here now" not in page


def test_a_page_that_is_sent_again_does_not_say_that_a_player_is_still_here(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    be_here(site, new_table)
    assert "here now" in visitor.get(f"/t/{new_table.links[0]}")
    site.time += access.HERE_S
    assert "here now" not in visitor.get(f"/t/{new_table.links[0]}")


def test_a_player_can_keep_it_private_and_what_was_stored_is_deleted(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    be_here(site, new_table)
    visitor.post(f"/t/{new_table.links[1]}/presence", wanted="no")
    assert apps.load_table(site.app, new_table.table).seats[1].seen_at is None
    be_here(site, new_table)
    assert apps.load_table(site.app, new_table.table).seats[1].seen_at is None
    assert "data-here" not in visitor.get(f"/t/{new_table.links[1]}")
    assert "here now" not in visitor.get(f"/t/{new_table.links[0]}")
    visitor.post(f"/t/{new_table.links[1]}/presence", wanted="yes")
    be_here(site, new_table)
    assert "here now" in visitor.get(f"/t/{new_table.links[0]}")


def test_a_setting_keeps_it_private_at_all_tables(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    be_here(site, new_table)
    person = apps.load_table(site.app, new_table.table).seats[1].person
    assert person
    path = f"/wishes/{site.app.links.make_preferences_token(person)}"
    assert 'name="presence" value="on" checked' in visitor.get(path)
    visitor.post(path, letters="turn", hour="8", language="en")
    assert apps.load_table(site.app, new_table.table).seats[1].seen_at is None
    be_here(site, new_table)
    assert "here now" not in visitor.get(f"/t/{new_table.links[0]}")


def test_one_note_is_written_in_five_minutes(site: Site, new_table: OpenedTable) -> None:
    written = list[str]()
    event.listen(
        site.app.store.engine,
        "before_cursor_execute",
        lambda _db, _cursor, statement, *_: written.append(statement) if "UPDATE seats" in statement else None,
    )
    for _ in range(11):
        be_here(site, new_table)
        site.time += MINUTE_S
    assert len(written) == 3


def test_a_substitute_does_not_inherit_it(site: Site, new_table: OpenedTable) -> None:
    be_here(site, new_table)
    with site.app.store.writing() as db:
        queries.change_seat(db, new_table.table, 1, link="another", link_number=1)
    assert apps.load_table(site.app, new_table.table).seats[1].seen_at is None


def test_the_page_says_so_by_itself_while_it_is_seen(service: RunningService, visit: Visit) -> None:
    new_table = service.start_table()
    page = visit(f"/t/{new_table.links[1]}")
    with page.expect_request(lambda one: one.method == "PUT"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it looks for news at once
    page.wait_for_timeout(300)
    other = visit(f"/t/{new_table.links[0]}")
    expect(other.locator(".strip .here")).to_have_count(1)
    expect(other.locator("#now .players")).to_contain_text("here now")
    apps.change(service.app, seat_commands.set_presence, access.find(service.app, new_table.links[1]), False)
    other.reload()
    expect(other.locator(".strip .here")).to_have_count(0)
