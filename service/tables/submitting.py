"""Submitting a command: it becomes a row, a bell rings for the referee, and the verdict is waited for."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from engine.refusal import Refused
from service.house import House
from service.store.book import Found, Verdict
from service.store.schema import submissions
from service.tables.access import Place, player
from service.text.languages import Said

MOVE_LENGTH = 2_000


def submit(house: House, place: Place, text: str, key: str = "", seen: int | None = None) -> int:
    """Hand a command in for the referee; the key makes it idempotent: the same key again is the same submission."""
    seat = player(place)
    if len(text) > MOVE_LENGTH:
        raise Refused("A move is a few words; this is {length} characters long.", length=len(text))
    if not text.strip() or not text.replace("\n", " ").isprintable():
        raise Refused("Please write a move in plain words.")
    row = {
        "key": f"{place.table}/{seat}/{key[:80] or secrets.token_hex(16)}",
        "table": place.table,
        "seat": seat,
        "move": " ".join(text.split()),
        "seen": seen,
        "at": house.now(),
    }
    number = _insert(house, row)
    house.bells.ring("referee")
    return number


def _insert(house: House, row: Mapping[str, Any]) -> int:
    """The number of the new submission, or of the one that has this key already."""
    try:
        with house.store.writing() as connection:
            made = connection.execute(insert(submissions).returning(submissions.c.id), row)
            return int(made.scalar_one())
    except IntegrityError:
        with house.store.reading() as connection:
            same = select(submissions.c.id).where(submissions.c.key == row["key"])
            return int(connection.execute(same).scalar_one())


def verdict(house: House, submission: int, patience: float | None = None) -> Verdict | None:
    """The referee's verdict, waited for a little; None while there is none."""
    found = _verdict(house, submission)
    if found is None:
        house.bells.wait(submission, house.settings.patience if patience is None else patience)
        found = _verdict(house, submission)
    return found


def _verdict(house: House, submission: int) -> Verdict | None:
    with house.store.reading() as connection:
        row = connection.execute(select(submissions).where(submissions.c.id == submission)).one_or_none()
    return None if row is None or row.accepted is None else _read(row)


def verdict_of(house: House, place: Place, submission: int) -> Verdict | Literal["waiting"] | None:
    """The verdict on a submission of this very seat; None where the seat has no such submission."""
    own = select(submissions).where(
        submissions.c.id == submission, submissions.c.table == place.table, submissions.c.seat == place.seat
    )
    with house.store.reading() as connection:
        row = connection.execute(own).one_or_none()
    if row is None:
        return None
    return "waiting" if row.accepted is None else _read(row)


def _read(row: Found) -> Verdict:
    return Verdict(row.accepted, Said.read(row.said), row.rule, row.seq)
