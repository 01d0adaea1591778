"""The document of the JSON interface, OpenAPI 3.1, made from its operations and their types."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from engine import catalogue
from engine import menu as menus
from engine import table as tables
from engine.table_events import TableEvent
from service.notify.webhooks import HookPayload
from service.settings import DAY_S
from service.text import lessons
from service.web.api.operations import JSON, Operation, Refusal

PLACEHOLDER = re.compile(r"<(?:(\w+)(?:\(max=(\d+)\))?:)?(\w+)>")
# Patterns of names in the schemas, and the names that the interface promises in their place.
PROMISED_NAMES = (
    (re.compile(r'(?<=[/"])UndoRequest(?=")'), "Asked"),
    (re.compile(r'(?<=[/"])Request(?=")'), "Wish"),
    (re.compile(r'(?<=/)Opened(?=")|(?<=")Opened(?=":)'), "table.Opened"),  # the event; below the answer
    (re.compile(r'(?<=[/"])OpenedTable(?=")'), "Opened"),
    (re.compile(r"engine\.(?:record|table_events)\.(\w+)"), r"table.\1"),
    (re.compile(r"service(?:\.\w+)*\.(\w+)"), r"\1"),
)
REF = "#/components/schemas/{name}"
WELCOME = """\
Open tables, sit down, look, move and read the log of a game, as its pages and letters do.

**Links are keys.** There are no accounts and no other credentials: who holds the link of a seat may see what that \
seat may see and act for it, and the link for spectators shows what all may know. A link is the last part of the \
address in a letter. Keep it to yourself, send it over HTTPS only, and put it into no log.

**A bot's round**: GET /t/{link}; where `menu` is not empty, choose one of `moves` and POST it to /t/{link}/moves \
with `seen` set to `length` - 1; otherwise wait and ask again with `If-None-Match`, which costs next to nothing. \
With more than 1,000 moves `moves` is empty: put a move together from the `menu`, or word by word with \
GET /t/{link}/menu?said=….

**Sending twice** does no harm: the same `key` of the same seat is the same submission and gets the same verdict; the \
same `key` of an opening is the same table. \
Sent with `seen`, a move is refused if what the seat sees has changed since.

**Refusals** have one form, whatever went wrong: `refused` is a sentence that says what to do instead, in the first \
language of `Accept-Language` that is spoken here (en, nl, fr, de); nothing was changed. A 429 says in `Retry-After` \
how many seconds to wait, and a 410 in `Location` on which other server the table is now.
"""
WEBHOOK = """\
Signed as Standard Webhooks says (standardwebhooks.com), with the secret that the settings show. Any answer but 2xx \
is a failure, a redirect too: the message is sent again, with pauses that double from ten seconds to six hours. After \
three days of failures, or after 410, nothing more is sent, and the player gets a letter.
"""
PATH_PARAMETERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "link": ("The link of a seat, or of a spectator", {"type": "string", "pattern": "^[a-z2-7]{32}$"}),
    "name": ("The name of a game", {"type": "string", "pattern": "^[a-z0-9_]{1,40}$"}),
    "seq": ("The number of an entry, counted from 0", {"type": "integer", "minimum": 0}),
    "number": ("The number of a submission, as its answer gave it", {"type": "integer", "minimum": 0}),
}
MEANINGS = {
    200: "Done, or here it is",
    201: "The table is open",
    202: "Submitted; the verdict comes later, at `Location`",
    304: "What you have is still current",
    400: "This cannot be read as JSON",
    404: "The link leads nowhere, or there is nothing at this address",
    410: "The table was transferred to another server; the same link works there",
    413: "Too much: a request has at most 64 kB",
    415: "Not sent as application/json",
    422: "Refused: the sentence says why, and what to do instead",
    429: "Too much at once",
}
TAG_HEADER = {"ETag": {"description": "Send it back as If-None-Match", "schema": {"type": "string"}}}
RETRY_HEADER = {"Retry-After": {"description": "How many seconds to wait", "schema": {"type": "integer"}}}
VERDICT_HEADER = {"Location": {"description": "Where the verdict will be", "schema": {"type": "string"}}}
SERVER_HEADER = {"Location": {"description": "The same address on the other server", "schema": {"type": "string"}}}
HEADERS = {202: VERDICT_HEADER, 410: SERVER_HEADER, 429: RETRY_HEADER}


def make_document(prefix: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """Make the document of these operations; their addresses begin with `prefix`."""
    schemas, components = _make_schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _describe_operation(operation, schemas, components)
        paths.setdefault(format_path(operation.rule), {})[operation.method.lower()] = described
    for operation in operations:
        if operation.query:  # its parameters are written out, so nothing refers to its schema
            components.pop(operation.query.__name__, None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Depesche", "version": "1", "description": WELCOME, "license": {"name": "MIT"}},
        "servers": [{"url": prefix}],
        "paths": paths,
        "webhooks": {"message": {"post": _describe_webhook(schemas)}},
        "components": {"schemas": components},
    }


def _describe_webhook(schemas: Mapping[Any, Any]) -> dict[str, Any]:
    """Describe the request that a player's own webhook gets."""
    signed = (
        ("webhook-id", "The same each time that a message is sent", "string"),
        ("webhook-timestamp", "When this request was made, in seconds since 1970", "integer"),
        ("webhook-signature", "v1, and the signature by Standard Webhooks, in base64", "string"),
    )
    headers = [
        {"name": name, "in": "header", "required": True, "description": about, "schema": {"type": kind}}
        for name, about, kind in signed
    ]
    return {
        "operationId": "receive_message",
        "summary": "News of a game, sent to a webhook of a player",
        "description": WEBHOOK,
        "parameters": headers,
        "requestBody": {"required": True, "content": {JSON: {"schema": schemas[HookPayload]}}},
        "responses": {"2XX": {"description": "The message is taken"}},
    }


def format_path(rule: str) -> str:
    """Write a route as OpenAPI does: “/t/<link>” becomes “/t/{link}”."""
    return PLACEHOLDER.sub(r"{\3}", rule)


def _make_schemas(operations: Iterable[Operation]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Return the schema of each type of a request or answer, and the schemas that they refer to, by their names."""
    kinds = [kind for operation in operations for kind in _iter_kinds(operation)]
    different_kinds = dict.fromkeys([*kinds, HookPayload])
    games = tuple(catalogue.find_all().values())
    types_of_games = {  # by what a schema calls them in `x-of-a-game`
        "View": tuple(game.View for game in games),
        "Event": (TableEvent, *(game.Event for game in games)),
    }
    types = (*different_kinds, *itertools.chain.from_iterable(types_of_games.values()))
    with_long_names = msgspec.json.schema_components(types, ref_template=REF)
    schemas_in_order, components = _shorten_names(with_long_names)
    schemas = dict(zip(types, schemas_in_order, strict=True))
    # What a game defines has no schema of its own yet: it becomes a choice of the types of all games.
    variants = {
        name: list(_iter_variants(schemas[member] for member in members)) for name, members in types_of_games.items()
    }
    for component in components.values():
        _fill_types_of_games(component, variants)
    return schemas, components


def _iter_kinds(operation: Operation) -> Iterator[Any]:
    """Yield the types of what an operation takes and gives."""
    yield from (Refusal, *operation.gives.values())
    yield from (kind for kind in (operation.takes, operation.query) if kind)


def _shorten_names(schemas: Any) -> Any:
    """Return the same schemas, with types named after their game or the table, and not after their module.

    Some names are promised: programs already use them.
    """
    text = msgspec.json.encode(schemas).decode()
    names_of_games = [
        (re.compile(rf"\b{re.escape(game.__name__)}(?:\.\w+)*\.(\w+)"), rf"{name}.\1")
        for name, game in catalogue.find_all().items()
    ]
    for pattern, name in (*names_of_games, *PROMISED_NAMES):
        text = pattern.sub(name, text)
    return msgspec.json.decode(text)


def _iter_variants(schemas: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    """Yield these schemas, and in place of a choice the schemas to choose from."""
    for schema in schemas:
        yield from schema.get("anyOf", (schema,))


def _fill_types_of_games(schema: Any, variants: Mapping[str, list[Any]]) -> None:
    """Fill the types that games define: each becomes a choice of the types of all games."""
    match schema:
        case {"x-of-a-game": str(name)}:
            schema["anyOf"] = variants[name]
        case dict():
            for part in schema.values():
                _fill_types_of_games(part, variants)
        case list():
            for part in schema:
                _fill_types_of_games(part, variants)


def _describe_operation(
    operation: Operation, schemas: Mapping[Any, Any], components: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe an operation; the first clause of its docstring is the summary."""
    first_clause = re.split("[;:] ", operation.about)[0]
    described: dict[str, Any] = {"operationId": operation.name, "summary": first_clause.removesuffix(".")}
    if first_clause != operation.about:
        described["description"] = operation.about
    if operation.limited:
        described["description"] = f"{operation.about} Limited: {operation.limited}."
    parameters = [
        *_describe_path_parameters(operation),
        *_describe_query_parameters(operation, components),
        *_describe_header_parameters(operation),
    ]
    if parameters:
        described["parameters"] = parameters
    if operation.takes:
        content = {"schema": schemas[operation.takes], "example": _make_example(operation.takes.__name__)}
        described["requestBody"] = {"required": True, "content": {JSON: content}}
    described["responses"] = dict(_describe_responses(operation, schemas))
    return described


def _describe_path_parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    """Yield the parameters in the address, with the greatest number if the route has one."""
    for _, most, name in PLACEHOLDER.findall(operation.rule):
        about, schema = PATH_PARAMETERS[name]
        bounds = {"maximum": int(most)} if most else {}
        yield {"name": name, "in": "path", "required": True, "description": about, "schema": {**schema, **bounds}}


def _describe_query_parameters(operation: Operation, components: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of the query's type as parameters, each with its description beside its schema."""
    if not operation.query:
        return
    for name, schema in components[operation.query.__name__]["properties"].items():
        field_schema = {key: value for key, value in schema.items() if key != "description"}
        yield {"name": name, "in": "query", "description": schema.get("description", ""), "schema": field_schema}


def _describe_header_parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    """Yield the header that asks whether an answer with an ETag is still current."""
    if operation.tagged:
        about = "The ETag of the answer you have: 304 says that it is still current"
        yield {"name": "If-None-Match", "in": "header", "description": about, "schema": {"type": "string"}}


def _describe_responses(operation: Operation, schemas: Mapping[Any, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each status of an operation with its response; the type None means that it has no content."""
    kinds = {**operation.gives, **dict(_list_common_answers(operation))}
    for status, kind in sorted(kinds.items()):
        response: dict[str, Any] = {"description": MEANINGS[status]}
        if kind is not None:
            response["content"] = {JSON: {"schema": schemas[kind]}}
        headers = dict[str, Any]()
        if operation.tagged and status < 400:
            headers |= TAG_HEADER
        headers |= HEADERS.get(status, {})
        if headers:
            response["headers"] = headers
        yield str(status), response


def _list_common_answers(operation: Operation) -> Iterator[tuple[int, Any]]:
    """Yield the answers besides its own, which all operations of its kind have: each status with its type."""
    if operation.tagged:
        yield 304, None
    if "<link>" in operation.rule:
        yield 410, Refusal
    if operation.takes:
        yield from ((status, Refusal) for status in (400, 413, 415))
    if operation.takes or operation.query:
        yield 422, Refusal
    if operation.limited:
        yield 429, Refusal


@functools.cache
def _make_example(type_name: str) -> dict[str, Any]:
    """Return an example of a body of this type; its move is on the menu of a real table after one random move."""
    game = next(game for game in catalogue.find_all().values() if 2 in game.META.seats)
    sample = lessons.start_sample(game, 2, b"an example")
    moves = lessons.play_randomly(sample, Random(1))  # noqa: S311 - an example, not dice
    mover = next(moves)  # has made one move
    # The same player may have more to do now, or it is the turn of the other.
    all_menus = [tables.menu(game, sample.table, seat) for seat in (mover, 0, 1)]
    move = next(move for menu in all_menus for move in menus.iter_moves(menu))
    guests = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bert"}]
    examples: dict[str, dict[str, Any]] = {
        "Opening": {"game": game.META.name, "players": guests, "clock": {"pace": 3 * DAY_S}},
        "Sitting": {"nonce": "lantern"},
        "Command": {"move": str(move), "seen": sample.table.length - 1, "key": "9f1c"},
    }
    return examples[type_name]
