"""Plays the mails that wait, line by line, and owes their senders a letter about the result if they need one.

A mail is played in one transaction: its moves, their verdicts and the letter are stored together, or none of them is.
So a mail that arrives twice, or whose process is killed, plays nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Row, func, insert, select
from sqlalchemy.exc import OperationalError

from engine import menu as menus
from engine import table as tables
from engine.canonical_json import make_decoder
from engine.menu import Menu, Move
from engine.refusal import Refused
from service.app import App
from service.people import register
from service.store.batch import Batch, Verdict, make_verdict_columns
from service.store.schema import mails, submissions
from service.store.schema import tables as table_rows
from service.tables import hints, joining, judging, opening, snapshots, standing_orders, talk
from service.tables.judging import SeatCommand
from service.tables.locked_table import LockedTable, lock_table
from service.text import move_words
from service.text.languages import Sentence
from service.text.move_words import Vocabulary
from workers.incoming import mail_commands, mail_orders, mail_results
from workers.incoming.mail_commands import REMATCH, SIT, Doubt
from workers.incoming.mail_orders import ConditionalOrder
from workers.incoming.mail_results import LineResult, MailResult
from workers.incoming.move_parser import TALK, Guess, NewRemark, find_verb, split_words
from workers.jobs import AfterCommit, StepResult, empty_queue, process_claimed

log = structlog.get_logger()

Mail = Row[Any]
LINES = make_decoder(tuple[str, ...])  # of the column of that name
MAX_MOVES = 20
MAX_NONCE_CHARS = 40
WAITING_MAILS = select(mails.c.id).where(mails.c.read_at.is_(None))
PENDING_COUNT = select(func.count()).select_from(WAITING_MAILS.limit(2).subquery()).scalar_subquery().label("pending")
CLAIM = (
    select(mails, PENDING_COUNT)
    .join(table_rows, table_rows.c.id == mails.c.table)
    .where(mails.c.read_at.is_(None))
    .order_by(mails.c.id)
    .limit(1)
    .with_for_update(skip_locked=True, key_share=True, of=[table_rows, mails])
)
OTHER_TABLE = Refused(
    "This mail answers a letter of another table, so nothing was played at this one. To move here, answer this letter."
)
MANY_TABLES = Refused(
    "Your daily letter is about several tables, so nothing was played. To move here, answer this letter, or begin each"
    " line of an answer to the daily letter with the sign at the heading of its table."
)
NOT_PLAYED = {mail_results.OTHER_LETTER: OTHER_TABLE, mail_results.DIGEST: MANY_TABLES}
REMATCH_OPENED = Sentence("A rematch with the same players was opened; the letters of the new game follow.")
ALREADY_SEATED = Sentence("You have sat down already.")
FAULT = Refused("This mail met a fault of ours. Nothing of it was played; the host has been told.")


class SecondThought(Exception):
    """Undoes the moves of a mail that names two moves of which only one is possible; its sender is asked."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress)
        self.progress = progress


class Progress(Struct, frozen=True):
    """How far a mail is played: the table after its moves, the result of each line, and tables that it opened.

    After a line that was refused it is stopped: later lines are reported, but not played.
    """

    locked: LockedTable
    lines: tuple[LineResult, ...] = ()
    is_stopped: bool = False
    opened: tuple[LockedTable, ...] = ()

    def add(self, line: LineResult, locked: LockedTable | None = None) -> Progress:
        """Add the result of a line, and the table after it if the line changed the table."""
        is_stopped = self.is_stopped or line.outcome == "refused"
        return replace(self, locked=locked or self.locked, lines=(*self.lines, line), is_stopped=is_stopped)


def run() -> None:
    """Play mails until none waits."""
    skipped: set[str] = set()
    empty_queue("inbox", lambda app: play_next_mail(app, skipped), is_waiting)


def is_waiting(app: App) -> bool:
    """Return whether a mail waits, also one at a table that another transaction holds."""
    with app.store.reading() as db:
        return db.execute(WAITING_MAILS.limit(1)).first() is not None


def play_next_mail(app: App, skipped: set[str] | None = None) -> StepResult:
    """Play the next mail, of no table in `skipped`, in one transaction; if that fails, add its table there."""
    skipped = set() if skipped is None else skipped
    played = process_claimed(app, claim_mail, skipped, _play_claimed)
    if not played:
        return StepResult.NONE
    was_only_one = played[0].pending == 1
    return StepResult.ALL if was_only_one else StepResult.SOME


def claim_mail(db: Connection, skipped: Sequence[str], table: str | None = None) -> Sequence[Mail]:
    """Lock the next mail and its table's row, and return it in a list; an empty one if there is no mail.

    Skipped tables are left out; with `table`, all others are.
    """
    statement = CLAIM.where(table_rows.c.id.not_in(skipped))
    if table is not None:
        statement = statement.where(table_rows.c.id == table)
    return db.execute(statement).all()


def _play_claimed(app: App, db: Connection, claimed: Sequence[Mail]) -> AfterCommit:
    """Lock the table of a mail, play the mail, and store the result."""
    (mail,) = claimed  # `claim_mail` claims one at a time
    batch = Batch(db)
    progress = _try_mail(lock_table(app, batch, mail.table), mail)
    batch.flush()
    seat = progress.locked.seats[mail.seat]
    mail_results.store_result(app, db, mail, MailResult(progress.lines), seat, progress.locked.position.length)
    return lambda: _announce(app, progress)


def _try_mail(locked: LockedTable, mail: Mail) -> Progress:
    """Play a mail; after a second thought or an unexpected error undo all of it, and return the question or refusal."""
    try:
        with locked.batch.savepoint():
            return play_mail(locked, mail)
    except SecondThought as thought:
        return thought.progress
    except OperationalError:
        raise  # the database failed, not the mail: it stays in line
    except Exception:
        log.exception("mail not played", mail=mail.id, table=mail.table)
        return Progress(locked, (mail_results.make_refused_line(line="", why=FAULT),), is_stopped=True)


def _announce(app: App, progress: Progress) -> None:
    """After the commit: wake the workers that the moves and the letter need."""
    judging.publish_changes(app, [progress.locked, *progress.opened])
    app.wakeups.wake("post")
    if progress.opened:
        opening.wake_workers(app)


def play_mail(locked: LockedTable, mail: Mail) -> Progress:
    """Play a mail's lines up to the first that is refused; raise SecondThought if a later one names another move.

    A mail that answers the letter of another table, or of several, is refused as a whole; so is one without a move.
    """
    if mail.answers in NOT_PLAYED:
        refused = mail_results.make_refused_line(line="", why=NOT_PLAYED[mail.answers])
        return Progress(locked, (refused,), is_stopped=True)
    lines = LINES.decode(mail.lines)
    names = tuple(seat.name for seat in locked.seats)
    vocabulary = move_words.make_vocabulary(locked.game, names)
    unsigned = _remove_signature(lines, names[mail.seat])
    parts = [part for line in unsigned for part in _split_moves(line, vocabulary)]
    progress = _play_lines(Progress(locked), mail, parts, vocabulary)
    return progress if progress.lines else Progress(locked, mail_results.make_no_move_lines(lines), is_stopped=True)


def _split_moves(line: str, vocabulary: Vocabulary) -> list[str]:
    """Split a line at semicolons if each of its parts begins with a verb: “place 1,0 0; figure meeple city”."""
    if ";" not in line:
        return [line]
    parts = [part.strip() for part in line.split(";")]
    are_moves = all(find_verb(split_words(part), vocabulary.verbs, vocabulary) for part in parts)
    return parts if are_moves else [line]


def _remove_signature(lines: Sequence[str], name: str) -> list[str]:
    """Remove lines that are only the sender's name, or its first word; the first line stays, which may be a move."""
    signatures = {name.casefold(), name.split()[0].casefold()}
    first, later = lines[:1], lines[1:]
    return [*first, *(line for line in later if " ".join(split_words(line)).casefold() not in signatures)]


def _play_lines(start: Progress, mail: Mail, lines: Sequence[str], vocabulary: Vocabulary) -> Progress:
    """Play lines in order; raise SecondThought if a later line names another move instead."""
    progress = start
    for place, line in enumerate(lines):
        progress = _play_line(progress, mail, line, vocabulary, lines[place + 1 :])
        doubt = _find_second_thought(start.locked, progress.lines, mail.seat, line, vocabulary)
        if doubt:
            raise SecondThought(start.add(_make_guess_line(start.locked, line, doubt.as_guess())))
    return progress


def _find_second_thought(
    before: LockedTable, results: Sequence[LineResult], seat: int, line: str, vocabulary: Vocabulary
) -> Doubt | None:
    """Return the move of a line that was just refused, if it could have been made instead of the mail's only move.

    The result of the line is the last one, and `before` is the table before the mail. Otherwise return None.
    """
    made = [result.move for result in results if result.outcome == "done"]
    if len(made) != 1 or results[-1].outcome != "refused":
        return None
    menu = tables.menu(before.game, before.position, seat)
    return mail_commands.find_other_move(line, Move.parse(made[0]), menu, vocabulary)


def _play_line(progress: Progress, mail: Mail, line: str, vocabulary: Vocabulary, later: Sequence[str]) -> Progress:
    """Parse one line and play it, unless a line before was refused (`is_stopped`); a line of talk changes nothing."""
    locked = progress.locked
    order = _parse_order(locked, mail.seat, line, vocabulary)
    if order is not None:
        return _store_order(progress, mail, line, order, vocabulary)
    options = mail_commands.list_options(locked, mail.seat)
    meaning = mail_commands.parse_line(locked.position, options, line, lambda: _load_guess(locked, mail), vocabulary)
    if meaning == TALK:
        return progress
    if progress.is_stopped or len(progress.lines) >= MAX_MOVES:
        return progress.add(LineResult(line, "later"))
    if isinstance(meaning, Refused | Guess):
        meaning = _explain_waiting(locked, mail.seat, line, vocabulary) or meaning
    elif isinstance(meaning, Move):
        meaning = _guess_if_doubtful(options, line, later, meaning, vocabulary)
    match meaning:
        case Refused():
            return progress.add(mail_results.make_refused_line(line, mail_results.shorten_refusal(meaning)))
        case Guess():
            return progress.add(_make_guess_line(locked, line, meaning))
        case NewRemark(text):
            return progress.add(_say(locked, mail, line, text))
        case _:
            return _play_command(progress, mail, line, meaning)


def _parse_order(locked: LockedTable, seat: int, line: str, vocabulary: Vocabulary) -> ConditionalOrder | None:
    """Parse an order that waits for moves of others; None if no “if” is in the first two words, or the line is talk."""
    if not any(word.casefold() in vocabulary.table.conditions for word in line.split()[:2]):
        return None
    order = mail_orders.parse_order(line, vocabulary)
    return order if order and mail_orders.is_about_moves(locked, seat, order, vocabulary) else None


def _store_order(
    progress: Progress, mail: Mail, line: str, order: ConditionalOrder, vocabulary: Vocabulary
) -> Progress:
    """Store an order that waits for moves of others, and say what was understood."""
    if progress.is_stopped:
        return progress.add(LineResult(line, "later"))
    try:
        with progress.locked.batch.savepoint():
            locked, noted = mail_orders.store_order(progress.locked, mail.seat, order, vocabulary)
    except Refused as refused:
        return progress.add(mail_results.make_refused_line(line, refused))
    return progress.add(LineResult(line, "done", "order", why=noted), locked)


def _guess_if_doubtful(
    options: Menu, line: str, later: Sequence[str], move: Move, vocabulary: Vocabulary
) -> Move | Guess:
    """Return a move, or only a guess that asks about it if the mail goes on with words that take it back."""
    if not menus.allows(options, move) and move != REMATCH:
        return move  # it will be refused; a rematch is possible without being an option
    doubt = mail_commands.find_doubt(line, later, move, options, vocabulary)
    return doubt.as_guess() if doubt else move


def _make_guess_line(locked: LockedTable, line: str, guess: Guess) -> LineResult:
    """The result of a line that was not played, with the move that its sender may have meant."""
    refused = mail_results.make_refused_line(line, mail_results.shorten_refusal(guess.why))
    return replace(refused, guess=str(guess.move), length=locked.position.length)  # which `_load_guess` compares


def _load_guess(locked: LockedTable, mail: Mail) -> Move | None:
    """The guess in the answer to the seat's mail before; None without one, or if the table has changed since."""
    previous = mail_results.load_previous(locked.flush(), mail)
    lines = previous.result.lines if previous else ()
    guesses = [line.guess for line in lines if line.guess and line.length == locked.position.length]
    return Move.parse(guesses[-1]) if guesses else None  # there is only one: a mail stops at a guess


def _explain_waiting(locked: LockedTable, seat: int, line: str, vocabulary: Vocabulary) -> Refused | None:
    """The reason why this seat cannot move now; None if it can, or if the line is a command of the table."""
    try:
        locked.refuse_closed()
    except Refused as refused:
        return refused
    table_verbs = tuple(vocabulary.table.verbs)
    if tables.menu(locked.game, locked.position, seat) or find_verb(split_words(line), table_verbs, vocabulary):
        return None
    return Refused("It is not your turn; another player has to move first.")


def _say(locked: LockedTable, mail: Mail, line: str, text: str) -> LineResult:
    """Show a remark to the table; without a text, the lines of the mail before if that mail had no move."""
    if not text:
        previous = mail_results.load_previous(locked.flush(), mail)
        if previous and previous.result.has("talk"):  # only a mail without a move has this outcome
            text = "\n".join(previous.lines)
    try:
        talk.add_remark(locked.flush(), mail.table, mail.seat, text, locked.now)
    except Refused as refused:
        return mail_results.make_refused_line(line, refused)
    return LineResult(line, "said")


def _play_command(progress: Progress, mail: Mail, line: str, move: Move) -> Progress:
    """Carry out a command to the server or to the table, or a move."""
    locked = progress.locked
    match move:
        case Move("status"):
            return progress.add(_make_status_line(locked, mail, line))
        case Move("help"):
            return progress.add(LineResult(line, "help"))
        case Move("hint"):
            return progress.add(_request_hint(locked, mail, line))
        case Move("again", ()):
            return _open_rematch(progress, mail, line)
        case Move("sit", ()) if locked.position.phase == "playing":
            return progress.add(LineResult(line, "done", SIT.verb, why=ALREADY_SEATED))
        case Move("pause") if not menus.allows(tables.list_commands(locked.position, mail.seat), move):
            return progress.add(LineResult(line, "pause"))
        case Move("resign", ()):
            return progress.add(LineResult(line, "confirm"))
        case Move("resign", ("yes",)):
            return _play_move(progress, mail, line, Move("resign"))
    return _play_move(progress, mail, line, move)


def _make_status_line(locked: LockedTable, mail: Mail, line: str) -> LineResult:
    """The result of `status`, with the seat's orders; the letter adds the rest."""
    orders = standing_orders.list_orders(locked.flush(), locked.row.id, mail.seat)
    listed = "; ".join(f"{order.id}: {order.move}" for order in orders)
    why = Sentence("Your orders: {orders}", {"orders": listed}) if orders else Sentence()
    return LineResult(line, "status", why=why)


def _request_hint(locked: LockedTable, mail: Mail, line: str) -> LineResult:
    """Request a hint; the letter about this mail shows it."""
    try:
        number = hints.store_request(locked.flush(), locked, mail.seat, locked.now)
    except Refused as refused:
        return mail_results.make_refused_line(line, refused)
    return LineResult(line, "hint", hint=number)


def _open_rematch(progress: Progress, mail: Mail, line: str) -> Progress:
    """Open the rematch of a finished game, unless it is open already; the sender sits down there."""
    locked = progress.locked
    table = snapshots.load_table(locked.app, locked.flush(), mail.table)
    person = register.find_person(locked.flush(), str(mail.person))
    try:
        opened, _own_seat = joining.open_rematch_within(locked.app, locked.batch, table, mail.seat, person.language)
    except Refused as refused:
        return progress.add(mail_results.make_refused_line(line, refused))
    progress = progress.add(LineResult(line, "done", REMATCH.verb, why=REMATCH_OPENED))
    return replace(progress, opened=(*progress.opened, opened))


def _play_move(progress: Progress, mail: Mail, line: str, move: Move) -> Progress:
    """Judge a move, and store it as a submission with its verdict."""
    text = str(move)
    verdict, locked = judging.judge(progress.locked, _make_seat_command(progress, mail, text))
    _store_submission(progress, mail, text, verdict)
    if not verdict.accepted:
        return progress.add(LineResult(line, "refused", why=verdict.why, rule=verdict.rule))
    order_number = None
    if move.verb == "order":
        orders = standing_orders.list_orders(locked.flush(), locked.row.id, mail.seat)
        order_number = int(orders[-1].id) if orders else None  # the newest; not shown if it was carried out at once
    result = mail_commands.describe_result(move, order_number)
    return progress.add(LineResult(line, "done", text, verdict.seq, result), locked)


def _make_seat_command(progress: Progress, mail: Mail, text: str) -> SeatCommand:
    """The move as a command; only the first move of a mail can be too late for the letter it answers."""
    if text == SIT.verb:
        text = f"{SIT.verb} {mail.key[-MAX_NONCE_CHARS:]}"  # a word for the dice, if the player wrote none
    is_first = not any(line.outcome == "done" for line in progress.lines)
    return SeatCommand(mail.seat, text, answers=mail.answers if is_first else None)


def _store_submission(progress: Progress, mail: Mail, text: str, verdict: Verdict) -> None:
    """Store a move of a mail as a submission that has its verdict."""
    key = f"{mail.key}/{len(progress.lines)}"
    row = {"source": "mail", "key": key, "table": mail.table, "seat": mail.seat, "move": text}
    row |= {**make_verdict_columns(verdict), "by_mail": True, "at": progress.locked.app.now()}
    progress.locked.batch.flush().execute(insert(submissions), row)
