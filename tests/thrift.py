"""What tests do once, or not at all, where a service does it for itself: they found hundreds of houses in a process."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any

import hypothesis
import structlog
from flask import Flask
from hypothesis import HealthCheck
from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from werkzeug.routing import Rule

from service.store import connect
from tests import apps
from workers.outgoing import pictures

ROOM = 50_000  # new objects before the garbage collector looks
drawn, new_engine = pictures.png, connect.create_engine
compiled: dict[type, Any] = {}  # the statements of each kind of database


class LateRule(Rule):
    """A route that works out how its address is written when that is first asked."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        made = functools.cache(lambda: super(LateRule, self)._compile_builder(append_unknown))
        return lambda rule, /, **values: made()(rule, **values)


def engine_that_knows_statements(*args: Any, **words: Any) -> Engine:
    """An engine that compiles no statement again which another one of its kind has compiled."""
    made = new_engine(*args, **words)
    made._compiled_cache = compiled.setdefault(type(made.dialect), made._compiled_cache)
    return made


def begin() -> None:
    """From now on this process is thrifty, and Hypothesis measures no time: other tests keep the machine busy."""
    hypothesis.settings.register_profile("beside", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    hypothesis.settings.load_profile("beside")
    gc.set_threshold(ROOM, 10, 10)
    Flask.url_rule_class = LateRule
    connect.create_engine = engine_that_knows_statements
    DefaultDialect.__hash__ = lambda self: hash(type(self))  # it is part of the key of a compiled statement
    DefaultDialect.__eq__ = lambda self, other: type(self) is type(other)
    pictures.png = apps.dot
    # A pretty traceback takes a second, and only the requirements of the tests would bring it.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


def collected() -> None:
    """What was imported and collected stays until the end: the garbage collector need not look through it."""
    gc.collect()
    gc.freeze()
