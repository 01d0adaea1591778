"""The doctor: is everything there that a house needs, does anything lie too long, are the settings meant so?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from service.commands.terminal import Parser, Subparsers, add_command

if TYPE_CHECKING:
    from service.house import House
    from service.settings import Settings

LATE = 15 * 60  # seconds; a letter or submission that waits longer has no worker


def add(subparsers: Subparsers[Parser]) -> None:
    add_command(
        subparsers,
        "doctor",
        run,
        "Check that database, Redis and mail server can be reached, that nothing lies too long, and the settings.",
        "depesche doctor",
    )


def run(_: argparse.Namespace) -> int:
    """What works and what does not, a line each; status 1 where something is ill, not where something is only odd."""
    from service import settings
    from service.house import House

    house = House(settings.read(os.environ))
    ill = False
    for name, check in _checks(house).items():
        try:
            check()
            print(f"well: {name}")
        except Exception as error:
            ill = True
            print(f"ILL:  {name}: {error}")
    for word in (*oddities(house.settings), *([] if ill else _lying(house))):
        print(f"odd:  {word}")
    return 1 if ill else 0


def _checks(house: House) -> dict[str, Callable[[], object]]:
    from workers.outgoing import post

    settings = house.settings
    checks: dict[str, Callable[[], object]] = {
        f"database {settings.database_url.rpartition('@')[2]}": house.open,
        f"Redis {settings.redis.rpartition('@')[2]}": house.redis.ping,
    }
    if settings.smtp != "embedded":
        checks[f"mail server {settings.smtp.rpartition('@')[2]}"] = lambda: post.connect(settings.smtp).quit()
    return checks


def oddities(settings: Settings) -> Iterator[str]:
    """Settings that are allowed, and are hardly meant."""
    from engine import catalogue

    for name in catalogue.absent(settings.packages):
        yield f"DEPESCHE_GAMES names {name}, but no installed package brings it: its tables cannot be played on"
    if settings.require_authentication and not settings.trusted_authserv:
        yield (
            "DEPESCHE_REQUIRE_AUTHENTICATION is on, but DEPESCHE_TRUSTED_AUTHSERV names nobody: every answer is refused"
        )
    if settings.smtp == "embedded":
        return
    address = urlsplit(settings.address)
    if address.hostname in ("127.0.0.1", "localhost"):
        yield f"letters leave this machine, but their links lead to {settings.address}; set DEPESCHE_ADDRESS"
    elif address.scheme != "https":
        yield f"links are keys, and {settings.address} shows them to everybody on the way; use https"
    if settings.mail_host == "localhost":
        yield "letters come from localhost, which nobody can answer; set DEPESCHE_SENDER"


def _lying(house: House) -> Iterator[str]:
    """Work that waits so long that no process can be looking after it."""
    from sqlalchemy import func, select

    from service.store.schema import letters, submissions

    since = house.now() - LATE
    waiting = {
        "letters that nobody sends": select(func.count()).where(letters.c.sent_at.is_(None), letters.c.due_at < since),
        "moves that nobody judges": select(func.count()).where(
            submissions.c.accepted.is_(None), submissions.c.at < since
        ),
    }
    with house.store.reading() as connection:
        for what, wanted in waiting.items():
            count = connection.execute(wanted).scalar_one()
            if count:
                yield f"{what}: {count}; is a `depesche worker` running?"
