"""Plays a game that is an installed package: seat 0 by its page, seat 1 by mail, and leaves a second table unfinished.

    python -m tests.fifth NAME FOLDER

prints as JSON the links of both tables; the house stays in the folder.
"""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

from engine import audit, catalogue
from engine import menu as menus
from service.tables import access, archive, snapshots
from service.tables.opening import Opened
from tests.visiting import Hall, Visitor
from tests.workers.incoming.test_inbox import answer, sent


def begun(hall: Hall, visitor: Visitor, name: str) -> Opened:
    """A table that was opened on the page, where Anna sits down on her page and Bert by mail."""
    rows = {"name__0": "Anna", "address__0": "anna@example.org", "name__1": "Bert", "address__1": "bert@example.org"}
    page = visitor.get(f"/new/{name}")
    assert catalogue.find(name).META.title in page
    answered = visitor.post(f"/new/{name}", **rows)
    assert answered.status_code == 303, answered.text
    table = access.find(hall.app, answered.location.rpartition("/")[2]).table
    seats = snapshots.look(hall.app, table).seats
    opened = Opened(table, tuple(access.link_of(hall.app, seat) for seat in seats), "")
    assert visitor.post(f"/t/{opened.links[0]}/sit", nonce="lantern").status_code == 303
    mail(hall, opened, "sit kettle")
    return opened


def mail(hall: Hall, opened: Opened, text: str) -> None:
    """Bert answers his letter."""
    place = access.find(hall.app, opened.links[1])
    sent(hall.app, answer(hall.app, place, text, Message_ID=f"<{secrets.token_hex(8)}@example.org>"))


def move(hall: Hall, visitor: Visitor, opened: Opened) -> None:
    """The seat on turn makes the last of its moves, as its own letter or page would name it."""
    look, seat = hall.look(opened), hall.turn(opened)
    chosen = list(menus.moves(snapshots.menu(look, seat)))[-1]
    if seat == 0:
        page = visitor.get(f"/t/{opened.links[0]}")
        assert f'data-token="{chosen.args[-1]}"' in page
        visitor.say(opened.links[0], str(chosen))
    else:
        mail(hall, opened, str(chosen))
    assert hall.look(opened).row.length > look.row.length, (seat, chosen)


def main(name: str, folder: str) -> None:
    hall = Hall(Path(folder), games=name, confirm=False, secret="a house for tests", gather=0)
    visitor = hall.visitor()
    over, running = begun(hall, visitor, name), begun(hall, visitor, name)
    while hall.look(over).table.phase == "playing":
        move(hall, visitor, over)
    move(hall, visitor, running)
    hall.write_letters()
    title = catalogue.find(name).META.title
    assert title in visitor.get("/mailbox")
    assert title in visitor.get(f"/rules/{name}")
    assert f"{name}.View" in json.loads(visitor.get("/api/v1/openapi.json"))["components"]["schemas"]
    log = archive.export_for(hall.app, access.find(hall.app, over.links[1]))
    assert audit.audit(catalogue.find(name), log).finding is None
    hall.app.close()
    print(json.dumps({"over": over.links, "running": running.links}))


if __name__ == "__main__":
    main(*sys.argv[1:])
