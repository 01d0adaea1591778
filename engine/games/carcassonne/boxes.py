"""The boxes that can be mixed into the base game, and what is made of all of them: options, table, rules."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from engine.games.carcassonne import (
    abbey_mayor,
    abbot,
    big_top,
    fairy,
    fruit_trees,
    hills_sheep,
    inns,
    messages,
    monasteries,
    river,
    school,
    shrines,
    siege,
    state,
    tollkeepers,
    traders,
    watchtowers,
    wind_roses,
)
from engine.games.carcassonne.expansion import Box, Rules, apart, united

BOXES: tuple[Box, ...] = (
    messages.BOX,
    inns.BOX,
    traders.BOX,
    river.BOX,
    fairy.BOX,
    wind_roses.BOX,
    watchtowers.BOX,
    tollkeepers.BOX,
    hills_sheep.BOX,
    fruit_trees.BOX,
    *siege.BOXES,
    shrines.BOX,
    monasteries.BOX,
    abbey_mayor.BOX,
    school.BOX,
    big_top.BOX,
    abbot.BOX,
)
"""In the order in which pages list them and in which they are asked; the abbot plants gardens on everybody's tiles."""

PAYING = apart("paying events", *(box.paying for box in BOXES))


def _switch(box: Box) -> tuple[str, Any, Any]:
    return box.option, Annotated[bool, msgspec.Meta(title=box.title, description=box.about)], box.default


FIRST = ("messages", "inns_cathedrals", "traders_builders", "abbot", "river", "fairy", "figures")
"""What the first edition could settle: always written, as its logs have it; the rest only where it is not as usual."""


def _field(name: str, kind: Any, default: Any) -> tuple[str, Any, Any]:
    return name, kind, msgspec.field(default_factory=lambda: default) if name in FIRST else default


if TYPE_CHECKING:
    from engine.games.carcassonne.state import Options as Options
    from engine.games.carcassonne.state import State as State
else:
    settings = apart("settings", *(box.settings for box in BOXES))
    wanted = [_switch(box) for box in BOXES if not box.switches]
    wanted += [(field.name, field.type, field.default) for field in fields(state.Options)]
    wanted += [(name, kind, default) for name, (kind, default) in settings.items()]
    Options = msgspec.defstruct(
        "Options",
        [_field(*field) for field in wanted],
        frozen=True,
        omit_defaults=True,
        cache_hash=True,
        module=__name__,
    )
    State = msgspec.defstruct(
        "State",
        [
            ("options", Options, Options()),
            *((name, *kept) for name, kept in apart("slots", *(box.slots for box in BOXES)).items()),
        ],
        bases=(state.State,),
        frozen=True,
        dict=True,
        module=__name__,
    )


class Began(Struct, frozen=True, omit_defaults=True, tag=True):
    """What everybody got from the boxes, the bags of tiles, who begins, and the edition of the rules."""

    options: Options
    first: int
    supply: dict[str, int]
    bags: tuple[tuple[str, ...], ...]
    track: tuple[tuple[int, ...], ...]
    edition: int = 1


def wants(options: Options, box: Box) -> bool:
    """Whether a table plays with this box."""
    return any(getattr(options, switch) for switch in box.switches or (box.option,))


@functools.cache
def rules_of(options: Options) -> Rules:
    """The rules of a table with these options."""
    return united([box for box in BOXES if wants(options, box)])
