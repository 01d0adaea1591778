"""What pages say and offer about time: the form's clock, pauses, vacations, orders, offered seats."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.settings import DAY
from service.timing import HOUR, Clock
from tests.service.test_pages import ROWS, Hall, Visitor


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    hall = Hall(tmp_path)
    yield hall
    hall.house.close()


@pytest.fixture
def visitor(hall: Hall) -> Visitor:
    return hall.visitor()


def clock_of(hall: Hall, link: str) -> Clock:
    return hall.house.desk.look(hall.house.desk.find(link).table).clock


def test_the_form_asks_for_a_clock_and_the_table_shows_it(hall: Hall, visitor: Visitor) -> None:
    fields = {"pace": "7", "late": "seat", "grace": "12", "offer_after": "2", "spare_weekends": "on"}
    response = visitor.post("/new/kaiser", **ROWS, **fields)
    expected = Clock(7 * DAY, grace=12 * HOUR, late="seat", offer_after=2, spare_weekends=True)
    assert clock_of(hall, response.location.rsplit("/", 1)[1]) == expected
    page = visitor.get(response.location)
    for words in (
        "Time for a move: 7 days",
        "until its player comes back; 12 hours of grace",
        "After 2 missed",
        "Sunday",
    ):
        assert words in page


def test_a_bank_takes_the_place_of_a_pace(hall: Hall, visitor: Visitor) -> None:
    response = visitor.post("/new/kaiser", **ROWS, pace="3", bank="20", increment="6")
    assert clock_of(hall, response.location.rsplit("/", 1)[1]) == Clock(0, 20 * DAY, 6 * HOUR)
    assert "a bank of 20 days; each turn adds 6 hours" in visitor.get(response.location)


@pytest.mark.parametrize("fields", [{"bank": "20", "increment": "0"}, {"bank": "x"}, {"grace": "999"}, {"bank": "²"}])
def test_a_clock_that_makes_no_sense_is_refused_with_the_form_kept(visitor: Visitor, fields: dict[str, str]) -> None:
    response = visitor.post("/new/kaiser", **ROWS, **fields)
    assert response.status_code == 422
    assert 'value="anna@example.org"' in response.text


def test_the_api_opens_a_table_with_a_clock(hall: Hall, visitor: Visitor) -> None:
    players = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bot"}]
    opening = {"game": "kaiser", "players": players, "clock": {"pace": DAY, "late": "resign"}}
    opened = visitor.client.post("/api/v1/tables", json=opening)
    assert opened.status_code == 201
    seen = visitor.client.get(f"/api/v1/t/{opened.json['links'][0]}").json
    assert seen["clock"]["late"] == "resign"
    opening["clock"] = {"pace": DAY, "bank": DAY}
    assert visitor.client.post("/api/v1/tables", json=opening).status_code == 422
