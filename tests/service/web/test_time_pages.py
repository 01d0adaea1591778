"""Pages about time: the clock in the form, pauses, vacations, orders and offered seats."""

import pytest

from service.settings import DAY_S
from service.tables import access
from service.timing import HOUR_S, Clock
from tests import apps
from tests.sites import ROWS, Site, Visitor
from workers.clock import tick


def clock_of(site: Site, link: str) -> Clock:
    return apps.load_table(site.app, access.find(site.app, link).table).clock


def test_the_form_asks_for_a_clock_and_the_table_shows_it(site: Site, visitor: Visitor) -> None:
    fields = {"pace": "7", "late": "seat", "grace": "12", "offer_after": "2", "spare_weekends": "on"}
    response = visitor.post("/new/kaiser", **ROWS, **fields)
    expected = Clock(7 * DAY_S, grace=12 * HOUR_S, late="seat", offer_after=2, spare_weekends=True)
    assert clock_of(site, response.location.rsplit("/", 1)[1]) == expected
    page = visitor.get(response.location)
    for words in (
        "Time for a move: 7 days",
        "until its player comes back; 12 hours of grace",
        "After 2 missed",
        "Sunday",
    ):
        assert words in page


def test_a_bank_takes_the_place_of_a_pace(site: Site, visitor: Visitor) -> None:
    response = visitor.post("/new/kaiser", **ROWS, pace="3", bank="20", increment="6")
    assert clock_of(site, response.location.rsplit("/", 1)[1]) == Clock(0, 20 * DAY_S, 6 * HOUR_S)
    assert "a bank of 20 days; each turn adds 6 hours" in visitor.get(response.location)


@pytest.mark.parametrize("fields", [{"bank": "20", "increment": "0"}, {"bank": "x"}, {"grace": "999"}, {"bank": "²"}])
def test_a_clock_that_makes_no_sense_is_refused_with_the_form_kept(visitor: Visitor, fields: dict[str, str]) -> None:
    response = visitor.post("/new/kaiser", **ROWS, **fields)
    assert response.status_code == 422
    assert 'value="anna@example.org"' in response.text


def test_the_api_opens_a_table_with_a_clock(site: Site, visitor: Visitor) -> None:
    players = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bot"}]
    opening = {"game": "kaiser", "players": players, "clock": {"pace": DAY_S, "late": "resign"}}
    opened = visitor.client.post("/api/v1/tables", json=opening)
    assert opened.status_code == 201
    seen = visitor.client.get(f"/api/v1/t/{opened.json['links'][0]}").json
    assert seen["clock"]["late"] == "resign"
    opening["clock"] = {"pace": DAY_S, "bank": DAY_S}
    assert visitor.client.post("/api/v1/tables", json=opening).status_code == 422


def test_two_agree_on_a_pause_and_one_ends_it(site: Site, visitor: Visitor) -> None:
    opened = site.start_table(pace=3 * DAY_S)
    first, second = opened.links
    assert "Propose a pause" in visitor.get(f"/t/{first}")
    page = visitor.submit(first, "pause")
    assert "You would like to pause." in page
    assert "any player can end it. Still to answer: Bert." in page
    assert 'value="agree"' not in page
    page = visitor.get(f"/t/{second}")
    assert "Anna would like to pause." in page
    assert "The game is paused; no clock runs." in visitor.submit(second, "agree")
    assert "The game is paused; no clock runs." in visitor.get(f"/t/{opened.watch}")
    assert "until <time" not in visitor.get(f"/t/{first}").split("What has happened")[0]
    assert "Anna ends the pause" in visitor.submit(first, "resume")


def test_onlookers_see_no_forms_about_time(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    page = visitor.get(f"/t/{opened.watch}")
    assert "Your time" not in page
    assert "/wishes/" not in page


def test_who_was_relieved_comes_back_on_the_page_or_by_moving(site: Site, visitor: Visitor) -> None:
    for how in ("back", "move"):
        opened = site.start_table(pace=Clock(DAY_S, late="seat"))
        turn = site.find_mover(opened)
        site.time += DAY_S
        tick(site.app)
        page = visitor.get(f"/t/{opened.links[turn]}")
        assert "A bot plays for you." in page
        move = "back" if how == "back" else site.list_moves(opened)[0]
        assert "is back and plays on" in visitor.submit(opened.links[turn], move)
        assert site.load(opened).position.seats[turn].status == "taken"


def test_who_lost_the_seat_has_nothing_to_do_there(site: Site, visitor: Visitor) -> None:
    opened = site.start_table("Anna", "Bert", "Clara", pace=Clock(DAY_S, late="resign"))
    turn = site.find_mover(opened)
    site.time += DAY_S
    tick(site.app)
    page = visitor.get(f"/t/{opened.links[turn]}")
    assert 'name="move"' not in page
    if site.find_mover(opened) == turn:
        assert "given up" in visitor.submit(opened.links[turn], site.list_moves(opened)[0])


def test_orders_are_given_shown_and_cancelled_on_the_page(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    link, other = opened.links
    response = visitor.post(f"/t/{link}", verb="order", arg="fly me to the moon", key="x")
    page = visitor.get(response.location)
    assert "<code>fly me to the moon</code>" in page
    assert "fly me" not in visitor.get(f"/t/{other}")
    assert "fly me" not in visitor.get(f"/t/{opened.watch}")
    (order,) = apps.list_orders(site.app, access.find(site.app, link))
    response = visitor.post(f"/t/{link}", verb="cancel", arg=str(order.id), key="y")
    assert "fly me" not in visitor.get(response.location)
