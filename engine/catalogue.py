"""The games there are: every folder under `engine/games` whose module fulfils the contract."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import cast

from engine import games as shelf
from engine.game import Game
from engine.refusal import Refused


@functools.cache
def games() -> dict[str, Game]:
    """All games by name, in alphabetical order."""
    names = sorted(module.name for module in pkgutil.iter_modules(shelf.__path__) if module.ispkg)
    return {name: cast(Game, importlib.import_module(f"{shelf.__name__}.{name}")) for name in names}


def find(name: str, edition: int | None = None) -> Game:
    """The game of that name: its newest edition, or the one that a table was opened with."""
    if name not in games():
        raise Refused("There is no game “{name}”; the games are: {names}.", name=name, names=", ".join(games()))
    newest = games()[name]
    return newest if edition is None or edition == newest.META.edition else _older(newest, edition)


def editions(name: str) -> tuple[Game, ...]:
    """All editions of a game, the first one first."""
    return tuple(find(name, number) for number in range(1, find(name).META.edition + 1))


@functools.cache
def _older(newest: Game, edition: int) -> Game:
    """An edition that new tables no longer begin with: the module `edition_1` in the game's folder, and so on."""
    folder = f"{shelf.__name__}.{newest.META.name}"
    if not 0 < edition < newest.META.edition:
        raise Refused("There is no edition {edition} of {game} here.", edition=edition, game=newest.META.title)
    return cast(Game, importlib.import_module(f"{folder}.edition_{edition}"))
