"""Operations of the JSON interface: a route together with the types of all that it takes and gives.

The served routes and their documentation are made from the same lines, so they always agree.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from flask import Blueprint, Response, abort, make_response, request
from msgspec import UNSET, Meta, Struct, UnsetType
from werkzeug.wrappers import Request as HttpRequest
from werkzeug.wrappers import Response as Reply

from engine.canonical_json import convert, make_decoder
from engine.chance import Draw
from engine.game import Standing
from engine.menu import MenuEntry
from engine.options import Option
from engine.record import Request, UndoRequest
from engine.refusal import Refused
from service.store.batch import Verdict
from service.tables.submitting import MoveText
from service.text.languages import translate
from service.timing import Clock
from service.web.api.requests import Command
from service.web.current_request import choose_language

Seq = Annotated[int, Meta(description="The number of an entry of the log, counted from 0")]
Seat = Annotated[int, Meta(description="A seat, counted from 0")]
At = Annotated[int, Meta(description="Seconds since 1970, UTC")]
Own = Annotated[int | None, Meta(description="The seat this link is for, counted from 0; null for a spectator")]
Receipt = Annotated[str, Meta(description="The hash of the log up to here, as it is at the foot of every letter")]
View = Annotated[
    Any,
    Meta(
        description="What this seat may know; its type is that of the game", extra_json_schema={"x-of-a-game": "View"}
    ),
]
Event = Annotated[
    Any,
    Meta(
        description="What happened, as this seat may hear it; `type` says what it is",
        extra_json_schema={"x-of-a-game": "Event"},
    ),
]
Text = Annotated[str, Meta(description="A move in its text form: a verb and its arguments, as POST …/moves takes it")]
Moves = Annotated[
    tuple[Text, ...],
    Meta(description="Every move of the menu as text; empty where there are more than 1,000: then read the menu"),
]
MenuNow = Annotated[
    tuple[MenuEntry, ...],
    Meta(
        description=(
            "Everything this seat may do now; empty means wait. A choice lists every sequence of arguments that is "
            "legal together, so keep the options that begin with what you have said; a subset wants so many of its "
            "items; a number lies between two others."
        )
    ),
]
Verbs = Annotated[
    tuple[str, ...],
    Meta(description="What the table itself offers besides: undo, agree, refuse, pause, resume, back, resign"),
]
Luck = Literal["sealed", "public"]
Phase = Literal["new", "gathering", "playing", "over"]


class Refusal(Struct, frozen=True):
    """A refusal: one sentence that says what to do instead; nothing was changed."""

    refused: str
    rule: Annotated[str, Meta(description="The paragraph of the game's rules that says so, if one does")] = ""
    submission: Annotated[int, Meta(description="The submission, where one was judged")] | UnsetType = UNSET


class Box(Struct, frozen=True):
    """The facts on the box of a game, and the options to choose before it begins."""

    name: str
    title: str
    seats: tuple[int, ...]
    options: tuple[Option, ...]
    about: str
    minutes: int
    designer: str
    publisher: str
    year: int
    stage: str
    edition: int


class Judged(Struct, frozen=True):
    """A submission and its verdict: `accepted` is null until the referee has looked at it."""

    submission: int
    accepted: bool | None
    seq: Annotated[int | None, Meta(description="The entry it became; null where nothing had to be entered")] = None
    refused: str = ""
    rule: str = ""


class AwaitedRound(Struct, frozen=True):
    """The round of the public beacon that decides the command of this entry; it was named before it existed."""

    entry: int
    round: int
    due: At


class Advice(Struct, frozen=True):
    """A hint: a good move after so many entries, and what follows in the same turn; null while the bot thinks."""

    length: int
    move: Text | None
    then: list[Text] = []


class Seen(Struct, frozen=True):
    """A table as one seat, or a spectator, may see it now."""

    table: str
    game: str
    seat: Own
    phase: Phase
    length: Annotated[int, Meta(description="How many entries the log has; the last one seen is this less one")]
    receipt: Receipt
    players: tuple[str, ...]
    to_move: tuple[Seat, ...]
    due: Annotated[tuple[At | None, ...], Meta(description="Until when each seat has to act")]
    clock: Clock
    options: dict[str, Any]
    places: Annotated[tuple[int, ...], Meta(description="The place of each seat, once the game is over")]
    standing: tuple[Standing, ...]
    asked: UndoRequest | None
    pausing: Request | None
    paused: bool
    luck: Luck
    awaited: AwaitedRound | None
    sealing: Request | None
    view: View | None
    menu: MenuNow
    moves: Moves
    commands: Verbs


class Way(Struct, frozen=True):
    """How far some words have come: what was understood, what may follow, and the move once it is whole."""

    said: tuple[str, ...]
    following: tuple[str, ...]
    move: Text | None


class Choices(Struct, frozen=True):
    """The moves of a seat now, and how far the words in `said` lead into them."""

    length: int
    count: Annotated[int, Meta(description="How many moves the menu holds")]
    menu: MenuNow
    moves: Moves
    commands: Verbs
    way: Way | None = None


class Heard(Struct, frozen=True):
    """An entry of the log as one seat may hear it; `move` is null and `draws` are empty where it may not know them."""

    seq: Seq
    at: At
    seat: Annotated[int | None, Meta(description="Who acted; null is the server")]
    move: str | None
    draws: tuple[Draw, ...]
    events: tuple[Event, ...]
    prose: Annotated[tuple[str, ...], Meta(description="The same in sentences")]


class News(Struct, frozen=True):
    """Entries in order; ask again from `next` on. There are more at once where `next` is below `length`."""

    phase: Phase
    length: int
    receipt: Receipt
    next: Seq
    entries: tuple[Heard, ...]


class Moment(Struct, frozen=True):
    """A table as it was after one entry, as one seat could see it then."""

    seat: Own
    phase: Phase
    receipt: Receipt
    entry: Heard
    standing: tuple[Standing, ...]
    view: View | None


JSON, PREFIX = "application/json", "/api/v1"
ViewFunction = TypeVar("ViewFunction", bound=Callable[..., Any])
Body = TypeVar("Body")


class Garbled(Refused):
    """The body of the request is not JSON."""


class Operation(Struct, frozen=True):
    """One thing a program may ask for: where, what goes in, and what comes out with which status."""

    method: str
    rule: str  # the route, as Flask writes it
    name: str
    about: str
    gives: Mapping[int, Any]  # type of the answer for each status; None for an answer without content
    takes: Any = None  # type of the body; None if it takes none
    query: Any = None  # type of the query parameters; None if it takes none
    limited: str = ""  # how often it may be asked, in words; empty if there is no limit
    tagged: bool = False  # whether it answers with an ETag, and with 304 to a program that has it


class Answer(Struct, frozen=True):
    """An answer with a status other than 200, or with headers of its own."""

    content: Any
    status: int = 200
    headers: Mapping[str, str] = {}


class Cacheable(Struct, frozen=True):
    """An answer that a program may have already: its tag, and a function that makes it."""

    tag: str
    make: Callable[[], Any]


class Interface:
    """The operations of a blueprint, in the order of the documentation."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.operations: list[Operation] = []

    def register(
        self,
        method: str,
        rule: str,
        gives: Mapping[int, Any],
        *,
        takes: Any = None,
        query: Any = None,
        limited: str = "",
        tagged: bool = False,
    ) -> Callable[[ViewFunction], ViewFunction]:
        """Return a decorator that serves a function at the route `rule`, and documents it by its docstring.

        The arguments are fields of `Operation`. The function gets the parsed body as `body` if `takes` has its type,
        and the parsed query parameters as `query` if `query` has theirs.
        """

        def add(view: ViewFunction) -> ViewFunction:
            about = " ".join((view.__doc__ or "").split())
            operation = Operation(
                method=method,
                rule=rule,
                name=view.__name__,
                about=about,
                gives=gives,
                takes=takes,
                query=query,
                limited=limited,
                tagged=tagged,
            )
            self.operations.append(operation)
            self.blueprint.add_url_rule(rule, view.__name__, _wrap(operation, view), methods=[method])
            return view

        return add


def _wrap(operation: Operation, view: Callable[..., Any]) -> Callable[..., Reply]:
    """Make a Flask view that parses the request, calls the function, and encodes its answer."""

    @functools.wraps(view)
    def serve(**arguments: Any) -> Reply:
        if operation.query:
            arguments["query"] = _parse_query(operation.query)
        if operation.takes:
            arguments["body"] = parse_body(request, operation.takes)
        return _encode(view(**arguments))

    return serve


def _parse_query(kind: Any) -> Any:
    """Parse the query parameters of this request; raise Refused if they are not of this type."""
    try:
        return convert(request.args.to_dict(), kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused("This cannot be asked in the address: {why}", why=error) from error


def parse_body(posted: HttpRequest, kind: type[Body]) -> Body:
    """Parse the JSON of a request; raise Refused, or an error of HTTP, if it is not of this type."""
    if posted.mimetype != JSON:
        abort(415)
    try:
        return make_decoder(kind).decode(posted.get_data())
    except msgspec.ValidationError as error:
        raise Refused("This is not the JSON that belongs here: {why}", why=error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbled("This cannot be read as JSON: {why}", why=error) from error


def _encode(answer: Any) -> Reply:
    """Encode what a view returned: a Cacheable, an Answer, or only the content of an answer with status 200."""
    if isinstance(answer, Cacheable):
        return _encode_tagged(answer)
    if isinstance(answer, Answer):
        return encode_answer(answer)
    return encode_answer(Answer(answer))


def encode_answer(answer: Answer) -> Reply:
    """Encode an answer as JSON, which clients do not store."""
    headers = {"Content-Type": JSON, "Cache-Control": "no-store", **answer.headers}
    return Reply(msgspec.json.encode(answer.content), answer.status, headers)


def _encode_tagged(answer: Cacheable) -> Response:
    """Encode an answer with its tag; if the program has it already, answer 304 and do not make it."""
    if answer.tag in request.if_none_match:
        response = make_response(b"", 304)
    else:
        response = make_response(msgspec.json.encode(answer.make()))
    response.set_etag(answer.tag)
    response.headers["Content-Type"] = JSON
    response.headers["Cache-Control"] = "private, no-cache"
    response.vary.add("Accept-Language")
    return response


def make_verdict_answer(posted: HttpRequest, link: str, number: int, verdict: Verdict | None) -> Answer:
    """Make the answer with the verdict on submission `number`; if it is None, say where to ask for it later."""
    if verdict is None:
        location = {"Location": f"{PREFIX}/t/{link}/submissions/{number}"}
        return Answer(Judged(number, accepted=None), 202, location)
    if not verdict.accepted:
        return Answer(Refusal(translate(choose_language(posted), verdict.why), verdict.rule, number), 422)
    return Answer(Judged(number, accepted=True, seq=verdict.seq))


def read_move(posted: HttpRequest) -> MoveText:
    """Return a program's move: its text, its key, and the entry last seen; raise as `parse_body` if it is none."""
    command = parse_body(posted, Command)
    return command.move, command.key, command.seen


def answer_move(posted: HttpRequest, link: str, number: int, verdict: Verdict | None) -> Reply:
    """Answer a program with the verdict on its submission; if it is None, say where to ask for it later."""
    return encode_answer(make_verdict_answer(posted, link, number, verdict))
