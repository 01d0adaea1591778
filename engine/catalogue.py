"""The games there are: the folders under `engine/games`, and installed packages that the host allows by name."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import cast

from engine import games as own
from engine.game import Game
from engine.refusal import Refused

GROUP = "depesche.games"  # the entry points of packages that bring a game
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

_packages: dict[str, Game] = {}


class NotInstalled(Refused):
    """The game of a table in the book is not here, or not in that edition; its log can still be read."""


class BrokenPackage(Refused):
    """A package that the host allows and that brings no game; said in the terminal, to the host."""


@functools.cache
def games() -> dict[str, Game]:
    """All games by name, in alphabetical order."""
    return dict(sorted((_own() | _packages).items()))


@functools.cache
def _own() -> dict[str, Game]:
    names = (module.name for module in pkgutil.iter_modules(own.__path__) if module.ispkg)
    return {name: cast(Game, importlib.import_module(f"{own.__name__}.{name}")) for name in names}


def allow(names: Iterable[str]) -> None:
    """From now on these installed packages are games here: only a package that is named here runs its code.

    A name without a package is passed over, so that its tables can still be listed; `absent` tells.
    """
    new = set(names) - _packages.keys()
    for name, entry in installed().items() if new else ():
        if name in new:
            _packages[name] = _loaded(entry)
    games.cache_clear()


def absent(names: Iterable[str]) -> list[str]:
    """Which of these names have no game here."""
    return sorted(set(names) - games().keys())


def _loaded(entry: metadata.EntryPoint) -> Game:
    """The game of a package, if it is whole and its name is free."""
    try:
        found = entry.load()
        fits = NAME.fullmatch(entry.name) and found.META.name == entry.name and entry.name not in _own()
    except Exception as error:
        raise BrokenPackage(
            "The package of the game “{name}” cannot be loaded ({why}); mend it, or take its name out of the settings.",
            name=entry.name,
            why=f"{type(error).__name__}: {error}",
        ) from error
    if not fits:
        raise BrokenPackage(
            "The package of the game “{name}” has to bring a game of that very name, and one that no other game has.",
            name=entry.name,
        )
    return cast(Game, found)


def find(name: str, edition: int | None = None) -> Game:
    """The game of that name: its newest edition, or the one that a table was opened with."""
    if name not in games():
        raise _unknown(name) if edition is None else _not_installed(name)
    newest = games()[name]
    return newest if edition is None or edition == newest.META.edition else _older(newest, edition)


def _unknown(name: str) -> Refused:
    return Refused("There is no game “{name}”; the games are: {names}.", name=name, names=", ".join(games()))


def _not_installed(name: str) -> NotInstalled:
    return NotInstalled(
        "This table plays “{name}”, which is not installed here. Its log is whole; "
        "once the host installs the game and allows it, the table can be played on.",
        name=name,
    )


def title(name: str) -> str:
    """What the box says; of a game that is not installed, its name."""
    return games()[name].META.title if name in games() else name


def editions(name: str) -> tuple[Game, ...]:
    """All editions of a game, the first one first."""
    return tuple(find(name, number) for number in range(1, find(name).META.edition + 1))


@functools.cache
def _older(newest: Game, edition: int) -> Game:
    """An edition that new tables no longer begin with: the module `edition_1` in the game's folder, and so on."""
    if not 0 < edition < newest.META.edition:
        raise NotInstalled("There is no edition {edition} of {game} here.", edition=edition, game=newest.META.title)
    name = newest.META.name
    home = newest.__name__ if name in _packages else f"{own.__name__}.{name}"
    return cast(Game, importlib.import_module(f"{home}.edition_{edition}"))


def folder(name: str) -> Path:
    """Where this game is written: its book is there, and a package has its templates and catalogues there too."""
    return Path(games()[name].__file__).parent


def installed() -> dict[str, metadata.EntryPoint]:
    """The packages there are, whether or not they are allowed; none of their code has run for this."""
    return {entry.name: entry for entry in metadata.entry_points(group=GROUP)}


def home(name: str) -> Path:
    """The folder of an installed package, found without running its code."""
    found = importlib.util.find_spec(installed()[name].module)
    assert found
    assert found.origin
    return Path(found.origin).parent


def packages() -> dict[str, Path]:
    """The games that come from packages, and their folders."""
    return {name: folder(name) for name in sorted(_packages)}


def reload(name: str) -> None:
    """The game of a package as its files are now, for its author while he writes; raises what allowing it raises."""
    _packages.pop(name, None)
    for entry in metadata.entry_points(group=GROUP, name=name):
        for module in [module for module in sys.modules if f"{module}.".startswith(f"{entry.module}.")]:
            del sys.modules[module]
    importlib.invalidate_caches()
    games.cache_clear()
    _older.cache_clear()
    allow([name])
