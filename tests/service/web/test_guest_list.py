"""The box for players takes addresses in every form in which people have them, and the words of every language."""

from __future__ import annotations

import pytest

from engine.refusal import Refused
from service.web.guest_list import MAX_CHARS, parse

KIM, ROBIN = ("Kim", "kim@example.org"), ("Robin", "robin@example.org")


@pytest.mark.parametrize(
    "text",
    [
        "Kim <kim@example.org>, robin@example.org",
        "Kim <kim@example.org>; Robin <robin@example.org>;",
        "kim@example.org robin@example.org",
        "kim@example.org\r\n\r\n• robin@example.org.\n",
        "Kim kim@example.org Robin robin@example.org",
        '"Kim" <mailto:kim@example.org>,<robin@example.org>',
        "kim@example.org (Kim), 'robin@example.org'",
        "kim@example.org, robin@example.org, Kim <kim@example.org>",
    ],
)
def test_addresses_are_taken_in_any_form(text: str) -> None:
    assert [(guest.name, guest.address) for guest in parse(text)] == [KIM, ROBIN]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"Smith, Kim" <kim@example.org>', "Smith, Kim"),
        ("kim.van-dyk+games@example.org", "Kim Van Dyk Games"),
        ("kim@a.example, kim@b.example", "Kim 2"),
        ("www.spam.com@example.org", "Www Spam Com"),
    ],
)
def test_a_guest_has_a_name_of_its_own(text: str, name: str) -> None:
    assert parse(text)[-1].name == name


@pytest.mark.parametrize("line", ["bot strong", "Strong bot", "Bot (stark)", "starker Bot", "sterke bot", "bot fort"])
def test_bots_are_written_in_every_language(line: str) -> None:
    (bot,) = parse(line)
    assert (bot.name, bot.who, bot.level) == ("Bot 1", "bot", "strong")


@pytest.mark.parametrize("line", ["free seat", "Freier Platz", "vrije stoel", "place libre"])
def test_free_seats_are_written_in_every_language(line: str) -> None:
    assert [guest.who for guest in parse(f"{line}, bot\n{line}")] == ["anybody", "bot", "anybody"]


def test_the_language_of_letters_follows_the_address() -> None:
    kim, robin = parse("Kim <kim@example.org> (nl), robin@example.org Deutsch")
    assert [(guest.name, guest.language) for guest in (kim, robin)] == [("Kim", "nl"), ("Robin", "de")]


def test_words_without_a_guest_are_refused_with_an_example() -> None:
    with pytest.raises(Refused, match="an e-mail address for “Kim”, such as: Kim <kim@example"):
        parse("Kim, robin@example.org")


def test_a_text_of_any_length_is_read_quickly() -> None:
    assert parse('"' * MAX_CHARS + "a" * 10**6) == []
