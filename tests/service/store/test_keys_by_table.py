"""Keys that name the table first, in a new database and in one that was filled by the version before."""

import alembic.command
import alembic.config
import pytest
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError

from service.store import Store, book
from service.store.appending import Owed
from service.store.connect import MIGRATIONS
from service.store.schema import letters, submissions

BEFORE = "0018_lobby"
TABLE = """INSERT INTO tables (id,game,seats,seed,commitment,phase,length,head,pace,watch,opened_at,moved_at)
VALUES ('t','kaiser',2,'','','playing',3,'',500,'w',0,0)"""
PERSON = "INSERT INTO people (address, name, since) VALUES ('anna@example.org', 'Anna', 0)"
SUBMISSION = """INSERT INTO submissions (key, "table", seat, move, at) VALUES ('a', 't', 0, 'pass', 0)"""
LETTER = """INSERT INTO letters ("table", seq, seat, kind, due_at) VALUES ('t', 2, 1, 'turn', 5)"""
PERSONAL = """INSERT INTO letters (person, kind, due_at, sent_at, outcome) VALUES (1, 'enter/0', 5, 6, 'sent')"""


@pytest.fixture
def old(database_url: str) -> Store:
    """A database that the version before has filled, and that is in today's shape now."""
    store, config = Store(database_url), alembic.config.Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with store.writing() as connection:
        config.attributes["connection"] = connection
        alembic.command.upgrade(config, BEFORE)
        for statement in (TABLE, PERSON, SUBMISSION, LETTER, PERSONAL):
            connection.execute(text(statement))
    store.migrate()
    return store


def test_what_was_stored_is_there_and_new_rows_get_new_numbers(old: Store) -> None:
    with old.writing() as connection:
        for statement in (
            SUBMISSION.replace("'a'", "'b'"),
            LETTER.replace("turn", "over"),
            PERSONAL.replace("/0", "/1"),
        ):
            connection.execute(text(statement))  # as processes of the version before still write them
        handed = connection.execute(select(submissions).order_by(submissions.c.id)).all()
        owed = connection.execute(select(letters).order_by(letters.c.id)).all()
    old.close()
    assert [(one.table, one.id, one.key) for one in handed] == [("t", 1, "a"), ("t", 2, "b")]
    assert [(one.table, one.kind, one.due_at, one.sent_at, one.outcome) for one in owed] == [
        ("t", "turn", 5, None, ""),
        ("", "enter/0", 5, 6, "sent"),
        ("t", "over", 5, None, ""),
        ("", "enter/1", 5, 6, "sent"),
    ]
    assert len({one.id for one in owed}) == 4


def test_what_is_owed_once_is_owed_once_as_before(old: Store) -> None:
    with old.writing() as connection:
        book.owe(connection, "t", 2, Owed(1, "turn", 9))
        book.owe_person(connection, 1, "enter/0", 9)
        assert len(connection.execute(select(letters)).all()) == 2
    for statement in (LETTER, PERSONAL):
        with pytest.raises(IntegrityError), old.writing() as connection:
            connection.execute(text(statement))
    old.close()


def test_primary_and_unique_keys_of_letters_and_submissions_name_the_table(old: Store) -> None:
    with old.reading() as connection:
        look = inspect(connection)
        for name in ("letters", "submissions"):
            unique = [one["column_names"] for one in look.get_unique_constraints(name)]
            unique += [one["column_names"] for one in look.get_indexes(name) if one["unique"]]
            if connection.dialect.name == "postgresql":  # SQLite's rows lie under their number
                unique.append(look.get_pk_constraint(name)["constrained_columns"])
            assert unique
            assert {columns[0] for columns in unique} == {"table"}
    old.close()
