"""Edition 5: the fairy is beside a meeple again that comes back to the place where hers was."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games import carcassonne
from engine.games.carcassonne import *  # noqa: F403  # an older edition is the whole game but for what follows
from engine.games.carcassonne import rules
from engine.games.carcassonne.state import Options

META = replace(carcassonne.META, edition=5)


def setup(  # type: ignore[no-redef]  # in place of the newest one
    options: Options, seats: int, chance: Chance
) -> list[Struct]:
    return rules.setup(options, seats, chance, META.edition)
