"""The local mailbox answers letters as a mail program would: by SMTP, and what comes of it is a letter."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import fakeredis
import pytest
from flask.testing import FlaskClient

from engine import menu as menus
from engine import table as tables
from service import create_app, mailserver
from service.commands.run import embedded
from service.desk import Invited
from service.house import House
from service.mailserver import Letter
from service.settings import Settings


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    redis = fakeredis.FakeRedis(server=fakeredis.FakeServer())
    house = House(Settings(folder=tmp_path, thinking=0.01), redis=redis)
    house.store.migrate()
    with embedded(house):
        yield house
    house.close()


@pytest.fixture
def client(house: House) -> FlaskClient:
    return create_app(house).test_client()


def until(wanted: Callable[[], bool]) -> None:
    for _ in range(400):
        if wanted():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")


def began(house: House) -> str:
    """A table against a bot, where the guest is on turn and has the letter."""
    while True:
        opened = house.desk.open_table("kaiser", {}, [Invited("Guest", "guest@localhost"), Invited("Bot")])
        house.desk.verdict(house.desk.submit(house.desk.find(opened.links[0]), "sit word"), 5)
        look = house.desk.look(opened.table)
        if tables.menu(look.game, look.table, 0):
            until(lambda: any("your turn" in letter.text for letter in mailserver.newest(house)))
            return opened.table


def turn_letter(house: House) -> Letter:
    return next(letter for letter in mailserver.newest(house) if "your turn" in letter.text)


def reply(client: FlaskClient, letter: Letter, text: str, status: int = 303) -> str:
    page = client.get(f"/mailbox/{letter.id}").text
    token = re.search(r'name="csrf_token" value="([^"]+)"', page)
    data = {"text": text, **({"csrf_token": token[1]} if token else {})}
    response = client.post(f"/mailbox/{letter.id}", data=data)
    assert response.status_code == status, response.text
    return client.get(response.location).text if status == 303 else response.text


def test_a_letter_is_answered_by_a_move(house: House, client: FlaskClient) -> None:
    table = began(house)
    look = house.desk.look(table)
    move = str(next(menus.moves(tables.menu(look.game, look.table, 0))))
    assert "on its way" in reply(client, turn_letter(house), f"{move}\r\n\r\nBest wishes")
    until(lambda: any(entry.move == move for entry in house.desk.entries(house.desk.look(table))))


def test_a_question_is_answered_by_a_letter_that_follows_it(house: House, client: FlaskClient) -> None:
    began(house)
    reply(client, turn_letter(house), "status")
    until(lambda: "To move: " in mailserver.newest(house)[0].text)
    answer = mailserver.newest(house)[0]
    assert "> status" in answer.text
    assert "accepted" in answer.message_id
    reply(client, answer, "hilfe")
    until(lambda: "> hilfe" in mailserver.newest(house)[0].text)


def test_an_empty_answer_is_not_sent(house: House, client: FlaskClient) -> None:
    began(house)
    assert "Please write a line first" in reply(client, turn_letter(house), " \n ", 422)


def test_a_letter_without_an_address_for_answers_has_no_box(house: House, client: FlaskClient) -> None:
    began(house)
    with house.store.writing() as connection:
        row = {"at": 1, "recipient": "guest@localhost", "raw": b"Subject: hello\n\nhello\n"}
        connection.execute(mailserver.mailbox.insert(), row)
    letter = mailserver.newest(house)[0]
    assert "<textarea" not in client.get(f"/mailbox/{letter.id}").text
    assert client.post("/mailbox/99999", data={"text": "x"}).status_code in (400, 404)


def test_an_answer_that_cannot_be_sent_is_told_at_once(house: House, client: FlaskClient) -> None:
    began(house)
    letter, house.inbound = turn_letter(house), "smtp://127.0.0.1:1"
    assert "could not be sent" in reply(client, letter, "status", 422)
