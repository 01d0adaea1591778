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


def find(name: str) -> Game:
    """The game of that name."""
    if name not in games():
        raise Refused("There is no game “{name}”; the games are: {names}.", name=name, names=", ".join(games()))
    return games()[name]
