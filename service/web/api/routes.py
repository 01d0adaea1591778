"""The JSON interface, version 1: for bots and for other clients."""

from __future__ import annotations

import functools
import hashlib
import secrets
from typing import Annotated, Any, Literal

import msgspec
from flask import Blueprint, url_for
from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from engine import catalogue, record
from engine import menu as menus
from engine import table as tables
from engine.game import Game
from engine.log import Export
from engine.menu import Menu
from engine.options import describe
from engine.refusal import Refused
from service.accounts import confirming
from service.people import register
from service.tables import access, archive, hints, opening, snapshots, submitting
from service.tables.access import Place, Unknown
from service.tables.opening import Invited, Luck, Opened, Strength, Who
from service.tables.snapshots import Snapshot
from service.tables.submitting import Submitted
from service.text.drawing import Voice
from service.text.languages import in_game, say
from service.timing import Clock
from service.web.api import openapi
from service.web.api.json_types import (
    Advice,
    AwaitedRound,
    Box,
    Choices,
    Heard,
    Judged,
    Moment,
    News,
    Refusal,
    Seen,
    Way,
)
from service.web.api.operations import Answer, Cacheable, Interface
from service.web.rendering import get_app, language

api = Blueprint("api", __name__, url_prefix="/api/v1")
interface = Interface(api)
LISTED = 1_000
LARGEST = 2**53 - 1  # what every reader of JSON can hold
Line = Annotated[str, Meta(max_length=2_000)]
Language = Literal["en", "nl", "fr", "de"]
Spoken = Annotated[Language, Meta(description="The language of the prose; otherwise the first you accept")]


class Guest(Struct, forbid_unknown_fields=True):
    """Who is to play: a person, a bot, or anybody who comes with the table's link.

    Unless it is said who, an address makes a person and none a bot of the house, which plays on a level.
    """

    name: Line = ""
    address: Line = ""
    who: Who = ""
    level: Strength = ""
    language: Annotated[Language, Meta(description="Of letters to a person who chose none")] | UnsetType = UNSET


class Opening(Struct, forbid_unknown_fields=True):
    """A table to be opened; a guest without an address is a bot. A clock says more than a pace, and goes before it.

    The same again with the same key is the same table; a key is 16 random characters or more. Where it is not
    `watched`, the link for looking on leads nowhere; `seeking` offers its seats for anybody in the lobby, and `shown`
    leads spectators there from the lobby. With a `nonce`, a word for the dice, the first of its people sits
    down at once and gets no invitation, as on the page. With public luck each draw waits for a round of a public beacon
    that is named before it exists; sealed luck draws at once; left empty it is as the house does it.
    """

    game: Line
    players: Annotated[list[Guest], Meta(min_length=1, max_length=12)]
    options: dict[str, str | int | bool] = {}
    pace: Annotated[int, Meta(ge=0, le=31_536_000)] | None = None
    clock: Clock | None = None
    watched: bool = True
    seeking: bool = False
    shown: bool = False
    luck: Luck = ""
    nonce: Line = ""
    language: Annotated[Language, Meta(description="Of letters to who is new here")] | UnsetType = UNSET
    key: Annotated[str, Meta(pattern="^([!-~]{16,80})?$")] = ""


class Command(Struct, forbid_unknown_fields=True):
    """A move in its text form, the entry last seen, and a key that makes sending it twice the same as once.

    With `seen` a move is refused where what the seat sees has changed since. The same `key` of the same seat is the
    same submission, with the verdict it had first, whatever move stands beside it.
    """

    move: Line
    seen: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    key: Annotated[str, Meta(max_length=80, pattern="^[!-~]*$")] = ""


class Sitting(Struct, forbid_unknown_fields=True):
    """A word of one's own for the dice; one is made up where it is left empty."""

    nonce: Line = ""


class Tongue(Struct, forbid_unknown_fields=True):
    language: Spoken | UnsetType = UNSET


class Words(Struct, forbid_unknown_fields=True):
    said: Annotated[Line, Meta(description="The beginning of a move: the answer says what may follow")] = ""


class Since(Struct, forbid_unknown_fields=True):
    since: Annotated[int, Meta(ge=0, le=2**31 - 1, description="The first entry wanted")] = 0
    limit: Annotated[int, Meta(ge=1, le=500, description="How many entries at most")] = 200
    language: Spoken | UnsetType = UNSET


class Eyes(Struct, forbid_unknown_fields=True):
    eyes: Annotated[int, Meta(ge=0, le=99, description="After the end: through the eyes of this seat")] | UnsetType = (
        field(default=UNSET, name="as")
    )
    language: Spoken | UnsetType = UNSET


@interface.offers("GET", "/openapi.json", {200: dict[str, Any]})
def document() -> dict[str, Any]:
    """This interface as an OpenAPI 3.1 document."""
    return described()


@functools.cache
def described() -> dict[str, Any]:
    """The document of everything offered here; made once."""
    return openapi.document(api.url_prefix or "", interface.operations)


@interface.offers("GET", "/games", {200: tuple[Box, ...]}, asks=Tongue)
def games(asked: Tongue) -> tuple[Box, ...]:
    """The games and their options."""
    return tuple(_box(game, _spoken(asked)) for game in catalogue.find_all().values())


@interface.offers("GET", "/games/<name>", {200: Box, 404: Refusal}, asks=Tongue)
def game(name: str, asked: Tongue) -> Box:
    """One game and its options."""
    if name not in catalogue.find_all():
        raise Unknown(
            "There is no game “{name}”; the games are: {names}.", name=name, names=", ".join(catalogue.find_all())
        )
    return _box(catalogue.find(name), _spoken(asked))


@interface.offers("POST", "/tables", {201: Opened}, takes=Opening, limited="as many tables an hour as people would")
def open_table(body: Opening) -> Answer:
    """Open a table; the answer holds the link of every seat, so keep it to yourself."""
    guests = opening.opened_by_first([_invited(guest) for guest in body.players], body.nonce)
    clock = body.clock or body.pace
    app, spoken = get_app(), _spoken(body)
    how = (clock, spoken, body.key, body.watched, None, body.luck, body.seeking, body.shown)
    return Answer(opening.open_table(app, body.game, body.options, guests, *how), 201)


def _invited(guest: Guest) -> Invited:
    spoken = guest.language or ""
    return Invited(guest.name, guest.address, who=guest.who, level=guest.level, language=spoken)


@interface.offers("GET", "/t/<link>", {200: Seen, 404: Refusal}, kept=True)
def view(link: str) -> Cacheable:
    """The table as this seat may see it, and what it may do."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    return Cacheable(_tag(place, look, tuple(map(_public, look.seats))), lambda: _seen(place, look))


@interface.offers("GET", "/t/<link>/menu", {200: Choices, 404: Refusal}, asks=Words)
def menu(link: str, asked: Words) -> Choices:
    """What this seat may do now, and with `said` how the words of a move go on."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    found = snapshots.open_menu(look.game, look.table, place.seat)
    return Choices(
        length=look.row.length,
        count=menus.count(found),
        menu=found,
        moves=_listed(found),
        commands=_commands(place, look),
        way=_way(found, asked.said.split()) if asked.said.strip() else None,
    )


JUDGED = {200: Judged, 202: Judged, 404: Refusal}
OFTEN = "as many moves a minute for each link as its host allows"


@interface.offers("POST", "/t/<link>/sit", JUDGED, takes=Sitting, limited=OFTEN)
def sit(link: str, body: Sitting) -> Answer:
    """Take the seat; the game begins when everybody sits. Sitting down again changes nothing."""
    place = access.find(get_app(), link)
    word = register.clean_nonce(body.nonce, secrets.token_hex(8))
    confirming.by_seat(get_app(), place)
    return _verdict(link, submitting.sit(get_app(), place, word))


@interface.offers("POST", "/t/<link>/moves", JUDGED, takes=Command, limited=OFTEN)
def submit(link: str, body: Command) -> Answer:
    """Hand a move in, or a command of the table such as undo: 200 accepted, 422 refused, 202 still being checked."""
    place = access.find(get_app(), link)
    return _verdict(link, submitting.submit(get_app(), place, body.move, body.key, body.seen))


@interface.offers("POST", "/t/<link>/hint", {200: Advice, 202: Advice, 404: Refusal, 422: Refusal}, limited=OFTEN)
def hint(link: str) -> Answer:
    """A good move, as a strong bot sees it from this seat, where the table has hints; after 202 ask again."""
    place = access.find(get_app(), link)
    found = hints.wait(get_app(), place, hints.ask(get_app(), place))
    if found is None:
        raise Refused("The game went on before a good move was found; ask again if you like.")
    then = [str(move) for move in found.then]
    return Answer(Advice(found.length, str(found.move) if found.move else None, then), 200 if found.move else 202)


@interface.offers("GET", f"/t/<link>/submissions/<int(max={LARGEST}):number>", {200: Judged, 404: Refusal})
def submission(link: str, number: int) -> Judged:
    """The verdict on a submission of this seat, for who was told 202."""
    place = access.find(get_app(), link)
    with get_app().store.reading() as db:
        found = submitting.find_verdict(db, place, number)
    if found is None:
        raise Unknown("There is no submission {number} of this seat.", number=number)
    if found == "waiting":
        return Judged(number, None)
    return Judged(number, found.accepted, found.seq, say(language(), found.why), found.rule)


@interface.offers("GET", "/t/<link>/events", {200: News, 404: Refusal}, asks=Since, kept=True)
def events(link: str, asked: Since) -> Cacheable:
    """What happened from one entry on, as this seat may hear it; after the end, all of it."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    return Cacheable(_tag(place, look, (_spoken(asked), asked.since, asked.limit)), lambda: _news(place, look, asked))


@interface.offers("GET", f"/t/<link>/replay/<int(max={2**31 - 1}):seq>", {200: Moment, 404: Refusal}, asks=Eyes)
def replay(link: str, seq: int, asked: Eyes) -> Moment:
    """The table as it was after one entry, as this seat could see it then; after the end as any seat could."""
    place = access.find(get_app(), link)
    look = snapshots.look(get_app(), place.table)
    if seq >= look.row.length:
        raise Unknown("There is no entry {seq} yet; the last one is {last}.", seq=seq, last=look.row.length - 1)
    seat = _eyes(place, look, asked)
    then = snapshots.past(get_app(), look, seq)
    begun = then.phase in ("playing", "over")
    (entry,) = _heard(Place(place.table, seat, link), look, seq, seq + 1, _spoken(asked))
    return Moment(
        seat=seat,
        phase=then.phase,
        receipt=snapshots.receipt(get_app(), look, seq),
        entry=entry,
        standing=look.game.standing(then.state) if begun else (),
        view=look.game.view(then.state, seat) if begun else None,
    )


@interface.offers("GET", "/t/<link>/log", {200: Export, 404: Refusal})
def export(link: str) -> Export:
    """The log as this seat may keep it, for `depesche audit` and other verifiers."""
    return archive.export_for(get_app(), access.find(get_app(), link))


def _spoken(asked: Tongue | Since | Eyes | Opening) -> str:
    return language() if asked.language is UNSET else asked.language


def _box(game: Game, spoken: str) -> Box:
    box, options = game.META, describe(game.META.options)
    told = (
        replace(option, about=in_game(spoken, box.name, option.about), title=in_game(spoken, box.name, option.label))
        for option in options
    )
    return Box(
        name=box.name,
        title=in_game(spoken, box.name, box.title),
        seats=box.seats,
        options=tuple(told),
        about=in_game(spoken, box.name, box.about),
        minutes=box.minutes,
        designer=box.designer,
        publisher=box.publisher,
        year=box.year,
        stage=box.stage,
        edition=box.edition,
    )


def _public(seat: Any) -> tuple[Any, ...]:
    """What the answer shows of a seat, and no more: else the ETag would betray that a player saved a note."""
    return seat.name, seat.status, seat.open_since, seat.due_at


def _tag(place: Place, look: Snapshot, besides: tuple[Any, ...]) -> str:
    """A tag that changes whenever the answer would."""
    shown = (look.row.head, look.row.phase, place.seat, *map(str, besides))
    return hashlib.sha256(msgspec.json.encode(shown)).hexdigest()[:32]


def _listed(menu: Menu) -> tuple[str, ...]:
    return tuple(map(str, menus.iter_moves(menu))) if menus.count(menu) <= LISTED else ()


def _commands(place: Place, look: Snapshot) -> tuple[str, ...]:
    found = tables.list_commands(look.table, place.seat) if place.seat is not None else ()
    return tuple(entry.verb for entry in found)


def _way(menu: Menu, said: list[str]) -> Way:
    found = menus.narrow(menu, said)
    return Way(found.tokens, found.following, str(found.move) if found.move else None)


def _verdict(link: str, handed: Submitted) -> Answer:
    verdict = submitting.wait_for_verdict(get_app(), handed)
    if verdict is None:
        later = url_for("api.submission", link=link, number=handed.number)
        return Answer(Judged(handed.number, None), 202, {"Location": later})
    if not verdict.accepted:
        return Answer(Refusal(say(language(), verdict.why), verdict.rule, handed.number), 422)
    return Answer(Judged(handed.number, True, verdict.seq))


def _seen(place: Place, look: Snapshot) -> Seen:
    begun = look.table.phase in ("playing", "over")
    menu = snapshots.open_menu(look.game, look.table, place.seat)
    return Seen(
        table=place.table,
        game=look.row.game,
        seat=place.seat,
        phase=look.table.phase,
        length=look.row.length,
        receipt=look.row.head,
        players=look.names,
        to_move=tuple(one.seat for one in look.seats if one.open_since is not None),
        due=tuple(one.due_at for one in look.seats),
        clock=look.clock,
        options=look.table.options,
        places=look.table.places,
        standing=look.game.standing(look.table.state) if begun else (),
        asked=look.table.undo_request,
        pausing=look.table.pause_request,
        paused=look.table.paused,
        luck="public" if look.table.beacon else "sealed",
        awaited=_awaited(look),
        sealing=look.table.seal_request,
        view=look.game.view(look.table.state, place.seat) if begun else None,
        menu=menu,
        moves=_listed(menu),
        commands=_commands(place, look),
    )


def _awaited(look: Snapshot) -> AwaitedRound | None:
    table = look.table
    if table.waiting_command is None or table.beacon is None:
        return None
    return AwaitedRound(
        table.waiting_command.seq, table.waiting_command.round, table.beacon.time_of(table.waiting_command.round)
    )


def _news(place: Place, look: Snapshot, asked: Since) -> News:
    end = min(asked.since + asked.limit, look.row.length)
    told = _heard(place, look, asked.since, end, _spoken(asked))
    return News(look.table.phase, look.row.length, look.row.head, max(end, asked.since), told)


def _heard(place: Place, look: Snapshot, first: int, end: int, spoken: str) -> tuple[Heard, ...]:
    """Entries as this seat may hear them, and all of them once the game is over."""
    voice = Voice(look.game, look.names, spoken, place.seat)
    found = snapshots.entries(get_app(), look, first, end) if first < end else []
    if look.table.phase != "over":
        found = [record.redact(look.game, entry, place.seat) for entry in found]
    return tuple(
        Heard(
            seq=entry.seq,
            at=entry.at,
            seat=entry.seat,
            move=entry.move,
            draws=entry.draws,
            events=entry.events,
            prose=tuple(sentence for event in entry.events if (sentence := voice.tell(event))),
        )
        for entry in found
    )


def _eyes(place: Place, look: Snapshot, asked: Eyes) -> int | None:
    if asked.eyes is UNSET or asked.eyes == place.seat:
        return place.seat
    if look.table.phase != "over":
        raise Refused("While the game is played you see it through your own eyes; leave “as” out.")
    if asked.eyes >= len(look.seats):
        raise Refused("This table has no seat {seat}.", seat=asked.eyes)
    return asked.eyes
