"""How a finished game ended: bars and a chart of the points, and its story in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from sqlalchemy import Connection

from engine.game import Standing
from engine.menu import Move
from engine.story import TurningPoint
from service.people import proof
from service.store.rows import SeatRow
from service.tables.access import Place
from service.tables.history import game_story
from service.tables.history.game_story import Mark, ScoringStep, load_score_history
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, list_players
from service.text.languages import format_signed, remove_place_marks
from service.text.narration import Narrator, list_places
from service.web.current_request import get_app, get_language
from service.web.menu_forms import describe_move
from service.web.rendering import join_names

TINTS = (
    "#3f74b5", "#d18f1f", "#4c9a5b", "#a8577f", "#7b6bb8", "#5aa9b5", "#b8613d", "#8a8a3a", "#6b7280", "#c2b280",
)  # fmt: skip
CHART_X, CHART_WIDTH, CHART_Y, CHART_HEIGHT = 8, 284, 12, 100  # of the lines in the drawing


class Share(Struct, frozen=True):
    """A part of a seat's bar: from `x` on, in percent of the longest bar."""

    x: float
    width: float
    colour: str


class SourceLine(Struct, frozen=True):
    """A source of points in words."""

    word: str
    points: int
    colour: str


class SeatResult(Struct, frozen=True):
    """A seat at the end: its rank, its points, and where they came from."""

    player: Player
    is_you: bool
    rank: int
    score: int
    shares: tuple[Share, ...]
    sources: tuple[SourceLine, ...]


class ScoreLine(Struct, frozen=True):
    """A player's line, and the height at which it ends."""

    player: Player
    path: str  # in SVG
    end: float


class LeadChange(Struct, frozen=True):
    """A point of the chart where the lead changed."""

    seq: int
    x: float
    y: float


class ScoreChart(Struct, frozen=True):
    """The history of the score."""

    most: int  # the highest score
    lines: tuple[ScoreLine, ...]
    lead_changes: tuple[LeadChange, ...]


class Gain(Struct, frozen=True):
    """The points that a player won or lost at once."""

    player: Player
    points: str


class CountedStep(Struct, frozen=True):
    """One step of the counting: what was counted, and which players gained."""

    seq: int
    sentence: str
    places: str  # on the board, with spaces between
    gains: tuple[Gain, ...]
    before: str  # the scores before it, in the order of seats, with spaces between
    after: str  # the scores after it


class FinalResult(Struct, frozen=True):
    """How a finished game ended."""

    seats: tuple[SeatResult, ...]
    counting: tuple[CountedStep, ...]
    chart: ScoreChart | None
    can_release: bool
    is_released: bool  # by the reader
    is_shown: bool  # in the gallery
    missing: str  # names of those who have not agreed
    unproven: str  # names of those who cannot agree, because their address is not proven
    name: str  # of the reader; empty for a spectator

    @property
    def is_won_by_reader(self) -> bool:
        """Whether the reader is among the winners."""
        return any(row.is_you and row.rank == 1 for row in self.seats)


def list_ranks(table: Snapshot) -> list[tuple[int, int]]:
    """Return the ranks of a finished game with their seats, the winner first."""
    return sorted((rank, seat) for seat, rank in enumerate(table.position.places))


def is_shown_in_gallery(table: Snapshot) -> bool:
    """Return whether all players of a finished game show it in the gallery.

    The seat of a deleted player agrees to that, but not alone: a player who was not deleted has to agree too.
    """
    if table.position.phase != "over":
        return False
    has_player_agreed = any(seat.released and seat.person is not None for seat in table.seats)
    return has_player_agreed and all(seat.released for seat in list_seats_to_ask(table))


def list_seats_to_ask(table: Snapshot) -> list[SeatRow]:
    """Return the seats of people, who have to agree to show a game."""
    return [seat for seat in table.seats if seat.status != "bot"]


def list_results(
    seated: Sequence[Player],
    standing: Sequence[Standing],
    sources: Sequence[Mapping[str, int]],
    ranks: Sequence[tuple[int, int]],
    me: int | None,
    label_source: Callable[[str], str],
) -> tuple[SeatResult, ...]:
    """Return the seats by rank; `me` is the reader's seat, None for a spectator.

    `sources` are each seat's points by source; all are empty if the game does not say where points come from.
    """
    gains = [sum(gained for gained in points.values() if gained > 0) for points in sources]  # without losses
    best = max(*(stand.score for stand in standing), *gains, 1)  # a whole bar; not 0, because lengths are divided by it
    all_sources = dict.fromkeys(source for points in sources for source in points)
    colours = {source: TINTS[number % len(TINTS)] for number, source in enumerate(all_sources)}
    has_sources = bool(all_sources)
    results = []
    for rank, seat in ranks:
        player = seated[seat]
        score = standing[seat].score
        if has_sources:
            points = {source: sources[seat].get(source, 0) for source in colours}
            shares = tuple(_stack_shares(points, colours, best))
            lines = tuple(
                SourceLine(label_source(source), gained, colours[source]) for source, gained in points.items() if gained
            )
        else:
            whole_bar = Share(x=0, width=max(round(100 * score / best, 1), 0), colour=player.colour)
            shares, lines = (whole_bar,), ()
        results.append(SeatResult(player, seat == me, rank, score, shares, lines))
    return tuple(results)


def _stack_shares(points: Mapping[str, int], colours: Mapping[str, str], best: int) -> Iterator[Share]:
    """Yield the shares of the sources in a bar, one after the other; a source that cost points has none."""
    points_so_far = 0
    for source, gained in points.items():
        if gained > 0:
            x, width = round(100 * points_so_far / best, 2), round(100 * gained / best, 2)
            yield Share(x, width, colours[source])
            points_so_far += gained


def draw_chart(seated: Sequence[Player], marks: Sequence[Mark], length: int) -> ScoreChart:
    """Draw a line for each player through the scores after each entry; `length` is that of the log."""
    last = max(length - 1, 1)
    most = max(*(score for mark in marks for score in mark.scores), 1)  # greater than the least in any case
    least = min(*(score for mark in marks for score in mark.scores), 0)

    def place_x(seq: int) -> float:
        return round(CHART_X + CHART_WIDTH * seq / last, 1)

    def place_y(score: int) -> float:
        return round(CHART_Y + CHART_HEIGHT - CHART_HEIGHT * (score - least) / (most - least), 1)

    def draw_line(seat: int) -> str:
        """Draw the line of a seat: level until an entry that changed the score, and there up or down."""
        first, *rest = marks
        steps = "".join(f"H{place_x(mark.seq)}V{place_y(mark.scores[seat])}" for mark in rest)
        return f"M{place_x(first.seq)} {place_y(first.scores[seat])}{steps}H{CHART_X + CHART_WIDTH}"

    lines = tuple(
        ScoreLine(player, draw_line(seat), place_y(marks[-1].scores[seat])) for seat, player in enumerate(seated)
    )
    lead_changes = tuple(
        LeadChange(mark.seq, place_x(mark.seq), place_y(max(mark.scores))) for mark in marks if mark.is_lead_change
    )
    return ScoreChart(most, lines, lead_changes)


def load_result(db: Connection, place: Place, table: Snapshot, narrator: Narrator) -> FinalResult:
    """Load how a finished game ended, for one reader."""
    seat = None if place.seat is None else table.seats[place.seat]
    seated, standing = list_players(table.names), table.game.standing(table.position.state)
    history = load_score_history(get_app(), db, table)
    not_agreed = [row for row in list_seats_to_ask(table) if not row.released]
    return FinalResult(
        seats=list_results(seated, standing, history.sources, list_ranks(table), place.seat, narrator.label_source),
        counting=tuple(_describe_step(step, seated, narrator) for step in history.steps),
        chart=draw_chart(seated, history.marks, table.row.length) if len(history.marks) > 1 else None,
        can_release=seat is not None and proof.find_holder(seat) is not None,
        is_released=seat is not None and seat.released,
        is_shown=is_shown_in_gallery(table),
        missing=join_names(row.name for row in not_agreed),
        unproven=join_names(row.name for row in not_agreed if not row.proven),
        name=seat.name if seat else "",
    )


def _describe_step(step: ScoringStep, seated: Sequence[Player], narrator: Narrator) -> CountedStep:
    """Describe a step of the counting, with the gains and losses that its sentence does not tell."""
    sentence = narrator.describe(step.event)
    gains = list[Gain]()
    for player, before, after in zip(seated, step.before, step.after, strict=True):
        if _is_news(after - before, sentence):
            gains.append(Gain(player, format_signed(after - before)))
    return CountedStep(
        seq=step.seq,
        sentence=sentence,
        places=" ".join(list_places([step.event])),
        gains=tuple(gains),
        before=" ".join(map(str, step.before)),
        after=" ".join(map(str, step.after)),
    )


def _is_news(points: int, sentence: str) -> bool:
    """Return whether a seat gained or lost points of which the sentence does not tell."""
    words = remove_place_marks(sentence)
    return points != 0 and str(abs(points)) not in re.findall(r"\b\d+\b", words)


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
    luck: str = ""  # of each player, in chances to win; empty if nothing was drawn


def load_story(db: Connection, table: Snapshot) -> StoryInWords | None:
    """Return the story of the game; None if the game does not have one."""
    if not game_story.has_story(table):
        return None
    requested = game_story.find_request(get_app(), db, table)
    if requested is None or requested.story is None:
        return StoryInWords(is_requested=requested is not None)
    narrator = Narrator(table.game, table.names, get_language())
    shares = zip(table.names, requested.story.luck, strict=False)  # no luck if nothing was drawn
    return StoryInWords(
        is_requested=True,
        is_ready=True,
        turning_points=tuple(_describe_point(table, point, narrator) for point in requested.story.turning_points),
        luck=", ".join(f"{name} {format_signed(round(100 * share))} %" for name, share in shares),
    )


def _describe_point(table: Snapshot, point: TurningPoint, narrator: Narrator) -> TurningPointInWords:
    """Describe a turning point: both moves in words, and how many percent better the better one was."""
    played = describe_move(Move.parse(point.played), narrator)
    better = describe_move(Move.parse(point.better), narrator)
    gain = f"{round(100 * point.gain)} %"
    return TurningPointInWords(table.names[point.seat], point.seq, played, better, gain)
