"""A corpus made at the table where it is tried: genuine answers, and mails into which no player typed a move.

Each mail quotes a real letter, as one of fourteen mail programs does it in one of sixteen languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random

from msgspec import Struct

from engine import menu as menus
from engine import table as tables
from engine.menu import MenuEntry, Move
from service.app import App
from service.tables.access import Place
from service.text import receipts
from service.text.languages import LANGUAGES
from tests import apps
from tests.workers.incoming.replies import clients
from tests.workers.incoming.replies.clients import Body
from workers.outgoing.letter import LetterRequest
from workers.outgoing.suggestions import MoveWriter
from workers.outgoing.table_letters import write

Client = Callable[[str, str, str], Body]
PROGRAMS: tuple[Client, ...] = (
    clients.gmail,
    clients.gmail_below,
    clients.gmail_html,
    clients.outlook,
    clients.outlook_html,
    clients.outlook_web,
    clients.outlook_app,
    clients.apple,
    clients.apple_html,
    clients.iphone,
    clients.thunderbird,
    clients.the_bat,
    clients.mutt,
    clients.k9,
    clients.webde,
    clients.galaxy,
    clients.proton,
    clients.yahoo,
)
QUOTING_LANGUAGES = ("en", "nl", "fr", "de", *clients.ABROAD)
# What people write around a move; the first is nothing.
COURTESIES = (
    ("", ""),
    ("Hallo zusammen,\n\n", "\n\nViele Grüße\n{name}"),
    ("", "\n\nGood luck!"),
    ("Bonjour,\n\n", "\n\nAmicalement, {name}"),
    ("", "\n\nGroetjes, {name}"),
    ("1. ", ""),
    ("", "."),
    ("Sorry for the delay, I was away.\n\n", ""),
    ("", ", please"),
    ("*", "*"),
    ("", "\n\nMuchas gracias por esperar, un abrazo a todos"),
    ("Buongiorno a tutti!\n\n", "\n\nA presto"),
)
# Mails whose text contains no move.
TALK = (
    "",
    "Danke, ich schaue es mir heute Abend an!",
    "Merci ! Je joue demain.",
    "Thanks, will do it tonight.",
    "Leuk spel, ik denk er nog even over na.",
    "¡Qué bonito! Lo miro luego.",
    "Nie mam teraz czasu, odpiszę jutro.",
    "Kiitos, palaan asiaan huomenna.",
)


class CorpusMail(Struct, frozen=True):
    """A mail of the corpus: its name, its two addresses, its bytes, and the move that it makes if any."""

    name: str
    to: str
    sender: str
    raw: bytes
    move: str = ""


def find_mover(app: App, table: str) -> Place | None:
    """Return the place that is to move, or None if the game is over."""
    snapshot = apps.load_table(app, table)
    waiting = tables.find_seats_to_move(snapshot.game, snapshot.position)
    return Place(table, waiting[0], "") if waiting else None


def letter(app: App, place: Place, language: str) -> str:
    """Return the text of this player's turn letter."""
    seat = apps.load_table(app, place.table).seats[place.seat or 0]
    owner = apps.load_address(app, place)
    order = LetterRequest(place.table, seat.open_since or 0, seat.seat, "turn", owner, seat.name, language, plain=True)
    made = write(app, order)
    assert made is not None
    return str(made.get_content())


def genuine(app: App, place: Place, number: int) -> CorpusMail:
    """Write an answer with a move in it, in the words of one of our languages; each number another way."""
    random = Random(number)
    program, quoting = PROGRAMS[number % len(PROGRAMS)], QUOTING_LANGUAGES[(number * 5) % len(QUOTING_LANGUAGES)]
    language = tuple(LANGUAGES)[number % 4]
    snapshot = apps.load_table(app, place.table)
    move, entry = pick_move(tables.menu(snapshot.game, snapshot.position, place.seat or 0), random)
    line = MoveWriter(snapshot.game, snapshot.names, language).write(move, entry)
    before, after = COURTESIES[number % len(COURTESIES)]
    own = f"{before}{line.upper() if number % 7 == 3 else line}{after.format(name=snapshot.names[place.seat or 0])}"
    body = program(own, letter(app, place, language), quoting)
    return mail(app, place, f"{number} {program.__name__} {quoting} {own!r}", body, str(move))


def pick_move(menu: menus.Menu, random: Random) -> tuple[Move, MenuEntry]:
    entry = random.choice([entry for entry in menu if entry.count()])
    return random.choice(list(entry.iter_moves())[:200]), entry


def write_mail_without_move(app: App, place: Place, number: int) -> CorpusMail:
    """Write a mail that quotes our letter and contains no move of its own."""
    program, quoting = PROGRAMS[number % len(PROGRAMS)], QUOTING_LANGUAGES[(number * 7) % len(QUOTING_LANGUAGES)]
    own = TALK[number % len(TALK)]
    body = program(own, letter(app, place, tuple(LANGUAGES)[number % 4]), quoting)
    return mail(app, place, f"{number} {program.__name__} {quoting} {own!r}", body)


def mail(app: App, place: Place, name: str, body: Body, move: str = "", **headers: str) -> CorpusMail:
    snapshot = apps.load_table(app, place.table)
    to, sender = (
        app.links.make_reply_address(app.settings, snapshot.seats[place.seat or 0]),
        apps.load_address(app, place),
    )
    named = {"From": f"Somebody <{sender}>", "To": f"<{to}>", "Subject": "Re: Kurier", "MIME-Version": "1.0"}
    named["Message-ID"] = f"<{sha256(body.content + name.encode()).hexdigest()}@phone.example>"
    for header, value in headers.items():
        named[header.replace("_", "-")] = value
    head = "".join(f"{header}: {value}\n" for header, value in named.items())
    return CorpusMail(name, to, sender, f"{head}{body.headers}\n\n".encode() + body.content, move)


def attacks(app: App, place: Place, other: Place) -> Iterator[CorpusMail]:
    """Mails that carry a move which this player did not type, or may not make this way."""
    move = apps.list_moves(app, place)[0]
    whole = letter(app, place, "de")
    plain, html = clients.plain, clients.html
    for name, page in HIDDEN_MOVES.items():
        yield mail(app, place, name, html(page.format(move)))
    for name, text in QUOTES.items():
        yield mail(app, place, name, plain(text.format(move=move, letter=whole, marked=clients.mark_quoted(whole))))
    for name, headers in PROGRAMS_SAY.items():
        yield mail(app, place, f"header {name}", plain(move), **headers)
    for sender in FORGED_HEADERS:
        yield mail(app, place, f"from {sender}", plain(move), From=sender)
    yield mail(app, place, "two senders", plain(move), From=f"{apps.load_address(app, place)}, eve@example.org")
    yield mail(app, place, "answers another table", plain(move), In_Reply_To=f"<{other.table}.3.0.turn@games.example>")
    yield mail(
        app, place, "an older turn", plain(move), In_Reply_To=f"<{place.table}.1.{place.seat}.turn@games.example>"
    )
    for kind in ("text/calendar", "application/json", "text/x-python", "text/rtf", "image/svg+xml"):
        yield mail(app, place, kind, Body(f"Content-Type: {kind}", move.encode()))
    for name, part in PARTS.items():
        body = clients.make_multipart("mixed", plain("Look at this!"), Body(part, f"{move}\n".encode()))
        yield mail(app, place, name, body)
    yield from _list_misdirected(app, place, other, move)


def _list_misdirected(app: App, place: Place, other: Place, move: str) -> Iterator[CorpusMail]:
    """To addresses that are not quite those of a seat."""
    sent = mail(app, place, "", clients.plain(move))
    name, _, proof = sent.to.partition("@")[0].rpartition(".")
    for to in (f"{name}.{'a' * len(proof)}@x", f"{name}@x", f"{name}.{proof[:-1]}@x", f"{name}..{proof}@x", "play@x"):
        yield CorpusMail(f"to {to}", to, sent.sender, sent.raw.replace(sent.to.encode(), to.encode()))
    theirs = app.links.make_reply_address(app.settings, apps.load_table(app, other.table).seats[other.seat or 0])
    raw = sent.raw.replace(sent.to.encode(), theirs.encode())
    yield CorpusMail("the address of another", theirs, sent.sender, raw)


HIDDEN_MOVES = {
    "display": '<p>Hi!</p><div style="display:none">{0}</div>',
    "visibility": '<p>Hi!</p><div style="visibility:hidden">{0}</div>',
    "tiny": '<p>Hi!</p><span style="font-size:0px">{0}</span>',
    "attribute": "<p>Hi!</p><p hidden>{0}</p>",
    "comment": "<p>Hi!</p><!-- {0} -->",
    "conditional": "<p>Hi!</p><!--[if mso]><p>{0}</p><![endif]-->",
    "style": "<style>{0}</style><p>Hi!</p>",
    "script": "<script>{0}</script><p>Hi!</p>",
    "title": "<title>{0}</title><p>Hi!</p>",
    "template": "<template><p>{0}</p></template><p>Hi!</p>",
    "alternative text": '<p>Hi!</p><img alt="{0}" src="x">',
    "textarea": "<p>Hi!</p><textarea>{0}</textarea>",
    "blockquote": "<p>Hi!</p><blockquote>{0}</blockquote>",
    "signature": '<p>Hi!</p><div class="gmail_signature">{0}</div>',
    "quoted": '<p>Hi!</p><div class="yahoo_quoted">{0}</div>',
    "class": "<style>p.x, .hid {{ color: red; display: none }}</style><p>Hi!</p><p class='a hid'>{0}</p>",
    "id": "<style>#hid{{display:none}}</style><p>Hi!</p><div id=hid>{0}</div>",
    "off the page": '<p>Hi!</p><div style="position:absolute; left:-9999px">{0}</div>',
    "indented away": '<p>Hi!</p><div style="text-indent:-5000px">{0}</div>',
    "no height": '<p>Hi!</p><div style="height:0;overflow:hidden">{0}</div>',
    "transparent": '<p>Hi!</p><div style="color: transparent">{0}</div>',
    "one pixel": '<p>Hi!</p><div style="font-size:1px">{0}</div>',
    "clipped": '<p>Hi!</p><div style="clip: rect(0, 0, 0, 0)">{0}</div>',
    "turned": "<p>Hi!</p><p>\u202e{0}</p>",
    "isolated": "<p>Hi!</p><p>\u2066{0}\u2069</p>",
}
QUOTES = {
    "a mark": "Hi!\n> {move}\n",
    "two marks": "Hi!\n>> {move}\n",
    "initials": "Hi!\n AB> {move}\n",
    "a bar": "Hi!\n| {move}\n",
    "signature": "Hi!\n-- \n{move}\n",
    "below a rule": "Hi!\n\n-----Original Message-----\nFrom: Bert\nSent: today\nTo: Anna\nSubject: x\n\n{move}\n",
    "attributed": "Hi!\n\nOn 3 Feb 2027, at 10:00, Bert <bert@example.org> wrote:\n{move}\n",
    "forwarded": "FYI\n\nBegin forwarded message:\n\nFrom: Bert\nTo: Anna\n\n{move}\n",
    "forwarded by Gmail": "---------- Forwarded message ---------\nVon: B <b@x.org>\nDate: Mi.\nSubject: x\n\n{move}\n",
    "our letter": "{letter}",
    "our letter below a word": "Spannend!\n\n{letter}",
    "our letter, marked": "{marked}",
    "armoured": "-----BEGIN PGP MESSAGE-----\n\n{move}\n-----END PGP MESSAGE-----\n",
    "turned": "Hi!\n\u202e{move}\u202c\n",
    "a long talk": "I thought about {move} the whole night but I am not sure that it is wise, what do you say?\n",
    "a footer": "Hi!\nDisclaimer: {move}\n",
}
PROGRAMS_SAY = {
    "auto": {"Auto_Submitted": "auto-replied"},
    "generated": {"Auto_Submitted": "auto-generated"},
    "bulk": {"Precedence": "bulk"},
    "list": {"List_Id": "<chess.example.org>"},
    "leaving": {"List_Unsubscribe": "<mailto:x@example.org>"},
    "responder": {"X_Autoreply": "yes"},
    "loop": {"X_Loop": "anna@example.org"},
    "failed": {"X_Failed_Recipients": "anna@example.org"},
    "away": {"Subject": "Automatic reply: Kurier"},
    "away in German": {"Subject": "Abwesenheitsnotiz: Kurier"},
    "away in French": {"Subject": "=?utf-8?q?R=C3=A9ponse_automatique=C2=A0=3A_Kurier?="},
    "away in Dutch": {"Subject": "Automatisch antwoord: Kurier"},
    "no return": {"Return_Path": "<>"},
    "our mark": {receipts.TABLE_HEADER: "0123456789abcdef"},
}
FORGED_HEADERS = (
    "eve@example.org",
    '"anna@example.org" <eve@example.org>',
    "anna@example.org.evil.example",
    "anna@evil.example",
    "=?utf-8?q?anna=40example.org?= <eve@example.org>",
    "Anna <anna@еxample.org>",
    "<>",
    "anna",
)
PARTS = {
    "attached text": 'Content-Type: text/plain\nContent-Disposition: attachment; filename="a.txt"',
    "attached mail": "Content-Type: message/rfc822",
    "attached page": 'Content-Type: text/html\nContent-Disposition: attachment; filename="a.html"',
    "attached card": "Content-Type: text/vcard",
    "attached signature": "Content-Type: application/pgp-signature",
}
