"""The boxes that can be mixed into the base game, in the order in which they are mixed in."""

from __future__ import annotations

import functools

from engine.games.carcassonne import abbot, fairy, inns, messages, river, traders
from engine.games.carcassonne.expansion import Expansion, Rules, united, wanted
from engine.games.carcassonne.state import Options

BOXES: tuple[Expansion, ...] = (inns.BOX, traders.BOX, river.BOX, abbot.BOX, fairy.BOX, messages.BOX)


@functools.cache
def rules_of(options: Options) -> Rules:
    """The rules of a table with these options."""
    return united(wanted(options, BOXES))
