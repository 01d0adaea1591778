"""Answers by mail, received in a real LMTP conversation."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage

import pytest
from sqlalchemy import select

from service.commands.run import lmtp
from service.desk import Place
from service.house import House
from service.languages import Said
from service.store.schema import letters, submissions
from tests import houses
from workers import inbox, referee


@pytest.fixture
def here(tmp_path) -> Iterator[House]:
    with houses.standing(houses.settings(tmp_path, sender="table@games.example"), houses.Clock()) as here:
        yield here


@contextmanager
def listening(here: House) -> Iterator[smtplib.LMTP]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = lmtp(here, "127.0.0.1", port)
    server.start()
    try:
        with smtplib.LMTP("127.0.0.1", port) as client:
            yield client
    finally:
        server.stop()


def address(here: House, place: Place) -> str:
    return here.desk.address_of(here.desk.look(place.table).seats[place.seat])


def answer(here: House, place: Place, body: str, **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = f"Somebody <{here.desk.owner(place)}>"
    message["To"] = address(here, place)
    message["Subject"] = "Re: your move"
    message["Message-ID"] = "<one@example.org>"
    for name, value in headers.items():
        del message[name.replace("_", "-")]
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message


def sent(here: House, message: EmailMessage) -> None:
    with listening(here) as client:
        client.send_message(message)
    referee.hear()


def handed_in(here: House) -> list[str]:
    with here.store.reading() as connection:
        return list(connection.execute(select(submissions.c.move).where(submissions.c.by_mail)).scalars())


def refusals(here: House) -> list[str]:
    with here.store.reading() as connection:
        said = select(letters.c.said).where(letters.c.kind.like("refused/%"))
        return [str(Said.read(kept)) for kept in connection.execute(said).scalars()]


def test_the_first_own_line_is_the_move(here):
    place, move = houses.on_turn(here, houses.seated(here))
    before = houses.length(here, place)
    sent(here, answer(here, place, f"\n  {move.upper()}.\n\nSee you soon!\n> what was written before\n"))
    assert handed_in(here) == [f"{move.upper()}."]
    assert houses.length(here, place) == before + 1


def test_lines_quoted_above_are_not_the_move(here):
    place, move = houses.on_turn(here, houses.seated(here))
    body = f"On Monday, Depesche wrote:\n> It is your turn\n> move A1 A2\n\n{move}\n"
    sent(here, answer(here, place, body))
    assert handed_in(here) == [move]


def test_the_same_mail_twice_is_one_move(here):
    place, move = houses.on_turn(here, houses.seated(here))
    before = houses.length(here, place)
    for _ in range(2):
        sent(here, answer(here, place, move))
    assert houses.length(here, place) == before + 1
    assert refusals(here) == []


def test_what_is_no_move_is_answered_by_a_letter_that_says_why(here):
    place, _ = houses.on_turn(here, houses.seated(here))
    before = houses.length(here, place)
    sent(here, answer(here, place, "fly me to the moon"))
    assert houses.length(here, place) == before
    assert len(refusals(here)) == 1
    assert "“fly”" in refusals(here)[0]


def test_every_mistake_is_answered(here):
    place, _ = houses.on_turn(here, houses.seated(here))
    for number in range(2):
        sent(here, answer(here, place, "fly", Message_ID=f"<{number}@example.org>"))
    sent(here, answer(here, place, "x" * 3000, Message_ID="<3@example.org>"))
    assert len(refusals(here)) == 3


@pytest.mark.parametrize(
    "headers",
    [{"Auto_Submitted": "auto-replied"}, {"Precedence": "bulk"}, {"From": "Mallory <mallory@example.com>"}],
    ids=str,
)
def test_machines_and_strangers_do_not_play(here, headers):
    place, move = houses.on_turn(here, houses.seated(here))
    sent(here, answer(here, place, move, **headers))
    assert handed_in(here) == []
    assert refusals(here) == []


def test_a_forged_address_is_nobodys(here):
    place, move = houses.on_turn(here, houses.seated(here))
    message, right = answer(here, place, move), address(here, place)
    for wrong in (
        right.replace("@", "x@"),
        "play+@games.example",
        "play+a.b@games.example",
        f"play+{place.table}.9.x@h",
    ):
        assert inbox.take(here, message.as_bytes(), wrong) is None
    assert handed_in(here) == []


def test_a_mail_without_a_line_of_its_own_is_answered(here):
    place, _ = houses.on_turn(here, houses.seated(here))
    sent(here, answer(here, place, "> only quoted\n"))
    assert len(refusals(here)) == 1
