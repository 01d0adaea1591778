"""The reader finds the lines that the sender wrote, among all that surrounds them."""

from __future__ import annotations

import time
from email import message_from_bytes

import pytest

from tests.workers.incoming.replies import clients
from workers.incoming import html_text, reply_text

ABOVE_A_DIVIDER = "A1\n\n{}\nflip\n"
CUT_OFF = [
    "-----Original Message-----",
    "-----Ursprüngliche Nachricht-----",
    "________________________________",
    "---- Op wo, 03 feb 2027 10:00:00 +0100 Depesche schreef ----",
    "Begin forwarded message:",
    "On Wed, 3 Feb 2027 at 10:00, Depesche <table@games.example> wrote:",
    "On Wed, 3 Feb 2027 at 10:00, Depesche\n<table@games.example>\nwrote:",
    "Op wo 3 feb 2027 om 10:00 schreef Depesche <table@games.example>:",
    "Op 3 feb 2027, om 10:00 heeft Depesche <table@games.example> het volgende geschreven:",
    "Le mer. 3 févr. 2027 à 10:00, Depesche <table@games.example> a écrit\u00a0:",
    "Am Mi., 3. Feb. 2027 um 10:00 Uhr schrieb Depesche <table@games.example>:",
    "Depesche schrieb am 03.02.2027 um 10:00:",
    "Depesche schreef op 3-2-2027 om 10:00:",
    "Depesche a écrit le 03/02/2027 à 10:00 :",
    "2027-02-03 10:00 GMT+01:00 Depesche <table@games.example>:",
    "From: Depesche\nSent: today\nTo: Anna\nSubject: turn\n",
    "*Van:* Depesche\n*Verzonden:* vandaag\n*Aan:* Anna\n*Onderwerp:* zet\n",
    "De : Depesche\nEnvoyé : hier\nÀ : Anna\nObjet : coup\n",
    "Gesendet: Mittwoch, 3. Februar 2027\nVon: Depesche\nAn: Anna\nBetreff: Zug\n",
    "-- ",
    "This message is confidential and is meant for the person it is addressed to only.",
    "Dit bericht is vertrouwelijk en alleen bestemd voor degene aan wie het is gericht.",
    "Ce message est confidentiel et réservé à la personne à laquelle il est adressé.",
    "Diese Nachricht ist vertraulich und nur für denjenigen bestimmt, an den sie geht.",
]
LEFT_OUT = [
    "> flip",
    "| flip",
    ">> flip",
    "Sent from my iPhone",
    "Get Outlook for Android<https://aka.ms/x>",
    "Verstuurd vanaf mijn iPad",
    "Envoyé de mon Galaxy",
    "Von meinem iPhone gesendet",
    "Gesendet von Mail für Windows",
    "On 3 February, Depesche <table@games.example> wrote:\n> flip",
    "Am 3.2.2027 um 10:05:\n> flip",
    "On 3 Feb 2027 at 10:05:\n\n> flip",
]
OWN_LINES = [
    "On Monday I am away",
    "Le tour est joli",
    "From: me, with love",
    "wrote: nothing",
    "Op de fiets, 3 km:",
    "12 > 7",
]


def list_lines_of_text(text: str) -> list[str]:
    return list(reply_text.iter_unquoted(text))


def list_lines_of_mail(raw: bytes) -> tuple[str, ...]:
    return reply_text.list_own_lines(message_from_bytes(raw))


@pytest.mark.parametrize("divider", CUT_OFF)
def test_lines_below_a_divider_are_not_the_senders(divider):
    assert list_lines_of_text(ABOVE_A_DIVIDER.format(divider)) == ["A1"]


@pytest.mark.parametrize("line", LEFT_OUT)
def test_a_line_that_is_not_ones_own_is_left_out(line):
    assert list_lines_of_text(f"A1\n{line}\nB2") == ["A1", "B2"]


@pytest.mark.parametrize("line", OWN_LINES)
def test_what_only_looks_like_a_quotation_is_ones_own(line):
    assert list_lines_of_text(f"A1\n{line}\nB2") == ["A1", line, "B2"]


def test_ones_own_line_right_above_the_quotation_is_kept():
    assert list_lines_of_text("move A1 A2\nOn 3 Feb 2027, Depesche <table@games.example> wrote:\n> x") == ["move A1 A2"]


def test_below_a_signature_a_quotation_may_follow_and_an_answer_below_it():
    assert list_lines_of_text("-- \nAnna\n\nOn 3 Feb 2027, Depesche wrote:\n> flip\n\nA1") == ["A1"]


def test_what_cannot_be_seen_is_not_there():
    assert list_lines_of_text("\ufeffmo\u200bve\u00a0A1\tA2\x07\u200e") == ["move A1 A2"]
    assert list_lines_of_text("e\u0301") == ["é"]


@pytest.mark.parametrize(
    ("params", "body", "lines"),
    [
        ("format=flowed", b"place 1,0 \n90\nflip \n> no", ["place 1,0 90", "flip"]),
        ("format=flowed", b"A1 \n| flip\n", ["A1"]),
        ("format=flowed; delsp=yes", b"pla \nce\n", ["place"]),
        ("format=flowed", b" >from me\n", [">from me"]),
        ("format=flowed", b"Hi \n-----Original Message-----\nflip\n", ["Hi"]),
        ("format=flowed", b"Hi\x08\nOn 3 Feb 2027, Depesche <table@games.example> wrote:\n\nflip\n", ["Hi"]),
        ("charset=utf-8", "Zürich".encode("cp1252"), ["Zürich"]),
        ("charset=iso-8859-1", "Zürich".encode(), ["Zürich"]),
        ("charset=us-ascii", "Zürich".encode(), ["Zürich"]),
        ("charset=nonsense", "Zürich".encode(), ["Zürich"]),
        ("charset=gb18030", "走".encode("gb18030"), ["走"]),
        ("charset=koi8-r", "ход".encode("koi8-r"), ["ход"]),
        ("charset=utf-16", "A1".encode("utf-16"), ["A1"]),
    ],
)
def test_lines_that_flow_and_letters_of_all_codes(params, body, lines):
    assert [*list_lines_of_mail(f"Content-Type: text/plain; {params}\n\n".encode() + body)] == [
        one for one in lines if one[0] != ">"
    ]


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("A1<br>B2", ["A1", "B2"]),
        ("<p>A1</p>\n<p>B2 &amp;&nbsp;C3</p>", ["A1", "B2 & C3"]),
        ("<div>A1</div><blockquote>flip</blockquote>", ["A1"]),
        ("<blockquote type=cite>flip<blockquote>flip</blockquote>flip</blockquote><div>A1</div>", ["A1"]),
        ('<div>A1</div><div class="gmail_quote">On 3 Feb wrote:<br>flip</div>', ["A1"]),
        ('<div>A1</div><div class="x_gmail_signature">flip</div>B2', ["A1", "B2"]),
        ('<p>A1</p><div id="x_divRplyFwdMsg">From</div><p>flip</p>', ["A1"]),
        ("<p>A1</p><div style='border:none;border-top:solid #B5C4DF 1.0pt'>From</div><p>flip</p>", ["A1"]),
        ("<head><title>flip</title><style>flip</style></head><p>A1</p><!-- flip --><script>flip</script>", ["A1"]),
        ("<p>A1<!-- a > b --></p><p>B2", ["A1", "B2"]),
        ("<ul><li>A1<li>B2</ul>", ["A1", "B2"]),
        ('<div class="sheet depesche-letter"><p>flip</p></div>A1', ["A1"]),
        ("A1 < B2", ["A1 < B2"]),
        ("</blockquote></p>A1", ["A1"]),
        ("<b>A1</b> <font color=red>B2</font><s>flip</s><STRIKE>flip</STRIKE>", ["A1 B2"]),
        ("<style><!-- b.x { display: none } --></style><b class=x>flip</b>A1", ["A1"]),
        ("<style>b { display: none }</style><b>flip</b>A1", ["A1"]),
        ("\ud800A1", ["?A1"]),
        ("", []),
    ],
)
def test_the_text_of_a_page_without_what_it_quotes(html, lines):
    assert list_lines_of_text(html_text.extract_text(html)) == lines


def test_where_the_letter_was_quoted_unmarked_only_the_top_is_ones_own():
    letter = "Anna, it is your turn.\nflip\nMake your move: https://games.example/t/abcdefghijklmnopqrstuvwx"
    assert list_lines_of_mail(f"A1\n\n{letter}\n".encode()) == ("A1",)
    assert list_lines_of_mail(f"{letter}\nA1\n".encode()) == ()


def test_a_mail_of_parts_is_read_in_the_form_that_has_lines():
    parts = b"--x\nContent-Type: text/html\n\n<p>B2</p>\n--x\nContent-Type: text/plain\n\n%s\n--x--\n"
    head = b'Content-Type: multipart/alternative; boundary="x"\n\n'
    assert list_lines_of_mail(head + parts % b"A1") == ("A1",)
    assert list_lines_of_mail(head + parts % b" ") == ("B2",)
    assert list_lines_of_mail(head + parts % b"> flip") == ("B2",)


def test_never_more_lines_than_anybody_plays_nor_longer_ones():
    lines = list_lines_of_mail(b"\n" + b"x" * 5000 + b"\n" + b"y\n" * 5000)
    assert (len(lines), len(lines[0])) == (reply_text.MAX_LINES, reply_text.MAX_LINE_CHARS)


LONG_TEXTS = [
    "<" * 60_000,
    "<a " * 20_000,
    "<a b='" * 10_000,
    "<!--" * 15_000,
    "<div>" * 12_000 + "</x>" * 9_000,
    "<b>" * 20_000 + "</i>" * 13_000,
    "</" * 30_000,
    "".join(f"<font x={number}><p>" for number in range(4_000)),
    "<p>" + "".join(f"<b a={number}>" for number in range(2_500)) + "<p>x" * 7_500,
    "<a " + "x='" * 20_000 + ">",
    "On 1\n" * 20_000,
    "De:\n" * 30_000,
    "--\n1@\n" * 15_000,
    "<a@b> " * 15_000,
    "> \n1@ wrote:\n" * 9_000,
]


@pytest.mark.parametrize("text", LONG_TEXTS, ids=range(len(LONG_TEXTS)))
def test_no_text_takes_long_to_read(text):
    began = time.perf_counter()
    list(reply_text.iter_unquoted(html_text.extract_text(text)))
    list(reply_text.iter_unquoted(text[: reply_text.MAX_PART_CHARS]))
    assert time.perf_counter() - began < 3


@pytest.mark.parametrize("language", sorted(clients.GMAIL))
@pytest.mark.parametrize("program", [clients.gmail, clients.iphone, clients.apple_html, clients.outlook_app])
def test_lines_that_programs_add_do_not_become_talk(program, language) -> None:
    body = program(
        "move A1 A2\n\nUntil tomorrow, friends", "Anna, it is your turn.\nYou have time until Monday.", language
    )
    message = message_from_bytes(f"{body.headers}\n\n".encode() + body.content)
    assert reply_text.list_own_lines(message) == ("move A1 A2", "Until tomorrow, friends")
