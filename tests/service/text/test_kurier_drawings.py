"""Kurier des Zaren: its drawings, text boards and sentences."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from engine import bots, chance, menu
from engine.games import kurier
from engine.games.kurier.state import Delivered, Event, Options, Passed, SetAside, Won
from service.text import drawing, narration
from tests.board_tokens import list_tokens

NAMES = ["Anna", "Bartholomäus", "Chiara", "Dmitri", "Eve <&>"]
TABLES = [(2, {}), (3, {"rules": "basic"}), (5, {"at_the_guard": "roubles"})]

every_table = pytest.mark.parametrize(("seats", "chosen"), TABLES)


def moments(seats: int, chosen: dict[str, Any]) -> Iterator[tuple[Any, int, tuple[Any, ...]]]:
    """Some positions of a random game, with the seat that is to move and what has just happened."""
    game = bots.play_out(kurier, Options(**chosen), seats, b"a samovar")
    for _, _, state, events in game:
        mover = next((seat for seat in range(seats) if kurier.menu(state, seat)), None)
        yield state, 0 if mover is None else mover, events


def scene(state: Any, seat: int | None) -> drawing.Scene:
    own = () if seat is None else kurier.menu(state, seat)
    names = NAMES[: len(state.players)]
    return drawing.Scene(kurier, kurier.view(state, seat), drawing.list_players(names), seat, own)


@every_table
def test_every_token_of_the_menu_can_be_touched(seats, chosen):
    for state, seat, _ in list(moments(seats, chosen))[::9]:
        can_be_touched = list_tokens(scene(state, seat))
        assert len(set(can_be_touched)) == len(can_be_touched)
        words = {word for token in can_be_touched for word in token.split()}
        assert {token for move in menu.iter_moves(kurier.menu(state, seat)) for token in move.args} <= words


def test_an_inn_is_drawn_open_also_after_a_table_where_it_is_closed():
    for seats, closed in ((2, 6), (5, 0)):
        state, *_ = next(moments(seats, {}))
        assert drawing.draw_board_svg(scene(state, None)).count('<g opacity="0.55">') == closed


@every_table
def test_every_courier_in_an_inn_can_be_touched_where_he_is(seats, chosen):
    for state, seat, _ in list(moments(seats, chosen))[::9]:
        guests = {f"{inn} {kind}" for inn, inside in state.inns.items() for kind in inside}
        assert {token for token in list_tokens(scene(state, seat)) if " " in token} == guests


@every_table
def test_the_text_board_is_narrow_and_shows_every_guest(seats, chosen):
    for state, seat, _ in list(moments(seats, chosen))[::9]:
        text = drawing.draw_board_text(scene(state, seat))
        assert max(map(len, text.splitlines())) <= 80
        shown = re.findall(r"\b[OCDL][1-5]", text)
        assert len(shown) == sum(map(len, state.inns.values()))
        free_dispatches = [player.dispatch for player in state.players if not player.dispatch.price]
        assert len(re.findall(r"[OCDL][1-5]\*", text)) == len(free_dispatches)


def test_other_purses_are_hidden():
    state = next(state for state, _, _ in moments(2, {}) if any(player.purse for player in state.players))
    for seat in (0, 1, None):
        other = kurier.redeal(state, seat, chance.make_from_random(Random(3)))
        assert drawing.draw_board_svg(scene(state, seat)) == drawing.draw_board_svg(scene(other, seat))
        assert drawing.draw_board_text(scene(state, seat)) == drawing.draw_board_text(scene(other, seat))


def test_every_event_is_described_in_one_sentence():
    narrator = narration.Narrator(kurier, NAMES)
    sentences_of = {}
    for seats, chosen in TABLES:
        for _, _, events in moments(seats, chosen):
            for event in events:
                for visible in (event, kurier.hear(event, None)):
                    sentences_of.setdefault(type(event).__name__, set()).add(narrator.describe(visible))
    assert sentences_of.pop("TurnBegan") == {""}
    assert not [name for name, sentences in sentences_of.items() if not all(map(sentence, sentences))]
    assert {kind.__name__ for kind in Event.__args__} - set(sentences_of) <= {"Passed", "SetAside", "TurnBegan"}


def sentence(text: str) -> bool:
    return text[:1].isupper() and text.endswith(".") and "None" not in text and "{" not in text


def test_rare_events_are_described_too():
    narrator = narration.Narrator(kurier, NAMES)
    assert narrator.describe(Passed(1)) == "Bartholomäus can do nothing and passes."
    assert (
        narrator.describe(SetAside(0, "lady")) == "The lady finds no room in the swamp and joins the reserve of Anna."
    )
    assert narrator.describe(Delivered(1, 10)) == "A guard takes the dispatch of Bartholomäus and asks 10 roubles."
    assert narrator.describe(Won(1, "first rouble", (2, 1))).startswith("No coin is left in the palace")
    assert narrator.describe(Won(1, "first dispatch", (2, 1))).startswith("No player can pay a guard any more")


@every_table
def test_buttons_and_the_picture_have_words(seats, chosen):
    narrator = narration.Narrator(kurier, NAMES[:seats])
    for state, seat, _ in list(moments(seats, chosen))[::9]:
        for entry in kurier.menu(state, seat):
            assert narrator.label_verb(entry.verb) != entry.verb
            assert all(narrator.label_token(entry.verb, token) for move in entry.iter_moves() for token in move.args)
        assert len(narrator.describe_board(kurier.view(state, seat))) > 60


def test_the_winner_is_crowned():
    *_, (state, _, _) = moments(2, {})
    assert drawing.draw_board_svg(scene(state, None)).count('class="crown"') == 1
    winner = NAMES[state.places.index(1)]
    assert (
        narration.Narrator(kurier, NAMES[:2]).describe_board(kurier.view(state, None)).startswith(f"{winner} has won.")
    )
    assert 'class="crown"' not in drawing.draw_board_svg(scene(replace(state, places=()), None))


def test_the_text_board_says_what_a_njet_is():
    state, seat, _ = next(moments(2, {}))
    text = drawing.draw_board_text(scene(state, seat))
    assert "9× njet" in text
    assert "njet is a false coin" in text
