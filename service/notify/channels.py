"""The channels of a player: adding, listing, choosing their notices, removing, and switching off after failures.

A notice is what a channel sends.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from msgspec import Struct, structs
from sqlalchemy import Connection

from engine.refusal import Refused
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store import channel_queries, queries
from service.store.channel_queries import ChannelRow
from service.store.schema import channels as channel_table

DEFAULT_GROUPS = ("turn", "reminder", "news", "invitation", "end")  # the others are for those who choose them
# Each kind of letter belongs to one of these, or goes by mail alone; see `workers/outgoing/letter.py`.
GROUPS = (*DEFAULT_GROUPS, "talk", "digest")
MAX_CHANNELS = 20  # of a person
MAX_LABEL_CHARS, MAX_ADDRESS_CHARS, MAX_ERROR_CHARS = 60, 2_000, 300
FAILING_MAX_S = 3 * DAY_S  # a channel that takes nothing for this long is switched off
FAILING_MIN_TIMES = 10
NO_FAILURES: dict[str, Any] = {"failures": 0, "failing_since": None, "error": ""}
WORKING_STATE = NO_FAILURES | {"disabled_at": None}
Outcome = Literal["sent", "gone", "refused", "retry"]


class NewChannel(Struct, frozen=True):
    """A channel to add; `secret` is in the form that its sender reads.

    A channel with a table gets the notices of that table alone, as long as the seat's link has this number.
    """

    kind: str
    label: str
    address: str
    secret: str = ""
    groups: Collection[str] = DEFAULT_GROUPS
    table: str = ""
    link_number: int = 0


def add(db: Connection, person: ProvenPerson, new: NewChannel, now: int) -> int:
    """Add a channel and return its number, and owe its owner a letter about it.

    If the person has a channel with this address, for all tables or for the same one, it gets the new secret and is
    switched on, and no letter is owed. Raise Refused if the person has too many channels, or the address is too long.
    """
    own = (channel_table.c.person == person.id, channel_table.c.kind == new.kind)
    same = channel_queries.list_channels(db, *own, channel_table.c.address == new.address)
    for old in same:
        if old.table in ("", new.table):  # for all tables, or for the same one
            link_number = new.link_number if old.table else 0  # for all tables it depends on no link
            values = {**WORKING_STATE, "secret": new.secret, "link_number": link_number}
            channel_queries.update_channel(db, old.id, **values)
            return old.id
    if not new.table:  # it gets the notices of all tables, so channels for single tables would repeat them
        channel_queries.delete_channels(db, *own, channel_table.c.address == new.address)
    if len(list_own(db, person)) >= MAX_CHANNELS:
        raise Refused("You have {most} ways to be told already; please remove one first.", most=MAX_CHANNELS)
    if len(new.address) > MAX_ADDRESS_CHARS:
        raise Refused("This address is too long; it may have {most} characters.", most=MAX_ADDRESS_CHARS)
    row = {**structs.asdict(new), "person": person.id, "created_at": now}
    row |= {"label": _clean_label(new.label) or new.kind, "groups": _join_groups(new.groups)}
    number = channel_queries.insert_channel(db, row)
    notify_owner(db, person, f"channel/{number}", now)
    return number


def notify_owner(db: Connection, person: ProvenPerson, what: str, now: int) -> None:
    """Owe a person the letter that says what was added, for example `channel/5`: a stranger may have done it.

    Knowing a private link is enough to add a channel, a chat or feeds for its owner.
    """
    queries.owe_personal_letter(db, person.id, f"added/{what}", now)


def _join_groups(groups: Collection[str]) -> str:
    """Return the text to store for these groups, in their usual order; a word that is no group is left out."""
    return " ".join(group for group in GROUPS if group in groups)


def _clean_label(text: str) -> str:
    """Return a label without control characters, on one line, and not too long."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())[:MAX_LABEL_CHARS]


def list_own(db: Connection, person: ProvenPerson) -> list[ChannelRow]:
    """Return all channels of a person, the oldest first."""
    return channel_queries.list_channels(db, channel_table.c.person == person.id)


def find_own(db: Connection, person: ProvenPerson, channel: int) -> ChannelRow | None:
    """Return this channel of a person; None if it is gone or belongs to another."""
    rows = channel_queries.list_channels(db, channel_table.c.person == person.id, channel_table.c.id == channel)
    return rows[0] if rows else None


def find(db: Connection, channel: int) -> ChannelRow | None:
    """Return the channel with this number; None if it is gone."""
    rows = channel_queries.list_channels(db, channel_table.c.id == channel)
    return rows[0] if rows else None


def choose_groups(db: Connection, channel: ChannelRow, groups: Collection[str]) -> None:
    """Choose the groups of notices that a channel gets."""
    channel_queries.update_channel(db, channel.id, groups=_join_groups(groups))


def remove(db: Connection, person: ProvenPerson, channel: int) -> bool:
    """Remove a channel and what is on its way; return False if it belongs to another."""
    own = (channel_table.c.person == person.id, channel_table.c.id == channel)
    return bool(channel_queries.delete_channels(db, *own))


def remove_others(db: Connection, person: ProvenPerson, keep: Collection[int]) -> None:
    """Remove all channels of a person but these."""
    channel_queries.delete_channels(db, channel_table.c.person == person.id, channel_table.c.id.not_in(keep))


def remove_all(db: Connection, person: int) -> None:
    """Remove all channels of a person."""
    channel_queries.delete_channels(db, channel_table.c.person == person)


def remove_address(db: Connection, kind: str, address: str) -> None:
    """Remove the channels of all people to an address that is gone, or whose owner has withdrawn it."""
    channel_queries.delete_channels(db, channel_table.c.kind == kind, channel_table.c.address == address)


def record_success(db: Connection, channel: ChannelRow, now: int) -> None:
    """Record that a channel took a notice."""
    channel_queries.update_channel(db, channel.id, **NO_FAILURES, ok_at=now)


def record_failure(db: Connection, channel: ChannelRow, now: int, why: str) -> None:
    """Record that a channel did not take a notice; after days without success switch it off and tell its owner."""
    failures = channel.failures + 1
    since = now if channel.failing_since is None else channel.failing_since
    values = {"failures": failures, "failing_since": since, "error": why[:MAX_ERROR_CHARS]}
    channel_queries.update_channel(db, channel.id, **values)
    if failures >= FAILING_MIN_TIMES and now - since >= FAILING_MAX_S:
        switch_off(db, channel, now, why)


def record_gone(db: Connection, channel: ChannelRow, now: int, why: str) -> None:
    """Remove a browser that takes no notices any more, or switch off another channel and tell its owner."""
    if channel.kind == "push":  # its owner needs no letter: the browser itself has ended the subscription
        channel_queries.delete_channels(db, channel_table.c.id == channel.id)
    else:
        switch_off(db, channel, now, why)


def switch_off(db: Connection, channel: ChannelRow, now: int, why: str) -> None:
    """Send no more notices to a channel, and owe its owner a letter that says so, unless it is off already."""
    if channel.disabled_at is None:
        channel_queries.update_channel(db, channel.id, disabled_at=now, error=why[:MAX_ERROR_CHARS])
        queries.owe_personal_letter(db, channel.person, f"channel/{channel.id}/{now}", now)


def switch_on(db: Connection, channel: ChannelRow) -> None:
    """Send notices to a channel again."""
    channel_queries.update_channel(db, channel.id, **WORKING_STATE)


def wants(channel: ChannelRow, group: str) -> bool:
    """Return whether a channel gets the notices of this group."""
    return group in channel.groups.split()


class Notice(Struct, frozen=True):
    """A few words to a player, the same by all channels.

    `id` is the same each time that a notice is sent, so that a receiver recognises it. `subject` names the table and
    the group: a newer notice of the same subject replaces an older one. `link` is a capability: it leads to the
    reader's seat, and a channel sends it only where the reader alone sees it. `waiting` counts the reader's tables that
    wait for a move, and `deadline` is that of the reader's turn.
    """

    id: str
    kind: str
    group: str
    subject: str
    title: str
    sentence: str
    link: str
    language: str
    at: int
    table: str = ""
    game: str = ""
    deadline: int | None = None
    waiting: int = 0


class SenderAnswer(Struct, frozen=True):
    """The result of sending a notice once.

    `gone`: the other end does not exist any more, and gets nothing more. `refused`: this notice is not taken, and
    trying again does not help. `retry`: try again, after `pause_s` seconds if the other end names a time. The owner of
    the channel and the host read `why`.
    """

    outcome: Outcome
    why: str = ""
    pause_s: int = 0
