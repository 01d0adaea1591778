"""Edition 1: an abbot who comes home brings the fairy's points too; a message without a target can only be traded.

It has what the editions after it still had, too; `editions.py` lists what each of them decides.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games import carcassonne
from engine.games.carcassonne import *  # noqa: F403  # an older edition is the whole game but for what follows
from engine.games.carcassonne import rules
from engine.games.carcassonne.state import Options

META = replace(carcassonne.META, edition=1)


def setup(  # type: ignore[no-redef]  # in place of the newest one
    options: Options, seats: int, chance: Chance
) -> list[Struct]:
    return rules.setup(options, seats, chance, META.edition)
