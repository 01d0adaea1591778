"""Letters to a person about no single seat: the link to sign in, the question for an address, the daily digest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from email.message import EmailMessage
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, exists, select

from engine import catalogue, log
from engine.catalogue import NotInstalled
from service import timing
from service.app import App
from service.people import letter_settings, proof, register
from service.people.proof import SeatClaim
from service.store import queries
from service.store.schema import letters, people, seats, tables
from service.tables import access, snapshots, talk
from service.tables.snapshots import Snapshot
from service.text.languages import Translator, format_moment, translate_in_game
from service.text.templates import get_environment
from service.timing import HOUR_S, Calendar
from workers.incoming.inbox import TABLE_SIGN_CHARS
from workers.jobs import log_missing_game
from workers.outgoing import answer_hints, emails, letter_parts, personal_letter, table_letters
from workers.outgoing.emails import LetterContent
from workers.outgoing.letter import LetterRequest, QuotedRemark, find_kind
from workers.outgoing.letter_parts import write_deadline
from workers.outgoing.personal_letter import DigestTurn, PersonalDraft, PersonalLetter

LEFT_TO_DIGEST = "gathered"  # the outcome of a letter
MAX_TABLES = 30  # in one digest
MAX_BOARDS = 8  # in one digest
MAX_HTML_BYTES = 80_000  # before styles are written into it; Gmail cuts off letters of more than 100 kB
MAX_SENTENCES = 4  # about each table
RECENT_ENTRIES = 200


def write(app: App, request: LetterRequest) -> EmailMessage | None:
    """Write a letter to a person as of now; None if it would come too late."""
    letter = compose(app, request)
    return build_message(app, request, letter) if letter is not None else None


def compose(app: App, request: LetterRequest) -> PersonalLetter | None:
    """Return the content of a letter to a person as of now; None if it would come too late."""
    with app.store.reading() as connection:
        person = connection.execute(select(people).where(people.c.id == request.person)).one()
    return WRITERS[request.kind_name](PersonalDraft(app, request, person, Translator(request.language)))


def write_enter(draft: PersonalDraft) -> PersonalLetter | None:
    """Write the letter with the link to sign in; None if the link is no longer good."""
    app, person, _ = draft.app, draft.person, draft.translator.gettext
    requested_at = int(draft.request.kind_detail)
    until = requested_at + HOUR_S
    if app.now() >= until:
        return None
    return PersonalLetter(
        subject=_("Your link to sign in"),
        headline=_("%(name)s, here is your link to sign in.", name=person.name),
        text=_(
            "It leads to all your tables, and is good until %(until)s (%(zone)s): an hour from when it was asked for."
            " Anyone with this link can sign in as you, so keep it to yourself.",
            until=format_moment(draft.request.language, datetime.fromtimestamp(until, draft.calendar.timezone)),
            zone=draft.calendar.zone.replace("_", " "),
        ),
        button=_("Sign in"),
        link=f"{app.settings.address}/enter/{app.links.make_sign_in_token(person.id, person.sessions, requested_at)}",
        reason=_(
            "This address was entered on our sign-in page. If that was not you, ignore this letter: without the link"
            " there is no way in."
        ),
    )


def _load_table(app: App, name: str) -> Snapshot:
    with app.store.reading() as db:
        return snapshots.load_table(app, db, name)


def write_confirm(draft: PersonalDraft) -> PersonalLetter | None:
    """Ask whether the reader plays at this table, and at others that wait; None if this one waits no more."""
    app, person, _ = draft.app, draft.person, draft.translator.gettext
    with app.store.reading() as db:
        claims = proof.list_claims(db, person.id)
    claims = tuple(sorted(claims, key=lambda claim: claim.table != draft.request.kind_detail))
    if not claims or claims[0].table != draft.request.kind_detail:
        return None
    link = f"{app.settings.address}/confirm/{app.links.make_confirm_token(person.id, person.address)}"
    return PersonalLetter(
        title=name_game(draft, claims[0].game),
        subject=_("Please confirm your address"),
        headline=_("%(name)s, is this your address?", name=person.name),
        text=write_confirm_text(draft, claims[0]),
        button=_("Answer on this page"),
        turns=tuple(DigestTurn(describe_claim(draft, claim), link) for claim in claims),
        reason=_(
            "This address was entered at a table of Depesche. If that was not you, ignore this letter, or say no on"
            " that page: no more letters will come."
        ),
    )


def name_game(draft: PersonalDraft, game: str) -> str:
    """Return the title of a game; its name if it is not installed."""
    games = catalogue.find_all()
    return translate_in_game(draft.request.language, game, games[game].META.title if game in games else game)


def write_confirm_text(draft: PersonalDraft, claim: SeatClaim) -> str:
    """Return what happens once the reader agrees: letters come, invitations leave, or the game can begin."""
    _ = draft.translator.gettext
    if claim.plays_already:
        return _(
            "You already have a seat at this table, and another seat was taken with your address. If that was not you,"
            " say no; say yes only if you want to play both seats."
        )
    if not claim.opened:
        return _("If you sat down there, say yes, and the letters of that table come to you; until then none does.")
    if claim.others:
        return _("If you opened it, say yes and we send the invitations. Until then we write to no one.")
    return _("If you opened it, say yes, and your letters come here.")


def describe_claim(draft: PersonalDraft, claim: SeatClaim) -> str:
    """Return the game, the other players, the organiser, and the date."""
    _ = draft.translator.gettext
    title = name_game(draft, claim.game)
    names = draft.translator.join(name if register.is_name(name) else "?" for name in claim.others)
    opened_at = datetime.fromtimestamp(claim.at, draft.calendar.timezone)
    day = format_moment(draft.request.language, opened_at)
    heading = _("%(title)s with %(names)s", title=title, names=names) if names else title
    if claim.opened:
        return f"{heading} · " + _("opened with your address, %(day)s", day=day)
    organiser = claim.organiser if register.is_name(claim.organiser) else "?"
    return f"{heading} · " + _("opened by %(who)s, %(day)s", who=organiser, day=day)


def write_replaced(draft: PersonalDraft) -> PersonalLetter | None:
    """Tell that another player has taken the reader's seat; None if the reader has it again."""
    _ = draft.translator.gettext
    name, seat = draft.request.kind_detail.split("/")[:2]
    table = _load_table(draft.app, name)
    if table.seats[int(seat)].person == draft.person.id:
        return None
    title, substitute = draft.name_game(table), table.names[int(seat)]
    return PersonalLetter(
        title=title,
        subject=_("%(title)s: %(who)s plays on in your seat", title=title, who=substitute),
        headline=_("%(name)s, %(who)s plays on in your seat.", name=draft.person.name, who=substitute),
        text=_(
            "A substitute has taken your seat at a table of %(title)s. Your link no longer works, and no more letters"
            " come from that table. Thank you for having played!",
            title=title,
        ),
        reason=_("You get this letter because you had a seat at a table of Depesche."),
        settings_link=draft.settings_link,
    )


# The digest


def schedule_digest(connection: Connection, person: int, hour: int, calendar: Calendar, now: int) -> None:
    """Have the next digest of a person sent: today's, or tomorrow's if today's was sent already."""
    due = timing.find_next_digest_time(now, hour, calendar)
    while _is_sent(connection, person, kind := f"digest/{timing.find_local_date(calendar, due).isoformat()}"):
        due = timing.find_next_digest_time(due, hour, calendar)
    queries.owe_personal_letter(connection, person, kind, due)


def _is_sent(connection: Connection, person: int, kind: str) -> bool:
    same = (letters.c.person == person, letters.c.kind == kind)
    sent = select(letters.c.id).where(*same, letters.c.sent_at.is_not(None))
    return connection.execute(sent).first() is not None


def write_digest(draft: PersonalDraft) -> PersonalLetter | None:
    """Write the digest; None if no table waits for its reader any more."""
    _, ngettext = draft.translator.gettext, draft.translator.ngettext
    waiting = list_waiting_seats(draft.app, draft.person)
    turns = tuple(
        turn
        for place, seat in enumerate(waiting[:MAX_TABLES])
        if (turn := build_digest_turn(draft, seat, has_board=place < MAX_BOARDS))
    )
    more = max(0, len(waiting) - MAX_TABLES)
    if not turns:
        return None
    headline = write_count(draft.translator, len(turns) + more)
    mark = access.make_subject_mark(draft.app, waiting[0]) if draft.app.settings.answered_at == "subject" else ""
    return PersonalLetter(
        subject=f"{headline} [{mark}]" if mark else headline,
        headline=headline,
        text=_(
            "You can answer this letter: begin each line with the sign at the heading of its table, and go on with your"
            " move, such as: %(line)s",
            line=f"{make_table_sign(waiting[0])} {find_example(turns)}",
        ),
        reply_to=access.make_reply_address(draft.app, waiting[0]),
        button=_("Make your move"),
        reason=_(
            "You get this letter because you wished for one letter a day and not for one at every turn. Anyone with its"
            " links can play in your place, so keep them to yourself."
        ),
        turns=turns,
        more=ngettext("One more table waits for you.", "%(count)s more tables wait for you.", more) if more else "",
        settings_link=draft.settings_link,
    )


def write_count(translator: Translator, count: int) -> str:
    """Return at how many tables it is the reader's turn."""
    return translator.ngettext("It is your turn at one table", "It is your turn at %(count)s tables", count)


def find_example(turns: Sequence[DigestTurn]) -> str:
    """Return the words of a move at the first table that has any."""
    hints = (hint for turn in turns if turn.answers for hint in turn.answers.hints)
    return next((link.mail for hint in hints for line in hint.lines for link in line.links), "…")


def make_table_sign(seat: Any) -> str:
    """Return the sign with which a line of an answer names the table and the turn."""
    return f"{seat.table[:TABLE_SIGN_CHARS]}-{seat.open_since}"


def find_only_turn(app: App, request: LetterRequest) -> LetterRequest | None:
    """Return the request for the digest as a letter from its table, if one table alone waits; otherwise None."""
    with app.store.reading() as connection:
        person = connection.execute(select(people).where(people.c.id == request.person)).one()
    waiting = list_waiting_seats(app, person)
    if len(waiting) != 1 or _is_waiting_itself(app, waiting[0].table):
        return None
    seat = waiting[0]
    return replace(request, table=seat.table, seq=seat.open_since, seat=seat.seat, name=seat.name)


def _is_waiting_itself(app: App, name: str) -> bool:
    """Return whether a table pauses, or waits for its game to be installed."""
    try:
        return bool(_load_table(app, name).position.paused)
    except NotInstalled:
        return True


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
    with app.store.reading() as connection:
        rows: Sequence[Any] = connection.execute(open_seats).all()
    return [seat for seat in rows if _belongs_in_digest(person, seat)]


def _belongs_in_digest(person: Any, seat: Any) -> bool:
    """Return whether the digest has this turn. What was left to the digest stays there when the settings change."""
    mode = letter_settings.merge_settings(person.wishes, seat.wishes).letters
    return mode == "digest" or (mode == "turn" and bool(seat.is_left_to_digest))


def build_digest_turn(draft: PersonalDraft, seat: Any, has_board: bool) -> DigestTurn | None:
    """Return what the digest says about a table; None while the table pauses, or its game is not installed."""
    app, translator = draft.app, draft.translator
    try:
        table = _load_table(app, seat.table)
    except NotInstalled as missing:
        log_missing_game(seat.table, str(missing))
        return None
    if table.position.paused:
        return None
    with app.store.reading() as db:
        recent = snapshots.load_entries(db, table, max(0, table.row.length - RECENT_ENTRIES))
    entries = log.find_entries_since_own_move(recent, seat.seat)
    moved_at = recent[-len(entries) - 1].at if len(entries) < len(recent) else 0
    with app.store.reading() as connection:
        remarks = talk.list_since(connection, table.row.id, seat.seat, moved_at)
    others = translator.join(name for number, name in enumerate(table.names) if number != seat.seat)
    request = replace(draft.request, table=seat.table, seq=seat.open_since, seat=seat.seat, name=seat.name)
    quoted = tuple(QuotedRemark(table.names[remark.seat], remark.text) for remark in remarks)
    of_table = table_letters.make_draft(app, request, request.kind_name, table, recent, quoted)
    sentences = letter_parts.narrate(of_table, entries)
    heading = translator.gettext("%(title)s with %(names)s", title=of_table.title, names=others)
    instruction = translator.gettext(
        "Begin each line with %(sign)s, or choose on the page.", sign=make_table_sign(seat)
    )
    links = letter_parts.build_links(of_table)
    return DigestTurn(
        heading=f"{heading} · {make_table_sign(seat)}",
        link=links.page,
        deadline=write_deadline(translator, seat.due_at, app.now(), draft.calendar),
        earlier=write_left_out(translator, len(sentences) - MAX_SENTENCES),
        sentences=sentences[-MAX_SENTENCES:],
        talk=quoted,
        links=links,
        board=letter_parts.build_board(of_table, of_table.scene) if of_table.scene and has_board else None,
        answers=answer_hints.build_answers(of_table.menu, of_table.writer, of_table.narrator, instruction)
        if has_board
        else None,
    )


def write_left_out(translator: Translator, count: int) -> str:
    """Return how many sentences are left out; empty if none is."""
    if count <= 0:
        return ""
    return translator.ngettext("and one thing more before that", "and %(count)s things more before that", count)


WRITERS: dict[str, Callable[[PersonalDraft], PersonalLetter | None]] = {
    "enter": write_enter,
    "confirm": write_confirm,
    "digest": write_digest,
    "replaced": write_replaced,
    "channel": personal_letter.write_channel,
    "added": personal_letter.write_added,
    "secret": personal_letter.write_secret,
    "follower": personal_letter.write_follower,
}


def build_message(app: App, request: LetterRequest, letter: PersonalLetter) -> EmailMessage:
    """Render a letter and return its e-mail; a digest that is too long has fewer boards."""
    templates = get_environment(request.language)
    html = "" if request.plain else templates.get_template("mail/personal.html").render(letter=letter)
    if len(html.encode()) > MAX_HTML_BYTES and any(turn.board for turn in letter.turns):
        return build_message(app, request, leave_board_out(letter))
    topic = find_kind(request.kind).topic
    content = LetterContent(
        subject=" ".join(letter.subject.split()),
        id=emails.make_personal_id(app, request),
        text=templates.get_template("mail/personal.txt").render(letter=letter),
        html=html,
        title=letter.title,
        sender=emails.write_sender(Translator(request.language), app.settings.sender_name, topic),
        reply_to=letter.reply_to,
        pictures=letter.pictures,
    )
    return emails.build_message(app, request, content)


def leave_board_out(letter: PersonalLetter) -> PersonalLetter:
    """Return a digest without its last board, and the moves of that table."""
    place = max(place for place, turn in enumerate(letter.turns) if turn.board)
    turns = (*letter.turns[:place], replace(letter.turns[place], board=None, answers=None), *letter.turns[place + 1 :])
    return replace(letter, turns=turns)
