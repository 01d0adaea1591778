"""The senders of channels: for each kind of channel, the function that sends a notice and returns the answer."""

from __future__ import annotations

from collections.abc import Callable

from service.app import App
from service.notify import web_push, webhooks
from service.notify.notices import Notice, SenderAnswer
from service.notify.webhooks import HookMessage, Target
from service.store.channel_queries import ChannelRow


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
