"""Sweeping: the words of mails are forgotten some weeks after they were answered."""

from __future__ import annotations

import pytest
from sqlalchemy import func, insert, select

from service.app import App
from service.settings import DAY_S
from service.store import queries
from service.store.batch import OwedLetter
from service.store.schema import letters, mails, seats
from service.text.languages import Sentence
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from workers import clock as timekeeping
from workers.outgoing import post


def list_stored_mails(app: App) -> list[str]:
    with app.store.reading() as connection:
        return list(connection.execute(select(mails.c.key).order_by(mails.c.id)).scalars())


def store_mails(app: App, keys: list[str], read: bool = True) -> None:
    """Mails that came now, and were read at once or never."""
    place = apps.open_table(app)[0]
    with app.store.writing() as connection:
        person = connection.execute(select(seats.c.person).where(seats.c.table == place.table)).scalars().first()
        row = {"table": place.table, "seat": 0, "person": person, "at": app.now(), "lines": '["hello"]'}
        row["read_at"] = app.now() if read else None
        connection.execute(insert(mails), [{**row, "key": key} for key in keys])


def test_a_mail_is_forgotten_sixty_days_after_it_was_answered(any_app: App, clock: FakeTime) -> None:
    store_mails(any_app, ["first"])
    clock.advance(DAY_S)
    store_mails(any_app, ["second"])
    clock.advance(59 * DAY_S)
    timekeeping.tick(any_app)
    assert list_stored_mails(any_app) == ["first", "second"]
    clock.advance(1)
    timekeeping.tick(any_app)
    assert list_stored_mails(any_app) == ["second"]


def test_an_unread_mail_is_not_deleted(app: App, clock: FakeTime) -> None:
    store_mails(app, ["unread"], read=False)
    store_mails(app, ["read", "newest"])
    clock.advance(61 * DAY_S)
    timekeeping.delete_old_mails(app, apps.find_due(app))
    assert list_stored_mails(app) == ["unread", "newest"]


def test_however_many_they_are_a_tick_forgets_them_in_small_portions(
    app: App, clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timekeeping, "DELETE_BATCH", 5)
    store_mails(app, [str(number) for number in range(23)])
    clock.advance(61 * DAY_S)
    timekeeping.delete_old_mails(app, apps.find_due(app))
    assert list_stored_mails(app) == ["22"]


def test_the_number_of_a_mail_is_never_given_again(app: App, clock: FakeTime) -> None:
    store_mails(app, ["only"])
    clock.advance(61 * DAY_S)
    timekeeping.delete_old_mails(app, apps.find_due(app))
    store_mails(app, ["next"])
    with app.store.reading() as connection:
        assert connection.execute(select(func.count(mails.c.id.distinct()))).scalar_one() == 2


def test_the_words_of_a_letter_are_forgotten_as_soon_as_it_has_left(app: App, smtp_sink: Sink) -> None:
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    place = apps.open_table(app)[0]
    with app.store.writing() as connection:
        queries.owe_letter(connection, place.table, 0, OwedLetter(0, "refused/1", app.now()), Sentence("No."))
    post.run()
    with app.store.reading() as connection:
        assert set(connection.execute(select(letters.c.sentence, letters.c.outcome))) == {("", "sent")}
