"""The page that explains the JSON interface, made from the same document that programs read."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from flask import Blueprint, Response
from markupsafe import Markup
from msgspec import Struct

from service.web.api.openapi import REF
from service.web.api.operations import JSON
from service.web.api.routes import make_document
from service.web.current_request import get_app
from service.web.rendering import render

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

manual = Blueprint("manual", __name__)
PREFIX = REF.format(name="")
LIST_OF = "list of "  # before the type of its items


class Field(Struct, frozen=True):
    """A named value: an argument, or a part of a request or an answer."""

    name: str
    kind: str
    about: str
    needed: bool


class DescribedAnswer(Struct, frozen=True):
    """An answer of an operation."""

    status: str
    kind: str  # the type of its JSON; empty if it has none
    about: str


class DescribedOperation(Struct, frozen=True):
    """An operation as the page shows it."""

    name: str
    method: str
    path: str
    summary: Markup
    about: Markup
    arguments: tuple[Field, ...]  # in the query of its address
    takes: str  # the type of its body; empty if it takes none
    example: str  # of a body, as JSON; empty if it takes none
    gives: tuple[DescribedAnswer, ...]


class Shape(Struct, frozen=True):
    """A type as the page shows it."""

    name: str
    about: str
    fields: tuple[Field, ...]


class ApiPage(Struct, frozen=True):
    """Everything `api.html` shows."""

    about: Markup
    address: str
    operations: tuple[DescribedOperation, ...]
    shapes: tuple[Shape, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of types that the page has a section about."""
        return frozenset(shape.name for shape in self.shapes)


@manual.get("/api")
def show() -> Response:
    """Show what a program may ask for, and how."""
    document = make_document()
    operations = tuple(_describe_operations(document))
    page = ApiPage(
        about=Markup(_get_markdown().render(document["info"]["description"])),  # noqa: S704 - our own text
        address=get_app().settings.address + document["servers"][0]["url"],
        operations=operations,
        shapes=tuple(_describe_types(document, operations)),
    )
    return render("api.html", page)


def _describe_operations(document: Mapping[str, Any]) -> Iterator[DescribedOperation]:
    """Describe the operations of an OpenAPI document, in its order."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            body = operation.get("requestBody", {}).get("content", {}).get(JSON, {})  # empty if it takes none
            yield DescribedOperation(
                name=operation["operationId"],
                method=method.upper(),
                path=path,
                summary=_render_inline(operation["summary"]),
                about=_render_inline(operation.get("description", f"{operation['summary']}.")),
                arguments=tuple(
                    _describe_argument(parameter)
                    for parameter in operation.get("parameters", ())
                    if parameter["in"] == "query"
                ),
                takes=_describe_kind(body["schema"]) if body else "",
                example=msgspec.json.encode(body["example"]).decode() if body else "",
                gives=tuple(
                    DescribedAnswer(status, _describe_body(answer), answer["description"])
                    for status, answer in operation["responses"].items()
                ),
            )


def _describe_body(answer: Mapping[str, Any]) -> str:
    """Describe the type of the JSON that an answer carries; empty for an answer without any."""
    return _describe_kind(answer.get("content", {}).get(JSON, {}).get("schema"))


@functools.cache
def _get_markdown() -> MarkdownIt:
    """Load the parser of Markdown, once; it lets no HTML through."""
    from markdown_it import MarkdownIt  # 2 MB that most processes never need

    return MarkdownIt("commonmark", {"html": False})


def _render_inline(text: str) -> Markup:
    return Markup(_get_markdown().renderInline(text))  # noqa: S704 - our own text


def _describe_argument(parameter: Mapping[str, Any]) -> Field:
    kind = _describe_kind(parameter["schema"])
    return Field(parameter["name"], kind, parameter["description"], bool(parameter.get("required")))


def _describe_types(document: Mapping[str, Any], operations: tuple[DescribedOperation, ...]) -> Iterator[Shape]:
    """Yield the types of requests and answers, and the types that they refer to; types of games are left out."""
    schemas = document["components"]["schemas"]
    waiting = [kind for operation in operations for kind in _list_kinds(operation)]
    done = set[str]()
    while waiting:
        name = waiting.pop(0).removeprefix(LIST_OF)
        if name in done or name not in schemas:  # “integer”, for example, has no schema
            continue
        done.add(name)
        waiting += _find_references(schemas[name])  # which leaves out the types of games
        yield Shape(name, schemas[name].get("description", ""), tuple(_describe_fields(schemas[name])))


def _list_kinds(operation: DescribedOperation) -> tuple[str, ...]:
    """List the types of all that an operation takes and gives."""
    return operation.takes, *(answer.kind for answer in operation.gives)


def _find_references(schema: Any) -> Iterator[str]:
    """Yield the names of the types that a schema refers to; what games define is left out."""
    match schema:
        case {"$ref": str(name)}:
            yield name.removeprefix(PREFIX)
        case dict() if "x-of-a-game" not in schema:
            for part in schema.values():
                yield from _find_references(part)
        case list():
            for part in schema:
                yield from _find_references(part)


def _describe_fields(schema: Mapping[str, Any]) -> Iterator[Field]:
    """Yield the fields of a type; only those of requests are shown as required: answers leave no field out."""
    is_request = "additionalProperties" in schema  # only types of requests forbid other fields, and say so by this
    needed = schema.get("required", ()) if is_request else ()
    for name, field in schema.get("properties", {}).items():
        yield Field(name, _describe_kind(field), _describe_field(field), name in needed)


def _describe_field(schema: Mapping[str, Any]) -> str:
    """Return the description of a field, or else that of the first of its types that has one; empty if none has."""
    for part in (schema, *schema.get("anyOf", ()), schema.get("items", {})):
        if part.get("description"):
            return str(part["description"])
    return ""


def _describe_kind(schema: Any) -> str:
    """Describe a type in a few words; return an empty text for None, which means that there is no content."""
    match schema:
        case None:
            return ""
        case {"x-of-a-game": str(name)}:
            return f"{name} of the game"
        case {"$ref": str(name)}:
            return name.removeprefix(PREFIX)
        case {"enum": list(values)}:
            return " | ".join(msgspec.json.encode(value).decode() for value in values)
        case {"anyOf": list(kinds)}:
            return " | ".join(dict.fromkeys(map(_describe_kind, kinds)))
        case {"type": "array", "items": dict(item)}:
            return LIST_OF + _describe_kind(item)
        case {"type": "array"}:
            return "list"
        case {"type": str(name)}:
            return name
    return "any"
