"""Play a game that is an installed package, seat 0 by its page and seat 1 by mail, and start a second table.

    python -m tests.play_new_game NAME FOLDER

prints the links of both tables as JSON; the database stays in the folder.
"""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

from engine import audit, catalogue
from engine import menu as menus
from service.tables import access, snapshots
from service.tables.history import replays
from service.tables.opening import OpenedTable
from tests import apps
from tests.sites import ROWS, Site, Visitor
from tests.workers.incoming.test_inbox import answer, send


def start_table(site: Site, visitor: Visitor, name: str) -> OpenedTable:
    """Open a table by its form, and let Anna sit down on her page and Bert by mail."""
    page = visitor.get(f"/new/{name}")
    assert catalogue.find(name).META.title in page
    response = visitor.post(f"/new/{name}", **ROWS)
    assert response.status_code == 303, response.text
    table = access.find(site.app, response.location.rpartition("/")[2]).table
    seats = apps.load_table(site.app, table).seats
    opened = OpenedTable(table, tuple(access.make_seat_link(site.app, seat) for seat in seats), "")
    assert visitor.post(f"/t/{opened.links[0]}/sit", nonce="lantern").status_code == 303
    answer_by_mail(site, opened, "sit kettle")
    return opened


def answer_by_mail(site: Site, opened: OpenedTable, text: str) -> None:
    """Send Bert's answer to his letter."""
    place = access.find(site.app, opened.links[1])
    send(site.app, answer(site.app, place, text, Message_ID=f"<{secrets.token_hex(8)}@example.org>"))


def move(site: Site, visitor: Visitor, opened: OpenedTable) -> None:
    """Make the last move of the seat on turn, by its page or by mail."""
    snapshot, seat = site.load(opened), site.find_mover(opened)
    chosen = list(menus.iter_moves(snapshots.open_menu(snapshot.game, snapshot.position, seat)))[-1]
    if seat == 0:
        page = visitor.get(f"/t/{opened.links[0]}")
        assert f'data-token="{chosen.args[-1]}"' in page
        visitor.submit(opened.links[0], str(chosen))
    else:
        answer_by_mail(site, opened, str(chosen))
    assert site.load(opened).row.length > snapshot.row.length, (seat, chosen)


def main(name: str, folder: str) -> None:
    site = Site(Path(folder), games=name, confirm=False, secret="an app for tests", gather=0)
    visitor = site.new_visitor()
    over, running = start_table(site, visitor, name), start_table(site, visitor, name)
    while site.load(over).position.phase == "playing":
        move(site, visitor, over)
    move(site, visitor, running)
    site.store_letters()
    title = catalogue.find(name).META.title
    assert title in visitor.get("/mailbox")
    assert title in visitor.get(f"/rules/{name}")
    assert f"{name}.View" in json.loads(visitor.get("/api/v1/openapi.json"))["components"]["schemas"]
    log = apps.run_query(site.app, replays.export_for_place, access.find(site.app, over.links[1]))
    assert audit.audit(catalogue.find(name), log).finding is None
    site.app.close()
    print(json.dumps({"over": over.links, "running": running.links}))


if __name__ == "__main__":
    main(*sys.argv[1:])
