"""The look back at a game in its last letter: how scores and chances went, and the moves that changed the game."""

from __future__ import annotations

from engine.story import Story, TurningPoint
from service.tables.history import game_story
from service.tables.history.game_story import load_score_history
from service.text.drawing import list_players
from workers import process_pool
from workers.outgoing import letter_parts
from workers.outgoing.letter import ChartRow, ChartSection, LetterPicture, Review
from workers.outgoing.letter_parts import TableDraft
from workers.outgoing.pictures import Chart


def build_review(draft: TableDraft) -> Review:
    """Return the look back at a game. It tells no story of a game that was given up."""
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
    return Chart(tuple((mark.seq, mark.scores) for mark in marks), min(0, *scores), max(1, *scores))


def chart_chances(story: Story) -> Chart | None:
    """Return the chances to win over the game, in per cent; None if there are fewer than two."""
    if len(story.chance_history) < 2:
        return None
    shares = (tuple(100 * share for share in point.shares) for point in story.chance_history)
    return Chart(tuple(enumerate(shares)), 0, 100, " %")


def build_chart(draft: TableDraft, name: str, heading: str, chart: Chart | None) -> ChartSection | None:
    """Return a chart as bars and, unless the letter is plain, as a picture."""
    if chart is None:
        return None
    colon, shown = draft.translator.colon, list_players(draft.snapshot.names)
    picture = None
    if not draft.request.plain:
        alt = "; ".join(f"{player.name}{colon} {chart.write_quarters(seat)}" for seat, player in enumerate(shown))
        picture = LetterPicture(name, letter_parts.make_cid(draft, name), chart.draw(shown), alt)
    rows = tuple(ChartRow(chart.draw_bars(seat), player.name) for seat, player in enumerate(shown))
    return ChartSection(heading.removesuffix(colon), rows, picture)


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
    shares = [
        f"{name} {round(100 * share):+d}\N{NO-BREAK SPACE}%".replace("-", "−")
        for name, share in zip(draft.snapshot.names, story.luck, strict=False)
    ]
    if not shares:
        return ""
    heading = draft.translator.gettext("Luck, in chances won by draws that could have gone otherwise:")
    return f"{heading} {', '.join(shares)}"
