"""The metrics in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import Column, ColumnElement, Connection, func, select

from service.app import App
from service.monitoring import BUCKETS_S, METRICS, Metric
from service.store.schema import letters, people, submissions, tables

CONTENT_TYPE = CONTENT_TYPE_LATEST
PREFIX = "depesche_"
MICROSECONDS_PER_S = 1_000_000


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
        """Yield the counters and timers from Redis, and then what the database says."""
        sums = self.app.metrics.load()
        for name, metric in METRICS.items():
            by_label = _group_by_label(name, sums)
            if metric.timed:
                yield _make_histogram(name, metric, by_label)
            else:
                yield _make_counter(name, metric, by_label)
        yield from _make_gauges(self.app)


def _group_by_label(name: str, sums: dict[str, int]) -> dict[str, dict[str, int]]:
    """Return the sums of one metric, by label and part: the count, and of a timer also `microseconds` and buckets.

    The keys of `sums` are “metric|label|part”.
    """
    by_label: dict[str, dict[str, int]] = {}
    for key, number in sorted(sums.items()):  # Redis gives them in any order
        metric, label, part = key.split("|")
        if metric == name:
            by_label.setdefault(label, {})[part] = number
    return by_label


def _make_counter(name: str, metric: Metric, by_label: dict[str, dict[str, int]]) -> CounterMetricFamily:
    """Make a counter with one number for each label."""
    family = CounterMetricFamily(PREFIX + name, metric.about, labels=[metric.label])
    for label, sums in by_label.items():
        family.add_metric([label], sums["count"])
    return family


def _make_histogram(name: str, metric: Metric, by_label: dict[str, dict[str, int]]) -> HistogramMetricFamily:
    """Make the histogram of a timer; for Prometheus, each bucket also has the durations of all buckets before it."""
    family = HistogramMetricFamily(PREFIX + name, metric.about, labels=[metric.label])
    for label, sums in by_label.items():
        buckets = list[tuple[str, float]]()
        count_so_far = 0
        for most_seconds in map(str, BUCKETS_S):
            count_so_far += sums.get(most_seconds, 0)
            buckets.append((most_seconds, float(count_so_far)))
        buckets.append(("+Inf", sums["count"]))
        family.add_metric([label], buckets, sums["microseconds"] / MICROSECONDS_PER_S)
    return family


def _make_gauges(app: App) -> Iterator[GaugeMetricFamily]:
    """Yield what the database says: what waits and since when, addresses that bounced, and tables by phase."""
    unjudged = submissions.c.accepted.is_(None)
    due = letters.c.sent_at.is_(None) & (letters.c.due_at <= app.now())
    bounced = people.c.bounced_at.is_not(None)
    with app.store.reading() as db:
        oldest_submission_s = _find_age(db, app, submissions.c.at, unjudged)
        oldest_letter_s = _find_age(db, app, letters.c.due_at, due)
        yield _make_gauge("submissions_waiting", "Submissions without a verdict", _count(db, unjudged))
        about = "When the oldest of them came, in seconds ago"
        yield _make_gauge("submissions_oldest_seconds", about, oldest_submission_s)
        yield _make_gauge("letters_owed", "Letters that are due and not sent", _count(db, due))
        yield _make_gauge("letters_oldest_seconds", "When the oldest of them was due, in seconds ago", oldest_letter_s)
        yield _make_gauge("addresses_bounced", "Addresses that take no letters", _count(db, bounced))
        phases = db.execute(select(tables.c.phase, func.count()).group_by(tables.c.phase)).all()
    by_phase = GaugeMetricFamily(PREFIX + "tables", "Tables", labels=["phase"])
    for phase, number in phases:
        by_phase.add_metric([phase], number)
    yield by_phase


def _make_gauge(name: str, about: str, value: int) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, about, value=float(value))


def _count(db: Connection, condition: ColumnElement[bool]) -> int:
    """Count the rows that meet a condition."""
    return db.execute(select(func.count()).where(condition)).scalar_one()


def _find_age(db: Connection, app: App, times: Column[Any], condition: ColumnElement[bool]) -> int:
    """Return how many seconds ago the first of these times was, among the rows that meet a condition; 0 if none do."""
    first = db.execute(select(func.min(times)).where(condition)).scalar_one()
    return 0 if first is None else app.now() - int(first)
