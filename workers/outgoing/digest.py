"""The daily digest: one letter about all tables where its reader is to move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, exists, select

from engine import log
from engine.catalogue import NotInstalled
from service import timing
from service.app import App
from service.people import letter_settings
from service.store import queries
from service.store.schema import letters, people, seats, tables
from service.tables import snapshots
from service.tables.snapshots import Snapshot
from service.text.languages import Translator, write_deadline
from service.timing import Calendar
from workers.incoming.inbox import TABLE_SIGN_CHARS
from workers.jobs import log_missing_game
from workers.outgoing import letter_parts, suggestions, table_letters
from workers.outgoing.letter import DigestTurn, LetterRequest, PersonalLetter
from workers.outgoing.letter_parts import PersonalDraft

LEFT_TO_DIGEST = "gathered"  # the outcome of a letter
MAX_TABLES = 30  # in one digest
MAX_BOARDS = 8  # in one digest
MAX_SENTENCES = 4  # about each table
RECENT_ENTRIES = 200  # of each table, among which the reader's last move is looked for


def schedule_digest(db: Connection, person: int, hour: int, calendar: Calendar, now: int) -> None:
    """Have the next digest of a person sent: today's, or tomorrow's if today's was sent already."""
    due = timing.find_next_digest_time(now, hour, calendar)
    while _is_sent(db, person, _make_kind(calendar, due)):
        due = timing.find_next_digest_time(due, hour, calendar)
    queries.owe_personal_letter(db, person, _make_kind(calendar, due), due)


def _make_kind(calendar: Calendar, due: int) -> str:
    """Return the kind of the digest of this day."""
    return f"digest/{timing.find_local_date(calendar, due).isoformat()}"


def _is_sent(db: Connection, person: int, kind: str) -> bool:
    """Return whether this person has been sent this digest."""
    same = (letters.c.person == person, letters.c.kind == kind)
    sent = select(letters.c.id).where(*same, letters.c.sent_at.is_not(None))
    return db.execute(sent).first() is not None


def write_digest(draft: PersonalDraft) -> PersonalLetter | None:
    """Write the digest; None if no table waits for its reader any more."""
    _, ngettext = draft.translator.gettext, draft.translator.ngettext
    waiting = list_waiting_seats(draft.app, draft.person)
    parts = _build_turns(draft, waiting[:MAX_TABLES])
    if not parts:
        return None
    turns = tuple(turn for _seat, turn in parts)
    first_seat, _first_turn = parts[0]  # answers go to the address of this seat; their lines name their tables
    more = max(0, len(waiting) - MAX_TABLES)
    headline = write_count(draft.translator, len(turns) + more)
    links, settings = draft.app.links, draft.app.settings
    mark = links.make_subject_mark(settings, first_seat) if settings.answer_place == "subject" else ""
    return PersonalLetter(
        subject=f"{headline} [{mark}]" if mark else headline,
        headline=headline,
        text=_(
            "You can answer this letter: begin each line with the sign at the heading of its table, and go on with your"
            " move, such as: %(line)s",
            line=f"{make_table_sign(first_seat)} {find_example(turns)}",
        ),
        reply_to=links.make_reply_address(settings, first_seat),
        button=_("Make your move"),
        reason=_(
            "You get this letter because you wished for one letter a day and not for one at every turn. Anyone with its"
            " links can play in your place, so keep them to yourself."
        ),
        turns=turns,
        more=ngettext("One more table waits for you.", "%(count)s more tables wait for you.", more) if more else "",
        settings_link=draft.settings_link,
    )


def _build_turns(draft: PersonalDraft, waiting: Sequence[Any]) -> list[tuple[Any, DigestTurn]]:
    """Return the seats whose tables the digest has, and what it says; the first MAX_BOARDS may have a board."""
    parts: list[tuple[Any, DigestTurn]] = []
    for place, seat in enumerate(waiting):
        turn = build_digest_turn(draft, seat, has_board=place < MAX_BOARDS)
        if turn is not None:
            parts.append((seat, turn))
    return parts


def write_count(translator: Translator, count: int) -> str:
    """Return at how many tables it is the reader's turn."""
    return translator.ngettext("It is your turn at one table", "It is your turn at %(count)s tables", count)


def find_example(turns: Sequence[DigestTurn]) -> str:
    """Return the words of a move at the first table that has any; an ellipsis if none has."""
    verbs = [verb for turn in turns if turn.answers for verb in turn.answers.verbs]
    moves = [link.mail for verb in verbs for line in verb.lines for link in line.links]
    return moves[0] if moves else "…"


def make_table_sign(seat: Any) -> str:
    """Return the sign with which a line of an answer names the table and the turn."""
    return f"{seat.table[:TABLE_SIGN_CHARS]}-{seat.open_since}"


def find_only_turn(app: App, request: LetterRequest) -> LetterRequest | None:
    """Return the request for the digest as a letter from its table, if one table alone waits and goes on; else None."""
    with app.store.reading() as db:
        person = db.execute(select(people).where(people.c.id == request.person)).one()
    waiting = list_waiting_seats(app, person)
    if len(waiting) != 1 or _load_if_going_on(app, waiting[0].table) is None:
        return None
    seat = waiting[0]
    return replace(request, table=seat.table, seq=seat.open_since, seat=seat.seat, name=seat.name)


def _load_if_going_on(app: App, name: str) -> Snapshot | None:
    """Load a table; None while it pauses, or its game is not installed."""
    try:
        with app.store.reading() as db:
            table = snapshots.load_table(app, db, name)
    except NotInstalled as missing:
        log_missing_game(name, str(missing))
        return None
    return None if table.position.paused else table


def list_waiting_seats(app: App, person: Any) -> Sequence[Any]:
    """Return the seats where a person is to move and got no letter about it, the most urgent first."""
    is_left_to_digest = (
        exists()
        .where(letters.c.table == seats.c.table, letters.c.seat == seats.c.seat, letters.c.seq == seats.c.open_since)
        .where(letters.c.kind == "turn", letters.c.outcome == LEFT_TO_DIGEST)
    )
    open_seats = (
        select(*seats.c, is_left_to_digest.label("is_left_to_digest"))
        .select_from(seats.join(tables, tables.c.id == seats.c.table))
        .where(seats.c.person == person.id, seats.c.status == "taken", seats.c.open_since.is_not(None))
        .where(tables.c.phase == "playing", seats.c.proven)
        .order_by(seats.c.due_at.is_(None), seats.c.due_at, seats.c.table)
    )
    with app.store.reading() as db:
        rows: Sequence[Any] = db.execute(open_seats).all()
    return [seat for seat in rows if _belongs_in_digest(person, seat)]


def _belongs_in_digest(person: Any, seat: Any) -> bool:
    """Return whether the digest has this turn. What was left to the digest stays there when the settings change."""
    mode = letter_settings.merge_settings(person.letter_settings, seat.letter_settings).letters
    return mode == "digest" or (mode == "turn" and bool(seat.is_left_to_digest))


def build_digest_turn(draft: PersonalDraft, seat: Any, has_board: bool) -> DigestTurn | None:
    """Return what the digest says about a table; None while the table pauses, or its game is not installed.

    `has_board` is whether the board is shown, and the moves with it.
    """
    app, translator = draft.app, draft.translator
    table = _load_if_going_on(app, seat.table)
    if table is None:
        return None
    request = replace(draft.request, table=seat.table, seq=seat.open_since, seat=seat.seat, name=seat.name)
    with app.store.reading() as db:
        recent = snapshots.load_entries(db, table, max(0, table.row.length - RECENT_ENTRIES))
        remarks = table_letters.load_remarks(db, table, request, recent)
    of_table = table_letters.make_draft(app, request, table, recent, remarks)
    sentences = letter_parts.narrate(of_table, log.find_entries_since_own_move(recent, seat.seat))
    others = translator.join(name for number, name in enumerate(table.names) if number != seat.seat)
    heading = translator.gettext("%(title)s with %(names)s", title=of_table.title, names=others)
    sign = make_table_sign(seat)
    board = None
    answers = None
    if has_board:
        instruction = translator.gettext("Begin each line with %(sign)s, or choose on the page.", sign=sign)
        board = letter_parts.build_board(of_table, of_table.scene) if of_table.scene else None
        answers = suggestions.build_answers(of_table.menu, of_table.writer, of_table.narrator, instruction)
    links = letter_parts.build_links(of_table)
    return DigestTurn(
        heading=f"{heading} · {sign}",
        link=links.page,
        deadline=write_deadline(translator, seat.due_at, app.now(), draft.calendar),
        earlier=write_left_out(translator, len(sentences) - MAX_SENTENCES),
        sentences=sentences[-MAX_SENTENCES:],
        talk=remarks,
        links=links,
        board=board,
        answers=answers,
    )


def write_left_out(translator: Translator, count: int) -> str:
    """Return how many sentences are left out; empty if none is."""
    if count <= 0:
        return ""
    return translator.ngettext("and one thing more before that", "and %(count)s things more before that", count)


def leave_board_out(letter: PersonalLetter) -> PersonalLetter:
    """Return a digest that has boards without the last of them, and without the moves of that table."""
    turns = list(letter.turns)
    last = max(place for place, turn in enumerate(turns) if turn.board)
    turns[last] = replace(turns[last], board=None, answers=None)
    return replace(letter, turns=tuple(turns))
