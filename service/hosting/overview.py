"""The overview for the host: tables and the seats they wait for, letters that failed, bounced addresses, disk space.

It shows no hand, draw, link or note.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, exists, func, or_, select, update

from engine.menu import Move
from engine.refusal import Refused
from service.app import App
from service.links import is_same_secret
from service.people import register
from service.settings import DAY_S
from service.store import channel_queries, queries
from service.store.schema import followers, letters, people, refused_mails, seats, tables
from service.tables import judging

MAX_ROWS = 100
COUNT_AGE_S = 30 * DAY_S  # of the letters and notices that are counted
FAILED_OUTCOMES = ("gone", "refused", "given up")  # beginnings of outcomes


class TableOverview(Struct, frozen=True):
    """A table as the host sees it."""

    id: str
    game: str
    phase: str
    moved_at: int
    waits_for: tuple[str, ...]
    due_at: int | None


class ChannelCount(Struct, frozen=True):
    """The notices that left by one kind of channel, and those that failed."""

    kind: str
    sent: int
    failed: int


class Overview(Struct, frozen=True):
    """The server at one moment."""

    version: str
    revision: str  # of the database's schema
    free_mb: int | None  # disk space, where the database is on this disk
    phases: dict[str, int]
    tables: tuple[TableOverview, ...]
    owed: int
    sent: tuple[ChannelCount, ...]  # of the last weeks
    stuck: Sequence[Any]
    bounced: Sequence[Any]
    refused_mails: Sequence[Any]


def load_overview(app: App, table: str = "") -> Overview:
    """Load the overview, with the tables that moved last, or only this table."""
    is_on_this_disk = app.store.url.startswith("sqlite")
    revision = app.store.find_revision()
    unsent = select(func.count()).where(letters.c.sent_at.is_(None))
    with app.store.reading() as connection:
        return Overview(
            version=metadata.version("depesche"),
            revision=revision,
            free_mb=shutil.disk_usage(app.settings.folder).free // 2**20 if is_on_this_disk else None,
            phases=_count_phases(connection),
            tables=_list_tables(connection, table),
            owed=int(connection.execute(unsent).scalar_one()),
            sent=_count_sent(connection, app.now() - COUNT_AGE_S),
            stuck=_list_stuck_letters(connection),
            bounced=_list_bounced_people(connection),
            refused_mails=_list_refused_mails(connection),
        )


def _count_sent(connection: Connection, since: int) -> tuple[ChannelCount, ...]:
    """Count letters, deliveries by each kind of channel, and news to chats that follow a table.

    What was withdrawn or not wanted counts as neither. The news are those of all time.
    """
    rows = [*_count_letters(connection, since), *channel_queries.count_outcomes(connection, since)]
    sent, failed = Counter[str](), Counter[str]()
    for kind, outcome, count in rows:
        if outcome == "sent":
            sent[kind] += count
        elif outcome.startswith(FAILED_OUTCOMES):
            failed[kind] += count
    counted = [ChannelCount(kind, sent[kind], failed[kind]) for kind in sorted({kind for kind, _, _ in rows})]
    sums = (func.coalesce(func.sum(followers.c.sent), 0), func.coalesce(func.sum(followers.c.failed), 0))
    count, sent_news, failed_news = connection.execute(select(func.count(), *sums).select_from(followers)).one()
    if count:
        counted.append(ChannelCount("chats of tables", int(sent_news), int(failed_news)))
    return tuple(counted)


def _count_letters(connection: Connection, since: int) -> list[tuple[str, str, int]]:
    """Count the letters with each outcome."""
    query = select(letters.c.outcome, func.count()).where(letters.c.sent_at >= since).group_by(letters.c.outcome)
    return [("letters", outcome, count) for outcome, count in connection.execute(query)]


def _count_phases(connection: Connection) -> dict[str, int]:
    """Count the tables in each phase."""
    counted = select(tables.c.phase, func.count().label("number")).group_by(tables.c.phase)
    return {row.phase: row.number for row in connection.execute(counted)}


def _list_tables(connection: Connection, table: str) -> tuple[TableOverview, ...]:
    """Describe the tables that moved last and are not over, or only this one."""
    condition = tables.c.id == table if table else tables.c.phase != "over"
    rows = connection.execute(select(tables).where(condition).order_by(tables.c.moved_at.desc()).limit(MAX_ROWS)).all()
    sitting: dict[str, list[Any]] = {row.id: [] for row in rows}
    for seat in connection.execute(select(seats).where(seats.c.table.in_(sitting)).order_by(seats.c.seat)).all():
        sitting[seat.table].append(seat)
    return tuple(_describe_table(row, sitting[row.id]) for row in rows)


def _describe_table(row: Any, sitting: Sequence[Any]) -> TableOverview:
    """Describe a table: it waits for players to sit down, or for those who are to move."""
    if row.phase == "gathering":
        waits = [seat for seat in sitting if seat.status in ("invited", "open")]
    else:
        waits = [seat for seat in sitting if seat.open_since is not None]
    due = min((seat.due_at for seat in waits if seat.due_at is not None), default=None)
    return TableOverview(row.id, row.game, row.phase, row.moved_at, tuple(seat.name for seat in waits), due)


def _list_stuck_letters(connection: Connection) -> Sequence[Any]:
    """Return letters that were refused or given up, or that failed and wait for another try; the newest first."""
    addressed = letters.outerjoin(
        seats, (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
    ).outerjoin(people, people.c.id == func.coalesce(letters.c.person, seats.c.person))
    columns = (letters.c.id, letters.c.kind, letters.c.table, letters.c.sent_at, letters.c.tries, letters.c.outcome)
    refused = or_(letters.c.outcome.startswith("refused"), letters.c.outcome.startswith("given up"))
    waiting = letters.c.sent_at.is_(None) & (letters.c.tries > 0)
    query = select(*columns, people.c.address).select_from(addressed).where(or_(refused, waiting))
    return connection.execute(query.order_by(letters.c.id.desc()).limit(MAX_ROWS)).all()


def _list_bounced_people(connection: Connection) -> Sequence[Any]:
    """List the people whose address takes no letters, the latest first."""
    query = select(people.c.id, people.c.address, people.c.name, people.c.bounce, people.c.bounced_at)
    return connection.execute(
        query.where(people.c.bounced_at.is_not(None)).order_by(people.c.bounced_at.desc()).limit(MAX_ROWS)
    ).all()


def _list_refused_mails(connection: Connection) -> Sequence[Any]:
    """Return the mails that could not be processed, without their text; the newest first."""
    columns = (refused_mails.c.id, refused_mails.c.at, refused_mails.c.recipient, refused_mails.c.why)
    return connection.execute(select(*columns).order_by(refused_mails.c.id.desc()).limit(MAX_ROWS)).all()


LINK_FACT = "host"  # the row with the number of the host's link


def get_link(app: App, *, renew: bool = False) -> str:
    """Return the token of the host's page; `renew` makes a new one, and the old ones stop working."""
    with app.store.writing() as connection:
        number = _get_link_number(connection)
        if renew:
            number += 1
            queries.set_fact(connection, LINK_FACT, str(number))
    return app.links.make_host_token(number)


def is_host_link(app: App, token: str) -> bool:
    """Return whether this is the token of the host's page."""
    with app.store.reading() as connection:
        return is_same_secret(app.links.make_host_token(_get_link_number(connection)), token)


def _get_link_number(connection: Connection) -> int:
    """Return the number of the host's link; each new link has the next number, and ends the one before."""
    return int(queries.get_facts(connection, [LINK_FACT]).get(LINK_FACT, 0))


def finish_table(app: App, table: str) -> None:
    """Let bots take every seat and play the game to its end; the log shows it, and the players are notified."""
    with judging.at_table(app, table) as work:
        if work.locked.position.phase != "playing":
            raise Refused("Only a table that is being played can be finished.")
        commands = list[Move]()
        for number, seat in enumerate(work.locked.position.seats):
            if seat.status == "taken":
                commands.append(Move("relieve", (str(number),)))  # lets a bot play for this seat
        work.locked = judging.carry_out_for_server(work.locked, *commands)


def change_address(app: App, person: int, text: str) -> None:
    """Give a person another address, not proven yet; letters of tables that bounced at the old one are sent again."""
    address = register.clean_address(text)
    with app.store.writing() as connection:
        taken = connection.execute(select(people.c.id).where(people.c.address == address)).scalar_one_or_none()
        if taken is not None:
            raise Refused("This address is taken; each address belongs to one person.")
        new_address = {"address": address, "mailbox": register.name_mailbox(address)}
        unproven = {"confirmed_at": None, "bounced_at": None, "bounce": ""}
        own = update(people).where(people.c.id == person)
        if not connection.execute(own.values(**new_address, **unproven)).rowcount:
            raise Refused("There is no such person.")
        is_own_seat = (seats.c.table == letters.c.table, seats.c.seat == letters.c.seat, seats.c.person == person)
        bounced = update(letters).where(exists().where(*is_own_seat), letters.c.outcome == "address bounced")
        connection.execute(bounced.values(sent_at=None, outcome="", tries=0, due_at=app.now()))
    app.wakeups.wake("post")


def send_again(app: App, letter: int) -> None:
    """Send a letter again that was refused or given up; it is skipped if it is out of date."""
    with app.store.writing() as connection:
        own = update(letters).where(letters.c.id == letter, letters.c.outcome != "sent")
        again = own.values(sent_at=None, outcome="", tries=0, due_at=app.now())
        if not connection.execute(again).rowcount:
            raise Refused("This letter was sent already, or there is none with this number.")
    app.wakeups.wake("post")
