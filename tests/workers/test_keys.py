"""Keys of submissions: each source has its own, so nobody hands in what the house calls its own work."""

from collections.abc import Sequence
from typing import Any

import alembic.command
import alembic.config
import pytest
from sqlalchemy import select, text

from service import create_app
from service.house import House
from service.links import hashed
from service.store import Store, book
from service.store.connect import MIGRATIONS
from service.store.schema import submissions
from service.tables import snapshots, submitting
from service.tables.access import Place
from tests import houses
from tests.houses import Clock, judged
from workers import bots, referee


def rows(here: House, source: str) -> Sequence[Any]:
    with here.store.reading() as connection:
        own = select(submissions).where(submissions.c.source == source).order_by(submissions.c.id)
        return connection.execute(own).all()


def resigned(here: House) -> tuple[list[Place], Place]:
    """A table of three, and its first seat, given up when it may move, so that a bot has to."""
    places = houses.seated(here, 3)
    mover, _ = houses.on_turn(here, places)
    return places, mover


def test_who_has_resigned_does_not_play_on_under_the_key_of_a_bot(any_house: House) -> None:
    places, quitter = resigned(any_house)
    assert judged(any_house, quitter, "resign").accepted
    before = houses.length(any_house, quitter)
    for key in ("bot/1", f"bot/{before}", str(before), f"{before}/0"):
        assert "given up" in judged(any_house, quitter, houses.moves(any_house, quitter)[0], key).said
    assert houses.length(any_house, places[0]) == before


def test_a_player_cannot_use_up_the_keys_of_the_bot_that_follows_him(any_house: House) -> None:
    _, quitter = resigned(any_house)
    ahead = houses.length(any_house, quitter)
    for number in range(ahead - 2, ahead + 8):
        for key in (f"bot/{number}", str(number), f"{number}/0"):
            judged(any_house, quitter, "nonsense", key)
    assert judged(any_house, quitter, "resign").accepted
    before = houses.length(any_house, quitter)
    bots.move()
    referee.hear()
    assert houses.length(any_house, quitter) == before + 1


def test_a_refused_move_of_a_bot_is_tried_again_at_the_same_length(
    any_house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, quitter = resigned(any_house)
    assert judged(any_house, quitter, "resign").accepted
    before = houses.length(any_house, quitter)
    with monkeypatch.context() as sick:
        sick.setattr(referee.judging, "judge", lambda *_: 1 / 0)
        for _ in range(3):  # at once it is not tried again, so that a fault of ours is no endless loop
            bots.move()
            referee.hear()
    assert [row.accepted for row in rows(any_house, "bot")] == [False]
    clock.move(3)
    for _ in range(2):
        bots.move()
        referee.hear()
    assert [row.accepted for row in rows(any_house, "bot")][:2] == [False, True]
    assert houses.length(any_house, quitter) > before


def test_after_a_refusal_a_bot_tries_another_move(
    any_house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move that met a fault of ours would meet it again for ever."""
    _, quitter = resigned(any_house)
    assert judged(any_house, quitter, "resign").accepted
    with monkeypatch.context() as sick:
        sick.setattr(referee.judging, "judge", lambda *_: 1 / 0)
        for seconds in (3, 5, 9):
            bots.move()
            referee.hear()
            clock.move(seconds)
    tried = [row.move for row in rows(any_house, "bot")]
    assert len(tried) == len(set(tried)) == 3


def test_who_was_refused_a_seat_by_a_fault_sits_down_with_the_same_link(
    any_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = houses.opened(any_house)[0]
    with monkeypatch.context() as sick:
        sick.setattr(referee.judging, "judge", lambda *_: 1 / 0)
        first = submitting.sit(any_house, place, "word")
        referee.hear()
    assert not houses.verdict(any_house, first).accepted
    second = submitting.sit(any_house, place, "word")
    referee.hear()
    assert houses.verdict(any_house, second).accepted
    assert submitting.sit(any_house, place, "other").number == second.number


def test_no_key_and_no_entry_holds_a_link_or_a_part_of_it(any_house: House) -> None:
    app = create_app(any_house)
    app.config["WTF_CSRF_ENABLED"] = False
    client = app.test_client()
    places = houses.opened(any_house)
    client.post(f"/api/v1/t/{places[0].link}/sit", json={})
    client.post(f"/t/{places[1].link}/sit", data={})
    referee.hear()
    with any_house.store.reading() as connection:
        kept = [*connection.execute(select(submissions)).all(), *book.entries_of(connection, places[0].table)]
    assert snapshots.look(any_house, places[0].table).table.phase == "playing"
    assert not [row for row in kept for place in places if place.link[:8] in repr(row)]


OLD = [
    ("t/0/abc", 0, "pass", True),
    ("t/0/sit/alink", 0, "sit word", True),
    ("t/1/bot/7", 1, "pass", None),
    ("t/0/mail/0f/0", 0, "pass", True),
]


def test_keys_of_an_old_database_move_to_their_source_and_lose_their_links(database_url: str) -> None:
    store, config = Store(database_url), alembic.config.Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with store.writing() as connection:
        config.attributes["connection"] = connection
        alembic.command.upgrade(config, "0007_tries")
        connection.execute(text(TABLE))
        for key, seat, move, accepted in OLD:
            connection.execute(text(SUBMISSION), {"key": key, "seat": seat, "move": move, "accepted": accepted})
    store.migrate()
    with store.writing() as connection:
        found = connection.execute(select(submissions).order_by(submissions.c.id)).all()
        row = {"table": "t", "seat": 0, "source": "player", "key": "abc", "move": "pass", "at": 0}
        assert book.insert_new(connection, submissions, row) is None
        assert book.insert_new(connection, submissions, {**row, "source": "mail"}) is not None
    store.close()
    assert [(row.source, row.key, row.accepted) for row in found] == [
        ("player", "abc", True),
        ("sit", f"{hashed('alink')}/0", True),
        ("player", "bot/7", None),
        ("player", "mail/0f/0", True),
    ]


TABLE = """INSERT INTO tables (id,game,seats,seed,commitment,phase,length,head,pace,watch,opened_at,moved_at)
VALUES ('t','kaiser',2,'','','playing',3,'',500,'w',0,0)"""
SUBMISSION = """INSERT INTO submissions (key,"table",seat,move,at,accepted) VALUES (:key,'t',:seat,:move,0,:accepted)"""
