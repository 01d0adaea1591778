"""Make tests faster: they start hundreds of apps in a process, which need not repeat the same work."""

from __future__ import annotations

import asyncio
import functools
import gc
from collections.abc import Callable
from typing import Any

import hypothesis
import structlog
import uvicorn.server
from flask import Flask
from hypothesis import HealthCheck
from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from werkzeug.routing import Rule

from service.store import connection as connecting
from service.web import server as web_servers
from tests import apps
from workers.outgoing import emails

HYPOTHESIS_EXAMPLES = 40  # of each property; other ones in each run
GC_THRESHOLD = 50_000  # new objects before the garbage collector runs
draw_png, new_engine = emails.render_png, connecting.create_engine
statement_caches: dict[type, Any] = {}  # the compiled statements of each kind of database


class SharedRule(Rule):
    """A route that is compiled once in this process; its builders of addresses, when they are first used."""

    def compile(self) -> None:
        assert self.map
        key = (self.rule, str(self.defaults), self.map.converters["int"])
        if key not in compiled_rules:
            super().compile()
            compiled_rules[key] = self
        first = compiled_rules[key]
        self._parts, self._trace, self._converters = first._parts, first._trace, first._converters
        self.arguments = first.arguments
        self._build, self._build_unknown = (
            builder.__func__.__get__(self) for builder in (first._build, first._build_unknown)
        )

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        build = functools.cache(lambda: super(SharedRule, self)._compile_builder(append_unknown))
        return lambda rule, /, **values: build()(rule, **values)


compiled_rules: dict[tuple[Any, ...], SharedRule] = {}


def create_engine_with_shared_cache(*args: Any, **words: Any) -> Engine:
    """Create an engine that shares its compiled statements with all engines of the same dialect."""
    engine = new_engine(*args, **words)
    engine._compiled_cache = statement_caches.setdefault(type(engine.dialect), engine._compiled_cache)
    return engine


class QuickSleeps:
    """The asyncio of uvicorn, which sleeps a tenth of a second as it stops, though all connections are closed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / 10)


def skip_repeated_work() -> None:
    """Share work between the apps of this process; Hypothesis tries fewer examples, which may take long."""
    hypothesis.settings.register_profile(
        "quick", deadline=None, max_examples=HYPOTHESIS_EXAMPLES, suppress_health_check=[HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("quick")
    gc.set_threshold(GC_THRESHOLD, 10, 10)
    Flask.url_rule_class = SharedRule
    connecting.create_engine = create_engine_with_shared_cache
    DefaultDialect.__hash__ = lambda self: hash(type(self))  # a dialect is part of the key of a compiled statement
    DefaultDialect.__eq__ = lambda self, other: type(self) is type(other)
    emails.render_png = apps.draw_dot
    uvicorn.server.asyncio = QuickSleeps()  # type: ignore[assignment]
    web_servers.ACCEPT_S = 0.005
    # A pretty traceback takes a second, and needs a package that only the tests require.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


def freeze_collected() -> None:
    """Exclude what was imported and collected from garbage collection, because it stays until the end."""
    gc.freeze()
