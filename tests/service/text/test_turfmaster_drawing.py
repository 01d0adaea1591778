"""TurfMaster: each clickable place is drawn once, and each event has a sentence."""

from xml.etree import ElementTree

import pytest

from engine.contract.cases import play_case, sample
from engine.games import turfmaster
from engine.games.turfmaster.state import Chose
from engine.menu import Choice
from service.text import drawing, narration
from tests.board_tokens import list_tokens
from tests.engine.cases import make_cases

NAMES = ["Anna", "Bertrand the Younger of Burgundy", *"CDEFGH"]
SILENT = {"Dealt"}  # ten cards dealt to another player are no news

every_case = pytest.mark.parametrize("case", [case for case in make_cases() if case.game is turfmaster], ids=str)


def scenes(case):
    for position in sample(play_case(case, b"a lantern"), 6):
        for me in (None, *range(case.seats)):
            menu = () if me is None else turfmaster.menu(position.state, me)
            view = turfmaster.view(position.state, me)
            yield drawing.Scene(turfmaster, view, drawing.list_players(NAMES[: case.seats]), me, menu)


def clickable(menu):
    """The tokens that name a thing on the table: cards, dice, fields."""
    entries = [entry for entry in menu if entry.verb != "bonus"]
    return {token for entry in entries for move in _few(entry) for token in move}


def _few(entry):
    return [entry.items] if entry.verb == "discard" else entry.options


@every_case
def test_every_token_can_be_touched_in_one_place(case):
    for scene in scenes(case):
        ElementTree.fromstring(drawing.draw_board_svg(scene))
        tokens = list_tokens(scene)
        assert len(tokens) == len(set(tokens))
        assert set(tokens) >= clickable(scene.menu) - {"stay", "fall"}


def test_a_rider_who_picks_a_die_can_touch_it():
    menu = (Choice("ride", (("6", "B44"), ("6", "C44"), ("4", "B42"))),)
    assert turfmaster.board.list_paces(menu) == ["6", "4"]
    assert turfmaster.board.list_paces((Choice("ride", (("B44",), ("C44",))),)) == []


@every_case
def test_the_text_board_fits_a_letter(case):
    for scene in scenes(case):
        text = drawing.draw_board_text(scene)
        assert max(map(len, text.split("\n"))) <= 80
        for runner in scene.view.runners:
            assert " ".join(runner.hand) in text


@every_case
def test_every_event_is_described_to_every_reader(case):
    narrator = narration.Narrator(turfmaster, NAMES[: case.seats])
    for position in play_case(case, b"a lantern"):
        for event in position.events:
            for seat in (None, 0):
                sentence = narrator.describe(turfmaster.hear(event, seat))
                assert sentence.endswith((".", "!")) or (not sentence and type(event).__name__ in SILENT)


def test_a_hidden_card_is_not_named():
    narrator = narration.Narrator(turfmaster, NAMES)
    chose = turfmaster.hear(Chose(1, card="J12"), 0)
    assert narrator.describe(chose) == "A card lies face down for Bertrand the Younger of Burgundy’s horse."


@every_case
def test_a_letter_shows_every_horse_and_every_field_it_may_reach(case):
    board = turfmaster.board
    for scene in scenes(case):
        standing = [runner.field for runner in scene.view.runners if runner.field]
        shown = board.choose_window(standing, [])
        for x, y in (board.locate_place(*board.locate_field(field)) for field in standing):
            assert shown.left < x < shown.left + shown.width
            assert shown.top < y < shown.top + shown.height


def test_horses_side_by_side_are_shown_twice_as_large():
    board = turfmaster.board
    assert board.choose_window([(0, 5), (3, 6)], []).width == board.DRAWING_WIDTH / 2
    assert board.choose_window([(0, 5), (3, 60)], []).height == board.DRAWING_HEIGHT
