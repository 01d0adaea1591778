"""The check of the channels beside mail by `depesche doctor`: whether the servers behind them answer from here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from engine.refusal import Refused
from service.commands.check_results import CheckResult, succeed, warn
from service.notify import webhooks
from service.safe_http import SafeClient
from service.settings import Settings
from service.store import Store
from service.store.schema import channels, table_hooks

CHECK = "channels"
TIMEOUT_S = 5.0
MEND = "let this machine reach it by https, or name a proxy with DEPESCHE_PROXY"


def check_channels(settings: Settings) -> Iterator[CheckResult]:
    """Ask the server of the newest channel of each kind for its first page; any answer is good."""
    url = settings.database_url
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
        return
    rows: Sequence[Any] = ()
    with closing(Store(url)) as store, suppress(OperationalError):  # the check of the database has said it
        rows = _list_newest(store)
    client = SafeClient(settings.proxy, timeout_s=TIMEOUT_S)
    for row in rows:
        host = urlsplit(webhooks.TELEGRAM if row.kind == "telegram" else row.address).netloc
        try:
            client.request("GET", f"https://{host}/")
        except Refused as refusal:
            yield warn(CHECK, f"notices by {row.kind}: {refusal}", MEND)
        else:
            yield succeed(CHECK, f"notices by {row.kind}: {host} answers")


def _list_newest(store: Store) -> Sequence[Any]:
    """Return kind and address of the newest channel and the newest chat of a table of each kind.

    Return none while the database waits for its migration.
    """
    if not store.is_current():
        return ()
    rows = list[Any]()
    with store.reading() as db:
        for one in (channels, table_hooks):
            newest = select(func.max(one.c.id)).where(one.c.disabled_at.is_(None)).group_by(one.c.kind)
            rows += db.execute(select(one.c.kind, one.c.address).where(one.c.id.in_(newest))).all()
    return list(dict.fromkeys(rows))
