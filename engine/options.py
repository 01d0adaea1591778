"""A game's options as data: what may be chosen, in words, and reading a choice with one clear sentence on a misfit."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, inspect

from engine.canonical_json import make_decoder
from engine.refusal import Refused

CITED = re.compile(r"§\s?(\d+(?:\.\d+)?)")


class Option(Struct, frozen=True):
    """One thing to settle before a game begins; `rule` is the paragraph of the book that its description cites.

    `title` is what it is called where its name alone does not say so.
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
        """What it is called: its own title, or its name in plain words."""
        return self.title or self.name.replace("_", " ")


@functools.lru_cache
def describe(options: type[Struct]) -> tuple[Option, ...]:
    """Every option of a game in its order."""
    info = inspect.type_info(options)
    assert isinstance(info, inspect.StructType)
    return tuple(_option(field) for field in info.fields)


def _option(field: inspect.Field) -> Option:
    kind, about, title = field.type, "", ""
    if isinstance(kind, inspect.Metadata):
        said = kind.extra_json_schema or {}
        about, title = str(said.get("description", "")), str(said.get("title", ""))
        kind = kind.type
    rule = next(iter(CITED.findall(about)), "")
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


SWITCH = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}


def read(options: type[Struct], chosen: Mapping[str, Any]) -> Any:
    """The options struct for these choices, given as text or as plain values; what is left out is the default."""
    known = {option.name: option for option in describe(options)}
    for name in chosen:
        if name not in known:
            if not known:
                raise Refused("There is no option “{name}”; this game has none.", name=name)
            raise Refused("There is no option “{name}”; the options are: {names}.", name=name, names=", ".join(known))
    values = {name: _value(known[name], value) for name, value in chosen.items()}
    return make_decoder(options).decode(msgspec.json.encode(values))


def _value(option: Option, value: Any) -> Any:
    word = str(value).strip().casefold()
    if option.kind == "switch" and word in SWITCH:
        return SWITCH[word]
    if option.kind != "switch" and word in option.values:
        return type(option.default)(word)
    raise _misfit(option, value)


def _misfit(option: Option, value: Any) -> Refused:
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
