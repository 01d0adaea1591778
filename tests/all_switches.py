"""All boxes of a game at once: its switches, as far as they go together."""

from typing import Any

from engine import game as games
from engine import options


def switch_all_on(game: Any, first: str = "", seats: int = 3) -> dict[str, bool]:
    """Switch everything on that goes together, beginning with `first`; what does not go with it stays off."""
    switches = [option.name for option in options.describe(game.META.options) if option.kind == "switch"]
    chosen = dict.fromkeys(switches, False)
    for name in (first, *switches) if first in chosen else switches:
        more = chosen | {name: True}
        if not games.objection(game, options.parse(game.META.options, more), seats):
            chosen = more
    return chosen
