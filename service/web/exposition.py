"""The metrics in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from service.app import App
from service.monitoring import BUCKETS_S, METRICS, Metric
from service.store.schema import letters, people, submissions, tables

CONTENT_TYPE = CONTENT_TYPE_LATEST
PREFIX = "depesche_"


def generate(app: App) -> bytes:
    """Return the metrics of all processes as text."""
    registry = CollectorRegistry()
    registry.register(AppCollector(app))
    return generate_latest(registry)


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
