"""Notices: the text of an owed letter for the channels beside mail, in a few words and with one link."""

from __future__ import annotations

from service.app import App
from service.notify.notices import Notice
from service.store import queries
from service.tables import snapshots
from service.tables.snapshots import Snapshot
from service.text.languages import translate_in_game
from service.text.sentences import Translator
from workers.outgoing import letter_bodies, personal_letters, table_letters
from workers.outgoing.owed import OwedNotice

MAX_SENTENCE_CHARS = 300


def make_id(owed: OwedNotice) -> str:
    """Return the id of a notice, made from what it is about."""
    request = owed.request
    about = (request.table, str(request.seq), str(request.seat)) if request.table else (str(owed.letter),)
    return ".".join((*about, request.kind.replace("/", ".")))


def write(app: App, owed: OwedNotice, at: int) -> Notice | None:
    """Write a notice about the table as it is now; None if it is overtaken."""
    return _write_about_table(app, owed, at) if owed.request.table else _write_about_person(app, owed, at)


def _write_about_table(app: App, owed: OwedNotice, at: int) -> Notice | None:
    request = owed.request
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, request.table)
        if table_letters.is_overtaken(snapshot, request, request.kind_name):
            return None
        waiting = queries.count_waiting_seats(db, request.person)
    if request.kind_name == "unreachable" and table_letters.is_reachable_again(snapshot, request):
        return None
    draft = table_letters.make_draft(app, request, snapshot, [], ())
    return Notice(
        id=make_id(owed),
        kind=request.kind_name,
        group=owed.kind.group,
        subject=f"{request.table}/{owed.kind.group}",
        title=write_title(snapshot, request.seat, request.language),
        sentence=letter_bodies.write_headline(draft)[:MAX_SENTENCE_CHARS],
        link=draft.link,
        language=request.language,
        at=at,
        table=request.table,
        game=snapshot.game.META.name,
        deadline=owed.deadline if owed.kind.group in ("turn", "reminder") else None,
        waiting=waiting,
    )


def write_title(snapshot: Snapshot, seat: int, language: str) -> str:
    """Return the game and the other players."""
    meta = snapshot.game.META
    title = translate_in_game(language, meta.name, meta.title)
    others = ", ".join(name for number, name in enumerate(snapshot.names) if number != seat and name)
    return Translator(language).gettext("%(title)s with %(names)s", title=title, names=others) if others else title


def _write_about_person(app: App, owed: OwedNotice, at: int) -> Notice | None:
    request = owed.request
    letter = personal_letters.compose(app, request)
    if letter is None:
        return None
    with app.store.reading() as db:
        waiting = queries.count_waiting_seats(db, request.person)
    return Notice(
        id=make_id(owed),
        kind=request.kind_name,
        group=owed.kind.group,
        subject=request.kind_name,
        title=app.settings.sender_name,
        sentence=letter.headline[:MAX_SENTENCE_CHARS],
        link=f"{app.settings.address}/my",
        language=request.language,
        at=at,
        waiting=waiting,
    )
