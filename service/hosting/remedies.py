"""Remedies of the host: finish a table, correct an address, send a letter again; and the link to the host's page."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from engine.menu import Move
from engine.refusal import Refused
from service.app import App
from service.links import is_same
from service.people import register
from service.store import facts
from service.store.schema import letters, people, seats
from service.tables import judging

LINK_FACT = "host"  # the row with the number of the host's link


def get_link(app: App, renew: bool = False) -> str:
    """Return the token of the host's page; `renew` makes a new one, and the old ones stop working."""
    with app.store.writing() as connection:
        number = _get_link_number(connection) + renew
        if renew:
            facts.set_fact(connection, LINK_FACT, str(number))
    return app.links.host(number)


def is_host_link(app: App, token: str) -> bool:
    """Return whether this is the token of the host's page."""
    with app.store.reading() as connection:
        return is_same(app.links.host(_get_link_number(connection)), token)


def _get_link_number(connection: Connection) -> int:
    return int(facts.get_facts(connection, [LINK_FACT]).get(LINK_FACT, 0))


def finish_table(app: App, table: str) -> None:
    """Let bots take every seat and play the game to its end; the log shows it, and the players are notified."""
    with judging.at_table(app, table) as work:
        if work.locked.table.phase != "playing":
            raise Refused("Only a table that is being played can be finished.")
        taken = [number for number, seat in enumerate(work.locked.table.seats) if seat.status == "taken"]
        work.locked = judging.carry_out_for_server(work.locked, *(Move("relieve", (str(seat),)) for seat in taken))


def change_address(app: App, person: int, text: str) -> None:
    """Send a person's letters to another address from now on, also those that bounced at the old one."""
    address = register.clean_address(text)
    with app.store.writing() as connection:
        taken = connection.execute(select(people.c.id).where(people.c.address == address)).scalar_one_or_none()
        if taken is not None:
            raise Refused("Somebody here has this address already; there is one person for each address.")
        own = update(people).where(people.c.id == person)
        if not connection.execute(own.values(address=address, bounced_at=None, bounce="", confirmed_at=None)).rowcount:
            raise Refused("There is no such person.")
        mine = select(seats.c.table).where(seats.c.person == person, seats.c.seat == letters.c.seat)
        lost = letters.c.table.in_(mine.correlate(letters)) & letters.c.outcome.in_(("address bounced",))
        connection.execute(update(letters).where(lost).values(sent_at=None, outcome="", tries=0, due_at=app.now()))
    app.wakeups.wake("post")


def send_again(app: App, letter: int) -> None:
    """Send a letter again that was refused or given up; it is skipped if it is out of date."""
    with app.store.writing() as connection:
        own = update(letters).where(letters.c.id == letter, letters.c.outcome != "sent")
        again = own.values(sent_at=None, outcome="", tries=0, due_at=app.now())
        if not connection.execute(again).rowcount:
            raise Refused("This letter was sent already, or there is none with this number.")
    app.wakeups.wake("post")
