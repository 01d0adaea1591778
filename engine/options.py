"""The options of a game as data: their names, values and descriptions, and parsing a choice of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, inspect

from engine.canonical_json import make_decoder
from engine.refusal import Refused

CITATION = re.compile(r"§\s?(\d+(?:\.\d+)?)")


class Option(Struct, frozen=True):
    """An option to choose before a game begins; `rule` is the paragraph of the book that its description cites.

    `title` is its name for players, if that differs from its name in plain words.
    """

    name: str
    kind: Literal["switch", "word", "number"]
    default: Any
    values: tuple[str, ...]
    about: str
    least: int | None = None
    most: int | None = None
    rule: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """The title, or the name in plain words."""
        return self.title or self.name.replace("_", " ")


@functools.lru_cache
def describe(options: type[Struct]) -> tuple[Option, ...]:
    """Return every option of a game, in order."""
    info = inspect.type_info(options)
    assert isinstance(info, inspect.StructType)
    return tuple(_describe_field(field) for field in info.fields)


def _describe_field(field: inspect.Field) -> Option:
    kind, about, title = field.type, "", ""
    if isinstance(kind, inspect.Metadata):
        schema = kind.extra_json_schema or {}
        about, title = str(schema.get("description", "")), str(schema.get("title", ""))
        kind = kind.type
    rule = next(iter(CITATION.findall(about)), "")
    default = field.default_factory() if callable(field.default_factory) else field.default
    match kind:
        case inspect.BoolType():
            return Option(field.name, "switch", default, ("on", "off"), about, rule=rule, title=title)
        case inspect.LiteralType(values=values):
            order = (default, *(value for value in values if value != default))
            return Option(field.name, "word", default, tuple(map(str, order)), about, rule=rule, title=title)
        case inspect.IntType(ge=int(least), le=int(most)):
            numbers = tuple(map(str, range(least, most + 1)))
            return Option(field.name, "number", default, numbers, about, least, most, rule, title)
    raise TypeError(f"option {field.name} is neither a switch, nor one of some words, nor a number with bounds")


SWITCH_WORDS = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}


def parse(options: type[Struct], chosen: Mapping[str, Any]) -> Any:
    """Return the options struct for these choices, which are texts or plain values; the others have their defaults.

    Raise Refused for an unknown option or a value that is not allowed.
    """
    by_name = {option.name: option for option in describe(options)}
    for name in chosen:
        if name not in by_name:
            if not by_name:
                raise Refused("There is no option “{name}”; this game has none.", name=name)
            raise Refused("There is no option “{name}”; the options are: {names}.", name=name, names=", ".join(by_name))
    values = {name: _parse_value(by_name[name], value) for name, value in chosen.items()}
    return make_decoder(options).decode(msgspec.json.encode(values))


def _parse_value(option: Option, value: Any) -> Any:
    word = str(value).strip().casefold()
    if option.kind == "switch" and word in SWITCH_WORDS:
        return SWITCH_WORDS[word]
    if option.kind != "switch" and word in option.values:
        return type(option.default)(word)
    raise _explain_wrong_value(option, value)


def _explain_wrong_value(option: Option, value: Any) -> Refused:
    words = {"name": option.name, "value": value}
    match option.kind:
        case "switch":
            return Refused("The option “{name}” can be on or off, not “{value}”.", **words)
        case "word":
            allowed = " / ".join(option.values)
            return Refused("The option “{name}” can be {allowed}, not “{value}”.", allowed=allowed, **words)
        case "number":
            return Refused(
                "The option “{name}” can be {least} to {most}, not “{value}”.",
                least=option.least,
                most=option.most,
                **words,
            )
