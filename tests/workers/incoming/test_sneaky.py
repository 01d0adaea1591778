"""Mails whose text is not what their sender saw or typed: hidden, turned around, sent in a loop, nested without end."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from service.app import App
from service.store.schema import letters, mails
from service.timing import HOUR_S
from tests import apps
from tests.workers.incoming.test_inbox import (
    address,
    answer,
    app,
    deliver,
    last_letter,
    list_answer_kinds,
    list_mailed_moves,
    rows,
    start,
    text,
)
from workers.incoming import html_text, inbox, mail_headers, mail_moves, reply_text

assert app  # the fixture
HIDDEN_TEXTS = (
    '<div style="display:none">{}</div>',
    '<div style="color:red; DISPLAY : none">{}</div>',
    "<span style='visibility:hidden'>{}</span>",
    '<span style="font-size:0">{}</span>',
    '<span style="font-size:0px;line-height:0">{}</span>',
    '<span style="font-size:0.0em">{}</span>',
    '<span style="opacity:0">{}</span>',
    '<span style="max-height:0;overflow:hidden">{}</span>',
    "<p hidden>{}</p>",
    '<p class="x" hidden="hidden">{}</p>',
    '<p style="mso-hide:all">{}</p>',
    '<div style="display&#58;none">{}</div>',
)
VISIBLE_TEXTS = (
    '<p style="font-size:0.9em">{}</p>',
    '<p style="font-size:10px">{}</p>',
    '<p title="a hidden joke">{}</p>',
    '<p style="opacity:0.8">{}</p>',
    '<p style="visibility:visible">{}</p>',
)
BIDIRECTIONAL_LINES = ("\u202epilf", "\u202dflip", "\u2066flip\u2069", "fl\u202bip\u202c", "\u2068flip")


@pytest.mark.parametrize("page", HIDDEN_TEXTS)
def test_what_a_style_hides_is_not_read(page: str) -> None:
    assert "flip" not in html_text.extract_text(page.format("flip"))


@pytest.mark.parametrize("page", VISIBLE_TEXTS)
def test_visible_text_is_read(page: str) -> None:
    assert html_text.extract_text(page.format("flip")).strip() == "flip"


@pytest.mark.parametrize("line", BIDIRECTIONAL_LINES)
def test_a_line_whose_order_is_turned_is_no_move(line: str) -> None:
    assert list(reply_text.iter_unquoted(line)) == []


def test_marks_that_only_say_where_writing_begins_do_not_matter() -> None:
    assert list(reply_text.iter_unquoted("\u200eflip\u200f")) == ["flip"]


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("*flip*", ["flip"]),
        ("**move A1 A2**", ["move A1 A2"]),
        ("2*3*4", ["2*3*4"]),
        ("flip\n\nLG> move A1 A2\nLG> pass\nD> pass", ["flip"]),
        (
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nflip\n- -- \nA\n\n-----BEGIN PGP SIGNATURE-----\n\ni",
            ["flip"],
        ),
        ("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----", []),
    ],
)
def test_armour_initials_and_stars_are_not_typed(written: str, lines: list[str]) -> None:
    assert list(reply_text.iter_unquoted(written)) == lines


def test_our_letter_that_comes_back_under_its_own_id_is_not_answered(app: App) -> None:
    place, _, _ = start(app)
    for _ in range(2):
        deliver(app, place, "It is your turn", Message_ID=f"<{place.table}.3.{place.seat}.turn@games.example>")
    assert rows(app, mails) == []


def test_the_same_refused_text_of_a_sender_is_answered_once(app: App) -> None:
    place, _, move = start(app)
    for _ in range(3):
        deliver(app, place, "I am on holiday until Monday.", "Yours, Anna")
    assert list_answer_kinds(app) == ["refused"]
    deliver(app, place, move)
    assert list_mailed_moves(app) == [move]


def test_a_line_that_is_refused_again_is_answered_again_at_another_turn_or_after_an_hour(
    app: App, clock: apps.FakeTime
) -> None:
    places = apps.start_table(app)
    waiting = apps.find_waiting(app, places)
    for _ in range(2):  # an exchange with a program that answers every letter ends here
        deliver(app, waiting, "hint")
    assert list_answer_kinds(app) == ["refused"]
    clock.advance(HOUR_S)
    deliver(app, waiting, "hint")
    assert list_answer_kinds(app) == ["refused"] * 2
    for _ in range(2):  # round the table to the next wait
        on_turn, move = apps.find_move(app, places)
        deliver(app, on_turn, move)
    newest = f"<{waiting.table}.{apps.count_entries(app, waiting) - 1}.{waiting.seat}.accepted@games.example>"
    deliver(app, waiting, "hint", In_Reply_To=newest)
    assert list_answer_kinds(app) == ["refused"] * 3


@pytest.mark.parametrize("depth", [90, 2_000])
def test_parts_inside_parts_without_end_are_passed_over(app: App, depth: int) -> None:
    place, _, move = start(app)
    head = f"From: anna@example.org\nTo: {address(app, place)}\nMessage-ID: <deep@x>\nMIME-Version: 1.0\n"
    nest = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth))
    raw = f"{head}{nest}Content-Type: text/plain\n\n{move}\n".encode()
    with capture_logs() as logs:
        assert inbox.receive(app, raw, address(app, place), "anna@example.org") == inbox.REPLY_OK
    mail_moves.run()
    assert list_mailed_moves(app) == []
    assert [log for log in logs if log["log_level"] == "error"] == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("anna@gmail.com", "Anna@googlemail.com", True),
        ("anna+games@example.org", "anna@example.org", True),
        ("an.na@gmail.com", "anna@gmail.com", True),
        ("an.na@example.org", "anna@example.org", False),
        ("anna@example.org", "anna@example.com", False),
    ],
)
def test_plus_addresses_and_both_domains_of_gmail_are_one_box(one: str, other: str, same: bool) -> None:
    assert (mail_headers.normalize_address(one) == mail_headers.normalize_address(other)) == same


def test_a_player_reads_of_mail_from_another_address_once_a_day(app: App) -> None:
    place, _, move = start(app)
    for number in range(3):
        message = answer(app, place, move, From="anna@work.example", Message_ID=f"<{number}@x>")
        inbox.process_mail(app, message.as_bytes(), address(app, place), "anna@work.example")
    mail_moves.run()
    assert list_mailed_moves(app) == []
    (row,) = rows(app, letters, letters.c.kind.like("stranger/%"))
    assert "It came from {address}. At this table only answers from {own} play." in row.sentence
    assert "a mail from another address was not read" in text(last_letter(app, place))
