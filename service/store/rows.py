"""Rows of the database as code sees them: one struct for each table of which whole rows are read."""

from __future__ import annotations

from msgspec import Struct


class TableRow(Struct, frozen=True):
    """A row of `tables`, column by column."""

    id: str
    game: str
    edition: int
    seats: int
    seed: bytes
    commitment: str
    phase: str
    length: int
    head: str
    pace: int
    spectator_link: str
    allows_spectators: bool
    seeking: bool
    shown: bool
    awaits_confirmation: bool
    opened_at: int
    moved_at: int
    ended_at: int | None
    draws_at: int | None
    moved_to: str
    opening: str | None
    visitor: str
    last_remark: int  # its number, which grows with every remark; 0 if there is none


class SeatRow(Struct, frozen=True):
    """A row of `seats`, column by column, and what is known of its player; `person` is None for bots and open seats."""

    table: str
    seat: int
    person: int | None
    name: str
    status: str
    link: str
    link_number: int
    open_since: int | None
    due_at: int | None
    remind_at: int | None
    late_at: int | None
    clock_from: int | None
    clock_left: int | None
    misses: int
    orders: int
    letter_settings: str
    note: str
    released: bool
    place: int | None
    level: str
    proven: bool
    seen_at: int | None
    calendar: str | None
    player_letter_settings: str | None  # for all tables
    confirmed_at: int | None
    bounced_at: int | None
    settings_number: int | None
    has_channels: bool  # beside mail
    is_followed: bool  # whether a chat follows the table


class EntryRow(Struct, frozen=True):
    """A row of `entries`, column by column."""

    table: str
    seq: int
    body: str
    digest: str
    hash: str


class SubmissionRow(Struct, frozen=True):
    """A row of `submissions`, column by column."""

    id: int
    source: str
    key: str
    table: str
    seat: int
    move: str
    seen: int | None
    by_mail: bool
    at: int
    accepted: bool | None
    sentence: str
    rule: str
    seq: int | None
    tries: int


class FollowerRow(Struct, frozen=True):
    """A row of `followers`, column by column."""

    id: int
    table: str
    person: int
    kind: str
    address: str
    secret: str
    pictures: bool
    language: str
    next_seq: int
    end_seq: int | None
    created_at: int
    due_at: int
    failures: int
    failing_since: int | None
    error: str
    disabled_at: int | None
    sent: int
    failed: int
