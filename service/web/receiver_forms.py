"""The parts that the pages of receivers share: the list, the form for a new one, and the answer to a test."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request
from msgspec import Struct

from service.notify import webhooks
from service.notify.webhooks import HookOutcome, Target
from service.store.channel_queries import ChannelRow
from service.store.rows import FollowerRow
from service.text.languages import Sentence

NAMED_KINDS = tuple(webhooks.NAMES.items())  # of receivers, with their names
MAX_ANSWER_CHARS = 400  # of the answer to a test


class ReceiverRow(Struct, frozen=True):
    """A webhook or a chat in the list; the error is that of its last failure."""

    number: int
    kind: str
    label: str
    host: str
    secret: str  # of Standard Webhooks, which its program has to know
    error: str
    is_off: bool


class TriedReceiver(Struct, frozen=True):
    """The answer to a test: the status and the text, or why there was none."""

    label: str
    worked: bool
    status: int
    text: str
    why: Sentence


class ReceiverForm(Struct, frozen=True):
    """The form for a receiver as it was filled in."""

    kind: str
    label: str
    address: str


def parse_target() -> Target:
    """Return the receiver that the form describes; raise Refused with the reason if there can be none."""
    form = request.form
    return webhooks.make_target(form.get("kind", ""), form.get("address", ""), form.get("token", ""))


def copy_form() -> ReceiverForm:
    """Return the form as this request sent it, to show it again; all fields are empty if the request sent none."""
    form = request.form
    return ReceiverForm(form.get("kind", ""), form.get("label", ""), form.get("address", ""))


def describe_receiver(receiver: ChannelRow | FollowerRow, label: str) -> ReceiverRow:
    """Describe a channel of a person or a chat of a table in the list."""
    return ReceiverRow(
        number=receiver.id,
        kind=webhooks.NAMES[receiver.kind],
        label=label,
        host=urlsplit(receiver.address).hostname or "",
        secret=webhooks.get_newest_secret(receiver.secret) if receiver.kind == "webhook" else "",
        error=receiver.error,
        is_off=receiver.disabled_at is not None,
    )


def describe_outcome(label: str, outcome: HookOutcome) -> TriedReceiver:
    """Describe the answer of a receiver to a test."""
    worked = outcome.outcome == "sent"
    return TriedReceiver(label, worked, outcome.status, outcome.text[:MAX_ANSWER_CHARS], outcome.why)


def works_again(receiver: ChannelRow | FollowerRow, outcome: HookOutcome) -> bool:
    """Return whether a receiver that failed, or was switched off, has now taken a test."""
    has_failed = receiver.failures > 0 or receiver.disabled_at is not None
    return has_failed and outcome.outcome == "sent"
