"""The promises of a game to pages and letters, as tests: each position can be drawn and described for each reader.

`from service.contract import *` in a file of tests holds games to it; the plugin of `engine.contract` names them.
"""

from __future__ import annotations

from itertools import islice
from xml.etree import ElementTree

from engine.contract.cases import Case, play_case, sample
from service.text import drawing
from service.text.drawing import Scene
from service.text.narration import Narrator

NAMES = ("Anna", "Bertrand the Younger", "Clara", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
COLUMNS = 80
POSITIONS = 24  # of each game
LABELLED_MOVES = 50  # of each entry of a menu
MAX_LISTED_MOVES = 5_000  # an entry with more of them takes too long
SEED = b"a lantern"  # any will do


def test_each_position_is_drawn_and_described(case: Case) -> None:
    """The drawing is valid XML, the text is narrow enough for a letter, and each verb and token has a label."""
    readers = (None, *range(case.seats))
    for number, position in enumerate(sample(play_case(case, SEED), POSITIONS)):
        me = readers[number % len(readers)]  # a spectator (None) and all players by turns
        menu = () if me is None else case.game.menu(position.state, me)
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
            if entry.count() < MAX_LISTED_MOVES:
                tokens = {token for move in islice(entry.iter_moves(), LABELLED_MOVES) for token in move.args}
                assert all(narrator.label_token(entry.verb, token) for token in tokens)


def test_each_event_is_described_for_each_reader(case: Case) -> None:
    """A spectator (None) and each player learn something of at least every second move."""
    positions = play_case(case, SEED)
    for me in (None, *range(case.seats)):
        narrator = Narrator(case.game, NAMES[: case.seats], me=me)
        visible = [case.game.hear(event, me) for position in positions for event in position.events]
        sentences = [narrator.describe(event) for event in visible if event is not None]
        spoken_count = len(sentences) - sentences.count("")
        assert spoken_count >= len(positions) / 2
        assert not any("None" in sentence for sentence in sentences)
