"""The parts that letters about a table have in common, and the report on the mail that a letter answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from sqlalchemy import Row

from engine import log
from engine.log import Entry
from engine.menu import Menu
from engine.table import RESERVED_VERBS
from service import timing
from service.app import App
from service.links import LetterAddresses
from service.store import queries
from service.store.rows import SeatRow
from service.tables import hints
from service.tables.snapshots import Snapshot, can_ask_hint
from service.text import narration
from service.text.drawing import Scene, draw_board, draw_board_text, list_players
from service.text.languages import LANGUAGES, Sentence, Translator
from service.text.narration import Narrator
from service.timing import Calendar
from workers import process_pool
from workers.incoming.mail_results import LineResult, MailResult
from workers.outgoing import suggestions
from workers.outgoing.letter import (
    AnsweredLine,
    AnswerLinks,
    BoardSection,
    Footer,
    HelpLine,
    LanguageLink,
    LegendEntry,
    LetterPicture,
    LetterRequest,
    PlaceRow,
    QuotedRemark,
    RecentEvents,
    Result,
    TableSection,
)
from workers.outgoing.suggestions import MoveWriter

MAX_OWN_LINES = 6  # of the reader's own last turn
MAX_ENTRIES, SHOWN_ENTRIES = 60, 12  # since the reader's last move; of older ones the letter says how many there are
MAX_QUOTE_LENGTH = 200  # characters of a line of a mail
SHAPE_CHARACTERS = {
    "circle": "●",
    "square": "■",
    "triangle": "▲",
    "diamond": "◆",
    "hexagon": "⬢",
    "star": "★",
    "cross": "✚",
    "pentagon": "⬟",
}


class TableDraft(Struct, frozen=True):
    """Everything to write a letter from: the table as its reader sees it, and writers in the reader's language.

    `seat` is the reader's seat, `title` the name of the game, and `remarks` the others' remarks since the reader's last
    letter. `entries` are all entries of the table; only the newest for a digest, and none for most notices. `scene` is
    None before the game begins. `report` is about the mail that the letter answers.
    """

    app: App
    request: LetterRequest
    kind: str
    snapshot: Snapshot
    seat: SeatRow
    addresses: LetterAddresses
    title: str
    entries: list[Entry[Any]]
    remarks: tuple[QuotedRemark, ...]
    narrator: Narrator
    writer: MoveWriter
    translator: Translator
    menu: Menu
    scene: Scene | None
    report: tuple[AnsweredLine, ...] = ()

    @property
    def has_played(self) -> bool:
        """Whether a line of the mail that the letter answers was played."""
        return any(line.is_played for line in self.report)

    @property
    def has_moved(self) -> bool:
        """Whether a line of the mail that the letter answers was a move of the game, and no other command."""
        return any(line.is_move for line in self.report)

    @property
    def organiser(self) -> str:
        """The name of the player who opened the table; empty if that is the reader."""
        seat = queries.find_organiser(self.snapshot.seats) or 0  # never None, because the reader has a seat
        return "" if seat == self.request.seat else self.snapshot.names[seat]


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
        return self.app.links.make_settings_address(self.app.settings, self.person.id, self.person.settings_number)


def build_table_section(draft: TableDraft) -> TableSection:
    """Return the news of the table, which all letters have."""
    request = draft.request
    links = build_links(draft)
    shown_scene = None if draft.kind == "talk" else draft.scene  # a letter about talk shows neither events nor board
    return TableSection(
        title=draft.title,
        links=links,
        rules=f"{draft.app.settings.address}/rules/{draft.snapshot.game.META.name}",
        replay=f"{links.page}/replay",
        players=draft.scene.players if draft.scene else list_players(draft.snapshot.names),
        notice=draft.translator.translate(Sentence.load(request.sentence)) if request.sentence else "",
        result=build_result(draft),
        events=build_recent_events(draft) if shown_scene else None,
        talk=draft.remarks,
        board=build_board(draft, shown_scene) if shown_scene else None,
        commands="" if draft.kind == "talk" else write_commands(draft),
        say=draft.writer.say,
    )


def build_links(draft: TableDraft) -> AnswerLinks:
    """Return the links by which the reader answers."""
    own = draft.addresses
    names = draft.translator.join([name for name in draft.snapshot.names if name])
    subject = " ".join(f"{draft.title}: {names} [{own.mark}]".split())
    turn = draft.seat.open_since if draft.menu else None
    return AnswerLinks(page=own.page, address=own.reply, mark=own.mark, subject=subject, turn=turn or 0)


def build_result(draft: TableDraft) -> Result | None:
    """Return the places of all players; None before the game is over."""
    table, names = draft.snapshot.position, draft.snapshot.names
    if not table.places:
        return None
    scores = dict(list_scores(draft.snapshot))
    places = sorted((place, names[seat]) for seat, place in enumerate(table.places))
    rows = tuple(PlaceRow(place, name, scores.get(name)) for place, name in places)
    return Result(rows, draft.narrator.label_score() if scores else "")


def list_scores(snapshot: Snapshot) -> tuple[tuple[str, int], ...]:
    """Return the name and score of each player; nothing before the game begins."""
    if snapshot.position.phase not in ("playing", "over"):
        return ()
    standing = snapshot.game.standing(snapshot.position.state)
    return tuple((name, row.score) for name, row in zip(snapshot.names, standing, strict=True))


def build_recent_events(draft: TableDraft) -> RecentEvents:
    """Return the events since the reader's last move, and that move.

    The move is left out if the letter reports on it, if the events begin with the game, and at the end of the game.
    """
    game, seat = draft.snapshot.game, draft.request.seat
    last_turn = log.find_last_turn(draft.entries, seat)
    first_entry = min(last_turn.entries | {last_turn.since})  # of the last turn for `own`, or else of the news
    described = narration.describe_entries(game, draft.entries[first_entry:], draft.narrator, seat)
    chapters = [chapter for chapter in described if chapter.seq >= last_turn.since][-MAX_ENTRIES:]
    from_the_start = bool(chapters) and chapters[0].start
    own: list[str] = []
    if not (draft.report or from_the_start or draft.kind == "over"):
        own = [sentence for chapter in described if chapter.seq in last_turn.entries for sentence in chapter.sentences]
    return RecentEvents(
        own=tuple(own[-MAX_OWN_LINES:]),
        sentences=tuple(sentence for chapter in chapters[-SHOWN_ENTRIES:] for sentence in chapter.sentences),
        from_the_start=from_the_start,
        earlier=write_earlier(draft.translator, len(chapters) - SHOWN_ENTRIES),
        latest=chapters[-1].sentences[0] if chapters else "",
    )


def write_earlier(translator: Translator, count: int) -> str:
    """Return how many entries a letter leaves out; empty if it has all."""
    return translator.ngettext("%(count)s earlier move", "%(count)s earlier moves", count) if count > 0 else ""


def narrate(draft: TableDraft, entries: Iterable[Entry[Any]]) -> tuple[str, ...]:
    """Return the sentences about some entries that the reader may know."""
    chapters = narration.describe_entries(draft.snapshot.game, entries, draft.narrator, draft.request.seat)
    return tuple(sentence for chapter in chapters for sentence in chapter.sentences)


def build_board(draft: TableDraft, scene: Scene) -> BoardSection:
    """Return the board in text and, unless the letter is plain, as a picture."""
    legend = tuple(
        LegendEntry(player.name, player.colour, SHAPE_CHARACTERS[player.shape])
        for player in scene.players
        if player.name
    )
    if draft.request.plain:
        return BoardSection(draw_board_text(scene).rstrip(), legend, picture=None)
    row = draft.snapshot.row
    board = draw_board(draft.app.caches.boards, ("letter", row.id, row.length), scene, draft.narrator)
    picture = LetterPicture("board", make_cid(draft, "board"), board.svg, board.alt)
    return BoardSection(board.text.rstrip(), legend, picture)


def make_cid(draft: TableDraft, name: str) -> str:
    """Return the Content-ID of a picture, which stays the same when a letter is sent again."""
    request = draft.request
    return f"{request.table}.{request.seq}.{request.seat}.{name}@{draft.app.settings.mail_host}"


def write_commands(draft: TableDraft) -> str:
    """Return the commands that an answer may contain, separated by commas; empty if the letter asks for no answer."""
    if not (draft.menu or draft.report):
        return ""
    can_ask = draft.menu and can_ask_hint(draft.snapshot.clock, draft.snapshot.seats, draft.request.seat)
    hint = ("hint",) if can_ask else ()
    server_commands = (*suggestions.SERVER_COMMANDS, *hint)
    return ", ".join(
        suggestions.list_commands(draft.snapshot.position, draft.request.seat, draft.writer, server_commands)
    )


def build_footer(draft: TableDraft) -> Footer:
    """Return the foot of a letter from a table."""
    _ = draft.translator.gettext
    row = draft.snapshot.row
    who = draft.organiser  # empty if that is the reader
    if who:
        reason = _("You get this letter because %(who)s gave this address a seat at a table of Depesche.", who=who)
    else:
        reason = _("You get this letter because you opened a table of Depesche with this address.")
    return Footer(
        receipt=row.head,
        length=row.length,
        reason=reason,
        settings_link=f"{draft.addresses.settings}?table={draft.request.table}",
    )


def list_language_links(draft: TableDraft) -> tuple[LanguageLink, ...]:
    """Return the languages to choose from; nothing for a reader who has chosen one."""
    if draft.request.has_chosen_language:
        return ()
    page = f"{draft.addresses.settings}/language"
    return tuple(LanguageLink(name, f"{page}?in={code}") for code, name in LANGUAGES.items())


def build_report(draft: TableDraft, result: MailResult) -> tuple[AnsweredLine, ...]:
    """Return what became of each line of a mail. Hints that were asked for are found now, which takes a moment."""
    return tuple(_build_line(draft, line) for line in result.lines)


def _build_line(draft: TableDraft, line: LineResult) -> AnsweredLine:
    """Return what a letter says about one line of a mail."""
    translator, writer = draft.translator, draft.writer
    hint = _find_hint(draft, line)
    answers = tuple(map(writer.write_phrase, hint))
    if line.outcome == "confirm":
        answers = (translator.gettext("resign yes"),)
    return AnsweredLine(
        is_played=line.outcome == "done",
        is_move=line.outcome == "done" and line.move.partition(" ")[0] not in RESERVED_VERBS,
        quote=line.text[:MAX_QUOTE_LENGTH],
        outcome=_write_outcome(draft, line, len(hint)),
        rule=line.rule,
        rule_link=f"{draft.app.settings.address}/rules/{draft.snapshot.row.game}#{line.rule}",
        answers=answers,
        guess=writer.write_phrase(line.guess),
        help=list_help(translator) if line.outcome == "help" else (),
    )


def _find_hint(draft: TableDraft, line: LineResult) -> tuple[str, ...]:
    """Return the moves of the hint that a line asked for; nothing if it asked for none, or if the game went on."""
    if line.hint is None:
        return ()
    return tuple(map(str, hints.answer(draft.app, line.hint, process_pool.run)))


def _write_outcome(draft: TableDraft, line: LineResult, hint_length: int) -> str:
    """Return the sentence about one line of a mail; empty for a line that needs none."""
    translator = draft.translator
    why = translator.translate(suggestions.translate_refusal(line.why, draft.writer))
    match line.outcome:
        case "done":
            entry = [] if line.seq is None else draft.entries[line.seq : line.seq + 1]
            return " ".join(narrate(draft, entry)) or why or translator.gettext("Done.")
        case "refused":
            return why
        case "later":
            return translator.gettext("This was not tried any more.")
        case "confirm":
            return translator.gettext(
                "Do you really want to resign? It cannot be taken back. If so, answer with these two words:"
            )
        case "said":
            return translator.gettext("Said at the table.")
        case "pause":  # that the table cannot make now
            return translator.gettext("This table cannot be paused now.")
        case "hint":
            return _write_hint(translator, hint_length)
        case "status":  # with the seat's standing orders as `why`
            return _write_status(draft, why)
        case "help":
            return translator.gettext(
                "Write your move as the first line of your answer, in the words below; put each move on its own"
                " line. Upper and lower case do not matter, and the beginning of a word is enough. You may"
                " also write:"
            )
        case "talk":
            return ""


def _write_hint(translator: Translator, length: int) -> str:
    """Return the sentence above a hint of so many moves."""
    if length > 1:
        return translator.gettext("A good move, as a strong bot sees it; to make it, answer with these lines:")
    if length == 1:
        return translator.gettext("A good move, as a strong bot sees it; to make it, answer with this line:")
    return translator.gettext("The game went on before a good move was found; ask again if you like.")


def _write_status(draft: TableDraft, orders: str) -> str:
    """Return who is to move, the scores, and what is said about the reader's standing orders."""
    translator = draft.translator
    to_move = [seat.name for seat in draft.snapshot.seats if seat.open_since is not None]
    if to_move:
        turn = translator.gettext("To move: %(names)s.", names=translator.join(to_move))
    else:
        turn = translator.gettext("No player is to move.")
    scores = [f"{name}{translator.colon} {score}" for name, score in list_scores(draft.snapshot)]
    score_word = draft.narrator.label_score() if scores else ""
    return " ".join(filter(None, (turn, ", ".join(scores), score_word, orders)))


def list_help(translator: Translator) -> tuple[HelpLine, ...]:
    """Return the commands that a mail may contain besides moves, with their meaning."""
    lines = (
        translator.gettext("vacation 2027-07-01 2027-07-14: your clocks stand still on these days"),
        translator.gettext("home: you are back, or do not go"),
        translator.gettext("order ...: the move that follows is made as soon as it is possible in your turn"),
        translator.gettext("cancel: your orders are forgotten; with a number, that one alone"),
        translator.gettext(
            "letters digest: the turns of this table come in one letter a day; or: letters turn, letters reminders,"
            " letters none"
        ),
        translator.gettext("unsubscribe: no more letters from this table"),
        translator.gettext("hint: a good move is told to you, where your table has hints"),
        translator.gettext("if ... then ...: your move behind “then” is made if the others make the moves behind “if”"),
    )
    help_lines: list[HelpLine] = []
    for line in lines:
        command, _, meaning = line.partition(": ")
        help_lines.append(HelpLine(command, meaning))
    return tuple(help_lines)
