"""Notices: what a channel sends, and what came of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Outcome = Literal["sent", "gone", "refused", "retry"]


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
