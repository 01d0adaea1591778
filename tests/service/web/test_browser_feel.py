"""How a table answers a touch and a key: at once, before the server does."""

from __future__ import annotations

from itertools import count

import pytest
from playwright.sync_api import expect

from engine import catalogue
from tests import apps
from tests.browsing import Player
from tests.sampling import one_of
from tests.services import RunningService, Visit

SLOWER = 6  # than this machine
TOUCH_MS, TRIES, MOVES = 50, 20, 12

# How long it takes from a press until the pressed place has its frame.
MEASURE = """(token) => new Promise((done) => {
  const spot = document.querySelector(`:is(.stage, .tray) [data-token="${token}"]`);
  spot.addEventListener("click", () => { window.pressed = performance.now(); }, { capture: true });
  new MutationObserver(() => {
    if (spot.classList.contains("chosen")) requestAnimationFrame(() => done(performance.now() - window.pressed));
  }).observe(spot, { attributes: true });
  spot.dispatchEvent(new MouseEvent("click", { bubbles: true, ...(() => {
    const { left, top, width, height } = spot.getBoundingClientRect();
    return { clientX: left + width / 2, clientY: top + height / 2 };
  })() }));
})"""


@pytest.mark.parametrize("game", one_of(catalogue.find_all(), "kurier"))
def test_a_touch_is_answered_within_50_ms_on_a_processor_six_times_slower(
    service: RunningService, visit: Visit, game: str
) -> None:
    opened, steps = service.start_table(game=game), count()
    service.play_until(opened.table, lambda _: next(steps) >= MOVES)
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    page.locator("form.deed[data-said]").wait_for(state="attached")
    token = page.locator(":is(.stage, .tray) .lit").first.get_attribute("data-token")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    times = list[float]()
    while len(times) < TRIES and min(times, default=TOUCH_MS) >= TOUCH_MS:  # other tests run at the same time
        times.append(page.evaluate(MEASURE, token))
        page.keyboard.press("Escape")
    print(f"{game}: {min(times):.0f} ms from a touch to its answer, {SLOWER} times slower")
    assert min(times) < TOUCH_MS, times


def test_keys_are_listed_and_undo_a_move(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(game="carcassonne")
    mover = Player(visit(f"/t/{opened.links[service.find_mover(opened.table)]}"))
    keys, page = mover.page.get_by_role("dialog", name="Keys"), mover.page
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    assert keys.locator("dt").count() == 9
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    mover.move()
    expect(page.get_by_text("Accepted.")).to_be_visible()
    length = apps.load_table(service.app, opened.table).row.length
    page.keyboard.press("u")
    expect(page.locator('.bar button[value="undo"]')).to_have_count(0)
    assert apps.load_table(service.app, opened.table).row.length > length
    page.keyboard.press("+")
    near = page.locator("[data-stage]").get_attribute("viewBox")
    page.keyboard.press("f")
    expect(page.locator("[data-stage]")).not_to_have_attribute("viewBox", near or "")
