"""A letter to a person about no single seat, as templates show it, and what it is written from."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import Row

from service import timing
from service.app import App
from service.tables.snapshots import Snapshot
from service.text.languages import Translator, translate_in_game
from service.timing import Calendar
from workers.outgoing import emails
from workers.outgoing.answer_hints import Answers
from workers.outgoing.letter import AnswerLinks, BoardSection, LetterPicture, LetterRequest, QuotedRemark


class DigestTurn(Struct, frozen=True):
    """A table in the digest that waits for the reader.

    `sentences` are the last events, `earlier` says how many are left out, and `talk` are the others' remarks since the
    reader's last move. The most urgent tables have their board and moves.
    """

    heading: str
    link: str
    deadline: str = ""
    earlier: str = ""
    sentences: tuple[str, ...] = ()
    talk: tuple[QuotedRemark, ...] = ()
    links: AnswerLinks | None = None
    board: BoardSection | None = None
    answers: Answers | None = None


class PersonalLetter(Struct, frozen=True, kw_only=True):
    """A letter to a person. A part that is empty is left out."""

    title: str = ""
    subject: str
    headline: str
    text: str
    button: str = ""
    link: str = ""
    reason: str
    turns: tuple[DigestTurn, ...] = ()
    more: str = ""
    settings_link: str = ""
    reply_to: str = ""

    @property
    def pictures(self) -> tuple[LetterPicture, ...]:
        """The boards of the letter."""
        return tuple(turn.board.picture for turn in self.turns if turn.board and turn.board.picture)


class PersonalDraft(Struct, frozen=True):
    """Everything to write a letter to a person from."""

    app: App
    request: LetterRequest
    person: Row[Any]
    translator: Translator

    @property
    def calendar(self) -> Calendar:
        return timing.parse_calendar(self.person.calendar)

    @property
    def settings_link(self) -> str:
        return emails.make_settings_address(self.app, self.person.id, self.person.settings_number)

    def name_game(self, table: Snapshot) -> str:
        return translate_in_game(self.request.language, table.game.META.name, table.game.META.title)
