"""The JSON interface, version 1: for bots and for other clients."""

from __future__ import annotations

import functools
import hashlib
import secrets
from typing import Any

import msgspec
from flask import Blueprint, request
from msgspec import UNSET
from msgspec.structs import replace

from engine import catalogue, log
from engine import menu as menus
from engine import table as tables
from engine.game import Game
from engine.log import Entry, Export
from engine.menu import Menu
from engine.options import describe
from engine.refusal import Refused
from service.accounts import addresses
from service.numbers import MAX_ENTRY
from service.people import register
from service.tables import access, hints, opening, snapshots, submitting
from service.tables.access import Place, Unknown
from service.tables.history import replays
from service.tables.opening import Invitee, NewTable, OpenedTable
from service.tables.snapshots import Snapshot
from service.tables.submitting import StoredSubmission
from service.text.languages import describe_game, translate, translate_in_game
from service.text.narration import Narrator
from service.web.api import openapi
from service.web.api.operations import (
    PREFIX,
    Advice,
    Answer,
    AwaitedRound,
    Box,
    Cacheable,
    Choices,
    Heard,
    Interface,
    Judged,
    Moment,
    News,
    Refusal,
    Seen,
    Way,
    make_verdict_answer,
)
from service.web.api.requests import Command, Eyes, Guest, LanguageQuery, Opening, Since, Sitting, Words
from service.web.current_request import get_app, get_language, name_visitor

api = Blueprint("api", __name__, url_prefix=PREFIX)
interface = Interface(api)
MAX_LISTED_MOVES = 1_000
TAG_CHARS = 32
MAX_JSON_INT = 2**53 - 1  # the largest number that every reader of JSON can hold


@interface.register("GET", "/openapi.json", {200: dict[str, Any]})
def document() -> dict[str, Any]:
    """This interface as an OpenAPI 3.1 document."""
    return make_document()


@functools.cache
def make_document() -> dict[str, Any]:
    """Make the document of all operations, once."""
    return openapi.make_document(api.url_prefix or "", interface.operations)


@interface.register("GET", "/games", {200: tuple[Box, ...]}, query=LanguageQuery)
def games(query: LanguageQuery) -> tuple[Box, ...]:
    """The games and their options."""
    return tuple(_describe_game(game, _find_language(query)) for game in catalogue.find_all().values())


@interface.register("GET", "/games/<name>", {200: Box, 404: Refusal}, query=LanguageQuery)
def game(name: str, query: LanguageQuery) -> Box:
    """One game and its options."""
    if name not in catalogue.find_all():
        raise Unknown(
            "There is no game “{name}”; the games are: {names}.", name=name, names=", ".join(catalogue.find_all())
        )
    return _describe_game(catalogue.find(name), _find_language(query))


@interface.register(
    "POST", "/tables", {201: OpenedTable}, takes=Opening, limited="as many tables an hour as people would"
)
def open_table(body: Opening) -> Answer:
    """Open a table; the answer holds the link of every seat, so keep it to yourself."""
    guests = opening.seat_first_person([_invite(guest) for guest in body.players], body.nonce)
    app, in_language = get_app(), _find_language(body)
    new = NewTable(
        game=body.game,
        chosen=body.options,
        guests=guests,
        clock=opening.make_clock(app, body.clock or body.pace),
        language=in_language,
        key=body.key,
        visitor=name_visitor(),
        watched=body.watched,
        luck=body.luck,
        seeking=body.seeking,
        shown=body.shown,
    )
    return Answer(opening.open_table(app, new), 201)


def _invite(guest: Guest) -> Invitee:
    """Make an invitee of a guest in a request; without a language it is empty."""
    in_language = guest.language or ""
    return Invitee(guest.name, guest.address, who=guest.who, level=guest.level, language=in_language)


@interface.register("GET", "/t/<link>", {200: Seen, 404: Refusal}, tagged=True)
def view(link: str) -> Cacheable:
    """The table as this seat may see it, and what it may do."""
    place, table = _load_table(link)
    seats = tuple(map(_list_public_columns, table.seats))
    return Cacheable(_make_tag(place, table, seats), lambda: _make_view(place, table))


@interface.register("GET", "/t/<link>/menu", {200: Choices, 404: Refusal}, query=Words)
def menu(link: str, query: Words) -> Choices:
    """The moves of this seat, and with `said` how the words of a move may go on."""
    place, table = _load_table(link)
    moves = snapshots.open_menu(table.game, table.position, place.seat)
    return Choices(
        length=table.row.length,
        count=menus.count(moves),
        menu=moves,
        moves=_list_moves(moves),
        commands=_list_commands(place, table),
        way=_follow(moves, query.said.split()) if query.said.strip() else None,
    )


VERDICTS = {200: Judged, 202: Judged, 404: Refusal}
MOVE_LIMIT = "as many moves a minute for each link as its host allows"


@interface.register("POST", "/t/<link>/sit", VERDICTS, takes=Sitting, limited=MOVE_LIMIT)
def sit(link: str, body: Sitting) -> Answer:
    """Take the seat; the game begins when everybody sits. Sitting down again changes nothing."""
    with access.writing_at(get_app(), link) as (db, place):
        nonce = register.clean_nonce(body.nonce, secrets.token_hex(8))
        addresses.prove_by_invitation(get_app(), db, place)
    get_app().wakeups.wake("post")  # letters wait for the proof
    return _answer_verdict(link, submitting.sit(get_app(), place, nonce))


@interface.register("POST", "/t/<link>/moves", VERDICTS, takes=Command, limited=MOVE_LIMIT)
def submit(link: str, body: Command) -> Answer:
    """Submit a move, or a command of the table such as undo: 200 accepted, 422 refused, 202 still being checked."""
    place = access.find(get_app(), link)
    return _answer_verdict(link, submitting.submit(get_app(), place, body.move, body.key, body.seen))


@interface.register(
    "POST", "/t/<link>/hint", {200: Advice, 202: Advice, 404: Refusal, 422: Refusal}, limited=MOVE_LIMIT
)
def hint(link: str) -> Answer:
    """A good move for this seat, found by a strong bot, if the table has hints; after 202 ask again."""
    app = get_app()
    with access.writing_at(app, link) as (db, place):
        good_move = hints.find(db, place, hints.ask(app, db, place))
    app.wakeups.wake("bots")
    if good_move is None:
        raise Refused("The game went on before a good move was found; ask again if you like.")
    then = [str(move) for move in good_move.then]
    if good_move.move is None:  # the bot is still thinking
        return Answer(Advice(good_move.length, move=None, then=then), 202)
    return Answer(Advice(good_move.length, move=str(good_move.move), then=then))


@interface.register("GET", f"/t/<link>/submissions/<int(max={MAX_JSON_INT}):number>", {200: Judged, 404: Refusal})
def submission(link: str, number: int) -> Judged:
    """The verdict of a submission of this seat that was answered with 202."""
    with get_app().store.reading() as db:
        verdict = submitting.find_verdict(db, access.find_place(db, link), number)
    if verdict is None:
        raise Unknown("There is no submission {number} of this seat.", number=number)
    if verdict == "waiting":
        return Judged(number, accepted=None)
    return Judged(number, verdict.accepted, verdict.seq, translate(get_language(), verdict.why), verdict.rule)


@interface.register("GET", "/t/<link>/events", {200: News, 404: Refusal}, query=Since, tagged=True)
def events(link: str, query: Since) -> Cacheable:
    """The entries from a number on, as this seat may see them; after the end, in full."""
    place, table = _load_table(link)
    tag = _make_tag(place, table, (_find_language(query), query.since, query.limit))
    return Cacheable(tag, lambda: _make_news(place, table, query))


@interface.register("GET", f"/t/<link>/replay/<int(max={MAX_ENTRY}):seq>", {200: Moment, 404: Refusal}, query=Eyes)
def replay(link: str, seq: int, query: Eyes) -> Moment:
    """The table as it was after one entry, as this seat could see it then; after the end as any seat could."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        table = snapshots.load_table(app, db, place.table)
        if seq >= table.row.length:
            raise Unknown("There is no entry {seq} yet; the last one is {last}.", seq=seq, last=table.row.length - 1)
        seat = _find_viewer(place, table, query)
        past = snapshots.load_past(app, db, table, seq)
        entries = snapshots.load_entries(db, table, seq, seq + 1)
        receipt = snapshots.load_receipt(db, table, seq)
    started = past.phase in ("playing", "over")
    (entry,) = _describe_entries(seat, table, entries, _find_language(query))
    return Moment(
        seat=seat,
        phase=past.phase,
        receipt=receipt,
        entry=entry,
        standing=table.game.standing(past.state) if started else (),
        view=table.game.view(past.state, seat) if started else None,
    )


@interface.register("GET", "/t/<link>/log", {200: Export, 404: Refusal})
def export(link: str) -> Export:
    """The log as this seat may keep it, for `depesche audit` and other verifiers."""
    with get_app().store.reading() as db:
        return replays.export_for_place(db, access.find_place(db, link))


def _load_table(link: str) -> tuple[Place, Snapshot]:
    """Return the place that a link leads to, and its table."""
    app = get_app()
    with app.store.reading() as db:
        place = access.find_place(db, link)
        return place, snapshots.load_table(app, db, place.table)


def _find_language(query: LanguageQuery | Since | Eyes | Opening) -> str:
    """Return the language that a program asks for, else the first that it accepts."""
    if query.language is UNSET:
        return get_language()
    return query.language


def _describe_game(game: Game, in_language: str) -> Box:
    """Describe a game and its options in one language."""
    box = game.META

    def translate_text(text: str) -> str:
        return translate_in_game(in_language, box.name, text)

    options = (
        replace(option, about=translate_text(option.about), title=translate_text(option.label))
        for option in describe(box.options)
    )
    return Box(
        name=box.name,
        title=translate_text(box.title),
        seats=box.seats,
        options=tuple(options),
        about=describe_game(in_language, box),
        minutes=box.minutes,
        designer=box.designer,
        publisher=box.publisher,
        year=box.year,
        stage=box.stage,
        edition=box.edition,
    )


def _list_public_columns(seat: Any) -> tuple[Any, ...]:
    """Return what the answer shows of a seat, and no more: the ETag must not tell that a player saved a note."""
    return seat.name, seat.status, seat.open_since, seat.due_at


def _make_tag(place: Place, table: Snapshot, besides: tuple[Any, ...]) -> str:
    """Return a tag that changes with the answer: the log, the phase, the seat, and `besides`, which is all else."""
    shown = (table.row.head, table.row.phase, place.seat, *map(str, besides))
    return hashlib.sha256(msgspec.json.encode(shown)).hexdigest()[:TAG_CHARS]


def _list_moves(menu: Menu) -> tuple[str, ...]:
    """List every move of a menu; none if they are more than MAX_LISTED_MOVES."""
    if menus.count(menu) > MAX_LISTED_MOVES:
        return ()
    return tuple(map(str, menus.iter_moves(menu)))


def _list_commands(place: Place, table: Snapshot) -> tuple[str, ...]:
    commands = tables.list_commands(table.position, place.seat) if place.seat is not None else ()
    return tuple(command.verb for command in commands)


def _follow(menu: Menu, words: list[str]) -> Way:
    """Return how far the first words of a move lead into the menu."""
    partial = menus.parse_partial(menu, words)
    move = str(partial.move) if partial.move else None
    return Way(said=partial.tokens, following=partial.following, move=move)


def _answer_verdict(link: str, submitted: StoredSubmission) -> Answer:
    """Wait for the verdict on a submission, and answer with it."""
    verdict = submitting.wait_for_verdict(get_app(), submitted)
    return make_verdict_answer(request, link, submitted.number, verdict)


def _make_view(place: Place, table: Snapshot) -> Seen:
    """Make the answer of `view`; before the game begins it has no standing and no view."""
    started = table.position.phase in ("playing", "over")
    menu = snapshots.open_menu(table.game, table.position, place.seat)
    return Seen(
        table=place.table,
        game=table.row.game,
        seat=place.seat,
        phase=table.position.phase,
        length=table.row.length,
        receipt=table.row.head,
        players=table.names,
        to_move=tuple(one.seat for one in table.seats if one.open_since is not None),
        due=tuple(one.due_at for one in table.seats),
        clock=table.clock,
        options=table.position.options,
        places=table.position.places,
        standing=table.game.standing(table.position.state) if started else (),
        asked=table.position.undo_request,
        pausing=table.position.pause_request,
        paused=table.position.paused,
        luck="public" if table.position.beacon else "sealed",
        awaited=_find_awaited_round(table),
        sealing=table.position.seal_request,
        view=table.game.view(table.position.state, place.seat) if started else None,
        menu=menu,
        moves=_list_moves(menu),
        commands=_list_commands(place, table),
    )


def _find_awaited_round(table: Snapshot) -> AwaitedRound | None:
    """Return the round of the beacon that the table awaits; None if it awaits none."""
    command, beacon = table.position.waiting_command, table.position.beacon
    if command is None or beacon is None:
        return None
    return AwaitedRound(command.seq, command.round, beacon.time_of(command.round))


def _make_news(place: Place, table: Snapshot, query: Since) -> News:
    """Load the entries from a number on; a program that asks from beyond the end has to ask from there again."""
    end = min(query.since + query.limit, table.row.length)
    entries = list[Entry[Any]]()
    if query.since < end:
        with get_app().store.reading() as db:
            entries = snapshots.load_entries(db, table, query.since, end)
    described = _describe_entries(place.seat, table, entries, _find_language(query))
    return News(
        phase=table.position.phase,
        length=table.row.length,
        receipt=table.row.head,
        next=max(end, query.since),  # `since` may be beyond the end
        entries=described,
    )


def _describe_entries(
    seat: int | None, table: Snapshot, entries: list[Entry[Any]], in_language: str
) -> tuple[Heard, ...]:
    """Describe entries as this seat, or a spectator (None), may see them; in full once the game is over."""
    narrator = Narrator(table.game, table.names, in_language, seat)
    if table.position.phase != "over":
        entries = [log.redact(table.game, entry, seat) for entry in entries]
    return tuple(
        Heard(
            seq=entry.seq,
            at=entry.at,
            seat=entry.seat,
            move=entry.move,
            draws=entry.draws,
            events=entry.events,
            prose=tuple(filter(None, map(narrator.describe, entry.events))),
        )
        for entry in entries
    )


def _find_viewer(place: Place, table: Snapshot, query: Eyes) -> int | None:
    """Return the seat through whose eyes a program looks, None for a spectator; raise Refused if it may not."""
    if query.eyes is UNSET or query.eyes == place.seat:
        return place.seat
    if table.position.phase != "over":
        raise Refused("While the game is played you see it through your own eyes; leave “as” out.")
    if query.eyes >= len(table.seats):
        raise Refused("This table has no seat {seat}.", seat=query.eyes)
    return query.eyes
