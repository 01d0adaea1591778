"""The same store on SQLite and on PostgreSQL: one shape, and transactions that do everything or nothing."""

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from engine import log
from engine.log import SealedEntry
from engine.refusal import Refused
from service.accounts import leaving, my_tables, signing_in
from service.app import App
from service.people import proof
from service.people.proof import ProvenPerson
from service.store import Store, queries
from service.store.batch import Addition, Batch, OwedLetter
from service.store.connection import MIGRATIONS
from service.store.schema import entries, letters, metadata, people, tables
from service.tables import access, joining, submitting
from service.tables.opening import Invitee
from tests import apps
from tests.chaos import machines
from tests.conftest import or_skip

ROOT = Path(__file__).parents[3]
MIGRATE = "import sys; from service.store import Store; input(); Store(sys.argv[1]).migrate()"


@pytest.fixture
def store(database_url: str) -> Any:
    made = Store(database_url)
    yield made
    made.close()


def version(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def test_migrations_lead_from_nothing_to_the_newest_version_and_stay_there(store: Store) -> None:
    newest = ScriptDirectory(str(MIGRATIONS)).get_current_head()  # as Alembic itself finds it
    for _ in range(2):
        store.migrate()
        with store.reading() as connection:
            assert version(connection) == newest


def test_migrations_make_exactly_the_schema_that_code_sees(store: Store) -> None:
    store.migrate()
    with store.reading() as connection:
        defaults = connection.dialect.name != "sqlite"  # where Alembic takes every empty default for a changed one
        context = MigrationContext.configure(connection, opts={"compare_server_default": defaults})
        assert compare_metadata(context, metadata) == []


def test_a_new_sqlite_database_has_the_schema_that_the_migrations_make_and_needs_no_alembic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alembic costs a start 70 ms and 11 MB."""
    with closing(Store(f"sqlite:///{tmp_path / 'migrated'}")) as migrated:
        monkeypatch.setattr(migrated, "_create_in_sqlite", lambda: False)
        migrated.migrate()
        by_migrations = dump_schema(migrated)
    with monkeypatch.context() as without, closing(Store(f"sqlite:///{tmp_path / 'created'}")) as created:
        without.setitem(sys.modules, "alembic", None)
        created.migrate()
        assert created.is_current()
        assert dump_schema(created) == by_migrations


def dump_schema(store: Store) -> set[tuple[str, str]]:
    """Return the names and statements of all tables and indexes, without the table of Alembic."""
    with store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").all()
    return {(name, sql) for name, sql in rows if name != "alembic_version"}


def test_two_processes_may_migrate_at_once(store: Store, database_url: str) -> None:
    command = [sys.executable, "-c", MIGRATE, database_url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    migrating = [subprocess.Popen(command, cwd=ROOT, **pipes) for _ in range(2)]
    for process in migrating:
        assert process.stdin
        process.stdin.write(b"\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1].decode() for process in migrating]
    assert [process.returncode for process in migrating] == [0] * 2, "\n".join(errors)
    with store.reading() as connection:
        assert set(inspect(connection).get_table_names()) == {*metadata.tables, "alembic_version"}


def test_a_new_sqlite_file_may_be_opened_by_many_at_once(tmp_path: Path) -> None:
    for number in range(20):
        url, together = f"sqlite:///{tmp_path / str(number)}", Barrier(6)

        def open_it(url: str = url, together: Barrier = together) -> None:
            together.wait(10)
            with closing(Store(url)) as store, store.writing():
                pass

        with ThreadPoolExecutor(6) as pool:
            for done in [pool.submit(open_it) for _ in range(6)]:
                done.result()


def append(connection: Connection, addition: Addition) -> None:
    """Append one entry, and write it at once."""
    batch = Batch(connection)
    batch.append(addition)
    batch.flush()


def seal_entry(seq: int) -> SealedEntry:
    return SealedEntry(seq, "{}", f"digest {seq}", f"hash {seq}")


@pytest.fixture
def table(any_app: App) -> str:
    """A table with one entry, the opening."""
    return apps.open_table(any_app)[0].table


def count_rows(connection: Connection, table: str) -> tuple[int, int]:
    """How many entries and letters a table has."""
    entry = select(func.count()).select_from(entries).where(entries.c.table == table)
    letter = select(func.count()).select_from(letters).where(letters.c.table == table)
    return connection.execute(entry).scalar_one(), connection.execute(letter).scalar_one()


def test_an_error_after_append_leaves_nothing(any_app: App, table: str) -> None:
    class Struck(Exception):
        pass

    with suppress(Struck), any_app.store.writing() as connection:
        append(connection, Addition(table, seal_entry(1), "gathering", 5, letters=[OwedLetter(0, "turn", 5)]))
        assert count_rows(connection, table) == (2, 3)
        raise Struck
    with any_app.store.reading() as connection:
        row = queries.find_table(connection, table)
        assert row
        assert (row.length, row.moved_at) == (1, apps.NOON)
        assert count_rows(connection, table) == (1, 2)


def test_an_error_within_append_leaves_nothing(any_app: App, table: str) -> None:
    twice = [OwedLetter(0, "turn", 5), OwedLetter(0, "turn", 6)]
    with pytest.raises(IntegrityError), any_app.store.writing() as connection:
        append(connection, Addition(table, seal_entry(1), "gathering", 5, letters=twice))
    with any_app.store.reading() as connection:
        row = queries.find_table(connection, table)
        assert row
        assert row.length == 1
        assert count_rows(connection, table) == (1, 2)


def test_an_entry_number_is_given_once(any_app: App, table: str) -> None:
    with pytest.raises(IntegrityError), any_app.store.writing() as connection:
        append(connection, Addition(table, seal_entry(0), "gathering", 5))


def test_a_letter_is_owed_once(any_app: App, table: str) -> None:
    letter = {"table": table, "seq": 0, "seat": 1, "kind": "invitation", "due_at": 5}
    with pytest.raises(IntegrityError), any_app.store.writing() as connection:
        connection.execute(insert(letters), letter)
    with any_app.store.writing() as connection:
        connection.execute(insert(letters), {**letter, "kind": "reminder"})


def test_a_lock_on_a_table_sees_the_last_write(any_app: App, table: str) -> None:
    def add() -> None:
        for _ in range(10):
            with any_app.store.writing() as connection:
                row = queries.lock_table(connection, table)
                assert row
                append(connection, Addition(table, seal_entry(row.length), "gathering", 5))

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(add) for _ in range(4)]:
            done.result()
    with any_app.store.reading() as connection:
        assert count_rows(connection, table)[0] == 41


def test_a_reader_sees_one_moment(any_app: App, table: str) -> None:
    with any_app.store.reading() as connection:
        row = queries.find_table(connection, table)
        with any_app.store.writing() as other:
            append(other, Addition(table, seal_entry(1), "gathering", 5))
        assert row
        assert [entry.hash for entry in queries.list_entries(connection, table)] == [row.head]


def test_the_receipt_is_the_head_of_the_chain(any_app: App, table: str) -> None:
    with any_app.store.reading() as connection:
        row = queries.find_table(connection, table)
        (entry,) = queries.list_entries(connection, table)
        assert row
        assert row.head == entry.hash == log.extend_head(log.GENESIS, entry.digest)


def test_strangers_invited_to_many_tables_at_once_are_noted_once(any_app: App) -> None:
    together = Barrier(4)
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES]

    def invite(first: int) -> None:
        together.wait(10)
        apps.open_new(any_app, "kaiser", {}, guests[first:] + guests[:first])

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(invite, first) for first in range(4)]:
            done.result()
    with any_app.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(people)).scalar_one() == 4
        assert connection.execute(select(func.count()).select_from(tables)).scalar_one() == 4


def _number_values(values: tuple[Any, ...]) -> dict[str, Any]:
    return {f"v{number}": value for number, value in enumerate(values)}


def test_peoples_own_side_is_the_same_on_both(any_app: App, clock: apps.FakeTime) -> None:
    app, anna = any_app, Invitee("Anna", "anna@example.org")
    opened = apps.open_new(app, "kaiser", {}, [anna, Invitee("", who="anybody")], key="0123456789abcdef")
    assert apps.open_new(app, "kaiser", {}, [anna, Invitee("", who="anybody")], key="0123456789abcdef") == opened
    joining.join(app, opened.join, Invitee("Bert", "bert@example.org"))
    apps.submit(any_app, access.find(app, opened.links[0]), "sit word")
    apps.submit(any_app, access.find(app, opened.links[0]), "resign")
    signing_in.send_sign_in_letter(app, "anna@example.org")
    person = apps.load_table(app, opened.table).seats[0].person
    key = signing_in.sign_in(app, any_app.links.make_sign_in_token(person, 0, clock.at))
    visitor = apps.run_query(app, proof.find_signed_in, key)
    assert visitor
    assert visitor.id == person
    assert apps.run_query(app, my_tables.load_record, person) == my_tables.PlayerRecord(
        {"kaiser": {2: 1}}, (my_tables.Opponent("Bert", 1, 0, 1),)
    )
    assert [one.place for one in apps.load(app, my_tables.list_finished, person)] == [2]
    apps.renew_link(app, person, opened.table, 0)
    leaving.delete_person(app, ProvenPerson(person), "anna@example.org")
    assert apps.load_table(app, opened.table).names == ("Seat 1", "Bert")


def test_waiting_letters_leave_when_an_address_is_proven_on_both(migrated_url: str, tmp_path: Path) -> None:
    chosen = apps.make_settings(tmp_path, migrated_url, smtp="smtp://127.0.0.1:1", confirm=True, opens_per_hour=5)
    with apps.run_app(chosen, apps.FakeTime()) as app:
        guests = [Invitee(name, f"{name.lower()}@example.org") for name in ("Anna", "Bert")]
        opened = apps.open_new(app, "kaiser", {}, guests)
        assert apps.load_table(app, opened.table).row.awaits_confirmation
        person = apps.load_table(app, opened.table).seats[0].person
        apps.confirm_all(app, app.links.make_confirm_token(person, "anna@example.org"))
        assert not apps.load_table(app, opened.table).row.awaits_confirmation
        for _ in range(4):
            apps.open_new(app, "kaiser", {}, guests, signed_in=ProvenPerson(person))
        with pytest.raises(Refused, match="a little too much"):
            apps.open_new(app, "kaiser", {}, guests, signed_in=ProvenPerson(person))


def test_only_notes_do_not_wait_for_the_disk(any_app: App) -> None:
    query = "PRAGMA synchronous" if any_app.store.engine.dialect.name == "sqlite" else "SHOW synchronous_commit"
    values = []
    for durable in (True, False, True):
        with any_app.store.writing(durable=durable) as connection:
            values.append(connection.exec_driver_sql(query).scalar_one())
    assert values[0] == values[2]
    assert values[1] in (1, "off")  # SQLite counts: 1 is NORMAL


def test_a_submission_does_not_wait_for_the_disk_but_is_on_it_if_no_verdict_comes(tmp_path: Path) -> None:
    """The referee's commit takes it there; a page that waits in vain makes sure of it."""
    with (
        or_skip(machines.killable_postgres) as server,
        apps.run_app(apps.make_settings(tmp_path, server.url), apps.FakeTime()) as app,
    ):
        places = apps.start_table(app)
        waited = []
        for _ in range(10):  # the server itself writes what is committed every 200 ms
            submission = submitting.submit(app, *apps.find_move(app, places))
            waited.append(unwritten(app) == 0)
            assert submitting.wait_for_verdict(app, submission) is None
            assert unwritten(app) == 0
        assert not all(waited)


def unwritten(app: App) -> int:
    """How many bytes of what was committed lie in the server's memory alone."""
    with app.store.reading() as connection:
        query = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn())"
        return int(connection.exec_driver_sql(query).scalar_one())


def test_a_sqlite_file_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "book.sqlite"
    path.touch(0o644)
    with closing(Store(f"sqlite:///{path}")) as store:
        store.migrate()
        made = [one for one in tmp_path.iterdir() if one.name.startswith("book")]
        assert {one.stat().st_mode & 0o777 for one in made} == {0o600}
        assert len(made) >= 2


def test_who_leaves_does_not_wait_for_a_program_that_reads_all_the_time(tmp_path: Path) -> None:
    """Litestream keeps a transaction open, so that the log is never emptied behind its back."""
    with closing(Store(f"sqlite:///{tmp_path / 'depesche.sqlite'}")) as store, closing(Store(store.url)) as other:
        store.migrate()
        with other.reading() as connection:
            connection.execute(text("SELECT count(*) FROM tables"))
            began = time.monotonic()
            store.scrub()
            assert time.monotonic() - began < 10
        with store.reading() as connection:
            assert connection.execute(text("PRAGMA busy_timeout")).scalar_one() == 20_000


BACKEND = select(func.pg_backend_pid())
END_BACKEND = text("SELECT pg_terminate_backend(:pid)")


def lose_connection(store: Store, connect: Callable[[], AbstractContextManager[Connection]]) -> None:
    """Ask on a connection after its server process has ended."""
    with connect() as connection:
        ((pid,),) = queries.fetch(connection, BACKEND, {})
        with store.reading() as other:
            other.execute(END_BACKEND, {"pid": pid})
        queries.fetch(connection, BACKEND, {})


def test_a_lost_connection_is_told_of_once_and_not_used_again(migrated_postgres_url: str) -> None:
    with closing(Store(migrated_postgres_url)) as store:
        for connect in (store.peeking, store.reading):
            with pytest.raises(OperationalError) as error:
                lose_connection(store, connect)
            assert error.value.connection_invalidated
            assert store.outage.since is not None
            with connect() as connection:
                assert queries.fetch(connection, BACKEND, {})
            assert store.outage.since is None


@pytest.mark.parametrize("way", ["peeking", "reading", "writing"])
def test_an_error_does_not_tell_the_values_of_a_statement(migrated_postgres_url: str, way: str) -> None:
    with closing(Store(migrated_postgres_url)) as store:
        with pytest.raises(DBAPIError) as error, getattr(store, way)() as connection:
            connection.execute(text("SELECT 1 FROM no_such_table WHERE id = :address"), {"address": "anna@example.org"})
        assert "no_such_table" in str(error.value)
        assert "anna@example.org" not in str(error.value)
