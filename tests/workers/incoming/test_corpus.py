"""A corpus of our own making: answers of many programs in many languages are right, and no hostile mail moves."""

from __future__ import annotations

import smtplib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from engine import catalogue
from service.app import App
from service.store.schema import letters, mails, submissions
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from tests import apps
from tests.apps import FakeTime
from tests.workers.incoming import corpus
from tests.workers.incoming.corpus import CorpusMail
from tests.workers.incoming.test_inbox import listening
from workers.incoming import mail_moves, mailbox_polling

SAMPLE_SIZE, SOAK_SIZE = 24, 400
GAMES = tuple(catalogue.find_all())
WRONG = 1  # of eighty


@pytest.fixture
def app(tmp_path: Path, clock: FakeTime) -> Iterator[App]:
    chosen = apps.make_settings(tmp_path, sender="table@games.example", answers_per_hour=100_000)
    with apps.run_app(chosen, clock) as app:
        yield app


def start_table(app: App, game: str, seats: int = 2) -> list[Place]:
    """Open a table of this game, let everybody sit down, and return the places."""
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES[:seats]]
    places = [access.find(app, link) for link in apps.open_new(app, game, {}, guests).links]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    return places


def list_mailed_moves(app: App) -> list[str]:
    own = select(submissions.c.move).where(submissions.c.by_mail, submissions.c.accepted).order_by(submissions.c.id)
    with app.store.reading() as connection:
        return list(connection.execute(own).scalars())


def hand_over(app: App, client: smtplib.SMTP, mail: CorpusMail, by_imap: bool) -> None:
    """Hand over a mail by LMTP in a conversation, or as if it were fetched from a mailbox."""
    if by_imap:
        mailbox_polling.receive_mail(app, mail.raw.replace(b"To: ", f"Delivered-To: {mail.to}\nTo: ".encode(), 1))
    else:
        client.sendmail(mail.sender, [mail.to], mail.raw.replace(b"\n", b"\r\n"))
    mail_moves.run()


def answers(app: App, client: smtplib.SMTP, numbers: Iterable[int]) -> list[str]:
    """Hand over genuine answers, each the next move of a game, and return the faults."""
    wrong, tables = list[str](), dict[str, str]()
    for number in numbers:
        game = GAMES[number % len(GAMES)]
        table = tables.get(game) or start_table(app, game)[0].table
        place = corpus.find_mover(app, table)
        if place is None:
            table = start_table(app, game)[0].table
            place = corpus.find_mover(app, table)
        assert place is not None
        tables[game] = table
        mail, before = corpus.genuine(app, place, number), list_mailed_moves(app)
        hand_over(app, client, mail, by_imap=bool(number % 2))
        if list_mailed_moves(app) != [*before, mail.move]:
            wrong.append(f"{mail.name}: {mail.move}, but {list_mailed_moves(app)[len(before) :]}: {_report(app)}")
    return wrong


def _report(app: App) -> str:
    with app.store.reading() as connection:
        return str(
            connection.execute(select(mails.c.lines, mails.c.report).order_by(mails.c.id.desc()).limit(1)).first()
        )


def test_answers_of_many_programs_in_many_languages_are_right(app: App) -> None:
    with listening(app) as client:
        assert answers(app, client, range(SAMPLE_SIZE)) == []


@pytest.mark.soak
def test_at_least_seventy_nine_of_eighty_answers_are_right(app: App) -> None:
    with listening(app) as client:
        wrong = answers(app, client, range(SOAK_SIZE))
    print(f"{SOAK_SIZE - len(wrong)} of {SOAK_SIZE} answers are right")
    assert len(wrong) * 80 <= WRONG * SOAK_SIZE, "\n".join(wrong)


def harmful(app: App, place: Place, sent: Iterator[CorpusMail]) -> list[str]:
    """The mails of these that did something at the table."""
    length = apps.count_entries(app, place)
    with listening(app) as client:
        for number, mail in enumerate(sent):
            hand_over(app, client, mail, by_imap=bool(number % 2))
            if list_mailed_moves(app) or apps.count_entries(app, place) != length:
                return [f"{mail.name}: {list_mailed_moves(app)}: {_report(app)}"]
    return []


@pytest.mark.parametrize("game", GAMES)
def test_no_mail_moves_that_only_quotes_us(app: App, game: str) -> None:
    place, _ = apps.find_move(app, start_table(app, game))
    numbers = range(GAMES.index(game), SAMPLE_SIZE, len(GAMES))
    assert harmful(app, place, (corpus.write_mail_without_move(app, place, number) for number in numbers)) == []


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES)
def test_no_mail_moves_that_only_quotes_us_however_it_does(app: App, game: str) -> None:
    place, _ = apps.find_move(app, start_table(app, game))
    numbers = range(len(corpus.PROGRAMS) * len(corpus.QUOTING_LANGUAGES))
    assert harmful(app, place, (corpus.write_mail_without_move(app, place, number) for number in numbers)) == []


def test_no_hostile_mail_moves_and_few_are_answered(app: App) -> None:
    place, _ = apps.find_move(app, start_table(app, "kurier"))
    turns = (apps.find_move(app, start_table(app, "kurier"))[0] for _ in range(50))
    other = next(turn for turn in turns if turn.seat != place.seat)  # of another player
    sent = list(corpus.attacks(app, place, other))
    assert len(sent) >= 80
    assert harmful(app, place, iter(sent)) == []
    with app.store.reading() as connection:
        answered = connection.execute(select(letters.c.kind).where(letters.c.kind.like("%/%"))).scalars().all()
    assert len(answered) <= len(corpus.HIDDEN_MOVES) + len(corpus.QUOTES) + 12
    assert apps.load_table(app, other.table).row.length == apps.count_entries(app, other)
