"""The queue `hooks`: send the news of tables to the chats that follow them, at least once and in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import structlog
from sqlalchemy.exc import OperationalError

from service.app import App
from service.notify import table_hooks, webhooks
from service.notify.webhooks import HookMessage, HookOutcome, Target
from service.store.rows import TableHookRow
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
    empty_queue("hooks", send_batch, is_waiting)


def is_waiting(app: App) -> bool:
    """Return whether a chat has to get news."""
    with app.store.reading() as db:
        return bool(db.execute(table_hooks.select_due(app.now())).scalar_one())


def send_batch(app: App) -> StepResult:
    """Lease some chats that have to get news, and send it."""
    with app.store.writing() as db:
        hooks = table_hooks.lease(db, app.now(), app.settings.lease)
    if not hooks:
        return StepResult.NONE
    with ThreadPoolExecutor(len(hooks)) as pool:
        outcomes = list(pool.map(lambda hook: send(app, hook), hooks))
    with app.store.writing() as db:
        for hook, outcome in zip(hooks, outcomes, strict=True):
            if outcome.outcome == "sent":
                table_hooks.record_sent(db, hook, app.now())
            else:
                table_hooks.record_failure(db, hook, app.now(), outcome)
            app.metrics.count("deliveries", f"table {outcome.outcome}")
    return StepResult.SOME


def send(app: App, hook: TableHookRow) -> HookOutcome:
    """Send a chat the news of its table, if there is a sentence about it; an error holds up no other chat."""
    try:
        message = write(app, hook)
        if message is None:
            return HookOutcome("sent", 0, "")
        return webhooks.send(app, Target(hook.kind, hook.address, hook.secret), message)
    except OperationalError:
        raise
    except Exception as error:
        log.exception("news of a table not sent", table=hook.table)
        return HookOutcome("retry", 0, f"not sent: {type(error).__name__}")


def write(app: App, hook: TableHookRow) -> HookMessage | None:
    """Write what spectators may know of the entries that a chat has not got; None if there is no sentence."""
    end = hook.end_seq or 0  # the lease has set it
    with app.store.reading() as db:
        table = snapshots.load_table(app, db, hook.table)
        first = max(hook.next_seq, end - MAX_ENTRIES)
        entries = snapshots.load_game_entries(db, table.game, hook.table, first, end)
    narrator = Narrator(table.game, table.names, hook.language)
    chapters = narration.describe_entries(table.game, entries, narrator, None)
    if not chapters:
        return None
    text = " ".join(remove_place_marks(sentence) for chapter in chapters for sentence in chapter.sentences)
    link = f"{app.settings.address}/t/{app.links.make_watch_token(hook.table)}"
    return HookMessage(
        id=f"{hook.table}.{hook.next_seq}.{hook.id}",
        type="table",
        title=write_title(table, hook.language),
        sentence=text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…",
        url=link,
        at=chapters[-1].at,
        table=hook.table,
        game=table.row.game,
        picture=f"{link}/board.png?at={end - 1}&in={hook.language}" if hook.pictures and _has_board(table) else "",
    )


def write_title(table: Snapshot, language: str) -> str:
    """Return the game and its players."""
    title = translate_in_game(language, table.game.META.name, table.game.META.title)
    return f"{title}: {', '.join(name for name in table.names if name)}"


def _has_board(table: Snapshot) -> bool:
    return table.position.phase in ("playing", "over")
