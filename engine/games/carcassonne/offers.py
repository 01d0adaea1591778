"""The offers in each step of a part of a turn: the places of a tile, the segments for figures, and the menus."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from msgspec import Struct

from engine.games.carcassonne.hooks import Rules
from engine.games.carcassonne.state import Feature, Part, State, Step, can_draw, find_root
from engine.games.carcassonne.tiles import FITTING_TURNS, Args, list_figure_options
from engine.menu import Choice, Menu, MenuEntry

PASS = Choice("pass", rule="2.6")
DRAW = Choice("draw", rule="2.1")

FIGURE_OFFERS = ("offer_figures", "bars_figures", "offer_instead_of_figure", "offer_besides")
"""The hooks without which a seat can only place a figure of its supply on its tile, or pass."""


def take_own_tile(state: State, rules: Rules, seat: int) -> Struct | None:
    """Return the event with which a seat takes a tile of its own instead of drawing one, or None without one."""
    for box in rules.hooks["take_own_tile"]:
        event = box.take_own_tile(state, rules, seat)
        if event is not None:
            return event
    return None


def has_own_tile(state: State, rules: Rules, seat: int) -> bool:
    """Whether a seat has a tile of its own, which it takes instead of drawing one."""
    return take_own_tile(state, rules, seat) is not None


def can_place_tile(state: State, rules: Rules) -> bool:
    """Whether the seat on turn could place a tile in a further part: one from the bag, or its own abbey."""
    return can_draw(state) or bool(offer_instead_of_tile(state, rules, Part()))


def is_barred(state: State, rules: Rules, cell: str) -> bool:
    """Whether a box keeps figures off the tile of a cell."""
    return any(box.bars_figures(state, cell) for box in rules.hooks["bars_figures"])


def is_free(rules: Rules, feature: Feature) -> bool:
    """§2.4: Whether a meeple can be placed on a feature: no figure is on it, except unobtrusive ones."""
    return all(figure.kind in rules.unobtrusive for figure in feature.figures)


def list_places(state: State, rules: Rules, tile: str) -> Sequence[Args]:
    """§2.2: Return every cell and turn in which all sides of the tile continue what they touch."""
    fits = FITTING_TURNS[tile]
    frontier = state.frontier.items()
    options = [(cell, turn) for cell, edges in frontier for turn in fits[edges]]
    return filter_places(state, rules, tile, options)


def filter_places(state: State, rules: Rules, tile: str, options: Sequence[Args]) -> Sequence[Args]:
    """Return those of the options (cell, turn) where all boxes allow the tile."""
    for box in rules.hooks["filter_cells"]:
        options = box.filter_cells(state, rules, tile, options)
    return options


def list_free_segments(state: State, rules: Rules, part: Part) -> list[Args]:
    """§2.4: Return every figure of the supply with every segment of the new tile on which it can be placed."""
    if rules.hooks["bars_figures"] and is_barred(state, rules, part.cell):
        return []
    options: list[Args] = []
    for kind, segments in rules.segments.items():
        if state.supply[state.turn][kind]:
            options += _list_options_of_kind(state, rules, part, kind, segments)
    return options


def _list_options_of_kind(state: State, rules: Rules, part: Part, kind: str, grounds: frozenset[str]) -> list[Args]:
    """§2.4: Return the options for a kind of figure: the segments of the new tile whose whole feature is free.

    `grounds` are the kinds of segments on which the figure can be placed.
    """
    placed = state.tiles[part.cell]
    options: list[Args] = []
    for index, args in list_figure_options(placed.tile, placed.turn, kind, grounds):
        feature = state.features[find_root(state.parents, placed.first + index)]
        if not feature.figures or is_free(rules, feature):  # most features have no figures, which is seen sooner
            options.append(args)
    return options


def _make_draw_menu(state: State, rules: Rules, part: Part) -> Menu:
    """§2.1: Offer to draw, and what is possible instead; a seat for which no tile is left can pass."""
    instead = offer_instead_of_tile(state, rules, part)
    has_tile = can_draw(state) or has_own_tile(state, rules, state.turn)
    return (DRAW, *instead) if has_tile else (*instead, PASS)


def _make_place_menu(state: State, rules: Rules, part: Part) -> Menu:
    """§2.2: Offer every cell and turn where the tile fits, or what a box allows with a tile that fits nowhere."""
    options = list_places(state, rules, part.tile)
    if not options:
        boxes = rules.hooks["offer_for_unfit_tile"]
        return tuple(entry for box in boxes if (entry := box.offer_for_unfit_tile(state, rules, part)))
    place = Choice("place", tuple(options), "2.2")
    return (place, *_offer_besides(state, rules, part))


def _offer_besides(state: State, rules: Rules, part: Part) -> list[MenuEntry]:
    """Return the moves that are possible besides placing the tile or a figure."""
    return [entry for box in rules.hooks["offer_besides"] if (entry := box.offer_besides(state, rules, part))]


def offer_instead_of_tile(state: State, rules: Rules, part: Part) -> list[MenuEntry]:
    """Return the moves that are possible instead of drawing a tile."""
    boxes = rules.hooks["offer_instead_of_tile"]
    return [entry for box in boxes if (entry := box.offer_instead_of_tile(state, rules, part))]


def _make_figure_menu(state: State, rules: Rules, part: Part) -> Menu:
    """§2.4: Offer every figure of the supply with every segment on which it can be placed, and the moves of boxes."""
    options = list_free_segments(state, rules, part)
    for box in rules.hooks["offer_figures"]:
        options += box.offer_figures(state, rules, state.turn, part)
    if rules.hooks["bars_figures"]:
        options = [(kind, token) for kind, token in options if not _is_token_barred(state, rules, part, token)]
    figures = (Choice("figure", tuple(options), "2.4"),) if options else ()
    instead, besides = _offer_instead_of_figure(state, rules, part), _offer_besides(state, rules, part)
    return (*figures, *instead, *besides, PASS)


def _is_token_barred(state: State, rules: Rules, part: Part, token: str) -> bool:
    """Whether a box keeps figures off the tile of a segment: the new tile, unless the token names another cell."""
    other_cell, _, _segment = token.rpartition("/")
    return is_barred(state, rules, other_cell or part.cell)


def _offer_instead_of_figure(state: State, rules: Rules, part: Part) -> list[MenuEntry]:
    """Return the moves that are possible instead of placing a figure."""
    boxes = rules.hooks["offer_instead_of_figure"]
    return [entry for box in boxes if (entry := box.offer_instead_of_figure(state, rules, state.turn, part))]


def _make_plain_figure_menu(state: State, rules: Rules, part: Part) -> Menu:
    """§2.4: Offer the figures of the supply where no box of the table offers anything else."""
    options = list_free_segments(state, rules, part)
    return (Choice("figure", tuple(options), "2.4"), PASS) if options else (PASS,)


@functools.cache
def list_menus(rules: Rules) -> dict[Step, Callable[[State, Rules, Part], Menu]]:
    """Return for each step of a part the function that makes its menu."""
    return {
        "draw": _make_draw_menu,
        "place": _make_place_menu,
        "figure": _make_figure_menu if has_hooks(rules, FIGURE_OFFERS) else _make_plain_figure_menu,
        "between": lambda state, rules, part: (),
        "score": lambda state, rules, part: (),
    }


def has_hooks(rules: Rules, names: Sequence[str]) -> bool:
    """Whether a box of the table overrides one of these hooks."""
    return any(rules.hooks[name] for name in names)
