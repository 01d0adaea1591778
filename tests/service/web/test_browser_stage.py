"""The page of a table as an app: what can be chosen is seen and uncovered at first sight, in every window."""

import statistics
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine import catalogue
from engine.games import carcassonne
from service.settings import DAY_S
from service.tables.opening import Invitee
from tests.browsing import PAGE_TIMEOUT_MS, SHORT_GAMES, Player
from tests.sampling import one_of
from tests.services import RunningService, Visit, fixed_seed

WINDOWS = {
    "laptop": (1366, 650),
    "desktop": (1920, 1000),
    "tablet": (768, 1024),
    "phone": (390, 844),
    "small phone": (360, 640),
    "phone on its side": (844, 390),
}
PHONES = {"phone", "small phone", "phone on its side"}
POSITIONS = (0, 15, 45)  # after so many moves
IN_TURN = ("carcassonne", "turfmaster")  # they share the windows in `make test`
MIN_SEEN_SHARE, MIN_BOARD_SHARE, MAX_LAYOUT_SHIFT = 0.95, 0.5, 0.02

# Every choice with its size, and whether it is in the window and nothing covers its middle.
CHOICES = """() => [...document.querySelectorAll('[data-token]:not([aria-disabled="true"])')].map((one) => {
  const { left, right, top, bottom, width, height } = one.getBoundingClientRect();
  const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  const upon = document.elementFromPoint(left + width / 2, top + height / 2)?.closest("[data-token]");
  return { token: one.dataset.token, seen: inside && upon === one, size: Math.min(width, height) };
})"""

SHARE = """() => {
  const { width, height } = document.querySelector("[data-stage]").getBoundingClientRect();
  return (width * height) / (innerWidth * innerHeight);
}"""

SCROLLS = """() => {
  const { scrollHeight, scrollWidth } = document.documentElement;
  return Math.max(scrollHeight - innerHeight, scrollWidth - innerWidth);
}"""

# The layout shifts since the page was opened, without a touch.
SHIFTS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 150);
})"""

# Every player in the strip: whether the text is wider than its place, and how much of the name is seen.
CHIPS = """() => [...document.querySelectorAll(".strip li")].map((one) => {
  const { left, right } = one.getBoundingClientRect(), name = one.querySelector(".who");
  return {
    spills: one.scrollWidth > one.clientWidth || left < 0 || right > innerWidth,
    told: name.clientWidth,
    whole: name.firstElementChild.scrollWidth <= name.clientWidth,
  };
})"""
# The words in brackets behind the names, and whether each is seen whole, in part or not.
BRACKETS = """() => [...document.querySelectorAll(".strip .who > :nth-child(2)")].map((one) => {
  const [own, around] = [one, one.parentElement].map((each) => each.getBoundingClientRect());
  if (own.top >= around.bottom - 1) return "gone";
  return own.right <= around.right + 1 && own.bottom <= around.bottom + 1 ? "whole" : "cut";
})"""
# Whether all of one text is seen, and its frame does not cut it off.
IS_WHOLE = """one => {
  const [own, around] = [one, one.parentElement].map((each) => each.getBoundingClientRect());
  const cut = one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth;
  return own.height > 0 && !cut && own.right <= around.right + 1 && own.bottom <= around.bottom + 1;
}"""
MIN_NAME_WIDTH_PX = 12  # two letters


def open_position(service: RunningService, game: str, seed: int) -> str:
    """Play a table as far as `POSITIONS` says; return the page of the seat that is to move."""
    with fixed_seed(bytes([seed]) * 32):  # the same position in every run
        opened, steps = service.start_table(game=game), count()
    service.play_until(opened.table, lambda _: next(steps) >= POSITIONS[seed], seed)
    return f"/t/{opened.links[service.find_mover(opened.table)]}"


@pytest.fixture
def windows(service: RunningService, game: str, everything: bool) -> dict[str, list[str]]:
    """The pages for each window: all before a release, otherwise windows and positions take turns among the games."""
    if everything:
        paths = [open_position(service, game, seed) for seed in range(len(POSITIONS))]
        return dict.fromkeys(WINDOWS, paths)
    turn = list(catalogue.find_all()).index(game)
    names = [name for number, name in enumerate(WINDOWS) if number % 2 == turn % 2]
    left_out = names[2] if turn < 2 else names[0]
    seeds = {name: (number + turn) % len(POSITIONS) for number, name in enumerate(names) if name != left_out}
    return {name: [open_position(service, game, seed)] for name, seed in seeds.items()}


def measure_page(page: Page, path: str) -> dict[str, Any]:
    page.goto(path)
    page.locator("form.deed[data-said]").wait_for(state="attached")
    shift = page.evaluate(SHIFTS)  # takes a few frames: what follows is measured as it is painted
    return {
        "choices": page.evaluate(CHOICES),
        "share": page.evaluate(SHARE),
        "scrolls": page.evaluate(SCROLLS),
        "shift": shift,
    }


@pytest.mark.parametrize(
    ("game", "everything"),
    [
        *((game, False) for game in IN_TURN),
        *(pytest.param(game, True, marks=pytest.mark.release) for game in catalogue.find_all()),
    ],
)
def test_the_choices_are_seen_at_first_in_every_window(visit: Visit, windows: dict[str, list[str]]) -> None:
    choices, shares = [], []
    for name, paths in windows.items():
        width, height = WINDOWS[name]
        page = visit("about:blank", viewport={"width": width, "height": height}, has_touch=name in PHONES)
        for path in paths:
            measured = measure_page(page, path)
            least = 44 if name in PHONES else 24
            small = [one for one in measured["choices"] if one["size"] < least - 0.5]
            assert not small, (name, path, small)
            assert measured["scrolls"] <= 0, (name, path)
            assert measured["shift"] < MAX_LAYOUT_SHIFT, (name, path)
            choices += [{**one, "at": (name, path[-4:])} for one in measured["choices"]]
            shares.append(measured["share"])
    unseen = [one for one in choices if not one["seen"]]
    assert len(choices) > len(shares) >= len(windows)
    assert len(unseen) <= (1 - MIN_SEEN_SHARE) * len(choices), (len(unseen), len(choices), unseen[:20])
    assert statistics.mean(shares) >= MIN_BOARD_SHARE, shares


def test_the_board_turns_to_the_choices_after_the_player_looked_at_another_part(
    service: RunningService, visit: Visit
) -> None:
    opened = service.start_table()
    first = service.find_mover(opened.table)
    page = visit(f"/t/{opened.links[1 - first]}")
    page.locator("[data-stage]").wait_for()
    for _ in range(6):
        page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowLeft")
    view_box = page.locator("[data-stage]").get_attribute("viewBox") or ""
    service.submit(opened.links[first], f"move {SHORT_GAMES[first].split()[0].replace('-', ' ')}")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.locator(".stage .lit").first.wait_for(state="attached", timeout=PAGE_TIMEOUT_MS)
    expect(page.locator("[data-stage]")).not_to_have_attribute("viewBox", view_box)
    assert all(one["seen"] for one in page.evaluate(CHOICES))


def test_the_part_that_a_player_looks_at_stays_while_it_shows_all_choices(
    service: RunningService, visit: Visit
) -> None:
    opened = service.start_table()
    player = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    player.page.locator(".stage .lit").first.wait_for(state="attached")
    player.page.mouse.move(400, 400)
    player.page.mouse.wheel(0, 60)
    view_box = player.page.locator("[data-stage]").get_attribute("viewBox") or ""
    player.move()
    expect(player.page.locator(".stage .lit")).to_have_count(0)
    expect(player.page.locator("[data-stage]")).to_have_attribute("viewBox", view_box)


def test_the_small_map_is_shown_while_only_a_part_of_the_course_is(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="turfmaster")
    page = visit(
        f"/t/{opened.links[service.find_mover(opened.table)]}",
        viewport=dict(zip(("width", "height"), WINDOWS["phone"], strict=True)),
    )
    expect(page.locator(".mini")).to_be_visible()
    page.keyboard.press("0")
    expect(page.locator(".mini")).to_be_hidden()


# How much of the titles on the grass the small map covers, in square pixels.
MEASURE_COVERED = """() => {
  const map = document.querySelector(".mini").getBoundingClientRect();
  return [...document.querySelectorAll("[data-stage] text")].map((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    const [width, height] = [Math.min(right, map.right) - Math.max(left, map.left),
                             Math.min(bottom, map.bottom) - Math.max(top, map.top)];
    return Math.max(width, 0) * Math.max(height, 0);
  }).reduce((sum, area) => sum + area, 0);
}"""


@pytest.mark.release
def test_the_small_map_leaves_the_titles_on_the_grass_free(service: RunningService, visit: Visit) -> None:
    page = visit("about:blank", viewport={"width": 1366, "height": 650})
    shown = 0
    for seed in range(3):
        page.goto(open_position(service, "turfmaster", seed))
        page.locator("form.deed[data-said]").wait_for(state="attached")
        if page.locator(".mini:not([hidden])").count():
            expect(page.locator(".mini")).to_be_visible()  # once it has its corner
            assert page.evaluate(MEASURE_COVERED) < 50
            shown += 1
    assert shown


def test_the_frame_of_the_last_tile_is_drawn_over_the_glow_beside_it(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="carcassonne")
    service.play_until(
        opened.table,
        lambda state: len(state.tiles) > 5 and carcassonne.menu(state, state.turn)[0].verb == "place",
    )
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    page.locator(".stage .lit").first.wait_for(state="attached")
    assert page.locator("[data-stage]").evaluate("""(stage) => {
      const frame = [...stage.querySelectorAll("rect.trail")].at(-1);
      return [...stage.querySelectorAll("[data-token]")].every(
        (spot) => spot.compareDocumentPosition(frame) & Node.DOCUMENT_POSITION_FOLLOWING);
    }""")


def test_your_own_name_and_moves_are_marked(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    first = service.find_mover(opened.table)
    service.submit(opened.links[first], f"move {SHORT_GAMES[first].split()[0].replace('-', ' ')}")
    for seat, moves in ((first, 1), (1 - first, 0)):
        page = visit(f"/t/{opened.links[seat]}")
        expect(page.locator(".strip .you .who")).to_have_text(("Anna", "Bert")[seat])
        expect(page.locator(".strip .you .tag")).to_have_text("you")
        expect(page.locator("#log .mine")).to_have_count(moves)


@pytest.mark.parametrize("seats", one_of([2, 3, 4, 5, 8], 8))
def test_every_phone_shows_every_name_at_every_number_of_players(
    service: RunningService, visit: Visit, seats: int
) -> None:
    names = ("Anna", "Bernadette", "Clara", "Dirk", "Emiel", "Françoise", "Gijs", "Hendrik-Jan")
    people = [Invitee(name, f"{number}@example.org") for number, name in enumerate(names)]
    page = visit(f"/t/{service.start_table(*people[:seats], game='turfmaster').watch}", has_touch=True)
    page.locator("[data-stage]").wait_for()
    for width, height in (WINDOWS[name] for name in PHONES):
        page.set_viewport_size({"width": width, "height": height})
        chips = page.evaluate(CHIPS)
        assert not [one for one in chips if one["spills"] or one["told"] < MIN_NAME_WIDTH_PX], (width, chips)
        assert chips[0]["whole"] or width > height, (width, chips)


def test_a_phone_says_the_whole_of_title_and_time_left_and_of_what_to_do_where_it_has_no_button(
    service: RunningService, visit: Visit
) -> None:
    opened = service.start_table(game="kurier", pace=3 * DAY_S)
    width, height = WINDOWS["phone"]
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}", viewport={"width": width, "height": height})
    expect(page.locator(".bar .deeds :is(button, .button):visible")).to_have_count(0)
    expect(page.locator(".bar .what")).to_contain_text("Touch a glowing place.")
    for part in (".top strong", ".top .left", ".bar .what"):
        assert page.locator(part).evaluate(IS_WHOLE), part


@pytest.mark.release
def test_the_time_left_is_not_paler_than_the_other_facts(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="carcassonne", pace=3 * DAY_S)
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    look = "(one) => { const { color, opacity } = getComputedStyle(one); return [color, opacity]; }"
    assert page.locator(".top .left").evaluate(look) == page.locator(".top .facts").evaluate(look)


@pytest.mark.release
def test_a_bots_level_is_shown_in_full_or_hidden(service: RunningService, visit: Visit) -> None:
    bots = [Invitee(f"Bot {number}", level="strong") for number in range(1, 4)]
    anna = Invitee("Anna", "", "word", "person")
    paths = [service.open_table(anna, *bots[:number], game="kurier").links[0] for number in (1, 3)]
    width, height = WINDOWS["phone"]
    page = visit("/", viewport={"width": width, "height": height}, has_touch=True)
    for path, visibility in zip(paths, ("whole", "gone"), strict=True):
        page.goto(f"/t/{path}")
        page.locator("[data-stage]").wait_for()
        assert set(page.evaluate(BRACKETS)) == {visibility}
        assert all(chip["whole"] for chip in page.evaluate(CHIPS))


def test_a_refusal_is_read_whole_in_every_window(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="kurier")
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    page.locator("form.deed").evaluate("form => { form.elements.move.value = 'resign now'; form.requestSubmit(); }")
    expect(page.locator(".bar .note.bad")).to_be_visible(timeout=PAGE_TIMEOUT_MS)
    for width, height in WINDOWS.values():
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator(".bar .note.bad").evaluate(IS_WHOLE), (width, height)
