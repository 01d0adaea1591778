"""The referee judges every submission once, with a sentence, and lets none hold up the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, insert

from engine.games import kaiser
from engine.menu import Move
from engine.refusal import Refused
from engine.table_events import (
    Started,
)
from service.app import App
from service.store.schema import submissions
from service.tables import judging, submitting
from service.tables.access import Place
from service.wakeups import VerdictMessages
from tests import apps
from tests.apps import submit
from workers import referee


def test_the_game_starts_when_the_last_has_sat_down(any_app: App) -> None:
    places = apps.open_table(any_app, 3)
    for place in places[:-1]:
        assert submit(any_app, place, "sit word").accepted
        assert apps.load_table(any_app, place.table).position.phase == "gathering"
    assert submit(any_app, places[-1], "sit word").accepted
    snapshot = apps.load_table(any_app, places[0].table)
    assert snapshot.position.phase == snapshot.row.phase == "playing"
    assert isinstance(apps.load_entries(any_app, snapshot)[-1].events[0], Started)


def test_with_bots_the_game_starts_when_the_last_person_has_sat_down(any_app: App) -> None:
    (place,) = apps.start_table(any_app, 3, bots=2)
    assert apps.load_table(any_app, place.table).position.phase == "playing"


def test_a_player_sits_down_only_once(any_app: App) -> None:
    first, _ = apps.open_table(any_app)
    assert submit(any_app, first, "sit word").accepted
    assert submit(any_app, first, "sit other").text == "You have sat down already."


def test_a_move_before_the_start_is_refused(any_app: App) -> None:
    first, _ = apps.open_table(any_app)
    assert "not begun" in submit(any_app, first, "resign").text


def test_a_clock_that_is_set_back_dates_no_entry_before_the_last_one(
    any_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = apps.start_table(any_app)
    now = any_app.now()
    monkeypatch.setattr(any_app, "now", lambda: now - 3_600)
    for _ in range(2):
        assert submit(any_app, *apps.find_move(any_app, places)).accepted
    assert {entry.at for entry in apps.load_entries(any_app, apps.load_table(any_app, places[0].table))} == {now}


def test_the_verdict_names_the_entry_of_an_accepted_move(any_app: App) -> None:
    mover, move = apps.find_move(any_app, apps.start_table(any_app))
    verdict = submit(any_app, mover, move)
    snapshot = apps.load_table(any_app, mover.table)
    assert verdict.accepted
    assert verdict.seq == snapshot.row.length - 1
    entry = apps.load_entries(any_app, snapshot)[-1]
    assert (entry.seq, entry.seat, entry.move) == (verdict.seq, mover.seat, move)


BAD = [
    "fly to the moon",
    "sit",
    "start",
    "expire 0 pass",
    "substitute 0",
    "undo",
    "agree",
    "x" * 2_000,
    "🎲 🎲",
    "'; drop",
]


@pytest.fixture
def untouched(any_app: App) -> Iterator[list[Place]]:
    """A table that has the same log after the test as before."""
    places = apps.start_table(any_app)
    before = apps.load_table(any_app, places[0].table).row
    yield places
    after = apps.load_table(any_app, places[0].table).row
    assert (after.length, after.head, after.moved_at) == (before.length, before.head, before.moved_at)


@pytest.mark.parametrize("text", BAD)
def test_a_move_that_is_not_on_the_menu_is_refused_with_a_sentence(
    any_app: App, untouched: list[Place], text: str
) -> None:
    mover, _ = apps.find_move(any_app, untouched)
    verdict = submit(any_app, mover, text)
    assert not verdict.accepted
    assert verdict.text
    assert "fault of ours" not in verdict.text


@pytest.mark.parametrize("text", ["", "  \n", "pass\x00", "pass\x07", "\u202epass", "x" * 2_001])
def test_a_text_without_readable_characters_is_not_stored(any_app: App, untouched: list[Place], text: str) -> None:
    with pytest.raises(Refused):
        submitting.submit(any_app, untouched[0], text)


def test_a_move_out_of_turn_is_refused(any_app: App, untouched: list[Place]) -> None:
    _, move = apps.find_move(any_app, untouched)
    verdict = submit(any_app, apps.find_waiting(any_app, untouched), move)
    assert not verdict.accepted
    assert verdict.text


def test_onlookers_cannot_move(any_app: App, untouched: list[Place]) -> None:
    watching = Place(untouched[0].table, None, "")
    with pytest.raises(Refused, match="looking on"):
        submitting.submit(any_app, watching, "resign")


def test_a_page_is_stale_once_the_own_view_has_changed(any_app: App) -> None:
    places = apps.start_table(any_app)
    mover, move = apps.find_move(any_app, places)
    seen = apps.count_entries(any_app, mover) - 1
    assert submit(any_app, mover, move, seen=seen).accepted
    later, move = apps.find_move(any_app, places)
    stale = submit(any_app, later, move, seen=seen)
    assert "has changed" in stale.text
    assert submit(any_app, later, move, seen=seen + 1).accepted


def test_an_entry_that_changes_nothing_one_sees_makes_no_page_stale(any_app: App) -> None:
    places = apps.start_table(any_app, 3)
    mover, move = apps.find_move(any_app, places)
    seen = apps.count_entries(any_app, mover) - 1
    other = next(place.seat for place in places if place.seat != mover.seat)
    with judging.at_table(any_app, mover.table) as work:
        work.locked = judging.carry_out_for_server(work.locked, Move("relieve", (str(other),)))
    assert submit(any_app, mover, move, seen=seen).accepted


@pytest.mark.parametrize("seen", [10**6, 2**31 - 1])
def test_a_page_from_the_future_is_judged_like_the_newest(any_app: App, seen: int) -> None:
    mover, move = apps.find_move(any_app, apps.start_table(any_app))
    assert submit(any_app, mover, move, seen=seen).accepted


def test_nothing_can_be_moved_when_the_table_is_over(any_app: App) -> None:
    first, second = apps.start_table(any_app)
    assert submit(any_app, first, "resign").accepted
    assert apps.load_table(any_app, first.table).position.phase == "over"
    for place in (first, second):
        for text in ("resign", "undo", "pass"):
            assert "over" in submit(any_app, place, text).text


def test_the_same_key_is_the_same_submission(any_app: App) -> None:
    mover, move = apps.find_move(any_app, apps.start_table(any_app))
    first = submitting.submit(any_app, mover, move, "once")
    again = submitting.submit(any_app, mover, move, "once")
    assert (first.new, again.new) == (True, False)
    assert first.number == again.number
    before = apps.count_entries(any_app, mover)
    referee.run()
    assert apps.count_entries(any_app, mover) == before + 1
    assert submit(any_app, mover, move, "once") == apps.get_verdict(any_app, first)
    assert apps.count_entries(any_app, mover) == before + 1


@pytest.mark.parametrize("published", [None, b"1", b'{"table":"another","verdict":{"accepted":false}}'])
def test_a_verdict_comes_from_redis_or_else_from_the_database(any_app: App, published: bytes | None) -> None:
    """The message was lost, or it came from an older referee, or its number belongs to another database."""
    submission = submitting.submit(any_app, *apps.find_move(any_app, apps.start_table(any_app)))
    referee.run()
    with count_statements(any_app) as statements:
        assert submitting.wait_for_verdict(any_app, submission, 1).accepted
    assert statements == []
    any_app.verdicts = VerdictMessages(any_app.redis, any_app.wakeups.outage, is_shared=False)
    if published:
        any_app.verdicts.publish({submission.number: published})
    with count_statements(any_app) as statements:
        assert submitting.wait_for_verdict(any_app, submission, 1).accepted
    assert len(statements) == 1


@contextmanager
def count_statements(app: App) -> Iterator[list[str]]:
    """Collect the statements that are sent to the database inside the block."""
    statements: list[str] = []

    def append(_: object, __: object, statement: str, *___: object) -> None:
        if statement != "BEGIN":  # SQLite's
            statements.append(statement)

    event.listen(app.store.engine, "before_cursor_execute", append)
    yield statements
    event.remove(app.store.engine, "before_cursor_execute", append)


def test_a_key_belongs_to_one_seat(any_app: App) -> None:
    places = apps.start_table(any_app)
    numbers = {submitting.submit(any_app, place, "resign", "mine") for place in places}
    assert len(numbers) == 2


@pytest.mark.parametrize("fault", [ZeroDivisionError, RecursionError, MemoryError, KeyError])
def test_a_fault_of_the_game_gets_a_sentence_and_does_not_delay_others(
    any_app: App, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    poisoned, healthy = apps.start_table(any_app), apps.start_table(any_app, 3)
    decide, calls = kaiser.decide, []

    def sick(state: Any, seat: int, move: Move, chance: Any) -> Any:
        calls.append(seat)
        if len(calls) == 1:
            raise fault("in the rules")
        return decide(state, seat, move, chance)

    monkeypatch.setattr(kaiser, "decide", sick)
    (mover, move), (other, fine) = apps.find_move(any_app, poisoned), apps.find_move(any_app, healthy)
    before = apps.count_entries(any_app, mover)
    bad, good = submitting.submit(any_app, mover, move), submitting.submit(any_app, other, fine)
    referee.run()
    assert "fault of ours" in apps.get_verdict(any_app, bad).text
    assert apps.get_verdict(any_app, good).accepted
    assert apps.count_entries(any_app, mover) == before
    assert submit(any_app, mover, move).accepted  # the table is as good as before


def test_impossible_rows_do_not_delay_others(any_app: App) -> None:
    places = apps.start_table(any_app)
    mover, move = apps.find_move(any_app, places)
    strange = [("a", 99, "resign"), ("b", -1, "resign"), ("c", 0, "")]
    with any_app.store.writing() as connection:
        for key, seat, text in strange:
            row = {"key": key, "table": mover.table, "seat": seat, "move": text, "at": 0}
            connection.execute(insert(submissions), row)
    assert submit(any_app, mover, move).accepted


def test_a_long_queue_is_judged_in_several_turns(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.jobs.WORK_MAX_S", 0.0)
    monkeypatch.setattr(referee, "CLAIM", referee.CLAIM.limit(1))
    places = apps.open_table(any_app, 3)
    numbers = [submitting.submit(any_app, place, "sit word") for place in places]
    any_app.redis.flushall()
    runs = 0
    while submitting.wait_for_verdict(any_app, numbers[-1]) is None:
        referee.run()
        runs += 1
        assert ("referee" in apps.list_woken(any_app)) is (runs < 3)  # the last one leaves no work to another
        any_app.redis.flushall()
    assert runs == 3


def test_a_fault_after_a_verdict_does_not_change_it(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    mover, move = apps.find_move(any_app, apps.start_table(any_app))

    def fail(*_: Any) -> None:
        raise RuntimeError("nobody could be told")

    monkeypatch.setattr(judging, "publish_changes", fail)
    submission = submitting.submit(any_app, mover, move)
    referee.run()
    verdict = apps.get_verdict(any_app, submission)
    assert verdict.accepted
    assert verdict.seq == apps.load_table(any_app, mover.table).row.length - 1
    with any_app.store.reading() as db:
        assert submitting.find_verdict(db, mover, submission.number) == verdict
