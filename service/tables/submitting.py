"""Submitting a command: it becomes a row, a bell rings for the referee, and the verdict is waited for."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, and_, func, select

from engine.canonical_json import make_decoder
from engine.refusal import Refused
from service.app import App
from service.links import hashed
from service.store import queries
from service.store.queries import Found, Verdict
from service.store.schema import submissions
from service.tables.access import Place, player
from service.text.languages import Said

Source = Literal["player", "sit", "bot", "mail", "server"]
MOVE_LENGTH = 2_000


class Handed(Struct, frozen=True):
    """A submission that was handed in: its table, its number, and whether it is the first with its key."""

    table: str
    number: int
    new: bool = True


class ToldVerdict(Struct, frozen=True):
    """A verdict as it comes with the bell; numbers begin anew in another database, names of tables do not."""

    table: str
    verdict: Verdict

    @classmethod
    def read(cls, told: bytes | None, handed: Handed) -> Verdict | None:
        """The verdict on this submission, if that was told."""
        with suppress(msgspec.MsgspecError):  # an older referee tells only that there is one
            found = make_decoder(cls).decode(told or b"")
            return found.verdict if found.table == handed.table else None
        return None


def submit(
    app: App, place: Place, text: str, key: str = "", seen: int | None = None, source: Source = "player"
) -> Handed:
    """Hand a command in for the referee; the key makes it idempotent: the same key again is the same submission.

    Every source has keys of its own. What the house hands in itself is new again once it was refused. Nobody waits for
    the disk here: the verdict's commit does, and what it stores lies behind this.
    """
    seat = player(place)
    if len(text) > MOVE_LENGTH:
        raise Refused("A move is a few words; this is {length} characters long.", length=len(text))
    if not text.strip() or not text.replace("\n", " ").isprintable():
        raise Refused("Please write a move in plain words.")
    row = {
        "source": source,
        "key": key[:80] or secrets.token_hex(16),
        "table": place.table,
        "seat": seat,
        "move": " ".join(text.split()),
        "seen": seen,
        "at": app.now(),
    }
    handed = _insert(app, row)
    app.wakeups.wake("referee")
    return handed


def sit(app: App, place: Place, nonce: str) -> Handed:
    """Hand in that a player sits down with this word for the dice; with one link that is one submission."""
    return submit(app, place, f"sit {nonce}", hashed(place.link), source="sit")


def _insert(app: App, row: dict[str, Any]) -> Handed:
    """The new submission, or the one that has this key already."""
    if row["source"] != "player":
        with app.store.reading() as connection:
            row["key"] += f"/{_refused(connection, row)}"
    with app.store.stating() as connection:
        made = queries.insert_new(connection, submissions, row, hasty=True)
    if made is not None:
        return Handed(row["table"], int(made))
    with app.store.reading() as connection:
        same = select(submissions.c.id).where(_own(row), submissions.c.key == row["key"])
        return Handed(row["table"], int(connection.execute(same).scalar_one()), new=False)


def _refused(connection: Connection, row: dict[str, Any]) -> int:
    """How often this was refused so far."""
    again = (_own(row), submissions.c.key.startswith(f"{row['key']}/"), submissions.c.accepted.is_(False))
    return int(connection.execute(select(func.count()).where(*again)).scalar_one())


def _own(row: dict[str, Any]) -> ColumnElement[bool]:
    return and_(*(submissions.c[name] == row[name] for name in ("table", "seat", "source")))


def verdict(app: App, handed: Handed, patience: float | None = None) -> Verdict | None:
    """The referee's verdict, waited for a little; None while there is none, but then the submission is on the disk."""
    with app.metrics.timed("verdict_seconds", "page"):
        found = None if handed.new else _verdict(app, handed)
        if found is None:
            told = app.wakeups.wait(handed.number, app.settings.patience if patience is None else patience)
            found = ToldVerdict.read(told, handed) or _verdict(app, handed)
        if found is None:
            app.store.secure()
    return found


def _verdict(app: App, handed: Handed) -> Verdict | None:
    row = _find(app, handed)
    return None if row is None or row.accepted is None else _read(row)


def tell(app: App, verdicts: Mapping[int, ToldVerdict]) -> None:
    """Wake those who wait for these verdicts, which are stored by now."""
    app.wakeups.publish({number: msgspec.json.encode(told) for number, told in verdicts.items()})


def verdict_of(app: App, place: Place, submission: int) -> Verdict | Literal["waiting"] | None:
    """The verdict on a submission of this very seat; None where the seat has no such submission."""
    row = _find(app, Handed(place.table, submission))
    if row is None or row.seat != place.seat:
        return None
    return "waiting" if row.accepted is None else _read(row)


def _find(app: App, handed: Handed) -> Found | None:
    own = select(submissions).where(submissions.c.table == handed.table, submissions.c.id == handed.number)
    with app.store.reading() as connection:
        return connection.execute(own).one_or_none()


def _read(row: Found) -> Verdict:
    return Verdict(row.accepted, Said.read(row.said), row.rule, row.seq)
