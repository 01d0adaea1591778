"""A worker that is killed while it sends a notice: the notice arrives at least once, and is recognised by its id."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import insert, update

from service.app import App
from service.notify import channels, followers, webhooks
from service.notify.channels import NewChannel
from service.store import queries
from service.store.schema import followers as follower_table
from service.store.schema import letters
from tests import apps
from tests.apps import FakeTime
from tests.receivers import Receiver
from tests.service.notify.test_web_push import Browser
from tests.workers.outgoing.test_deliveries import find_person, give_turn, list_outcomes
from workers.outgoing import channel_deliveries, follower_news

BEFORE, AFTER = "before", "after"
# Where the worker dies: a step, and whether that step is done.
STEPS = [
    ("claim", BEFORE), ("claim", AFTER), ("prepare", BEFORE), ("prepare", AFTER), ("send", BEFORE), ("send", AFTER),
    ("record", BEFORE), ("record", AFTER), ("send_batch", AFTER),
]  # fmt: skip
# A worker dies at each step on both databases, with a notice of one kind on the first and of the other on the second;
# before a step it is where it was after the one before, so that is for a release.
TURNS = [
    pytest.param(database, kind, *step, marks=pytest.mark.release if step[1] == BEFORE else [])
    for number, step in enumerate(STEPS)
    for database, kind in zip(
        ("sqlite", "postgres"), (("push", "webhook"), ("webhook", "push"))[number % 2], strict=True
    )
]
NEWS_STEPS = [("send", BEFORE), ("send", AFTER), ("send_batch", AFTER)]


def die_at(monkeypatch: pytest.MonkeyPatch, module: Any, step: str, when: str) -> None:
    """Let a process that comes to this step be killed."""
    work: Callable[..., Any] = getattr(module, step)

    def die(*args: Any) -> None:
        if when == AFTER:
            work(*args)
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(module, step, die)


def kill_worker(app: App, run: Callable[[], None]) -> None:
    """Run a worker in a process of its own, which is killed."""
    app.store.engine.dispose()  # a child must not share our connections
    process = multiprocessing.get_context("fork").Process(target=run, daemon=True)
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    process.close()


def owe_notice(app: App, receiver: Receiver, kind: str) -> Browser:
    """Owe a player with a channel of this kind the notice of a turn."""
    browser, places = Browser(), apps.start_table(app, pace=3 * 86_400)
    mover, _ = apps.find_move(app, places)
    waiting = apps.find_waiting(app, places)
    secret = browser.secret if kind == "push" else webhooks.make_secret()
    with app.store.writing() as db:
        channels.add(db, find_person(app, waiting), NewChannel(kind, "x", receiver.url(), secret), app.now())
        db.execute(update(letters).values(sent_at=app.now()))
    give_turn(app, mover, waiting)
    return browser


def name_notice(kind: str, browser: Browser, request: Any) -> str:
    """Return what a receiver knows a notice by."""
    if kind == "webhook":
        return str(request.headers["Webhook-Id"])
    return str(json.loads(browser.decrypt(request.body))["notification"]["tag"])


@pytest.mark.parametrize(("migrated_url", "kind", "step", "when"), TURNS, indirect=["migrated_url"])
def test_a_notice_of_a_killed_worker_arrives_and_is_recognised(
    any_app: App, clock: FakeTime, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, kind: str, step: str, when: str
) -> None:
    any_app.open()
    browser = owe_notice(any_app, receiver, kind)
    with monkeypatch.context() as patched:
        die_at(patched, channel_deliveries, step, when)
        kill_worker(any_app, channel_deliveries.run)
    clock.advance(any_app.settings.lease + 1)
    channel_deliveries.run()
    assert list_outcomes(any_app) == ["sent"]
    arrived = [name_notice(kind, browser, request) for request in receiver.requests]
    is_sent_twice = (step, when) in (("send", AFTER), ("record", BEFORE), ("record", AFTER))
    assert len(arrived) == 1 + is_sent_twice
    assert len(set(arrived)) == 1


@pytest.mark.parametrize(("step", "when"), NEWS_STEPS)
def test_news_of_a_killed_worker_reaches_the_chat_and_is_recognised(
    any_app: App, clock: FakeTime, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    anna, bert = apps.start_table(any_app)
    with any_app.store.writing() as db:
        row = queries.find_table(db, anna.table)
        assert row is not None
        words = {"table": row.id, "person": find_person(any_app, anna).id, "kind": "webhook", "language": "en"}
        numbers = {"next_seq": row.length, "created_at": 0, "due_at": 0}
        db.execute(
            insert(follower_table), {**words, **numbers, "address": receiver.url(), "secret": webhooks.make_secret()}
        )
    assert apps.submit(any_app, bert, "resign").accepted
    with monkeypatch.context() as patched:
        die_at(patched, follower_news, step, when)
        kill_worker(any_app, follower_news.run)
    clock.advance(any_app.settings.lease + 1)
    follower_news.run()
    arrived = [request.headers["Webhook-Id"] for request in receiver.requests]
    assert len(arrived) == 1 + ((step, when) == ("send", AFTER))
    assert len(set(arrived)) == 1
    (follower,) = apps.load(any_app, lambda _, db: followers.list_followers(db))
    assert (follower.next_seq, follower.sent) == (apps.load_table(any_app, anna.table).row.length, 1)
