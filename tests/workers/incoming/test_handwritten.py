"""Answers and attacks written by hand, through the path of a mailbox: what was typed is played, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

import pytest

from engine import catalogue
from engine import table as tables
from service.house import House
from service.tables import snapshots
from service.tables.access import Place
from service.text.languages import LANGUAGES
from tests import houses
from tests.houses import Clock
from tests.workers.incoming import corpus, handwritten
from tests.workers.incoming.corpus import Written
from tests.workers.incoming.replies import clients
from tests.workers.incoming.replies.clients import Body
from tests.workers.incoming.test_corpus import begun, moved
from workers.incoming import mail_moves, mailbox_polling, reply_text
from workers.outgoing.answer_hints import Pen

GAMES = tuple(catalogue.games())
NAMES = tuple(handwritten.genuine("", "", ">\n" * 9, ""))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    chosen = houses.settings(tmp_path_factory.mktemp("house"), sender="table@games.example", answers_per_hour=100_000)
    with houses.standing(chosen, Clock()) as here:
        yield here


def turn(here: House, number: int) -> Place:
    """Somebody on turn at a new table."""
    place = corpus.on_turn(here, begun(here, GAMES[number % len(GAMES)])[0].table)
    assert place is not None
    return place


def heard(here: House, mail: Written) -> list[str]:
    """The moves that a mail makes."""
    before = len(moved(here))
    mailbox_polling.hand_on(here, f"Delivered-To: {mail.to}\n".encode() + mail.raw)
    mail_moves.hear()
    return moved(here)[before:]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_makes_the_move_that_was_typed(here: House, name: str) -> None:
    number = NAMES.index(name)
    place, language = turn(here, number), tuple(LANGUAGES)[number % 4]
    look = snapshots.look(here, place.table)
    move, entry = corpus.any_move(tables.menu(look.game, look.table, place.seat or 0), Random(number))
    letter, say = corpus.letter(here, place, language), Pen(look.game, look.names, language).move(move, entry)
    body = handwritten.genuine(say, letter, clients.marked(letter), clients.lines(letter))[name]
    assert heard(here, corpus.mail(here, place, name, body)) == [str(move)]


def typed(here: House, place: Place, number: int) -> str:
    """A move as its player would type it."""
    look = snapshots.look(here, place.table)
    entry = next(entry for entry in tables.menu(look.game, look.table, place.seat or 0) if entry.count())
    return Pen(look.game, look.names, tuple(LANGUAGES)[number % 4]).move(next(entry.moves()), entry)


@pytest.mark.parametrize("name", handwritten.PAGES)
def test_what_a_page_does_not_show_is_not_played(here: House, name: str) -> None:
    number = list(handwritten.PAGES).index(name)
    place = turn(here, number)
    page = handwritten.PAGES[name].format(typed(here, place, number))
    assert heard(here, corpus.mail(here, place, name, clients.html(page))) == []


@pytest.mark.parametrize("name", handwritten.TEXTS)
def test_what_somebody_else_wrote_is_not_played(here: House, name: str) -> None:
    number = list(handwritten.TEXTS).index(name)
    place = turn(here, number)
    text = handwritten.TEXTS[name].format(move=typed(here, place, number))
    assert heard(here, corpus.mail(here, place, name, clients.plain(text))) == []


@pytest.mark.parametrize("name", handwritten.HEADERS)
def test_what_a_program_or_a_stranger_sent_is_not_played(here: House, name: str) -> None:
    number = list(handwritten.HEADERS).index(name)
    place = turn(here, number)
    body = clients.plain(typed(here, place, number))
    assert heard(here, corpus.mail(here, place, name, body, **handwritten.HEADERS[name])) == []


def test_a_move_in_a_file_that_is_shown_below_the_text_is_not_played(here: House) -> None:
    place = turn(here, 0)
    file = 'Content-Type: text/plain; name="notes.txt"\nContent-Disposition: inline; filename="notes.txt"'
    body = clients.several("mixed", clients.plain("See below!"), Body(file, typed(here, place, 0).encode()))
    assert heard(here, corpus.mail(here, place, "a file", body)) == []


@pytest.mark.parametrize("line", ["<a@a>" * 140, "1 " + "<" * 350 + "@" * 345, "1" + "<@" * 345 + ":"])
def test_a_mail_of_addresses_without_end_costs_little(line: str) -> None:
    began = time.process_time()
    assert len(list(reply_text.unquoted("\n".join([line] * 60)))) <= 60
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("way", handwritten.WAYS)
def test_a_move_is_found_on_its_line_whatever_stands_around_it(here: House, way: str) -> None:
    number = handwritten.WAYS.index(way)
    place = turn(here, number)
    mail = corpus.mail(here, place, way, clients.plain(way.format(typed(here, place, number))))
    assert len(heard(here, mail)) == 1


@pytest.mark.parametrize("denial", handwritten.DENIALS)
def test_a_move_that_is_not_meant_is_not_played(here: House, denial: str) -> None:
    number = handwritten.DENIALS.index(denial)
    place = turn(here, number)
    mail = corpus.mail(here, place, denial, clients.plain(denial.format(typed(here, place, number))))
    assert heard(here, mail) == []
