"""What may still come up: the tiles in the bag, hidden coins and couriers, the cards that horses have not played."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from playwright.sync_api import expect

from engine.games import carcassonne, kurier, turfmaster
from engine.games.kurier.board import FULL_STACK, count_stack
from engine.games.turfmaster.board import count_unplayed
from tests import apps
from tests.services import RunningService, Visit

MOVES = 30


def play_on(service: RunningService, game: str) -> tuple[Any, str]:
    """Play some moves; return the state and the link of a player."""
    opened = service.start_table(game=game)
    steps = iter(range(10_000))
    service.play_until(opened.table, lambda _: next(steps) >= MOVES)
    return apps.load_table(service.app, opened.table).position.state, opened.links[0]


def test_tiles_in_the_bag_and_on_the_table_are_all_there_are(service: RunningService) -> None:
    state, _ = play_on(service, "carcassonne")
    view = carcassonne.view(state, 0)
    drawn = [view.drawn or view.waiting] if view.drawn or view.waiting else []
    on_table = Counter([placed.tile for placed in view.tiles.values()] + drawn + list(view.aside))
    begun = Counter(tile for bag in _begin_bags(service) for tile in bag)
    start = view.tiles["0,0"].tile
    assert Counter(view.bag) + on_table == begun + Counter([start])
    assert sum(view.bag.values()) == view.left


def _begin_bags(service: RunningService) -> tuple[tuple[str, ...], ...]:
    opened = service.start_table(game="carcassonne")
    state: Any = apps.load_table(service.app, opened.table).position.state
    drawn = carcassonne.view(state, 0).drawn
    return (*state.bags, (drawn,))


def test_a_stack_has_the_couriers_that_are_nowhere_else(service: RunningService) -> None:
    state, _ = play_on(service, "kurier")
    view = kurier.view(state, None)
    for seat, player in enumerate(state.players):
        assert count_stack(view, seat) == dict(
            sorted(Counter((*player.stack, *player.under)).items(), key=lambda one: FULL_STACK.index(one[0]))
        )


def test_a_horse_has_its_pack_but_for_what_it_played(service: RunningService) -> None:
    state, _ = play_on(service, "turfmaster")
    for horse in state.horses:
        assert count_unplayed(horse.spent) == Counter((*horse.hand, *horse.pack, *horse.gone))
        assert turfmaster.view(state, None).runners[0].spent == state.horses[0].spent


@pytest.mark.parametrize(
    "game", ["carcassonne", *(pytest.param(game, marks=pytest.mark.release) for game in ("kurier", "turfmaster"))]
)
def test_what_may_still_come_up_opens_beside_a_half_made_move_and_is_a_page_without_a_script(
    service: RunningService, visit: Visit, game: str
) -> None:
    _, link = play_on(service, game)
    page = visit(f"/t/{link}")
    button = page.locator("a[data-dialog]")
    button.click()
    dialog = page.locator("dialog[open]")
    expect(dialog.locator(".stock li").first).to_contain_text(re.compile(r"×\d"))
    assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth")
    dialog.get_by_role("link", name="Back to the table").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    plain = visit(f"/t/{link}/stock", java_script_enabled=False)
    expect(plain.locator(".stock li").first).to_be_visible()


def test_a_game_without_hidden_things_has_no_such_page(service: RunningService, visit: Visit) -> None:
    page = visit(f"/t/{service.start_table(game='kaiser').links[0]}")
    expect(page.locator("#now")).to_be_attached()
    expect(page.locator("a[data-dialog]")).to_have_count(0)
