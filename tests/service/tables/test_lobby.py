"""The lobby: seats for anybody and games to look on at, where their organisers want that and nowhere else."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.settings import DAY_S
from service.tables import joining, lobby
from service.tables.opening import Invitee, OpenedTable
from tests import apps
from tests.service.tables.test_opening import ANNA, ANYBODY, BERT, CLARA, RELAY, make_proof
from tests.sites import ROWS, PageChecker, Site, Visitor

DORA = Invitee("Dora", "dora@example.org")


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Site]:
    """A site that asks for the proof of addresses."""
    site = Site(tmp_path, **RELAY)
    yield site
    site.app.close()


def open_public(site: Site, *guests: Invitee, **how: Any) -> OpenedTable:
    seated = [Invitee(one.name, one.address, "word", one.who) for one in guests]
    return apps.open_new(site.app, "kaiser", {}, seated, 0, **how)


def names(site: Site) -> tuple[list[str], list[str]]:
    """The first players of the tables in the lobby: those with free seats, and those that are shown."""
    seeking, shown = apps.load(site.app, lobby.list_open), apps.load(site.app, lobby.list_watched)
    return [table.names[0] for table in seeking], [table.names[0] for table in shown]


def test_only_what_its_organiser_offers_is_in_the_lobby(site: Site, visitor: Visitor) -> None:
    open_public(site, ANNA, ANYBODY)
    open_public(site, BERT, CLARA)
    assert names(site) == ([], [])
    assert "Free seats" not in visitor.get("/")
    open_public(site, CLARA, ANYBODY, seeking=True)
    open_public(site, DORA, ANNA, shown=True)
    assert names(site) == (["Clara"], ["Dora"])


def test_the_form_offers_seats_and_shows_the_game(site: Site, visitor: Visitor) -> None:
    rows = {**ROWS, "players": "free seat\nfree seat"}
    visitor.post("/new/kaiser", **rows, seeking="on", shown="on")
    page = visitor.get("/")
    assert PageChecker(page).faults == []
    assert "Take one of 2 seats" in page
    assert "with Anna" in page
    token = site.app.links.make_join_token(apps.load(site.app, lobby.list_open)[0].row.id)
    form = visitor.get(f"/join/{token}")
    assert "the home page shows it, with the players’ names" in form
    for name in ("Bert", "Clara"):
        visitor.post(f"/join/{token}", name=name, address=f"{name}@example.org")
    page = visitor.get("/")
    assert PageChecker(page).faults == []
    assert "Free seats" not in page
    watch = site.app.links.make_watch_token(apps.load(site.app, lobby.list_watched)[0].row.id)
    assert f"/t/{watch}" in page
    picture = re.search(rf'src="(/t/{watch}[^"]+)"', page)
    assert picture
    assert "<svg" in visitor.get(picture[1])
    assert "data-stage" in visitor.get(f"/t/{watch}")


def test_who_sits_down_by_a_letter_reads_that_all_may_look_on(site: Site, visitor: Visitor) -> None:
    opened = apps.open_new(site.app, "kaiser", {}, (ANNA, BERT), 0, shown=True)
    for link in opened.links:
        assert "the home page shows it" in visitor.get(f"/t/{link}")
    plain = apps.open_new(site.app, "kaiser", {}, (ANNA, CLARA), 0)
    assert "the home page shows it" not in visitor.get(f"/t/{plain.links[1]}")


def test_who_may_not_be_watched_by_link_is_not_shown(site: Site, visitor: Visitor) -> None:
    opened = open_public(site, ANNA, BERT, shown=True)
    visitor.post(f"/t/{opened.links[0]}/watched")
    assert names(site) == ([], [])


def test_a_table_leaves_the_lobby_when_it_is_full_old_or_over(site: Site) -> None:
    opened = open_public(site, ANNA, ANYBODY, seeking=True, shown=True)
    open_public(site, BERT, ANYBODY, seeking=True)
    joining.join(site.app, opened.join, DORA)
    assert names(site) == (["Bert"], ["Anna"])
    site.time += 15 * DAY_S
    assert names(site) == (["Bert"], [])
    site.submit(opened, site.list_moves(opened)[0])
    assert names(site) == (["Bert"], ["Anna"])
    site.submit(opened, "resign", 0)
    site.time += 16 * DAY_S
    assert names(site) == ([], [])


def test_nothing_that_a_stranger_wrote_is_in_the_lobby_before_the_owner_of_the_address_agrees(strict: Site) -> None:
    strict.new_visitor().post(
        "/new/kaiser", name="Rude words", address=ROWS["address"], players="bot, free seat", shown="on", seeking="on"
    )
    assert names(strict) == ([], [])
    apps.confirm_all(strict.app, make_proof(strict, "anna@example.org"))
    assert names(strict) == (["Rude words"], [])


def test_a_program_opens_public_tables_too(site: Site) -> None:
    players = [{"name": "Anna", "address": "anna@example.org"}, {"who": "anybody"}]
    body = {"game": "kaiser", "players": players, "seeking": True, "nonce": "hat"}
    assert site.flask_app.test_client().post("/api/v1/tables", json=body).status_code == 201
    assert names(site) == (["Anna"], [])
