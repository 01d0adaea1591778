"""`/metrics` for Prometheus: what the processes count between them, and what the database says waits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from flask import Blueprint, Response, abort, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from service.app import App
from service.links import same
from service.metrics import METRICS, STEPS, Metric
from service.store.schema import letters, people, submissions, tables
from service.web.rendering import get_app, is_local_visitor

metrics = Blueprint("metrics", __name__)
PREFIX = "depesche_"


@metrics.get("/metrics")
def show() -> Response:
    """Metrics for this machine, or for a program with the host's token; others get 404."""
    if not (is_local_visitor() or _knows_the_word(get_app().settings.metrics)):
        abort(404)
    registry = CollectorRegistry()
    registry.register(Figures(get_app()))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _knows_the_word(word: str) -> bool:
    return bool(word) and same(request.headers.get("Authorization", ""), f"Bearer {word}")


class Figures(Collector):
    """All metrics, read anew each time."""

    def __init__(self, app: App) -> None:
        self.app = app

    def collect(self) -> Iterator[Any]:
        found = self.app.metrics.read()
        for name, meter in METRICS.items():
            own = _by_label(name, found)
            yield _times(name, meter, own) if meter.timed else _counts(name, meter, own)
        yield from _waiting(self.app)


def _by_label(name: str, found: dict[str, int]) -> dict[str, dict[str, int]]:
    """The sums of one meter, label by label."""
    own: dict[str, dict[str, int]] = {}
    for field, number in sorted(found.items()):
        meter, label, part = field.split("|")
        if meter == name:
            own.setdefault(label, {})[part] = number
    return own


def _counts(name: str, meter: Metric, own: dict[str, dict[str, int]]) -> CounterMetricFamily:
    family = CounterMetricFamily(PREFIX + name, meter.about, labels=[meter.label])
    for label, sums in own.items():
        family.add_metric([label], sums["count"])
    return family


def _times(name: str, meter: Metric, own: dict[str, dict[str, int]]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(PREFIX + name, meter.about, labels=[meter.label])
    for label, sums in own.items():
        within = accumulate(sums.get(str(step), 0) for step in STEPS)
        steps = [(str(step), float(number)) for step, number in zip(STEPS, within, strict=True)]
        family.add_metric([label], [*steps, ("+Inf", sums["count"])], sums["microseconds"] / 1e6)
    return family


def _waiting(app: App) -> Iterator[GaugeMetricFamily]:
    """What the database says: how much waits, and since when."""
    judged, sent = submissions.c.accepted.is_(None), letters.c.sent_at.is_(None)
    due = (sent, letters.c.due_at <= app.now())
    numbers = {
        "submissions_waiting": ("Submissions without a verdict", select(func.count()).where(judged)),
        "submissions_oldest": ("When the oldest of them came", select(func.min(submissions.c.at)).where(judged)),
        "letters_owed": ("Letters that are due and not sent", select(func.count()).where(*due)),
        "letters_oldest": ("When the oldest of them was due", select(func.min(letters.c.due_at)).where(*due)),
        "addresses_bounced": (
            "Addresses that take no letters",
            select(func.count()).where(people.c.bounced_at.is_not(None)),
        ),
    }
    with app.store.reading() as connection:
        for name, (about, wanted) in numbers.items():
            value = connection.execute(wanted).scalar_one()
            if name.endswith("_oldest"):
                name, about, value = f"{name}_seconds", f"{about}, in seconds ago", app.now() - (value or app.now())
            yield GaugeMetricFamily(PREFIX + name, about, value=float(value))
        phases = connection.execute(select(tables.c.phase, func.count()).group_by(tables.c.phase)).all()
    by_phase = GaugeMetricFamily(PREFIX + "tables", "Tables", labels=["phase"])
    for phase, number in phases:
        by_phase.add_metric([phase], number)
    yield by_phase
