"""What a game promises to pages and letters, as tests: it can be drawn and told at every step, to every reader.

`from service.contract import *` in a file of tests holds games to it; the plugin of `engine.contract` names them.
"""

from __future__ import annotations

from xml.etree import ElementTree

from engine.contract.cases import Case, play_case, sample
from service.text import drawing
from service.text.drawing import Scene
from service.text.narration import Narrator

NAMES = ("Anna", "Bertrand the Younger", "Clara", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
COLUMNS = 80
POSITIONS = 24  # of each game


def test_the_board_is_drawn_and_told_at_every_step(case: Case) -> None:
    readers = (None, *range(case.seats))
    for number, position in enumerate(sample(play_case(case, b"a lantern"), POSITIONS)):
        me = readers[number % len(readers)]
        menu = case.game.menu(position.state, me) if me is not None else ()
        scene = Scene(
            case.game, case.game.view(position.state, me), drawing.list_players(NAMES[: case.seats]), me, menu
        )
        ElementTree.fromstring(drawing.draw_board_svg(scene))  # noqa: S314 - our own drawing
        text = drawing.draw_board_text(scene)
        assert max(map(len, text.splitlines())) <= COLUMNS
        narrator = Narrator(case.game, NAMES[: case.seats], me=me)
        assert narrator.describe_board(scene.view)
        for entry in menu:
            assert narrator.label_verb(entry.verb)
            for move in list(entry.iter_moves())[:50] if entry.count() < 5_000 else []:
                assert all(narrator.label_token(entry.verb, token) for token in move.args)


def test_every_event_is_told_to_everybody_without_a_fault(case: Case) -> None:
    for me in (None, *range(case.seats)):
        narrator = Narrator(case.game, NAMES[: case.seats], me=me)
        told = [
            narrator.describe(heard)
            for position in play_case(case, b"a lantern")
            for event in position.events
            if (heard := case.game.hear(event, me)) is not None
        ]
        assert sum(map(bool, told)) >= len(play_case(case, b"a lantern")) / 2
        assert not any("None" in sentence for sentence in told)
