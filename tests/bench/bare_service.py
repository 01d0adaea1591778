"""A web service that makes the transaction of a move and nothing else: the reference for moves and pages over HTTP.

    python -m tests.bench.bare_service POSTGRES_URL PORT

It runs Flask on the server that Depesche runs on, in as many processes, and psycopg without SQLAlchemy. A move finds
its link, locks the
table, inserts a submission, an entry and a letter, and updates seat and table. `GET /page/BYTES` is a page of any size.
"""

from __future__ import annotations

import hashlib
import socket
import sys
import time

import flask
import psycopg
import psycopg_pool

from service.web.server import create_wsgi_server
from workers.processes import run_each

TABLES, THREADS = 64, 16
PROCESSES = 2  # as many as `depesche web` has unless told
SCHEMA = """
create table bare_table (id int primary key, length int not null, head text not null);
create table bare_seat (link text primary key, at int not null, owed bigint);
create table bare_entry (at int, seq int, body text not null, hash text not null, primary key (at, seq));
create table bare_letter (id bigserial primary key, at int, kind text, due bigint);
create table bare_submission (id bigserial primary key, at int, move text, accepted bool);
insert into bare_table select n, 0, '' from generate_series(0, 63) n;
insert into bare_seat select n || '/' || seat, n, null from generate_series(0, 63) n, generate_series(0, 1) seat;
"""


def create_flask_app(url: str) -> flask.Flask:
    flask_app = flask.Flask(__name__)
    pool = psycopg_pool.ConnectionPool(url, min_size=THREADS, max_size=THREADS, open=True)

    @flask_app.post("/moves/<int:table>/<int:seat>")
    def move(table: int, seat: int) -> flask.Response:
        text = flask.request.get_json()["move"]
        body, now = f"{text} {'x' * 600}", int(time.time())
        with pool.connection() as db:
            db.execute("select at from bare_seat where link = %s", (f"{table}/{seat}",)).fetchone()
            found = db.execute("select length, head from bare_table where id = %s for update", (table,)).fetchone()
            assert found is not None
            length, head = found
            new_head = hashlib.sha256((head + body).encode()).hexdigest()
            db.execute("insert into bare_submission (at, move, accepted) values (%s, %s, true)", (table, text))
            db.execute("insert into bare_entry values (%s, %s, %s, %s)", (table, length, body, new_head))
            db.execute("insert into bare_letter (at, kind, due) values (%s, 'turn', %s)", (table, now))
            db.execute("update bare_seat set owed = %s where link = %s", (now, f"{table}/{1 - seat}"))
            db.execute("update bare_table set length = %s, head = %s where id = %s", (length + 1, new_head, table))
        return flask.jsonify(accepted=True, length=length + 1)

    @flask_app.get("/page/<int:size>")
    def page(size: int) -> str:
        return "x" * size

    return flask_app


def main(url: str, port: int) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(SCHEMA)
    names = [f"bare {number + 1}" for number in range(PROCESSES)]
    with socket.create_server(("127.0.0.1", port)) as listener:
        run_each(names, lambda _: create_wsgi_server(create_flask_app(url), listener, THREADS).serve_requests)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
