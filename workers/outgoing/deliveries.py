"""The queue `deliveries`: send each owed notice at least once by each channel of its reader that wants it.

A delivery is a row: a letter and a channel. While a process has it in hand, `due_at` is the end of that process's
lease; a delivery whose process died is due again when the lease ends, and is sent with the same id. Each step below is
one transaction; requests are sent outside of all transactions, several at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import structlog
from msgspec import Struct
from sqlalchemy import Connection

from engine.catalogue import NotInstalled
from service.app import App
from service.notify import channels, web_push, webhooks
from service.notify.channels import Notice, SenderAnswer
from service.notify.webhooks import HookMessage, Target
from service.numbers import parse_int
from service.store import channel_queries, queries
from service.store.channel_queries import ChannelRow
from service.store.schema import channels as channel_table
from service.tables import snapshots, talk
from service.tables.snapshots import Snapshot
from service.text.languages import Translator, translate_in_game
from service.timing import compute_retry_pause
from workers.jobs import StepResult, empty_queue, log_missing_game
from workers.outgoing import digest, letter_bodies, owed, personal_letters, table_letters
from workers.outgoing.letter import LetterRequest, QuotedRemark
from workers.outgoing.letter_parts import TableDraft
from workers.outgoing.owed import TALK, OwedNotice

BATCH = 32
THREADS = 8  # requests that one process sends at the same time
MAX_TRIES = 16  # about two days
log = structlog.get_logger()
MAX_SENTENCE_CHARS = 300


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
    prepared = [one for delivery in batch if (one := prepare(app, delivery)) is not None]
    if prepared:
        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(lambda one: send(app, one), prepared))
        with app.store.writing() as db:
            for one, answer in zip(prepared, answers, strict=True):
                record(app, db, one, answer)
    return StepResult.SOME if batch else StepResult.NONE


def claim(app: App) -> Sequence[ClaimedDelivery]:
    """Insert the deliveries of fresh letters, and lease some that are due, so that other processes leave them alone."""
    with app.store.writing() as db:
        channel_queries.insert_deliveries(db, app.now(), app.settings.confirms)
        rows = channel_queries.lease_deliveries(db, app.now(), app.settings.lease, BATCH)
        if not rows:
            return []
        letters = {one.letter: one for one in owed.load_owed(db, [row.letter for row in rows])}
        own = channel_table.c.id.in_([row.channel for row in rows])
        ways = {one.id: one for one in channel_queries.list_channels(db, own)}
    return [
        ClaimedDelivery(row.id, row.created_at, row.tries + 1, letters.get(row.letter), ways.get(row.channel))
        for row in rows
    ]


def prepare(app: App, delivery: ClaimedDelivery) -> PreparedDelivery | None:
    """Write the notice of a delivery. Return None if it is not sent, or has to wait; that is recorded."""
    one, channel = delivery.owed, delivery.channel
    if one is None or channel is None:
        end(app, delivery, "withdrawn")
        return None
    if obstacle := find_obstacle(one, channel):
        end(app, delivery, obstacle)
        return None
    if one.kind.waits and (until := owed.find_end_of_quiet_hours(app, one)):
        with app.store.writing() as db:
            channel_queries.postpone_delivery(db, delivery.id, until, delivery.tries - 1)
        return None
    try:
        written = write_notice(app, one, delivery.created_at)
    except Exception as error:
        _retry_unwritten(app, delivery, channel, error)
        return None
    if written is None:
        end(app, delivery, "withdrawn")
        return None
    return PreparedDelivery(delivery, channel, written)


def find_obstacle(one: OwedNotice, channel: ChannelRow) -> str:
    """Return why a notice does not go by this channel; empty if it does.

    The seat may have another player since the delivery was made, or a new link, which ends the channels that were
    added by the old one.
    """
    has_other_link = bool(channel.table) and channel.link_number != one.link_number
    if one.request.person != channel.person or has_other_link or channel.disabled_at is not None:
        return "withdrawn"
    is_wanted = channels.wants(channel, one.kind.group) and one.at_table.letters != "none"
    return "" if is_wanted else "not wanted"


def _retry_unwritten(app: App, delivery: ClaimedDelivery, channel: ChannelRow, error: Exception) -> None:
    """Try again later to write a notice; the channel did not fail."""
    if isinstance(error, NotInstalled):
        log_missing_game(delivery.owed.request.table if delivery.owed else "", str(error))
    else:
        log.error("notice not written", delivery=delivery.id, exc_info=error)
    with app.store.writing() as db:
        retry_later(app, db, delivery, channel.kind, f"not written: {error}", 0)


def end(app: App, delivery: ClaimedDelivery, outcome: str) -> None:
    """End a delivery that is not sent."""
    with app.store.writing(durable=False) as db:
        channel_queries.end_delivery(db, delivery.id, app.now(), outcome)
    if delivery.channel is not None:
        app.metrics.count("deliveries", f"{delivery.channel.kind} {outcome}")


def send(app: App, one: PreparedDelivery) -> SenderAnswer:
    """Send a notice by its channel; an error in the sender is an answer too."""
    try:
        return SENDERS[one.channel.kind](app, one.channel, one.notice)
    except Exception as error:
        log.exception("notice not sent", delivery=one.delivery.id, kind=one.channel.kind)
        return SenderAnswer("retry", f"{type(error).__name__}")


def record(app: App, db: Connection, one: PreparedDelivery, answer: SenderAnswer) -> None:
    """Record what came of a delivery, and what it says of its channel."""
    delivery, channel, now = one.delivery, one.channel, app.now()
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
    outcome = answer.outcome if not answer.why else f"{answer.outcome}: {answer.why}"
    channel_queries.end_delivery(db, delivery.id, now, outcome[:500])
    app.metrics.count("deliveries", f"{channel.kind} {answer.outcome}")


def retry_later(app: App, db: Connection, delivery: ClaimedDelivery, kind: str, why: str, pause_s: int) -> None:
    """Try again after a pause that doubles up to six hours, or that the other end names; at last, give up."""
    if delivery.tries >= MAX_TRIES:
        channel_queries.end_delivery(db, delivery.id, app.now(), f"given up: {why}"[:500])
        app.metrics.count("deliveries", f"{kind} given up")
        return
    due_at = app.now() + compute_retry_pause(delivery.tries - 1, pause_s)
    channel_queries.postpone_delivery(db, delivery.id, due_at, delivery.tries, why[:500])
    app.metrics.count("deliveries", f"{kind} retry")


def send_to_webhook(app: App, channel: ChannelRow, notice: Notice) -> SenderAnswer:
    """Send a notice to a webhook or a chat: its link asks to sign in."""
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


def make_notice_id(owed: OwedNotice) -> str:
    """Return the id of a notice, made from what it is about."""
    request = owed.request
    about = (request.table, str(request.seq), str(request.seat)) if request.table else (str(owed.letter),)
    return ".".join((*about, request.kind.replace("/", ".")))


def write_notice(app: App, owed: OwedNotice, at: int) -> Notice | None:
    """Write a notice about the table as it is now; None if it is overtaken."""
    return _write_about_table(app, owed, at) if owed.request.table else _write_about_person(app, owed, at)


def _write_about_table(app: App, owed: OwedNotice, at: int) -> Notice | None:
    request = owed.request
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, request.table)
        if table_letters.is_overtaken(snapshot, request):
            return None
        waiting = queries.count_waiting_seats(db, request.person)
        remarks = _load_remarks(db, snapshot, request) if owed.kind is TALK else ()
    if owed.kind is TALK and not remarks:
        return None
    draft = table_letters.make_draft(app, request, snapshot, [], remarks)
    return Notice(
        id=make_notice_id(owed),
        kind=request.kind_name,
        group=owed.kind.group,
        subject=f"{request.table}/{owed.kind.group}",
        title=write_title(snapshot, request.seat, request.language),
        sentence=write_sentence(draft)[:MAX_SENTENCE_CHARS],
        link=draft.addresses.page,
        language=request.language,
        at=at,
        table=request.table,
        game=snapshot.game.META.name,
        deadline=owed.deadline if owed.kind.group in ("turn", "reminder") else None,
        waiting=waiting,
    )


def _load_remarks(db: Connection, snapshot: Snapshot, request: LetterRequest) -> tuple[QuotedRemark, ...]:
    """Load what the others have said from the remark on that the letter was owed for."""
    first = parse_int(request.kind_detail) or 0
    remarks = talk.list_since(db, request.table, request.seat, 0)
    return tuple(QuotedRemark(snapshot.names[one.seat], one.text) for one in remarks if one.id >= first)


def write_sentence(draft: TableDraft) -> str:
    """Return the first sentence of a letter; of a letter with remarks, what was said."""
    if draft.kind == "talk":
        return "\n".join(f"{remark.name}: {remark.text}" for remark in draft.remarks)
    return letter_bodies.write_headline(draft)


def write_title(snapshot: Snapshot, seat: int, language: str) -> str:
    """Return the game and the other players."""
    meta = snapshot.game.META
    title = translate_in_game(language, meta.name, meta.title)
    others = ", ".join(name for number, name in enumerate(snapshot.names) if number != seat and name)
    return Translator(language).gettext("%(title)s with %(names)s", title=title, names=others) if others else title


def _write_about_person(app: App, owed: OwedNotice, at: int) -> Notice | None:
    request = owed.request
    with app.store.reading() as db:
        waiting = queries.count_waiting_seats(db, request.person)
    sentence = _write_personal_sentence(app, request, waiting)
    if not sentence:
        return None
    return Notice(
        id=make_notice_id(owed),
        kind=request.kind_name,
        group=owed.kind.group,
        subject=request.kind_name,
        title=app.settings.sender_name,
        sentence=sentence[:MAX_SENTENCE_CHARS],
        link=f"{app.settings.address}/my",
        language=request.language,
        at=at,
        waiting=waiting,
    )


def _write_personal_sentence(app: App, request: LetterRequest, waiting: int) -> str:
    """Return the first sentence of a letter to a person; empty if it is overtaken."""
    if request.kind_name == "digest":  # by mail it has only the tables that send no letter of their own
        return digest.write_count(Translator(request.language), waiting) if waiting else ""
    letter = personal_letters.compose(app, request)
    return letter.headline if letter is not None else ""
