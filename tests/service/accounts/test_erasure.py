"""Who leaves is gone: neither his address nor his name stands in any column, nor in the bytes of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import insert, select

from service.accounts import leaving
from service.house import House
from service.store.schema import mailbox, metadata, people
from service.tables import access, opening, talk
from service.tables.opening import Invited
from tests import houses

ADDRESS, NAME = "xanthippe@example.org", "Xanthippe"
WORDS = "hemlock is overrated"


@pytest.fixture
def left(house: House) -> House:
    """A house from which a player went who had moved, talked and got letters."""
    guests = [Invited("Anna", "anna@example.org"), Invited(NAME, ADDRESS)]
    opened = opening.open_table(house, "kaiser", {}, guests)
    places = [access.find(house, link) for link in opened.links]
    for number, place in enumerate(places):
        houses.judged(house, place, f"sit word{number}")
    talk.say(house, places[1], WORDS)
    place, move = houses.on_turn(house, places)
    houses.judged(house, place, move)
    with house.store.writing() as connection:
        connection.execute(insert(mailbox).values(recipient=ADDRESS, at=1, raw=f"To: {ADDRESS}".encode()))
    assert all(word.casefold() in columns(house) for word in (ADDRESS, NAME, WORDS))
    with house.store.reading() as connection:
        person = connection.execute(select(people.c.id).where(people.c.address == ADDRESS)).scalar_one()
    leaving.leave(house, person, ADDRESS)
    return house


def columns(house: House) -> str:
    """All there is in all tables but the letters that others have got."""
    with house.store.reading() as connection:
        rows = [
            str(row)
            for table in metadata.sorted_tables
            if table is not mailbox
            for row in connection.execute(select(table)).all()
        ]
    return "\n".join(rows).casefold()


def test_no_column_holds_address_name_or_words(left: House) -> None:
    held = columns(left)
    for word in (ADDRESS, NAME, WORDS):
        assert word.casefold() not in held


def test_no_letter_to_who_left_is_kept(left: House) -> None:
    with left.store.reading() as connection:
        assert connection.execute(select(mailbox).where(mailbox.c.recipient == ADDRESS)).all() == []


def test_the_bytes_of_the_file_hold_no_address(left: House) -> None:
    """What SQLite deletes would otherwise stay in its free pages, and in the log ahead of the file."""
    folder = Path(left.settings.database_url.removeprefix("sqlite:///")).parent
    files = [path for path in folder.iterdir() if path.name.startswith("depesche.sqlite")]
    assert files
    for path in files:
        raw = path.read_bytes().lower()
        assert ADDRESS.encode() not in raw, path.name
        assert WORDS.encode() not in raw, path.name
