"""Pages show a signed-in player the next table that waits, and small pictures of the boards."""

import re
from pathlib import Path
from xml.etree import ElementTree

from tests.service.accounts.test_account import sign_in
from tests.sites import Site, Visitor

MAIL = "smtp://localhost:25"


def annas_turns(site: Site, count: int) -> list[str]:
    """Links of tables where Anna is to move."""
    links: list[str] = []
    while len(links) < count:
        opened = site.start_table()
        if site.find_mover(opened) == 0:
            links.append(opened.links[0])
    return links


def onward(page: str) -> list[str]:
    return re.findall(r'<a class="waiting" href="/t/([^"]+)" data-next>', page)


def test_who_has_signed_in_is_led_from_table_to_table(tmp_path: Path) -> None:
    site = Site(tmp_path, smtp=MAIL, confirm=False)
    first, *others = annas_turns(site, 3)
    page = sign_in(site).get(f"/t/{first}")
    assert onward(page)[0] in others
    assert "2 more wait" in page
    assert "<title>(3) Your turn" in page
    site.app.close()


def test_the_link_of_one_seat_shows_no_other_table(tmp_path: Path) -> None:
    site = Site(tmp_path, smtp=MAIL, confirm=False)
    first, second = annas_turns(site, 2)
    page = site.new_visitor().get(f"/t/{first}")
    assert onward(page) == []
    assert second not in page
    assert onward(sign_in(site, "bert@example.org").get(f"/t/{first}")) == []
    site.app.close()


def test_my_tables_shows_each_board_and_the_player_to_move(site: Site) -> None:
    opened = site.start_table()
    site.submit(opened, site.list_moves(opened)[0])
    waiting = site.find_mover(opened)
    name = ("Anna", "Bert")[waiting]
    reader = sign_in(site, f"{('bert', 'anna')[waiting]}@example.org")
    page = reader.get("/my")
    assert f"Waiting for {name}" in page
    (picture,) = re.findall(r'<img src="(/t/[^"]+/board\.svg)"', page)
    assert ElementTree.fromstring(reader.get(picture)).tag.endswith("svg")


def test_a_table_that_gathers_has_no_picture(site: Site, visitor: Visitor) -> None:
    opened = site.open_table()
    assert "<img" not in sign_in(site).get("/my")
    assert visitor.client.get(f"/t/{opened.links[0]}/board.svg").status_code == 404
