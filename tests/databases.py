"""A migrated PostgreSQL database that tests use one after another: to delete its rows is quicker than to copy it.

A new database costs PostgreSQL two checkpoints, and each connection to it reads the catalogue from the disk.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count

import psycopg

from tests.servers import fresh_database

MAX_USES = 60  # PostgreSQL cleans a table late, and a test would read the remains of many others

# What differs as soon as a test has changed the schema.
READ_SCHEMA = """
    SELECT string_agg(row::text, ' ' ORDER BY row) FROM (
      SELECT oid, relname, xmin FROM pg_class WHERE relnamespace = 'public'::regnamespace
      UNION ALL SELECT oid, proname, xmin FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      UNION ALL SELECT oid, tgname, xmin FROM pg_trigger
    ) AS row
"""
KEEP_ROWS = """
    DO $$ DECLARE one record; found boolean; BEGIN
      CREATE SCHEMA first;
      FOR one IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', one.relname) INTO found;
        IF found THEN
          EXECUTE format('CREATE TABLE first.%1$I AS SELECT * FROM public.%1$I', one.relname);
        END IF;
      END LOOP;
    END $$
"""
RESTORE_ROWS = """
    DO $$ DECLARE one record; BEGIN
      SET LOCAL session_replication_role = replica;  -- no foreign key is checked
      FOR one IN SELECT oid::regclass AS name FROM pg_class
          WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 LOOP
        EXECUTE format('DELETE FROM %s', one.name);
      END LOOP;
      FOR one IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'first'::regnamespace LOOP
        EXECUTE format('INSERT INTO public.%1$I OVERRIDING SYSTEM VALUE SELECT * FROM first.%1$I', one.relname);
      END LOOP;
      PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
          FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL;
    END $$
"""
END_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class MigratedDatabase:
    """Copies of a migrated database, one at a time; a test finds the rows of a new one."""

    def __init__(self, server: str, template: str) -> None:
        self._server, self._template, self._numbers = server, template, count(1)
        self._copy, self._uses, self._schema = ExitStack(), 0, ""
        self.url = ""

    def prepare(self) -> str:
        """Return the address of the database, as it is after it was migrated."""
        if not self.url:
            name = f"test_shared_{next(self._numbers)}"
            self.url = self._copy.enter_context(fresh_database(self._server, name, self._template))
            with self._connect() as connection:
                connection.execute(KEEP_ROWS)
                self._schema = self._read_schema(connection)
            self._uses = 0
        self._uses += 1
        return self.url

    def clean(self) -> None:
        """End all connections and restore the rows; drop the database if its schema has changed."""
        with self._connect() as connection:
            connection.execute(END_OTHERS)
            unchanged = self._read_schema(connection) == self._schema
            if unchanged and self._uses < MAX_USES:
                connection.execute(RESTORE_ROWS)
                return
        self.drop()

    def drop(self) -> None:
        self._copy.close()
        self.url = ""

    def _connect(self) -> psycopg.Connection[tuple[str]]:
        return psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True)

    def _read_schema(self, connection: psycopg.Connection[tuple[str]]) -> str:
        row = connection.execute(READ_SCHEMA).fetchone()
        assert row
        return row[0]
