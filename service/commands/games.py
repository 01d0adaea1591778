"""`depesche games`: what can be played."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from service.commands.terminal import FINE, Parser, Subparsers, add_command, add_json, print_json

if TYPE_CHECKING:
    from engine.game import Game, Meta
    from engine.options import Option

MAX_LINE_CHARS = 100


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `games`."""
    parser = add_command(
        subparsers,
        "games",
        print_games,
        "List the games with their seats and options.",
        "depesche games",
        "depesche games --json",
    )
    add_json(parser)


def print_games(args: Namespace) -> int:
    """Print all games, as text or as JSON."""
    from engine import catalogue

    all_games = catalogue.find_all().values()
    if args.json:
        print_json([describe_game(game) for game in all_games])
    else:
        print("\n\n".join("\n".join(_format_game(game)) for game in all_games))
    return FINE


def describe_game(game: Game) -> dict[str, Any]:
    """Return a game as the JSON that the command prints."""
    from engine import options

    meta = game.META
    return {
        "name": meta.name,
        "title": meta.title,
        "seats": meta.seats,
        "options": [_describe_option(option) for option in options.describe(meta.options)],
        "stage": meta.stage,
        "edition": meta.edition,
        "designer": meta.designer,
        "publisher": meta.publisher,
        "year": meta.year,
        "minutes": meta.minutes,
        "about": _join_about(meta),
    }


def _describe_option(option: Option) -> dict[str, Any]:
    """Return an option as JSON; its values are of the type of its default: true and false, numbers or words."""
    values: tuple[Any, ...] = option.values
    if option.kind == "switch":
        values = (True, False)
    if option.kind == "number":
        values = tuple(map(int, option.values))
    return {
        "name": option.name,
        "kind": option.kind,
        "default": option.default,
        "values": values,
        "about": option.about,
    }


def _format_game(game: Game) -> Iterator[str]:
    """Yield the lines about a game: its box, its players and its options."""
    from engine import options

    meta = game.META
    yield f"{meta.name}: {meta.title}"
    yield f"  {_join_with_or(meta.seats)} players, about {meta.minutes} minutes"
    yield f"  by {meta.designer} ({meta.publisher}, {meta.year}); {meta.stage}, edition {meta.edition}"
    yield from textwrap.wrap(_join_about(meta), MAX_LINE_CHARS, initial_indent="  ", subsequent_indent="  ")
    for option in options.describe(meta.options):
        yield f"  --option {option.name}={_format_range(option)} ({options.format_value(option.default)} unless chosen)"
        yield from textwrap.wrap(option.about, MAX_LINE_CHARS, initial_indent="      ", subsequent_indent="      ")


def _join_about(meta: Meta) -> str:
    return " ".join((meta.about, *meta.about_options.values()))


def _join_with_or(numbers: tuple[int, ...]) -> str:
    """Join numbers as in “2, 3 or 4”."""
    *first, last = map(str, numbers)
    return f"{', '.join(first)} or {last}" if first else last


def _format_range(option: Option) -> str:
    return f"{option.least}..{option.most}" if option.kind == "number" else "|".join(option.values)
