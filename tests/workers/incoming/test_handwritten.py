"""Answers and attacks written by hand, through the path of a mailbox: what was typed is played, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

import pytest

from engine import catalogue
from engine import table as tables
from service.app import App
from service.tables.access import Place
from service.text.languages import LANGUAGES
from tests import apps
from tests.apps import FakeTime
from tests.workers.incoming import corpus, handwritten
from tests.workers.incoming.corpus import CorpusMail
from tests.workers.incoming.replies import clients
from tests.workers.incoming.replies.clients import Body
from tests.workers.incoming.test_corpus import list_mailed_moves, start_table
from workers.incoming import mail_moves, mailbox_polling, reply_text
from workers.outgoing.suggestions import MoveWriter

GAMES = tuple(catalogue.find_all())
NAMES = tuple(handwritten.genuine("", "", ">\n" * 9, ""))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    chosen = apps.make_settings(tmp_path_factory.mktemp("app"), sender="table@games.example", answers_per_hour=100_000)
    with apps.run_app(chosen, FakeTime()) as app:
        yield app


def turn(app: App, number: int) -> Place:
    """The place that is to move at a new table."""
    place = corpus.find_mover(app, start_table(app, GAMES[number % len(GAMES)])[0].table)
    assert place is not None
    return place


def judge_mail(app: App, mail: CorpusMail) -> list[str]:
    """The moves that a mail makes."""
    before = len(list_mailed_moves(app))
    mailbox_polling.receive_mail(app, f"Delivered-To: {mail.to}\n".encode() + mail.raw)
    mail_moves.run()
    return list_mailed_moves(app)[before:]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_makes_the_move_that_was_typed(app: App, name: str) -> None:
    number = NAMES.index(name)
    place, language = turn(app, number), tuple(LANGUAGES)[number % 4]
    snapshot = apps.load_table(app, place.table)
    move, entry = corpus.pick_move(tables.menu(snapshot.game, snapshot.position, place.seat or 0), Random(number))
    letter, say = (
        corpus.letter(app, place, language),
        MoveWriter(snapshot.game, snapshot.names, language).write(move, entry),
    )
    body = handwritten.genuine(say, letter, clients.mark_quoted(letter), clients.lines(letter))[name]
    assert judge_mail(app, corpus.mail(app, place, name, body)) == [str(move)]


def type_move(app: App, place: Place, number: int) -> str:
    """A move as its player would type it."""
    snapshot = apps.load_table(app, place.table)
    entry = next(entry for entry in tables.menu(snapshot.game, snapshot.position, place.seat or 0) if entry.count())
    return MoveWriter(snapshot.game, snapshot.names, tuple(LANGUAGES)[number % 4]).write(
        next(entry.iter_moves()), entry
    )


@pytest.mark.parametrize("name", handwritten.PAGES)
def test_what_a_page_does_not_show_is_not_played(app: App, name: str) -> None:
    number = list(handwritten.PAGES).index(name)
    place = turn(app, number)
    page = handwritten.PAGES[name].format(type_move(app, place, number))
    assert judge_mail(app, corpus.mail(app, place, name, clients.html(page))) == []


@pytest.mark.parametrize("name", handwritten.TEXTS)
def test_another_persons_words_are_not_played(app: App, name: str) -> None:
    number = list(handwritten.TEXTS).index(name)
    place = turn(app, number)
    text = handwritten.TEXTS[name].format(move=type_move(app, place, number))
    assert judge_mail(app, corpus.mail(app, place, name, clients.plain(text))) == []


@pytest.mark.parametrize("name", handwritten.HEADERS)
def test_what_a_program_or_a_stranger_sent_is_not_played(app: App, name: str) -> None:
    number = list(handwritten.HEADERS).index(name)
    place = turn(app, number)
    body = clients.plain(type_move(app, place, number))
    assert judge_mail(app, corpus.mail(app, place, name, body, **handwritten.HEADERS[name])) == []


def test_a_move_in_a_file_that_is_shown_below_the_text_is_not_played(app: App) -> None:
    place = turn(app, 0)
    file = 'Content-Type: text/plain; name="notes.txt"\nContent-Disposition: inline; filename="notes.txt"'
    body = clients.make_multipart("mixed", clients.plain("See below!"), Body(file, type_move(app, place, 0).encode()))
    assert judge_mail(app, corpus.mail(app, place, "a file", body)) == []


@pytest.mark.parametrize("line", ["<a@a>" * 140, "1 " + "<" * 350 + "@" * 345, "1" + "<@" * 345 + ":"])
def test_a_mail_of_addresses_without_end_costs_little(line: str) -> None:
    began = time.process_time()
    assert len(list(reply_text.iter_unquoted("\n".join([line] * 60)))) <= 60
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("way", handwritten.WAYS)
def test_a_move_is_found_on_its_line_among_other_words(app: App, way: str) -> None:
    number = handwritten.WAYS.index(way)
    place = turn(app, number)
    mail = corpus.mail(app, place, way, clients.plain(way.format(type_move(app, place, number))))
    assert len(judge_mail(app, mail)) == 1


@pytest.mark.parametrize("denial", handwritten.DENIALS)
def test_a_move_that_is_not_meant_is_not_played(app: App, denial: str) -> None:
    number = handwritten.DENIALS.index(denial)
    place = turn(app, number)
    mail = corpus.mail(app, place, denial, clients.plain(denial.format(type_move(app, place, number))))
    assert judge_mail(app, mail) == []
