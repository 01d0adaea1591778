"""`depesche imap` as a process plays each mail of a real mailbox once, even if a process dies."""

from __future__ import annotations

import random
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec import Struct
from redis import Redis
from sqlalchemy import select

from service.app import App
from service.store.schema import mails, talk
from service.tables.access import Place
from tests import apps, servers
from tests.chaos import processes
from tests.chaos.processes import Process
from tests.workers.incoming.test_mailbox_polling import HOST, Mailbox, answer, count_stored, list_played, wait_until
from workers.incoming import mailbox_polling

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.release,  # `make test` fetches the same mails in one process, in test_mailbox_polling.py
]

SECRET = "a house for tests"
SOON_S = 60.0  # on a busy machine; a server that announces no mail is asked again after 120 seconds
KILLS, MAILS = 4, 24


class Fetcher(Struct, frozen=True):
    """A table, its mailbox, and the processes that fetch answers from there and play them."""

    app: App
    places: list[Place]
    mailbox: Mailbox
    imap: Process


@contextmanager
def run_fetcher(folder: Path, database: str, redis: str, idle: bool = True) -> Iterator[Fetcher]:
    mailbox = Mailbox(folder / "mails", idle)
    mailbox.port = processes.pick_stable_port()
    mailbox.url = re.sub(r":\d+/INBOX", f":{mailbox.port}/INBOX", mailbox.url)
    words = {"sender": f"Friends <friends@{HOST}>", "imap": mailbox.url, "secret": SECRET}
    commands = [["imap"], ["worker", "--queues", "referee"]]
    shared = {**words, "database": database, "redis": redis}
    mailbox.start()
    chosen = apps.make_settings(folder, database, **words)
    with (
        Redis.from_url(redis) as client,
        apps.run_app(chosen, lambda: int(time.time()), client) as app,
        nullcontext(apps.start_table(app)) as places,  # before anybody else judges
        processes.run_service(folder, commands, **shared) as (imap, _),
    ):
        wait_until(lambda: count_starts(imap) == 1, SOON_S)
        yield Fetcher(app, places, mailbox, imap)
        assert imap.exit_status() is None
        imap.send_signal(signal.SIGTERM)
        wait_until(lambda: imap.exit_status() == 0, SOON_S)
        output = imap.log.read_text()
        assert "Traceback" not in output
        assert servers.IMAP_PASSWORD not in output
        assert quote(servers.IMAP_PASSWORD, safe="") not in output
    mailbox.stop()


def count_starts(imap: Process) -> int:
    """How often it has come so far that it would heed a signal."""
    return imap.log.read_text().count("Answers are fetched from")


def list_remarks(app: App) -> list[str]:
    """Return the remarks at the tables, each with its count."""
    with app.store.reading() as connection:
        return list(connection.execute(select(talk.c.text).order_by(talk.c.id)).scalars())


def count_unread(app: App) -> int:
    with app.store.reading() as connection:
        return len(connection.execute(select(mails.c.id).where(mails.c.read_at.is_(None))).all())


@pytest.mark.parametrize("idle", [True, pytest.param(False, marks=pytest.mark.soak)])  # a minute between two looks
def test_mails_are_played_that_came_before_the_process_and_while_it_ran(
    tmp_path: Path, migrated_postgres_url: str, redis_url: str, idle: bool
) -> None:
    with run_fetcher(tmp_path, migrated_postgres_url, redis_url, idle) as running:
        app, mailbox = running.app, running.mailbox
        with mailbox_polling.open_mailbox(app.settings) as opened:
            assert mailbox_polling.supports_idle(opened.box) is idle
        place, move = apps.find_move(app, running.places)
        mailbox.add_mails(answer(app, place, move))
        wait_until(lambda: list_played(app) == [move], SOON_S if idle else SOON_S + mailbox_polling.POLL_S)
        other, second = apps.find_move(app, running.places)
        began = time.monotonic()
        mailbox.add_mails(answer(app, other, second, 2))
        wait_until(lambda: list_played(app) == [move, second], SOON_S if idle else SOON_S + mailbox_polling.POLL_S)
        assert not idle or time.monotonic() - began < mailbox_polling.MAX_IDLE_S
        assert count_stored(app) == 2


@pytest.mark.soak  # minutes of waiting
def test_a_process_that_is_killed_again_and_again_plays_each_mail_once(
    tmp_path: Path, migrated_postgres_url: str, redis_url: str
) -> None:
    """A fetcher that is killed while it fetches, stores or marks leaves its mails to its successor."""
    random_times = random.Random(20)
    with run_fetcher(tmp_path, migrated_postgres_url, redis_url) as running:
        app, mailbox = running.app, running.mailbox
        running.imap.kill()
        place, move = apps.find_move(app, running.places)
        lines = [f"say remark {number}" for number in range(MAILS)]
        mailbox.add_mails(*(answer(app, place, line, number) for number, line in enumerate(lines)))
        mailbox.add_mails(answer(app, place, move, MAILS))
        for _ in range(KILLS):
            before = count_stored(app)
            running.imap.start()
            wait_until(lambda: count_stored(app) > before, SOON_S)  # noqa: B023 - asked at once
            time.sleep(random_times.uniform(0, 0.1))
            running.imap.kill()
            if count_stored(app) > MAILS:
                break
        before = count_starts(running.imap)
        running.imap.start()
        wait_until(lambda: count_starts(running.imap) > before, SOON_S)
        wait_until(lambda: count_stored(app) == MAILS + 1 and not count_unread(app), SOON_S)
        assert list_played(app) == [move]
        assert sorted(list_remarks(app)) == sorted(line.removeprefix("say ") for line in lines)


@pytest.mark.soak  # minutes of waiting
def test_a_server_that_stops_and_returns_takes_two_lines_of_log_and_no_mail_is_lost(
    tmp_path: Path, migrated_postgres_url: str, redis_url: str
) -> None:
    with run_fetcher(tmp_path, migrated_postgres_url, redis_url) as running:
        app, mailbox = running.app, running.mailbox
        place, move = apps.find_move(app, running.places)
        mailbox.add_mails(answer(app, place, move))
        wait_until(lambda: list_played(app) == [move], SOON_S)
        mailbox.stop()
        wait_until(lambda: "mailbox not reached" in running.imap.log.read_text(), SOON_S)
        time.sleep(mailbox_polling.FIRST_PAUSE_S)
        mailbox.start()
        other, second = apps.find_move(app, running.places)
        mailbox.add_mails(answer(app, other, second, 2))
        wait_until(lambda: list_played(app) == [move, second], 4 * mailbox_polling.FIRST_PAUSE_S + SOON_S)
        # A server that is slow to stop is reached once more meanwhile, which is another outage.
        lines = re.findall(r"mailbox (not reached|reached again)", running.imap.log.read_text())
        assert lines == ["not reached", "reached again"] * (len(lines) // 2)
        assert len(lines) <= 4
