"""The person who is signed in on this device, which a signed cookie says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import session
from sqlalchemy import Connection

from engine.refusal import Refused
from service.people import proof
from service.people.proof import SignedIn
from service.web.current_request import get_app

VISIT = "visit"  # key of the session cookie


def load_signed_in() -> SignedIn | None:
    """Return the person who is signed in on this device, or None; reads in a transaction of its own."""
    if VISIT not in session:
        return None
    with get_app().store.reading() as db:
        return find_signed_in(db)


def find_signed_in(db: Connection) -> SignedIn | None:
    """Return the person who is signed in on this device, or None."""
    key = find_visit_key()
    return proof.find_signed_in(db, key) if key else None


def find_visit_key() -> str:
    """Return the key of the visit that this device's cookie holds; empty if there is none."""
    key = session.get(VISIT)
    return key if isinstance(key, str) else ""


def require_signed_in() -> SignedIn:
    """Return the person who is signed in; raise Refused if there is none. Reads in a transaction of its own."""
    return _check_signed_in(load_signed_in())


@contextmanager
def writing_as_signed_in() -> Iterator[tuple[Connection, SignedIn]]:
    """Find the person who is signed in, and change what belongs to this person, in one transaction.

    Raise Refused if there is none; a device without the cookie is refused first, so that no other writer waits for it.
    """
    if not find_visit_key():
        raise _make_sign_in_refusal()
    with get_app().store.writing() as db:
        yield db, _check_signed_in(find_signed_in(db))


def _check_signed_in(person: SignedIn | None) -> SignedIn:
    """Return the person; raise Refused if there is none."""
    if person is None:
        raise _make_sign_in_refusal()
    return person


def _make_sign_in_refusal() -> Refused:
    return Refused("Please sign in first: write your address under “My tables”, and we send you a link.")


def begin_visit(key: str) -> None:
    """Sign in on this device, in place of the person who was signed in before."""
    session.clear()
    session.permanent = True
    session[VISIT] = key
