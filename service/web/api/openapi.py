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
from engine.table_events import (
    TableEvent,
)
from service.text import samples
from service.web.api.json_types import Refusal
from service.web.api.operations import JSON, Operation

PLACEHOLDER = re.compile(r"<(?:(\w+)(?:\(max=(\d+)\))?:)?(\w+)>")
PLAINER = (
    (re.compile(r'(?<=[/"])UndoRequest(?=")'), "Asked"),  # the names of schemas belong to the interface
    (re.compile(r'(?<=[/"])Request(?=")'), "Wish"),
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
how many seconds to wait, and a 410 in `Location` in which other house the table lives now.
"""
PATH: Mapping[str, tuple[str, dict[str, Any]]] = {
    "link": ("The link of a seat, or of somebody who looks on", {"type": "string", "pattern": "^[a-z2-7]{32}$"}),
    "name": ("The name of a game", {"type": "string", "pattern": "^[a-z0-9_]{1,40}$"}),
    "seq": ("The number of an entry, counted from 0", {"type": "integer", "minimum": 0}),
    "number": ("The number of a submission, as its answer named it", {"type": "integer", "minimum": 0}),
}
MEANS = {
    200: "Done, or here it is",
    201: "The table is open",
    202: "Submitted; the verdict comes later, at `Location`",
    304: "What you have still holds",
    400: "This cannot be read as JSON",
    404: "The link leads nowhere, or there is no such thing",
    410: "The table has moved to another house; the same link holds there",
    413: "Too much: a request has at most 64 kB",
    415: "Not sent as application/json",
    422: "Refused: the sentence says why, and what to do instead",
    429: "Too much at once",
}
TAG = {"ETag": {"description": "Send it back as If-None-Match", "schema": {"type": "string"}}}
WAIT = {"Retry-After": {"description": "How many seconds to wait", "schema": {"type": "integer"}}}
LATER = {"Location": {"description": "Where the verdict will be", "schema": {"type": "string"}}}
THERE = {"Location": {"description": "The same address in the other house", "schema": {"type": "string"}}}
HEADERS = {202: LATER, 410: THERE, 429: WAIT}


def document(prefix: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """The whole document."""
    schemas, components = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        told = _told(operation, schemas, components)
        paths.setdefault(path(operation.rule), {})[operation.method.lower()] = told
    for operation in operations:
        if operation.asks:
            components.pop(operation.asks.__name__, None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Depesche", "version": "1", "description": WELCOME, "license": {"name": "MIT"}},
        "servers": [{"url": prefix}],
        "paths": paths,
        "components": {"schemas": components},
    }


def path(rule: str) -> str:
    """A route as OpenAPI writes it."""
    return PLACEHOLDER.sub(r"{\3}", rule)


def _schemas(operations: Iterable[Operation]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """The schema of every type that goes in or out, and of all that they are made of."""
    kinds = dict.fromkeys(kind for operation in operations for kind in _kinds(operation))
    games = tuple(catalogue.find_all().values())
    parts = {
        "View": tuple(game.View for game in games),
        "Event": (TableEvent, *(game.Event for game in games)),
    }
    asked = (*kinds, *itertools.chain.from_iterable(parts.values()))
    found, components = msgspec.json.schema_components(asked, ref_template=REF)
    found, components = _renamed((list(found), components))
    schemas = dict(zip(asked, found, strict=True))
    variants = {name: list(_variants(schemas[kind] for kind in kinds)) for name, kinds in parts.items()}
    for component in components.values():
        _fill(component, variants)
    return schemas, components


def _kinds(operation: Operation) -> Iterator[Any]:
    yield from (Refusal, *operation.gives.values())
    yield from (kind for kind in (operation.takes, operation.asks) if kind)


def _renamed(found: Any) -> Any:
    """Types of one name are told apart by the game or the table they belong to, not by where they stand in the code."""
    text = msgspec.json.encode(found).decode()
    games = {
        re.compile(rf"\b{re.escape(game.__name__)}(?:\.\w+)*\.(\w+)"): rf"{name}.\1"
        for name, game in catalogue.find_all().items()
    }
    for pattern, plainer in (*games.items(), *PLAINER):
        text = pattern.sub(plainer, text)
    return msgspec.json.decode(text)


def _variants(schemas: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    for schema in schemas:
        yield from schema.get("anyOf", (schema,))


def _fill(schema: Any, variants: Mapping[str, list[Any]]) -> None:
    """What a type leaves to the game becomes any of what the games say."""
    match schema:
        case {"x-of-a-game": str(name)}:
            schema["anyOf"] = [*variants[name], *schema.pop("anyOf", ())]
        case dict():
            for part in schema.values():
                _fill(part, variants)
        case list():
            for part in schema:
                _fill(part, variants)


def _told(operation: Operation, schemas: Mapping[Any, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    summary, *rest = re.split("[;:] ", operation.about, maxsplit=1)
    told: dict[str, Any] = {"operationId": operation.name, "summary": summary.removesuffix(".")}
    if rest:
        told["description"] = operation.about
    if operation.limited:
        told["description"] = f"{operation.about} Limited: {operation.limited}."
    parameters = [*_in_path(operation), *_in_query(operation, components), *_in_head(operation)]
    if parameters:
        told["parameters"] = parameters
    if operation.takes:
        content = {"schema": schemas[operation.takes], "example": _example(operation.takes.__name__)}
        told["requestBody"] = {"required": True, "content": {JSON: content}}
    told["responses"] = dict(_responses(operation, schemas))
    return told


def _in_path(operation: Operation) -> Iterator[dict[str, Any]]:
    for _, most, name in PLACEHOLDER.findall(operation.rule):
        about, schema = PATH[name]
        bounds = {"maximum": int(most)} if most else {}
        yield {"name": name, "in": "path", "required": True, "description": about, "schema": {**schema, **bounds}}


def _in_query(operation: Operation, components: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if not operation.asks:
        return
    for name, schema in components[operation.asks.__name__]["properties"].items():
        told = {key: value for key, value in schema.items() if key != "description"}
        yield {"name": name, "in": "query", "description": schema.get("description", ""), "schema": told}


def _in_head(operation: Operation) -> Iterator[dict[str, Any]]:
    if operation.kept:
        about = "The ETag of the answer you have: 304 says that it still holds"
        yield {"name": "If-None-Match", "in": "header", "description": about, "schema": {"type": "string"}}


def _responses(operation: Operation, schemas: Mapping[Any, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for status, kind in sorted({**operation.gives, **dict(_refusals(operation))}.items()):
        told: dict[str, Any] = {"description": MEANS[status]}
        if kind is not None:
            told["content"] = {JSON: {"schema": schemas[kind]}}
        headers = (TAG if operation.kept and status < 400 else {}) | HEADERS.get(status, {})
        yield str(status), told | ({"headers": headers} if headers else {})


def _refusals(operation: Operation) -> Iterator[tuple[int, Any]]:
    """How an operation may end by its nature, besides what it says itself."""
    if operation.kept:
        yield 304, None
    if "<link>" in operation.rule:
        yield 410, Refusal
    if operation.takes:
        yield from ((status, Refusal) for status in (400, 413, 415))
    if operation.takes or operation.asks:
        yield 422, Refusal
    if operation.limited:
        yield 429, Refusal


@functools.cache
def _example(kind: str) -> dict[str, Any]:
    """What a program might send: a real opening, and a move that some table really had on its menu."""
    game = next(game for game in catalogue.find_all().values() if 2 in game.META.seats)
    sample = samples.started(game, 2, b"an example")
    seat = next(samples.played(sample, Random(1)))  # noqa: S311 - an example, not dice
    move = next(move for one in (seat, 0, 1) for move in menus.iter_moves(tables.menu(game, sample.table, one)))
    guests = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Bert"}]
    examples: dict[str, dict[str, Any]] = {
        "Opening": {"game": game.META.name, "players": guests, "clock": {"pace": 259_200}},
        "Sitting": {"nonce": "lantern"},
        "Command": {"move": str(move), "seen": sample.table.length - 1, "key": "9f1c"},
    }
    return examples[kind]
