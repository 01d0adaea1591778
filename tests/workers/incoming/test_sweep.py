"""Sweeping: the words of mails are forgotten some weeks after they were answered."""

from __future__ import annotations

import pytest
from sqlalchemy import func, insert, select

from service.house import House
from service.settings import DAY
from service.store import book
from service.store.appending import Owed
from service.store.schema import letters, mails, seats
from service.text.languages import Said
from tests import houses
from tests.houses import Clock
from tests.servers import Sink
from workers import clock as timekeeping
from workers.outgoing import post


def kept(here: House) -> list[str]:
    with here.store.reading() as connection:
        return list(connection.execute(select(mails.c.key).order_by(mails.c.id)).scalars())


def mailed(here: House, keys: list[str], read: bool = True) -> None:
    """Mails that came now, and were read at once or never."""
    place = houses.opened(here)[0]
    with here.store.writing() as connection:
        person = connection.execute(select(seats.c.person).where(seats.c.table == place.table)).scalars().first()
        row = {"table": place.table, "seat": 0, "person": person, "at": here.now(), "lines": '["hello"]'}
        row["read_at"] = here.now() if read else None
        connection.execute(insert(mails), [{**row, "key": key} for key in keys])


def test_a_mail_is_forgotten_sixty_days_after_it_was_answered(any_house: House, clock: Clock) -> None:
    mailed(any_house, ["first"])
    clock.move(DAY)
    mailed(any_house, ["second"])
    clock.move(59 * DAY)
    timekeeping.tick(any_house)
    assert kept(any_house) == ["first", "second"]
    clock.move(1)
    timekeeping.tick(any_house)
    assert kept(any_house) == ["second"]


def test_a_mail_that_nobody_has_read_is_kept(house: House, clock: Clock) -> None:
    mailed(house, ["unread"], read=False)
    mailed(house, ["read", "newest"])
    clock.move(61 * DAY)
    timekeeping.sweep(house)
    assert kept(house) == ["unread", "newest"]


def test_however_many_they_are_a_tick_forgets_them_in_small_portions(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timekeeping, "SWEPT", 5)
    mailed(house, [str(number) for number in range(23)])
    clock.move(61 * DAY)
    timekeeping.sweep(house)
    assert kept(house) == ["22"]


def test_the_number_of_a_mail_is_never_given_again(house: House, clock: Clock) -> None:
    mailed(house, ["only"])
    clock.move(61 * DAY)
    timekeeping.sweep(house)
    mailed(house, ["next"])
    with house.store.reading() as connection:
        assert connection.execute(select(func.count(mails.c.id.distinct()))).scalar_one() == 2


def test_the_words_of_a_letter_are_forgotten_as_soon_as_it_has_left(house: House, smtp_sink: Sink) -> None:
    house.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    place = houses.opened(house)[0]
    with house.store.writing() as connection:
        book.owe(connection, place.table, 0, Owed(0, "refused/1", house.now()), Said("No."))
    post.deliver()
    with house.store.reading() as connection:
        assert set(connection.execute(select(letters.c.said, letters.c.outcome))) == {("", "sent")}
