"""Coordinates that can be shown, sounds that can be heard, and what marks the reader: each at the reader's wish."""

from __future__ import annotations

from itertools import count

import pytest
from playwright.sync_api import Page, expect

from tests.browsing import Player
from tests.sampling import one_of
from tests.services import RunningService, Visit

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
LABELS = "() => [...document.querySelectorAll('[data-stage] .label text')].map((one) => one.textContent.trim())"
NAMES = "() => [...document.querySelectorAll('#log .place[data-name]')].map((one) => one.dataset.name)"

# Counts the tones that are played; the browser of a test has no loudspeaker.
LISTEN = """() => {
  window.tones = [];
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...all) {
    window.tones.push(this.frequency.value);
    return start.apply(this, all);
  };
}"""


def open_middle(service: RunningService, visit: Visit, game: str, seats: int = 0) -> Page:
    opened, steps = service.start_table(game=game), count()
    service.play_until(opened.table, lambda _: next(steps) >= 14)
    mover = service.find_mover(opened.table)
    return visit(f"/t/{opened.links[seats or mover]}")


@pytest.mark.parametrize("game", one_of(["kaiser", "carcassonne"], "kaiser"))
def test_sentences_name_a_place_as_the_board_does_if_the_reader_wishes(
    service: RunningService, visit: Visit, game: str
) -> None:
    page = open_middle(service, visit, game)
    page.get_by_role("tab", name="Log").click()
    labels, names = page.evaluate(LABELS), page.evaluate(NAMES)
    assert names
    assert set(names) <= set(labels)
    label, place = page.locator("[data-stage] .label").first, page.locator("#log .place[data-name]").first
    shown = "(one) => getComputedStyle(one, '::after').content"
    expect(label).to_be_hidden()
    assert place.evaluate(shown) == "none"
    button = page.get_by_role("button", name="Names of the places")
    button.click()
    expect(label).to_be_visible()
    assert names[0] in place.evaluate(shown)
    page.reload()
    expect(label).to_be_visible()  # this device remembers it
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(label).to_be_hidden()


@pytest.mark.release
def test_the_course_shows_the_names_of_its_fields(service: RunningService, visit: Visit) -> None:
    page = open_middle(service, visit, "turfmaster")
    page.get_by_role("button", name="Names of the places").click()
    expect(page.locator("[data-stage] .label text", has_text="A10")).to_be_visible()


@pytest.mark.release
def test_sounds_are_off_until_they_are_chosen_and_the_device_remembers_them(
    service: RunningService, visit: Visit
) -> None:
    opened = service.start_table(game="carcassonne")
    page = visit(f"/t/{opened.links[service.find_mover(opened.table)]}")
    loaded = list[str]()
    page.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    page.evaluate(LISTEN)
    page.locator("form.deed[data-said]").wait_for(state="attached")
    page.locator(".stage .lit").first.click()
    assert page.evaluate("() => window.tones") == []
    assert "tone-player.js" not in loaded
    page.get_by_role("tab", name="More").click()
    button = page.get_by_role("button", name="Sounds on this device")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("() => window.tones.length > 0")
    page.reload()
    page.evaluate(LISTEN)
    player = Player(page)
    player.move()
    page.wait_for_function("() => window.tones.length > 2")  # of the touches and of the move
    page.get_by_role("tab", name="More").click()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")


@pytest.mark.release
def test_the_strip_says_which_player_the_reader_is_on_a_phone_too(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    page = visit(f"/t/{opened.links[0]}", **PHONE)
    own = page.locator(".strip li", has_text="Anna")
    expect(own.locator(".tag")).to_have_text("you")
    expect(own.locator(".tag")).to_be_visible()
    expect(page.locator(".strip li", has_text="Bert").locator(".tag")).to_have_count(0)
    assert page.locator(".strip").evaluate("one => one.scrollWidth <= one.clientWidth")


@pytest.mark.release
def test_the_player_to_move_breathes_unless_motion_is_reduced(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    moving = "(one) => getComputedStyle(one).animationName"
    for motion, name in (("no-preference", "breathe"), ("reduce", "none")):
        page = visit(f"/t/{opened.links[0]}", reduced_motion=motion)
        assert page.locator(".strip .now").evaluate(moving) == name
