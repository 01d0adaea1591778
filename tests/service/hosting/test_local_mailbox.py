"""The local mailbox answers letters by SMTP, as a mail program does, and gets a letter back."""

from __future__ import annotations

import smtplib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from engine import menu as menus
from engine import table as tables
from service import create_app
from service.app import App, read_clock
from service.hosting import local_mailbox
from service.hosting.local_mailbox import StoredLetter
from service.settings import Settings
from service.store.schema import mailbox
from service.tables import access, submitting
from service.tables.opening import Invitee
from tests import apps
from workers.processes import run_embedded


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = apps.make_app(Settings(folder=tmp_path, thinking=0.01), read_clock)
    with run_embedded(app):
        yield app
    app.close()


@pytest.fixture
def client(app: App) -> FlaskClient:
    return create_app(app).test_client()


def wait_until(is_true: Callable[[], bool]) -> None:
    for _ in range(400):
        if is_true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not become true in time")


def start_game(app: App) -> StoredLetter:
    """Open a table against a bot and return the letter that says that the guest is to move."""
    opened = apps.open_new(app, "kaiser", {}, [Invitee("Guest", "guest@localhost"), Invitee("Bot")])
    submitting.wait_for_verdict(app, submitting.submit(app, access.find(app, opened.links[0]), "sit word"), 5)
    return wait_for_letter(app, "Guest, it is your turn")


def wait_for_letter(app: App, words: str) -> StoredLetter:
    """Return the newest letter with these words, as soon as it arrives."""
    wait_until(lambda: any(words in letter.text for letter in local_mailbox.list_newest(app)))
    return next(letter for letter in local_mailbox.list_newest(app) if words in letter.text)


def reply(client: FlaskClient, letter: StoredLetter, text: str, status: int = 303) -> str:
    response = client.post(f"/mailbox/{letter.id}", data={"text": text})
    assert response.status_code == status, response.text
    return client.get(response.location).text if status == 303 else response.text


def test_a_letter_is_answered_by_a_move(app: App, client: FlaskClient) -> None:
    letter = start_game(app)
    table = letter.message_id[1:].partition(".")[0]
    snapshot = apps.load_table(app, table)
    move = str(next(menus.iter_moves(tables.menu(snapshot.game, snapshot.position, 0))))
    assert "on its way" in reply(client, letter, f"{move}\r\n\r\nBest wishes")
    wait_until(lambda: any(entry.move == move for entry in apps.load_entries(app, apps.load_table(app, table))))


def test_a_question_is_answered_by_a_letter_that_can_be_answered_too(app: App, client: FlaskClient) -> None:
    reply(client, start_game(app), "status")
    answer = wait_for_letter(app, "> status")
    assert "To move: Guest." in answer.text
    assert "accepted" in answer.message_id
    reply(client, answer, "hilfe")
    assert "put each move on its own line" in " ".join(wait_for_letter(app, "> hilfe").text.split())


def test_an_empty_answer_is_not_sent(app: App, client: FlaskClient) -> None:
    assert "Please write a line first" in reply(client, start_game(app), " \n ", 422)


def test_a_letter_without_an_address_for_answers_has_no_box(app: App, client: FlaskClient) -> None:
    with app.store.writing() as connection:
        row = {"at": 1, "recipient": "guest@localhost", "raw": b"Subject: hello\n\nhello\n"}
        connection.execute(mailbox.insert(), row)
    assert "<textarea" not in client.get(f"/mailbox/{wait_for_letter(app, 'hello').id}").text


def test_an_answer_that_cannot_be_sent_is_refused_at_once(app: App, client: FlaskClient) -> None:
    letter, app.inbound = start_game(app), "smtp://127.0.0.1:1"
    assert "could not be sent" in reply(client, letter, "status", 422)


def test_answers_are_received_at_the_address_that_the_host_sets(tmp_path: Path) -> None:
    port = local_mailbox.find_free_port()
    settings = Settings(folder=tmp_path, thinking=0.01, inbound=f"127.0.0.1:{port}")
    app = apps.make_app(settings, read_clock)
    with run_embedded(app), smtplib.LMTP("127.0.0.1", port) as client:
        client.sendmail("guest@localhost", ["nobody@localhost"], "Subject: hello\n\nhello\n")
    app.close()
