"""Notices: the few words of a letter that a push message, a webhook or a chat says instead."""

from __future__ import annotations

from sqlalchemy import Connection

from service.app import App
from service.notify.channels import Notice
from service.numbers import parse_int
from service.store import queries
from service.tables import snapshots, talk
from service.tables.snapshots import Snapshot
from service.text.languages import Translator, translate_in_game
from workers.outgoing import digest, letter_bodies, personal_letters, table_letters
from workers.outgoing.letter import LetterRequest, QuotedRemark
from workers.outgoing.letter_parts import TableDraft
from workers.outgoing.owed import TALK, OwedNotice

MAX_SENTENCE_CHARS = 300


def make_notice_id(owed: OwedNotice) -> str:
    """Return the id of a notice, made from what it is about."""
    request = owed.request
    about = f"{request.table}.{request.seq}.{request.seat}" if request.table else str(owed.letter)
    return f"{about}.{request.kind.replace('/', '.')}"


def write(app: App, owed: OwedNotice, at: int) -> Notice | None:
    """Write a notice about the table or the person as of now; None if it is overtaken. `at` is when it was owed."""
    return _write_about_table(app, owed, at) if owed.request.table else _write_about_person(app, owed, at)


def _write_about_table(app: App, owed: OwedNotice, at: int) -> Notice | None:
    """Write a notice about a seat at a table; None if its moment has passed."""
    request = owed.request
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, request.table)
        if table_letters.is_overtaken(snapshot, request):
            return None
        waiting = queries.count_waiting_seats(db, request.person)
        remarks = _load_remarks(db, snapshot, request) if owed.kind is TALK else ()
        # Only the news of a pause needs entries: they say who asked for it.
        entries = snapshots.load_entries(db, snapshot) if request.kind_name == "paused" else []
    if owed.kind is TALK and not remarks:
        return None
    draft = table_letters.make_draft(app, request, snapshot, entries=entries, remarks=remarks)
    return Notice(
        id=make_notice_id(owed),
        kind=request.kind_name,
        group=owed.kind.group,
        subject=f"{request.table}/{owed.kind.group}",
        title=write_title(snapshot, request.seat, request.language),
        sentence=write_sentence(draft)[:MAX_SENTENCE_CHARS],
        link=draft.addresses.page,
        language=request.language,
        at=at,
        table=request.table,
        game=snapshot.game.META.name,
        deadline=owed.deadline if owed.kind.group in ("turn", "reminder") else None,
        waiting=waiting,
    )


def _load_remarks(db: Connection, snapshot: Snapshot, request: LetterRequest) -> tuple[QuotedRemark, ...]:
    """Load what the others have said, beginning with the remark for which the letter is owed."""
    first_id = parse_int(request.kind_detail) or 0
    remarks = talk.list_since(db, request.table, request.seat, at=0)  # of all times, because their ids tell which
    return tuple(QuotedRemark(snapshot.names[one.seat], one.text) for one in remarks if one.id >= first_id)


def write_sentence(draft: TableDraft) -> str:
    """Return the first sentence of a letter; of a letter with remarks, what was said."""
    if draft.kind == "talk":
        return "\n".join(f"{remark.name}: {remark.text}" for remark in draft.remarks)
    return letter_bodies.write_headline(draft)


def write_title(snapshot: Snapshot, seat: int, language: str) -> str:
    """Return the game and the other players."""
    meta = snapshot.game.META
    title = translate_in_game(language, meta.name, meta.title)
    others = ", ".join(name for number, name in enumerate(snapshot.names) if number != seat and name)
    return Translator(language).gettext("%(title)s with %(names)s", title=title, names=others) if others else title


def _write_about_person(app: App, owed: OwedNotice, at: int) -> Notice | None:
    """Write a notice about no single seat, such as the digest; None if its moment has passed."""
    request = owed.request
    with app.store.reading() as db:
        waiting = queries.count_waiting_seats(db, request.person)
    sentence = _write_personal_sentence(app, request, waiting)
    if not sentence:
        return None
    return Notice(
        id=make_notice_id(owed),
        kind=request.kind_name,
        group=owed.kind.group,
        subject=request.kind_name,
        title=app.settings.sender_name,
        sentence=sentence[:MAX_SENTENCE_CHARS],
        link=f"{app.settings.address}/my",
        language=request.language,
        at=at,
        waiting=waiting,
    )


def _write_personal_sentence(app: App, request: LetterRequest, waiting: int) -> str:
    """Return the first sentence of a letter to a person; empty if it is overtaken."""
    if request.kind_name == "digest":  # by mail it has only the tables that send no letter of their own
        return digest.write_count(Translator(request.language), waiting) if waiting else ""
    letter = personal_letters.compose(app, request)
    return letter.headline if letter is not None else ""
