"""What the host may do: have a table finished, mend an address, send a letter again."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from engine.menu import Move
from engine.refusal import Refused
from service.app import App
from service.links import same
from service.people import register
from service.store import facts
from service.store.schema import letters, people, seats
from service.tables import judging

LINK = "host"  # the row with the number of the host's link


def link(app: App, renew: bool = False) -> str:
    """The token of the host's page; renewed, those before it lead nowhere."""
    with app.store.writing() as connection:
        number = _number(connection) + renew
        if renew:
            facts.set_fact(connection, LINK, str(number))
    return app.links.host(number)


def opens(app: App, token: str) -> bool:
    """Whether this is the token of the host's page."""
    with app.store.reading() as connection:
        return same(app.links.host(_number(connection)), token)


def _number(connection: Connection) -> int:
    return int(facts.get_facts(connection, [LINK]).get(LINK, 0))


def finish(app: App, table: str) -> None:
    """Bots take every seat and play the table to its end; the log says that the house did so, and players are told."""
    with judging.at_table(app, table) as work:
        if work.locked.table.phase != "playing":
            raise Refused("Only a table that is being played can be finished.")
        held = [number for number, seat in enumerate(work.locked.table.seats) if seat.status == "taken"]
        work.locked = judging.carry_out_for_server(work.locked, *(Move("relieve", (str(seat),)) for seat in held))


def readdress(app: App, person: int, text: str) -> None:
    """A person's letters go to another address from now on; what did not reach the old one is written again."""
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
    """A letter that was refused or given up is tried once more; one that is out of date is passed over as always."""
    with app.store.writing() as connection:
        own = update(letters).where(letters.c.id == letter, letters.c.outcome != "sent")
        again = own.values(sent_at=None, outcome="", tries=0, due_at=app.now())
        if not connection.execute(again).rowcount:
            raise Refused("This letter was sent already, or there is none with this number.")
    app.wakeups.wake("post")
