"""Letters about a table, from the request to the e-mail with its subject; a letter that is out of date is dropped."""

from __future__ import annotations

from email.message import EmailMessage
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection

from engine import log
from engine.log import Entry
from service.app import App
from service.numbers import parse_int
from service.tables import snapshots, talk
from service.tables.snapshots import Snapshot
from service.text.drawing import Scene, list_players
from service.text.languages import translate_in_game
from service.text.narration import Narrator
from service.text.templates import get_environment
from workers.incoming import mail_results
from workers.incoming.mail_results import PlayedMail
from workers.outgoing import emails, letter_bodies, letter_parts
from workers.outgoing.emails import LetterContent
from workers.outgoing.letter import Letter, LetterRequest, QuotedRemark
from workers.outgoing.letter_parts import TableDraft
from workers.outgoing.owed import LETTER_KINDS, Topic
from workers.outgoing.suggestions import MoveWriter


def write(app: App, request: LetterRequest) -> EmailMessage | None:
    """Write a letter about the table as it is now; None if the letter is overtaken and would only confuse."""
    with app.store.reading() as db:
        snapshot = snapshots.load_table(app, db, request.table)
        if is_overtaken(snapshot, request):
            return None
        entries = snapshots.load_game_entries(db, snapshot.game, request.table)
        remarks = load_remarks(db, snapshot, request, entries)
        mail = load_answered_mail(db, request)
    draft = make_draft(app, request, snapshot, entries, remarks)
    if draft.kind == "talk" and not remarks:  # another letter had them
        return None
    if mail is not None:
        draft = replace(draft, report=letter_parts.build_report(draft, mail.result))
    body, section = letter_bodies.WRITERS[draft.kind](draft), letter_parts.build_table_section(draft)
    letter = Letter(draft.title, body, section, letter_parts.build_footer(draft))
    return build_message(draft, letter, mail.message_id if mail else "")


def make_draft(
    app: App,
    request: LetterRequest,
    snapshot: Snapshot,
    entries: list[Entry[Any]],
    remarks: tuple[QuotedRemark, ...],
) -> TableDraft:
    """Return everything to write a letter from, in the reader's language; there is no scene before the game begins."""
    game = snapshot.game
    seat = snapshot.seats[request.seat]
    language = request.language
    menu = snapshots.open_menu(game, snapshot.position, request.seat)
    scene = None
    if snapshot.position.phase in ("playing", "over"):
        view = game.view(snapshot.position.state, request.seat)
        seats_to_move = snapshots.list_seats_to_move(snapshot)
        scene = Scene(game, view, list_players(snapshot.names), request.seat, menu, language, seats_to_move)
    writer = MoveWriter(game, snapshot.names, language)
    return TableDraft(
        app=app,
        request=request,
        kind=request.kind.partition("/")[0],
        snapshot=snapshot,
        seat=seat,
        addresses=app.links.make_letter_addresses(app.settings, seat, request.settings_number),
        title=translate_in_game(language, game.META.name, game.META.title),
        entries=entries,
        remarks=remarks,
        narrator=Narrator(game, snapshot.names, language, request.seat),
        writer=writer,
        translator=writer.translator,
        menu=menu,
        scene=scene,
    )


def is_overtaken(snapshot: Snapshot, request: LetterRequest) -> bool:
    """Return whether the moment that a letter is about has passed; never for a kind that is not named here."""
    table = snapshot.position
    seat = snapshot.seats[request.seat]
    match request.kind_name:
        case "turn" | "reminder" | "digest":
            return bool(seat.open_since != request.seq)
        case "asked":
            return table.undo_request is None or request.seat not in table.undo_request.waiting
        case "pausing":
            return table.pause_request is None or request.seat not in table.pause_request.waiting
        case "sealing":
            return table.seal_request is None or request.seat not in table.seal_request.waiting
        case "unlit":
            return table.waiting_command is None or table.waiting_command.seq != request.seq
        case "paused":
            return not table.paused
        case "resumed":
            return table.paused or seat.open_since is None
        case "offer":
            return not any(one.offered for one in table.seats) or table.phase == "over"
        case "offered":
            return not table.seats[request.seat].offered
        case "relieved":
            return table.seats[request.seat].status != "bot"
        case "invitation":
            return table.phase == "over"
        case "unreachable":
            return _is_reachable_again(snapshot, request)
    return False


def _is_reachable_again(snapshot: Snapshot, request: LetterRequest) -> bool:
    """Return whether letters to the player that an `unreachable` letter is about arrive again."""
    seat = parse_int(request.kind_detail, len(snapshot.seats) - 1)
    return seat is not None and snapshot.seats[seat].bounced_at is None


def load_remarks(
    db: Connection, snapshot: Snapshot, request: LetterRequest, entries: list[Entry[Any]]
) -> tuple[QuotedRemark, ...]:
    """Load the other players' remarks since the seat's last letter; none before its player has sat down.

    A digest is no letter to the seat: it has the remarks since the seat's last move, or, without one in `entries` (the
    newest), as far back as its other news.
    """
    seat, table = request.seat, snapshot.row.id
    if snapshot.seats[seat].status == "invited" or snapshot.row.last_remark == 0:
        return ()
    if request.kind.startswith("digest/"):
        news = log.find_entries_since_own_move(entries, seat)
        before_news = entries[: len(entries) - len(news)]  # the last is the seat's own move, if there is one
        since = before_news[-1].at if before_news else 0  # 0 for all remarks
        remarks = talk.list_since(db, table, seat, since)
    else:
        remarks = talk.list_unsent(db, table, seat)
    return tuple(QuotedRemark(snapshot.names[remark.seat], remark.text) for remark in remarks)


def load_answered_mail(db: Connection, request: LetterRequest) -> PlayedMail | None:
    """Load the mail that a letter answers, and its result; None for a letter that answers none."""
    if not request.kind.startswith(("accepted/", "refused/")):
        return None
    number = parse_int(request.kind_detail)
    return None if number is None else mail_results.load(db, number)


def build_message(draft: TableDraft, letter: Letter, mail_id: str) -> EmailMessage:
    """Render a letter and return its e-mail; `mail_id` is the Message-ID of the mail that it answers.

    The sender's name shows the topic, because the subject has to stay the same: it holds the letters of a table
    together.
    """
    app, request = draft.app, draft.request
    templates = get_environment(request.language)
    links = letter.table.links
    kind = LETTER_KINDS[draft.kind]
    message_id, follows = make_thread(draft, mail_id)
    content = LetterContent(
        subject=write_subject(draft, kind.topic, links.subject),
        id=message_id,
        text=templates.get_template("mail/letter.txt").render(letter=letter),
        html="" if request.plain else templates.get_template("mail/letter.html").render(letter=letter),
        kind=kind,
        kind_name=draft.kind,
        settings_address=draft.addresses.settings,
        title=draft.title,
        translator=draft.translator,
        topic="turn" if draft.kind == "accepted" and draft.menu else kind.topic,
        game=draft.snapshot.game.META.name,
        follows=follows,
        reply_to=links.address,
        pictures=letter.pictures,
    )
    to_player = replace(request, person=draft.seat.person or 0)  # the letter links to the settings of this person
    return emails.build_message(app, to_player, content)


def write_subject(draft: TableDraft, topic: Topic, subject: str) -> str:
    """Return the subject: one for all letters of a table, so that they are a thread, but for reminders and the end."""
    _ = draft.translator.gettext
    match topic:
        case "reminder":
            return f"{_('Reminder:')} {subject}"
        case "end":
            return f"{_('The end:')} {subject}"
    return subject


def make_thread(draft: TableDraft, mail_id: str) -> tuple[str, tuple[str, ...]]:
    """Return the Message-ID of a letter, and the ids that it follows: the invitation, and the mail that it answers.

    The id is made from what the letter is about, so that a letter that is sent twice can be recognised.
    """
    request = draft.request
    end = _make_id_end(draft)
    root = f"<{request.table}.{request.seat}.table{end}>"
    if request.kind == "invitation":
        return root, ()
    about = f"{request.table}.{request.seq}.{request.seat}"
    if draft.kind == "digest":  # a mail that answers it refers to the turn
        return emails.make_personal_id(draft.app, request), (root, f"<{about}.turn{end}>")
    own = f"<{about}.{request.kind.replace('/', '.')}{end}>"
    follows = (root, mail_id) if mail_id else (root,)
    return own, follows


def _make_id_end(draft: TableDraft) -> str:
    """Return the end of the ids of letters to a seat: the host, and a proof before it if all answers go to one address.

    The proof shows that an answer comes from the reader; the mark of the subject ends with it, too.
    """
    settings = draft.app.settings
    host = f"@{settings.mail_host}"
    if settings.answer_place != "subject":
        return host
    proof = draft.addresses.mark.rpartition(".")[2]
    return f".{proof}{host}"
