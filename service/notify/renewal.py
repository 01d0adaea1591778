"""Renews the secrets of Standard Webhooks, if they may have leaked."""

from __future__ import annotations

from sqlalchemy import update

from service.app import App
from service.notify import table_hooks, webhooks
from service.store import channel_queries, queries
from service.store.schema import channels
from service.store.schema import table_hooks as hook_table

KIND = "webhook"


def renew_secrets(app: App) -> int:
    """Give all webhooks new secrets, and owe a letter to the owner of each; return how many there are.

    Until the next renewal messages are signed with the old secret, too, so that no receiver misses one.
    """
    now = app.now()
    with app.store.writing() as db:
        own = channel_queries.list_channels(db, channels.c.kind == KIND)
        followers = table_hooks.list_hooks(db, hook_table.c.kind == KIND)
        for channel in own:
            channel_queries.update_channel(db, channel.id, secret=webhooks.renew_secret(channel.secret))
            queries.owe_personal_letter(db, channel.person, f"secret/channel/{channel.id}/{now}", now)
        for hook in followers:
            renewed = update(hook_table).where(hook_table.c.id == hook.id)
            db.execute(renewed.values(secret=webhooks.renew_secret(hook.secret)))
            queries.owe_personal_letter(db, hook.person, f"secret/follower/{hook.id}/{now}", now)
    app.wakeups.wake("post")
    return len(own) + len(followers)
