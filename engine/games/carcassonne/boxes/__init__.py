"""The boxes that can be mixed into the base game, and what they add to its options, its state and its rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from engine.games.carcassonne import state
from engine.games.carcassonne.boxes import (
    abbey_mayor,
    abbot,
    bathhouses,
    bazaars,
    big_top,
    bridges,
    castles,
    count,
    darmstadt,
    fairy,
    fruit_trees,
    hills_sheep,
    inns_cathedrals,
    king_robber,
    leipzig,
    messages,
    monasteries,
    plague,
    princess_dragon,
    revolts,
    river,
    school,
    shrines,
    siege,
    tollkeepers,
    tower,
    traders_builders,
    tunnel,
    watchtowers,
    wheel,
    wind_roses,
)
from engine.games.carcassonne.hooks import BoxHooks, Rules, combine_boxes, merge_distinct

BOXES: tuple[BoxHooks, ...] = (
    messages.BOX,
    inns_cathedrals.BOX,
    count.BOX,
    traders_builders.BOX,
    river.BOX,
    fairy.BOX,
    wind_roses.BOX,
    watchtowers.BOX,
    tollkeepers.BOX,
    tunnel.BOX,
    hills_sheep.BOX,
    fruit_trees.BOX,
    *siege.BOXES,
    darmstadt.BOX,
    shrines.BOX,
    monasteries.BOX,
    abbey_mayor.BOX,
    school.BOX,
    big_top.BOX,
    king_robber.BOX,
    revolts.BOX,
    wheel.BOX,
    tower.BOX,
    princess_dragon.BOX,
    bridges.BOX,
    castles.BOX,
    bazaars.BOX,
    plague.BOX,
    bathhouses.BOX,
    leipzig.BOX,
    abbot.BOX,
)
"""All boxes, in the order of pages and of their hooks; the abbot is last, as he adds gardens to the tiles of others."""

POINT_EVENTS = merge_distinct("point events", *(box.point_events for box in BOXES))

EDITION_1_OPTIONS = (
    "messages",
    "inns_cathedrals",
    "traders_builders",
    "abbot",
    "river",
    "fairy",
    "figures",
)
"""The options of the first edition: always written, as in its logs; the others only where they are not the default."""


def _list_option_fields() -> list[tuple[str, Any, Any]]:
    """Return name, type and default of each option: the switches of boxes, the options of the base game, the settings.

    A box that is on when another one is has no switch.
    """
    options = [
        (box.option, Annotated[bool, msgspec.Meta(title=box.title, description=box.about)], box.default)
        for box in BOXES
        if not box.switches
    ]
    options += [(field.name, field.type, field.default) for field in fields(state.Options)]
    settings = merge_distinct("settings", *(box.settings for box in BOXES))
    options += [(name, kind, default) for name, (kind, default) in settings.items()]
    return [(name, kind, _make_default(name, default)) for name, kind, default in options]


def _make_default(name: str, value: Any) -> Any:
    """Return the default of an option; msgspec writes an option with a `default_factory` even if it is the default."""
    return msgspec.field(default_factory=lambda: value) if name in EDITION_1_OPTIONS else value


def _make_state_type(box_fields: Mapping[str, tuple[Any, Any]]) -> type[state.State]:
    """Return a type of states with these fields of boxes; the fields of all other boxes are constants of the class."""
    constants = {name: default for name, (_, default) in STATE_FIELDS.items() if name not in box_fields}
    if constants:  # pickle finds a type by its name, and the type with all fields has the same one
        constants["__reduce__"] = lambda state: (_restore_state, (state.options, msgspec.structs.astuple(state)))
    defined: Any = msgspec.defstruct(
        "State",
        [("options", Options, Options()), *((name, *field) for name, field in box_fields.items())],
        bases=(state.State,),
        namespace=constants,
        frozen=True,
        gc=False,
        module=__name__,
    )
    return defined  # type: ignore[no-any-return]  # the type checker does not know what `bases` says


STATE_FIELDS = merge_distinct("state fields", *(box.state_fields for box in BOXES))

if TYPE_CHECKING:
    from engine.games.carcassonne.state import Options as Options
    from engine.games.carcassonne.state import State as State
else:
    Options = msgspec.defstruct(
        "Options", _list_option_fields(), frozen=True, omit_defaults=True, cache_hash=True, module=__name__
    )
    State = _make_state_type(STATE_FIELDS)


def get_state_type(options: Options) -> type[State]:
    """Return the type of the states of a table: it has only the fields of its boxes, so that copying it is quick.

    The fields of other boxes can be read all the same, and have their defaults.
    """
    return _get_state_type_of(get_rules(options).boxes)


def _restore_state(options: Options, values: tuple[Any, ...]) -> State:
    """Return the state that was pickled, to be sent to another process."""
    return get_state_type(options)(*values)


@functools.cache
def _get_state_type_of(boxes: tuple[BoxHooks, ...]) -> type[State]:
    """Return the type of the states of tables with these boxes, which is made only once."""
    return _make_state_type({name: field for box in boxes for name, field in box.state_fields.items()})


class Began(Struct, frozen=True, omit_defaults=True, tag=True):
    """The game began: its options, the first seat, the figures of each seat, the bags, the track and the edition."""

    options: Options
    first: int
    supply: dict[str, int]
    bags: tuple[tuple[str, ...], ...]
    track: tuple[tuple[int, ...], ...]
    edition: int = 1


def plays_with(options: Options, box: BoxHooks) -> bool:
    """Whether a table plays with this box."""
    return any(getattr(options, switch) for switch in box.switches or (box.option,))


class RulesByOptions(dict[Options, Rules]):
    """The rules of tables by their options, each made when it is needed first."""

    def __missing__(self, options: Options) -> Rules:
        self[options] = combine_boxes([box for box in BOXES if plays_with(options, box)])
        return self[options]


get_rules: Callable[[Options], Rules] = RulesByOptions().__getitem__
"""Return the rules of a table with these options; called so often that a `functools.cache` would be too slow."""
