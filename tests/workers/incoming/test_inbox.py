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

from service.house import House
from service.store.schema import letters, mails, submissions
from service.tables import access, snapshots, talk
from service.tables.access import Place
from tests import houses
from tests.houses import Clock
from workers import clock as timekeeping
from workers.incoming import inbox, mail_moves
from workers.outgoing.envelopes import LetterOrder
from workers.outgoing.letters import write


@pytest.fixture
def here(tmp_path, clock: Clock) -> Iterator[House]:
    with houses.standing(houses.settings(tmp_path, sender="table@games.example"), clock) as here:
        yield here


@contextmanager
def listening(here: House, by_lmtp: bool = True) -> Iterator[smtplib.SMTP]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = (inbox.lmtp if by_lmtp else inbox.smtp)(here, "127.0.0.1", port)
    server.start()
    try:
        with (smtplib.LMTP if by_lmtp else smtplib.SMTP)("127.0.0.1", port) as client:
            yield client
    finally:
        server.stop()


def address(here: House, place: Place) -> str:
    return access.address_of(here, snapshots.look(here, place.table).seats[place.seat])


def answer(here: House, place: Place, body: str, **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = f"Somebody <{access.owner(here, place)}>"
    message["To"] = address(here, place)
    message["Subject"] = "Re: your move"
    message["Message-ID"] = "<one@example.org>"
    for name, value in headers.items():
        del message[name.replace("_", "-")]
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message


def sent(here: House, message: EmailMessage, sender: str | None = None) -> None:
    with listening(here) as client:
        client.send_message(message, sender)
    mail_moves.hear()


def posted(here: House, place: Place, *lines: str, **headers: str) -> None:
    """The same without a conversation."""
    count = str(len(rows(here, mails)))
    message = answer(here, place, "\n".join(lines), **{"Message_ID": f"<{count}@example.org>", **headers})
    inbox.take(here, message.as_bytes(), address(here, place), "somebody@example.org")
    mail_moves.hear()


def rows(here: House, table, *wanted):
    with here.store.reading() as connection:
        return connection.execute(select(table).where(*wanted).order_by(table.c.id)).all()


def handed_in(here: House) -> list[str]:
    return [row.move for row in rows(here, submissions) if row.by_mail]


def answered(here: House) -> list[str]:
    """The kinds of the letters that answer mails."""
    owed = rows(here, letters, letters.c.kind.like("accepted/%") | letters.c.kind.like("refused/%"))
    return [row.kind.partition("/")[0] for row in owed]


def last_letter(here: House, place: Place, language: str = "en") -> EmailMessage:
    row = rows(here, letters)[-1]
    seat = snapshots.look(here, place.table).seats[row.seat]
    owner = access.owner(here, place)
    message = write(here, LetterOrder(row.table, row.seq, row.seat, row.kind, owner, seat.name, language))
    assert message is not None
    return message


def text(message: EmailMessage) -> str:
    return " ".join(message.get_body(("plain",)).get_content().split())


def report(here: House) -> list[tuple[str, str]]:
    """What became of the lines of the last mail."""
    found = msgspec.json.decode(rows(here, mails)[-1].report)
    return [(line["said"], line["outcome"]) for line in found["lines"]]


def start(here: House) -> tuple[Place, Place, str]:
    """A game: who is on turn, who is not, and a move."""
    places = houses.seated(here)
    place, move = houses.on_turn(here, places)
    return place, houses.waiting(here, places), move


@pytest.mark.parametrize("by_lmtp", [True, False], ids=["lmtp", "smtp"])
def test_the_first_own_line_is_the_move(here, by_lmtp):
    place, _, move = start(here)
    before = houses.length(here, place)
    message = answer(here, place, f"\n  {move.upper()}.\n\nSee you soon!\n> what was written before\n")
    with listening(here, by_lmtp) as client:
        client.send_message(message)
    mail_moves.hear()
    assert handed_in(here) == [move]
    assert houses.length(here, place) == before + 1
    assert answered(here) == []


def test_a_mail_to_two_seats_is_two_answers_and_lmtp_says_so_twice(here):
    place, other, move = start(here)
    message = answer(here, place, move)
    with listening(here) as client:
        client.ehlo_or_helo_if_needed()
        client.mail("somebody@example.org")
        for seat in (place, other):
            client.rcpt(address(here, seat))
        assert client.data(message.as_bytes())[0] == 250
        assert client.getreply() == (250, b"Thank you")
    mail_moves.hear()
    assert handed_in(here) == [move]


def test_lines_quoted_above_are_not_the_move(here):
    place, _, move = start(here)
    posted(here, place, "On Monday 3, Depesche wrote:", "> It is your turn", "> move A1 A2", "", move)
    assert handed_in(here) == [move]


def test_the_same_mail_twice_is_one_move(here):
    place, _, move = start(here)
    before = houses.length(here, place)
    with capture_logs() as logs:
        for _ in range(2):
            sent(here, answer(here, place, move))
    assert houses.length(here, place) == before + 1
    assert answered(here) == []
    assert [log["why"] for log in logs] == ["It has come before."]


def test_mails_without_an_id_are_told_apart_by_what_they_say(here):
    place, _, move = start(here)
    for line in ("status", "help", "help", move):
        posted(here, place, line, Message_ID="")
    assert [said for mail in rows(here, mails) for said in msgspec.json.decode(mail.lines)] == ["status", "help", move]


def test_what_is_no_move_is_answered_by_a_letter_that_says_why(here):
    place, _, _ = start(here)
    before = houses.length(here, place)
    posted(here, place, "move A1 Z99")
    assert houses.length(here, place) == before
    assert answered(here) == ["refused"]
    letter = last_letter(here, place)
    assert "your answer did not count as a move" in text(letter)
    assert "> move A1 Z99" in text(letter)
    assert "does not fit; write one of these" in text(letter)
    assert letter["In-Reply-To"] == "<0@example.org>"
    assert letter["References"].split()[-1] == "<0@example.org>"


def test_talk_alone_is_quoted_back(here):
    place, _, _ = start(here)
    posted(here, place, "Lovely weather here!", "And with you?")
    assert answered(here) == ["refused"]
    assert "> Lovely weather here!" in text(last_letter(here, place))
    assert "There is no move in this mail, and nobody else has seen it." in text(last_letter(here, place))


def test_every_mistake_is_answered(here):
    place, _, _ = start(here)
    for line in ("move", "move A1", "x" * 3000):
        posted(here, place, line)
    assert answered(here) == ["refused"] * 3


def test_a_mail_without_a_line_of_its_own_is_answered(here):
    place, _, _ = start(here)
    posted(here, place, "> only quoted")
    assert answered(here) == ["refused"]
    assert "no line of its own" in text(last_letter(here, place))


def test_a_question_brings_a_letter_with_what_was_done(here):
    place, _, move = start(here)
    posted(here, place, move, "Was that wise?")
    assert answered(here) == ["accepted"]
    assert "your answer has been played" in text(last_letter(here, place))
    assert f"{snapshots.look(here, place.table).seats[place.seat].name} moves a" in text(last_letter(here, place))


def test_several_lines_are_played_in_order_up_to_the_first_that_fails(here):
    place, _, move = start(here)
    posted(here, place, "Hello there", move, "move Q1 Q2", "undo")
    assert report(here) == [(move, "done"), ("move Q1 Q2", "refused"), ("undo", "later")]
    assert answered(here) == ["refused"]
    assert "only a part of your answer" in text(last_letter(here, place))
    assert "This was not tried any more." in text(last_letter(here, place))
    assert handed_in(here) == [move]


def test_a_refusal_by_mail_says_where_its_rule_stands(here):
    place, _, _ = start(here)
    posted(here, place, "move Q1 Q2")
    assert f"§ 2.1: {here.settings.address}/rules/kaiser#2.1" in text(last_letter(here, place))


def test_resigning_takes_two_mails(here):
    place, _, _ = start(here)
    posted(here, place, "opgeven")
    assert handed_in(here) == []
    assert "these two words: resign yes" in text(last_letter(here, place))
    posted(here, place, "ich gebe auf ja")
    assert handed_in(here) == ["resign"]
    assert snapshots.look(here, place.table).table.phase == "over"


def test_who_has_resigned_on_his_turn_is_offered_no_moves(here):
    place, _ = houses.on_turn(here, houses.seated(here, 3))
    posted(here, place, "resign yes")
    told = text(last_letter(here, place))
    assert "a bot plays on" in told
    assert "Answer this letter with your move" not in told
    assert "Make your move" not in told


@pytest.mark.parametrize("word", ["undo", "Terugnemen!", "annuler svp", "Bitte rückgängig"])
def test_an_undo_that_others_have_to_allow_is_asked_for_and_answered_by_mail(here, word):
    place, other, move = start(here)
    posted(here, place, move)
    replying = houses.moves(here, other)[0]
    posted(here, other, replying)
    posted(here, place, word)
    assert snapshots.look(here, place.table).table.asked
    posted(here, other, "d'accord")
    assert handed_in(here) == [move, replying, "undo", "agree"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("Status?", "To move: "),
        ("hulp", "several moves of one turn"),
        ("Stand", "To move: "),
        ("aide", "At any time: "),
    ],
)
def test_status_and_help_are_told_to_whoever_asks(here, word, said):
    _, other, _ = start(here)
    posted(here, other, word)
    assert handed_in(here) == []
    assert answered(here) == ["accepted"]
    assert said in text(last_letter(here, other))


def test_a_pause_is_asked_for_by_mail(here):
    place, _, _ = start(here)
    posted(here, place, "Pauze")
    assert snapshots.look(here, place.table).table.pausing
    posted(here, place, "pause")
    assert "cannot be paused now" in text(last_letter(here, place))


def test_an_invitation_is_accepted_by_mail(here):
    first, second = houses.opened(here)
    posted(here, first, "Ja, graag!")
    posted(here, second, "sit lantern")
    assert snapshots.look(here, first.table).table.phase == "playing"


def test_before_and_after_the_game_nothing_is_moved(here):
    place, _ = houses.opened(here)
    posted(here, place, "move A1 A2")
    assert "has not begun" in text(last_letter(here, place))


def test_who_is_not_on_turn_is_told_so(here):
    _, other, move = start(here)
    posted(here, other, move)
    assert handed_in(here) == []
    assert "It is not your turn" in text(last_letter(here, other))


def test_an_answer_to_the_letter_of_an_earlier_turn_moves_nothing(here):
    place, other, move = start(here)
    first = snapshots.look(here, place.table).seats[place.seat].open_since
    posted(here, place, move)
    posted(here, other, houses.moves(here, other)[0])
    old = f"<{place.table}.{first}.{place.seat}.turn@games.example>"
    posted(here, place, houses.moves(here, place)[0], In_Reply_To=old)
    assert "a letter of an earlier turn" in text(last_letter(here, place))
    now = snapshots.look(here, place.table).seats[place.seat].open_since
    posted(here, place, houses.moves(here, place)[0], In_Reply_To=old.replace(f".{first}.", f".{now}.", 1))
    assert len([row for row in rows(here, submissions) if row.by_mail and row.accepted]) == 3


def test_a_players_own_name_under_a_mail_is_no_move(here):
    places = houses.seated(here)
    place, move = houses.on_turn(here, places)
    name = snapshots.look(here, place.table).seats[place.seat].name
    posted(here, place, move, name)
    assert report(here) == [(move, "done")]


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
def test_machines_and_strangers_do_not_play_and_the_log_says_why(here, headers, why):
    place, _, move = start(here)
    to_them = ~letters.c.kind.like("stranger/%")
    owed = len(rows(here, letters, to_them))
    with capture_logs() as logs:
        sent(here, answer(here, place, move, **headers), "somebody@example.org")
    assert why in logs[0]["why"]
    assert handed_in(here) == []
    assert len(rows(here, letters, to_them)) == owed
    posted(here, place, move)  # and nothing is lost
    assert handed_in(here) == [move]


def test_mail_servers_that_report_do_not_play(here):
    place, _, move = start(here)
    with capture_logs() as logs:
        sent(here, answer(here, place, move), "")
    assert "no sender to answer to" in logs[0]["why"]
    assert handed_in(here) == []


def test_too_large_is_refused_and_logged(here):
    place, _, move = start(here)
    with capture_logs() as logs, listening(here) as client, pytest.raises(smtplib.SMTPDataError, match="too large"):
        client.send_message(answer(here, place, f"{move}\n" + "x" * 70 * 1024 * 70))
    assert "too large" in logs[0]["why"]
    assert handed_in(here) == []


def test_a_forged_address_is_nobodys(here):
    place, _, move = start(here)
    message, right = answer(here, place, move), address(here, place)
    for wrong in (
        right.replace("@", "x@"),
        "play+@games.example",
        "play+a.b@games.example",
        f"play+{place.table}.9.x@h",
        f"play+{place.table}.99999999999999999999.x@h",
        right.replace(f".{place.seat}.", f".{1 - place.seat}."),
    ):
        assert inbox.take(here, message.as_bytes(), wrong, "anna@example.org") is None
    assert rows(here, mails) == []


def test_who_is_answered_too_often_is_a_machine(here, clock):
    place, _, _ = start(here)
    here.settings = replace(here.settings, answers_per_hour=3)
    with capture_logs() as logs:
        for day in range(5):
            posted(here, place, f"I am on vacation until May {day}.")
    assert answered(here) == ["refused"] * 3
    assert "too often" in logs[-1]["why"]
    clock.move(3600)
    posted(here, place, "status")
    assert answered(here) == ["refused"] * 3 + ["accepted"]


def test_who_was_answered_too_often_can_still_move(here):
    place, _, move = start(here)
    here.settings = replace(here.settings, answers_per_hour=1)
    for line in ("status", "help", move):
        posted(here, place, line)
    assert answered(here) == ["accepted"]
    assert handed_in(here) == [move]


def test_who_plays_much_by_mail_is_no_machine(here):
    place, _, move = start(here)
    here.settings = replace(here.settings, answers_per_hour=1)
    posted(here, place, f"{move}\nWas that clever?")
    posted(here, place, "undo")
    posted(here, place, "I am on vacation until May.")
    assert answered(here) == ["accepted", "accepted", "refused"]


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
def test_where_the_host_asks_for_it_the_sender_has_to_be_proven(here, results, proven):
    here.settings = replace(here.settings, require_authentication=True, trusted_authserv="mx.games.example")
    place, _, move = start(here)
    message = answer(here, place, move)
    raw = f"Authentication-Results: {results}\n".encode() + message.as_bytes()
    raw = raw if results else message.as_bytes()
    inbox.take(here, raw, address(here, place), "somebody@example.org")
    mail_moves.hear()
    assert handed_in(here) == ([move] if proven else [])


def test_only_the_topmost_word_of_the_trusted_host_counts(here):
    here.settings = replace(here.settings, require_authentication=True, trusted_authserv="mx.games.example")
    place, _, move = start(here)
    below = f"Authentication-Results: {PROVEN}\n".encode() + answer(here, place, move).as_bytes()
    raw = b"Authentication-Results: relay.example; none\nAuthentication-Results: mx.games.example; none\n" + below
    inbox.take(here, raw, address(here, place), "somebody@example.org")
    assert rows(here, mails) == []


def test_a_mail_that_cannot_be_stored_now_is_kept_by_the_mail_server(here, monkeypatch):
    place, _, move = start(here)
    monkeypatch.setattr(inbox, "_store", broken)
    with listening(here) as client, pytest.raises(smtplib.SMTPDataError, match="try again later"):
        client.send_message(answer(here, place, move))


def broken(*_: object) -> None:
    raise OSError("no space left")


def test_a_mail_that_cannot_be_read_is_not_offered_again(here, monkeypatch):
    place, _, move = start(here)
    monkeypatch.setattr(inbox.reply_text, "own_lines", broken)
    sent(here, answer(here, place, move))
    assert rows(here, mails) == []


def test_a_fault_of_ours_changes_nothing_and_is_told(here, monkeypatch):
    place, _, move = start(here)
    before = houses.length(here, place)
    monkeypatch.setattr(mail_moves, "_note", broken)
    posted(here, place, move)
    assert houses.length(here, place) == before
    assert "a fault of ours" in text(last_letter(here, place))


def test_the_clock_rings_for_a_mail_that_waits(here, monkeypatch):
    place, _, move = start(here)
    inbox.take(here, answer(here, place, move).as_bytes(), address(here, place), "anna@example.org")
    rung: list[str] = []
    monkeypatch.setattr(here.bells, "ring", rung.append)
    timekeeping.ring(here)
    assert rung == ["inbox", "post"]


def test_the_letter_says_by_a_header_that_it_is_ours(here):
    place, _, _ = start(here)
    posted(here, place, "status")
    letter = message_from_bytes(last_letter(here, place).as_bytes(), policy=policy.default)
    assert letter["X-Depesche"] == place.table


def test_answers_on_every_database(any_house):
    place, other, move = start(any_house)
    posted(any_house, place, move)
    posted(any_house, other, "move Q1 Q2", "status")
    assert handed_in(any_house) == [move]
    assert answered(any_house) == ["refused"]
    assert report(any_house) == [("move Q1 Q2", "refused"), ("status", "later")]


def spoken(here: House, place: Place) -> list[str]:
    with here.store.reading() as connection:
        return [remark.text for remark in talk.newest(connection, place.table)]


@pytest.mark.parametrize("line", ["say Well done, Berta!", "Say: Well done, Berta!", "zeg Well done, Berta!"])
def test_a_line_that_begins_with_say_is_told_to_the_table(here, line):
    place, _, move = start(here)
    posted(here, place, line, move)
    assert spoken(here, place) == ["Well done, Berta!"]
    assert report(here) == [(line, "said"), (move, "done")]
    assert answered(here) == []


def test_a_mail_that_only_talks_is_answered_in_a_sentence(here):
    _, waiting, _ = start(here)
    before = houses.length(here, waiting)
    posted(here, waiting, "dis Bonjour à tous", "sag Guten Tag")
    assert spoken(here, waiting) == ["Bonjour à tous", "Guten Tag"]
    assert houses.length(here, waiting) == before
    assert answered(here) == ["accepted"]
    assert "> dis Bonjour à tous Said at the table." in text(last_letter(here, waiting))


def test_what_cannot_be_said_is_answered_with_the_reason(here):
    place, _, _ = start(here)
    posted(here, place, "say")
    assert spoken(here, place) == []
    assert answered(here) == ["refused"]
    assert "this was empty" in text(last_letter(here, place))


def test_people_talk_by_mail_when_the_game_is_over(here):
    place, other, _ = start(here)
    houses.judged(here, place, "resign")
    posted(here, other, "say Another one?")
    assert spoken(here, other) == ["Another one?"]
