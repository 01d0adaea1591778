"""The look back at a game in its last letter: charts of scores and chances, and the moves that changed the game."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from engine.story import Story, TurningPoint
from service.tables.history import game_story
from service.tables.history.game_story import load_score_history
from service.text.drawing import Player, list_players
from service.text.languages import format_signed
from service.text.templates import get_environment
from workers import process_pool
from workers.outgoing import letter_parts
from workers.outgoing.letter import ChartRow, ChartSection, LetterPicture, Review
from workers.outgoing.letter_parts import TableDraft

BAR_CHARACTERS = "▁▂▃▄▅▆▇█"
BARS_PER_ROW = 24
QUARTERS = 4
CHART_LEFT, CHART_RIGHT, CHART_TOP, MIN_CHART_BOTTOM = 12, 540, 36, 200
NAME_HEIGHT = 34


def build_review(draft: TableDraft) -> Review:
    """Return the look back at a game; of one without a story, as after giving up, only the seed."""
    snapshot, _ = draft.snapshot, draft.translator.gettext
    seed = snapshot.row.seed.hex() if snapshot.position.phase == "over" else ""
    if not game_story.has_story(snapshot):
        return Review(seed)
    story = game_story.load_or_compute(draft.app, snapshot, process_pool.run)
    return Review(
        seed=seed,
        scores=build_chart(draft, "scores", _("How the scores went:"), chart_scores(draft)),
        chances=build_chart(draft, "chances", _("How the chances went, as a bot sees them:"), chart_chances(story)),
        turning_points=tuple(write_turning_point(draft, point) for point in story.turning_points),
        chance_balance=write_chance_balance(draft, story),
    )


def chart_scores(draft: TableDraft) -> Chart | None:
    """Return the scores over the game; None if they never changed."""
    with draft.app.store.reading() as db:
        marks = load_score_history(draft.app, db, draft.snapshot).marks
    if len(marks) < 2:
        return None
    scores = [score for mark in marks for score in mark.scores]
    points = tuple((mark.seq, mark.scores) for mark in marks)
    return Chart(points, least=min(0, *scores), most=max(1, *scores))


def chart_chances(story: Story) -> Chart | None:
    """Return the chances to win over the game, in per cent; None if there are fewer than two."""
    if len(story.chance_history) < 2:
        return None
    shares = (tuple(100 * share for share in point.shares) for point in story.chance_history)
    points = tuple(enumerate(shares))  # each a step after the one before
    return Chart(points, least=0, most=100, unit=" %")


def build_chart(draft: TableDraft, name: str, heading: str, chart: Chart | None) -> ChartSection | None:
    """Return a chart as bars and, unless the letter is plain, as a picture."""
    if chart is None:
        return None
    colon = draft.translator.colon
    shown = list_players(draft.snapshot.names)
    picture = None
    if not draft.request.plain:
        alt = "; ".join(f"{player.name}{colon} {chart.write_quarters(seat)}" for seat, player in enumerate(shown))
        picture = LetterPicture(name, letter_parts.make_cid(draft, name), chart.draw(shown), alt)
    rows = tuple(ChartRow(chart.draw_bars(seat), player.name) for seat, player in enumerate(shown))
    return ChartSection(heading.removesuffix(colon), rows, picture)  # only the text writes the colon


def write_turning_point(draft: TableDraft, point: TurningPoint) -> str:
    """Return the sentence about a move that changed the game."""
    return draft.translator.gettext(
        "%(who)s, entry %(at)s: instead of “%(played)s”, “%(better)s” was the better move by %(gain)s.",
        who=draft.snapshot.names[point.seat],
        at=point.seq,
        played=draft.writer.write_phrase(point.played),
        better=draft.writer.write_phrase(point.better),
        gain=f"{round(100 * point.gain)}\N{NO-BREAK SPACE}%",
    )


def write_chance_balance(draft: TableDraft, story: Story) -> str:
    """Return how much each player won or lost by draws; empty if nothing was drawn."""
    if not story.luck:
        return ""
    shares = [
        f"{name} {format_signed(round(100 * share))}\N{NO-BREAK SPACE}%"
        for name, share in zip(draft.snapshot.names, story.luck, strict=True)
    ]
    heading = draft.translator.gettext("Luck, in chances won by draws that could have gone otherwise:")
    return f"{heading} {', '.join(shares)}"


class ChartLine(Struct, frozen=True):
    """A player's line in a chart: its path, and how far down it ends and the player's name is."""

    player: Player
    path: str
    end_y: float
    name_y: float


class ChartDrawing(Struct, frozen=True):
    """A chart as its template draws it: the highest number, the lines, and the box around them."""

    highest: str
    lines: tuple[ChartLine, ...]
    bottom: float
    left: float = CHART_LEFT
    right: float = CHART_RIGHT
    top: float = CHART_TOP


class Chart(Struct, frozen=True):
    """One number of each player over a game, between two bounds.

    Each point is the step of the game from which on its numbers held, and the numbers by seat.
    """

    points: tuple[tuple[int, tuple[float, ...]], ...]
    least: float
    most: float
    unit: str = ""

    def draw_bars(self, seat: int) -> str:
        """Return one player's numbers as a row of small bars."""
        highest_bar = len(BAR_CHARACTERS) - 1
        shares = [self._find_share(numbers[seat]) for numbers in self._sample(BARS_PER_ROW)]
        return "".join(BAR_CHARACTERS[round(highest_bar * share)] for share in shares)

    def write_quarters(self, seat: int) -> str:
        """Return one player's numbers after each quarter of the game, in place of the picture."""
        return " → ".join(f"{numbers[seat]:.0f}{self.unit}" for numbers in self._sample(QUARTERS))

    def draw(self, players: Sequence[Player]) -> str:
        """Draw a line for each player, with the name where it ends."""
        bottom = max(MIN_CHART_BOTTOM, CHART_TOP + NAME_HEIGHT * (len(players) - 1))
        width = CHART_RIGHT - CHART_LEFT
        last_step, _numbers = self.points[-1]
        across = [round(CHART_LEFT + width * step / last_step, 1) for step, _numbers in self.points]
        heights_by_seat = [
            [self._find_height(numbers[seat], bottom) for _step, numbers in self.points] for seat in range(len(players))
        ]
        name_heights = _spread([heights[-1] for heights in heights_by_seat], bottom)
        lines = tuple(
            ChartLine(player, _make_path(across, heights), end_y=heights[-1], name_y=name_height)
            for player, heights, name_height in zip(players, heights_by_seat, name_heights, strict=True)
        )
        drawing = ChartDrawing(f"{int(self.most)}{self.unit}", lines, bottom)
        return get_environment().get_template("mail/chart.svg").render(chart=drawing)

    def _find_height(self, number: float, bottom: float) -> float:
        """Return how far down a number is drawn."""
        return round(bottom - (bottom - CHART_TOP) * self._find_share(number), 1)

    def _find_share(self, number: float) -> float:
        """Return where a number is between the bounds, from 0 to 1."""
        return (number - self.least) / (self.most - self.least)

    def _sample(self, parts: int) -> list[tuple[float, ...]]:
        """Return the numbers after each of `parts` equal parts of the game."""
        last_step, _numbers = self.points[-1]
        return [self._find_numbers(last_step * part // parts) for part in range(1, parts + 1)]

    def _find_numbers(self, end: int) -> tuple[float, ...]:
        """Return the latest numbers up to this step of the game; the first ones if it is before the first point."""
        _step, latest = self.points[0]
        for step, numbers in self.points:
            if step <= end:
                latest = numbers
        return latest


def _make_path(across: Sequence[float], heights: Sequence[float]) -> str:
    """Return the path of a line that goes in steps, to the right edge of the chart."""
    steps = "".join(f"H{x}V{y}" for x, y in zip(across[1:], heights[1:], strict=True))
    return f"M{across[0]} {heights[0]}{steps}H{CHART_RIGHT}"


def _spread(heights: list[float], bottom: float) -> list[float]:
    """Move the heights of names apart where they would overlap, none below the bottom."""
    spread = list(heights)
    order = sorted(range(len(heights)), key=lambda seat: heights[seat])  # the seats, the highest name first
    for above, seat in pairwise(order):  # down, away from the name above
        spread[seat] = max(spread[seat], spread[above] + NAME_HEIGHT)
    lowest = bottom
    for seat in reversed(order):  # up again, where the last ones are too low by now
        spread[seat] = min(spread[seat], lowest)
        lowest = spread[seat] - NAME_HEIGHT
    return spread
