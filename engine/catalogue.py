"""All games: the folders under `engine/games`, and installed packages that the host allows by name."""

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
from types import ModuleType
from typing import cast

from engine import games as games_folder
from engine.game import Game
from engine.refusal import Refused

GROUP = "depesche.games"  # the entry points of packages that bring a game
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

_packages: dict[str, Game] = {}


class NotInstalled(Refused):
    """The game of a stored table is not installed, or not in its edition; the log can still be read."""


class BrokenPackage(Refused):
    """A package that the host allows contains no usable game; the sentence is for the host, in the terminal."""


@functools.cache
def find_all() -> dict[str, Game]:
    """Return all games by name, in alphabetical order."""
    return dict(sorted((_find_built_in() | _packages).items()))


@functools.cache
def _find_built_in() -> dict[str, Game]:
    """Import the games in the folder `engine/games`."""
    names = (module.name for module in pkgutil.iter_modules(games_folder.__path__) if module.ispkg)
    return {name: cast(Game, importlib.import_module(f"{games_folder.__name__}.{name}")) for name in names}


def allow(names: Iterable[str]) -> None:
    """Load the games of these installed packages; no other package runs its code.

    A name without a package is skipped, so that its tables can still be listed; `find_missing` returns these names.
    """
    if new := set(names) - _packages.keys():
        _packages.update({name: _load(entry) for name, entry in find_installed().items() if name in new})
    _clear_caches()


def _clear_caches() -> None:
    """Forget which games there are; they are found again when they are asked for."""
    for cached in (find_all, find, find_board):
        cached.cache_clear()


def refuse_missing(names: Iterable[str]) -> None:
    """Raise Refused if there is no game of one of these names."""
    if missing := find_missing(names):
        raise Refused(
            "DEPESCHE_GAMES names {name}, but no installed package brings it; install it, or take the name out.",
            name=", ".join(missing),
        )


def find_missing(names: Iterable[str]) -> list[str]:
    """Return the names for which there is no game."""
    return sorted(set(names) - find_all().keys())


def _load(entry: metadata.EntryPoint) -> Game:
    """Load the game of a package; raise BrokenPackage if that fails, or if its name is wrong or in use."""
    try:
        game = entry.load()
        fits = NAME.fullmatch(entry.name) and game.META.name == entry.name and entry.name not in _find_built_in()
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
    return cast(Game, game)


@functools.cache
def find(name: str, edition: int | None = None) -> Game:
    """Return the game of that name in its newest edition, or in the edition that a table is played in.

    For an unknown name, raise Refused; with an edition, raise NotInstalled.
    """
    if name not in find_all():
        raise _explain_unknown(name) if edition is None else _explain_not_installed(name)
    newest = find_all()[name]
    return newest if edition is None or edition == newest.META.edition else _load_edition(newest, edition)


def _explain_unknown(name: str) -> Refused:
    """Return the refusal of a game that is not installed, or not allowed."""
    if name in find_installed():
        return Refused(
            "The game “{name}” is installed, but not allowed to run here: add it to DEPESCHE_GAMES, "
            "such as DEPESCHE_GAMES={name}.",
            name=name,
        )
    return Refused("There is no game “{name}”; the games are: {names}.", name=name, names=", ".join(find_all()))


def _explain_not_installed(name: str) -> NotInstalled:
    """Return the error about a table whose game was here once."""
    return NotInstalled(
        "This table plays “{name}”, which is not installed here. Its log is whole; "
        "once the host installs the game and allows it, the table can be played on.",
        name=name,
    )


def get_title(name: str) -> str:
    """Return the title on the box; for a game that is not installed, its name."""
    return find_all()[name].META.title if name in find_all() else name


def find_editions(name: str) -> tuple[Game, ...]:
    """Return all editions of a game, the first one first."""
    return tuple(find(name, number) for number in range(1, find(name).META.edition + 1))


@functools.cache
def find_board(game: Game) -> ModuleType | None:
    """Return the module `board` of a game, which all its editions share; None if the game has imported none."""
    return sys.modules.get(f"{getattr(game, '__package__', None)}.board")


@functools.cache
def _load_edition(newest: Game, edition: int) -> Game:
    """Return an earlier edition: what `make_edition` of the game makes, else its module `edition_1`, and so on."""
    if not 0 < edition < newest.META.edition:
        raise NotInstalled("There is no edition {edition} of {game} here.", edition=edition, game=newest.META.title)
    if make_edition := getattr(newest, "make_edition", None):
        return cast(Game, make_edition(edition))
    return cast(Game, importlib.import_module(f"{newest.__name__}.edition_{edition}"))


def get_folder(name: str) -> Path:
    """Return the folder of a game, with its book; that of a package also has its templates and catalogues."""
    return Path(find_all()[name].__file__).parent


def find_installed() -> dict[str, metadata.EntryPoint]:
    """Return all installed packages with a game, allowed or not, without running their code."""
    return {entry.name: entry for entry in metadata.entry_points(group=GROUP)}


def find_package_folder(name: str) -> Path:
    """Return the folder of an installed package, without running its code."""
    spec = importlib.util.find_spec(find_installed()[name].module)
    assert spec
    assert spec.origin
    return Path(spec.origin).parent


def get_package_folders() -> dict[str, Path]:
    """Return the folders of the games that come from packages."""
    return {name: get_folder(name) for name in sorted(_packages)}


def reload(name: str) -> None:
    """Load the game of a package again from its files, for its author; raise the same errors as `allow`."""
    _packages.pop(name, None)
    for entry in metadata.entry_points(group=GROUP, name=name):
        for module in _list_loaded_modules(entry.module):
            del sys.modules[module]  # so that `allow` imports it again
    importlib.invalidate_caches()
    _clear_caches()
    _load_edition.cache_clear()
    allow([name])


def _list_loaded_modules(package: str) -> list[str]:
    """Return the names of a package and of the modules in it, as far as they are loaded."""
    return [name for name in sys.modules if name == package or name.startswith(f"{package}.")]
