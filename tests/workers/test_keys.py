"""Each source of submissions has its own keys, so that no player can submit under a key of the server."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import select

from service import create_app
from service.app import App
from service.store import queries
from service.store.schema import submissions
from service.tables import submitting
from service.tables.access import Place
from tests import apps
from tests.apps import FakeTime, submit
from workers import bots, referee


def rows(app: App, source: str) -> Sequence[Any]:
    with app.store.reading() as connection:
        own = select(submissions).where(submissions.c.source == source).order_by(submissions.c.id)
        return connection.execute(own).all()


def resign(app: App) -> tuple[list[Place], Place]:
    """A table of three, and its first seat, given up when it may move, so that a bot has to."""
    places = apps.start_table(app, 3)
    mover, _ = apps.find_move(app, places)
    return places, mover


def test_who_has_resigned_does_not_play_on_under_the_key_of_a_bot(any_app: App) -> None:
    places, quitter = resign(any_app)
    assert submit(any_app, quitter, "resign").accepted
    before = apps.count_entries(any_app, quitter)
    for key in ("bot/1", f"bot/{before}", str(before), f"{before}/0"):
        assert "given up" in submit(any_app, quitter, apps.list_moves(any_app, quitter)[0], key).text
    assert apps.count_entries(any_app, places[0]) == before


def test_a_player_cannot_use_up_the_keys_of_the_bot_that_follows_him(any_app: App) -> None:
    _, quitter = resign(any_app)
    ahead = apps.count_entries(any_app, quitter)
    for number in range(ahead - 2, ahead + 8):
        for key in (f"bot/{number}", str(number), f"{number}/0"):
            submit(any_app, quitter, "nonsense", key)
    assert submit(any_app, quitter, "resign").accepted
    before = apps.count_entries(any_app, quitter)
    bots.run()
    referee.run()
    assert apps.count_entries(any_app, quitter) == before + 1


def test_a_refused_move_of_a_bot_is_tried_again_at_the_same_length(
    any_app: App, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, quitter = resign(any_app)
    assert submit(any_app, quitter, "resign").accepted
    before = apps.count_entries(any_app, quitter)
    with monkeypatch.context() as sick:
        sick.setattr(referee.judging, "judge", lambda *_: 1 / 0)
        for _ in range(3):  # it is not tried again at once, so that a fault of the server is no endless loop
            bots.run()
            referee.run()
    assert [row.accepted for row in rows(any_app, "bot")] == [False]
    clock.advance(3)
    for _ in range(2):
        bots.run()
        referee.run()
    assert [row.accepted for row in rows(any_app, "bot")][:2] == [False, True]
    assert apps.count_entries(any_app, quitter) > before


def test_after_a_refusal_a_bot_tries_another_move(
    any_app: App, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move that meets a fault of the server would meet it again and again."""
    _, quitter = resign(any_app)
    assert submit(any_app, quitter, "resign").accepted
    with monkeypatch.context() as sick:
        sick.setattr(referee.judging, "judge", lambda *_: 1 / 0)
        for seconds in (3, 5, 9):
            bots.run()
            referee.run()
            clock.advance(seconds)
    tried = [row.move for row in rows(any_app, "bot")]
    assert len(tried) == len(set(tried)) == 3


def test_who_was_refused_a_seat_by_a_fault_sits_down_with_the_same_link(
    any_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = apps.open_table(any_app)[0]
    with monkeypatch.context() as sick:
        sick.setattr(referee.judging, "judge", lambda *_: 1 / 0)
        first = submitting.sit(any_app, place, "word")
        referee.run()
    assert not apps.get_verdict(any_app, first).accepted
    second = submitting.sit(any_app, place, "word")
    referee.run()
    assert apps.get_verdict(any_app, second).accepted
    assert submitting.sit(any_app, place, "other").number == second.number


def test_no_key_and_no_entry_holds_a_link_or_a_part_of_it(any_app: App) -> None:
    flask_app = create_app(any_app)
    client = flask_app.test_client()
    places = apps.open_table(any_app)
    client.post(f"/api/v1/t/{places[0].link}/sit", json={})
    client.post(f"/t/{places[1].link}/sit", data={})
    referee.run()
    with any_app.store.reading() as connection:
        stored = [*connection.execute(select(submissions)).all(), *queries.list_entries(connection, places[0].table)]
    assert apps.load_table(any_app, places[0].table).position.phase == "playing"
    assert not [row for row in stored for place in places if place.link[:8] in repr(row)]
