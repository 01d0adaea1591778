"""An erased player is gone: neither address nor name is in any column, nor in the bytes of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select, text

from service.accounts import leaving
from service.app import App
from service.notify import channels
from service.notify.channels import NewChannel
from service.people.proof import ProvenPerson
from service.store.schema import letters, mailbox, metadata, people
from service.tables import access
from service.tables.opening import Invitee
from service.text.languages import Sentence
from tests import apps

ADDRESS, NAME = "xanthippe@example.org", "Xanthippe"
WORDS = "hemlock is overrated"
ENDPOINT = "https://push.example.org/xanthippe"


@pytest.fixture
def left(any_app: App) -> App:
    """The same once on SQLite and once on PostgreSQL."""
    return erase_player(any_app)


def erase_player(app: App) -> App:
    """Erase a player who has moved, talked and got letters, and whom another player's letter names."""
    guests = [Invitee("Anna", "anna@example.org"), Invitee(NAME, ADDRESS)]
    opened = apps.open_new(app, "kaiser", {}, guests)
    places = [access.find(app, link) for link in opened.links]
    for number, place in enumerate(places):
        apps.submit(app, place, f"sit word{number}")
    apps.say(app, places[1], WORDS)
    place, move = apps.find_move(app, places)
    apps.submit(app, place, move)
    with app.store.writing() as connection:
        letter = {"table": places[0].table, "seq": 1, "seat": 0, "kind": "declined/1", "due_at": 1, "sent_at": 2}
        sentence = Sentence("{who} does not play.", {"who": NAME})
        connection.execute(insert(letters).values(**letter, sentence=sentence.dump()))
        connection.execute(insert(mailbox).values(recipient=ADDRESS, at=1, raw=f"To: {ADDRESS}".encode()))
    assert all(word.casefold() in columns(app) for word in (ADDRESS, NAME, WORDS))
    with app.store.reading() as connection:
        person = connection.execute(select(people.c.id).where(people.c.address == ADDRESS)).scalar_one()
    with app.store.writing() as connection:
        channels.add(connection, ProvenPerson(person), NewChannel("push", "Firefox", ENDPOINT, secret="hidden"), 1)
    assert all(word in columns(app) for word in (ENDPOINT, "hidden"))
    (exported,) = leaving.export_person(app, ProvenPerson(person)).channels
    assert (exported.address, exported.secret) == (ENDPOINT, "hidden")
    leaving.delete_person(app, ProvenPerson(person), ADDRESS)
    return app


def columns(app: App) -> str:
    """All there is in all tables but the letters that others have got."""
    with app.store.reading() as connection:
        rows = [
            str(row)
            for table in metadata.sorted_tables
            if table is not mailbox
            for row in connection.execute(select(table)).all()
        ]
    return "\n".join(rows).casefold()


def test_no_column_holds_address_name_or_words(left: App) -> None:
    values = columns(left)
    for word in (ADDRESS, NAME, WORDS):
        assert word.casefold() not in values


def test_no_channel_of_an_erased_player_is_stored(left: App) -> None:
    assert ENDPOINT not in columns(left)


def test_no_letter_to_an_erased_player_is_stored(left: App) -> None:
    with left.store.reading() as connection:
        assert connection.execute(select(mailbox).where(mailbox.c.recipient == ADDRESS)).all() == []


def test_the_bytes_of_the_file_hold_no_address(app: App) -> None:
    """SQLite overwrites deleted rows, which otherwise stay in its free pages and its write-ahead log."""
    left = erase_player(app)
    folder = Path(left.settings.database_url.removeprefix("sqlite:///")).parent
    files = [path for path in folder.iterdir() if path.name.startswith("depesche.sqlite")]
    assert files
    for path in files:
        raw = path.read_bytes().lower()
        assert ADDRESS.encode() not in raw, path.name
        assert WORDS.encode() not in raw, path.name
        assert NAME.lower().encode() not in raw, path.name


FILES = text(
    "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class WHERE relkind IN ('r', 'i', 't') "
    "AND relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'pg_toast'))"
)


def read_files(connection: Connection) -> bytes:
    """All that PostgreSQL has in its files for our tables, their indexes and their long values."""
    connection.execute(text("CHECKPOINT"))
    return b"".join(bytes(raw) for raw in connection.execute(FILES).scalars() if raw).lower()


def test_postgresql_forgets_with_its_next_full_vacuum_as_the_readme_says(tmp_path, clock, new_postgres_url) -> None:
    with apps.run_app(apps.make_settings(tmp_path, new_postgres_url), clock) as app:
        erase_player(app)
        with app.store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            assert ADDRESS.encode() in read_files(connection)
            connection.execute(text("VACUUM FULL"))
            left = read_files(connection)
    assert b"anna@example.org" in left
    assert not [word for word in (ADDRESS, NAME, WORDS) if word.lower().encode() in left]
