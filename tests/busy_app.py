"""A house where something is going on in every room: for tests that go through all its doors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, select
from werkzeug.routing import Rule

from engine.menu import Move
from service import create_app
from service.app import App
from service.plans import branches
from service.store.schema import mailbox, metadata, people, seats
from service.tables import access, gallery, judging, opening, seat_settings, snapshots, substitutes, talk
from service.tables.access import Place
from service.tables.opening import Invited
from tests import apps

GAP = re.compile(r"<(?:[^<>:]+:)?(\w+)>")
ASKED = re.compile(r'(?:form|args|values)(?:\.get|\.getlist)?[(\[]"([^"{]+)"')
LETTER = b"From: a@example.org\nTo: b@example.org\nReply-To: play+x@localhost\nSubject: A letter\n\nA word.\n"


class BusyApp:
    """A table that is played, one in the gallery, an open one, an offered seat, and letters."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.flask_app: Flask = create_app(app)
        self.flask_app.config["WTF_CSRF_ENABLED"] = False
        self.played = apps.start_table(app)
        self._anna = self.person()
        self.shown = self._shown()
        self.open = opening.open_table(
            app, "kaiser", {}, [Invited("Olga", "olga@example.org"), Invited("", who="anybody")]
        )
        self.offered = self._offered()
        for place in self.played:
            talk.say(app, place, f"said by {place.seat}")
            seat_settings.write(app, place, f"noted by {place.seat}")
            branches.begin(app, place, 99)
        with app.store.writing() as connection:
            connection.execute(insert(mailbox), {"at": app.now(), "recipient": "b@example.org", "raw": LETTER})

    def _shown(self) -> list[Place]:
        """A finished game that both players show."""
        both = apps.start_table(self.app)
        assert apps.submit(self.app, both[0], "resign").accepted
        for place in both:
            seat_settings.release(self.app, place, True)
        return both

    def _offered(self) -> str:
        """The token of a seat that is offered."""
        place = apps.start_table(self.app, pace=3_600)[0]
        with judging.at_table(self.app, place.table) as work:
            work.locked = judging.by_server(work.locked, Move("offer", (str(place.seat),)))
        return substitutes.link(self.app, snapshots.look(self.app, place.table).seats[place.seat or 0])

    def person(self, name: str = "anna") -> int:
        with self.app.store.reading() as connection:
            own = select(people.c.id).where(people.c.address == f"{name}@example.org")
            return int(connection.execute(own).scalar_one())

    def visitor(self) -> FlaskClient:
        """Anna, signed in."""
        client = self.flask_app.test_client()
        with client.session_transaction() as session:
            session["visit"] = [self._anna, 0]
        return client

    @property
    def links(self) -> dict[str, str]:
        """Ways to a table: as a player, after the end, as a spectator, and by the gallery."""
        return {
            "seat": self.played[0].link,
            "over": self.shown[0].link,
            "watch": self.app.links.watch(self.played[0].table),
            "gallery": gallery.link(self.shown[0].table),
        }

    def ways(self, rule: Rule) -> Iterator[dict[str, Any]]:
        """What may stand in the gaps of this route so that it leads somewhere."""
        tokens = {
            "wishes": self.app.links.preferences(self.person()),
            "confirm": self.app.links.confirm(self.person(), "anna@example.org"),
            "enter": self.app.links.enter(self.person(), 0, self.app.now()),
            "join": self.open.join,
            "offer": self.offered,
            "host": self.app.links.host(0),
        }
        place = self.played[0]
        branch = branches.of(self.app, place)
        common: dict[str, Any] = {"name": "kaiser", "table": self.shown[0].table, "seq": 1}
        common |= {
            "key": "1.1",
            "example": "formation",
            "spoken": "en",
            "when": "before",
            "person": self.person(),
            "letter": 1,
        }
        common |= {"filename": "depesche.css", "token": tokens.get(rule.rule.split("/")[1])}
        common |= {"number": branch[0].id if branch and "whatif" in rule.rule else 1}
        for link in self.links.values() if "link" in rule.arguments else [""]:
            yield {name: value for name, value in {**common, "link": link}.items() if name in rule.arguments}

    def rules(self, method: str) -> list[Rule]:
        """All routes that are asked in this way, so that new ones are among them by themselves."""
        return [rule for rule in self.flask_app.url_map.iter_rules() if method in (rule.methods or ())]

    def address(self, rule: Rule, gaps: dict[str, Any]) -> str:
        """The route with its gaps filled, by whatever they are filled with."""
        return GAP.sub(lambda gap: quote(str(gaps[gap[1]]), safe=""), rule.rule)

    def fields(self, rule: Rule) -> tuple[str, ...]:
        """What the file of this route asks of forms and addresses."""
        view: Any = self.flask_app.view_functions[rule.endpoint]
        while hasattr(view, "__wrapped__"):
            view = view.__wrapped__
        code = getattr(view, "__code__", SimpleNamespace(co_filename=""))
        text = Path(code.co_filename).read_text() if code.co_filename.endswith(".py") else ""
        return tuple(dict.fromkeys(ASKED.findall(text)))

    def written(self) -> dict[str, list[Any]]:
        """All that stands in the book, but for the row that a health check writes to see whether it can."""
        with self.app.store.reading() as connection:
            found = {name: connection.execute(select(table)).all() for name, table in metadata.tables.items()}
        return {name: sorted(repr(row) for row in rows if "health" not in row) for name, rows in found.items()}

    def secrets(self) -> dict[tuple[str, int], list[str]]:
        """What belongs to each seat that is played, and to nobody else: its link, its note, its holder's address."""
        found = {}
        with self.app.store.reading() as connection:
            joined = seats.join(people, people.c.id == seats.c.person)
            rows = connection.execute(select(*seats.c, people.c.address).select_from(joined)).all()
        for row in rows:
            note = [row.note] if row.note else []
            own = [access.link_of(self.app, row), self.app.links.preferences(row.person), row.address, *note]
            found[row.table, row.seat] = own
        return found
