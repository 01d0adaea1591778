"""Keys name the table first, so that PostgreSQL can partition by it, and unique letters stay unique."""

import pytest
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError

from service.store import Store, queries
from service.store.batch import OwedLetter
from service.store.schema import letters

TABLE = """INSERT INTO tables
(id,game,seats,seed,commitment,phase,length,head,pace,spectator_link,opened_at,moved_at)
VALUES ('t','kaiser',2,'','','playing',3,'',500,'w',0,0)"""
PERSON = "INSERT INTO people (address, name, since) VALUES ('anna@example.org', 'Anna', 0)"
SUBMISSION = """INSERT INTO submissions (key, "table", seat, move, at) VALUES ('a', 't', 0, 'pass', 0)"""
LETTER = """INSERT INTO letters ("table", seq, seat, kind, due_at) VALUES ('t', 2, 1, 'turn', 5)"""
PERSONAL = """INSERT INTO letters (person, kind, due_at, sent_at, outcome) VALUES (1, 'enter/0', 5, 6, 'sent')"""


@pytest.fixture
def filled(database_url: str) -> Store:
    """A database with a submission, a letter of a seat and a letter of a person."""
    store = Store(database_url)
    store.migrate()
    with store.writing() as connection:
        for statement in (TABLE, PERSON, SUBMISSION, LETTER, PERSONAL):
            connection.execute(text(statement))
    return store


def test_a_letter_that_is_unique_stays_unique(filled: Store) -> None:
    with filled.writing() as connection:
        queries.owe_letter(connection, "t", 2, OwedLetter(1, "turn", 9))
        queries.owe_personal_letter(connection, 1, "enter/0", 9)
        assert len(connection.execute(select(letters)).all()) == 2
    for statement in (LETTER, PERSONAL):
        with pytest.raises(IntegrityError), filled.writing() as connection:
            connection.execute(text(statement))
    filled.close()


def test_primary_and_unique_keys_of_letters_and_submissions_name_the_table(filled: Store) -> None:
    with filled.reading() as connection:
        inspector = inspect(connection)
        for name in ("letters", "submissions"):
            unique = [one["column_names"] for one in inspector.get_unique_constraints(name)]
            unique += [one["column_names"] for one in inspector.get_indexes(name) if one["unique"]]
            if connection.dialect.name == "postgresql":  # SQLite's rows lie under their number
                unique.append(inspector.get_pk_constraint(name)["constrained_columns"])
            assert unique
            assert {columns[0] for columns in unique} == {"table"}
    filled.close()
