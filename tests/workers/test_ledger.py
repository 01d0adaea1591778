"""The ledger of the chaos runs reports what is lost, doubled or wrong."""

import pytest
from sqlalchemy import delete, insert, select, update

from service.app import App
from service.store.schema import letters, seats, submissions
from service.tables.access import Place
from tests import apps
from tests.chaos import ledger, processes
from tests.chaos.crowd import Crowd

Played = tuple[App, list[Place], list[str]]


@pytest.fixture
def played(app: App) -> Played:
    """A table where two moves were made and every letter has arrived; its turns that are over were overtaken."""
    places = apps.start_table(app)
    for _ in range(2):
        assert apps.submit(app, *apps.find_move(app, places)).accepted
    with app.store.writing() as connection:
        connection.execute(update(letters).values(outcome="sent", sent_at=app.now()))
        rows = connection.execute(select(letters)).all()
    return app, places, [ledger.message_id(row) for row in rows]


def check(played: Played) -> int:
    app, _, received = played
    return ledger.check_all(app.store, Crowd([], []), received)


def test_a_table_in_order_passes_and_what_came_twice_is_counted(played: Played) -> None:
    app, places, received = played
    assert check(played) == 0
    assert check((app, places, [*received, received[0]])) == 1


def test_a_letter_that_was_sent_and_never_came_is_noticed(played: Played) -> None:
    app, places, received = played
    with pytest.raises(AssertionError):
        check((app, places, received[1:]))


def test_a_turn_that_still_waits_was_not_overtaken(played: Played) -> None:
    app, places, _ = played
    mover, _ = apps.find_move(app, places)
    own = (letters.c.seat == mover.seat, letters.c.kind == "turn")
    since = select(seats.c.open_since).where(seats.c.table == mover.table, seats.c.seat == mover.seat).scalar_subquery()
    with app.store.writing() as connection:
        connection.execute(update(letters).where(*own, letters.c.seq == since).values(outcome="overtaken"))
    with pytest.raises(AssertionError, match="still waits"):
        check(played)


def test_an_entry_without_a_submission_is_noticed(played: Played) -> None:
    app, _, _ = played
    last = select(submissions.c.id).order_by(submissions.c.id.desc()).limit(1).scalar_subquery()
    with app.store.writing() as connection:
        connection.execute(delete(submissions).where(submissions.c.id == last))
    with pytest.raises(AssertionError):
        check(played)


def test_a_submission_that_counts_twice_is_noticed(played: Played) -> None:
    app, _, _ = played
    with app.store.writing() as connection:
        row = connection.execute(select(submissions).order_by(submissions.c.id.desc()).limit(1)).one()._asdict()
        connection.execute(insert(submissions), {**row, "id": row["id"] + 1, "key": "again"})
    with pytest.raises(AssertionError, match="two submissions became one entry"):
        check(played)


def test_a_bot_that_never_moves_is_noticed(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RECOVERY_S", 0.1)
    places = apps.start_table(app, 2, bots=1)
    while apps.list_moves(app, places[0]):
        assert apps.submit(app, *apps.find_move(app, places)).accepted
    with pytest.raises(AssertionError, match="every bot has moved"):
        ledger.wait_until_settled(app.store)
