"""The gallery: what hangs there hangs there with everybody's consent, and betrays no link."""

import pytest
from sqlalchemy import update

from engine import catalogue
from service.accounts import addresses, leaving
from service.people.proof import ProvenPerson
from service.store.schema import seats
from service.tables import access, submitting
from service.tables.history.replays import Archive
from service.tables.opening import Invitee, OpenedTable
from tests import apps
from tests.play import play_to_end
from tests.service.tables.test_seat_settings import send
from tests.sites import Site, Visitor


def finish_table(site: Site, *names: str) -> OpenedTable:
    """Open a table, make a few moves, and let the last player resign."""
    opened = site.start_table(*names)
    for _ in range(4):
        site.submit(opened, site.list_moves(opened)[0])
    site.submit(opened, "resign", len(opened.links) - 1)
    return opened


def release(visitor: Visitor, opened: OpenedTable, *numbers: int) -> None:
    for seat in numbers or range(len(opened.links)):
        send(visitor, opened.links[seat], "released", wanted="yes")


def test_an_empty_gallery_says_how_a_game_comes_there(visitor: Visitor) -> None:
    assert "There is nothing here yet." in visitor.get("/gallery")


def test_a_game_hangs_when_the_last_player_agrees_and_not_before(site: Site, visitor: Visitor) -> None:
    opened = finish_table(site)
    assert "Your name appears there as Anna." in visitor.get(f"/t/{opened.links[0]}")
    page = send(visitor, opened.links[0], "released", wanted="yes")
    assert "as soon as the others agree: Bert." in page
    assert opened.table not in visitor.get("/gallery")
    visitor.get(f"/gallery/{opened.table}", 404)
    visitor.get(f"/gallery/{opened.table}.svg", 404)
    release(visitor, opened, 1)
    page = visitor.get("/gallery")
    for word in ("Kaiser", "1. Anna", "2. Bert", f"{site.load(opened).row.length} entries", f"/gallery/{opened.table}"):
        assert word in page
    assert "<svg" in visitor.get(f"/gallery/{opened.table}.svg")
    assert "This game is shown in the gallery" in visitor.get(f"/t/{opened.links[0]}")


def test_a_player_may_withdraw_an_agreement(site: Site, visitor: Visitor) -> None:
    opened = finish_table(site)
    release(visitor, opened)
    link = access.make_gallery_link(opened.table)
    visitor.get(f"/t/{link}/replay")
    send(visitor, opened.links[1], "released", wanted="no")
    assert opened.table not in visitor.get("/gallery")
    for path in (f"/gallery/{opened.table}", f"/t/{link}", f"/t/{link}/replay", f"/t/{link}/log.json"):
        assert "is not shown in the gallery any more" in visitor.get(path, 404)


def test_only_players_of_a_finished_game_can_show_it(site: Site, visitor: Visitor) -> None:
    playing, over = site.start_table(), finish_table(site)
    assert "The game is not over yet" in send(visitor, playing.links[0], "released", 422, wanted="yes")
    assert "/released" not in visitor.get(f"/t/{playing.links[0]}")
    assert "only players can do this" in send(visitor, over.watch, "released", 422, wanted="yes")


def test_what_hangs_is_replayed_with_anybodys_eyes_and_betrays_no_link(site: Site, visitor: Visitor) -> None:
    opened = finish_table(site)
    send(visitor, opened.links[0], "talk", text="between us")
    release(visitor, opened)
    public = access.make_gallery_link(opened.table)
    landing = visitor.client.get(f"/gallery/{opened.table}")
    assert (landing.status_code, landing.location) == (302, f"/t/{public}/replay")
    paths = ["/gallery", landing.location, f"{landing.location}?at=3&as=1", f"/t/{public}", f"/t/{public}/log.json"]
    for path in [*paths, f"/t/{public}/pulse", f"/api/v1/t/{public}"]:
        page = visitor.get(path)
        assert not any(link in page for link in (*opened.links, opened.watch)), path
        assert "between us" not in page
    assert 'name="as"' in visitor.get(landing.location)


@pytest.mark.parametrize("what", ["talk", "note", "at-once", "watched", "released", ""])
def test_nothing_can_be_done_at_what_hangs(site: Site, visitor: Visitor, what: str) -> None:
    opened = finish_table(site)
    release(visitor, opened)
    fields = {"text": "hello", "note": "hello", "wanted": "no", "move": "undo"}
    assert visitor.post(f"/t/{access.make_gallery_link(opened.table)}/{what}".rstrip("/"), **fields).status_code == 422


def test_bots_agree_and_a_player_who_gave_up_is_asked_like_everybody(site: Site, visitor: Visitor) -> None:
    guests = [Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org"), Invitee("Bot")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    for link in opened.links[:2]:
        submitting.submit(site.app, access.find(site.app, link), "sit word", "sit")
    site.submit(opened, "resign", 0)
    site.submit(opened, "resign", 1)
    assert site.load(opened).position.phase == "over"
    release(visitor, opened, 1)
    assert opened.table not in visitor.get("/gallery")
    release(visitor, opened, 0)
    assert opened.table in visitor.get("/gallery")


def test_a_seat_whose_player_is_forgotten_does_not_take_the_game_down(site: Site, visitor: Visitor) -> None:
    opened = finish_table(site)
    release(visitor, opened, 0)
    bert = site.load(opened).seats[1].person
    assert bert
    leaving.delete_person(site.app, ProvenPerson(bert), "bert@example.org")
    assert opened.table in visitor.get("/gallery")
    leaving.delete_person(site.app, ProvenPerson(site.load(opened).seats[0].person or 0), "anna@example.org")
    assert opened.table not in visitor.get("/gallery")


@pytest.mark.parametrize("refused", [False, True])
def test_a_seat_of_an_unproven_or_refused_address_never_shows_the_game(
    site: Site, visitor: Visitor, refused: bool
) -> None:
    opened = finish_table(site)
    bert = site.load(opened).seats[1].person
    assert bert
    release(visitor, opened, 1)
    with site.app.store.writing() as connection:
        connection.execute(update(seats).where(seats.c.table == opened.table, seats.c.seat == 1).values(proven=False))
        if not refused:
            connection.execute(update(seats).where(seats.c.seat == 1).values(released=False))
    if refused:
        addresses.refuse_seat(site.app, ProvenPerson(bert), opened.table, 1)
    assert "Please confirm your address" in send(visitor, opened.links[1], "released", 422, wanted="yes")
    page = send(visitor, opened.links[0], "released", wanted="yes")
    assert "Bert can agree only with a confirmed address" in " ".join(page.split())
    assert opened.table not in visitor.get("/gallery")
    visitor.get(f"/gallery/{opened.table}", 404)
    assert 'action="' + f"/t/{opened.links[1]}/released" not in visitor.get(f"/t/{opened.links[1]}")


def test_a_log_brought_from_elsewhere_is_not_shown_by_itself(site: Site, visitor: Visitor) -> None:
    Archive(site.app.store, site.app.links).import_(play_to_end(catalogue.find("kaiser"), 2))
    assert "There is nothing here yet." in visitor.get("/gallery")


def test_twenty_games_hang_on_a_page_those_that_ended_last_first(site: Site, visitor: Visitor) -> None:
    tables = []
    for _ in range(access.GALLERY_PAGE_TABLES + 1):
        opened = site.start_table()
        site.time += 60
        site.submit(opened, "resign", 0)
        tables.append(opened.table)
    with site.app.store.writing() as connection:
        connection.execute(update(seats).values(released=True))
    first, second = visitor.get("/gallery"), visitor.get("/gallery?page=2")
    assert [table for table in tables if table not in first] == tables[:1]
    assert [table for table in tables if table in second] == tables[:1]
    assert first.index(tables[-1]) < first.index(tables[-2])
    assert ("page=2" in first, "page=1" in second) == (True, True)
    for text in ("0", "-1", "x", "99999", "١"):
        visitor.get(f"/gallery?page={text}")
