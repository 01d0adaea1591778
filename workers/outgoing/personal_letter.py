"""A letter to a person about no single seat: what templates show, what it is written from, and those about channels."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection, Row

from service import timing
from service.app import App
from service.notify import channels, table_hooks, webhooks
from service.numbers import parse_int
from service.store import queries
from service.store.schema import table_hooks as hook_table
from service.tables import access
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


def write_channel(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that a channel was switched off because it kept failing; None if it works again or is removed."""
    number = parse_int(draft.request.kind_detail.partition("/")[0])
    with draft.app.store.reading() as db:
        channel = channels.find(db, number or 0)
    if channel is None or channel.person != draft.person.id or channel.disabled_at is None:
        return None
    return _write_switched_off(draft, channel.label, channel.error)


def write_follower(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that a chat gets no more news of a table; None if it works again or is removed."""
    number = parse_int(draft.request.kind_detail.partition("/")[0])
    with draft.app.store.reading() as db:
        hooks = table_hooks.list_hooks(db, hook_table.c.id == number, hook_table.c.person == draft.person.id)
    if not hooks or hooks[0].disabled_at is None:
        return None
    return _write_switched_off(draft, webhooks.NAMES[hooks[0].kind], hooks[0].error)


def write_added(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that a way to read the news of the reader's games was added; None if it is removed already."""
    _, added = draft.translator.gettext, _load_added(draft)
    if added is None:
        return None
    return PersonalLetter(
        subject=_("“%(label)s” was added", label=added.label),
        headline=_("%(name)s, “%(label)s” was added.", name=draft.person.name, label=added.label),
        text=_(
            "From now on the news of your games can be read there, too. If it was you, there is nothing to do. If not,"
            " remove it, and take new links under “My tables”: another person has one of yours."
        ),
        button=_("Look at it, or remove it"),
        link=added.page,
        reason=_("You get this letter so that nothing is added without your knowledge."),
        settings_link=draft.settings_link,
    )


def write_secret(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that the secret of a webhook is new; None if the webhook is removed."""
    _, added = draft.translator.gettext, _load_added(draft)
    if added is None:
        return None
    return PersonalLetter(
        subject=_("“%(label)s” has a new secret", label=added.label),
        headline=_("%(name)s, “%(label)s” has a new secret.", name=draft.person.name, label=added.label),
        text=_(
            "The host of this server has renewed the secrets of all webhooks. Please copy the new one into the program"
            " that checks your messages. Until the next renewal they are signed with the old secret, too."
        ),
        button=_("Show the new secret"),
        link=added.page,
        reason=_("You get this letter because you had asked us to tell you there about your games."),
        settings_link=draft.settings_link,
    )


class AddedReceiver(NamedTuple):
    """A channel, a feed or a chat that a letter is about: what it is called, and the page where it is removed."""

    label: str
    page: str


def _load_added(draft: PersonalDraft) -> AddedReceiver | None:
    """Load what the letter says was added; None if it is removed already."""
    with draft.app.store.reading() as db:
        return _find_added(db, draft)


def _find_added(db: Connection, draft: PersonalDraft) -> AddedReceiver | None:
    app, person = draft.app, draft.person
    kind, text = (*draft.request.kind_detail.split("/"), "")[:2]
    number = parse_int(text) or 0
    match kind:
        case "channel":
            channel = channels.find(db, number)
            if channel is not None and channel.person == person.id:
                return AddedReceiver(channel.label, f"{draft.settings_link}#channels")
        case "feeds":
            if person.feeds_open and person.feeds_number == number:
                label = draft.translator.gettext("Calendar and feed")
                return AddedReceiver(label, f"{draft.settings_link}/connections")
        case "follower":
            for hook in table_hooks.list_hooks(db, hook_table.c.id == number, hook_table.c.person == person.id):
                for seat in queries.list_seats(db, hook.table):
                    if seat.person == person.id and seat.proven:
                        link = f"{app.settings.address}/t/{access.make_seat_link(app, seat)}"
                        return AddedReceiver(webhooks.NAMES[hook.kind], f"{link}/followers")
    return None


def _write_switched_off(draft: PersonalDraft, label: str, error: str) -> PersonalLetter:
    _ = draft.translator.gettext
    return PersonalLetter(
        subject=_("“%(label)s” is switched off", label=label),
        headline=_("%(name)s, “%(label)s” is switched off.", name=draft.person.name, label=label),
        text=_(
            "We could not reach it for days, so we send nothing there any more. Your letters come as before. When it"
            " works again, switch it on in your settings. The last answer was: %(error)s",
            error=error or _("none"),
        ),
        button=_("Open the settings"),
        link=draft.settings_link,
        reason=_("You get this letter because you had asked us to tell you there about your games."),
        settings_link=draft.settings_link,
    )
