"""The players on the page of a table: whose turn it is, the scores, and what is known about each seat."""

from __future__ import annotations

from msgspec import Struct

from service import timing
from service.store.rows import SeatRow
from service.tables import presence
from service.tables.access import Place
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, Stage, list_players
from service.timing import Calendar
from service.web.rendering import get_app


class PlayerLine(Struct, frozen=True):
    """A player, the score, and what is to be known about the seat."""

    player: Player
    is_you: bool
    score: int
    mat: str
    is_to_move: bool
    due_at: int | None
    is_bot: bool
    level: str  # of a bot: easy, strong, or empty for normal
    has_resigned: bool
    away: tuple[str, str] | None  # the first and last day of a vacation
    is_out: bool
    bounces: bool  # whether letters come back
    seen_ago: int | None  # seconds since the player was here; None if the reader may not know it

    @property
    def is_here(self) -> bool:
        """Whether the player is at the table now, or was minutes ago."""
        return self.seen_ago is not None and self.seen_ago < presence.HERE_S


def _find_seen_ago(place: Place, table: Snapshot, row: SeatRow) -> int | None:
    """How long ago another player was here, for the players of a running game."""
    may_know = place.seat is not None and row.seat != place.seat and table.position.phase != "over"
    return presence.find_age(get_app(), row) if may_know else None


def list_player_lines(place: Place, table: Snapshot, stage: Stage) -> tuple[PlayerLine, ...]:
    """List the players of a table with their scores, in the order of the seats."""
    standing = table.game.standing(table.position.state)
    today = timing.find_local_date(Calendar(), get_app().now()).isoformat()
    return tuple(
        PlayerLine(
            player=player,
            is_you=row.seat == place.seat,
            score=stand.score,
            mat=stage.mats[row.seat],
            is_to_move=row.open_since is not None and table.position.phase != "over",
            due_at=row.due_at if row.open_since is not None else None,
            is_bot=row.status == "bot",
            level=row.level,
            has_resigned=row.status == "resigned",
            away=next((span for span in table.position.seats[row.seat].vacations if span[1] >= today), None),
            is_out=bool(stand.out),
            bounces=row.bounced_at is not None,
            seen_ago=_find_seen_ago(place, table, row),
        )
        for player, row, stand in zip(list_players(table.names), table.seats, standing, strict=True)
    )
