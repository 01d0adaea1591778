"""Operations of the JSON interface: a route together with the types of all that it takes and gives.

The served routes and their documentation are made from the same lines, so they always agree.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from flask import Blueprint, Response, abort, make_response, request
from msgspec import Struct

from engine.canonical_json import convert, make_decoder
from engine.refusal import Refused

JSON = "application/json"
View = TypeVar("View", bound=Callable[..., Any])


class Garbled(Refused):
    """The body of the request is not JSON."""


class Operation(Struct, frozen=True):
    """One thing a program may ask for: where, what goes in, and what comes out with which status."""

    method: str
    rule: str
    name: str
    about: str
    gives: Mapping[int, Any]
    takes: Any = None  # type of the body
    query: Any = None  # type of the query parameters
    limited: str = ""  # how often it may be asked
    tagged: bool = False  # whether it answers with an ETag, and with 304 to a program that has it


class Answer(Struct, frozen=True):
    """An answer with another status or with headers."""

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

    def operation(
        self,
        method: str,
        rule: str,
        gives: Mapping[int, Any],
        *,
        takes: Any = None,
        query: Any = None,
        limited: str = "",
        tagged: bool = False,
    ) -> Callable[[View], View]:
        """Serve a function here. It gets the parsed body as `body`, and the parsed query parameters as `query`."""

        def add(view: View) -> View:
            about = " ".join((view.__doc__ or "").split())
            operation = Operation(method, rule, view.__name__, about, gives, takes, query, limited, tagged)
            self.operations.append(operation)
            self.blueprint.add_url_rule(rule, view.__name__, _wrap(operation, view), methods=[method])
            return view

        return add


def _wrap(operation: Operation, view: Callable[..., Any]) -> Callable[..., Response]:
    """Make a Flask view that parses the request, calls the function, and encodes its answer."""

    @functools.wraps(view)
    def serve(**arguments: Any) -> Response:
        if operation.query:
            arguments["query"] = _parse_query(operation.query)
        if operation.takes:
            arguments["body"] = _parse_body(operation.takes)
        return _encode(view(**arguments))

    return serve


def _parse_query(kind: Any) -> Any:
    try:
        return convert(request.args.to_dict(), kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused("This cannot be asked in the address: {why}", why=error) from error


def _parse_body(kind: Any) -> Any:
    if request.mimetype != JSON:
        abort(415)
    try:
        return make_decoder(kind).decode(request.get_data())
    except msgspec.ValidationError as error:
        raise Refused("This is not the JSON that belongs here: {why}", why=error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbled("This cannot be read as JSON: {why}", why=error) from error


def _encode(answer: Any) -> Response:
    if isinstance(answer, Cacheable):
        return _encode_tagged(answer)
    if not isinstance(answer, Answer):
        answer = Answer(answer)
    response = make_response(msgspec.json.encode(answer.content), answer.status)
    response.headers.update({"Content-Type": JSON, "Cache-Control": "no-store", **answer.headers})
    return response


def _encode_tagged(answer: Cacheable) -> Response:
    is_fresh = answer.tag in request.if_none_match
    response = make_response(b"", 304) if is_fresh else make_response(msgspec.json.encode(answer.make()))
    response.set_etag(answer.tag)
    response.headers["Content-Type"] = JSON
    response.headers["Cache-Control"] = "private, no-cache"
    response.vary.add("Accept-Language")
    return response
