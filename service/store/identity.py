"""Whose book this is: a database belongs to the secret that its links were made with, and to no other."""

from __future__ import annotations

from sqlalchemy import Connection, select

from engine.refusal import Refused
from service.links import Links, hashed
from service.store import book, facts
from service.store.connect import Store
from service.store.schema import house, seats

SECRET = "secret"  # noqa: S105 - the name of a row, which holds a fingerprint
LOOKED_AT = 20


def recognise(store: Store, links: Links) -> None:
    """Note whose book this is when it is new; refuse another secret, whose letters would lead nowhere."""
    with store.writing() as connection:
        known = _known(connection)
        if known is None and _made_by_another(connection, links):
            known = ""
        if known is None:
            book.insert_new(connection, house, {"name": SECRET, "value": links.fingerprint})
            known = _known(connection)
    _refuse_another(known, links)


def check(store: Store, links: Links) -> None:
    """Refuse another secret than the one that is noted; only looks."""
    with store.reading() as connection:
        _refuse_another(_known(connection) or links.fingerprint, links)


def _refuse_another(known: str | None, links: Links) -> None:
    if known != links.fingerprint:
        raise Refused(
            "The links in this database were made with another secret, and letters from here would lead nowhere. "
            "Give every process the same one: set DEPESCHE_SECRET, or DEPESCHE_FOLDER to the folder with its file."
        )


def _known(connection: Connection) -> str | None:
    return facts.read(connection, [SECRET]).get(SECRET)


def _made_by_another(connection: Connection, links: Links) -> bool:
    """Whether a book that is older than fingerprints holds links, and none of them is ours."""
    some = connection.execute(select(seats).order_by(seats.c.table.desc()).limit(LOOKED_AT)).all()
    ours = [hashed(links.seat(seat.table, seat.seat, seat.link_number)) == seat.link for seat in some]
    return bool(some) and not any(ours)
