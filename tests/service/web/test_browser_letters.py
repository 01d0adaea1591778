"""The links of a letter in a real browser: one opens the table with its move laid out, and one tap confirms it."""

from __future__ import annotations

import html
import re
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Table, select

from engine import catalogue
from service.hosting import local_mailbox
from service.hosting.local_mailbox import StoredLetter
from service.store.schema import entries, letters, orders, seats, submissions
from service.tables import access
from service.tables.seat_commands import set_at_once
from tests import apps
from tests.browsing import Player, tap, wait_for_acceptance
from tests.services import RunningService, Visit

PHONE = {"viewport": {"width": 375, "height": 740}, "has_touch": True}
LINK = re.compile(r'href="([^"]*\?say=[^"]*)"')
BOOK: tuple[Table, ...] = (entries, submissions, seats, orders)
SEND_MS = 2_500  # after which a move without Confirm has been sent
OTHERS = 3  # links of a letter that are opened besides the one it leads with
LETTER_TIMEOUT_S = 60.0  # until a letter is drawn and sent on a busy machine


def letter_to(service: RunningService, link: str) -> StoredLetter:
    """The letter about this seat's turn, as soon as it has come."""
    until = time.monotonic() + LETTER_TIMEOUT_S
    snapshot = apps.load_table(service.app, access.find(service.app, link).table)
    seat = snapshot.seats[access.find(service.app, link).seat or 0]
    prefix = f"<{snapshot.row.id}.{seat.open_since}.{seat.seat}.turn@"
    while True:
        for letter in local_mailbox.list_newest(service.app, 20):
            if letter.message_id.startswith(prefix):
                return letter
        assert time.monotonic() < until, f"no letter {prefix}"
        time.sleep(0.05)


def links_of(letter: StoredLetter) -> list[str]:
    return list(dict.fromkeys(map(html.unescape, LINK.findall(letter.html))))


def say(url: str) -> str:
    return parse_qs(urlsplit(url).query)["say"][0]


def book(service: RunningService, table: str) -> list[Any]:
    """Return all rows of a table, except the outcomes of its letters."""
    with service.app.store.reading() as connection:
        rows = [connection.execute(select(one).where(one.c.table == table)).all() for one in BOOK]
        return [*rows, connection.execute(select(letters.c.id).where(letters.c.table == table)).all()]


def to_move(service: RunningService, table: str) -> str:
    snapshot = apps.load_table(service.app, table)
    return access.make_seat_link(service.app, snapshot.seats[service.find_mover(table)])


def expect_move(page: Page, move: str) -> None:
    """The move of the link is on the page as if it had been put together there; a part of one waits for its rest."""
    form = page.locator("form.deed[data-said]")
    form.wait_for(state="attached")
    assert (form.get_attribute("data-said") or "").split() == move.split()
    expect(page.locator(".bar .made")).not_to_be_empty()
    expect(page.locator(".note.wait, .note.bad")).to_have_count(0)


def moves_of(service: RunningService, table: str) -> list[str]:
    snapshot = apps.load_table(service.app, table)
    return [entry.move for entry in apps.load_entries(service.app, snapshot, 0) if entry.move]


def finish_turn(service: RunningService, table: str, open_since: int | None) -> None:
    """Make the remaining moves of a turn, about which no letter is sent."""
    while apps.load_table(service.app, table).seats[service.find_mover(table)].open_since == open_since:
        steps = iter((False, True))
        service.play_until(table, lambda _: next(steps))  # noqa: B023 - asked at once


@pytest.mark.parametrize("turns", [1, pytest.param(5, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=pytest.mark.release if game != "kurier" else []) for game in catalogue.find_all()]
)
def test_a_link_of_a_letter_lays_out_its_move_and_one_tap_makes_it(
    service: RunningService, visit: Visit, game: str, turns: int
) -> None:
    table = service.start_table(game=game, letters=True).table
    reader, page = visit("about:blank", java_script_enabled=False, **PHONE), visit("about:blank", **PHONE)
    for _ in range(turns):
        snapshot = apps.load_table(service.app, table)
        letter = letter_to(service, to_move(service, table))
        first, *others = links_of(letter)
        settled = book(service, table)
        for url in others[:: max(1, len(others) // OTHERS)]:
            page.goto(url)
            expect_move(page, say(url))
        reader.goto(f"/mailbox/{letter.id}")
        reader.frame_locator("iframe").locator(f'a[href="{first}"]').first.tap()
        reader.wait_for_url(first)
        page.goto(reader.url)
        expect_move(page, say(first))
        assert book(service, table) == settled
        Player(page, tap).send(page.locator(".bar .confirm"))
        wait_for_acceptance(page)
        assert moves_of(service, table)[-1] == say(first)
        finish_turn(service, table, snapshot.seats[service.find_mover(table)].open_since)


def test_a_move_of_a_letter_waits_for_its_reader_although_he_moves_without_being_asked(
    service: RunningService, visit: Visit
) -> None:
    """A move in one click is not made before the click, not even when another player writes a remark."""
    opened = service.start_table(letters=True)
    seat = to_move(service, opened.table)
    (other,) = set(opened.links) - {seat}
    apps.change(service.app, set_at_once, access.find(service.app, seat), True)
    page = visit("about:blank", **PHONE)
    page.clock.install()
    page.goto(links_of(letter_to(service, seat))[0])
    expect(page.locator("form.deed[data-at-once][data-said]")).to_be_attached()
    settled = moves_of(service, opened.table)
    apps.say(service.app, access.find(service.app, other), "Take your time!")
    Player(page, tap).refresh()
    expect(page.get_by_text("Take your time!").first).to_be_attached()
    page.clock.fast_forward(SEND_MS)
    page.wait_for_timeout(100)  # what would be sent is sent
    assert moves_of(service, opened.table) == settled
