"""Names and addresses as people type them: cleaned, or refused with a sentence that helps."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from engine.refusal import Refused
from service import numbers
from service.store import queries
from service.store.schema import people, seats, tables

UNSEEN = "\n\u200c\u200d"  # ends of lines, and what joins letters to words and signs to pictures
MANY_EMPTY = re.compile(r"\n{3,}")
ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?){1,10}"
)


def clean_address(text: str) -> str:
    """An e-mail address, in the form by which it is known."""
    address = text.strip()
    local, _, domain = address.rpartition("@")
    if len(address) > 254 or not ADDRESS.fullmatch(address) or ".." in address or local[:1] + local[-1:] in ("..", "."):
        shown = "".join(letter if letter.isprintable() else "?" for letter in address[:60])
        raise Refused("“{address}” is not an e-mail address; it should look like anna@example.org.", address=shown)
    return f"{local}@{domain.rstrip('.').lower()}"


def clean_text(text: str) -> str:
    """Lines of writing as they can be shown anywhere, with at most one empty line between two of them."""
    lines = unicodedata.normalize("NFC", text).replace("\t", " ").splitlines()
    written = MANY_EMPTY.sub("\n\n", "\n".join(line.rstrip() for line in lines).strip())
    if not all(letter.isprintable() or letter in UNSEEN for letter in written):
        raise Refused("Please write in letters, digits and signs, without control characters.")
    return written


def clean_nonce(text: str, otherwise: str) -> str:
    """A player's own word for the dice, as one token; a random one where he left it empty."""
    word = "-".join("".join(letter for letter in text if letter.isprintable()).split())
    return word[:40] or otherwise


def person(connection: Connection, address: str, name: str, at: int, language: str = "en") -> int:
    """The person with this address, noted now if not known before.

    Who has neither chosen a language nor sat down anywhere gets letters in this one.
    """
    known = select(people.c.id).where(people.c.address == address).with_for_update(read=True, key_share=True)
    found = connection.execute(known).scalar_one_or_none()
    if found is not None:
        plays = exists().where(seats.c.person == found, seats.c.status != "invited")
        new = update(people).where(people.c.id == found, ~people.c.chose, people.c.language != language, ~plays)
        connection.execute(new.values(language=language))
        return int(found)
    row = {"address": address, "name": name, "language": language, "chose": False, "since": at}
    try:
        with connection.begin_nested():
            connection.execute(insert(people), row)
    except IntegrityError:  # another request inserted the person in this moment
        pass
    return int(connection.execute(known).scalar_one())


def speak(connection: Connection, person: int, language: str) -> None:
    """This person has chosen a language."""
    connection.execute(update(people).where(people.c.id == person).values(language=language, chose=True))


def find(connection: Connection, number: str) -> Any:
    """The person of that number, as a token names it; None where there is none."""
    known = select(people).where(people.c.id == numbers.parse_int(number))
    return connection.execute(known).one_or_none()


def reachable(connection: Connection, person: int) -> None:
    """Letters reach this person, as was proven just now: by a mail of his, or because he followed a letter's link."""
    bounced = update(people).where(people.c.id == person, people.c.bounced_at.is_not(None))
    connection.execute(bounced.values(bounced_at=None, bounce=""))


def find_address(db: Connection, person: int) -> str:
    """The address of this person."""
    return str(db.execute(select(people.c.address).where(people.c.id == person)).scalar_one())


def is_confirmed(connection: Connection, person: int) -> bool:
    """Whether it is proven that letters reach this person."""
    return connection.execute(select(people.c.confirmed_at).where(people.c.id == person)).scalar_one() is not None


def confirmed(connection: Connection, person: int, at: int) -> None:
    """It is proven now that letters reach this person: those that waited for the first such proof are due.

    Of somebody who was proven before this releases no table: a stranger may have opened it in his name.
    """
    reachable(connection, person)
    unproven = update(people).where(people.c.id == person, people.c.confirmed_at.is_(None))
    if connection.execute(unproven.values(confirmed_at=at)).rowcount:
        release(connection, held(connection, person), at)
        queries.release_letters_to(connection, person, at)


def release(connection: Connection, waiting: Iterable[str], at: int) -> None:
    """Let the letters of these tables go: who opened them is known."""
    for table in waiting:
        queries.release_letters(connection, table, at)


def held(connection: Connection, person: int) -> list[str]:
    """The tables opened by this person whose letters wait until the address is proven."""
    joined = tables.join(seats, (seats.c.table == tables.c.id) & (seats.c.seat == queries.organiser_of(tables.c.id)))
    wanted = select(tables.c.id).select_from(joined).where(tables.c.held, seats.c.person == person)
    return list(connection.execute(wanted).scalars())


def forgotten(person: int) -> str:
    """What replaces the address of a deleted person; no real address looks like it."""
    return f"#{person}"


def forget(connection: Connection, person: int) -> None:
    """Delete a person's data; the number stays, so that old links never lead to another person."""
    nobody = {"address": forgotten(person), "name": "", "calendar": "", "wishes": "", "bounce": "", "since": 0}
    never = {"confirmed_at": None, "bounced_at": None, "signed_at": None, "language": "en"}
    remaining = update(people).where(people.c.id == person)
    connection.execute(remaining.values(**nobody, **never, sessions=people.c.sessions + 1))
