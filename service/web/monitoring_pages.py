"""Health checks, and metrics for Prometheus: what the processes count together, and what waits in the database."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import structlog
from flask import Blueprint, Response, abort, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from redis import RedisError
from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from service.app import App
from service.links import is_same
from service.monitoring import BUCKETS_S, METRICS, Metric
from service.settings import EMBEDDED
from service.store.schema import letters, people, server_facts, submissions, tables
from service.web.rendering import get_app, is_local_visitor

monitoring = Blueprint("monitoring", __name__)
MIN_FREE_BYTES = 16 * 2**20
PREFIX = "depesche_"
log = structlog.get_logger()


@monitoring.get("/healthz")
def health() -> tuple[Response, int]:
    """Answer 200 while the database can be written; say what waits, and whether Redis answers."""
    app = get_app()
    report: dict[str, Any] = {"redis": _check_redis(app), "database": _can_write(app)}
    if report["database"]:
        report |= _count_waiting(app)
    return jsonify(report), 200 if report["database"] else 503


@monitoring.get("/readyz")
def ready() -> tuple[Response, int]:
    """Answer 200 while this process can serve pages: its schema is the newest, and Redis answers."""
    app = get_app()
    try:
        report: dict[str, Any] = {"database": app.store.is_current(), "redis": _check_redis(app)}
    except SQLAlchemyError:
        report = {"database": False, "redis": _check_redis(app)}
    return jsonify(report), 200 if all(report.values()) else 503


def _can_write(app: App) -> bool:
    """Write a row, so that a full disk is noticed before a player has trouble."""
    if app.store.url.startswith("sqlite:///") and shutil.disk_usage(app.settings.folder).free < MIN_FREE_BYTES:
        return False
    try:
        with app.store.writing(durable=False) as db:
            db.execute(delete(server_facts).where(server_facts.c.name == "health"))
            db.execute(insert(server_facts), {"name": "health", "value": str(app.now())})
    except IntegrityError:
        return True  # another check wrote at the same moment, so the database can be written
    except SQLAlchemyError as error:
        log.warning("database takes nothing", error=str(error.args[0]).partition("\n")[0])
        return False
    return True


def _check_redis(app: App) -> bool | str:
    """Return whether the shared Redis answers; one inside this process is reported as embedded."""
    if app.settings.redis == EMBEDDED:
        return EMBEDDED
    try:
        return bool(app.redis.ping())
    except RedisError:
        return False


def _count_waiting(app: App) -> dict[str, int]:
    counts: dict[str, Any] = {
        "tables": select(func.count()).select_from(tables),
        "submissions_waiting": select(func.count()).where(submissions.c.accepted.is_(None)),
        "letters_owed": select(func.count()).where(letters.c.sent_at.is_(None)),
    }
    with app.store.reading() as db:
        return {name: int(db.execute(count).scalar_one()) for name, count in counts.items()}


@monitoring.get("/metrics")
def metrics() -> Response:
    """Send the metrics to this machine, or to a program with the host's token; others get 404."""
    if not (is_local_visitor() or _has_token(get_app().settings.metrics)):
        abort(404)
    registry = CollectorRegistry()
    registry.register(AppCollector(get_app()))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _has_token(token: str) -> bool:
    return bool(token) and is_same(request.headers.get("Authorization", ""), f"Bearer {token}")


class AppCollector(Collector):
    """Collects all metrics, read from Redis and the database each time."""

    def __init__(self, app: App) -> None:
        self.app = app

    def collect(self) -> Iterator[Any]:
        sums = self.app.metrics.load()
        for name, metric in METRICS.items():
            own = _group_by_label(name, sums)
            yield _make_histogram(name, metric, own) if metric.timed else _make_counter(name, metric, own)
        yield from _make_gauges(self.app)


def _group_by_label(name: str, sums: dict[str, int]) -> dict[str, dict[str, int]]:
    """Return the sums of one metric, label by label."""
    own: dict[str, dict[str, int]] = {}
    for field, number in sorted(sums.items()):
        metric, label, part = field.split("|")
        if metric == name:
            own.setdefault(label, {})[part] = number
    return own


def _make_counter(name: str, metric: Metric, own: dict[str, dict[str, int]]) -> CounterMetricFamily:
    family = CounterMetricFamily(PREFIX + name, metric.about, labels=[metric.label])
    for label, sums in own.items():
        family.add_metric([label], sums["count"])
    return family


def _make_histogram(name: str, metric: Metric, own: dict[str, dict[str, int]]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(PREFIX + name, metric.about, labels=[metric.label])
    for label, sums in own.items():
        within = accumulate(sums.get(str(step), 0) for step in BUCKETS_S)
        steps = [(str(step), float(number)) for step, number in zip(BUCKETS_S, within, strict=True)]
        family.add_metric([label], [*steps, ("+Inf", sums["count"])], sums["microseconds"] / 1e6)
    return family


def _make_gauges(app: App) -> Iterator[GaugeMetricFamily]:
    """Yield how much waits in the database, and since when."""
    unjudged, unsent = submissions.c.accepted.is_(None), letters.c.sent_at.is_(None)
    due = (unsent, letters.c.due_at <= app.now())
    gauges = {
        "submissions_waiting": ("Submissions without a verdict", select(func.count()).where(unjudged)),
        "submissions_oldest": ("When the oldest of them came", select(func.min(submissions.c.at)).where(unjudged)),
        "letters_owed": ("Letters that are due and not sent", select(func.count()).where(*due)),
        "letters_oldest": ("When the oldest of them was due", select(func.min(letters.c.due_at)).where(*due)),
        "addresses_bounced": (
            "Addresses that take no letters",
            select(func.count()).where(people.c.bounced_at.is_not(None)),
        ),
    }
    with app.store.reading() as db:
        for name, (about, query) in gauges.items():
            value = db.execute(query).scalar_one()
            if name.endswith("_oldest"):
                name, about, value = f"{name}_seconds", f"{about}, in seconds ago", app.now() - (value or app.now())
            yield GaugeMetricFamily(PREFIX + name, about, value=float(value))
        phases = db.execute(select(tables.c.phase, func.count()).group_by(tables.c.phase)).all()
    by_phase = GaugeMetricFamily(PREFIX + "tables", "Tables", labels=["phase"])
    for phase, number in phases:
        by_phase.add_metric([phase], number)
    yield by_phase
