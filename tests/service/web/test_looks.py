"""The reader chooses light or dark colours and how boards are coloured; the device remembers it, without a script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.services import RunningService, Visit
from tests.sites import Visitor

# What deuteranopes see of a linear colour (Machado, Oliveira and Fernandes 2009).
SEEN = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881))
MEADOW, CITY, SEAL = (0x9C, 0xBF, 0x63), (0xD9, 0xA8, 0x6C), (0xC2, 0x3B, 0x22)
DARK, LIGHT = "rgb(23, 20, 15)", "rgb(236, 228, 212)"


def test_a_theme_is_chosen_with_a_button_and_stays(service: RunningService, visit: Visit) -> None:
    page = visit("/", java_script_enabled=False)
    body = page.locator("body")
    for word, colour in (("dark", DARK), ("light", LIGHT)):
        page.get_by_role("button", name=word, exact=True).click()
        assert page.url == f"{service.address}/"
        page.goto("/rules")
        expect(body).to_have_css("background-color", colour)
        page.goto("/")
    page.emulate_media(color_scheme="dark")
    expect(body).to_have_css("background-color", LIGHT)
    page.get_by_role("button", name="as on this device").click()
    expect(body).to_have_css("background-color", DARK)


@pytest.mark.parametrize(("word", "effect"), [("vivid", "contrast(1.25)"), ("soft", "saturate(0.7)")])
def test_boards_are_drawn_in_the_colours_that_the_reader_chose(
    service: RunningService, visit: Visit, word: str, effect: str
) -> None:
    page = visit(f"/t/{service.start_table().links[0]}")
    page.locator("#tab-more").click()
    page.get_by_role("button", name=word).click()
    assert effect in page.locator(".stage .frame > svg").evaluate("one => getComputedStyle(one).filter")


def test_colours_that_colour_blind_readers_confuse_are_far_apart_for_them(visitor: Visitor) -> None:
    assert visitor.post("/look", board="distinct", back="/").status_code == 303
    values = re.search(r'id="distinct"><feColorMatrix\s+values="([^"]+)"', visitor.get("/"))
    assert values
    numbers = [float(word) for word in values[1].split()]
    filtering = tuple(tuple(numbers[5 * row : 5 * row + 3]) for row in range(3))
    for other, factor in ((CITY, 1.5), (SEAL, 0.9)):  # the seal is far from the meadow as it is
        before = distance(see(linear(MEADOW)), see(linear(other)))
        after = distance(*(see(multiply(filtering, linear(colour))) for colour in (MEADOW, other)))
        assert after > factor * before


@pytest.mark.parametrize("fields", [{"theme": "pink", "back": "/"}, {"board": "soft", "back": "//evil.example"}])
def test_no_other_look_and_no_other_site(visitor: Visitor, fields: dict[str, str]) -> None:
    assert visitor.post("/look", **fields).status_code == 400


def linear(colour: tuple[int, ...]) -> tuple[float, ...]:
    return tuple((part / 255) ** 2.2 for part in colour)


def see(colour: tuple[float, ...]) -> tuple[float, ...]:
    return multiply(SEEN, colour)


def multiply(matrix: tuple[tuple[float, ...], ...], colour: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sum(a * b for a, b in zip(row, colour, strict=True)) for row in matrix)


def distance(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
