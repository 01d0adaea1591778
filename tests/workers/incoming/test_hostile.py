"""Hostile mails break nothing, and a seat moves only by a move that its own player wrote."""

from __future__ import annotations

import base64
import quopri
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from sqlalchemy import func, select

from service.app import App
from service.store.schema import mails, submissions
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from tests import apps
from tests.sampling import one_of
from workers.incoming import bounce_reports, inbox, mail_headers, mail_moves, mailbox_polling

CHARSETS = (
    "utf-8",
    "us-ascii",
    "iso-8859-1",
    "windows-1252",
    "utf-16",
    "utf-7",
    "iso-2022-jp",
    "big5",
    "x-none",
    "",
    "0",
)
CODINGS = ("7bit", "8bit", "base64", "quoted-printable", "x-uuencode", "binary", "\x00", "")
KINDS = ("text/plain", "text/html", "text/calendar", "text", "application/json", "TEXT/PLAIN; format=flowed", "")
MULTIPARTS = ("alternative", "mixed", "related", "signed", "report", "digest", "x")
TALK = ("Thanks!", "Tot morgen", "À bientôt", "Schöne Grüße", "How are you?", "1. e4", "%s {0} {name}", "\u202e pilf")
MOVES = (
    "flip",
    "deploy lady Baikal-Bar",
    "omslaan",
    "resign yes",
    "opgeven ja",
    "undo",
    "deploy",
    "FLIP",
    "flip\nflip",
)
NAMES = ("X", "Received", "References", "In-Reply-To", "Authentication-Results", "Date", "Sender", "To")

noise = st.text(st.characters(exclude_categories=("L", "Cs"), max_codepoint=0x2FFFF), max_size=60)
talk = noise | st.sampled_from(TALK)


class Letter(Struct, frozen=True):
    """A mail, and whether every move in it is by another person or out of sight."""

    raw: bytes
    innocent: bool


def quote(move: str) -> str:
    return "".join(f"> {line}\n" for line in move.splitlines())


# Places in a text where a move is not the sender's own.
PLACES = (
    quote,
    lambda move: f"| {move.splitlines()[0]}\n",
    lambda move: f"On 3 Feb 2027, Depesche <table@games.example> wrote:\n\n{move}\n",
    lambda move: f"Op 3 feb 2027 om 10:00 schreef Depesche\n<table@games.example>:\n{quote(move)}",
    lambda move: f"-----Original Message-----\n{move}\n",
    lambda move: f"________________________________\n{move}\n",
    lambda move: f"Von: Depesche\nGesendet: heute\nAn: Anna\nBetreff: Zug\n\n{move}\n",
    lambda move: f"-- \n{move}\n",
    lambda move: f"-------- Message d'origine --------\n{move}\n",
)
PLACES_IN_HTML = (
    lambda move: f"<blockquote>{move}</blockquote>",
    lambda move: f'<div class="gmail_quote">{move}<div>{move}</div></div>',
    lambda move: f"<style>{move}</style><script>{move}</script><!-- {move} -->",
    lambda move: f'<p title="{move}"><title>{move}</title>',
    lambda move: f'<hr><div id="divRplyFwdMsg">x</div>{move}',
    lambda move: f'<div style="border:none;border-top:solid #E1E1E1 1.0pt">{move}</div><p>{move}',
)
foreign = st.builds(lambda place, move: place(move), st.sampled_from(PLACES), st.sampled_from(MOVES))
foreign_html = st.builds(lambda place, move: place(move), st.sampled_from(PLACES_IN_HTML), st.sampled_from(MOVES))
texts = st.builds(lambda own, parts: "\n".join((own, *parts)), talk, st.lists(foreign, max_size=3))
pages = st.builds(
    lambda own, parts: f"<p>{own.replace('<', '').replace('&', '')}</p>" + "".join(parts),
    talk,
    st.lists(foreign_html, max_size=3),
)


@st.composite
def leaves(draw: st.DrawFn) -> bytes:
    kind, charset = draw(st.sampled_from(KINDS)), draw(st.sampled_from(CHARSETS))
    text = draw(pages if "html" in kind else texts) if draw(st.integers(0, 9)) else draw(st.text(max_size=200))
    coding = draw(st.sampled_from(CODINGS))
    raw = text.encode(draw(st.sampled_from(("utf-8", "utf-8", "cp1252", "utf-16"))), "replace")
    content = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring}.get(coding, bytes)(raw)
    return f'Content-Type: {kind}; charset="{charset}"\nContent-Transfer-Encoding: {coding}\n\n'.encode() + content


@st.composite
def wholes(draw: st.DrawFn, depth: int = 0) -> bytes:
    """A body, of parts within parts, some of them without an end."""
    if depth > 3 or draw(st.booleans()):
        return draw(leaves())
    border = draw(st.sampled_from(("a", "b", "--", "=_x y")))
    parts = draw(st.lists(wholes(depth + 1), max_size=3))
    body = b"".join(f"--{border}\n".encode() + part + b"\n" for part in parts)
    end = f"--{border}--\n".encode() if draw(st.booleans()) else b""
    kind = draw(st.sampled_from(MULTIPARTS))
    return f'Content-Type: multipart/{kind}; boundary="{border}"\n\n'.encode() + body + end


@st.composite
def damage(draw: st.DrawFn, raw: bytes) -> bytes:
    """The same with something cut out, put in, or said twice."""
    at, size = draw(st.integers(0, len(raw))), draw(st.integers(0, 200))
    put = draw(st.binary(max_size=40) | st.sampled_from((b"flip\n", b"\n\n", b"\x00" * 9, b"(" * 300, b"<" * 300)))
    return raw[:at] + put + (raw[at + size :] if draw(st.booleans()) else raw[at:])


@st.composite
def hostile(draw: st.DrawFn) -> Letter:
    headers = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.text(max_size=60)), max_size=4))
    sender = draw(st.sampled_from(("anna@example.org", "Anna <anna@example.org>", '"flip" <ANNA@example.org>')))
    subject = draw(st.sampled_from((*MOVES, "Re: it is your turn", "=?x?q?flip?=", "=?utf-8?b?/////w==?=")))
    head = {"From": sender, "Subject": subject.replace("\n", " "), "Message-ID": "<NUMBER@example.org>"}
    lines = [f"{name}: {value}" for name, value in (*head.items(), *headers) if "\n" not in value and "\r" not in value]
    raw = "\n".join(lines).encode("utf-8", "replace") + b"\n" + draw(wholes())
    return Letter(raw, True) if draw(st.booleans()) else Letter(draw(damage(raw)), False)


class Table:
    """A table where Anna is on turn; a new one wherever she has moved."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.number = 0
        self.lay()

    def lay(self) -> None:
        guests = [Invitee("Anna", "anna@example.org"), Invitee("Berta", "berta@example.org")]
        while True:
            opened = apps.open_new(self.app, "kurier", {}, guests)
            places = [access.find(self.app, link) for link in opened.links]
            for place in places:
                apps.submit(self.app, place, "sit lantern")
            if apps.list_moves(self.app, places[0]):
                break
        self.place: Place = places[0]
        snapshot = apps.load_table(self.app, opened.table)
        self.address = self.app.links.make_reply_address(self.app.settings, snapshot.seats[0])
        self.length = snapshot.position.length

    def receive(self, letter: Letter) -> None:
        """Nothing may break; and what was not written by Anna is not played."""
        self.number += 1
        raw = letter.raw.replace(b"NUMBER", str(self.number).encode(), 1)
        if self.number % 2:
            mailbox_polling.receive_mail(self.app, f"Delivered-To: {self.address}\n".encode() + raw)
        else:
            assert inbox.receive(self.app, raw, self.address, "anna@example.org") == inbox.REPLY_OK
        mail_moves.run()
        if apps.load_table(self.app, self.place.table).position.length != self.length:
            self.lay()
            assert not letter.innocent, letter.raw

    def check(self) -> None:
        """Every mail that came in was read to its end."""
        with self.app.store.reading() as connection:
            waiting = connection.execute(select(func.count()).where(mails.c.read_at.is_(None))).scalar_one()
            open_ones = connection.execute(select(func.count()).where(submissions.c.accepted.is_(None))).scalar_one()
            faults = connection.execute(select(func.count()).where(mails.c.report.contains("a fault of ours")))
            assert (waiting, open_ones, faults.scalar_one()) == (0, 0, 0)


@contextmanager
def open_table_app() -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as folder:
        chosen = apps.make_settings(Path(folder), sender="table@games.example", answers_per_hour=1_000_000)
        with apps.run_app(chosen, apps.FakeTime()) as app:
            yield Table(app)


def run(examples: int) -> None:
    with open_table_app() as table:

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(hostile())
        def every(letter: Letter) -> None:
            table.receive(letter)

        every()
        table.check()


@pytest.mark.parametrize("examples", one_of([40, 200], 40))
def test_hostile_mails_break_nothing_and_move_nothing(examples: int) -> None:
    run(examples)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_ten_thousand_hostile_mails_break_nothing_and_move_nothing():
    run(10_000)


def test_parts_within_parts_are_counted_before_anything_is_parsed() -> None:
    layers = "".join(f"Content-Type: multipart/mixed;\n boundary=b{depth}\n\n--b{depth}\n" for depth in range(3_000))
    start = time.monotonic()
    with pytest.raises(mail_headers.Ignored, match="parts within parts"):
        mail_headers.parse_message(f"From: a@example.org\n{layers}".encode())
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("pattern", [inbox.ANSWER_ADDRESS, bounce_reports.BOUNCE_ADDRESS])
def test_reply_addresses_have_ascii_letters_only(pattern: re.Pattern[str]) -> None:
    assert pattern.match("play+abc.0.xyz@h") or pattern.match("bounce+1.xyz@h")
    assert not pattern.match("play+abc.0.\u017fyz@h")
    assert not pattern.match("bounce+1.\u017fyz@h")
