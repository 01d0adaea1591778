"""The senders of channels: for each kind of channel, the function that sends a notice and returns the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from service.app import App
from service.store.channel_queries import ChannelRow
from workers.outgoing.notice import Notice

Outcome = Literal["sent", "gone", "refused", "retry"]


class SenderAnswer(Struct, frozen=True):
    """The result of sending a notice once.

    `gone`: the other end does not exist any more, and gets nothing more. `refused`: this notice is not taken, and
    trying again does not help. `retry`: try again, after `pause_s` seconds if the other end names a time. The owner of
    the channel and the host read `why`.
    """

    outcome: Outcome
    why: str = ""
    pause_s: int = 0


Sender = Callable[[App, ChannelRow, Notice], SenderAnswer]
SENDERS: dict[str, Sender] = {}
