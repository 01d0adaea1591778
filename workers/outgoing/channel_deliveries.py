"""The queue `deliveries`: send each owed notice at least once by each channel of its reader that wants it.

A delivery is a row: a letter and a channel. While a process has it in hand, `due_at` is the end of that process's
lease; a delivery whose process died is due again when the lease ends, and is sent with the same id. Each step below is
one transaction; requests are sent outside of all transactions, several at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog
from msgspec import Struct
from sqlalchemy import Connection

from engine.catalogue import NotInstalled
from service.app import App
from service.notify import channels, web_push, webhooks
from service.notify.channels import Notice, SenderAnswer
from service.notify.webhooks import HookMessage, Target
from service.store import channel_queries
from service.store.channel_queries import ChannelRow
from service.store.schema import channels as channel_table
from service.timing import compute_retry_pause
from workers.jobs import StepResult, empty_queue, log_missing_game
from workers.outgoing import notices
from workers.outgoing.owed import OwedNotice, find_end_of_quiet_hours, load_owed

BATCH = 32
MAX_OUTCOME_CHARS = 500
THREADS = 8  # requests that one process sends at the same time
MAX_TRIES = 16  # about two days
log = structlog.get_logger()


class ClaimedDelivery(Struct, frozen=True):
    """A delivery that this process has leased; without its letter or its channel it has nothing to send.

    `tries` counts this one.
    """

    id: int
    created_at: int
    tries: int
    owed: OwedNotice | None
    channel: ChannelRow | None


class PreparedDelivery(Struct, frozen=True):
    """A notice on its way by one channel."""

    delivery: ClaimedDelivery
    channel: ChannelRow
    notice: Notice


def run() -> None:
    """Send notices until no delivery is due."""
    empty_queue("deliveries", send_batch, is_waiting)


def is_waiting(app: App) -> bool:
    """Return whether a delivery is due, or a letter that is owed has no delivery yet."""
    with app.store.reading() as db:
        return channel_queries.has_work(db, app.now(), app.settings.confirms)


def send_batch(app: App) -> StepResult:
    """Claim some deliveries that are due, write and send their notices."""
    batch = claim(app)
    prepared: list[PreparedDelivery] = []
    for delivery in batch:
        ready = prepare(app, delivery)
        if ready is not None:
            prepared.append(ready)
    if prepared:
        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(partial(send, app), prepared))
        with app.store.writing() as db:
            for sent, answer in zip(prepared, answers, strict=True):
                record(app, db, sent, answer)
    return StepResult.SOME if batch else StepResult.NONE


def claim(app: App) -> Sequence[ClaimedDelivery]:
    """Insert the deliveries that new letters lack, and lease some that are due, so that no other process sends them."""
    with app.store.writing() as db:
        channel_queries.insert_deliveries(db, app.now(), app.settings.confirms)
        rows = channel_queries.lease_deliveries(db, app.now(), app.settings.lease, BATCH)
        if not rows:
            return []
        owed_by_letter = {owed.letter: owed for owed in load_owed(db, [row.letter for row in rows])}
        is_of_row = channel_table.c.id.in_([row.channel for row in rows])
        channels_by_id = {channel.id: channel for channel in channel_queries.list_channels(db, is_of_row)}
    return [
        ClaimedDelivery(
            id=row.id,
            created_at=row.created_at,
            tries=row.tries + 1,
            owed=owed_by_letter.get(row.letter),
            channel=channels_by_id.get(row.channel),
        )
        for row in rows
    ]


def prepare(app: App, delivery: ClaimedDelivery) -> PreparedDelivery | None:
    """Write the notice of a delivery. Return None if it is not sent, or has to wait; that is recorded.

    To wait for the end of quiet hours does not count as a try.
    """
    owed, channel = delivery.owed, delivery.channel
    if owed is None or channel is None:
        end(app, delivery, "withdrawn")
        return None
    if obstacle := find_obstacle(owed, channel):
        end(app, delivery, obstacle)
        return None
    if owed.kind.waits and (until := find_end_of_quiet_hours(app, owed)):
        with app.store.writing() as db:
            channel_queries.postpone_delivery(db, delivery.id, until, delivery.tries - 1)
        return None
    try:
        notice = notices.write(app, owed, delivery.created_at)
    except Exception as error:
        _retry_unwritten(app, delivery, owed, channel, error)
        return None
    if notice is None:
        end(app, delivery, "withdrawn")
        return None
    return PreparedDelivery(delivery, channel, notice)


def find_obstacle(owed: OwedNotice, channel: ChannelRow) -> str:
    """Return why a notice does not go by this channel; empty if it does.

    The seat may have another player since the delivery was made, or a new link, which ends the channels that were
    added by the old one.
    """
    has_other_link = bool(channel.table) and channel.link_number != owed.link_number
    if owed.request.person != channel.person or has_other_link or channel.disabled_at is not None:
        return "withdrawn"
    is_wanted = channels.wants(channel, owed.kind.group) and owed.at_table.letters != "none"
    return "" if is_wanted else "not wanted"


def _retry_unwritten(
    app: App, delivery: ClaimedDelivery, owed: OwedNotice, channel: ChannelRow, error: Exception
) -> None:
    """Try again later to write a notice; the channel did not fail."""
    if isinstance(error, NotInstalled):
        log_missing_game(owed.request.table, str(error))
    else:
        log.error("notice not written", delivery=delivery.id, exc_info=error)
    with app.store.writing() as db:
        retry_later(app, db, delivery, channel.kind, f"not written: {error}")


def end(app: App, delivery: ClaimedDelivery, outcome: str) -> None:
    """End a delivery that is not sent. If a power cut loses this, it is found out again."""
    with app.store.writing(durable=False) as db:
        channel_queries.end_delivery(db, delivery.id, app.now(), outcome)
    if delivery.channel is not None:
        app.metrics.count("deliveries", f"{delivery.channel.kind} {outcome}")


def send(app: App, prepared: PreparedDelivery) -> SenderAnswer:
    """Send a notice by its channel; an error in the sender is an answer too."""
    channel = prepared.channel
    try:
        return SENDERS[channel.kind](app, channel, prepared.notice)
    except Exception as error:
        log.exception("notice not sent", delivery=prepared.delivery.id, kind=channel.kind)
        return SenderAnswer("retry", type(error).__name__)


def record(app: App, db: Connection, prepared: PreparedDelivery, answer: SenderAnswer) -> None:
    """Record the outcome of a delivery, and whether its channel works."""
    delivery = prepared.delivery
    channel = prepared.channel
    now = app.now()
    match answer.outcome:
        case "sent":
            channels.record_success(db, channel, now)
            app.metrics.add_duration("delivery_seconds", channel.kind, max(0, now - delivery.created_at))
        case "gone":
            channels.record_gone(db, channel, now, answer.why)
        case "refused":
            channels.record_failure(db, channel, now, answer.why)
        case "retry":
            channels.record_failure(db, channel, now, answer.why)
            retry_later(app, db, delivery, channel.kind, answer.why, answer.pause_s)
            return
    outcome = f"{answer.outcome}: {answer.why}" if answer.why else answer.outcome
    channel_queries.end_delivery(db, delivery.id, now, outcome[:MAX_OUTCOME_CHARS])
    app.metrics.count("deliveries", f"{channel.kind} {answer.outcome}")


def retry_later(app: App, db: Connection, delivery: ClaimedDelivery, kind: str, why: str, asked_s: int = 0) -> None:
    """Try again after a growing pause, or after as many seconds as the receiver asks for; at last, give up."""
    if delivery.tries >= MAX_TRIES:
        channel_queries.end_delivery(db, delivery.id, app.now(), f"given up: {why}"[:MAX_OUTCOME_CHARS])
        app.metrics.count("deliveries", f"{kind} given up")
        return
    earlier_failures = delivery.tries - 1
    due_at = app.now() + compute_retry_pause(earlier_failures, asked_s)
    channel_queries.postpone_delivery(db, delivery.id, due_at, delivery.tries, why[:MAX_OUTCOME_CHARS])
    app.metrics.count("deliveries", f"{kind} retry")


def send_to_webhook(app: App, channel: ChannelRow, notice: Notice) -> SenderAnswer:
    """Send a notice to a webhook or a chat. Its link is not that of the seat: it asks the player to be signed in."""
    message = HookMessage(
        id=notice.id,
        type=notice.kind,
        title=notice.title,
        sentence=notice.sentence,
        url=webhooks.make_url(app, notice.table),
        at=notice.at,
        table=notice.table,
        game=notice.game,
        deadline=notice.deadline,
    )
    outcome = webhooks.send(app, Target(channel.kind, channel.address, channel.secret), message)
    why = "" if outcome.outcome == "sent" else outcome.summary
    return SenderAnswer(outcome.outcome, why, outcome.pause_s)


Sender = Callable[[App, ChannelRow, Notice], SenderAnswer]
SENDERS: dict[str, Sender] = {"push": web_push.send, **dict.fromkeys(webhooks.BUILDERS, send_to_webhook)}
