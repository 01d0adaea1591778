"""What a seat could do after a move that is not made yet, so that two moves can be put together and sent in order."""

from __future__ import annotations

from typing import Any

from engine import chance as chances
from engine import game as games
from engine.chance import UnexpectedDraw
from engine.menu import Move
from engine.refusal import Refused
from service.tables.snapshots import Snapshot

ANY = b"nothing is drawn"  # luck for dealing anew what the seat cannot know


def foreseen(look: Snapshot, seat: int, text: str) -> Any:
    """The state after that move, as this seat imagines it; None where its turn ends or something is drawn."""
    if look.table.phase != "playing" or look.table.undo_request or not text.strip():
        return None
    game, chance = look.game, chances.make_rigged({})
    imagined = game.redeal(look.table.state, seat, chances.make_sealed(ANY, 0))
    try:
        state = games.play(game, imagined, seat, Move.parse(text), chance).state
    except (Refused, UnexpectedDraw):
        return None
    return None if chance.draws or not game.menu(state, seat) else state
