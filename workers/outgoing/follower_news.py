"""The queue `followers`: send the news of tables to the chats that follow them, at least once and in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import structlog
from sqlalchemy.exc import OperationalError

from service.app import App
from service.notify import followers, webhooks
from service.notify.webhooks import HookMessage, HookOutcome, Target
from service.store.rows import FollowerRow
from service.tables import snapshots
from service.tables.snapshots import Snapshot
from service.text import narration
from service.text.languages import remove_place_marks, translate_in_game
from service.text.narration import Narrator
from workers.jobs import StepResult, empty_queue

MAX_ENTRIES = 20  # in a message, the newest ones
MAX_CHARS = 1_500
log = structlog.get_logger()


def run() -> None:
    """Send news until none is due."""
    empty_queue("followers", send_batch, is_waiting)


def is_waiting(app: App) -> bool:
    """Return whether a chat has to get news."""
    with app.store.reading() as db:
        return bool(db.execute(followers.select_due(app.now())).scalar_one())


def send_batch(app: App) -> StepResult:
    """Lease some chats that have to get news, and send it."""
    with app.store.writing() as db:
        leased = followers.lease(db, app.now(), app.settings.lease)
    if not leased:
        return StepResult.NONE
    with ThreadPoolExecutor(len(leased)) as pool:
        outcomes = list(pool.map(lambda follower: send(app, follower), leased))
    with app.store.writing() as db:
        for follower, outcome in zip(leased, outcomes, strict=True):
            if outcome.outcome == "sent":
                followers.record_sent(db, follower, app.now())
            else:
                followers.record_failure(db, follower, app.now(), outcome)
            app.metrics.count("deliveries", f"table {outcome.outcome}")
    return StepResult.SOME


def send(app: App, follower: FollowerRow) -> HookOutcome:
    """Send a chat the news of its table, if there is a sentence about it; an error holds up no other chat."""
    try:
        message = write(app, follower)
        if message is None:
            return HookOutcome("sent", status=0, text="")  # there is nothing to send
        return webhooks.send(app, Target(follower.kind, follower.address, follower.secret), message)
    except OperationalError:
        raise
    except Exception as error:
        log.exception("news of a table not sent", table=follower.table)
        return HookOutcome("retry", status=0, text=f"not sent: {type(error).__name__}")


def write(app: App, follower: FollowerRow) -> HookMessage | None:
    """Write what spectators may know of the entries that a chat has not got; None if there is no sentence."""
    end = follower.end_seq or 0  # the lease has set it
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, follower.table)
        first = max(follower.next_seq, end - MAX_ENTRIES)
        entries = snapshots.load_game_entries(db, table.game, follower.table, first, end)
    narrator = Narrator(table.game, table.names, follower.language)
    chapters = narration.describe_entries(table.game, entries, narrator, seat=None)
    if not chapters:
        return None
    text = " ".join(remove_place_marks(sentence) for chapter in chapters for sentence in chapter.sentences)
    link = f"{app.settings.address}/t/{app.links.make_watch_token(follower.table)}"
    picture = f"{link}/board.png?at={end - 1}&in={follower.language}"
    return HookMessage(
        id=f"{follower.table}.{follower.next_seq}.{follower.id}",
        type="table",
        title=write_title(table, follower.language),
        sentence=text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…",
        url=link,
        at=chapters[-1].at,
        table=follower.table,
        game=table.row.game,
        picture=picture if follower.pictures and _has_board(table) else "",
    )


def write_title(table: Snapshot, language: str) -> str:
    """Return the game and its players."""
    title = translate_in_game(language, table.game.META.name, table.game.META.title)
    return f"{title}: {', '.join(name for name in table.names if name)}"


def _has_board(table: Snapshot) -> bool:
    return table.position.phase in ("playing", "over")
