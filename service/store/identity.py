"""The secret of a database: its fingerprint is stored, so that no process makes links with another secret."""

from __future__ import annotations

from sqlalchemy import Connection

from engine.refusal import Refused
from service.links import Links
from service.store import facts, queries
from service.store.connection import Store
from service.store.schema import server_facts

SECRET = "secret"  # noqa: S105 - the name of a row, which holds a fingerprint


def claim_database(store: Store, links: Links) -> None:
    """Store the fingerprint of the secret in a new database; raise Refused if the database has another one."""
    with store.writing() as connection:
        fingerprint = _get_fingerprint(connection)
        if fingerprint is None:
            queries.insert_new(connection, server_facts, {"name": SECRET, "value": links.fingerprint})
            fingerprint = _get_fingerprint(connection)
    _refuse_other_fingerprint(fingerprint, links)


def check_database(store: Store, links: Links) -> None:
    """Raise Refused if the database has the fingerprint of another secret; write nothing."""
    with store.reading() as connection:
        _refuse_other_fingerprint(_get_fingerprint(connection) or links.fingerprint, links)


def _refuse_other_fingerprint(fingerprint: str | None, links: Links) -> None:
    if fingerprint != links.fingerprint:
        raise Refused(
            "The links in this database were made with another secret, and letters from here would lead nowhere. "
            "Give every process the same one: set DEPESCHE_SECRET, or DEPESCHE_FOLDER to the folder with its file."
        )


def _get_fingerprint(connection: Connection) -> str | None:
    return facts.get_facts(connection, [SECRET]).get(SECRET)
