"""Operations of the JSON interface: a route together with the types of all that it takes and gives.

What is served and what is documented come from the same few lines, so neither can lag behind the other.
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
Visit = TypeVar("Visit", bound=Callable[..., Any])


class Garbled(Refused):
    """What was sent is no JSON at all."""


class Operation(Struct, frozen=True):
    """One thing a program may ask for: where, what goes in, and what comes out with which status."""

    method: str
    rule: str
    name: str
    about: str
    gives: Mapping[int, Any]
    takes: Any = None
    asks: Any = None
    limited: str = ""
    kept: bool = False


class Answer(Struct, frozen=True):
    """What goes out when it is not simply the value with status 200."""

    what: Any
    status: int = 200
    headers: Mapping[str, str] = {}


class Cacheable(Struct, frozen=True):
    """An answer that a program may have already: its tag, and how to make it if not."""

    tag: str
    make: Callable[[], Any]


class Interface:
    """The operations of a blueprint, in the order in which they are read."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.operations: list[Operation] = []

    def offers(
        self,
        method: str,
        rule: str,
        gives: Mapping[int, Any],
        *,
        takes: Any = None,
        asks: Any = None,
        limited: str = "",
        kept: bool = False,
    ) -> Callable[[Visit], Visit]:
        """Serve this function here; what it takes and asks comes read, as `body` and `asked`.

        `limited` says how often it may be asked; `kept` that it answers with a tag, and 304 to whoever has it.
        """

        def serve(visit: Visit) -> Visit:
            about = " ".join((visit.__doc__ or "").split())
            made = Operation(method, rule, visit.__name__, about, gives, takes, asks, limited, kept)
            self.operations.append(made)
            self.blueprint.add_url_rule(rule, visit.__name__, _served(made, visit), methods=[method])
            return visit

        return serve


def _served(operation: Operation, visit: Callable[..., Any]) -> Callable[..., Response]:
    @functools.wraps(visit)
    def served(**path: Any) -> Response:
        if operation.asks:
            path["asked"] = _asked(operation.asks)
        if operation.takes:
            path["body"] = _body(operation.takes)
        return _answered(visit(**path))

    return served


def _asked(kind: Any) -> Any:
    try:
        return convert(request.args.to_dict(), kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused("This cannot be asked in the address: {why}", why=error) from error


def _body(kind: Any) -> Any:
    if request.mimetype != JSON:
        abort(415)
    try:
        return make_decoder(kind).decode(request.get_data())
    except msgspec.ValidationError as error:
        raise Refused("This is not the JSON that belongs here: {why}", why=error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbled("This cannot be read as JSON: {why}", why=error) from error


def _answered(found: Any) -> Response:
    if isinstance(found, Cacheable):
        return _kept(found)
    answer = found if isinstance(found, Answer) else Answer(found)
    response = make_response(msgspec.json.encode(answer.what), answer.status)
    response.headers.update({"Content-Type": JSON, "Cache-Control": "no-store", **answer.headers})
    return response


def _kept(found: Cacheable) -> Response:
    fresh = found.tag in request.if_none_match
    response = make_response(b"", 304) if fresh else make_response(msgspec.json.encode(found.make()))
    response.set_etag(found.tag)
    response.headers["Content-Type"] = JSON
    response.headers["Cache-Control"] = "private, no-cache"
    response.vary.add("Accept-Language")
    return response
