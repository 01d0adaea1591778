"""The page of a table as one struct: the board, the turn, what happened, and the players."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence

from flask import request, url_for
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from engine import log
from engine import table as tables
from engine.menu import Menu
from engine.record import Request, UndoRequest
from service.accounts import my_tables
from service.numbers import parse_int
from service.people.proof import SignedIn
from service.tables import hints, joining, snapshots
from service.tables.access import Place
from service.tables.hints import GoodMove
from service.tables.snapshots import Snapshot
from service.text import drawing, narration
from service.text.drawing import Scene, Stage, list_players
from service.text.narration import Chapter, Narrator
from service.web import menu_forms, player_lines
from service.web.current_request import get_app, get_language
from service.web.menu_forms import Turn, make_turn
from service.web.player_lines import OwnOrders, PlayerLine, list_planned_words, make_own_orders, make_plan
from service.web.rendering import join_names
from service.web.result_view import FinalResult, StoryInWords, list_ranks, load_result, load_story
from service.web.signed_in import find_signed_in
from service.web.table_frame import SeatLine, TableFrame, describe_verdict, draw_qr_code, list_seat_lines, make_frame

MAX_CHAPTERS = 40
MAX_ENTRIES = 200  # that are searched for these chapters
MAX_UNFOLDED, LAST_UNFOLDED = 8, 6  # of the chapters since the last move; of more only the last are shown at first


class GatheringPage(Struct, frozen=True):
    """Everything `gathering.html` shows: a table before everybody has sat down."""

    frame: TableFrame
    is_invited: bool
    name: str
    nonce: str
    seats: tuple[SeatLine, ...]
    join: str  # address for guests; empty if the reader did not open the table, or no seat is free
    join_code: Markup  # the same address as a QR code


class Question(Struct, frozen=True):
    """A request of one player that others have to agree to; `waiting` names them, unless the reader is one of them."""

    who: str
    is_yours: bool
    waiting: str
    can_agree: bool
    can_refuse: bool


class FreeSeat(Struct, frozen=True):
    """A seat that is offered to a substitute, and the address to send."""

    who: str
    address: str


class TableNotices(Struct, frozen=True):
    """The requests and offers that the table waits for besides moves."""

    undo: Question | None
    pause: Question | None
    is_paused: bool
    is_bot: bool  # whether a bot plays for the reader
    free_seats: tuple[FreeSeat, ...]


class HintNote(Struct, frozen=True):
    """A good move in words, and those that follow it; empty while a bot looks for it."""

    moves: tuple[str, ...]


class RecentChapters(Struct, frozen=True):
    """The chapters since the reader's last move, the oldest first."""

    opening: Chapter | None  # of the game, if it has just begun
    folded: tuple[Chapter, ...]  # not shown at first
    open: tuple[Chapter, ...]

    @property
    def first(self) -> int:
        """The number of the first of these entries; 0 if there are none besides the opening."""
        chapters = (*self.folded, *self.open)
        return chapters[0].seq if chapters else 0

    @property
    def count(self) -> int:
        return len(self.folded) + len(self.open)

    @property
    def seqs(self) -> str:
        """The numbers of these entries, with spaces between."""
        return " ".join(str(chapter.seq) for chapter in (*self.folded, *self.open))


class TablePage(Struct, frozen=True):
    """Everything `table.html` shows."""

    table: str
    frame: TableFrame
    is_over: bool
    hidden_fields: tuple[tuple[str, str], ...]  # of each form with a command of the table
    gets_letters: bool  # whether a letter tells the reader when it is the reader's turn
    stage: Stage
    text: str
    alt: str
    waiting_for: str  # names of the players to move
    due_at: int | None  # of the first of them
    seconds_left: int  # until then; below 0 if it is past, or if there is none
    turn: Turn | None
    hint: HintNote | None
    can_ask_hint: bool
    commands: dict[str, str]  # of the table, with the words of their buttons
    places: str  # the final places
    notices: TableNotices
    own_orders: OwnOrders | None
    happened: RecentChapters | None
    chapters: tuple[Chapter, ...]
    players: tuple[PlayerLine, ...]
    score_word: str  # what the score counts; empty if the number alone says it
    result: FinalResult | None
    story: StoryInWords | None  # of a finished game
    waiting_tables: tuple[str, ...]  # addresses of the reader's other tables that wait
    can_talk: bool

    @property
    def winners(self) -> tuple[str, ...]:
        """The names of the winners; empty until the game is over."""
        seats = self.result.seats if self.result else ()
        return tuple(row.player.name for row in seats if row.rank == 1)

    @property
    def has_won(self) -> bool:
        """Whether the reader has won, alone or with others."""
        return self.result is not None and self.result.is_won_by_reader

    @property
    def other_winners(self) -> tuple[str, ...]:
        """The names of those who share the first place with the reader."""
        seats = self.result.seats if self.result else ()
        return tuple(row.player.name for row in seats if row.rank == 1 and not row.is_you)

    @property
    def tells_presence(self) -> bool:
        """Whether the page lets the other players know that the reader is here."""
        return self.frame.own is not None and self.frame.own.presence and self.can_talk and not self.is_over

    @property
    def waiting_count(self) -> int:
        """How many tables wait for the reader, with this one."""
        waits_here = self.turn is not None
        return len(self.waiting_tables) + waits_here


def make_gathering_page(db: Connection, place: Place, table: Snapshot, join: str) -> GatheringPage:
    """Build the page of a table before the game; `join` is the address for guests, or empty."""
    seat = None if place.seat is None else table.seats[place.seat]
    bouncing = [row.seat for row in table.seats if row.bounced_at is not None]
    return GatheringPage(
        frame=make_frame(db, place, table),
        is_invited=seat is not None and seat.status == "invited",
        name=seat.name if seat else "",
        nonce=secrets.token_hex(4),
        seats=list_seat_lines(table, place.seat, bouncing),
        join=join,
        join_code=draw_qr_code(join),
    )


def make_table_page(db: Connection, place: Place, table: Snapshot) -> TablePage:
    """Build the page of a running or finished game for one reader."""
    menu = snapshots.open_menu(table.game, table.position, place.seat)
    orders, hint = player_lines.load_orders(db, place, table), _find_hint(db, place, table)
    scene, narrator = make_scene(place, table, menu, list_planned_words(orders)), make_narrator(place, table)
    board = drawing.draw_staged_board(get_app().caches.staged_boards, (place.table, table.row.length), scene, narrator)
    chosen = _find_chosen_words(menu, hint)
    chapters, happened = _load_chapters(db, place, table, narrator)
    frame = _load_frame(db, place, table, chosen, chapters)
    fields, commands = _list_hidden_fields(table), _list_commands(place, table, narrator)
    waiting_for, due_at = _find_waiting(table)
    signed_in, is_over = find_signed_in(db), table.position.phase == "over"
    return TablePage(
        table=place.table,
        frame=frame,
        is_over=is_over,
        hidden_fields=fields,
        gets_letters=place.seat is not None and table.seats[place.seat].person is not None,
        stage=board.stage,
        text=board.text,
        alt=board.alt,
        waiting_for=waiting_for,
        due_at=due_at,
        seconds_left=(due_at or 0) - get_app().now(),  # shown only if there is a deadline
        turn=_make_turn(table, menu, narrator, chosen, frame, fields) if menu else None,
        hint=HintNote(tuple(menu_forms.describe_move(move, narrator) for move in hint.moves)) if hint else None,
        can_ask_hint=place.seat is not None and snapshots.can_ask_hint(table.clock, table.seats, place.seat),
        commands=commands,
        places=" · ".join(f"{rank}. {table.names[seat]}" for rank, seat in list_ranks(table)),
        notices=_make_notices(place, table, frame, commands),
        own_orders=make_own_orders(place, table, signed_in, orders, make_plan(place, scene, narrator, fields, orders)),
        happened=happened,
        chapters=chapters[:MAX_CHAPTERS],
        players=player_lines.list_player_lines(place, table, board.stage),
        score_word=narrator.label_score(),
        result=load_result(db, place, table, narrator) if is_over else None,
        story=load_story(db, table) if is_over else None,
        waiting_tables=_list_other_tables(db, place, table, signed_in),
        can_talk=bool(frame.remarks) or player_lines.has_other_player(place, table),
    )


def _load_frame(
    db: Connection, place: Place, table: Snapshot, chosen: Sequence[str], chapters: Sequence[Chapter]
) -> TableFrame:
    """Load the common part of the page, with a sentence about the move that was accepted."""
    frame = make_frame(db, place, table, too_late=_is_too_late(place, table, chosen))
    return replace(frame, verdict=describe_verdict(frame.verdict, chapters))


def _find_waiting(table: Snapshot) -> tuple[str, int | None]:
    """Return the names of the players to move, and the earliest of their deadlines; None if none has one."""
    to_move = [row for row in table.seats if row.open_since is not None and table.position.phase != "over"]
    deadlines = [row.due_at for row in to_move if row.due_at]
    return join_names(row.name for row in to_move), min(deadlines, default=None)


def make_scene(place: Place, table: Snapshot, menu: Menu = (), planned: tuple[str, ...] = ()) -> Scene:
    """Return the board as this seat, or a spectator, sees it; `planned` are the words of ordered moves."""
    return Scene(
        game=table.game,
        view=table.game.view(table.position.state, place.seat),
        players=list_players(table.names),
        me=place.seat,
        menu=menu,
        language=get_language(),
        seats_to_move=snapshots.list_seats_to_move(table),
        planned=planned,
    )


def make_narrator(place: Place, table: Snapshot) -> Narrator:
    """Make the narrator of this reader, with places of the board marked."""
    view = table.game.view(table.position.state, place.seat)
    return Narrator(table.game, table.names, get_language(), place.seat, marked=True, view=view)


def _find_hint(db: Connection, place: Place, table: Snapshot) -> GoodMove | None:
    """Find the hint that the address asks for; None if it asks for none, and once the game went on."""
    number = parse_int(request.args.get("hint", ""))
    hint = None if number is None else hints.find(db, place, number)
    return hint if hint and hint.length == table.position.length else None


def _find_chosen_words(menu: Menu, hint: GoodMove | None) -> list[str]:
    """Return the words that a hint or the address proposes: a move or its beginning; none if it is not on the menu."""
    if hint and hint.move:
        return [hint.move.verb, *hint.move.args]
    words = request.args.get("say", "").split()
    return words if menu_forms.can_begin(menu, words) else []


def _is_too_late(place: Place, table: Snapshot, chosen: Sequence[str]) -> bool:
    """Return whether the address is from a letter of another turn, or proposes a move that is no longer possible."""
    proposed, turn_began = request.args.get("say", ""), parse_int(request.args.get("turn", ""))
    if not proposed or turn_began is None or place.seat is None or table.position.phase == "over":
        return False
    return not chosen or table.seats[place.seat].open_since != turn_began


def _load_chapters(
    db: Connection, place: Place, table: Snapshot, narrator: Narrator
) -> tuple[tuple[Chapter, ...], RecentChapters | None]:
    """Return the latest chapters, the newest first, and once more those since the reader's last move.

    The latest are MAX_CHAPTERS, or more if more came since that move. The second value is None if none came since
    then, and after the end.
    """
    entries = snapshots.load_entries(db, table, max(0, table.row.length - MAX_ENTRIES))
    since_own_move = [] if table.position.phase == "over" else log.find_entries_since_own_move(entries, place.seat)
    recent_seqs = {entry.seq for entry in since_own_move}
    first_recent = min(recent_seqs, default=table.row.length)  # beyond the log if there are none
    chapters = list[Chapter]()
    cache, reader = get_app().caches.chapters, (place.table, place.seat, get_language(), table.names)
    for chapter in narration.describe_once(cache, reader, table.game, reversed(entries), narrator, seat=place.seat):
        has_all_recent = chapter.seq < first_recent
        if has_all_recent and len(chapters) >= MAX_CHAPTERS:
            break
        chapters.append(chapter)
    recent = [chapter for chapter in reversed(chapters) if chapter.seq in recent_seqs]
    return tuple(chapters), _make_recent(recent) if recent else None


def _make_recent(chapters: Sequence[Chapter]) -> RecentChapters:
    """Fold all but the newest LAST_UNFOLDED of these chapters if they are many; the opening of the game is apart."""
    first, *others = chapters
    opening = first if first.start else None
    rest = tuple(others if opening else chapters)
    folded_count = len(rest) - LAST_UNFOLDED if len(rest) > MAX_UNFOLDED else 0
    return RecentChapters(opening, folded=rest[:folded_count], open=rest[folded_count:])


def _list_commands(place: Place, table: Snapshot, narrator: Narrator) -> dict[str, str]:
    """Return the commands of the table that the reader may give now, with the words of their buttons."""
    commands = () if place.seat is None else tables.list_commands(table.position, place.seat)
    return {entry.verb: narrator.label_verb(entry.verb) for entry in commands}


def _make_turn(
    table: Snapshot,
    menu: Menu,
    narrator: Narrator,
    chosen: Sequence[str],
    frame: TableFrame,
    hidden_fields: tuple[tuple[str, str], ...],
) -> Turn:
    """Return the menu of the reader's seat; its forms lead to the table's page."""
    action = url_for("table.show", link=frame.link)
    return make_turn(
        menu,
        narrator,
        chosen,
        action=action,
        hidden_fields=hidden_fields,
        next_link=f"{action}?",
        game=table.game.META.name,
        foresee=url_for("table.foresee", link=frame.link),
        at_once=frame.own is not None and frame.own.at_once,
    )


def _list_hidden_fields(table: Snapshot) -> tuple[tuple[str, str], ...]:
    """Return the fields that each form with a move sends: the last entry on the page, and a key against repetition."""
    return (("seen", str(table.row.length - 1)), ("key", secrets.token_hex(8)))


def _make_notices(place: Place, table: Snapshot, frame: TableFrame, commands: Mapping[str, str]) -> TableNotices:
    """Describe what the table waits for besides moves; of several requests, only the first can be answered now."""
    undo, pause = table.position.undo_request, table.position.pause_request
    # “agree” and “refuse” answer one request: the one to undo, else the one about the dice, else the one to pause.
    pause_answers = commands if undo is None and frame.dice is None else {}
    return TableNotices(
        undo=_make_question(undo, place, table, commands) if undo else None,
        pause=_make_question(pause, place, table, pause_answers) if pause else None,
        is_paused=table.position.paused,
        is_bot=place.seat is not None and table.seats[place.seat].status == "bot",
        free_seats=tuple(_list_free_seats(place, table)),
    )


def _make_question(
    request: UndoRequest | Request, place: Place, table: Snapshot, answers: Mapping[str, str]
) -> Question:
    """Describe a request; `answers` are the commands with which the reader may answer it."""
    waiting = () if place.seat in request.waiting else request.waiting  # a reader who has to answer sees buttons alone
    return Question(
        who=table.names[request.seat],
        is_yours=request.seat == place.seat,
        waiting=join_names(table.names[seat] for seat in waiting),
        can_agree="agree" in answers,
        can_refuse="refuse" in answers,
    )


def _list_free_seats(place: Place, table: Snapshot) -> Iterator[FreeSeat]:
    """Yield the seats that substitutes may take, for players of a running game only."""
    if place.seat is None or table.position.phase == "over":
        return
    for row in table.seats:
        if table.position.seats[row.seat].offered and row.seat != place.seat:
            address = url_for("joining.show_offer", token=joining.make_offer_token(get_app(), row))
            yield FreeSeat(row.name, address)


def _list_other_tables(db: Connection, place: Place, table: Snapshot, signed_in: SignedIn | None) -> tuple[str, ...]:
    """Return the addresses of other tables that wait for this player, the most urgent first; none if not signed in."""
    if place.seat is None or signed_in is None or signed_in.id != table.seats[place.seat].person:
        return ()
    links = my_tables.list_waiting_links(get_app(), db, signed_in.id, except_table=place.table)
    return tuple(url_for("table.show", link=link) for link in links)
