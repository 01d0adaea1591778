"""Show me a good move: the button, the hint on the page, and the agreement about hints."""

import re
from typing import cast

import pytest

from engine import catalogue
from engine.menu import Menu, Move, Number, Subset
from service.text.narration import Narrator
from service.timing import Clock
from service.web.menu_forms import describe_move, make_offers
from tests.sites import ROWS, Site, Visitor
from workers import bots

BUTTON = "Show me a good move"


def ask_for_hint(site: Site, visitor: Visitor, link: str, thinking: bool = False) -> str:
    """The page that comes back after the button."""
    wake = site.app.wakeups.wake
    site.app.wakeups.wake = lambda queue: (
        bots.answer_hints(site.app) if queue == "bots" and not thinking else wake(queue)
    )
    response = visitor.post(f"/t/{link}/hint")
    assert response.status_code == 303, response.text
    return visitor.get(response.location)


def test_the_page_begins_with_the_good_move(site: Site, visitor: Visitor) -> None:
    opened = site.start_table(pace=Clock(0, hints=True))
    link = opened.links[site.find_mover(opened)]
    assert BUTTON in visitor.get(f"/t/{link}")
    shown = ask_for_hint(site, visitor, link)
    match = re.search(r'"said": \["move", "([^"]+)", "([^"]+)"\]', shown)
    assert match
    assert f"move {match[1]} {match[2]}" in site.list_moves(opened)
    assert re.search(rf"note hint.*{match[1]} → {match[2]}", shown)
    assert f'name="move" value="move {match[1]} {match[2]}"' in shown


def test_while_the_bot_thinks_the_page_says_so_and_looks_again(site: Site, visitor: Visitor) -> None:
    opened = site.start_table(pace=Clock(0, hints=True))
    link = opened.links[site.find_mover(opened)]
    shown = ask_for_hint(site, visitor, link, thinking=True)
    assert "looking for a good move" in shown
    assert 'http-equiv="refresh"' in shown
    bots.answer_hints(site.app)
    (number,) = re.findall(r"hint=(\d+)", visitor.post(f"/t/{link}/hint").location)
    assert "note hint" in visitor.get(f"/t/{link}?hint={number}")


def test_without_an_agreement_people_see_no_button(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    link = opened.links[site.find_mover(opened)]
    assert BUTTON not in visitor.get(f"/t/{link}")
    assert "did not agree" in visitor.post(f"/t/{link}/hint").text


def test_a_hint_of_a_position_that_is_past_says_nothing(site: Site, visitor: Visitor) -> None:
    opened = site.start_table(pace=Clock(0, hints=True))
    seat = site.find_mover(opened)
    ask_for_hint(site, visitor, opened.links[seat])
    site.submit(opened, site.list_moves(opened)[0])
    assert "note hint" not in visitor.get(f"/t/{opened.links[seat]}?hint=1")


@pytest.mark.parametrize("ticked", [True, False])
def test_the_form_asks_whether_a_table_has_hints(site: Site, visitor: Visitor, ticked: bool) -> None:
    fields = {**ROWS, "key": "k" * 16, "pace": "0", **({"hints": "on"} if ticked else {})}
    first = visitor.get(visitor.post("/new/kaiser", **fields).location)
    assert ("Players may ask a bot for a good move" in first) == ticked


class Plain:
    """A narrator whose labels are the words themselves."""

    def label_verb(self, verb: str) -> str:
        return verb

    def label_token(self, verb: str, token: str) -> str:
        return token


def test_without_a_script_a_hint_is_a_form_filled_in() -> None:
    menu: Menu = (Subset("keep", ("3", "7", "7", "9"), 1, 3), Number("bid", 0, 120))
    cards, bid = make_offers(menu, cast(Narrator, Plain()), ["keep", "7", "9"])
    assert [(item.token, item.chosen) for item in cards.items] == [("3", False), ("7", True), ("7", False), ("9", True)]
    assert bid.words == ()
    assert make_offers(menu, cast(Narrator, Plain()), ["bid", "17"])[1].words == ("17",)


def test_a_hint_in_french_sets_its_colon_apart() -> None:
    narrator = Narrator(catalogue.find("kaiser"), ("Anna", "Bert"), "fr")
    assert "\u00a0: A13 → A8" in describe_move(Move("move", ("A13", "A8")), narrator)
