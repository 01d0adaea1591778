"""A corpus of our own making: answers of many programs in many languages are right, and no hostile mail moves."""

from __future__ import annotations

import smtplib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from engine import catalogue
from service.house import House
from service.store.schema import letters, mails, submissions
from service.tables import access, opening, snapshots
from service.tables.access import Place
from service.tables.opening import Invited
from tests import houses
from tests.houses import Clock
from tests.workers.incoming import corpus
from tests.workers.incoming.corpus import Written
from tests.workers.incoming.test_inbox import listening
from workers.incoming import mail_moves, mailbox_polling

FEW, MANY = 24, 400
GAMES = tuple(catalogue.games())
WRONG = 1  # of eighty


@pytest.fixture
def here(tmp_path: Path, clock: Clock) -> Iterator[House]:
    chosen = houses.settings(tmp_path, sender="table@games.example", answers_per_hour=100_000)
    with houses.standing(chosen, clock) as here:
        yield here


def begun(here: House, game: str, seats: int = 2) -> list[Place]:
    """The places of a new table of this game, where everybody sits."""
    guests = [Invited(name, f"{name.lower()}@example.org") for name in houses.NAMES[:seats]]
    places = [access.find(here, link) for link in opening.open_table(here, game, {}, guests).links]
    for place in places:
        assert houses.judged(here, place, "sit word").accepted
    return places


def moved(here: House) -> list[str]:
    own = select(submissions.c.move).where(submissions.c.by_mail, submissions.c.accepted).order_by(submissions.c.id)
    with here.store.reading() as connection:
        return list(connection.execute(own).scalars())


def handed_over(here: House, client: smtplib.SMTP, mail: Written, by_imap: bool) -> None:
    """The mail on its way in: by LMTP in a conversation, or as it is fetched from a mailbox."""
    if by_imap:
        mailbox_polling.hand_on(here, mail.raw.replace(b"To: ", f"Delivered-To: {mail.to}\nTo: ".encode(), 1))
    else:
        client.sendmail(mail.sender, [mail.to], mail.raw.replace(b"\n", b"\r\n"))
    mail_moves.hear()


def answers(here: House, client: smtplib.SMTP, numbers: Iterable[int]) -> list[str]:
    """What went wrong with these genuine answers, each of them the next move of a game that goes on."""
    wrong, tables = list[str](), dict[str, str]()
    for number in numbers:
        game = GAMES[number % len(GAMES)]
        table = tables.get(game) or begun(here, game)[0].table
        place = corpus.on_turn(here, table)
        if place is None:
            table = begun(here, game)[0].table
            place = corpus.on_turn(here, table)
        assert place is not None
        tables[game] = table
        mail, before = corpus.genuine(here, place, number), moved(here)
        handed_over(here, client, mail, by_imap=bool(number % 2))
        if moved(here) != [*before, mail.move]:
            wrong.append(f"{mail.name}: {mail.move}, but {moved(here)[len(before) :]}: {_report(here)}")
    return wrong


def _report(here: House) -> str:
    with here.store.reading() as connection:
        return str(
            connection.execute(select(mails.c.lines, mails.c.report).order_by(mails.c.id.desc()).limit(1)).first()
        )


def test_answers_of_many_programs_in_many_languages_are_right(here: House) -> None:
    with listening(here) as client:
        assert answers(here, client, range(FEW)) == []


@pytest.mark.soak
def test_at_least_seventy_nine_of_eighty_answers_are_right(here: House) -> None:
    with listening(here) as client:
        wrong = answers(here, client, range(MANY))
    print(f"{MANY - len(wrong)} of {MANY} answers are right")
    assert len(wrong) * 80 <= WRONG * MANY, "\n".join(wrong)


def harmful(here: House, place: Place, sent: Iterator[Written]) -> list[str]:
    """The mails of these that did something at the table."""
    length = houses.length(here, place)
    with listening(here) as client:
        for number, mail in enumerate(sent):
            handed_over(here, client, mail, by_imap=bool(number % 2))
            if moved(here) or houses.length(here, place) != length:
                return [f"{mail.name}: {moved(here)}: {_report(here)}"]
    return []


@pytest.mark.parametrize("game", GAMES)
def test_no_mail_moves_that_only_quotes_us(here: House, game: str) -> None:
    place, _ = houses.on_turn(here, begun(here, game))
    numbers = range(GAMES.index(game), FEW, len(GAMES))
    assert harmful(here, place, (corpus.quoting_only(here, place, number) for number in numbers)) == []


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES)
def test_no_mail_moves_that_only_quotes_us_however_it_does(here: House, game: str) -> None:
    place, _ = houses.on_turn(here, begun(here, game))
    numbers = range(len(corpus.PROGRAMS) * len(corpus.QUOTING))
    assert harmful(here, place, (corpus.quoting_only(here, place, number) for number in numbers)) == []


def test_no_hostile_mail_moves_and_few_are_answered(here: House) -> None:
    place, _ = houses.on_turn(here, begun(here, "kurier"))
    turns = (houses.on_turn(here, begun(here, "kurier"))[0] for _ in range(50))
    other = next(turn for turn in turns if turn.seat != place.seat)  # of another player
    sent = list(corpus.attacks(here, place, other))
    assert len(sent) >= 80
    assert harmful(here, place, iter(sent)) == []
    with here.store.reading() as connection:
        answered = connection.execute(select(letters.c.kind).where(letters.c.kind.like("%/%"))).scalars().all()
    assert len(answered) <= len(corpus.HIDING) + len(corpus.QUOTES) + 12
    assert snapshots.look(here, other.table).row.length == houses.length(here, other)
