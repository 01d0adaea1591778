"""From one table to the next: what waits for the player who has signed in, and small pictures of the boards."""

import re
from pathlib import Path
from xml.etree import ElementTree

from tests.service.accounts.test_account import signed_in
from tests.visiting import Hall, Visitor

MAIL = "smtp://localhost:25"


def annas_turns(hall: Hall, count: int) -> list[str]:
    """Links of tables where Anna is to move."""
    links: list[str] = []
    while len(links) < count:
        opened = hall.begin()
        if hall.turn(opened) == 0:
            links.append(opened.links[0])
    return links


def onward(page: str) -> list[str]:
    return re.findall(r'<a class="waiting" href="/t/([^"]+)" data-next>', page)


def test_who_has_signed_in_is_led_from_table_to_table(tmp_path: Path) -> None:
    hall = Hall(tmp_path, smtp=MAIL, confirm=False)
    first, *others = annas_turns(hall, 3)
    page = signed_in(hall).get(f"/t/{first}")
    assert onward(page)[0] in others
    assert "2 more wait" in page
    assert "<title>(3) Your turn" in page
    hall.app.close()


def test_whoever_has_only_a_link_of_one_seat_learns_of_no_other(tmp_path: Path) -> None:
    hall = Hall(tmp_path, smtp=MAIL, confirm=False)
    first, second = annas_turns(hall, 2)
    page = hall.visitor().get(f"/t/{first}")
    assert onward(page) == []
    assert second not in page
    assert onward(signed_in(hall, "bert@example.org").get(f"/t/{first}")) == []
    hall.app.close()


def test_my_tables_shows_each_board_and_who_is_awaited(hall: Hall) -> None:
    opened = hall.begin()
    hall.do(opened, hall.moves(opened)[0])
    waiting = hall.turn(opened)
    name = ("Anna", "Bert")[waiting]
    reader = signed_in(hall, f"{('bert', 'anna')[waiting]}@example.org")
    page = reader.get("/my")
    assert f"Waiting for {name}" in page
    (picture,) = re.findall(r'<img src="(/t/[^"]+/board\.svg)"', page)
    assert ElementTree.fromstring(reader.get(picture)).tag.endswith("svg")


def test_a_table_that_gathers_has_no_picture(hall: Hall, visitor: Visitor) -> None:
    opened = hall.open()
    assert "<img" not in signed_in(hall).get("/my")
    assert visitor.client.get(f"/t/{opened.links[0]}/board.svg").status_code == 404
