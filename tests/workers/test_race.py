"""Races: the second submission is refused with a sentence, and nothing happens twice."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select
from structlog.testing import capture_logs

from engine import audit as audits
from engine.game import Game
from service.app import App
from service.settings import DAY_S
from service.store.batch import Verdict
from service.store.schema import letters, submissions
from service.tables import submitting
from service.tables.access import Place
from service.tables.history import replays
from tests import apps
from tests.apps import FakeTime, get_verdict
from workers import clock as clocks
from workers import referee
from workers.referee import is_waiting, judge_batch

ROUNDS = 12
Two = tuple[App, App]


@pytest.fixture
def two(any_app: App, tmp_path: Path, clock: FakeTime) -> Iterator[Two]:
    """Two processes of one server, each with its own connections and its own memory, which share a Redis."""
    settings = replace(any_app.settings, redis="redis://shared")
    with apps.run_app(settings, clock, any_app.redis) as one, apps.run_app(settings, clock, any_app.redis) as other:
        yield one, other


def run_at_once(*works: Callable[[], Any]) -> list[Any]:
    """Start these functions at the same moment, and return their results."""
    ready = Barrier(len(works))

    def begin(work: Callable[[], Any]) -> Any:
        ready.wait(10)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result(30) for done in [pool.submit(begin, work) for work in works]]


def judge_all(app: App) -> None:
    """Judge until nothing waits, as a referee does: what another one works on is waited for."""
    until = time.monotonic() + 10
    while judge_batch(app) or (is_waiting(app) and time.monotonic() < until):
        pass


def sound(app: App, place: Place) -> None:
    """The log passes its audit and has as many entries as its table says."""
    snapshot = apps.load_table(app, place.table)
    game: Game = snapshot.game
    report = audits.audit(game, apps.run_query(app, replays.export_for_place, place))
    assert report.finding is None, report
    assert report.entries == snapshot.row.length


def find_both_verdicts(app: App, first: int, second: int) -> tuple[Verdict, Verdict]:
    """The verdicts on two submissions, the accepted one first."""
    verdicts = sorted((get_verdict(app, first), get_verdict(app, second)), key=lambda one: not one.accepted)
    return verdicts[0], verdicts[1]


def test_who_comes_too_late_to_try_again_has_nothing_to_say(
    two: Two, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submission that has waited for long is claimed twice, and between the two another referee may judge it."""
    app, there = two
    number = submitting.submit(app, *apps.find_move(app, apps.start_table(app)))
    clock.advance(3_600)

    def judge_after_another(app: App, suspects: Any) -> None:
        monkeypatch.undo()
        assert judge_batch(there)
        referee._judge_suspects(app, suspects)

    monkeypatch.setattr(referee, "_judge_suspects", judge_after_another)
    with capture_logs() as lines:
        assert judge_batch(app)
    assert get_verdict(app, number).accepted
    assert lines == []


def test_of_two_pages_with_the_same_position_one_wins(two: Two) -> None:
    app, there = two
    places = apps.start_table(app)
    for turn in range(ROUNDS):
        mover, _ = apps.find_move(app, places)
        options = apps.list_moves(app, mover)
        before = apps.count_entries(app, mover)
        first, second = run_at_once(
            lambda: submitting.submit(app, mover, options[0], f"left {turn}", before - 1),  # noqa: B023 - used at once
            lambda: submitting.submit(there, mover, options[-1], f"right {turn}", before - 1),  # noqa: B023
        )
        run_at_once(lambda: judge_all(app), lambda: judge_all(there))
        won, lost = find_both_verdicts(app, first, second)
        assert won.accepted
        assert won.seq == before
        assert apps.count_entries(app, mover) == before + 1
        over = apps.load_table(app, mover.table).position.phase == "over"
        assert lost.text.startswith("The game is over" if over else "The table has changed")
        if over:
            break
    sound(app, places[0])


def test_of_the_same_move_sent_by_two_pages_one_counts(two: Two) -> None:
    app, there = two
    places = apps.start_table(app)
    mover, move = apps.find_move(app, places)
    before = apps.count_entries(app, mover)
    first, second = (submitting.submit(one, mover, move, key, before - 1) for one, key in zip(two, "ab", strict=True))
    run_at_once(lambda: judge_all(app), lambda: judge_all(there))
    won, lost = find_both_verdicts(app, first, second)
    assert (won.accepted, lost.accepted) == (True, False)
    assert apps.count_entries(app, mover) == before + 1


def test_a_submission_doubled_with_its_key_has_one_verdict(two: Two) -> None:
    app, there = two
    places = apps.start_table(app)
    for turn in range(ROUNDS):
        mover, move = apps.find_move(app, places)
        before = apps.count_entries(app, mover)
        key = f"once {turn}"
        submit = [lambda one=one: submitting.submit(one, mover, move, key) for one in (*two, *two)]  # noqa: B023
        numbers = run_at_once(*submit, lambda: judge_all(app), lambda: judge_all(there))[:4]
        judge_all(app)
        assert len({one.number for one in numbers}) == 1
        assert sum(one.new for one in numbers) == 1
        assert get_verdict(app, numbers[0]) == get_verdict(there, numbers[0])
        assert get_verdict(app, numbers[0]).seq == before
        assert submitting.submit(there, mover, move, key).number == numbers[0].number
        assert apps.count_entries(app, mover) == before + 1
        if apps.load_table(app, mover.table).position.phase == "over":
            break
    sound(app, places[0])


def test_the_last_two_to_sit_down_at_once_start_the_game_once(two: Two) -> None:
    app, there = two
    for _ in range(4):
        places = apps.open_table(app, 3)
        numbers = [submitting.submit(app, place, "sit word") for place in places]
        run_at_once(lambda: judge_all(app), lambda: judge_all(there))
        assert all(get_verdict(app, number).accepted for number in numbers)
        snapshot = apps.load_table(app, places[0].table)
        assert snapshot.position.phase == "playing"
        assert [entry.move for entry in apps.load_entries(app, snapshot)].count("start") == 1
        sound(app, places[0])


def test_a_line_of_submissions_is_shared_and_each_is_judged_once(two: Two) -> None:
    app, there = two
    tables = [apps.start_table(app) for _ in range(8)]
    numbers = []
    for places in tables:
        mover, move = apps.find_move(app, places)
        numbers += [submitting.submit(app, mover, move, f"{mover.table} {copy}") for copy in range(3)]
    run_at_once(lambda: judge_all(app), lambda: judge_all(there))
    accepted = [get_verdict(app, number).seq for number in numbers if get_verdict(app, number).accepted]
    assert len(accepted) >= len(tables)  # a seat may be on turn again and make the same move again
    for places in tables:
        sound(app, places[0])
    with app.store.reading() as connection:
        unheard = select(func.count()).where(submissions.c.accepted.is_(None))
        assert connection.execute(unheard).scalar_one() == 0


def test_a_move_at_its_deadline_races_the_clock_and_one_of_them_counts(two: Two, clock: FakeTime) -> None:
    app, there = two
    for _ in range(4):
        places = apps.start_table(app, pace=DAY_S)
        mover, move = apps.find_move(app, places)
        before = apps.count_entries(app, mover)
        clock.advance(DAY_S)
        number = submitting.submit(app, mover, move, seen=before - 1)
        run_at_once(lambda: judge_all(app), lambda: clocks.expire(there, apps.find_due(there)))
        judge_all(app)  # while the clock was at the table, the referee passed it over
        entries = apps.load_entries(app, apps.load_table(app, mover.table), before)
        assert len(entries) == 1
        verdict = get_verdict(app, number)
        assert verdict.accepted == (entries[0].seat == mover.seat)
        assert verdict.accepted or verdict.text.startswith("The table has changed")
        sound(app, places[0])


def test_two_clocks_remind_once(two: Two, clock: FakeTime) -> None:
    app, there = two
    for _ in range(4):
        apps.start_table(app, pace=DAY_S)
    clock.advance(DAY_S - 1)
    run_at_once(*(partial(clocks.remind, one, apps.find_due(one)) for one in (app, there)))
    with app.store.reading() as connection:
        reminders = select(func.count()).where(letters.c.kind == "reminder")
        assert connection.execute(reminders).scalar_one() == 4


def test_all_who_wait_for_a_verdict_hear_it(two: Two) -> None:
    app, there = two
    mover, move = apps.find_move(app, apps.start_table(app))
    number = submitting.submit(app, mover, move, "key")
    again = submitting.submit(there, mover, move, "key")  # sent twice
    waiting = [lambda one=one: submitting.wait_for_verdict(*one, 5.0) for one in 2 * [(app, number), (there, again)]]
    start = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run_at_once, *waiting)
        judge_all(app)
        assert [verdict.accepted for verdict in future.result(30)] == [True] * 4
    assert time.monotonic() - start < 4
