"""Followers, the chats that follow a table: its organiser adds them, and they get what spectators may know.

The secrets of all webhooks, those of players too, are renewed here if they may have leaked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select, update

from engine.refusal import Refused
from service.app import App
from service.notify import channels, webhooks
from service.notify.channels import (
    FAILING_MAX_S,
    FAILING_MIN_TIMES,
    MAX_ADDRESS_CHARS,
    MAX_ERROR_CHARS,
    NO_FAILURES,
    WORKING_STATE,
)
from service.notify.webhooks import HookOutcome, Target
from service.people.proof import ProvenPerson
from service.store import channel_queries, queries
from service.store.rows import FollowerRow, TableRow
from service.store.schema import channels as channel_table
from service.store.schema import followers, tables
from service.timing import compute_retry_pause

MAX_FOLLOWERS = 3  # of a table
MAX_BATCH = 8
IS_OWN_TABLE = tables.c.id == followers.c.table
HAS_NEWS = (tables.c.length > followers.c.next_seq) & tables.c.allows_spectators & (tables.c.moved_to == "")
IS_ON = followers.c.disabled_at.is_(None)


def has_due(now: Any) -> Any:
    """Return the condition that a chat has to get news at the moment `now`, a number or a parameter of a statement."""
    return exists().where(IS_ON, followers.c.due_at <= now, IS_OWN_TABLE, HAS_NEWS)


def select_due(now: int) -> Any:
    """Select whether a chat has to get news now."""
    return select(has_due(now))


def add(app: App, person: ProvenPerson, table: TableRow, target: Target, language: str, *, pictures: bool) -> None:
    """Let a chat follow a table from now on, and owe its organiser a letter about it.

    A chat that was switched off works again. Raise Refused if its address is too long or not on the Internet, or if the
    table has too many followers.
    """
    if target.kind != "telegram":  # its address is the number of a chat
        app.client.check(target.address)
    if len(target.address) > MAX_ADDRESS_CHARS:
        raise Refused("This address is too long; it may have {most} characters.", most=MAX_ADDRESS_CHARS)
    row = {"table": table.id, "person": person.id, "kind": target.kind, "address": target.address}
    row |= {"secret": target.secret, "pictures": pictures, "language": language, "next_seq": table.length}
    now = app.now()
    with app.store.writing() as db:
        same = (followers.c.table == table.id, followers.c.address == target.address)
        db.execute(delete(followers).where(*same))
        if len(list_followers(db, followers.c.table == table.id)) >= MAX_FOLLOWERS:
            raise Refused("At most {most} chats can follow a table; please remove one first.", most=MAX_FOLLOWERS)
        made = db.execute(insert(followers).returning(followers.c.id), {**row, "created_at": now, "due_at": now})
        channels.notify_owner(db, person, f"follower/{made.scalar_one()}", now)
    app.wakeups.wake("post")


def list_followers(db: Connection, *which: Any) -> list[FollowerRow]:
    """Return the chats that meet these conditions, the oldest first."""
    return [FollowerRow(*row) for row in db.execute(select(followers).where(*which).order_by(followers.c.id))]


def find(db: Connection, table: str, number: int) -> FollowerRow | None:
    """Return this chat of a table; None if it is gone or follows another table."""
    rows = list_followers(db, followers.c.table == table, followers.c.id == number)
    return rows[0] if rows else None


def remove(db: Connection, table: str, number: int) -> None:
    """Remove a chat from a table."""
    db.execute(delete(followers).where(followers.c.table == table, followers.c.id == number))


def remove_of_table(db: Connection, table: str) -> None:
    """Remove all chats from a table."""
    db.execute(delete(followers).where(followers.c.table == table))


def remove_all(db: Connection, person: int) -> None:
    """Remove all chats that a person has added to tables."""
    db.execute(delete(followers).where(followers.c.person == person))


def lease(db: Connection, now: int, lease_s: int) -> Sequence[FollowerRow]:
    """Lease chats that have to get news: other workers leave them alone until the lease ends.

    The news goes up to, not including, the entry `end_seq`. A chat keeps that until its news has arrived, so that each
    try sends the same.
    """
    due = select(followers.c.id).where(IS_ON, followers.c.due_at <= now, IS_OWN_TABLE, HAS_NEWS)
    oldest = due.order_by(followers.c.due_at, followers.c.id).limit(MAX_BATCH)
    numbers = db.execute(oldest.with_for_update(skip_locked=True, of=followers)).scalars().all()
    if not numbers:
        return ()
    length = select(tables.c.length).where(IS_OWN_TABLE).scalar_subquery()
    chosen = followers.c.id.in_(numbers)
    db.execute(update(followers).where(chosen).values(due_at=now + lease_s))
    db.execute(update(followers).where(chosen, followers.c.end_seq.is_(None)).values(end_seq=length))
    return list_followers(db, chosen)


def switch_on(db: Connection, follower: FollowerRow, now: int) -> None:
    """Send news to a chat again: it has shown that it works."""
    _update(db, follower, **WORKING_STATE, due_at=now)


def record_sent(db: Connection, follower: FollowerRow, now: int) -> None:
    """Record that the news up to `end_seq` has arrived, or that there was none to tell; later news is due at once."""
    sent = followers.c.sent + 1
    _update(db, follower, **NO_FAILURES, due_at=now, next_seq=follower.end_seq, end_seq=None, sent=sent)


def record_failure(db: Connection, follower: FollowerRow, now: int, answer: HookOutcome) -> None:
    """Record that news did not arrive: try again later; when that does not help, switch off and tell the organiser.

    The column `failures` counts the failures in a row, and `failed` those of all time.
    """
    failures = follower.failures + 1
    since = now if follower.failing_since is None else follower.failing_since
    values: dict[str, Any] = {"failures": failures, "failing_since": since, "error": answer.summary[:MAX_ERROR_CHARS]}
    # The pause doubles with each failure before this one: the first pause is the shortest.
    values["due_at"] = now + compute_retry_pause(follower.failures, answer.pause_s)
    is_lasting = failures >= FAILING_MIN_TIMES and now - since >= FAILING_MAX_S
    if answer.outcome == "gone" or is_lasting:
        values["disabled_at"] = now
        queries.owe_personal_letter(db, follower.person, f"follower/{follower.id}/{now}", now)
    _update(db, follower, **values, failed=followers.c.failed + 1)


def _update(db: Connection, follower: FollowerRow, **values: Any) -> None:
    db.execute(update(followers).where(followers.c.id == follower.id).values(**values))


def renew_webhook_secrets(app: App) -> int:
    """Give all webhooks new secrets, and owe a letter to the owner of each; return how many there are.

    Until the next renewal messages are signed with the old secret, too, so that no receiver misses one.
    """
    now = app.now()
    with app.store.writing() as db:
        own = channel_queries.list_channels(db, channel_table.c.kind == "webhook")
        following = list_followers(db, followers.c.kind == "webhook")
        for channel in own:
            channel_queries.update_channel(db, channel.id, secret=webhooks.renew_secret(channel.secret))
            queries.owe_personal_letter(db, channel.person, f"secret/channel/{channel.id}/{now}", now)
        for follower in following:
            _update(db, follower, secret=webhooks.renew_secret(follower.secret))
            queries.owe_personal_letter(db, follower.person, f"secret/follower/{follower.id}/{now}", now)
    app.wakeups.wake("post")
    return len(own) + len(following)
