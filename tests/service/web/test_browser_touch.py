"""Direct manipulation in a real browser: players touch the pieces themselves, and an impossible touch says why."""

import re
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from engine.games import carcassonne, kurier
from service.tables.opening import OpenedTable
from tests import apps
from tests.browsing import SHORT_GAMES, Player, click, find_point, tap
from tests.sampling import one_of
from tests.services import RunningService, Visit, fixed_seed

ZOOMS = 3
LAPTOP, PHONE, SMALL_PHONE = (
    {"width": width, "height": height} for width, height in ((1366, 650), (390, 844), (360, 640))
)
CROWDED_GUEST = "Wolga-Wirtshaus officer"
READ_VIEW = "() => document.querySelector('[data-stage]').getAttribute('viewBox')"
READ_TURN = "() => document.querySelector('[data-ghost]').getAttribute('transform')"

# The glowing places that are not wholly on the stage.
LIST_OUTSIDE = """() => {
  const stage = document.querySelector("[data-stage]").getBoundingClientRect();
  return [...document.querySelectorAll(".stage .lit")].filter((one) => {
    const { left, right, top, bottom } = one.firstElementChild.getBoundingClientRect();
    return left < stage.left - 1 || right > stage.right + 1 || top < stage.top - 1 || bottom > stage.bottom + 1;
  }).map((one) => one.dataset.token);
}"""


def start_with_tile(service: RunningService, seed: int = 1) -> OpenedTable:
    """Play several moves of Carcassonne, the same in every run, until the player in turn has a tile."""
    with fixed_seed(bytes([seed]) * 32):
        opened = service.start_table(game="carcassonne")
    service.play_until(opened.table, lambda state: len(state.tiles) > 8 and can_be_turned(state))
    return opened


def open_with_tile(service: RunningService, visit: Visit, seed: int = 1) -> tuple[str, Player]:
    """Return a new table and the player who has a tile there."""
    opened = start_with_tile(service, seed)
    return opened.table, Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))


@pytest.fixture(scope="module")
def table_with_tile(service: RunningService) -> OpenedTable:
    """A table where a player has a tile, for tests that do not lay it."""
    return start_with_tile(service)


@pytest.fixture
def player_with_tile(service: RunningService, visit: Visit, table_with_tile: OpenedTable) -> Player:
    return Player(visit(f"/t/{table_with_tile.links[service.find_mover(table_with_tile.table)]}"))


def can_be_turned(state: Any) -> bool:
    """Return whether the next tile fits somewhere in more than one way."""
    menu = {entry.verb: entry for entry in carcassonne.menu(state, state.turn)}
    cells = [cell for cell, _ in menu["place"].options] if "place" in menu else []
    return len(set(cells)) < len(cells)


def load_newest(service: RunningService, table: str, count: int) -> list[Any]:
    snapshot = apps.load_table(service.app, table)
    return apps.load_entries(service.app, snapshot, snapshot.row.length - count)


def list_cells(player: Player) -> dict[str, list[str]]:
    """Return the cells for the tile, each with the turns that are possible there."""
    cells: dict[str, list[str]] = {}
    menu = player.page.evaluate("() => JSON.parse(document.getElementById('menu').textContent)")["menu"]
    for cell, turn in next(entry for entry in menu if entry["verb"] == "place")["options"]:
        cells.setdefault(cell, []).append(turn)
    return cells


def test_a_tile_stays_where_it_was_put_and_a_touch_turns_it(player_with_tile: Player) -> None:
    player = player_with_tile
    ways = list_cells(player)
    cell = max(ways, key=lambda one: len(ways[one]))
    player.page.locator("form.deed[data-said]").wait_for(state="attached")
    player.page.mouse.dblclick(*find_point(player.page, cell))
    shown = {player.page.evaluate(READ_TURN).split("rotate(")[1]}
    assert shown == {f"{ways[cell][1]})"}
    for _ in ways[cell][1:]:
        player.page.get_by_role("button", name="Turn").click()
        shown.add(player.page.evaluate(READ_TURN).split("rotate(")[1])
    assert shown == {f"{turn})" for turn in ways[cell]}


@pytest.mark.parametrize("seed", one_of([1, 36, 49], 36))  # beside the middle of the tile, and all but in it
def test_a_tile_and_a_figure_confirmed_together_become_two_entries(
    service: RunningService, visit: Visit, seed: int
) -> None:
    table, player = open_with_tile(service, visit, seed)
    player.touch(next(iter(list_cells(player))))
    page = player.page
    page.locator(".stage g > [data-early].lit").first.wait_for()
    player.touch(page.locator("[data-early].lit").first.get_attribute("data-token") or "")
    expect(page.locator(".bar .made")).to_have_text(re.compile("Lay the tile; Place a figure: "))
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator(".note.good")).to_be_visible()
    assert [entry.move.split()[0] for entry in load_newest(service, table, 2)] == ["place", "figure"]


# Let the page draw each frame late, as soon as the board has come to rest.
DRAW_LATE = """() => new Promise((done) => {
  const draw = requestAnimationFrame;
  draw(() => draw(() => setTimeout(() => draw(() => {
    window.requestAnimationFrame = (next) => setTimeout(next, 1000);
    done();
  }), 300)));
})"""


def test_early_figures_are_removed_once_the_tile_is_confirmed(service: RunningService, visit: Visit) -> None:
    """The page learns which figures could follow a tile only after the tile is confirmed and the board is redrawn."""
    _, player = open_with_tile(service, visit)
    page, answers = player.page, list[Route]()
    page.route("**?move=*", lambda route: answers.append(route))  # which figures could follow
    page.evaluate(DRAW_LATE)
    player.touch(next(iter(list_cells(player))))
    page.get_by_role("button", name="Confirm").click()
    for answer in answers:
        answer.continue_()
    page.locator(".note.good").wait_for()
    tokens = page.locator(".stage [data-early]").evaluate_all("(all) => all.map((one) => one.dataset.token)")
    assert 0 < len(tokens) == len(set(tokens))


def test_escape_cancels_a_move_in_progress(
    service: RunningService, table_with_tile: OpenedTable, player_with_tile: Player
) -> None:
    table, player = table_with_tile.table, player_with_tile
    length = apps.load_table(service.app, table).row.length
    player.touch(next(iter(list_cells(player))))
    player.page.locator("[data-early].lit").first.wait_for()
    player.page.keyboard.press("Escape")
    expect(player.page.locator("[data-early]")).to_have_count(0)
    expect(player.page.locator(".bar .made")).to_be_hidden()
    assert apps.load_table(service.app, table).row.length == length


def two_readings(state: Any) -> list[tuple[str, ...]]:
    """Couriers who may be handed the dispatch and may as well be the first to travel."""
    menu = {entry.verb: entry for entry in kurier.menu(state, state.turn)}
    if state.places or not {"hand", "travel"} <= menu.keys():
        return []
    return [args for args in menu["hand"].options if args in {way[:2] for way in menu["travel"].options}]


def test_a_touch_with_two_meanings_says_what_it_does(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="kurier")
    service.play_until(opened.table, lambda state: bool(two_readings(state)))
    player = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    player.touch(" ".join(two_readings(apps.load_table(service.app, opened.table).position.state)[0]))
    expect(player.page.locator(".bar .confirm")).to_have_text("Hand the dispatch over")
    expect(player.page.locator(".bar .made")).to_have_text(re.compile("Hand the dispatch over.* / Travel"))


def has_dispatch_beside_courier(state: Any) -> bool:
    """Whether the dispatch may be handed over, and the courier who has it may be the first to travel."""
    menu = {entry.verb: entry for entry in kurier.menu(state, state.turn)}
    own = state.players[state.turn].dispatch
    if state.places or not {"hand", "travel"} <= menu.keys():
        return False
    return (own.inn, own.kind) in {way[:2] for way in menu["travel"].options}


@pytest.fixture(scope="module")
def table_with_dispatch(service: RunningService) -> OpenedTable:
    """A table where a player holds the dispatch beside a courier, for tests that make no move."""
    opened = service.start_table(game="kurier")
    service.play_until(opened.table, has_dispatch_beside_courier)
    return opened


@pytest.mark.parametrize("window", one_of([LAPTOP, PHONE], PHONE))
def test_the_dispatch_is_touched_beside_its_courier(
    service: RunningService, visit: Visit, table_with_dispatch: OpenedTable, window: dict[str, int]
) -> None:
    opened = table_with_dispatch
    state: Any = apps.load_table(service.app, opened.table).position.state
    own = state.players[state.turn].dispatch
    player = Player(visit(f"/t/{opened.links[state.turn]}", viewport=window))
    spots = {token: player.page.locator(f'[data-token="{token}"]') for token in ("hand", f"{own.inn} {own.kind}")}
    assert "your dispatch" in (spots["hand"].get_attribute("aria-label") or "")
    for token, other in zip(spots, reversed(spots), strict=True):
        touch_until_chosen(player, token)
        expect(spots[token]).to_have_class(re.compile("chosen"))
        expect(spots[other]).not_to_have_class(re.compile("chosen"))
        player.page.keyboard.press("Escape")


def touch_until_chosen(player: Player, token: str) -> None:
    """The first touches near two close places zoom in on them."""
    chosen = player.page.locator(".stage .chosen")
    for _ in range(ZOOMS):
        if not chosen.count():
            player.touch(token)


def test_a_finger_between_dispatch_and_courier_is_led_closer(
    service: RunningService, visit: Visit, table_with_dispatch: OpenedTable
) -> None:
    opened = table_with_dispatch
    state: Any = apps.load_table(service.app, opened.table).position.state
    own = state.players[state.turn].dispatch
    page = visit(f"/t/{opened.links[state.turn]}", viewport={"width": 390, "height": 844})
    before = page.locator("[data-stage]").get_attribute("viewBox") or ""
    ends = [find_point(page, token) for token in ("hand", f"{own.inn} {own.kind}")]
    page.mouse.click(*(sum(ways) / 2 for ways in zip(*ends, strict=True)))
    expect(page.locator("[data-stage]")).not_to_have_attribute("viewBox", before)
    expect(page.locator(".stage .chosen")).to_have_count(0)


def test_a_touch_on_what_cannot_be_chosen_says_so_with_the_paragraph(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[seat]}")
    other = SHORT_GAMES[1 - seat].split()[0].split("-")[0]
    click(page, other)
    note = page.locator(".bubble")
    expect(note).to_contain_text(re.compile("^This stone belongs to (Anna|Bert)."))
    assert measure_distance(page, other) < 60
    expect(note.locator("a.rule")).to_have_attribute("href", re.compile(r"/rules/kaiser#2\.1$"))


def measure_distance(page: Page, token: str) -> float:
    """Return how far the line beside a place is from the middle of that place."""
    box, (left, top) = page.locator(".bubble").bounding_box(), find_point(page, token)
    assert box
    across = max(box["x"] - left, left - box["x"] - box["width"], 0)
    return float(across + max(box["y"] - top, top - box["y"] - box["height"], 0))


def test_a_touch_beside_all_places_says_what_to_touch_and_one_where_the_tile_does_not_fit_says_that(
    player_with_tile: Player,
) -> None:
    page = player_with_tile.page
    page.locator("form.deed[data-said]").wait_for(state="attached")
    page.mouse.click(30, 120)
    expect(page.locator(".bubble")).to_have_text("Touch a glowing place.")
    box = page.locator("[data-why]").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".bubble")).to_have_text("The tile does not fit here.")
    page.mouse.click(30, 120)
    page.mouse.down()
    expect(page.locator(".bubble")).to_be_hidden()


def test_a_move_in_progress_is_written_in_the_language_of_the_page(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[seat]}", locale="fr-FR")
    start = SHORT_GAMES[seat].split()[0].split("-")[0]
    click(page, start)
    expect(page.locator(".bar .made")).to_have_text(re.compile(rf"^Déplacer une pièce\u00a0: {start}$"))


def test_arrow_keys_go_from_thing_to_thing_as_one_sees_them(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    page.locator(".stage .lit").first.focus()
    before = middle(page)
    for key in ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
        after = middle(page)
        along = {"ArrowUp": before[1] - after[1], "ArrowDown": after[1] - before[1]}
        along |= {"ArrowLeft": before[0] - after[0], "ArrowRight": after[0] - before[0]}
        assert after == before or along[key] > 0, key
        before = after


def middle(page: Page) -> tuple[float, float]:
    box = page.evaluate(
        "() => { const { x, y, width, height } = document.activeElement.getBoundingClientRect();"
        " return [Math.round(x + width / 2), Math.round(y + height / 2)]; }"
    )
    return box[0], box[1]


def test_a_sentence_lights_up_its_place_and_a_place_its_sentence(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    start, end = SHORT_GAMES[seat].split()[0].split("-")
    service.submit(opened.links[seat], f"move {start} {end}")
    page = visit(f"/t/{opened.links[1 - seat]}")
    sentence = page.locator("#now .events li", has_text="moves a king from the home corner to the")
    sentence.locator("a.place", has_text="from the home corner").hover()
    expect(page.locator(".mentioned")).to_have_count(1)
    sentence.hover(position={"x": 2, "y": 2})
    expect(page.locator(".mentioned")).to_have_count(2)
    page.mouse.move(*find_point(page, end))
    expect(sentence).to_have_class("tells")
    expect(sentence.locator("a.place.tells")).to_have_text(re.compile("^to the (north|south)-east hills$"))


def test_a_free_place_is_named_after_its_neighbours(player_with_tile: Player) -> None:
    names = player_with_tile.page.locator(".stage .lit").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert names
    assert all(re.match(r"free place with (city|road|field) (above|below|to the (left|right))", name) for name in names)


@pytest.fixture(scope="module")
def table_with_crowded_inn(service: RunningService) -> OpenedTable:
    """A table of Kurier with several guests in one inn, the same in every run, for tests that make no move."""
    with fixed_seed(bytes([2]) * 32):
        opened = service.start_table(game="kurier")
    steps = count()
    service.play_until(opened.table, lambda _: next(steps) >= 14, seed=2)
    return opened


@pytest.fixture
def crowded_inn(service: RunningService, visit: Visit, table_with_crowded_inn: OpenedTable) -> Page:
    """The page of Kurier on a small phone; a tap between the guests of an inn has just moved closer to them."""
    opened = table_with_crowded_inn
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}", viewport=SMALL_PHONE, has_touch=True)
    page.locator("form.deed[data-said]").wait_for(state="attached")
    before = page.evaluate(READ_VIEW)
    tap(page, CROWDED_GUEST)
    expect(page.locator(".bar .made")).to_be_hidden()
    assert page.evaluate(READ_VIEW) != before
    return page


def test_two_quick_taps_on_a_place_choose_it_and_do_not_zoom_as_well(crowded_inn: Page) -> None:
    """The first tap moves closer to what is crowded; the second one used to count as a double tap, which zooms."""
    page = crowded_inn
    tap(page, CROWDED_GUEST)
    expect(page.locator(".bar .made")).to_be_visible()
    page.wait_for_timeout(100)
    assert page.evaluate(LIST_OUTSIDE) == []


def test_what_is_needed_stays_in_sight_when_the_window_shrinks(crowded_inn: Page) -> None:
    page = crowded_inn
    page.locator("[data-view=whole]").click()
    assert page.evaluate(LIST_OUTSIDE) == []
    page.set_viewport_size({"width": 360, "height": 480})
    page.wait_for_timeout(100)
    assert page.evaluate(LIST_OUTSIDE) == []


# Notes the forms that are sent from now on.
COUNT_SENT = """() => {
  window.sent = 0;
  document.addEventListener("submit", () => { window.sent += 1; }, true);
}"""

# Waits until the bar offers to place no figure; returns the point at which that can be touched.
WAIT_FOR_PASS = """() => new Promise((done) => new MutationObserver((_, watch) => {
  const button = document.querySelector('.bar [data-whole="pass"]');
  if (!button) return;
  watch.disconnect();
  const { left, top, width, height } = button.getBoundingClientRect();
  done([left + width / 2, top + height / 2]);
}).observe(document.querySelector(".bar"), { childList: true, subtree: true }))"""

# Notes whether “Undo” can be pressed as soon as it is in the bar.
WATCH_UNDO = """() => new MutationObserver(() => {
  const undo = document.querySelector('.bar [value="undo"]');
  if (!undo || window.undo) return;
  const { left, top, width, height } = undo.getBoundingClientRect();
  const touched = document.elementFromPoint(left + width / 2, top + height / 2);
  window.undo = undo.contains(touched) ? "at once" : "later";
}).observe(document.querySelector(".bar"), { childList: true, subtree: true, attributes: true })"""


def test_confirm_pressed_as_it_becomes_another_button_places_no_figure_by_mistake(
    service: RunningService, visit: Visit
) -> None:
    """Once figures may follow a tile, its Confirm becomes “Place no figure”, under a finger that is on its way."""
    table, player = open_with_tile(service, visit)
    page, length = player.page, apps.load_table(service.app, table).row.length
    page.evaluate(COUNT_SENT)
    player.touch(next(iter(list_cells(player))))
    page.mouse.click(*page.evaluate(WAIT_FOR_PASS))
    page.wait_for_timeout(100)
    assert page.evaluate("() => window.sent") == 0
    assert apps.load_table(service.app, table).row.length == length
    page.get_by_role("button", name="Place no figure").click()  # waits until it can be pressed
    page.locator(".note.good").wait_for()
    assert [entry.move.split()[0] for entry in load_newest(service, table, 2)] == ["place", "pass"]


def test_a_second_press_of_confirm_does_not_undo_the_move(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    mover = service.find_mover(opened.table)
    start, end = SHORT_GAMES[mover].split()[0].split("-")
    player = Player(visit(f"/t/{opened.links[mover]}", viewport={"width": 1366, "height": 650}))
    player.put_together(f"move {start} {end}")
    page, length = player.page, apps.load_table(service.app, opened.table).row.length
    page.evaluate(WATCH_UNDO)
    page.locator(".bar .confirm").click()
    page.locator(".note.good").wait_for()
    assert page.evaluate("() => window.undo") == "later"
    page.locator('.bar [value="undo"]').click()
    expect(page.locator('.bar [value="undo"]')).to_have_count(0)
    assert apps.load_table(service.app, opened.table).row.length == length + 2
