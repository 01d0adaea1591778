"""The common part of all pages of a table: verdict, notices, talk, a player's settings, and the rules of the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from flask import request, url_for
from markupsafe import Markup
from msgspec import Struct
from sqlalchemy import Connection

from engine.game import Meta
from service.internet import beacon as beacons
from service.numbers import parse_int
from service.people import letter_settings, register
from service.store import queries
from service.store.batch import NO_REASON, Verdict
from service.store.rows import SeatRow
from service.tables import joining, snapshots, submitting, talk
from service.tables.access import Place
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, list_players
from service.text.languages import OptionInWords, Sentence, describe_game, describe_options, translate
from service.text.narration import Chapter
from service.timing import Clock
from service.web import live, previews
from service.web.current_request import get_app, get_language
from service.web.previews import Preview
from service.web.rendering import translate_title

MIN_NOTE_ROWS, MAX_NOTE_ROWS = 4, 14  # of the field for a note


class VerdictNote(Struct, frozen=True):
    """The verdict on the move that was sent from the page before; `sentence` describes an accepted move."""

    kind: Literal["waiting", "accepted", "refused"]
    seq: int | None = None  # the entry of an accepted move
    why: Sentence = NO_REASON
    rule: str = ""
    sentence: str = ""


class AddressNote(Struct, frozen=True):
    """A note that letters do not reach the reader yet: the address is unproven, or there is none."""

    kind: Literal["organiser", "guest", "none"]
    address: str


class DiceNote(Struct, frozen=True):
    """The round of the public beacon that the table awaits, and the players' way on without it."""

    round: int
    entry: int
    is_late: bool
    asked_by: str  # who would like to go on without the beacon; empty if no player asked
    asked_by_you: bool
    can_agree: bool
    can_refuse: bool
    can_ask: bool


class RemarkLine(Struct, frozen=True):
    """A remark of the table talk."""

    player: Player
    is_own: bool
    at: int
    text: str


class OwnSettings(Struct, frozen=True):
    """The settings of a player for this seat, and of the organiser for the table."""

    note: str
    note_rows: int  # of its field
    is_playing: bool
    at_once: bool  # whether a whole move is made without being confirmed
    presence: bool  # whether the others see when the player was last here
    is_organiser: bool
    watched: bool  # whether spectators are allowed


class TableFrame(Struct, frozen=True):
    """The common part of all pages of a table; `me` is the reader's seat, None for spectators."""

    link: str
    title: str
    game: Meta
    me: int | None
    players: tuple[Player, ...]
    length: int  # of the log
    live: str  # address of the stream that says when the table changes
    too_late: bool  # whether the address is from a letter of an earlier turn
    verdict: VerdictNote | None
    address: AddressNote | None
    dice: DiceNote | None
    remarks: tuple[RemarkLine, ...]
    talk_number: int  # of the last remark; 0 if there is none
    own: OwnSettings | None  # None for spectators
    about: AboutTable
    preview: Preview | None  # None for players

    @property
    def is_player(self) -> bool:
        """Whether the reader has a seat, and is no spectator."""
        return self.me is not None


def make_frame(db: Connection, place: Place, table: Snapshot, *, too_late: bool = False) -> TableFrame:
    """Load and build the common part of all pages of a table.

    `too_late` says that the address is from a letter of an earlier turn.
    """
    app, seated = get_app(), list_players(table.names)
    has_remarks = place.seat is not None and table.row.last_remark > 0
    remarks = talk.list_newest(db, place.table) if has_remarks else []
    can_invite = table.row.allows_spectators and place.seat is not None  # spectators have the address already
    watch_address = url_for("table.show", link=app.links.make_watch_token(table.row.id)) if can_invite else ""
    live_topic = "watch" if place.seat is None else "seat"
    return TableFrame(
        link=place.link,
        title=translate_title(table.game.META),
        game=table.game.META,
        me=place.seat,
        players=seated,
        length=table.row.length,
        live=live.PATH + app.links.make_live_token(table.row.id, live_topic),
        too_late=too_late,
        verdict=_load_verdict_note(db, place, table),
        address=_load_address_note(db, place, table),
        dice=_make_dice_note(place, table),
        remarks=tuple(
            RemarkLine(seated[one.seat], is_own=one.seat == place.seat, at=one.at, text=one.text) for one in remarks
        ),
        talk_number=remarks[-1].id if remarks else 0,  # the newest is at the end
        own=_make_own_settings(place, table),
        about=describe_table(table, watch_address),
        preview=previews.describe_table(place, table),
    )


def _load_verdict_note(db: Connection, place: Place, table: Snapshot) -> VerdictNote | None:
    """Load the verdict that the address asks for; None if it asks for none, and once the verdict is outdated."""
    number = parse_int(request.args.get("said", ""))
    verdict = None if number is None else submitting.find_verdict(db, place, number)
    if verdict is None:
        return None
    if verdict == "waiting":
        return VerdictNote("waiting")
    if _is_outdated(db, verdict, place, table):
        return None
    return VerdictNote("accepted" if verdict.accepted else "refused", verdict.seq, verdict.why, verdict.rule)


def _is_outdated(db: Connection, verdict: Verdict, place: Place, table: Snapshot) -> bool:
    """Return whether another seat has moved since an accepted move, and it is this seat's turn again."""
    if verdict.seq is None or place.seat is None or not table.seats[place.seat].open_since:
        return False
    later = snapshots.load_entries(db, table, verdict.seq + 1)
    later_movers = {entry.seat for entry in later if entry.seat is not None}  # the server has no seat
    return bool(later_movers - {place.seat})


def describe_verdict(verdict: VerdictNote | None, chapters: Sequence[Chapter]) -> VerdictNote | None:
    """Add to an accepted verdict the first sentence about its entry; return any other verdict, and None, as it is."""
    if verdict is None or verdict.kind != "accepted":
        return verdict
    for chapter in chapters:
        if chapter.seq == verdict.seq:
            return VerdictNote("accepted", verdict.seq, sentence=chapter.sentences[0])
    return VerdictNote("accepted", verdict.seq)


def _load_address_note(db: Connection, place: Place, table: Snapshot) -> AddressNote | None:
    """Load the note that letters do not reach the reader yet; None if they do, or if the reader needs none."""
    if place.seat is None:
        return None
    seat = table.seats[place.seat]
    has_sat_down = seat.status == "taken"
    if seat.person is None:
        needs_letters = has_sat_down and table.position.phase != "over"
        return AddressNote("none", address="") if needs_letters else None
    if seat.proven:
        return None
    address = register.find_address(db, seat.person)
    if table.row.awaits_confirmation and _is_organiser(place, table):
        return AddressNote("organiser", address)
    return AddressNote("guest", address) if has_sat_down else None


def _make_dice_note(place: Place, table: Snapshot) -> DiceNote | None:
    """Describe the round of the beacon that the table awaits; None if it awaits none."""
    beacon, waiting, seal_request = table.position.beacon, table.position.waiting_command, table.position.seal_request
    if beacon is None or waiting is None:
        return None
    is_late = get_app().now() >= beacon.time_of(waiting.round) + beacons.LATE_AFTER_S
    plays = place.seat is not None and table.seats[place.seat].status == "taken"
    return DiceNote(
        round=waiting.round,
        entry=waiting.seq,
        is_late=is_late,
        asked_by=table.names[seal_request.seat] if seal_request else "",
        asked_by_you=seal_request is not None and seal_request.seat == place.seat,
        can_agree=plays and seal_request is not None and place.seat in seal_request.waiting,
        can_refuse=plays and seal_request is not None,
        can_ask=plays and seal_request is None and is_late,
    )


def _make_own_settings(place: Place, table: Snapshot) -> OwnSettings | None:
    """Return the settings of the reader's seat; None for spectators."""
    if place.seat is None:
        return None
    seat = table.seats[place.seat]
    is_playing = table.position.phase == "playing"
    settings = letter_settings.merge_settings(seat.player_letter_settings or "", seat.letter_settings)
    note_lines = seat.note.count("\n") + 1
    return OwnSettings(
        note=seat.note,
        note_rows=min(max(note_lines + 1, MIN_NOTE_ROWS), MAX_NOTE_ROWS),
        is_playing=is_playing,
        at_once=is_playing and settings.at_once,
        presence=settings.presence,
        is_organiser=_is_organiser(place, table),
        watched=table.row.allows_spectators,
    )


def _is_organiser(place: Place, table: Snapshot) -> bool:
    return place.seat is not None and place.seat == queries.find_organiser(table.seats)


def find_join_address(place: Place, table: Snapshot) -> str:
    """Return the address to send to guests; empty unless the reader opened the table and a seat is free."""
    is_free = table.position.phase == "gathering" and any(seat.status == joining.FREE for seat in table.seats)
    if not is_free or not _is_organiser(place, table):
        return ""
    app = get_app()
    return app.settings.address + url_for("joining.show", token=app.links.make_join_token(table.row.id))


def draw_qr_code(address: str) -> Markup:
    """Draw an address as a QR code; empty if there is no address."""
    if not address:
        return Markup()
    import segno  # 1.3 MB that only tables need which wait for players

    code = segno.make(address, error="m", micro=False)
    return Markup(code.svg_inline(light="#fff", border=3, omitsize=True))  # noqa: S704 - drawn by segno


FREE_SEAT = Sentence("A free seat")
STATUS_OPEN = Sentence("for anyone with the link")
STATUS_NOT_SEATED = Sentence("has not sat down yet")
STATUS_HELD = Sentence("is invited as soon as the organiser has confirmed the address")
STATUS_HELD_BY_YOU = Sentence("is invited as soon as you have confirmed your address")
STATUS_BOUNCED = Sentence("letters come back")
STATUS_INVITED = Sentence("has been invited by letter")
STATUS_BOT = Sentence("a bot, ready to play")
STATUS_SEATED = Sentence("has sat down")


class AboutTable(Struct, frozen=True):
    """A table before and beside the game: what it is about, its rules, its clock, and where its dice come from."""

    game: Meta
    game_in_words: str
    clock: Clock
    has_beacon: bool  # whether the dice come from a public beacon
    is_in_lobby: bool  # whether everyone can watch it, from the home page
    options: tuple[OptionInWords, ...]
    spectator_address: str  # empty if the reader may not pass it on
    commitment: str
    length: int
    receipt: str


class SeatLine(Struct, frozen=True):
    """A seat of a table that has not started: its player, and whether the player has come."""

    player: Player
    name: str
    is_you: bool
    status: str


def describe_table(table: Snapshot, spectator_address: str = "") -> AboutTable:
    """Describe a table in the reader's language."""
    return AboutTable(
        game=table.game.META,
        game_in_words=describe_game(get_language(), table.game.META, table.position.options),
        clock=table.clock,
        has_beacon=table.position.beacon is not None,
        is_in_lobby=table.row.shown,
        options=describe_options(get_language(), table.game.META, table.position.options),
        spectator_address=spectator_address,
        commitment=table.row.commitment,
        length=table.row.length,
        receipt=table.row.head,
    )


def list_seat_lines(table: Snapshot, me: int | None = None, unreachable: Collection[int] = ()) -> tuple[SeatLine, ...]:
    """List the seats of a table that has not started, for the player of seat `me`, or for a visitor (None).

    Letters to `unreachable` seats come back.
    """
    in_language = get_language()
    return tuple(
        SeatLine(
            player=player,
            name=seat.name or translate(in_language, FREE_SEAT),
            is_you=seat.seat == me,
            status=translate(in_language, _describe_status(table, seat, me, is_unreachable=seat.seat in unreachable)),
        )
        for player, seat in zip(list_players(table.names), table.seats, strict=True)
    )


def _describe_status(table: Snapshot, seat: SeatRow, me: int | None, is_unreachable: bool) -> Sentence:
    """Say to the player of seat `me` whether a player has come; letters to one who `is_unreachable` come back."""
    match seat.status:
        case "open":
            return STATUS_OPEN
        case "bot":
            return STATUS_BOT
        case "invited" if seat.seat == me:
            return STATUS_NOT_SEATED
        case "invited" if table.row.awaits_confirmation and me == queries.find_organiser(table.seats):
            return STATUS_HELD_BY_YOU
        case "invited" if table.row.awaits_confirmation:
            return STATUS_HELD
        case "invited":
            return STATUS_BOUNCED if is_unreachable else STATUS_INVITED
    return STATUS_SEATED
