"""Names and addresses as people type them: cleaned, or refused with a sentence that helps."""

from __future__ import annotations

import re
import unicodedata

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from engine.refusal import Refused
from service.store.schema import people

NAME_LENGTH = 40
ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?){1,10}"
)


def clean_name(text: str) -> str:
    """A name that can stand in a letter's heading."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise Refused("Please give every player a name.")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn") for letter in name):
        raise Refused("A name can have letters, digits and spaces, but no control characters.")
    if len(name) > NAME_LENGTH:
        raise Refused("A name can have at most {most} letters; “{name}” is longer.", most=NAME_LENGTH, name=name[:20])
    return name


def clean_address(text: str) -> str:
    """An e-mail address, in the form by which it is known."""
    address = text.strip()
    local, _, domain = address.rpartition("@")
    if len(address) > 254 or not ADDRESS.fullmatch(address) or ".." in address or local[:1] + local[-1:] in ("..", "."):
        shown = "".join(letter if letter.isprintable() else "?" for letter in address[:60])
        raise Refused("“{address}” is not an e-mail address; it should look like anna@example.org.", address=shown)
    return f"{local}@{domain.rstrip('.').lower()}"


def clean_nonce(text: str, otherwise: str) -> str:
    """A player's own word for the dice, as one token; a random one where he left it empty."""
    word = "-".join("".join(letter for letter in text if letter.isprintable()).split())
    return word[:40] or otherwise


def person(connection: Connection, address: str, name: str, at: int, language: str = "en") -> int:
    """The person with this address, noted now if not known before."""
    known = select(people.c.id).where(people.c.address == address)
    found = connection.execute(known).scalar_one_or_none()
    if found is not None:
        return int(found)
    try:
        with connection.begin_nested():
            connection.execute(insert(people), {"address": address, "name": name, "language": language, "since": at})
    except IntegrityError:  # noted by somebody else in this very moment
        pass
    return int(connection.execute(known).scalar_one())


def reachable(connection: Connection, person: int) -> None:
    """Letters reach this person, as was proven just now: by a mail of his, or because he followed a letter's link."""
    bounced = update(people).where(people.c.id == person, people.c.bounced_at.is_not(None))
    connection.execute(bounced.values(bounced_at=None, bounce=""))
