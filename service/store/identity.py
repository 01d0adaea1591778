"""Whose book this is: a database belongs to the secret that its links were made with, and to no other."""

from __future__ import annotations

from sqlalchemy import Connection

from engine.refusal import Refused
from service.links import Links
from service.store import facts, queries
from service.store.connection import Store
from service.store.schema import server_facts

SECRET = "secret"  # noqa: S105 - the name of a row, which holds a fingerprint


def recognise(store: Store, links: Links) -> None:
    """Note whose book this is when it is new; refuse another secret, whose letters would lead nowhere."""
    with store.writing() as connection:
        known = _known(connection)
        if known is None:
            queries.insert_new(connection, server_facts, {"name": SECRET, "value": links.fingerprint})
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
    return facts.get_facts(connection, [SECRET]).get(SECRET)
