"""Rate limits for letters, so that forms cannot flood a mailbox. A server that sends no letters has no limits.

A stranger can type any address. So the number of invitations is limited where they leave, and no page says that a
mailbox has had its number for the day: that would tell what others sent there.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import BindParameter, Connection, Select, bindparam, func, or_, select

from engine.refusal import Refused
from service.settings import DAY_S, EMBEDDED, Settings
from service.store import queries
from service.store.schema import letters, people, seats, tables
from service.timing import HOUR_S

MAX_UNCONFIRMED_TABLES = 3
MAX_SIGN_IN_LETTERS_PER_HOUR = 3
MAX_SIGN_IN_LETTERS_PER_DAY = 10
MAX_QUESTIONS_PER_HOUR = 5  # to one player of a table
QUESTION_KINDS = ("asked", "pausing", "sealing")
INVITATION_KINDS, CONFIRM_KIND = ("invitation", "seat"), "confirm"


def refuse_many_tables(
    connection: Connection, settings: Settings, organiser: int | None, at: int, proven: bool
) -> None:
    """Raise Refused if an organiser opens too many tables; `proven` is whether the organiser's address is proven.

    With an unproven address only a few tables can await confirmation, and only a few letters a day ask for it; else
    the host's limit for an hour counts. A table without addresses has no organiser (None) and no limit, because it
    sends no letters.
    """
    if settings.smtp == EMBEDDED or organiser is None:
        return
    if settings.confirms and not proven:
        waiting_tables = _count_unconfirmed_tables(connection, organiser)
        todays_letters = _count_confirmation_letters(connection, organiser, at - DAY_S)
        if max(waiting_tables, todays_letters) >= MAX_UNCONFIRMED_TABLES:
            raise Refused("Please confirm your address first; the link is in the letter that we sent you.")
    elif _count_opened_tables(connection, organiser, at - HOUR_S) >= settings.opens_per_hour:
        raise Refused("That was a little too much at once; please wait a while and try again.")


def _make_count_of_letters_ahead() -> Select[tuple[int]]:
    """Make the statement of `count_letters_ahead`: it counts invitations, and questions whether an address is right."""
    number_type = letters.c.id.type
    # To compile the lists of `in_`, `fetch` needs values of all parameters: these zeros, which it replaces later.
    person = bindparam("person", value=0, type_=number_type)
    letter = bindparam("letter", value=0, type_=number_type)
    since = bindparam("since", value=0, type_=number_type)
    comes_before = or_(
        (letters.c.outcome == "sent") & (letters.c.sent_at > since),
        letters.c.sent_at.is_(None) & (letters.c.due_at < queries.NEVER_DUE) & (letters.c.id < letter),
    )
    mailbox = _select_mailbox(person)
    of_seats = seats.join(letters, (letters.c.table == seats.c.table) & (letters.c.seat == seats.c.seat))
    invitations = select(func.count()).select_from(of_seats)
    invitations = invitations.where(seats.c.person.in_(mailbox), letters.c.kind.in_(INVITATION_KINDS), comes_before)
    is_question = letters.c.kind.startswith(f"{CONFIRM_KIND}/")
    questions = select(func.count()).select_from(letters)
    questions = questions.where(letters.c.person.in_(mailbox), is_question, comes_before)
    return select(invitations.scalar_subquery() + questions.scalar_subquery())


def count_letters_ahead(connection: Connection, person: int, letter: int, at: int) -> int:
    """Count the invitations and the questions whether an address is right that come before this letter.

    These are the ones to this person's mailbox that were sent within a day, or are older than this one and still wait.
    """
    values = {"person": person, "letter": letter, "since": at - DAY_S}
    [row] = queries.fetch(connection, LETTERS_AHEAD, values)
    (count,) = row
    return int(count)


def may_send_sign_in_letter(connection: Connection, person: int, at: int) -> bool:
    """Return whether the limits of an hour and of a day allow another sign-in letter to this mailbox."""
    return (
        _count_sign_in_letters(connection, person, at - HOUR_S) < MAX_SIGN_IN_LETTERS_PER_HOUR
        and _count_sign_in_letters(connection, person, at - DAY_S) < MAX_SIGN_IN_LETTERS_PER_DAY
    )


def refuse_many_questions(connection: Connection, table: str, asked_seats: Sequence[int], at: int) -> None:
    """Raise Refused if one of these seats at a table was asked too many questions within an hour.

    The letter with the newest question is owed before this is called, and counts too. Letters that wait for a proof of
    address do not count.
    """
    recent = (letters.c.due_at > at - HOUR_S, letters.c.due_at < queries.NEVER_DUE)
    questions = (letters.c.table == table, letters.c.seat.in_(asked_seats), letters.c.kind.in_(QUESTION_KINDS))
    counted = select(func.count()).where(*questions, *recent).group_by(letters.c.seat)
    if max(connection.execute(counted).scalars(), default=0) > MAX_QUESTIONS_PER_HOUR:
        raise Refused("You have asked the others very often within an hour; please ask again later.")


def _select_mailbox(person: int | BindParameter[int]) -> Select[tuple[int]]:
    """Select all persons with the mailbox of this person: `anna+1@…` is read where `anna@…` is."""
    own = select(people.c.mailbox).where(people.c.id == person).scalar_subquery()
    return select(people.c.id).where(or_(people.c.id == person, (people.c.mailbox == own) & (people.c.mailbox != "")))


LETTERS_AHEAD = _make_count_of_letters_ahead()


def _count_sign_in_letters(connection: Connection, person: int, since: int) -> int:
    """Count the sign-in letters that were requested since then.

    Their kind is `enter/` and the time of the request, always in ten digits, so that texts compare as the times do.
    """
    is_recent = (letters.c.kind > f"enter/{since}") & (letters.c.kind < "enter/a")  # a digit comes before a letter
    counted = select(func.count()).select_from(letters).where(letters.c.person.in_(_select_mailbox(person)), is_recent)
    return int(connection.execute(counted).scalar_one())


def _count_unconfirmed_tables(connection: Connection, organiser: int) -> int:
    """Count the tables of this mailbox whose letters wait until the organiser confirms them."""
    own = (seats.c.person.in_(_select_mailbox(organiser)), seats.c.seat == queries.select_organiser(seats.c.table))
    counted = select(func.count()).select_from(seats.join(tables)).where(*own, tables.c.awaits_confirmation)
    return int(connection.execute(counted).scalar_one())


def _count_opened_tables(connection: Connection, person: int, since: int) -> int:
    """Count the tables that were opened with this mailbox since then."""
    own = (
        seats.c.person.in_(_select_mailbox(person)),
        seats.c.seat == queries.select_organiser(seats.c.table),
        tables.c.opened_at > since,
    )
    counted = select(func.count()).select_from(seats.join(tables)).where(*own)
    return int(connection.execute(counted).scalar_one())


def _count_confirmation_letters(connection: Connection, person: int, since: int) -> int:
    """Count the letters since then that asked this mailbox to confirm an address."""
    confirmations = (
        letters.c.person.in_(_select_mailbox(person)),
        letters.c.kind.startswith("confirm/"),
        letters.c.due_at > since,
    )
    return int(connection.execute(select(func.count()).select_from(letters).where(*confirmations)).scalar_one())
