"""The page that explains the JSON interface, drawn from the same document that programs read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from flask import Blueprint, Response
from markdown_it import MarkdownIt
from markupsafe import Markup
from msgspec import Struct

from service.web.api.openapi import REF
from service.web.api.operations import JSON
from service.web.api.routes import described
from service.web.rendering import get_app, page

manual = Blueprint("manual", __name__)
PREFIX = REF.format(name="")
MARKDOWN = MarkdownIt("commonmark", {"html": False})


class Field(Struct, frozen=True):
    """A value that has a name: an argument, or a part of what is sent or answered."""

    name: str
    kind: str
    about: str
    needed: bool


class DescribedOperation(Struct, frozen=True):
    """One operation, as the page tells it."""

    name: str
    method: str
    path: str
    summary: Markup
    about: Markup
    arguments: tuple[Field, ...]
    takes: str
    example: str
    gives: tuple[tuple[str, str, str], ...]


class Shape(Struct, frozen=True):
    """A type, as the page tells it."""

    name: str
    about: str
    fields: tuple[Field, ...]


@manual.get("/api")
def show() -> Response:
    """What a program may ask for, and how."""
    document = described()
    operations = tuple(_operations(document))
    shapes = tuple(_shapes(document, operations))
    address = get_app().settings.address + document["servers"][0]["url"]
    return page(
        "api.html",
        about=Markup(MARKDOWN.render(document["info"]["description"])),  # noqa: S704 - our own text
        operations=operations,
        shapes=shapes,
        known={shape.name for shape in shapes},
        address=address,
    )


def _operations(document: Mapping[str, Any]) -> Iterator[DescribedOperation]:
    for path, operations in document["paths"].items():
        for method, told in operations.items():
            sent = told.get("requestBody", {}).get("content", {}).get(JSON, {})
            yield DescribedOperation(
                name=told["operationId"],
                method=method.upper(),
                path=path,
                summary=_inline(told["summary"]),
                about=_inline(told.get("description", told["summary"] + ".")),
                arguments=tuple(_argument(one) for one in told.get("parameters", ()) if one["in"] == "query"),
                takes=_kind(sent.get("schema", {})) if sent else "",
                example=msgspec.json.encode(sent["example"]).decode() if sent else "",
                gives=tuple(
                    (status, _kind(answer.get("content", {}).get(JSON, {}).get("schema")), answer["description"])
                    for status, answer in told["responses"].items()
                ),
            )


def _inline(text: str) -> Markup:
    return Markup(MARKDOWN.renderInline(text))  # noqa: S704 - our own text


def _argument(told: Mapping[str, Any]) -> Field:
    return Field(told["name"], _kind(told["schema"]), told["description"], bool(told.get("required")))


def _shapes(document: Mapping[str, Any], operations: tuple[DescribedOperation, ...]) -> Iterator[Shape]:
    """The types that go in and out, and what they are made of; what is a game's own is left to the document."""
    known = document["components"]["schemas"]
    waiting = [
        PREFIX + name for operation in operations for name in (operation.takes, *(gift[1] for gift in operation.gives))
    ]
    told = set[str]()
    while waiting:
        name = waiting.pop(0).removeprefix(PREFIX).removeprefix("list of ")
        if name in told or name not in known:
            continue
        told.add(name)
        waiting += _mentioned(known[name])
        yield Shape(name, known[name].get("description", ""), tuple(_fields(known[name])))


def _mentioned(schema: Any) -> Iterator[str]:
    match schema:
        case {"$ref": str(name)}:
            yield name
        case dict() if "x-of-a-game" not in schema:
            for part in schema.values():
                yield from _mentioned(part)
        case list():
            for part in schema:
                yield from _mentioned(part)


def _fields(schema: Mapping[str, Any]) -> Iterator[Field]:
    sent = "additionalProperties" in schema  # only what is sent may leave something out
    needed = schema.get("required", ()) if sent else ()
    for name, told in schema.get("properties", {}).items():
        yield Field(name, _kind(told), _about(told), name in needed)


def _about(schema: Mapping[str, Any]) -> str:
    inner = (*schema.get("anyOf", ()), schema.get("items", {}))
    return str(schema.get("description") or next(filter(None, (one.get("description") for one in inner if one)), ""))


def _kind(schema: Any) -> str:
    """A type in a few words."""
    match schema:
        case {"x-of-a-game": str(name)}:
            return f"{name} of the game"
        case {"$ref": str(name)}:
            return name.removeprefix(PREFIX)
        case {"enum": list(values)}:
            return " | ".join(msgspec.json.encode(value).decode() for value in values)
        case {"anyOf": list(kinds)}:
            return " | ".join(dict.fromkeys(map(_kind, kinds)))
        case {"type": "array", "items": dict(item)}:
            return f"list of {_kind(item)}"
        case {"type": "array"}:
            return "list"
        case {"type": str(name)}:
            return name
    return "any" if schema is not None else ""
