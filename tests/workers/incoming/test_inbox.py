"""Answers by mail, received in real conversations by SMTP and LMTP."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

import msgspec
import pytest
from msgspec.structs import replace
from sqlalchemy import select
from structlog.testing import capture_logs

from service.app import App
from service.store.schema import letters, mails, submissions
from service.tables import talk
from service.tables.access import Place
from tests import apps
from tests.apps import FakeTime
from workers import clock as timekeeping
from workers.incoming import inbox, mail_moves
from workers.outgoing.letter import LetterRequest
from workers.outgoing.table_letters import write


@pytest.fixture
def app(tmp_path, clock: FakeTime) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path, sender="table@games.example"), clock) as app:
        yield app


@contextmanager
def listening(app: App, by_lmtp: bool = True) -> Iterator[smtplib.SMTP]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = (inbox.make_lmtp_server if by_lmtp else inbox.make_smtp_server)(app, "127.0.0.1", port)
    server.start()
    try:
        with (smtplib.LMTP if by_lmtp else smtplib.SMTP)("127.0.0.1", port) as client:
            yield client
    finally:
        server.stop()


def address(app: App, place: Place) -> str:
    return app.links.make_reply_address(app.settings, apps.load_table(app, place.table).seats[place.seat])


def answer(app: App, place: Place, body: str, **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = f"Somebody <{apps.load_address(app, place)}>"
    message["To"] = address(app, place)
    message["Subject"] = "Re: your move"
    message["Message-ID"] = "<one@example.org>"
    for name, value in headers.items():
        del message[name.replace("_", "-")]
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message


def send(app: App, message: EmailMessage, sender: str | None = None) -> None:
    with listening(app) as client:
        client.send_message(message, sender)
    mail_moves.run()


def deliver(app: App, place: Place, *lines: str, **headers: str) -> None:
    """Process a mail with these lines, without a conversation by SMTP or LMTP."""
    count = str(len(rows(app, mails)))
    message = answer(app, place, "\n".join(lines), **{"Message_ID": f"<{count}@example.org>", **headers})
    inbox.process_mail(app, message.as_bytes(), address(app, place), "somebody@example.org")
    mail_moves.run()


def rows(app: App, table, *conditions):
    with app.store.reading() as connection:
        return connection.execute(select(table).where(*conditions).order_by(table.c.id)).all()


def list_mailed_moves(app: App) -> list[str]:
    return [row.move for row in rows(app, submissions) if row.by_mail]


def list_answer_kinds(app: App) -> list[str]:
    """Return the kinds of the letters that answer mails."""
    owed = rows(app, letters, letters.c.kind.like("accepted/%") | letters.c.kind.like("refused/%"))
    return [row.kind.partition("/")[0] for row in owed]


def last_letter(app: App, place: Place, language: str = "en") -> EmailMessage:
    row = rows(app, letters)[-1]
    seat = apps.load_table(app, place.table).seats[row.seat]
    owner = apps.load_address(app, place)
    message = write(app, LetterRequest(row.table, row.seq, row.seat, row.kind, owner, seat.name, language))
    assert message is not None
    return message


def text(message: EmailMessage) -> str:
    return " ".join(message.get_body(("plain",)).get_content().split())


def report(app: App) -> list[tuple[str, str]]:
    """Return the report on each line of the last mail."""
    outcomes = msgspec.json.decode(rows(app, mails)[-1].report)
    return [(line["text"], line["outcome"]) for line in outcomes["lines"]]


def start(app: App) -> tuple[Place, Place, str]:
    """A game: who is on turn, who is not, and a move."""
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    return place, apps.find_waiting(app, places), move


@pytest.mark.parametrize("by_lmtp", [True, False], ids=["lmtp", "smtp"])
def test_the_first_own_line_is_the_move(app, by_lmtp):
    place, _, move = start(app)
    before = apps.count_entries(app, place)
    message = answer(app, place, f"\n  {move.upper()}.\n\nSee you soon!\n> what was written before\n")
    with listening(app, by_lmtp) as client:
        client.send_message(message)
    mail_moves.run()
    assert list_mailed_moves(app) == [move]
    assert apps.count_entries(app, place) == before + 1
    assert list_answer_kinds(app) == []


def test_a_mail_to_two_seats_is_two_answers_and_lmtp_says_so_twice(app):
    place, other, move = start(app)
    message = answer(app, place, move)
    with listening(app) as client:
        client.ehlo_or_helo_if_needed()
        client.mail("somebody@example.org")
        for seat in (place, other):
            client.rcpt(address(app, seat))
        assert client.data(message.as_bytes())[0] == 250
        assert client.getreply() == (250, b"Thank you")
    mail_moves.run()
    assert list_mailed_moves(app) == [move]


@pytest.mark.parametrize("by_lmtp", [True, False], ids=["lmtp", "smtp"])
def test_a_line_longer_than_a_mail_server_may_send_is_taken(app, by_lmtp):
    place, _, move = start(app)
    head = f"From: {apps.load_address(app, place)}\r\nTo: {address(app, place)}\r\nMessage-ID: <long@example.org>\r\n"
    with listening(app, by_lmtp) as client:
        client.sendmail(
            "anna@example.org", address(app, place), f"{head}\r\n{move}\r\n\r\n{'so long ' * 40_000}\r\n".encode()
        )
    mail_moves.run()
    assert list_mailed_moves(app) == [move]


def test_a_mail_server_may_write_the_address_in_capitals(app):
    place, _, move = start(app)
    message = answer(app, place, move)
    inbox.process_mail(app, message.as_bytes(), address(app, place).upper(), "somebody@example.org")
    mail_moves.run()
    assert list_mailed_moves(app) == [move]


def test_the_button_of_a_mail_program_unsubscribes_by_mail(app):
    place, _, _ = start(app)
    deliver(app, place, "", Subject="unsubscribe [000000]")
    assert report(app) == [("unsubscribe", "done")]


def test_two_moves_in_one_line_are_both_played_or_reported(app):
    place, _, move = start(app)
    deliver(app, place, f"{move}; undo")
    assert report(app) == [(move, "done"), ("undo", "done")]


def test_lines_quoted_above_are_not_the_move(app):
    place, _, move = start(app)
    deliver(app, place, "On Monday 3, Depesche wrote:", "> It is your turn", "> move A1 A2", "", move)
    assert list_mailed_moves(app) == [move]


def test_the_same_mail_twice_is_one_move(app):
    place, _, move = start(app)
    before = apps.count_entries(app, place)
    with capture_logs() as logs:
        for _ in range(2):
            send(app, answer(app, place, move))
    assert apps.count_entries(app, place) == before + 1
    assert list_answer_kinds(app) == []
    assert [log["why"] for log in logs] == ["It has come before."]


def test_mails_without_an_id_are_distinguished_by_their_text(app):
    place, _, move = start(app)
    for line in ("status", "help", "help", move):
        deliver(app, place, line, Message_ID="")
    assert [line for mail in rows(app, mails) for line in msgspec.json.decode(mail.lines)] == ["status", "help", move]


def test_a_mail_without_a_move_gets_a_letter_that_says_why(app):
    place, _, _ = start(app)
    before = apps.count_entries(app, place)
    deliver(app, place, "move A1 Z99")
    assert apps.count_entries(app, place) == before
    assert list_answer_kinds(app) == ["refused"]
    letter = last_letter(app, place)
    assert "your answer did not count as a move" in text(letter)
    assert "> move A1 Z99" in text(letter)
    assert "does not fit; write one of these" in text(letter)
    assert letter["In-Reply-To"] == "<0@example.org>"
    assert letter["References"].split()[-1] == "<0@example.org>"


def test_talk_alone_is_quoted_back(app):
    place, _, _ = start(app)
    deliver(app, place, "Lovely weather here!", "And with you?")
    assert list_answer_kinds(app) == ["refused"]
    assert "> Lovely weather here!" in text(last_letter(app, place))
    assert "There is no move in this mail, and the other players have not seen it." in text(last_letter(app, place))


def test_every_mistake_is_answered(app):
    place, _, _ = start(app)
    for line in ("move", "move A1", "x" * 3000):
        deliver(app, place, line)
    assert list_answer_kinds(app) == ["refused"] * 3


def test_a_mail_without_a_line_of_its_own_is_answered(app):
    place, _, _ = start(app)
    deliver(app, place, "> only quoted")
    assert list_answer_kinds(app) == ["refused"]
    assert "no line of its own" in text(last_letter(app, place))


def test_a_question_brings_a_letter_with_what_was_done(app):
    place, _, move = start(app)
    deliver(app, place, move, "Was that wise?")
    assert list_answer_kinds(app) == ["accepted"]
    assert "your answer has been played" in text(last_letter(app, place))
    assert f"{apps.load_table(app, place.table).seats[place.seat].name} moves a" in text(last_letter(app, place))


def test_several_lines_are_played_in_order_up_to_the_first_that_fails(app):
    place, _, move = start(app)
    deliver(app, place, "Hello there", move, "move Q1 Q2", "undo")
    assert report(app) == [(move, "done"), ("move Q1 Q2", "refused"), ("undo", "later")]
    assert list_answer_kinds(app) == ["refused"]
    assert "only a part of your answer" in text(last_letter(app, place))
    assert "This was not tried any more." in text(last_letter(app, place))
    assert list_mailed_moves(app) == [move]


def test_a_refusal_by_mail_cites_its_rule(app):
    place, _, _ = start(app)
    deliver(app, place, "move Q1 Q2")
    assert f"§ 2.1: {app.settings.address}/rules/kaiser#2.1" in text(last_letter(app, place))


def test_resigning_takes_two_mails(app):
    place, _, _ = start(app)
    deliver(app, place, "opgeven")
    assert list_mailed_moves(app) == []
    assert "these two words: resign yes" in text(last_letter(app, place))
    deliver(app, place, "ich gebe auf ja")
    assert list_mailed_moves(app) == ["resign"]
    assert apps.load_table(app, place.table).position.phase == "over"


def test_who_has_resigned_on_his_turn_is_offered_no_moves(app):
    place, _ = apps.find_move(app, apps.start_table(app, 3))
    deliver(app, place, "resign yes")
    letter = text(last_letter(app, place))
    assert "a bot plays on" in letter
    assert "Answer this letter with your move" not in letter
    assert "Make your move" not in letter


@pytest.mark.parametrize("word", ["undo", "Terugnemen!", "annuler svp", "Bitte rückgängig"])
def test_an_undo_that_others_have_to_allow_is_asked_for_and_answered_by_mail(app, word):
    place, other, move = start(app)
    deliver(app, place, move)
    replying = apps.list_moves(app, other)[0]
    deliver(app, other, replying)
    deliver(app, place, word)
    assert apps.load_table(app, place.table).position.undo_request
    deliver(app, other, "d'accord")
    assert list_mailed_moves(app) == [move, replying, "undo", "agree"]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("Status?", "To move: "),
        ("hulp", "each move on its own line"),
        ("Stand", "To move: "),
        ("aide", "At any time: "),
    ],
)
def test_status_and_help_are_answered_out_of_turn_too(app, word, sentence):
    _, other, _ = start(app)
    deliver(app, other, word)
    assert list_mailed_moves(app) == []
    assert list_answer_kinds(app) == ["accepted"]
    assert sentence in text(last_letter(app, other))


def test_a_pause_is_asked_for_by_mail(app):
    place, _, _ = start(app)
    deliver(app, place, "Pauze")
    assert apps.load_table(app, place.table).position.pause_request
    deliver(app, place, "pause")
    assert "cannot be paused now" in text(last_letter(app, place))


def test_an_invitation_is_accepted_by_mail(app):
    first, second = apps.open_table(app)
    deliver(app, first, "Ja, graag!")
    deliver(app, second, "Please sit lantern")
    position = apps.load_table(app, first.table).position
    assert (position.phase, position.seats[1].nonce) == ("playing", "lantern")


def test_before_and_after_the_game_nothing_is_moved(app):
    place, _ = apps.open_table(app)
    deliver(app, place, "move A1 A2")
    assert "has not begun" in text(last_letter(app, place))


def test_a_move_out_of_turn_is_answered(app):
    _, other, move = start(app)
    deliver(app, other, move)
    assert list_mailed_moves(app) == []
    assert "It is not your turn" in text(last_letter(app, other))


def test_an_answer_to_the_letter_of_an_earlier_turn_moves_nothing(app):
    place, other, move = start(app)
    first = apps.load_table(app, place.table).seats[place.seat].open_since
    deliver(app, place, move)
    deliver(app, other, apps.list_moves(app, other)[0])
    old = f"<{place.table}.{first}.{place.seat}.turn@games.example>"
    deliver(app, place, apps.list_moves(app, place)[0], In_Reply_To=old)
    assert "a letter of an earlier turn" in text(last_letter(app, place))
    now = apps.load_table(app, place.table).seats[place.seat].open_since
    deliver(app, place, apps.list_moves(app, place)[0], In_Reply_To=old.replace(f".{first}.", f".{now}.", 1))
    assert len([row for row in rows(app, submissions) if row.by_mail and row.accepted]) == 3


def test_a_players_own_name_under_a_mail_is_no_move(app):
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    name = apps.load_table(app, place.table).seats[place.seat].name
    deliver(app, place, move, name)
    assert report(app) == [(move, "done")]


MACHINES = [
    ({"Auto_Submitted": "auto-replied"}, "a program sent it"),
    ({"Auto_Submitted": "auto-generated; type=vacation"}, "a program sent it"),
    ({"X_Autoreply": "yes"}, "a program sent it"),
    ({"X_Loop": "somebody@example.org"}, "a program sent it"),
    ({"Precedence": "bulk"}, "went to many"),
    ({"Precedence": "auto_reply"}, "went to many"),
    ({"List_Unsubscribe": "<https://news.example/stop>"}, "went to many"),
    ({"List_Id": "Friends <friends.example.com>"}, "went to many"),
    ({"List_Id": "Kaiser <abc.games.example>"}, "a letter of our own"),
    ({"X_Depesche": "abc"}, "a letter of our own"),
    ({"Return_Path": "<>"}, "no sender to answer to"),
    ({"Subject": "Automatisch antwoord: your move"}, "an automatic reply"),
    ({"Subject": "Réponse automatique : your move"}, "an automatic reply"),
    ({"From": "Mallory <mallory@example.com>"}, "not the one who holds this seat"),
    ({"From": "anna@example.org, berta@example.org"}, "exactly one sender"),
    ({"From": ""}, "exactly one sender"),
]


@pytest.mark.parametrize(("headers", "why"), MACHINES, ids=[str(headers) for headers, _ in MACHINES])
def test_machines_and_strangers_do_not_play_and_the_log_says_why(app, headers, why):
    place, _, move = start(app)
    to_them = ~letters.c.kind.like("stranger/%")
    owed = len(rows(app, letters, to_them))
    with capture_logs() as logs:
        send(app, answer(app, place, move, **headers), "somebody@example.org")
    assert why in logs[0]["why"]
    assert list_mailed_moves(app) == []
    assert len(rows(app, letters, to_them)) == owed
    deliver(app, place, move)  # and nothing is lost
    assert list_mailed_moves(app) == [move]


def test_mail_servers_that_report_do_not_play(app):
    place, _, move = start(app)
    with capture_logs() as logs:
        send(app, answer(app, place, move), "")
    assert "no sender to answer to" in logs[0]["why"]
    assert list_mailed_moves(app) == []


def test_too_large_is_refused_and_logged(app):
    place, _, move = start(app)
    with capture_logs() as logs, listening(app) as client, pytest.raises(smtplib.SMTPDataError, match="too large"):
        client.send_message(answer(app, place, f"{move}\n" + "x" * 70 * 1024 * 70))
    assert "too large" in logs[0]["why"]
    assert list_mailed_moves(app) == []


def test_a_forged_address_belongs_to_no_player(app):
    place, _, move = start(app)
    message, right = answer(app, place, move), address(app, place)
    for wrong in (
        right.replace("@", "x@"),
        "play+@games.example",
        "play+a.b@games.example",
        f"play+{place.table}.9.x@h",
        f"play+{place.table}.99999999999999999999.x@h",
        right.replace(f".{place.seat}.", f".{1 - place.seat}."),
    ):
        assert inbox.process_mail(app, message.as_bytes(), wrong, "anna@example.org") is None
    assert rows(app, mails) == []


def test_who_is_answered_too_often_is_a_machine(app, clock):
    place, _, _ = start(app)
    app.settings = replace(app.settings, answers_per_hour=3)
    with capture_logs() as logs:
        for day in range(5):
            deliver(app, place, f"I am on vacation until May {day}.")
    assert list_answer_kinds(app) == ["refused"] * 3
    assert "too often" in logs[-1]["why"]
    clock.advance(3600)
    deliver(app, place, "status")
    assert list_answer_kinds(app) == ["refused"] * 3 + ["accepted"]


def test_who_was_answered_too_often_can_still_move(app):
    place, _, move = start(app)
    app.settings = replace(app.settings, answers_per_hour=1)
    for line in ("status", "help", move):
        deliver(app, place, line)
    assert list_answer_kinds(app) == ["accepted"]
    assert list_mailed_moves(app) == [move]


def test_who_plays_much_by_mail_is_no_machine(app):
    place, _, move = start(app)
    app.settings = replace(app.settings, answers_per_hour=1)
    deliver(app, place, f"{move}\nWas that clever?")
    deliver(app, place, "undo")
    deliver(app, place, "I am on vacation until May.")
    assert list_answer_kinds(app) == ["accepted", "accepted", "refused"]


PROVEN = "mx.games.example; spf=pass smtp.mailfrom=example.org; dkim=none"
PROOFS = [
    (PROVEN, True),
    ("MX.games.example 1; dkim=pass (good) header.i=@example.org header.s=x", True),
    ("mx.games.example; dmarc=pass header.from=example.org", True),
    ("mx.games.example; dkim=pass header.d=org", False),
    ("mx.games.example; dkim=fail header.d=example.org", False),
    ("mx.games.example; dkim=pass header.d=mallory.example", False),
    ("mx.games.example; spf=pass smtp.mailfrom=notexample.org", False),
    ('mx.games.example; spf=pass smtp.mailfrom="; dkim=pass header.d=example.org;"@mallory.example', False),
    ("mx.games.example; spf=fail (; dkim=pass header.d=example.org;) smtp.mailfrom=mallory.example", False),
    ("mx.mallory.example; dkim=pass header.d=example.org", False),
    ("mx.games.example; none", False),
    ("", False),
]


@pytest.mark.parametrize(("results", "proven"), PROOFS)
def test_where_the_host_asks_for_it_the_sender_has_to_be_proven(app, results, proven):
    app.settings = replace(app.settings, require_authentication=True, trusted_authserv="mx.games.example")
    place, _, move = start(app)
    message = answer(app, place, move)
    raw = f"Authentication-Results: {results}\n".encode() + message.as_bytes()
    raw = raw if results else message.as_bytes()
    inbox.process_mail(app, raw, address(app, place), "somebody@example.org")
    mail_moves.run()
    assert list_mailed_moves(app) == ([move] if proven else [])


def test_only_the_topmost_word_of_the_trusted_host_counts(app):
    app.settings = replace(app.settings, require_authentication=True, trusted_authserv="mx.games.example")
    place, _, move = start(app)
    below = f"Authentication-Results: {PROVEN}\n".encode() + answer(app, place, move).as_bytes()
    raw = b"Authentication-Results: relay.example; none\nAuthentication-Results: mx.games.example; none\n" + below
    inbox.process_mail(app, raw, address(app, place), "somebody@example.org")
    assert rows(app, mails) == []


def test_a_mail_that_cannot_be_stored_now_is_kept_by_the_mail_server(app, monkeypatch):
    place, _, move = start(app)
    monkeypatch.setattr(inbox, "_store", fail)
    with listening(app) as client, pytest.raises(smtplib.SMTPDataError, match="try again later"):
        client.send_message(answer(app, place, move))


def fail(*_: object) -> None:
    raise OSError("no space left")


def test_a_mail_that_cannot_be_read_is_not_offered_again(app, monkeypatch):
    place, _, move = start(app)
    monkeypatch.setattr(inbox.reply_text, "list_own_lines", fail)
    send(app, answer(app, place, move))
    assert rows(app, mails) == []


def test_a_fault_of_the_server_changes_nothing_and_is_answered(app, monkeypatch):
    place, _, move = start(app)
    before = apps.count_entries(app, place)
    monkeypatch.setattr(mail_moves, "_store_submission", fail)
    deliver(app, place, move)
    assert apps.count_entries(app, place) == before
    assert "a fault of ours" in text(last_letter(app, place))


def test_the_clock_wakes_the_worker_for_a_mail_that_waits(app, monkeypatch):
    place, _, move = start(app)
    inbox.process_mail(app, answer(app, place, move).as_bytes(), address(app, place), "anna@example.org")
    woken: list[str] = []
    monkeypatch.setattr(app.wakeups, "wake", woken.append)
    timekeeping.wake_workers(app, apps.find_due(app))
    assert woken == ["inbox", "post"]


def test_a_header_marks_letters_of_the_server(app):
    place, _, _ = start(app)
    deliver(app, place, "status")
    letter = message_from_bytes(last_letter(app, place).as_bytes(), policy=policy.default)
    assert letter["X-Depesche"] == place.table


def test_answers_on_every_database(any_app):
    place, other, move = start(any_app)
    deliver(any_app, place, move)
    deliver(any_app, other, "move Q1 Q2", "status")
    assert list_mailed_moves(any_app) == [move]
    assert list_answer_kinds(any_app) == ["refused"]
    assert report(any_app) == [("move Q1 Q2", "refused"), ("status", "later")]


def list_remarks(app: App, place: Place) -> list[str]:
    with app.store.reading() as connection:
        return [remark.text for remark in talk.list_newest(connection, place.table)]


@pytest.mark.parametrize("line", ["say Well done, Berta!", "Say: Well done, Berta!", "zeg Well done, Berta!"])
def test_a_line_that_begins_with_say_becomes_a_remark(app, line):
    place, _, move = start(app)
    deliver(app, place, line, move)
    assert list_remarks(app, place) == ["Well done, Berta!"]
    assert report(app) == [(line, "said"), (move, "done")]
    assert list_answer_kinds(app) == []


def test_a_mail_that_only_talks_is_answered_in_a_sentence(app):
    _, waiting, _ = start(app)
    before = apps.count_entries(app, waiting)
    deliver(app, waiting, "dis Bonjour à tous", "sag Guten Tag")
    assert list_remarks(app, waiting) == ["Bonjour à tous", "Guten Tag"]
    assert apps.count_entries(app, waiting) == before
    assert list_answer_kinds(app) == ["accepted"]
    assert "> dis Bonjour à tous Said at the table." in text(last_letter(app, waiting))


def test_what_cannot_be_said_is_answered_with_the_reason(app):
    place, _, _ = start(app)
    deliver(app, place, "say")
    assert list_remarks(app, place) == []
    assert list_answer_kinds(app) == ["refused"]
    assert "this was empty" in text(last_letter(app, place))


def test_people_talk_by_mail_when_the_game_is_over(app):
    place, other, _ = start(app)
    apps.submit(app, place, "resign")
    deliver(app, other, "say Another one?")
    assert list_remarks(app, other) == ["Another one?"]
