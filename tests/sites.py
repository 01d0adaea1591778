"""An app with its pages, visitors with browsers, and a checker of HTML, for tests of pages."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, select
from werkzeug.test import TestResponse

from engine import table as tables
from service import create_app
from service.settings import Settings
from service.store.schema import letters, mailbox, people, seats
from service.tables import access, submitting
from service.tables.access import Place
from service.tables.opening import Invitee, OpenedTable
from service.tables.snapshots import Snapshot
from service.text.languages import SOURCE
from service.timing import Clock
from tests import apps
from workers import referee
from workers.jobs import set_app
from workers.outgoing import table_letters
from workers.outgoing.letter import LetterRequest

NAMES = ("Anna", "Bert")


class Site:
    """An app with its pages, whose referee judges at once; with `judging = False` it never does."""

    def __init__(self, folder: Path, **others: Any) -> None:
        settings = Settings(folder=folder, verdict_wait=0.01, **{"opens_per_hour": 1_000, **others})
        self.time = 1_800_000_000
        self.app = apps.make_app(settings, lambda: self.time)
        self.app.wakeups.wake = self._judge_at_once
        self.judging = True
        set_app(self.app)
        self.flask_app: Flask = create_app(self.app)

    def _judge_at_once(self, queue: str) -> None:
        if queue == "referee" and self.judging:
            referee.run()

    def new_visitor(self) -> "Visitor":
        return Visitor(self.flask_app.test_client())

    def open_table(self, *names: str, game: str = "kaiser", pace: Clock | int = 0, **options: str) -> OpenedTable:
        guests = [Invitee(name, f"{name.lower()}@example.org") for name in names or NAMES]
        return apps.open_new(self.app, game, options, guests, pace)

    def start_table(self, *names: str, game: str = "kaiser", pace: Clock | int = 0, **options: str) -> OpenedTable:
        """Open a table and let everybody sit down."""
        opened = self.open_table(*names, game=game, pace=pace, **options)
        for link in opened.links:
            submitting.submit(self.app, access.find(self.app, link), "sit word", "sit")
        return opened

    def load(self, opened: OpenedTable) -> Snapshot:
        return apps.load_table(self.app, opened.table)

    def find_mover(self, opened: OpenedTable) -> int:
        """Return a seat that may act now."""
        snapshot = self.load(opened)
        return tables.find_seats_to_move(snapshot.game, snapshot.position)[0]

    def list_moves(self, opened: OpenedTable) -> list[str]:
        """Return the moves of a seat that may act now."""
        snapshot = self.load(opened)
        menu = tables.menu(snapshot.game, snapshot.position, self.find_mover(opened))
        return [str(move) for entry in menu for move in entry.iter_moves()]

    def submit(self, opened: OpenedTable, move: str, seat: int | None = None) -> None:
        seat = self.find_mover(opened) if seat is None else seat
        number = submitting.submit(self.app, Place(opened.table, seat, ""), move)
        verdict = submitting.wait_for_verdict(self.app, number)
        assert verdict
        assert verdict.accepted, verdict.text

    def store_letters(self, table: str = "", language: str = SOURCE) -> None:
        """Write every letter, or those of one table, into the local mailbox, whether it is due or not."""
        with self.app.store.reading() as connection:
            joined = letters.join(seats, (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat))
            owed = connection.execute(
                select(*letters.c, seats.c.name, people.c.address).select_from(
                    joined.join(people, people.c.id == seats.c.person)
                )
            ).all()
        for row in (row for row in owed if not table or row.table == table):
            message = table_letters.write(
                self.app, LetterRequest(row.table, row.seq, row.seat, row.kind, row.address, row.name, language)
            )
            if message:
                with self.app.store.writing() as connection:
                    stored = {"at": self.time, "recipient": row.address, "raw": message.as_bytes()}
                    connection.execute(insert(mailbox), stored)


class Visitor:
    """A visitor with a separate browser."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def get(self, path: str, status: int = 200) -> str:
        response = self.client.get(path)
        assert response.status_code == status, response.text
        return response.text

    def post(self, path: str, **fields: object) -> TestResponse:
        return self.client.post(path, data={name.replace("__", "."): value for name, value in fields.items()})

    def submit(self, link: str, move: str, **fields: object) -> str:
        """Send a move as the form of the page does; return the page that follows."""
        response = self.post(f"/t/{link}", move=move, **fields)
        assert response.status_code == 303, response.text
        return self.get(response.location)


ROWS = {"name": "Anna", "address": "anna@example.org", "players": "Bert <bert@example.org>"}


class PageChecker(HTMLParser):
    """Lists what the Content-Security-Policy forbids, and what forms, fields and pictures lack."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.labelled: set[str] = set()
        self.fields: list[str] = []
        self.ids: list[str] = []
        self.inside: list[str] = []
        self.feed(page)
        self.faults += [f"no label: {name}" for name in self.fields if name not in self.labelled]
        self.faults += [f"id twice: {name}" for name in self.ids if self.ids.count(name) > 1]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.faults += [f"inline: {name}" for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given and given.get("type") != "application/json"):
            self.faults.append(f"inline: <{tag}>")
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "label":
            self.inside.append(tag)
            self.labelled.add(given.get("for", ""))
        if (tag == "input" and given.get("type") not in ("hidden", "submit")) or tag in ("select", "textarea"):
            self.fields += [] if self.inside else [given.get("id", given.get("name", "?"))]
        if tag == "img" and "alt" not in given:
            self.faults.append("a picture without words")

    def handle_endtag(self, tag: str) -> None:
        if tag == "label":
            self.inside.pop()
