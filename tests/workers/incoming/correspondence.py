"""People who play by mail alone: they know nothing but the plain text of the letters that come to them."""

from __future__ import annotations

import re
from email.message import EmailMessage
from random import Random

from msgspec import Struct

from service.app import App
from tests.servers import Sink
from workers.incoming import inbox, mail_moves
from workers.outgoing import post

CHOICE = re.compile(r"^ {2}((?!mailto:)\S.*(?:\n {4}\S.*)*)$", re.MULTILINE)
OF_THESE = re.compile(r"\((\d+)[^)]*\)\s?:\n$")


class Language(Struct, frozen=True):
    """The words that a player of this language writes, and the words that mark the places of a letter."""

    joining: str
    join: str
    moves: str
    anytime: str
    resign: str
    sure: str
    again: str


LANGUAGES = {
    "de": Language(
        "  mitspielen", "Ja gerne!", "Beantworte diesen", "Jederzeit:", "Ich gebe auf", "aufgeben ja", "Nochmal, bitte!"
    ),
    "fr": Language(
        "  je joue", "Avec plaisir !", "Réponds à cette", "À tout moment", "J'abandonne", "abandonner oui", "Encore"
    ),
    "nl": Language(
        "  doe mee", "Ja graag", "Beantwoord deze", "Op elk moment:", "Ik geef op", "opgeven ja", "Nog een keer!"
    ),
    "en": Language(
        "  join", "Count me in", "Answer this letter with", "At any time:", "I give up", "resign yes", "Again!"
    ),
}


class Correspondent:
    """A player with a mailbox and a language, who answers every letter that asks for an answer."""

    def __init__(self, address: str, language: str, seed: int, verdict_wait: int = 10_000) -> None:
        self.address = address
        self.knows = LANGUAGES[language]
        self.random = Random(seed)
        self.verdict_wait = verdict_wait  # moves before giving up
        self.kinds: list[str] = []
        self.refused: list[str] = []
        self.last = ""

    def answer(self, letter: EmailMessage) -> str:
        """Return the player's answer to this letter; it is empty if the letter asks for nothing."""
        text, kind = str(letter.get_content()), _kind(letter)
        self.kinds.append(kind)
        self.last = text
        if kind == "refused":
            self.refused.append(text[:600])
        if kind == "table":
            return self.knows.join if f"\n{self.knows.joining}\n" in text else ""
        if kind == "over":
            return self.knows.again
        if "over" in self.kinds:
            return ""  # the next game is for another evening
        if f"\n  {self.knows.sure}\n" in text:
            return self.knows.sure
        choices = list_offered(text, self.knows)
        if not choices:
            return ""
        self.verdict_wait -= 1
        return self.random.choice(choices) if self.verdict_wait >= 0 else self.knows.resign


def _kind(letter: EmailMessage) -> str:
    """The kind of a letter, by its id: of a turn, of an answer, or of the table's first letter."""
    parts = str(letter["Message-ID"]).strip("<>").partition("@")[0].split(".")
    return parts[3] if len(parts) > 3 else parts[2]


def list_offered(text: str, knows: Language) -> list[str]:
    """The moves that a reader finds in a letter, as they would write them: each line's first, and its last."""
    hints = text.partition(knows.moves)[2].partition(knows.anytime)[0]
    moves = list[str]()
    for line in CHOICE.finditer(hints):
        if line[1].startswith("…"):  # the rest, which is on the page
            continue
        label = OF_THESE.search(hints[: line.start()])
        moves += _moves(" ".join(line[1].split()), int(label[1]) if label else 0)
    return moves


def _moves(line: str, of_these: int) -> list[str]:
    if of_these:
        return [", ".join(line.split(", ")[:of_these])]
    if re.search(r"\d–\d", line):
        return [line.partition("–")[0]]
    first, *others = line.removesuffix(" · …").split(" · ")
    return [first, *(f"{first.rpartition(' ')[0]} {other}" for other in others[-1:] if " " not in other)]


def play(app: App, sink: Sink, people: list[Correspondent], most: int) -> int:
    """Letters leave and are answered until nothing more comes; how many were read."""
    number = 0
    for _ in range(most):
        post.run()
        if number == len(sink.letters):
            return number
        letter = sink.letters[number]
        number += 1
        reader = next(one for one in people if one.address in str(letter["To"]))
        if words := reader.answer(letter):
            inbox.process_mail(
                app, _reply(letter, reader, words).as_bytes(), letter["Reply-To"].addresses[0].addr_spec, reader.address
            )
            mail_moves.run()
            app.now.advance(60)  # type: ignore[attr-defined]  # a clock of the tests
    return number


def _reply(letter: EmailMessage, reader: Correspondent, words: str) -> EmailMessage:
    """An answer as a mail program makes it, the letter quoted below."""
    made = EmailMessage()
    made["From"], made["To"] = str(letter["To"]), letter["Reply-To"].addresses[0].addr_spec
    made["Subject"] = f"Re: {letter['Subject']}"
    made["Message-ID"] = f"<{len(reader.kinds)}.{id(reader)}@phone.example>"
    made["In-Reply-To"] = str(letter["Message-ID"])
    quoted = "".join(f"> {line}\n" for line in str(letter.get_content()).splitlines())
    made.set_content(f"{words}\n\nAm 3.2.2027 um 10:00 schrieb Depesche:\n{quoted}")
    return made
