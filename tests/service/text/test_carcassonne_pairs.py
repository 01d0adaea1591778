"""Positions and events of every two boxes of Carcassonne are drawn, described and told in all languages."""

import pytest
from msgspec.structs import replace

from engine.contract.cases import play_case, sample
from engine.games import carcassonne
from service import contract
from service.text import drawing
from service.text.drawing import Scene
from service.text.languages import LANGUAGES
from service.text.narration import Narrator
from tests.carcassonne_boxes import sample_cases
from tests.engine.games.test_carcassonne_princess_dragon import BLOCK, set_up_dragon

SEED = b"a lantern"


@pytest.mark.parametrize("case", sample_cases(29))
def test_pictures_letters_and_descriptions(case):
    contract.test_each_position_is_drawn_and_described(case)


@pytest.mark.parametrize("case", sample_cases(33))
def test_sentences(case):
    contract.test_each_event_is_described_for_each_reader(case)


@pytest.mark.parametrize("case", sample_cases(37))
def test_sentences_boards_and_moves_in_every_language(case):
    names = contract.NAMES[: case.seats]
    for number, position in enumerate(sample(play_case(case, SEED), 16)):
        language, me = list(LANGUAGES)[number % len(LANGUAGES)], number % case.seats
        narrator = Narrator(case.game, names, language, me)
        assert narrator.describe_board(case.game.view(position.state, me))
        told = [narrator.describe(event) for event in position.events]
        assert not any("None" in sentence or "{" in sentence for sentence in told)
        for entry in case.game.menu(position.state, me):
            assert narrator.label_verb(entry.verb)
            tokens = {token for move in list(entry.iter_moves())[:20] for token in move.args}
            assert all(narrator.label_token(entry.verb, token) for token in tokens)
        scene = Scene(case.game, case.game.view(position.state, me), drawing.list_players(names), me, language=language)
        assert max(map(len, drawing.draw_board_text(scene).splitlines())) <= contract.COLUMNS


@pytest.mark.parametrize(("steps", "words"), [(1, "1 more step."), (6, "6 more steps.")])
def test_a_board_is_described_while_the_dragon_is_on_its_way(steps, words):
    game = set_up_dragon(tiles=BLOCK)
    narrator = Narrator(carcassonne, contract.NAMES[:2])
    assert words in narrator.describe_board(replace(carcassonne.view(game.state, None), dragon_steps=steps))
