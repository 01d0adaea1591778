"""How the scores of a finished game came about."""

from itertools import count

import pytest

from engine import catalogue
from service.tables.history.game_story import load_score_history
from service.text.languages import LANGUAGES
from service.text.narration import Narrator
from tests import apps
from tests.golden.make import load
from tests.services import RunningService

GAMES = [name for name in catalogue.find_all() if hasattr(catalogue.find(name), "sources")]


@pytest.mark.parametrize("game", GAMES)
def test_the_sources_of_points_add_up_to_the_score_and_have_words(service: RunningService, game: str) -> None:
    snapshot = apps.load_table(service.app, service.play_like(load(game, "short")).table)
    with service.app.store.reading() as db:
        sources = load_score_history(service.app, db, snapshot).sources
    assert [sum(one.values()) for one in sources] == [
        one.score for one in snapshot.game.standing(snapshot.position.state)
    ]
    assert any(sources)
    for language in LANGUAGES:
        narrator = Narrator(snapshot.game, snapshot.names, language)
        assert all(narrator.label_source(source) for one in sources for source in one)


def test_points_of_a_move_that_was_taken_back_count_for_nothing(service: RunningService) -> None:
    opened, steps = service.start_table(game="carcassonne"), count()
    service.play_until(opened.table, lambda _: next(steps) > 20)
    mover = service.find_mover(opened.table)
    service.submit(opened.links[1 - mover], "undo")
    service.submit(opened.links[mover], "agree")
    service.play_until(opened.table, lambda state: bool(state.places))
    snapshot = apps.load_table(service.app, opened.table)
    with service.app.store.reading() as db:
        sources = load_score_history(service.app, db, snapshot).sources
    assert [sum(one.values()) for one in sources] == [
        one.score for one in snapshot.game.standing(snapshot.position.state)
    ]
