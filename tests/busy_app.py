"""An app with a table in every state, for tests that visit all its routes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, select, update
from werkzeug.routing import Rule

from engine.menu import Move
from service import create_app
from service.accounts import my_tables, signing_in
from service.app import App
from service.people.proof import ProvenPerson
from service.store import push_keys
from service.store.schema import mailbox, metadata, people, seats
from service.tables import access, branches, joining, judging, seat_commands
from service.tables.access import Place
from service.tables.opening import Invitee
from tests import apps

PLACEHOLDER = re.compile(r"<(?:[^<>:]+:)?(\w+)>")
FIELD_READ = re.compile(r'(?:form|args|values)(?:\.get|\.getlist)?[(\[]"([^"{]+)"')
LETTER = b"From: a@example.org\nTo: b@example.org\nReply-To: play+x@localhost\nSubject: A letter\n\nA word.\n"


class BusyApp:
    """An app with a running table, one in the gallery, an open one, an offered seat, and a letter."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.flask_app: Flask = create_app(app)
        push_keys.make_key(app.store)
        self.played = apps.start_table(app)
        self._anna = self.find_person()
        apps.owe_confirm_letter(app, self._anna)
        self._visit = signing_in.sign_in(app, app.links.make_sign_in_token(self._anna, 0, app.now() - 60))
        with app.store.writing() as connection:  # a minute ago, so that a new link to sign in is good
            connection.execute(update(people).values(signed_at=app.now() - 60))
        apps.change(app, my_tables.open_feeds, ProvenPerson(self._anna), app.now())
        self.feeds = app.links.make_feeds_token(self._anna, 1)
        self.shown = self._show_game()
        self.open = apps.open_new(app, "kaiser", {}, [Invitee("Olga", "olga@example.org"), Invitee("", who="anybody")])
        self.offered = self._offer_seat()
        for place in self.played:
            apps.say(app, place, f"said by {place.seat}")
            apps.change(app, seat_commands.store_note, place, f"noted by {place.seat}")
            apps.change_with_app(app, branches.begin, place, 99)
        with app.store.writing() as connection:
            connection.execute(insert(mailbox), {"at": app.now(), "recipient": "b@example.org", "raw": LETTER})

    def _show_game(self) -> list[Place]:
        """End a game that places players show in the gallery; return their places."""
        places = apps.start_table(self.app)
        assert apps.submit(self.app, places[0], "resign").accepted
        for place in places:
            apps.change(self.app, seat_commands.release, place, True)
        return places

    def _offer_seat(self) -> str:
        """Offer a seat to substitutes; return the token of the offer."""
        place = apps.start_table(self.app, pace=3_600)[0]
        with judging.at_table(self.app, place.table) as work:
            work.locked = judging.carry_out_for_server(work.locked, Move("offer", (str(place.seat),)))
        return joining.make_offer_token(self.app, apps.load_table(self.app, place.table).seats[place.seat or 0])

    def find_person(self, name: str = "anna") -> int:
        with self.app.store.reading() as connection:
            own = select(people.c.id).where(people.c.address == f"{name}@example.org")
            return int(connection.execute(own).scalar_one())

    def new_visitor(self) -> FlaskClient:
        """Return a browser in which Anna is signed in."""
        client = self.flask_app.test_client()
        with client.session_transaction() as session:
            session["visit"] = self._visit
        return client

    @property
    def links(self) -> dict[str, str]:
        """Links to a table: of a player, after the end, of a spectator, and of the gallery."""
        return {
            "seat": self.played[0].link,
            "over": self.shown[0].link,
            "watch": self.app.links.make_watch_token(self.played[0].table),
            "gallery": access.make_gallery_link(self.shown[0].table),
        }

    def list_values(self, rule: Rule) -> Iterator[dict[str, Any]]:
        """Yield values for the placeholders of a route with which it leads to a page."""
        tokens = {
            "wishes": self.app.links.make_preferences_token(self._anna),
            "confirm": self.app.links.make_confirm_token(self._anna, "anna@example.org"),
            "enter": self.app.links.make_sign_in_token(self._anna, 0, self.app.now()),
            "join": self.open.join,
            "offer": self.offered,
            "calendar": self.feeds,
            "turns": self.feeds,
            "host": self.app.links.make_host_token(0),
        }
        place = self.played[0]
        branch = apps.run_query(self.app, branches.list_branches, place)
        common: dict[str, Any] = {"name": "kaiser", "table": self.shown[0].table, "seq": 1}
        common |= {
            "key": "1.1",
            "example": "formation",
            "spoken": "en",
            "when": "before",
            "person": self._anna,
            "letter": 1,
        }
        common |= {"channel": 1, "filename": "depesche.css", "token": tokens.get(rule.rule.split("/")[1])}
        common |= {"number": branch[0].id if branch and "whatif" in rule.rule else 1}
        common |= {"branch": branch[0].id if branch else 1}
        for link in self.links.values() if "link" in rule.arguments else [""]:
            yield {name: value for name, value in {**common, "link": link}.items() if name in rule.arguments}

    def list_routes(self, method: str) -> list[Rule]:
        """Return all routes with this method; new ones are included by themselves."""
        return [rule for rule in self.flask_app.url_map.iter_rules() if method in (rule.methods or ())]

    def fill_route(self, rule: Rule, values: dict[str, Any]) -> str:
        """Return the path of a route with these values for its placeholders."""
        return PLACEHOLDER.sub(lambda match: quote(str(values[match[1]]), safe=""), rule.rule)

    def list_fields(self, rule: Rule) -> tuple[str, ...]:
        """Return the names of form fields and query parameters that the module of a route reads."""
        view: Any = self.flask_app.view_functions[rule.endpoint]
        while hasattr(view, "__wrapped__"):
            view = view.__wrapped__
        code = getattr(view, "__code__", SimpleNamespace(co_filename=""))
        text = Path(code.co_filename).read_text() if code.co_filename.endswith(".py") else ""
        return tuple(dict.fromkeys(FIELD_READ.findall(text)))

    def dump_database(self) -> dict[str, list[Any]]:
        """Return all rows of the database, except the row of the health check."""
        with self.app.store.reading() as connection:
            tables = {name: connection.execute(select(table)).all() for name, table in metadata.tables.items()}
        return {name: sorted(repr(row) for row in rows if "health" not in row) for name, rows in tables.items()}

    def list_secrets(self) -> dict[tuple[str, int], list[str]]:
        """Return the private texts of each seat: its link, its note, and its player's address."""
        secrets = {}
        with self.app.store.reading() as connection:
            joined = seats.join(people, people.c.id == seats.c.person)
            rows = connection.execute(select(*seats.c, people.c.address).select_from(joined)).all()
        for row in rows:
            note = [row.note] if row.note else []
            token = self.app.links.make_preferences_token(row.person)
            secrets[row.table, row.seat] = [access.make_seat_link(self.app, row), token, row.address, *note]
        return secrets
