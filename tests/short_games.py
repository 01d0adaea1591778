"""Short finished games that tests play again: one seat in a browser, the other one without pages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from engine.log import ExportedEntry
from tests import apps
from tests.golden.make import load
from tests.services import ENTRIES_BEFORE_MOVES, RunningService

PLAYER, OTHER = 0, 1


class ShortGame:
    """A game of the golden log `short`, from its first move on; its player has a browser."""

    def __init__(self, service: RunningService, game: str) -> None:
        self._service, export = service, load(game, "short")
        opened = service.start_like(export)
        self._table, self._links, self._entries = opened.table, opened.links, export.entries
        self.path = f"/t/{self._links[PLAYER]}"
        assert self.length == ENTRIES_BEFORE_MOVES

    @property
    def length(self) -> int:
        return apps.load_table(self._service.app, self._table).row.length

    def is_over(self) -> bool:
        return apps.load_table(self._service.app, self._table).position.phase == "over"

    def _list_turn(self, seat: int) -> Iterator[ExportedEntry]:
        return takewhile(lambda exported: exported.entry["seat"] == seat, self._entries[self.length :])

    def list_moves(self) -> list[str]:
        """Return the next move of the player, and the one after it of another kind, which may be sent together."""
        moves = [exported.entry["move"] for exported in self._list_turn(PLAYER)]
        return moves[: 2 if len({move.split()[0] for move in moves[:2]}) > 1 else 1]

    def play_other(self) -> int:
        """Make the moves of the other seat until the player moves; return how many."""
        turn = list(self._list_turn(OTHER))
        for exported in turn:
            self._service.submit(self._links[OTHER], exported.entry["move"])
        return len(turn)
