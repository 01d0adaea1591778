"""Playing again: the same people by the same rules, once however many of them press the button."""

from typing import Any

from service.tables import access, joining
from service.tables.opening import Invitee, OpenedTable
from service.tables.snapshots import Snapshot
from service.timing import Clock
from tests import apps
from tests.service.tables.test_gallery import finish_table
from tests.sites import Site, Visitor


def open_rematch(site: Site, visitor: Visitor, link: str) -> tuple[Snapshot, int]:
    """Press the button for a rematch; return its table and the seat of this player."""
    response = visitor.post(f"/t/{link}/again")
    assert response.status_code == 303
    place = access.find(site.app, response.location.split("/t/")[1])
    assert place.seat is not None
    return apps.load_table(site.app, place.table), place.seat


def owner(site: Site, snapshot: Snapshot, seat: int) -> str:
    app = site.app
    return apps.load_address(app, access.find(app, access.make_seat_link(app, snapshot.seats[seat])))


def resign_all(site: Site, guests: list[Invitee], clock: Clock | int = 0, **options: Any) -> OpenedTable:
    """Open a table, let all people sit down and resign."""
    opened = apps.open_new(site.app, "kaiser", options, guests, clock)
    people = [seat for seat, link in enumerate(opened.links) if link]
    for seat in people:
        site.submit(opened, "sit word", seat)
    while site.load(opened).position.phase != "over":
        site.submit(opened, "resign", people.pop())
    return opened


def test_a_rematch_has_the_same_people_and_rules_and_its_organiser_sits_first(site: Site, visitor: Visitor) -> None:
    guests = [Invitee(name, f"{name}@example.org") for name in ("Anna", "Bert")]
    opened = resign_all(site, [*guests, Invitee("Bot 1")], Clock(pace=0, bank=86_400, increment=3_600), rounds="3")
    snapshot, seat = open_rematch(site, visitor, opened.links[1])
    assert (snapshot.names, seat) == (("Bert", "Bot 1", "Anna"), 0)
    assert snapshot.position.options["rounds"] == 3
    assert snapshot.clock == site.load(opened).clock
    assert [one.status for one in snapshot.seats] == ["taken", "bot", "invited"]
    assert [owner(site, snapshot, number) for number in (0, 2)] == ["Bert@example.org", "Anna@example.org"]


def test_who_asks_second_finds_the_table_laid_and_sits_down_there(site: Site, visitor: Visitor) -> None:
    opened = finish_table(site)
    first, chair = open_rematch(site, visitor, opened.links[1])
    second, other = open_rematch(site, visitor, opened.links[0])
    assert first.row.id == second.row.id
    assert (first.names[chair], second.names[other]) == ("Bert", "Anna")
    assert ([seat.status for seat in second.seats], second.position.phase) == (["taken", "taken"], "playing")
    third, _ = open_rematch(site, visitor, opened.links[0])
    assert third.row.length == second.row.length


def test_a_player_who_gave_up_a_seat_reads_so_and_sees_no_other_link(site: Site, visitor: Visitor) -> None:
    opened = resign_all(site, [Invitee(name, f"{name}@example.org") for name in ("Anna", "Bert")])
    snapshot, _ = open_rematch(site, visitor, opened.links[0])
    app = site.app
    site.submit(OpenedTable(snapshot.row.id, (), ""), "refuse", 1)
    joining.join(app, app.links.make_join_token(snapshot.row.id), Invitee("Bert", "other@example.org"))
    response = visitor.post(f"/t/{opened.links[1]}/again")
    assert response.status_code == 422
    assert "given up your seat" in response.text


def test_against_bots_the_next_game_begins_at_once_and_needs_no_address(site: Site, visitor: Visitor) -> None:
    me = Invitee("Anna", nonce="word", who="person")
    opened = apps.open_new(site.app, "kaiser", {}, [me, Invitee("Bot 1")], 0)
    site.submit(opened, "resign", 0)
    snapshot, _ = open_rematch(site, visitor, opened.links[0])
    assert (snapshot.position.phase, snapshot.names) == ("playing", ("Anna", "Bot 1"))


def test_bots_keep_their_level_at_the_next_table(site: Site, visitor: Visitor) -> None:
    opened = resign_all(site, [Invitee("Anna", "anna@example.org"), Invitee("Hal", level="strong")])
    snapshot, _ = open_rematch(site, visitor, opened.links[0])
    assert snapshot.names == ("Anna", "Hal")
    assert [seat.level for seat in snapshot.seats] == ["", "strong"]


def test_a_player_without_an_address_leaves_a_free_seat_and_reads_whom_to_ask(site: Site, visitor: Visitor) -> None:
    opened = apps.open_new(site.app, "kaiser", {}, [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")], 0)
    site.submit(opened, "sit word", 0)
    own = joining.join(site.app, opened.join, Invitee("Lou"))
    site.submit(opened, "resign", 1)
    assert "ask another player to open the next game" in visitor.post(f"/t/{own}/again").text
    snapshot, _ = open_rematch(site, visitor, opened.links[0])
    assert [(seat.name, seat.status) for seat in snapshot.seats] == [("Anna", "taken"), ("", "open")]


def test_a_page_that_is_over_offers_it_to_its_players_only(site: Site, visitor: Visitor) -> None:
    opened = finish_table(site)
    button = f'action="/t/{opened.links[0]}/again"'
    assert button in visitor.get(f"/t/{opened.links[0]}")
    assert "/again" not in visitor.get(f"/t/{opened.watch}")
    assert visitor.post(f"/t/{opened.watch}/again").status_code == 422


def test_where_it_is_offered_one_reads_who_has_won(site: Site, visitor: Visitor) -> None:
    opened = resign_all(site, [Invitee(name, f"{name}@example.org") for name in ("Anna", "Bert")])
    assert '<p class="what">1. Anna · 2. Bert</p>' in visitor.get(f"/t/{opened.links[1]}")


def test_a_game_that_goes_on_is_not_laid_again(site: Site, visitor: Visitor) -> None:
    response = visitor.post(f"/t/{site.start_table().links[0]}/again")
    assert response.status_code == 422
    assert "please open a new table" in response.text
