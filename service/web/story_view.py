"""The story of a finished game in words: where it turned, and whom chance favoured."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import Connection

from engine.menu import Move
from engine.story import TurningPoint
from service.tables.history import game_story
from service.tables.snapshots import Snapshot
from service.text.narration import Narrator
from service.web.menu_forms import describe_move
from service.web.rendering import get_app, get_language


class TurningPointInWords(Struct, frozen=True):
    """A move that cost a player much, and the better one."""

    player: str
    seq: int
    played: str
    better: str
    gain: str


class StoryInWords(Struct, frozen=True):
    """The story of a game: its turning points and its luck; not ready until a bot has gone through the game."""

    is_requested: bool
    is_ready: bool = False
    turning_points: tuple[TurningPointInWords, ...] = ()
    luck: str = ""


def load_story(db: Connection, table: Snapshot) -> StoryInWords | None:
    """Return the story of the game; None if the game does not have one."""
    if not game_story.has_story(table):
        return None
    requested = game_story.find(get_app(), db, table)
    if requested is None or requested.story is None:
        return StoryInWords(requested is not None)
    narrator = Narrator(table.game, table.names, get_language())
    shares = zip(table.names, requested.story.luck, strict=False)
    return StoryInWords(
        is_requested=True,
        is_ready=True,
        turning_points=tuple(_describe_point(table, point, narrator) for point in requested.story.turning_points),
        luck=", ".join(f"{name} {round(100 * share):+d} %".replace("-", "−") for name, share in shares),
    )


def _describe_point(table: Snapshot, point: TurningPoint, narrator: Narrator) -> TurningPointInWords:
    played, better = (describe_move(Move.parse(move), narrator) for move in (point.played, point.better))
    gain = f"{round(100 * point.gain)} %"
    return TurningPointInWords(table.names[point.seat], point.seq, played, better, gain)
