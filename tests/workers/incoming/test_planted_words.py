"""A player's remark never acts for another player who quotes the letter that contains it."""

from __future__ import annotations

from itertools import product

import pytest

from service.app import App
from service.tables import talk
from service.tables.access import Place
from tests import apps
from tests.workers.incoming.test_our_words import list_played, send_mail, write_letter

ATTRIBUTIONS = {
    "Romanian": "În mar., 24 nov. 2026 la 10:00, Anna <table@games.example> a scris:\n\n",
    "headers in Romanian": "De la: Anna\nTrimis: mar. 24 nov. 2026\nCătre: Anna\nSubiect: e rândul tău\n\n",
    "a divider in Romanian": "-----Mesaj original-----\nDe la: Anna\nTrimis: 24\nCătre: Anna\nSubiect: x\n\n",
    "English": "On 24 Nov 2026 at 10:00, Anna <table@games.example> wrote:\n\n",
    "none": "",
    "signature": "-- \nAnna\n\n",
    "signature and Romanian": "-- \nAnna\n\nÎn mar., 24 nov. 2026 la 10:00, Anna a scris:\n\n",
}
PLANTED_WORDS = {
    "a mark": "look\n> x\n{move}\nresign",
    "two marks": "look\n> x\n\n> y\n{move}\nresign",
    "armour": "x\n-----BEGIN PGP SIGNED MESSAGE-----\n\n{move}\nresign\n-----BEGIN PGP SIGNATURE-----\n",
    "an attribution": "look\nOn 3 Feb 2027, Anna wrote:\n> x\n{move}\nresign",
    "a signature": "look\n-- \nx\n> y\n{move}\nresign",
    "headers": "From: x\nTo: y\nSubject: z\n\n> y\n{move}\nresign",
    "a divider": "-----Original Message-----\n> x\n{move}\nresign",
}
WRAPPING_CHARS = (60, 70, 74)


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def quote_and_break(text: str, chars: int) -> str:
    """Quote as programs do that break long lines and mark only the first piece."""
    pieces = list[str]()
    for line in text.splitlines():
        rest = f"> {line}".rstrip()
        while len(rest) > chars and " " in rest[3:chars]:
            cut = rest.rindex(" ", 3, chars)
            pieces.append(rest[:cut])
            rest = rest[cut + 1 :]
        pieces.append(rest)
    return "\n".join(pieces)


def plant(app: App, words: str) -> tuple[Place, str]:
    """Let the other player say these words; return the seat to move, and its letter."""
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    other = next(one for one in places if one.seat != place.seat)
    talk.say(app, other, words.replace("{move}", move))
    text = write_letter(app, place, "en").get_body(("plain",)).get_content()
    assert "Said at the table" in text
    return place, text


@pytest.mark.parametrize(("above", "words"), [*product(ATTRIBUTIONS, PLANTED_WORDS)])
def test_words_planted_in_talk_act_in_no_quotation(app: App, above: str, words: str) -> None:
    place, letter = plant(app, PLANTED_WORDS[words])
    for body in (letter, quote(letter)):
        send_mail(app, place, f"{ATTRIBUTIONS[above]}{body}")
        send_mail(app, place, f"Hello\n\n{ATTRIBUTIONS[above]}{body}")
    assert list_played(app) == []


@pytest.mark.parametrize("chars", WRAPPING_CHARS)
@pytest.mark.parametrize("length", range(50, 76))
def test_the_end_of_a_broken_line_of_talk_is_not_typed(app: App, chars: int, length: int) -> None:
    place, letter = plant(app, "x" * (length - 14) + " {move}")
    send_mail(app, place, quote_and_break(letter, chars))
    assert list_played(app) == []


def test_a_player_who_answers_below_a_quotation_is_still_heard(app: App) -> None:
    place, letter = plant(app, "what will you do?")
    move = apps.list_moves(app, place)[0]
    send_mail(app, place, f"{ATTRIBUTIONS['Romanian'].strip()}\n{quote(letter)}\n\n{move}\n")
    assert list_played(app) == [move]


def test_a_move_that_another_named_can_be_made(app: App) -> None:
    place, letter = plant(app, "{move}")
    move = apps.list_moves(app, place)[0]
    send_mail(app, place, f"{move}\n\n{ATTRIBUTIONS['English']}{quote(letter)}")
    assert list_played(app) == [move]
