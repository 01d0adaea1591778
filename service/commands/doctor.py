"""The doctor: is everything there that a house needs, does anything lie too long, are the settings meant so?"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.refusal import Refused
from service.commands.terminal import Parser, Subparsers, add_command, add_json, print_json

if TYPE_CHECKING:
    from service.settings import Settings

LATE = 15 * 60  # seconds; a letter or submission that waits longer has no worker


def add(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "doctor",
        run,
        "Check that database, Redis and mail server can be reached, that nothing lies too long, and the settings.",
        "depesche doctor",
        "depesche doctor --json",
        "depesche doctor --mail you@example.org",
    )
    add_json(parser)
    parser.add_argument("--mail", metavar="ADDRESS", help="also send one letter there, and say what came of it")


def run(args: argparse.Namespace) -> int:
    """What works and what does not, a line each; status 1 where something is ill, not where something is only odd.

    It only looks: no folder, no secret and no database is made for it.
    """
    from engine.refusal import Refused
    from service import settings

    try:
        found = settings.read(os.environ)
    except Refused as refused:  # such as a misspelt name, with which no house starts
        verdicts = [("ILL", f"settings: {refused}")]
    else:
        verdicts = _looked(found, args.mail)
    ill = any(verdict == "ILL" for verdict, _ in verdicts)
    if args.json:
        print_json([{"verdict": verdict.lower(), "what": what} for verdict, what in verdicts])
    else:
        for verdict, what in verdicts:
            print(f"{verdict + ':':<5} {what}")
    return 1 if ill else 0


def _looked(found: Settings, mail: str | None) -> list[tuple[str, str]]:
    verdicts = [_verdict(name, check) for name, check in _checks(found).items()]
    if mail:
        verdicts += _letter(found, mail)
    ill = any(verdict == "ILL" for verdict, _ in verdicts)
    return verdicts + [("odd", word) for word in (*oddities(found), *([] if ill else _lying(found)))]


def _letter(settings: Settings, to: str) -> list[tuple[str, str]]:
    """What came of a letter to this address, and what its reader should look at."""
    from service.people import register
    from service.settings import EMBEDDED
    from workers.outgoing import trial_letter

    address = register.clean_address(to)
    if settings.smtp == EMBEDDED:
        raise Refused("No letter leaves this house; name a mail server with DEPESCHE_SMTP, and try again.")
    try:
        found = trial_letter.send(settings, address)
    except Exception as error:
        return [("ILL", f"letter to {address}: {error}")]
    way = f"by {found.tls}" if found.tls else "unencrypted"
    told = [("well" if found.taken else "ILL", f"letter to {address}, from {found.sender}, {way}: {found.said}")]
    if not found.taken:
        return told
    told.append(("look", f"at its headers where it arrived; it left with {', '.join(found.headers)}"))
    told.append(
        ("look", "spf, dkim and dmarc should be “pass”, and dkim’s h= name list-unsubscribe, list-unsubscribe-post")
    )
    return told


def _verdict(name: str, check: Callable[[], str]) -> tuple[str, str]:
    try:
        remark = check()
    except Exception as error:
        return "ILL", f"{name}: {error}"
    return "well", f"{name}{remark and f': {remark}'}"


def _checks(settings: Settings) -> dict[str, Callable[[], str]]:
    """What to try, by its name; each says what there is to remark, if anything."""
    from service.house import connect_redis
    from workers.outgoing import post

    checks: dict[str, Callable[[], str]] = {
        f"database {settings.database_url.rpartition('@')[2]}": lambda: _database(settings),
        f"Redis {settings.redis.rpartition('@')[2]}": lambda: _answered(connect_redis(settings.redis).ping()),
    }
    if settings.smtp != "embedded":
        name = f"mail server {settings.smtp.rpartition('@')[2]}"
        checks[name] = lambda: _answered(post.connect(settings.smtp).quit())
    if settings.imap:
        checks[f"mailbox {settings.imap.rpartition('@')[2]}"] = lambda: _mailbox(settings)
    return checks


def _mailbox(settings: Settings) -> str:
    """Whether it opens, and how soon an answer is noticed."""
    from workers.incoming import mailbox_polling

    with mailbox_polling.opened(settings) as found:
        if mailbox_polling.tells(found.box):
            return "an answer is noticed at once"
        return f"an answer is noticed within {mailbox_polling.EVERY:.0f} seconds"


def _answered(answer: object) -> str:
    return "" if answer else "it answers nothing"


def _is_made(settings: Settings) -> bool:
    """Whether there is a database; one in a file is made by the first start."""
    url = settings.database_url
    return not url.startswith("sqlite:///") or Path(url.removeprefix("sqlite:///")).exists()


def _database(settings: Settings) -> str:
    """Whether it can be reached and its links are ours."""
    from service.links import Links
    from service.settings import keep_secret
    from service.store import Store, identity

    if not _is_made(settings):
        return "not there yet; the first start makes it"
    store = Store(settings.database_url)
    try:
        if not store.is_current():
            return "of another version; the next start renews it"
        if not settings.secret and not (settings.folder / "secret").exists():
            raise Refused("The secret that its links were made with is missing; put back the file, or DEPESCHE_SECRET.")
        identity.check(store, Links(keep_secret(settings)))
        return ""
    finally:
        store.close()


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


def _lying(settings: Settings) -> Iterator[str]:
    """Work that waits so long that no process can be looking after it."""
    from sqlalchemy import func, select

    from service.store import Store
    from service.store.schema import letters, submissions

    if not _is_made(settings):
        return
    store, since = Store(settings.database_url), int(time.time()) - LATE
    late = (letters.c.sent_at.is_(None), letters.c.due_at < since)
    waiting = {
        "letters that nobody sends": select(func.count()).where(*late),
        "moves that nobody judges": select(func.count()).where(
            submissions.c.accepted.is_(None), submissions.c.at < since
        ),
    }
    if store.is_current():
        with store.reading() as connection:
            for what, wanted in waiting.items():
                if count := connection.execute(wanted).scalar_one():
                    yield f"{what}: {count}; is a `depesche worker` running?"
    store.close()
