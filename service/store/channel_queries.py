"""Statements about channels and deliveries. `service/notify/__init__.py` says what these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from service.store.queries import insert_into
from service.store.schema import channels, deliveries, letters, people, seats

FRESH_S = 300  # how far from its time a letter is fresh
IS_READER = people.c.id == func.coalesce(letters.c.person, seats.c.person)
IS_SEAT = (seats.c.table == letters.c.table) & (seats.c.seat == letters.c.seat)
# A channel for one table ends with the link of the seat that it was added by.
REACHES_TABLE = (channels.c.table == letters.c.table) & (channels.c.link_number == seats.c.link_number)
REACHES = and_(
    channels.c.person == func.coalesce(letters.c.person, seats.c.person),
    channels.c.disabled_at.is_(None),
    or_(channels.c.table == "", REACHES_TABLE),
)
LETTERS_WITH_READERS = select(
    *(column for column in letters.c if column.name != "person"),
    *(people.c.id.label("person"), people.c.address, people.c.language, people.c.chose, people.c.settings_number),
    *(people.c.calendar, people.c.letter_settings, people.c.bounced_at),
    *(func.coalesce(seats.c.name, people.c.name).label("name"), seats.c.due_at.label("deadline")),
    *(seats.c.letter_settings.label("seat_letter_settings"), seats.c.proven, seats.c.link_number),
    exists()
    .where(channels.c.person == people.c.id, channels.c.disabled_at.is_(None), channels.c.groups.contains("digest"))
    .label("has_digest_channel"),
).select_from(letters.outerjoin(seats, IS_SEAT).outerjoin(people, IS_READER))
OPEN_DELIVERIES = (
    select(deliveries.c.id, deliveries.c.letter, deliveries.c.channel, deliveries.c.created_at, deliveries.c.tries)
    .where(deliveries.c.ended_at.is_(None))
    .order_by(deliveries.c.due_at, deliveries.c.id)
    .with_for_update(skip_locked=True)
)
NOW = bindparam("now", type_=BigInteger)
CONFIRMS = bindparam("confirms", type_=Boolean)
IS_GATHERED = letters.c.kind.startswith("talk/")  # it waits for what else is said within a minute
HAS_DELIVERY = exists().where(deliveries.c.letter == letters.c.id, deliveries.c.channel == channels.c.id)
# Where addresses are confirmed, an unproven seat has no deliveries but of its invitation.
IS_PROVEN = or_(~CONFIRMS, letters.c.table == "", seats.c.proven, letters.c.kind == "invitation")
# A letter that has just been owed: it is due now, or that of a turn in a minute. The post takes care of all others.
IS_FRESH = letters.c.due_at.between(NOW - FRESH_S, NOW + FRESH_S)
# The deliveries that are missing: of letters that are not sent, by the channels that reach their readers.
NEW_DELIVERIES = (
    select(letters.c.id, letters.c.table, channels.c.id, NOW, case((IS_GATHERED, letters.c.due_at), else_=NOW))
    .select_from(letters.outerjoin(seats, IS_SEAT).join(channels, REACHES))
    .where(letters.c.sent_at.is_(None), IS_PROVEN, ~HAS_DELIVERY)
)
HAS_CHANNELS = exists().select_from(channels)
ANY_CHANNEL = select(channels.c.id).limit(1)
HAS_DUE = exists().where(deliveries.c.ended_at.is_(None), deliveries.c.due_at <= NOW)
HAS_FRESH = and_(HAS_CHANNELS, NEW_DELIVERIES.where(IS_FRESH).exists())
HAS_WORK = select(or_(HAS_DUE, HAS_FRESH))


class ChannelRow(Struct, frozen=True):
    """A row of `channels`, column by column."""

    id: int
    person: int
    kind: str
    table: str
    link_number: int
    label: str
    address: str
    secret: str
    groups: str
    created_at: int
    ok_at: int | None
    failures: int
    failing_since: int | None
    error: str
    disabled_at: int | None


def wants_group(person: ColumnElement[Any], group: str) -> ColumnElement[bool]:
    """The condition that a person has a channel beside mail that gets the notices of this group."""
    own = (channels.c.person == person, channels.c.disabled_at.is_(None))
    has_group = (" " + channels.c.groups + " ").contains(f" {group} ")  # the stored groups are separated by blanks
    return exists().where(*own, has_group)


def insert_deliveries(db: Connection, now: int, confirms: bool, numbers: Sequence[int] | None = None) -> bool:
    """Insert the missing deliveries of the letters with these numbers, or of all fresh letters; return whether any.

    A letter is fresh within FRESH_S of its due time. `confirms` is whether this server confirms addresses: then an
    unproven seat gets no notice but its invitation. The worker that sends letters calls this for each letter: so no
    delivery is lost, even if no other worker runs.
    """
    new = NEW_DELIVERIES.where(IS_FRESH if numbers is None else letters.c.id.in_(numbers))
    columns = ["letter", "table", "channel", "created_at", "due_at"]
    statement = insert_into(db.dialect.name, deliveries).from_select(columns, new).on_conflict_do_nothing()
    return bool(db.execute(statement, {"now": now, "confirms": confirms}).rowcount > 0)


def has_work(db: Connection, now: int, confirms: bool) -> bool:
    """Return whether a delivery is due, or `insert_deliveries` would insert one for a fresh letter."""
    return bool(db.execute(HAS_WORK, {"now": now, "confirms": confirms}).scalar_one())


def lease_deliveries(db: Connection, now: int, lease_s: int, most: int) -> Sequence[Any]:
    """Lease at most `most` deliveries that are due: until the lease ends, other workers leave them alone.

    Each lease counts as a try; the `tries` of the rows that are returned are those before it.
    """
    rows = db.execute(OPEN_DELIVERIES.where(deliveries.c.due_at <= now).limit(most)).all()
    if rows:
        due = update(deliveries).where(deliveries.c.id.in_([row.id for row in rows]))
        db.execute(due.values(due_at=now + lease_s, tries=deliveries.c.tries + 1))
    return rows


def find_first_delivery_time(db: Connection, letter: int) -> int | None:
    """Return when a letter was first given to a channel that took it, or that may still take it; None if none does."""
    # A first try may still arrive; a second one means that the first has failed.
    may_arrive = or_(deliveries.c.ended_at.is_(None) & (deliveries.c.tries <= 1), deliveries.c.outcome == "sent")
    first = select(func.min(deliveries.c.created_at)).where(deliveries.c.letter == letter, may_arrive)
    at: int | None = db.execute(first).scalar_one_or_none()
    return at


def end_delivery(db: Connection, delivery: int, now: int, outcome: str) -> None:
    """Record the outcome of a delivery, which is then no longer due."""
    db.execute(update(deliveries).where(deliveries.c.id == delivery).values(ended_at=now, outcome=outcome))


def postpone_delivery(db: Connection, delivery: int, due_at: int, tries: int, why: str = "") -> None:
    """Make a delivery due later, with the number of its tries and the reason why it failed."""
    db.execute(update(deliveries).where(deliveries.c.id == delivery).values(due_at=due_at, tries=tries, outcome=why))


def delete_old_deliveries(db: Connection, before: int) -> None:
    """Delete deliveries that ended before this moment."""
    db.execute(delete(deliveries).where(deliveries.c.ended_at < before))


def count_outcomes(db: Connection, since: int) -> list[tuple[str, str, int]]:
    """Count the deliveries that have ended since then: return kind of channel, outcome and count for each pair."""
    query = select(channels.c.kind, deliveries.c.outcome, func.count()).select_from(deliveries.join(channels))
    grouped = query.where(deliveries.c.ended_at >= since).group_by(channels.c.kind, deliveries.c.outcome)
    return [(kind, outcome, count) for kind, outcome, count in db.execute(grouped)]


def list_channels(db: Connection, *which: ColumnElement[bool]) -> list[ChannelRow]:
    """Return the channels that meet these conditions, the oldest first."""
    return [ChannelRow(*row) for row in db.execute(select(channels).where(*which).order_by(channels.c.id))]


def insert_channel(db: Connection, values: Mapping[str, Any]) -> int:
    """Insert a channel and return its number."""
    return int(db.execute(insert(channels).returning(channels.c.id), dict(values)).scalar_one())


def update_channel(db: Connection, channel: int, **values: Any) -> None:
    """Change columns of a channel."""
    db.execute(update(channels).where(channels.c.id == channel).values(**values))


def delete_channels(db: Connection, *which: ColumnElement[bool]) -> int:
    """Delete channels with their deliveries; return how many channels there were."""
    return int(db.execute(delete(channels).where(*which)).rowcount)
