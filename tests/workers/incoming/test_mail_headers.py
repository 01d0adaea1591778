"""The headers of mails, as programs write them, fold them and forget to encode them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from service.settings import Settings
from workers import incoming
from workers.incoming import mail_headers, mailbox_polling
from workers.incoming.mail_headers import MailHeaders

TURN = "<0123456789abcdef.12.0.turn@games.example>"
TO = "play+ab12.0.xyz@games.example"


def parse(*lines: str, code: str = "utf-8") -> MailHeaders:
    return MailHeaders.parse("\r\n".join((*lines, "", "X-Body: not a header")).encode(code))


def test_a_folded_header_in_any_case_is_one_line() -> None:
    headers = parse("SUBJECT: Re: a game", "\tof many", "  letters", "X-Twice: 1", "x-twice: 2")
    assert headers.get("Subject") == "Re: a game of many letters"
    assert headers.list_values("X-TWICE") == ("1", "2")
    assert "x-twice" in headers
    assert "X-Body" not in headers
    assert headers.get("X-Body") == ""


def test_a_subject_in_a_charset_that_cannot_be_one_stays_as_it_is() -> None:
    assert parse("Subject: =?utf-8`e\uf060?q?flip?=").decode("Subject").startswith("=?utf-8")


@pytest.mark.parametrize("code", ["utf-8", "latin-1"])
def test_an_absence_that_was_sent_without_encoding_is_one_all_the_same(code: str) -> None:
    headers = parse("From: a@example.org", "Subject: Réponse automatique : Kurier", code=code)
    with pytest.raises(mail_headers.Ignored, match="automatic reply"):
        mail_headers.refuse_automatic(headers, "a@example.org")


@pytest.mark.parametrize(
    "lines",
    [
        (f"In-Reply-To: {TURN}",),
        ("In-Reply-To: =?utf-8?q?=3C0123456789abcdef=2E12=2E0=2Eturn=40games=2Eexample=3E?=",),
        (f'In-Reply-To: Your letter of "Mon, 3 Feb 2027"\n {TURN}',),
        (f"References: <older@games.example>\n\t{TURN}",),
        ("In-Reply-To: <mine@phone.example>", f"References: {TURN} <mine@phone.example>"),
    ],
)
def test_the_letter_that_is_answered_is_found_in_every_shape_of_its_headers(lines: tuple[str, ...]) -> None:
    assert TURN in parse(*lines).iter_answered_ids()


def test_of_several_letters_the_nearest_is_answered() -> None:
    older = TURN.replace(".12.", ".7.")
    assert next(parse(f"References: {older} {TURN}").iter_answered_ids()) == TURN
    assert next(parse(f"In-Reply-To: {older}", f"References: {older} {TURN}").iter_answered_ids()) == older


@pytest.mark.parametrize(
    "line",
    [
        f"Delivered-To: {TO}",
        f"To: aunt@example.org, {TO.upper()}",
        f'To: "Depesche, for \\"friends\\"" <{TO}>, (a comment <x@y>)',
        f"To: '{TO}' <{TO}>",
        f"Cc: undisclosed-recipients:;, <{TO}>",
    ],
)
def test_the_seat_is_found_among_all_whom_a_mail_is_for(line: str) -> None:
    assert mailbox_polling.find_recipients(parse(line), b"") == (TO.lower().removesuffix("games.example"),)


@pytest.mark.parametrize(
    "lines",
    [
        ("From: anna@example.org, eve@example.org",),
        ("From: anna@example.org", "From: eve@example.org"),
        ("From: Anna",),
        ("Subject: nobody",),
    ],
)
def test_a_mail_of_two_senders_or_none_has_no_sender(lines: tuple[str, ...]) -> None:
    with pytest.raises(mail_headers.Ignored, match="exactly one sender"):
        mail_headers.find_sender(parse(*lines))


def test_an_encoded_name_is_no_address() -> None:
    assert (
        mail_headers.find_sender(parse("From: =?utf-8?q?anna=40example.org=2C?= <eve@example.org>"))
        == "eve@example.org"
    )


@pytest.mark.parametrize("lines", [("Return-Path: < >",), ("Content-Type: Multipart/Report ; report-type=x",)])
def test_a_report_of_a_mail_server_is_known_by_its_form(lines: tuple[str, ...]) -> None:
    assert parse(*lines).is_report()
    with pytest.raises(mail_headers.Ignored, match="mail servers"):
        mail_headers.refuse_automatic(parse(*lines), "a@example.org")


def test_the_id_of_a_letter_is_read_even_if_folded_and_encoded() -> None:
    ours = Settings(sender="table@games.example")
    for line in (
        f"Message-ID:\r\n {TURN}",
        "Message-ID: =?utf-8?q?=3C0123456789abcdef=2E0=2Etable=40games=2Eexample=3E?=",
    ):
        with pytest.raises(mail_headers.Ignored, match="of our own"):
            mail_headers.refuse_own_letters(parse(line), ours)


def test_headers_without_end_are_cut_and_cost_little() -> None:
    headers = parse(f"Subject: {'=?utf-8?q?x?= ' * 50_000}", f"From: {'(' * 100_000}", f"References: {TURN * 50_000}")
    assert len(headers.get("References")) == mail_headers.MAX_HEADER_CHARS
    assert len(headers.decode("Subject")) <= mail_headers.MAX_HEADER_CHARS
    with pytest.raises(mail_headers.Ignored, match="exactly one sender"):
        mail_headers.find_sender(headers)
    assert headers.find_envelope_sender() == ""
    assert len(list(headers.iter_answered_ids())) < mail_headers.MAX_HEADER_CHARS


def test_no_other_module_parses_headers() -> None:
    """Headers are parsed in one module; other modules ask a part of a body only for its type and charset."""
    for path in sorted(Path(incoming.__file__).parent.glob("*.py")):
        if path.name != Path(mail_headers.__file__).name:
            names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
            assert not names & {"get_all", "raw_items", "decode_header", "getaddresses", "parseaddr"}, path.name
            assert "BytesHeaderParser" not in path.read_text(), path.name
